"""SafeTab in the attacked area: the numbers of a real run, and windows that tell the truth about its noise.

Shares and means of independent draws are compared with exact chances at 6 standard errors: right code fails about
once in 10^8 comparisons, and keys are fixed, so it fails always or never.
"""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pyarrow.dataset as ds
import pytest

from tests.cases import cases_of, digits_in
from tests.inside import (
    SAFETAB_P,
    AddressedBits,
    AreaOfLevel,
    AttackedArea,
    ChangedCounts,
    ChosenArea,
    CountedArea,
    DiscreteGaussian,
    ExactTables,
    LossCurve,
    NoProgress,
    PrivacyDefinition,
    Rows,
    RunOptions,
    Selector,
    Stage,
    System,
    Target,
    bound_of_loss,
    checked_engine,
    grain_of,
    guards_module,
    lines_of,
    logs_at,
    membership_bound,
    membership_module,
    membership_of_safetab,
    noisy_count,
    people_of_area,
    plan_of,
    read_inputs,
    read_public_files,
    safetab_publication,
    tabulate_level_module,
)
from tests.safetab_copies import SafeTabCopies
from tests.seeds import seeds
from tests.worlds.people import write_random_world
from tests.worlds.world import KEY, World

LINES = lines_of(grain_of(SAFETAB_P.families[0]))
CELL = next(number for number, line in enumerate(LINES, start=1) if line.cells == 1)
MARGIN = next(number for number, line in enumerate(LINES, start=1) if line.run == tuple(range(4)))
DRAWS = 1_500


def attacked(world, tables, level, entity=0, families=9):
    """An area of a world, and what a run with the usual key publishes of it."""
    checked = read_inputs(*world)
    inputs = checked.require()
    geography = next(each for each in inputs.plan.config.census.area_levels if each.label == level)
    backend_of = guards_module.backend_of
    with backend_of(RunOptions()) as backend, checked_engine(checked, backend, NoProgress()) as (_, engine):
        engine.prepare()
        chosen = ChosenArea(geography, entity, "", "")
        area = CountedArea(inputs, people_of_area(engine, geography, entity), chosen, tables, 1).area
        chosen_families = inputs.plan.config.product.families[:families]
        plan = replace(inputs.plan, levels=tuple(each for each in inputs.plan.levels if each.family in chosen_families))
        publication = safetab_publication(area, plan, engine, AddressedBits(bytes.fromhex(KEY)))
    return area, publication, plan


def plan_of_world(world, product=SAFETAB_P, **changes):
    files = read_public_files(*world).require()
    return plan_of(replace(files, config=replace(files.config, product=product, **changes))).require()


def person_in(total, in_sex=1, in_cell=1, has_cells=True):
    """A group of one tract that counts a person, in three unknowns: her cell, the rest of her sex, and others."""
    lists = digits_in("012 01 0")[: 3 if has_cells else 1]
    truth = np.array([in_cell, in_sex - in_cell, total - in_sex])
    rows, size = Rows.of_lists(lists), len(lists)
    keys, zeros = np.arange(size, dtype=np.uint64), np.zeros(size, int)
    exact = ExactTables(rows.sums(truth), keys, np.full(size, total), np.full(size, 1000), rows)
    lines = np.array([0, MARGIN, CELL])[:size]
    return System("", "", truth, truth.astype(float), exact, zeros, lines, zeros, zeros + 10**6, np.array([size - 1]))


def level_of(plan, label="TRACT"):
    return next(each for each in plan.levels if str(each.level) == f"({label}, Detailed)")


def area_of(plan, *systems, total_only=False, level="TRACT"):
    """The systems, as groups of the first iteration of the level's detailed groups."""
    iterations = level_of(plan, level).universe.iterations
    code = next(each.code for each in iterations if each.is_total_only == total_only)
    systems = tuple(replace(system, iteration=code) for system in systems)
    words = "", *(line.words for line in LINES)
    return AttackedArea("", 1000, (level,), (AreaOfLevel(0, 0, "", 1000),), words, "alone", 1.0, systems)


def copies_of(area, plan):
    targets = [Target(system, np.arange(len(system.lines))) for system in area.systems]
    return SafeTabCopies(area, plan, targets, DRAWS, is_absent=False)


@pytest.fixture
def households(both_products):
    return World.of(both_products / "h")


@pytest.mark.parametrize("tables", ["as-released", "every-group"])
@pytest.mark.parametrize(
    ("name", "out", "table", "level"),
    cases_of(
        """
        p | people | T01 | STATE
        h | households | T03 | COUNTY
        """
    ),
)
def test_the_numbers_are_those_of_a_run_with_the_same_key(both_products, name, out, table, level, tables):
    area, publication, plan = attacked(World.of(both_products / name), tables, level)
    rows = ds.dataset(both_products / out / "release" / "numbers", partitioning="hive").to_table().to_pylist()
    published = {}  # totals, and lines such as "Male", which tables of all shapes have
    for row in rows:
        if row["table_id"].startswith(table) or row["line"] > 1:
            place = row["region_name"] or row["region_id"]
            published[row["geography_level"], place, row["iteration_code"], row["stub"]] = row["count"]
    stubs = ["Total", *(line.stub for line in lines_of(grain_of(plan.config.product.families[0])))]
    seen = Counter()
    for system, own in zip(area.systems, publication.tables, strict=True):
        for number, (of_area, line) in enumerate(zip(system.areas, system.lines, strict=True)):
            if stubs.count(stubs[line]) == 1:
                place = area.areas[of_area]
                count = published.get((area.levels[place.level], place.name, system.iteration, stubs[line]))
                assert own.is_shown[number] == (count is not None)
                assert count is None or own.numbers[number] == count
                seen[line > 0] += count is not None
    assert seen[False] >= 2
    assert seen[True] >= 2 or name == "h" or tables == "as-released"


def test_without_noise_a_window_holds_the_truth_alone(tmp_path):
    """The lines of the systems are those of the published tables, or cells would not be their own."""
    world = write_random_world(tmp_path / "world", 5, people=90, allow_negative_counts=True)
    for tables in "as-released", "every-group":
        area, publication, _ = attacked(world, tables, "STATE")
        cells = shown = 0
        for system, own, windows in zip(area.systems, publication.tables, publication.windows, strict=True):
            assert np.array_equal(own.numbers.compressed(), system.exact.counts[own.is_shown])
            assert (logs_at(windows, system.exact.counts) > np.log(0.9)).all()
            is_exact = own.is_shown & (np.diff(windows.starts) > 0)
            assert (np.diff(windows.starts)[is_exact] == 1).all()
            cells, shown = cells + int((is_exact & (system.lines > 0)).sum()), shown + int(is_exact.sum())
        assert shown > 20
        assert cells > 20
    assert not publication.can_be_proven


def test_membership_of_households_whose_tables_published_totals_choose(households):
    area, _, plan = attacked(households, "every-group", "STATE")
    assert area.uniques > 5
    measured = membership_of_safetab(area, plan, 1)
    assert 0.02 < measured < membership_bound(plan)
    assert measured == membership_of_safetab(area, plan, 1)


def test_a_total_of_another_family_tells_the_same_size_once_more(households):
    area, both, _ = attacked(households, "every-group", "STATE")
    _, one, _ = attacked(households, "every-group", "STATE", families=1)
    narrower = 0
    for system, own, with_other, alone in zip(area.systems, both.tables, both.windows, one.windows, strict=True):
        totals = system.totals[own.is_shown[system.totals]]
        assert (logs_at(with_other, system.exact.counts)[totals] > -np.inf).all()
        narrower += int((np.diff(with_other.starts) < np.diff(alone.starts))[totals].sum())
    assert narrower > 10


@pytest.mark.slow
def test_equal_bits_give_equal_publications(both_products):
    one, other = (attacked(World.of(both_products / "p"), "every-group", "STATE")[1] for _ in range(2))
    assert bytes_of(one) == bytes_of(other)


def bytes_of(publication):
    arrays = [part for windows in publication.windows for part in (windows.logs, windows.firsts)]
    return [one.tobytes() for one in arrays + [own.numbers.filled(-(10**9)) for own in publication.tables]]


def plan_with_budget(world, budget):
    config = world.config()
    thresholds = {level: [12, 20, 35] for level in config["thresholds_p"]}
    budgets = {key: budget for key in config if key.startswith("privacy_budget_p_level_2") and config[key]}
    world.configure(**budgets, thresholds_p=thresholds, zero_suppression_chance=0.9, privacy_defn="zcdp")
    return plan_of_world(world)


@pytest.fixture
def plan(world):
    """Noise of some 1.7 and 0.6 people a draw in stages 1 and 2: chances change from one size to the next."""
    return plan_with_budget(world, 15)


@pytest.fixture
def half_sigma(monkeypatch):
    def half(counts, shape, right):
        noise = noisy_count(counts, shape, right) - counts.confidential_counts
        return counts.confidential_counts + np.round(noise / 2).astype(int)

    return lambda: monkeypatch.setattr(tabulate_level_module, "noisy_count", half)


def distance_from_one(area, plan):
    """In standard errors, for each system: how far the mean of P(y | without) / P(y | with) is from 1 over draws y
    with the person. It is 1 if the windows are the chances of what is published."""
    windows = copies_of(area, plan).windows(AddressedBits(bytes.fromhex(KEY)))
    counts = np.concatenate([np.repeat(system.exact.counts, DRAWS) for system in area.systems])
    ratios = logs_at(windows, counts - 1) - logs_at(windows, counts)
    distances, end = [], 0
    for system in area.systems:
        first, end = end, end + len(system.lines) * DRAWS
        ratio = np.exp(ratios[first:end].reshape(-1, DRAWS).sum(axis=0))
        distances.append((ratio.mean() - 1) / (ratio.std() / np.sqrt(DRAWS)))
    return np.abs(distances)


SIZES = [person_in(n, n // 2, n // 4) for n in (4, 9, 12, 16, 21, 40)]
TOTALS = [person_in(n, has_cells=False) for n in (1, 3, 12, 22, 40)]


@pytest.mark.slow
@pytest.mark.parametrize("systems", [SIZES, TOTALS])
def test_windows_are_the_chances_of_what_is_published(systems, plan, half_sigma):
    area = area_of(plan, *systems)
    assert distance_from_one(area, plan).max() < 6
    half_sigma()
    assert distance_from_one(area, plan).max() > 12


@pytest.mark.slow
def test_total_only_groups_and_groups_without_a_selector_have_windows_of_their_noise(world, plan, half_sigma):
    every_group = plan_of_world(world, replace(SAFETAB_P, selector=Selector.NONE))
    totals, sizes = area_of(plan, *TOTALS, total_only=True, level="STATE"), area_of(every_group, *SIZES[:2])
    cases = (totals, plan), (sizes, every_group)
    assert max(distance_from_one(*case).max() for case in cases) < 6
    half_sigma()
    assert min(distance_from_one(*case).max() for case in cases) > 12


@pytest.mark.slow
def test_a_suppressed_group_has_the_window_of_its_chance_to_be_suppressed(plan):
    sizes = 1, 2, 3, 4
    area = area_of(plan, *(person_in(size) for size in sizes))
    windows = copies_of(area, plan).windows(AddressedBits(bytes.fromhex(KEY)))
    design = level_of(plan).design
    for place, size in enumerate(sizes):
        totals = slice(place * 3 * DRAWS, (place * 3 + 1) * DRAWS)
        is_suppressed = windows.firsts[totals] == 0
        chance = float(design.suppression_chance(size).mid())
        rows = np.flatnonzero((np.diff(windows.starts)[totals] > 0) & is_suppressed)
        logs = [windows.of(totals.start + row)[1] for row in rows.tolist()]
        suppressed = [log for log in logs if abs(log[size] - np.log(chance)) < 1e-6]
        assert abs(len(suppressed) / DRAWS - chance) < 6 * np.sqrt(chance * (1 - chance) / DRAWS)


OF_2020 = 9 / (2 * 2.134)
"""The smallest sigma squared of 2020: Nation and State Detailed, where a person changes nine numbers."""


def bound(loss, variance):
    return bound_of_loss(PrivacyDefinition.ZCDP, loss, variance)


def test_the_bound_of_a_loss():
    assert bound(4.944, 1e9) == pytest.approx(0.884, abs=5e-4)
    assert bound(4.944, OF_2020) == pytest.approx(0.9051, abs=5e-5)
    assert bound(40.0, 1.0) == 1
    assert bound_of_loss(PrivacyDefinition.PURE_DP, 1.0, 1.0) == pytest.approx((np.e - 1) / (np.e + 1))


def test_the_documents_have_the_bound_of_2020():
    stated = Path("docs/comparison.md").read_text("utf-8")
    assert f"that sigma² is {OF_2020:.2f}, and the limit {bound(4.944, OF_2020):.3f}" in stated


def advantage_of(sigma_squared, counts):
    """The exact advantage against counts that a person changes by 1."""
    return float(LossCurve((ChangedCounts(DiscreteGaussian(sigma_squared), counts),)).delta(Fraction(0)).mid())


@pytest.mark.parametrize("counts", [1, 9, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("sigma_squared", [Fraction(1, 2), Fraction(1), Fraction(234, 100), Fraction(5000, 159)])
def test_whole_numbers_as_noise_stay_below_the_bound(sigma_squared, counts):
    loss, advantage = float(counts / (2 * sigma_squared)), advantage_of(sigma_squared, counts)
    most = bound(loss, float(sigma_squared))
    assert 0.8 * most < advantage <= most
    if counts == 1:
        assert advantage > bound(loss, 1e9), "the bound of normal noise is too small"


@pytest.mark.parametrize("sigma_squared", [1.0, 1.3, OF_2020, 5.0, 31.4, 1000.0])
def test_noise_in_whole_numbers_is_that_of_a_slightly_narrower_normal_distribution(sigma_squared):
    """Neighbouring tails of the noise, as places of a normal distribution, are never further apart: so every test,
    and every composition of such noise, is no better than with that distribution."""
    sigma = np.sqrt(sigma_squared)
    values = np.arange(-int(38 * sigma), int(38 * sigma) + 1)
    chances = np.exp(-(values**2) / (2 * sigma_squared))
    tails = np.cumsum(chances / chances.sum())
    normal = NormalDist()
    places = [normal.inv_cdf(tail) for tail in tails[values < 0] if tail > 1e-200]
    assert max(-2 * places[-1], *np.diff(places)) <= (1 + 1 / (20 * sigma_squared)) / sigma


def test_narrow_noise_has_the_bound_of_any_mechanism(world):
    advantage = advantage_of(Fraction(1, 10), 1)
    wide, narrow = (bound(5.0, variance) for variance in (1e9, 0.1))
    assert wide < 0.98 < advantage <= narrow < 0.99
    plan = plan_with_budget(world, 2)
    least = min(float(stage.noise.sigma_squared) for each in plan.levels for stage in each.design.stages.values())
    wide, exact = (bound(float(plan.loss.unbounded), one) for one in (1e9, least))
    assert wide < exact <= membership_bound(plan) < exact + 0.01
    assert membership_bound(plan) == round(membership_bound(plan), 2)
    plan = plan_with_budget(world, 15)
    exact = bound(float(plan.loss.unbounded), 0.5)
    assert exact <= membership_bound(plan) < exact + 0.01


@pytest.fixture
def half_drawn(monkeypatch):
    drawn = membership_module.drawn_noise
    halved = lambda *given: np.round(drawn(*given) / 2).astype(int)  # noqa: E731
    return lambda: monkeypatch.setattr(membership_module, "drawn_noise", halved)


def own_bound(plan):
    """The bound of one tract's numbers: the loss of the two draws that a person changes by 1, not of nine groups."""
    design = level_of(plan).design
    variances = [float(design.noise(stage).sigma_squared) for stage in (Stage.STAGE_1, Stage.STAGE_2)]
    return bound(sum(1 / (2 * variance) for variance in variances), min(variances))


@pytest.mark.parametrize("seed", seeds(1, 20))
def test_membership_is_below_the_bound_of_the_tables_and_half_sigma_above(world, half_drawn, seed):
    """The group gets 9 ages, and the attacked tables have 4: her cell sums two draws, of which she changes one.

    So the right noise leaves the attacker some 0.75 of the bound, and half the sigma 1.8 of it.
    """
    plan = plan_with_budget(world, 3)
    area = area_of(plan, *([person_in(27)] * 40))
    most = own_bound(plan)
    assert 0 < membership_of_safetab(area, plan, seed, 1_600) < most < membership_bound(plan)
    half_drawn()
    assert membership_of_safetab(area, plan, seed, 1_600) > most


def advantage_of_copies(area, plan, all_draws):
    """The advantage against the real algorithm, which measures copies of the groups with and without the person."""
    targets = [Target(system, np.arange(len(system.lines))) for system in area.systems]
    counts = np.repeat(np.concatenate([system.exact.counts for system in area.systems]), all_draws)
    alarms = []
    for is_absent in False, True:
        bits = AddressedBits(bytes.fromhex(KEY)[:-1] + bytes([is_absent]))
        windows = SafeTabCopies(area, plan, targets, all_draws, is_absent).windows(bits)
        ratios = (logs_at(windows, counts) - logs_at(windows, counts - 1)).reshape(-1, 3, all_draws)
        alarms.append((ratios.sum(axis=1) > 0).mean())
    return alarms[0] - alarms[1]


def test_membership_is_that_against_the_real_algorithm(world, half_drawn):
    """Groups of 4 sizes around suppression and the thresholds, each with a person who is alone in her cell."""
    plan = plan_with_budget(world, 3)
    area = area_of(plan, *(person_in(total) for total in (3, 11, 18, 40)))
    real = advantage_of_copies(area, plan, DRAWS)
    far = 6 * np.sqrt(2 * 0.25 * (1 / (4 * DRAWS) + 1 / 40_000))
    assert membership_of_safetab(area, plan, 1, 40_000) == pytest.approx(real, abs=far)
    half_drawn()
    assert membership_of_safetab(area, plan, 1, 40_000) > real + far
