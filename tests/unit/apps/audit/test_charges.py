"""Every charge of the audit's worlds, judged by others: OpenDP's maps, and Tumult's accounting by hand."""

from fractions import Fraction

import opendp.prelude as dp
import pytest

from tests.inside import (
    PERSON_LOSS_WORLDS,
    PRODUCTS_PERSONS,
    SAFETAB_P,
    PrivacyDefinition,
    Stage,
    read_inputs,
    usual_config,
    write_world,
)

SMALL = [world for world in PERSON_LOSS_WORLDS if world.entities <= 4_000]


def opendp_loss(noise, stability):
    """What OpenDP says of a vector of counts of which one person changes so many, by one each."""
    dp.enable_features("contrib")
    vector, scale = dp.vector_domain(dp.atom_domain(T="i64")), float(noise.parameter)
    if noise.mechanism == "discrete_gaussian":
        return dp.m.make_gaussian(vector, dp.l2_distance(T="f64"), scale=scale**0.5).map(d_in=stability**0.5)
    return dp.m.make_laplace(vector, dp.l1_distance(T="i64"), scale=scale).map(d_in=stability)


def tumult_loss(noise, stability):
    """A person becomes at most `stability` rows; each row changes one count by one; independent groups compose."""
    return stability * (1 / (2 * noise.parameter) if noise.mechanism == "discrete_gaussian" else 1 / noise.parameter)


def judged(level):
    design = level.design
    for stage in design.stages.values():
        assert opendp_loss(stage.noise, design.stability) == pytest.approx(float(stage.budget), rel=1e-9)
        assert tumult_loss(stage.noise, design.stability) == stage.budget
    costs = {stage: one.budget for stage, one in design.stages.items()}
    adaptive = costs.get(Stage.STAGE_1, Fraction(0)) + costs.get(Stage.STAGE_2, Fraction(0))
    assert max(adaptive, costs.get(Stage.TOTAL_ONLY, Fraction(0))) == design.budget


@pytest.mark.parametrize("definition", ["zcdp", "puredp"])
def test_every_charge_of_the_audits_world(definition, tmp_path):
    world = write_world(
        SAFETAB_P, tmp_path / "w", PRODUCTS_PERSONS.population, usual_config("SafeTab-P", privacy_defn=definition)
    )
    plan = read_inputs(world.parameters, world.data).require().plan
    assert len(plan.levels) == 20
    for level in plan.levels:
        judged(level)


@pytest.mark.parametrize("world", SMALL, ids=lambda world: world.name)
def test_every_charge_of_the_loss_worlds(world, tmp_path):
    written = world.write(tmp_path / "w")
    (level,) = read_inputs(written.parameters, written.data).require().plan.levels
    judged(level)
    assert level.design.stability == world.stability
    assert level.design.budget == world.budget
    assert (level.design.definition is PrivacyDefinition.ZCDP) == (world.definition is PrivacyDefinition.ZCDP)
