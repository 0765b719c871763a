"""Bugs that break the guarantee, planted one by one: each must be caught by the check that docs/privacy.md names.

Nothing in the package plants them: `tests/planted` has them.
"""

import re
from contextlib import nullcontext
from functools import partial
from importlib import import_module

import pytest

from tests import inside
from tests.cases import cases_of
from tests.conftest import PROJECT
from tests.inside import (
    AUDITED_HOUSEHOLDS,
    AUDITED_PERSONS,
    AUDITED_STAYS,
    LOSS_OF_A_GUEST,
    OutputChecks,
    products_module,
)

KEY = bytes(range(32))


def neighbours(*names, audited=AUDITED_PERSONS):
    kept = [one for one in audited.neighbours if one.name in names]
    return lambda folder: inside.neighbour_checks(audited, folder, kept, KEY)


neighbouring_households = partial(neighbours, audited=AUDITED_HOUSEHOLDS)


def by(route):
    return lambda folder: inside.route_checks(AUDITED_PERSONS, folder, (route,), KEY)


def loss_of(world, share=1):
    return lambda folder: [inside.loss_check(world, folder, world.runs // share, lambda: None)]


def noise_of(world):
    return partial(inside.noise_checks_module.noise_world_checks, world)


def accounts(audited):
    return partial(inside.spending_checks, audited)


def large_level(audited):
    return lambda folder: [inside.large_level_check(audited, folder, KEY)]


def units(**how):
    return lambda folder: [inside.unit_check(AUDITED_STAYS, folder, **how)]


LOOKS = {
    "no neighbour": neighbours(),
    "fills": neighbours("eight codes and an ethnicity"),
    "infant": neighbours("an infant"),
    "repeated": neighbours("one code eight times"),
    "empty block": neighbours("one person more"),
    "no neighbouring household": neighbouring_households(),
    "household fills": neighbouring_households("eight codes and an ethnicity"),
    "alone, without rent": neighbouring_households("alone, without rent"),
    "one household more": neighbouring_households("one household more"),
    "stays": neighbours(audited=AUDITED_STAYS),
    "two stays": neighbours("two equal stays of a guest", audited=AUDITED_STAYS),
    "loss of nine totals in few runs": loss_of(products_module.NINE_TOTALS, 50),
    "loss of nine totals": loss_of(products_module.NINE_TOTALS),
    "loss of one group": loss_of(products_module.ONE_GROUP),
    "loss of nine geometric groups": loss_of(products_module.NINE_GROUPS_GEOMETRIC, 4),
    "loss of tenure": loss_of(products_module.TENURE_OF_ONE_GROUP),
    "loss of a guest in few runs": loss_of(LOSS_OF_A_GUEST, 10),
    "loss of a guest": loss_of(LOSS_OF_A_GUEST),
    "noise of people": noise_of(inside.gaussian_persons(tracts=100)),
    "noise of households": noise_of(inside.gaussian_households()),
    "noise of few households": noise_of(inside.gaussian_households(20)),
    "noise of stays": noise_of(inside.GAUSSIAN_STAYS),
    "accounts of people": accounts(AUDITED_PERSONS),
    "accounts of households": accounts(AUDITED_HOUSEHOLDS),
    "accounts of stays": accounts(AUDITED_STAYS),
    "large level": large_level(AUDITED_PERSONS),
    "large level of stays": large_level(AUDITED_STAYS),
    "small batches": by(inside.SMALL_BATCHES),
    "coterminous": by(inside.COTERMINOUS),
    "released again": by(inside.RELEASED_AGAIN),
    "units": units(is_quick=True),
    "all units": units(),
    "forms": partial(inside.form_checks, AUDITED_STAYS, with_nobody=False),
    "forms with nobody": partial(inside.form_checks, AUDITED_STAYS, with_nobody=True),
    "totals of a release": partial(inside.release_checks, AUDITED_PERSONS, AUDITED_HOUSEHOLDS),
    "nobody": lambda folder: inside.nobody_checks(AUDITED_PERSONS, folder, KEY),
    "scale": lambda folder: inside.scale_checks(AUDITED_PERSONS, folder, KEY),
    "draws": lambda _: inside.noise_checks_module.draw_checks(),
    "keys": lambda _: [inside.key_check()],
    "key bits": lambda _: [inside.key_bits_check()],
    "addresses": lambda _: [inside.shared_bits_check(), inside.empty_groups_check()],
}
BUGS = [
    (bug, getattr(inside, check), look, getattr(import_module(f"tests.{place}"), bug.replace(" ", "_")))
    for check, look, place, bugs in cases_of("""
CONFIG | no neighbour | planted.config_bugs | puerto rico read with us budgets
CONFIG | no neighbour | planted.config_bugs | a level read with the budget key of another level
CONFIG | no neighbour | planted.config_bugs | thresholds of another iteration level
CONFIG | no neighbouring household | planted.config_bugs | tenure read with the budgets of household type
ONE_RECORD | fills | planted.counting_bugs | stability forgotten, a cell counted twice, a block joined twice
PAID | noise of people | planted.counting_bugs | stability without ethnicity
PAID | noise of people | planted.noise_bugs | a level charged half, noise for twice the charge, a float budget
ONE_RECORD | infant | planted.counting_bugs | infants counted twice
ONE_RECORD | repeated | planted.counting_bugs | repeated codes counted each time
PUBLISHED | no neighbour | planted.counting_bugs | empty groups dropped, empty groups skipped for one level
PUBLISHED | no neighbour | planted.counting_bugs | a threshold off by one, suppression off by one
REPLAY | fills | planted.counting_bugs | threshold on the true count, suppression on the true count, t from the true counts
REPLAY | fills | planted.release_bugs | a hash of the person file in the manifest, the number of persons in the releasable log
REPLAY | fills | planted.release_bugs | the number of persons in the report, how long the numbers took on the files
REPLAY | fills | planted.release_bugs | parquet statistics of a true count, margins from the true count
REPLAY | empty block | planted.counting_bugs | universe from data
NO_TRACE | no neighbour | planted.counting_bugs | suppressed groups in the measurements
LOSS | loss of nine totals in few runs | planted.noise_bugs | noise of one group
LOSS | loss of one group | planted.noise_bugs | overspent by 5 percent
LOSS | loss of nine totals | planted.noise_bugs | overspent by 10 percent
LOSS | loss of nine geometric groups | planted.noise_bugs | overspent by 25 percent
DISTRIBUTION | draws | planted.noise_bugs | noise too narrow, noise cut at three sigma, noise rounded to even numbers
EXACT | draws | planted.noise_bugs | a float between count and noise
WIDE | noise of people | planted.noise_bugs | no noise above 50, no noise for counts from 10 to 49
WIDE | noise of people | planted.noise_bugs | no noise for total only groups, no noise in empty cells
WIDE | noise of people | planted.noise_bugs | cells for stability 8 where it is 9, stage 1 with the noise of stage 2
UNRELATED | noise of people | planted.noise_bugs | noise reused between stages, noise reused between passes
UNRELATED | noise of people | planted.noise_bugs | all cells share one draw, men and women share draws
UNRELATED | noise of people | planted.noise_bugs | the first cell reuses stage 1, puerto ricos cells at us addresses
UNRELATED | noise of people | planted.noise_bugs | neighbouring groups share noise
FRESH | noise of people | planted.noise_bugs | key fixed
KEYS | keys | planted.noise_bugs | key of 16 bits, half a key, key from the clock, keys from another source
EVERY_BIT | key bits | planted.address_bugs | the aes key cut to 4 bytes
NO_SHARED_BITS | addresses | planted.address_bugs | cell 5 reuses the noise of cell 3, the group index wraps at 2 to the 24
NO_SHARED_BITS | addresses | planted.address_bugs | groups i and i plus 64 share all noise
NO_SHARED_BITS | addresses | planted.address_bugs | a stream drops the lowest bit of the cell
LAZY | addresses | planted.address_bugs | the empty group 2 to the 21 never published
PUBLISHED | large level | planted.address_bugs | lazy words repeat after 16384 groups, no noise above 5000
PUBLISHED | small batches | planted.address_bugs | an empty group at a batch boundary never published
SPENT | accounts of people | planted.spending_bugs | the spend log charged after the noise
SPENT | accounts of households | planted.spending_bugs | households charged unbounded
FLOOR | accounts of people | planted.spending_bugs | the floor looks at stage 2 alone, a run forgets the floor
REPLAY | nobody | planted.release_bugs | a word about an empty pass
SCALE | scale | planted.release_bugs | a file with a true sum in thousands
ALL_ROUTES | small batches | planted.release_bugs | a row group for each internal batch
ALL_ROUTES | coterminous | planted.release_bugs | a rule applied to true counts, a coterminous donor chosen by true size
ALL_ROUTES | released again | planted.release_bugs | a suppressed group whose status says it is empty
ALL_ROUTES | released again | planted.release_bugs | true sums in the exported files
ALL_ROUTES | released again | planted.release_bugs | a release made again that remembers the persons
UNRELATED | noise of few households | planted.household_bugs | both families share an address
PUBLISHED | no neighbouring household | planted.household_bugs | groups with households and without a total measured
REPLAY | household fills | planted.household_bugs | a shape chosen by the true number of households
REPLAY | household fills | planted.household_bugs | no fewer people than households
ONE_RECORD | alone, without rent | planted.household_bugs | households without rent counted twice
WIDE | noise of households | planted.household_bugs | tenure for stability 8 where it is 9
LOSS | loss of tenure | planted.household_bugs | tenure overspent by 10 percent
TOTALS | totals of a release | planted.household_bugs | totals that ignore copied rows
ADJUSTED | totals of a release | planted.household_bugs | adjusted cells with the other tables variance
REPLAY | one household more | planted.household_bugs | the number of groups with households in the releasable log
PAID | noise of stays | specified.planted | sensitivity without only, use ignored
PUBLISHED | stays | specified.planted | suppression at the wrong kind
COUNTED | stays | specified.planted | answers beyond use counted, classes of codes merged too far, nowhere counted
SPENT | accounts of stays | specified.planted | a pass charged with the budget of another pass
SPECIFIED | stays | specified.planted | a pass measured with the budget of another pass
LOSS | loss of a guest in few runs | specified.planted | k one too small
BOUND | units | planted.engine_bugs | units counted by thread, units of earlier batches forgotten
BOUND | units | planted.engine_bugs | a unit may have one record more, units are not counted
BOUND | units | planted.engine_bugs | units with too many records are a warning
PUBLISHED | forms | specified.planted | groups of nobody left out where nothing chooses
COUNTED | forms | specified.planted | areas of a list ignored, lone totals measured in two stages
SUMS | accounts of stays | planted.marker_bugs | a limit of the second log lost in a merge
SUMS | accounts of stays | planted.marker_bugs | runs of the second log lost in a merge
SUMS | accounts of stays | planted.marker_bugs | larger units charged like the units of a run
SUMS | accounts of stays | planted.marker_bugs | larger units charged by their size and not its square
""")
    for bug in bugs.split(", ")
]
"""Each bug, the check that must catch it, what looks, and what plants it."""
QUICK = [bug for bug in BUGS if bug[2] in {"keys", "key bits"}]
REST = [bug for bug in BUGS if bug not in QUICK]
IN_TURN = QUICK + [REST[49 * number % len(REST)] for number in range(len(REST))]
"""All bugs, so that any few at equal distances are of many kinds."""
assert {bug[0] for bug in IN_TURN} == {bug[0] for bug in BUGS}


@pytest.mark.parametrize(
    ("caught_by", "look", "plant"),
    [
        pytest.param(*bug, id=words, marks=() if bug[1] in {"keys", "key bits"} else pytest.mark.slow)
        for words, *bug in IN_TURN
    ],
)
def test_a_planted_bug_is_caught(caught_by, look, plant, tmp_path, monkeypatch):
    # they would stop some of these runs by themselves
    monkeypatch.setattr(OutputChecks, "of_remaining_files", lambda _: None)
    for beside in ("of_tables_beside", "of_numbers_beside"):
        monkeypatch.setattr(OutputChecks, beside, lambda _: nullcontext())
    plant(monkeypatch)
    failed = (verdict.check for verdict in LOOKS[look](tmp_path / "audit") if verdict.faults)
    assert any(check.startswith(caught_by) for check in failed)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("check", "checks"),
    [
        *(
            (getattr(inside, check), LOOKS[look])
            for check, look in cases_of("""
KEYS | keys
EVERY_BIT | key bits
NO_SHARED_BITS | addresses
LOSS | loss of one group
LOSS | loss of a guest
COUNTED | two stays
PUBLISHED | large level of stays
BOUND | all units
REPLAY | fills
ONE_RECORD | forms with nobody
PUBLISHED | large level
SPENT | accounts of households
SUMS | accounts of stays
TOTALS | totals of a release
""")
        ),
        *(
            (inside.WIDE, noise_of(world))
            for one in inside.AUDITED_PRODUCTS
            for world in (*one.noise_worlds, *one.quick_noise_worlds)
        ),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_the_program_as_it_is_passes(check, checks, tmp_path):
    verdicts = list(checks(tmp_path / "audit"))
    assert any(verdict.check.startswith(check) for verdict in verdicts)
    assert [verdict for verdict in verdicts if verdict.result is not inside.CheckResult.PASSED] == []


def test_the_table_in_the_documentation_is_this_one():
    text = (PROJECT / "docs" / "privacy.md").read_text()
    section = text[text.index("| planted bug | caught by |") :]
    rows = re.findall(r"^\| ([a-z][^|]*?) \| ([^|]*?) \|$", section, re.MULTILINE)[1:]  # below the header
    assert sorted(rows) == sorted((bug, caught_by) for bug, caught_by, *_ in BUGS)
    assert len(BUGS) >= 40
