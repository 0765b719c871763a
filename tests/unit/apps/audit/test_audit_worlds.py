"""The audit's worlds are diverse, and it reads their configuration by itself."""

from fractions import Fraction

import numpy as np
import pytest

from tests.cases import cases_of
from tests.inside import (
    AUDITED_HOUSEHOLDS,
    AUDITED_PERSONS,
    AUDITED_STAYS,
    SAFETAB_P,
    US,
    CheckResult,
    DrawnNoise,
    MeasurementEvent,
    PlainCensus,
    PrivacyDefinition,
    Sensitivity,
    Stage,
    config_check,
    level_names,
    own_settings,
    plain_config,
    plan_of_files,
    relations_of_cells,
    relations_of_groups,
)

BOTH = pytest.mark.parametrize("audited", [AUDITED_PERSONS, AUDITED_HOUSEHOLDS], ids=["persons", "households"])


@BOTH
def test_no_two_budgets_and_no_two_lists_of_thresholds_are_alike(audited):
    settings = own_settings(audited.product.name)
    budgets = [value for key, value in settings.items() if key.startswith("privacy_budget")]
    assert len(budgets) == len(audited.product.families) * len(US.levels) == len(set(budgets))
    for ladders in (value for key, value in settings.items() if key.startswith("thresholds")):
        assert len({tuple(one) for one in ladders.values()}) == len(ladders) == len(US.levels)
        assert all(sorted(one) == list(one) for one in ladders.values())


def test_the_audit_names_every_level():
    assert level_names() == [(one.geography.label, one.iterations.number) for one in US.levels]


@BOTH
def test_a_plain_reader_finds_what_was_written(audited, tmp_path):
    world = audited.write(tmp_path / "w", audited.population, {})
    plain = plain_config(world.parameters)
    assert len(plain.levels) == len(audited.product.families) * len(US.levels)
    if audited is AUDITED_PERSONS:
        family, budget, thresholds = "persons", "0.1275", (7, 9, 17)
        assert plain.shares() == {Stage.STAGE_1: Fraction(1, 10), Stage.STAGE_2: Fraction(9, 10), Stage.TOTAL_ONLY: 1}
    else:
        family, budget, thresholds = "tenure", "0.17", (23,)
    assert plain.levels[family, "USA", 1].budget == Fraction(budget)
    assert plain.levels[family, "PR-PLACE", 2].thresholds == thresholds
    plan = plan_of_files(world.parameters, world.data).require()
    assert config_check(plan, world.parameters).result is CheckResult.PASSED


def test_a_change_of_one_number_of_the_configuration_is_seen(tmp_path):
    world = AUDITED_PERSONS.write(tmp_path / "w", AUDITED_PERSONS.population, {})
    plan, config = plan_of_files(world.parameters, world.data).require(), world.parameters / "config.json"
    written = config.read_text()
    for changes in cases_of(
        """
        0.1275 | 0.1276
        [4, 8, 12] | [4, 8, 13]
        zcdp | puredp
        "01", |
        "allow_negative_counts": true | "allow_negative_counts": false
        "reader": "csv" | "reader": "cef"
        """
    ):
        assert changes[0] in written
        config.write_text(written.replace(*changes, 1))
        assert config_check(plan, world.parameters).result is CheckResult.FAILED


def drawn(noise):
    (family, *_), level = SAFETAB_P.families, US.levels[0]
    rules = PrivacyDefinition.ZCDP, Sensitivity.of_groups(1), Fraction(1, 200)
    shape = next(one for one in family.shapes if one.cells == noise.shape[1])
    event = MeasurementEvent(SAFETAB_P, family, level, Stage.STAGE_2, *rules)
    return DrawnNoise((event, shape), np.arange(len(noise)), np.zeros_like(noise), noise)


@pytest.fixture
def noise():
    return np.rint(np.random.default_rng(1).normal(0, 10, (2_000, 8))).astype(int)


def test_independent_noise_has_no_relations(noise):
    found = [*relations_of_cells([drawn(noise)], 60), *relations_of_groups([drawn(noise)], 1_000)]
    assert max(abs(one.distance) for one in found) < 6
    assert sum(one.looked_at for one in found) > 1_900


def test_two_cells_with_opposite_noise_and_groups_that_share_noise_at_any_distance_are_found(noise):
    noise[:, 5] = -noise[:, 3]
    assert min(relations_of_cells([drawn(noise)], 60), key=lambda one: one.distance).name.endswith("cells 3 and 5")
    noise[137::2] = noise[:-137:2]  # every second group, 137 before
    (found,) = relations_of_groups([drawn(noise)], 1_000)
    assert found.name.endswith("groups 137 apart")
    assert found.distance > 30


def test_the_plain_reader_of_a_specification_counts_as_a_person_does(tmp_path):
    """The four crowded stays are in six language groups, and six of eight languages count."""
    world = AUDITED_STAYS.write(tmp_path / "w", AUDITED_STAYS.population, {})
    plain, plan = PlainCensus(world), plan_of_files(world.parameters, world.data).require()

    def counts(label, groups, line):
        names = label, groups, "mood and age"
        (level,) = (
            one
            for one in plan.levels
            if (one.level.geography.label, one.level.iterations.name, one.family.name) == names
        )
        return plain.counts(level, line)

    of_cell = counts("north cell", "language", "total")
    assert [of_cell["1001", f"t-{code}", 0] for code in ("a01", "b02", "c02", "d02")] == [4, 4, 0, 0]  # two beyond use
    found = [of_cell["1003", f"t-{code}", 0] for code in ("e01", "c03", "d03", "a03")]
    assert found == [1, 1, 1, 0]  # a03 is not counted
    assert not any(entity == "0000" for entity, _, _ in of_cell)  # nowhere
    by_mood = counts("north cell", "language", "mood")
    assert [by_mood["1003", "t-d03", mood] for mood in range(3)] == [0, 0, 1]  # "?" counts as unknown
    assert counts("north town", "language", "total")["t1", "t-e01", 0] == 2  # of two districts
    of_family = counts("north district", "family", "total")
    assert (of_family["od0", "d", 0], of_family["od0", "d-only", 0]) == (2, 2)  # of the unknown cell too
    assert (of_family["nd1", "a", 0], of_family["nd1", "a-only", 0]) == (4, 0)
    assert config_check(plan, world.parameters).result is CheckResult.PASSED
