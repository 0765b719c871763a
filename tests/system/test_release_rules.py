"""Rules of the tabulation system, against the same run without rules, row by row."""

from __future__ import annotations

from pathlib import Path

import pytest

import safetab
from tests.brute_force import rows_of
from tests.inside import open_release_folder
from tests.releases import Row, group, numbers_of, status_of, totals_of
from tests.worlds.people import write_random_world
from tests.worlds.world import World

pytestmark = pytest.mark.slow

KEY = "17" * 32


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> World:
    """Noise so wide that many numbers are negative, and pairs of alone and in combination with the same codes."""
    folder = tmp_path_factory.mktemp("rules")
    world = write_random_world(
        folder, 3, people=300, budget=1, allow_negative_counts=True, zero_suppression_chance=0.3, privacy_defn="zcdp"
    )
    world.configure(**{key: 0.05 for key, value in world.config().items() if "budget_p_level" in key and value})
    make_pairs(world)
    return world


def make_pairs(world: World) -> None:
    """Each alone iteration gets the codes of an in-combination one of its level and lists."""
    race = rows_of(world.parameters / "race-characteristic-iterations.txt")
    pairs = rows_of(world.parameters / "race-and-ethnicity-code-to-iteration.txt")
    codes: dict[str, set[str]] = {}
    for pair in pairs:
        codes.setdefault(pair["ITERATION_CODE"], set()).add(pair["RACE_ETH_CODE"])
    kinds: dict[tuple[str, ...], dict[str, list[str]]] = {}
    for row in race:
        of = kinds.setdefault((row["LEVEL"], row["DETAILED_ONLY"], row["COARSE_ONLY"]), {"True": [], "False": []})
        of[row["ALONE"]].append(row["ITERATION_CODE"])
    for of in kinds.values():
        for alone in of["True"]:
            codes.pop(alone)
        for alone, partner in zip(of["True"], of["False"], strict=False):
            codes[alone] = set(codes[partner])
    ethnicity = {row["ITERATION_CODE"] for row in rows_of(world.parameters / "ethnicity-characteristic-iterations.txt")}
    assert ethnicity
    lines = [f"{iteration}|{code}" for iteration, inside in codes.items() for code in sorted(inside)]
    (world.parameters / "race-and-ethnicity-code-to-iteration.txt").write_text(
        "\n".join(["ITERATION_CODE|RACE_ETH_CODE", *lines]) + "\n"
    )
    kept = [row for row in race if row["ITERATION_CODE"] in codes]
    (world.parameters / "race-characteristic-iterations.txt").write_text(
        "\n".join(["|".join(race[0]), *("|".join(row.values()) for row in kept)]) + "\n"
    )


def run(world: World, out: Path, *rules: str, **options: object) -> list[Row]:
    safetab.run(*world, out, test_key=KEY, rules=rules, **options)
    return numbers_of(out)


@pytest.fixture(scope="module")
def plain(world: World, tmp_path_factory) -> list[Row]:
    return run(world, tmp_path_factory.mktemp("plain") / "out")


def test_negative_numbers_are_shown_as_zero(world, plain, tmp_path):
    clamped = run(world, tmp_path / "out", "clamp-negatives")
    assert sum(row["count"] < 0 for row in plain) > 100
    for before, after in zip(plain, clamped, strict=True):
        if before["count"] < 0:
            assert after == before | {"count": 0, "rule": "clamp-negatives"}
        else:
            assert after == before


def test_negative_numbers_are_withheld(world, plain, tmp_path):
    withheld = run(world, tmp_path / "out", "withhold-negatives")
    nothing = dict.fromkeys(
        ("count", "unclamped_count", "margin_of_error", "unclamped_margin_of_error", "interval_low", "interval_high",
         "stage_1_total")
    )  # fmt: skip
    for before, after in zip(plain, withheld, strict=True):
        if before["count"] < 0:
            assert after == before | nothing | {"status": "withheld", "rule": "withhold-negatives"}
        else:
            assert after == before


def partners(world: World) -> dict[tuple[str, bool], str]:
    """From the files alone: the partner of each alone iteration, below state and above."""
    codes: dict[str, set[str]] = {}
    for pair in rows_of(world.parameters / "race-and-ethnicity-code-to-iteration.txt"):
        codes.setdefault(pair["ITERATION_CODE"], set()).add(pair["RACE_ETH_CODE"])
    race = rows_of(world.parameters / "race-characteristic-iterations.txt")
    found = {}
    for is_substate in (False, True):
        hidden = "DETAILED_ONLY" if is_substate else "COARSE_ONLY"
        tabulated = [row for row in race if row[hidden] == "False"]
        for alone in (row for row in tabulated if row["ALONE"] == "True"):
            for other in (row for row in tabulated if row["ALONE"] == "False"):
                same = codes[alone["ITERATION_CODE"]] == codes[other["ITERATION_CODE"]]
                if same and alone["LEVEL"] == other["LEVEL"]:
                    found[alone["ITERATION_CODE"], is_substate] = other["ITERATION_CODE"]
    return found


def test_an_alone_number_above_its_partner_is_withheld(world, plain, tmp_path):
    judged = run(world, tmp_path / "out", "withhold-alone-above-partner")
    partner_of = partners(world)
    assert len(partner_of) > 4
    counts = {(*group(row), row["sex"], row["age_start"], row["age_end"]): row["count"] for row in plain}
    withheld = 0
    for before, after in zip(plain, judged, strict=True):
        level, region, code = group(before)
        is_substate = level not in {"USA", "STATE", "PR-STATE"}
        partner = partner_of.get((code, is_substate))
        number = counts.get((level, region, partner, before["sex"], before["age_start"], before["age_end"]))
        if number is not None and before["count"] > number:
            withheld += 1
            assert (after["count"], after["status"], after["rule"]) == (
                None,
                "withheld",
                "withhold-alone-above-partner",
            )
        else:
            assert after == before
    assert withheld > 50


def test_a_withheld_total_has_its_status_and_measurements_stay(world, plain, tmp_path):
    rows = run(world, tmp_path / "out", "withhold-negatives", "withhold-alone-above-partner")
    release = open_release_folder(tmp_path / "out")
    withheld = [key for key, row in totals_of(rows).items() if row["status"] == "withheld"]
    rules = {status_of(release, *key)["reason"] for key in withheld}
    assert rules == {"withhold-negatives", "withhold-alone-above-partner"}
    assert status_of(release, *withheld[0])["status"] == "withheld"
    safetab.run(*world, tmp_path / "plain", test_key=KEY)
    for name in ("t1/us.csv", "t2/us.csv", "measurements/us.parquet", "measurements/pr.parquet"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "plain" / name).read_bytes()
    readme = (tmp_path / "out" / "release" / "README.txt").read_text()
    assert "withhold-negatives: a number below 0 is withheld." in readme
    assert len(plain) == len(rows)


def test_rules_judge_copies_too_after_the_coterminous_step(world, tmp_path):
    copied = run(world, tmp_path / "copied", coterminous=True)
    judged = run(world, tmp_path / "judged", "withhold-negatives", coterminous=True)
    withheld_copies = 0
    for before, after in zip(copied, judged, strict=True):
        assert (after["status"] == "withheld") == (before["count"] < 0)
        assert after["donor_region_id"] == before["donor_region_id"]
        withheld_copies += before["status"] == "copied" and after["status"] == "withheld"
    assert withheld_copies > 10
