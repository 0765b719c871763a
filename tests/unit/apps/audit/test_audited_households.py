"""The audit's worlds of households: totals that choose every table, and groups of households that have none."""

import numpy as np
import pytest

from tests.inside import (
    AUDITED_HOUSEHOLDS,
    DETAILED,
    HOUSEHOLD_LOSS_WORLDS,
    HOUSEHOLDS,
    SAFETAB_H,
    chosen_shapes,
    plan_of_files,
    usual_config,
    write_world,
)

_MANY_ENTITIES = 30


@pytest.fixture(scope="module")
def tracts(tmp_path_factory):
    """Plans of the levels with many entities."""
    folder = tmp_path_factory.mktemp("world") / "w"
    world = write_world(SAFETAB_H, folder, HOUSEHOLDS.population, usual_config("SafeTab-H"))
    levels = plan_of_files(world.parameters, world.data).require().levels
    return [level for level in levels if len(level.universe.entities) > _MANY_ENTITIES]


def test_every_table_is_chosen_for_every_iteration(tracts):
    assert {plan.family for plan in tracts} == set(SAFETAB_H.families)
    for plan in tracts:
        shapes = chosen_shapes(plan.selected.totals, plan.design.thresholds)
        iterations = plan.universe.index.iteration_of(plan.selected.indices)
        for iteration in range(len(plan.universe.iterations)):
            assert set(shapes[iterations == iteration].tolist()) == set(range(len(plan.family.shapes)))


def test_some_groups_that_have_households_have_no_total(tracts):
    """The households of every tract have the ninth code, whose group has no total in every fourth of them."""
    plan = next(plan for plan in tracts if plan.level.iterations == DETAILED)
    position = [one.code for one in plan.universe.iterations].index("2010")
    wanted = plan.universe.index.index_of(np.arange(len(plan.universe.entities)), np.array(position))
    assert 0 < np.count_nonzero(~np.isin(wanted, plan.selected.indices)) < len(wanted)


def test_totals_are_the_same_whoever_lives_there(tmp_path):
    populations = [HOUSEHOLDS.population, *(one.records for one in HOUSEHOLDS.neighbours)]
    worlds = [AUDITED_HOUSEHOLDS.write(tmp_path / str(n), people, {}) for n, people in enumerate(populations)]
    assert len({(world.data / "pop-group-totals.txt").read_bytes() for world in worlds}) == 1


@pytest.mark.slow
@pytest.mark.parametrize("world", HOUSEHOLD_LOSS_WORLDS, ids=lambda world: world.name)
def test_the_claim_of_a_loss_world_is_its_configuration(world, tmp_path):
    written = world.write(tmp_path / "w")
    levels = plan_of_files(written.parameters, written.data).require().levels
    assert [plan.design.budget for plan in levels] == [world.budget * fraction for fraction in world.fractions]
    assert {plan.design.stability for plan in levels} == {world.stability}
    assert {plan.measured_groups for plan in levels} == {plan.universe.size for plan in levels}
