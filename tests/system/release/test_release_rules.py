"""Rules of the tabulation system, against the same release without rules, row by row."""

from collections import defaultdict

import pytest

from tests.brute_force import SUBSTATE, rows_of
from tests.inside import Slice, open_release_folder, statuses
from tests.releases import group, numbers_of, totals_of

CLAMP, WITHHOLD, ALONE = "clamp-negatives", "withhold-negatives", "withhold-alone-above-partner"
NOTHING = dict.fromkeys(
    ("count", "unclamped_count", "margin_of_error", "unclamped_margin_of_error", "interval_low", "interval_high",
     "stage_1_total")
)  # fmt: skip


@pytest.mark.parametrize(("rule", "change"), [(CLAMP, {"count": 0}), (WITHHOLD, NOTHING | {"status": "withheld"})])
def test_a_rule_changes_negative_numbers_alone(rule, change, releases):
    out = releases.pairs().out
    before = numbers_of(out)
    assert sum(row["count"] < 0 for row in before) > 100
    expected = [row | change | {"rule": rule} if row["count"] < 0 else row for row in before]
    assert numbers_of(releases.again(out, rules=[rule])) == expected


def partners(world):
    """From the files alone: the partner of each alone iteration, below state and above."""
    codes = defaultdict(set)
    for pair in rows_of(world.parameters / "race-and-ethnicity-code-to-iteration.txt"):
        codes[pair["ITERATION_CODE"]].add(pair["RACE_ETH_CODE"])
    race = rows_of(world.parameters / "race-characteristic-iterations.txt")
    found = {}
    for hidden in ("COARSE_ONLY", "DETAILED_ONLY"):
        tabulated = [row for row in race if row[hidden] == "False"]
        for alone in (row for row in tabulated if row["ALONE"] == "True"):
            for other in (row for row in tabulated if row["ALONE"] == "False"):
                same = codes[alone["ITERATION_CODE"]] == codes[other["ITERATION_CODE"]]
                if same and alone["LEVEL"] == other["LEVEL"]:
                    found[alone["ITERATION_CODE"], hidden == "DETAILED_ONLY"] = other["ITERATION_CODE"]
    return found


def test_an_alone_number_above_its_partner_is_withheld(releases):
    world, out = releases.pairs()
    plain, partner_of = numbers_of(out), partners(world)
    assert len(partner_of) > 4
    counts = {(*group(row), row["sex"], row["age_start"], row["age_end"]): row["count"] for row in plain}
    withheld = 0
    for before, after in zip(plain, numbers_of(releases.again(out, rules=[ALONE])), strict=True):
        level, region, code = group(before)
        partner = partner_of.get((code, level in SUBSTATE))
        number = counts.get((level, region, partner, before["sex"], before["age_start"], before["age_end"]))
        is_above = number is not None and before["count"] > number
        withheld += is_above
        assert after == (before | NOTHING | {"status": "withheld", "rule": ALONE} if is_above else before)
    assert withheld > 50


@pytest.mark.parametrize("rule", [WITHHOLD, ALONE])
def test_a_withheld_total_has_its_status_and_measurements_stay(rule, releases):
    out = releases.pairs().out
    ruled = releases.again(out, rules=[rule])
    withheld = {key for key, row in totals_of(numbers_of(ruled)).items() if row["status"] == "withheld"}
    found = [row for batch in statuses(open_release_folder(ruled), Slice()) for row in batch.to_pylist()]
    assert {group(row) for row in found if row["status"] == "withheld"} == withheld != set()
    assert {row["reason"] for row in found if group(row) in withheld} == {rule}
    for name in ("t1/us.csv", "t2/us.csv", "measurements/us.parquet", "measurements/pr.parquet"):
        assert (ruled / name).read_bytes() == (out / name).read_bytes()
    assert f"{rule}: a" in (ruled / "release" / "README.txt").read_text()


@pytest.mark.slow
def test_rules_judge_copies_too_after_the_coterminous_step(releases):
    copied, judged = (
        numbers_of(releases.pairs(coterminous=True, rules=rules).out) for rules in ([], [WITHHOLD])
    )  # by runs
    withheld_copies = 0
    for before, after in zip(copied, judged, strict=True):
        assert (after["status"] == "withheld") == (before["count"] < 0)
        assert after["donor_region_id"] == before["donor_region_id"]
        withheld_copies += before["status"] == "copied" and after["status"] == "withheld"
    assert withheld_copies > 10
