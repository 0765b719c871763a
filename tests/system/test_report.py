"""The report: its numbers are those of the release, counted again here; its page asks nobody for anything."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections import Counter
from fractions import Fraction
from math import exp
from pathlib import Path

import pytest

import safetab
from tests.brute_force import SUBSTATE, entities_of, rows_of
from tests.commands import cli
from tests.inside import LEADS, NOTHING, OutputStatus, percent, report_file
from tests.releases import Row, group, numbers_of, totals_of, universe_of
from tests.report_pages import ReportPage
from tests.system.test_coterminous import write_world
from tests.system.test_release_rules import make_pairs
from tests.worlds.people import write_random_world
from tests.worlds.world import World

KEY = "17" * 32
NASTY = "<script>alert('1')</script> \"quoted\" & 'more' \u05e9\u05dc\u05d5\u05dd"
TABLES = ("total", "sex_age_4", "sex_age_9", "sex_age_23")
GROUPS = "Population groups by level and table"
WORLDS = [
    {"seed": 2, "budget": 1, "privacy_defn": "zcdp", "allow_negative_counts": True, "zero_suppression_chance": 0.99},
    {"seed": 4, "budget": 2, "privacy_defn": "puredp", "allow_negative_counts": False, "zero_suppression_chance": 0.9},
    {"seed": 9, "budget": 1, "privacy_defn": "zcdp", "allow_negative_counts": False, "zero_suppression_chance": 0},
]


@pytest.fixture(scope="module", params=WORLDS, ids=["zcdp", "pure dp, clamped", "no suppression"])
def out(request, tmp_path_factory) -> Path:
    values = dict(request.param)
    folder = tmp_path_factory.mktemp("report")
    world = write_random_world(folder, values.pop("seed"), people=200, budget=values.pop("budget"), **values)
    safetab.run(*world, folder / "out")
    return folder / "out"


@pytest.fixture(scope="module")
def nasty(tmp_path_factory) -> World:
    """Wide noise, pairs of alone and in combination, and names that would like to be markup."""
    folder = tmp_path_factory.mktemp("nasty")
    world = write_random_world(
        folder, 3, people=300, budget=1, allow_negative_counts=True, zero_suppression_chance=0.3, privacy_defn="zcdp"
    )
    world.configure(**{key: 0.05 for key, value in world.config().items() if "budget_p_level" in key and value})
    make_pairs(world)
    blocks = [row for row in rows_of(world.data / "GRF-C.txt") if row["TABBLKST"] != "60"]
    entities = {one for row in blocks for one in entities_of(row, row["PLACEFP"], row["AIANNHCE"]).items()}
    lines = ["REGION_TYPE|REGION_ID|NAME", *(f"{level}|{region}|{NASTY}" for level, region in sorted(entities))]
    (world.data / "geography-names.txt").write_text("\n".join(lines) + "\n")
    lists = world.parameters / "race-characteristic-iterations.txt"
    lists.write_text(re.sub(r"\|group \d+\|", lambda _: f"|{NASTY}|", lists.read_text()))
    return world


def page_of(out: Path) -> ReportPage:
    return ReportPage((out / "report.html").read_text(encoding="utf-8"))


def level_of(row: Row) -> tuple[str, str]:
    return row["geography_level"], row["iteration_level"]


def levels_of(out: Path) -> list[tuple[str, str]]:
    return [level_of(row) for row in universe_of(out, "levels")]


def possible_groups(out: Path) -> dict[tuple[str, str, str], int]:
    """By level and kind, from the flags of the lists alone."""
    entities = Counter(row["geography_level"] for row in universe_of(out, "entities"))
    possible: Counter[tuple[str, str, str]] = Counter()
    for level in universe_of(out, "levels"):
        label = level["geography_level"]
        wanted = {"common", "substate only" if label in SUBSTATE else "total only"}
        for row in universe_of(out, "iterations"):
            if (
                row["iteration_level"] == level["iteration_level"]
                and row["list"] in wanted
                and level["not_tabulated"] is None
            ):
                possible[*level_of(level), row["iteration_kind"]] += entities[label]
    return possible


def test_groups_by_level_and_table_are_those_of_t1_and_t2(out):
    level_of_iteration = {row["iteration_code"]: row["iteration_level"] for row in universe_of(out, "iterations")}
    cells: Counter[tuple[str, str, str]] = Counter()
    for path in (out / "t2").glob("*.csv"):
        for row in rows_of(path):
            cells[row["REGION_TYPE"], row["REGION_ID"], row["ITERATION_CODE"]] += row["AGESTART"] != "*"
    published: Counter[tuple[str, str, int]] = Counter()
    for path in (out / "t1").glob("*.csv"):
        for row in rows_of(path):
            table = [0, 8, 18, 46].index(cells[row["REGION_TYPE"], row["REGION_ID"], row["ITERATION_CODE"]])
            published[row["REGION_TYPE"], level_of_iteration[row["ITERATION_CODE"]], table] += 1
    possible = possible_groups(out)
    shown = page_of(out).numbers(GROUPS)
    assert list(shown) == levels_of(out), "every level has a row"
    assert sum(published.values()) > 50
    for level, texts in shown.items():
        of_tables = [published[*level, table] for table in range(4)]
        could = sum(count for key, count in possible.items() if key[:2] == level)
        if not could:
            assert [text[:14] for text in texts] == ["not tabulated:"]
            continue
        entities = sum(row["geography_level"] == level[0] for row in universe_of(out, "entities"))
        numbers = [entities, could, *of_tables, 0, 0, could - sum(of_tables)]
        assert [int(text) for text in texts[:-1]] == numbers


def test_availability_tells_for_each_kind_how_many_groups_have_a_total_and_sex_by_age(out):
    totals = totals_of(numbers_of(out)).values()
    possible = possible_groups(out)
    seen = 0
    for (label, _), cells in page_of(out).tables["Availability by level and kind of group"].items():
        assert len(cells) == 6
        for cell in cells:
            kind = cell.attributes["data-kind"]
            own = [
                r
                for r in totals
                if (*level_of(r), r["iteration_kind"]) == (label, cell.attributes["data-iterations"], kind)
            ]
            could = possible.get((label, cell.attributes["data-iterations"], kind), 0)
            by_age = sum(row["table"] != "total" for row in own)
            told = f"{len(own):,} of {could:,} groups have a total, {by_age:,} have sex by age"
            assert cell.attributes.get("title") == (told if could else None)
            assert ("h0" in cell.attributes["class"]) == (could > 0 and not own)
            seen += len(own)
    assert seen == len(totals)


def ends_of(row: Row) -> tuple[int, int]:
    return row["interval_low"], row["interval_high"]


def test_intervals_are_set_beside_their_numbers(out):
    rows = numbers_of(out)
    expected: dict[tuple[str, str], Counter] = {}
    for row in rows:
        sort = "Totals" if row["table_id"] == "T01001" else "Cells of sex by age" if row["noise_draws"] == 1 else None
        if sort is None:
            continue
        count, (low, high) = row["unclamped_count"], ends_of(row)
        farthest = max(count - low, high - count)
        place = next((n for n, limit in enumerate((5, 10, 25, 50)) if 100 * farthest <= limit * count), 4)
        place = 5 if low <= 0 else place
        name = dict(zip(TABLES, ("total only", "sex by 4 ages", "sex by 9 ages", "sex by 23 ages"), strict=True))[
            row["table"]
        ]
        caption = f"{sort} by precision, level and table: {name}"
        expected.setdefault((caption, level_of(row)), Counter())[place] += 1
    page = page_of(out)
    found = {(caption, level) for caption, of in page.tables.items() if "by precision" in caption for level in of}
    assert found == set(expected)
    for (caption, level), classes in expected.items():
        numbers = [sum(classes.values()), *(classes[place] for place in range(6))]
        assert page.numbers(caption)[level] == [str(number) for number in numbers]


def test_how_many_published_groups_may_be_empty_is_said_in_words(out):
    totals = list(totals_of(numbers_of(out)).values())
    zeros = [row for row in totals if ends_of(row)[0] <= 0]
    below, may_be = ([row for row in rows if row["geography_level"] in SUBSTATE] for rows in (totals, zeros))
    page = page_of(out)
    assert 0 < len(may_be) < len(zeros)
    sentence = (
        f"{len(zeros):,} of {len(totals):,} published totals may be zero, so their groups may be empty. Below state"
        f" level, {len(may_be):,} of {len(below):,} may be zero; the most are in "
    )
    assert sentence in page.text
    assert f"{len(zeros):,} published totals may be zero" in page.concerns


def chance_from(at_least: int, row: Row, stage: str) -> float:
    """P[noise >= at_least], summed term by term."""
    parameter = float(Fraction(row[f"{stage}_parameter"]))
    is_gaussian = row["noise_mechanism"] == "discrete_gaussian"
    weight = {k: exp(-k * k / (2 * parameter) if is_gaussian else -abs(k) / parameter) for k in range(-4000, 4001)}
    return sum(weight[k] for k in range(max(at_least, -4000), 4001)) / sum(weight.values())


def test_the_bound_on_published_empty_groups_follows_from_public_numbers(out):
    shown = page_of(out).numbers("Published groups that may be empty")
    possible = possible_groups(out)
    totals = list(totals_of(numbers_of(out)).values())
    bounded = 0
    for row in universe_of(out, "levels"):
        could = sum(count for key, count in possible.items() if key[:2] == level_of(row))
        if not could:
            assert level_of(row) not in shown
            continue
        groups, published, threshold, bound, reaching = shown[level_of(row)]
        own = [total for total in totals if level_of(total) == level_of(row)]
        assert (int(groups), int(published)) == (could, len(own))
        assert int(reaching) == sum(ends_of(total)[0] <= 0 for total in own)
        if row["suppression_threshold"] is None:
            assert (threshold, bound) == (NOTHING, f"{could} (all)")
            continue
        bounded += 1
        assert threshold == str(row["suppression_threshold"])
        with_table = chance_from(row["threshold_sex_age_4"], row, "stage_1")
        expected = could * (with_table + (1 - with_table) * chance_from(int(threshold) + 1, row, "stage_2"))
        assert expected <= float(bound) + 1e-9
        assert float(bound) <= 1.011 * expected
    assert bounded or not any(row["suppression_threshold"] is not None for row in universe_of(out, "levels"))


def test_the_cost_is_that_of_the_manifest(out):
    page, loss = page_of(out), json.loads((out / "manifest.json").read_text())["loss"]
    for who in loss.values():
        symbol = "rho" if "unbounded_rho" in who else "epsilon"
        for kind in ("unbounded", "bounded"):
            assert who[f"{kind}_{symbol}"] in page.text
            if symbol == "rho":
                for delta in ("1e-05", "1e-10", "1e-15"):
                    decimals = f"{who[f'{kind}_epsilon_by_delta'][delta]:,.4f}"
                    assert decimals.rstrip("0").rstrip(".") in page.text


@pytest.mark.parametrize(("definition", "budget"), [("zcdp", 2), ("puredp", 3)])
def test_a_loss_far_above_2020_is_warned_of_by_the_run_and_the_report(definition, budget, tmp_path):
    world = write_random_world(tmp_path, 2, people=50, budget=budget, privacy_defn=definition)
    told = cli("run", *world, tmp_path / "out")
    assert told.exit_code == 0, told.output
    assert "For comparison, the 2020 Detailed DHC-A: rho 4.944 (bounded 9.888)" in told.stdout
    assert "Warning: The total loss per person" in told.stderr
    page = page_of(tmp_path / "out").text
    assert "The privacy loss is far above that of the 2020 Detailed DHC-A" in page
    assert ("the 2020 Detailed DHC-A: changed (bounded)" in page) == (definition == "zcdp")
    assert ("Nation, Detailed: The loss of this level, epsilon 3, counts as rho 4.5 at most" in page) == (budget == 3)


def test_the_page_is_a_function_of_the_release_alone(out, tmp_path):
    shutil.copytree(out / "release", tmp_path / "given away")
    written = (out / "report.html").read_text(encoding="utf-8")
    for number, release in enumerate((tmp_path / "given away", out)):
        report_file(release, tmp_path / f"{number}.html", overwrite=False)
        assert (tmp_path / f"{number}.html").read_text(encoding="utf-8") == written
    entry = json.loads((out / "manifest.json").read_text())["documents"]["report.html"]
    assert entry["sha256"] == hashlib.sha256(written.encode()).hexdigest()


def test_the_page_asks_nobody_for_anything_and_runs_nothing(out):
    text = (out / "report.html").read_text(encoding="utf-8")
    page = ReportPage(text)
    assert not re.search(r"https?:|//[a-z]|url\(|@import|javascript:", text.replace("<!doctype html>", ""))
    for tag, attributes in page.tags:
        assert tag not in {"script", "iframe", "object", "embed", "img", "form", "base"}
        assert not [key for key in attributes if key.startswith("on") or key in {"src", "srcset", "action", "style"}]
        assert re.match(r"#[a-z]+$|data:,$", attributes.get("href", "data:,"))
    policy = next(of["content"] for tag, of in page.tags if tag == "meta" and "http-equiv" in of)
    assert policy.startswith("default-src 'none'")


def test_the_page_can_be_read_aloud(out):
    page = page_of(out)
    assert page.headings[0][0] == "h1"
    assert [tag for tag, _ in page.headings].count("h1") == 1
    assert page.tags[0] == ("html", {"lang": "en"})
    tags = [tag for tag, _ in page.tags]
    assert tags.count("caption") == tags.count("table") > 5
    for tag, attributes in page.tags:
        if tag == "svg":
            assert attributes.get("aria-label") or attributes["aria-hidden"] == "true"
        if tag == "th":
            assert attributes["scope"] in {"row", "col", "rowgroup", "colgroup"}
    targets = {attributes["id"] for _, attributes in page.tags if "id" in attributes}
    assert {of["href"][1:] for tag, of in page.tags if tag == "a"} <= targets


def test_names_are_text_and_never_markup(nasty, tmp_path):
    safetab.run(*nasty, tmp_path / "out", test_key=KEY)
    text = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    page = ReportPage(text)
    assert "script" not in {tag for tag, _ in page.tags}
    assert "<script" not in text
    assert page.text.count(NASTY) == 9  # two states, Puerto Rico, and three examples of an entity and a group
    assert f"{NASTY}, {NASTY}: " in page.text
    assert not [key for _, attributes in page.tags for key in attributes if key.startswith("on")]


def test_alone_totals_above_their_partners_are_counted_and_the_widest_named(nasty, tmp_path):
    safetab.run(*nasty, tmp_path / "out", test_key=KEY)
    out = tmp_path / "out"
    codes: dict[str, set[str]] = {}
    for row in universe_of(out, "iteration-codes"):
        codes.setdefault(row["iteration_code"], set()).add(row["code"])
    totals = totals_of(numbers_of(out))
    above = 0
    for (label, region, code), row in totals.items():
        for (other_label, other_region, other), partner in totals.items():
            is_pair = (label, region) == (other_label, other_region) and codes.get(code) == codes.get(other)
            kinds = (row["iteration_kind"], partner["iteration_kind"])
            if is_pair and kinds == ("race alone", "race alone or in any combination"):
                same_level = row["iteration_level"] == partner["iteration_level"]
                above += same_level and row["count"] > partner["count"]
    assert above > 5
    page = page_of(out)
    larger = "Pairs in which a group alone came out larger than the same group alone or in any combination"
    assert f"{larger}: {above:,}" in page.concerns
    assert "Each group has its own random noise, so it may not be." in page.text
    negative = sum(
        row["count"] < 0 for row in numbers_of(out) if row["table_id"] == "T01001" or row["noise_draws"] == 1
    )
    assert f"{negative:,} totals and cells of sex by age are below zero" in page.concerns


def test_a_chosen_key_is_told_before_anything_else(nasty, tmp_path):
    safetab.run(*nasty, tmp_path / "chosen", test_key=KEY)
    real = shutil.copytree(nasty.data, tmp_path / "data")
    (real / "SYNTHETIC").unlink()
    safetab.run(nasty.parameters, real, tmp_path / "secret")
    chosen, secret = page_of(tmp_path / "chosen"), page_of(tmp_path / "secret")
    assert chosen.text.strip().startswith("Status: test key. Not for release")
    assert chosen.concerns[0] == "This is not for release"
    assert "not for release" not in secret.text.lower()


def test_thresholds_within_noise_and_levels_without_suppression_are_told(nasty, tmp_path):
    safetab.run(*nasty, tmp_path / "low")
    assert any(
        one.endswith("where the suppression threshold is within the noise")
        for one in page_of(tmp_path / "low").concerns
    )
    assert "More than 2.5% of empty groups are published there, on average." in page_of(tmp_path / "low").text
    before = nasty.config()
    try:
        nasty.configure(zero_suppression_chance=0)
        safetab.run(*nasty, tmp_path / "none")
        nasty.configure(zero_suppression_chance=0.9999999, privacy_budget_p_level_2_pr_county=0.000001)
        safetab.run(*nasty, tmp_path / "much")
    finally:
        nasty.configure(**before)
    assert any(one.endswith("below state where nothing is suppressed") for one in page_of(tmp_path / "none").concerns)
    much = page_of(tmp_path / "much").concerns
    assert not any("within the noise" in one or "nothing is suppressed" in one for one in much)


@pytest.mark.parametrize("rule", ["clamp-negatives", "withhold-negatives", "withhold-alone-above-partner"])
def test_what_rules_did_is_told(nasty, tmp_path, rule):
    out = tmp_path / "out"
    safetab.run(*nasty, out, test_key=KEY, rules=[rule])
    page, rows = page_of(out), numbers_of(out)
    acted = sum(row["rule"] == rule for row in rows)
    assert acted
    assert f"The rule {rule} acted on {acted:,} numbers" in page.concerns
    withheld = Counter(level_of(row) for row in totals_of(rows).values() if row["status"] == "withheld")
    shown = {level: texts for level, texts in page.numbers(GROUPS).items() if len(texts) > 1}
    assert {level: int(texts[7]) for level, texts in shown.items() if int(texts[7])} == withheld
    assert bool(withheld) == (rule != "clamp-negatives")


def test_puerto_rico_alone_has_a_page(nasty, tmp_path):
    before = nasty.config()
    try:
        nasty.configure(run_us=False, state_filter_us=[])
        safetab.run(*nasty, tmp_path / "out")
    finally:
        nasty.configure(**before)
    page = page_of(tmp_path / "out")
    assert {label for label, _ in page.tables[GROUPS]} == {"PR-STATE", "PR-COUNTY", "PR-TRACT", "PR-PLACE"}
    assert "United States" not in page.text


def test_copies_are_told_and_the_old_page_stays(tmp_path):
    parameters, data = write_world(tmp_path / "world")
    safetab.run(parameters, data, tmp_path / "out")
    before = (tmp_path / "out" / "report.html").read_bytes()
    words = ["coterminous", tmp_path / "out", tmp_path / "new", "--geography", data / "GRF-C.txt", "--copy-all"]
    assert cli(*words).exit_code == 0
    assert (tmp_path / "out" / "report.html").read_bytes() == before
    copied: Counter[tuple[str, str]] = Counter()
    beyond = 0
    lists = {row["iteration_code"]: row["list"] for row in universe_of(tmp_path / "new", "iterations")}
    for row in totals_of(numbers_of(tmp_path / "new")).values():
        is_beyond = lists[row["iteration_code"]] == "total only" and row["geography_level"] in SUBSTATE
        is_beyond |= lists[row["iteration_code"]] == "substate only" and row["geography_level"] not in SUBSTATE
        assert not is_beyond or row["status"] == "copied"
        beyond += is_beyond
        copied[level_of(row)] += row["status"] == "copied" and not is_beyond
    page = page_of(tmp_path / "new")
    shown = {level: texts for level, texts in page.numbers(GROUPS).items() if len(texts) > 1}
    assert {level: int(texts[6]) for level, texts in shown.items()} == {level: copied[level] for level in shown}
    assert sum(copied.values()) > 3
    assert beyond
    assert f"{beyond} copied groups that their level does not tabulate" in page.concerns
    assert all(int(texts[8]) >= 0 for texts in shown.values())


def test_the_command_writes_a_new_file_or_says_why_not(out, tmp_path):
    def report(*words: object) -> tuple[int, str]:
        result = cli("report", *words)
        return result.exit_code, result.stdout + result.stderr

    page = tmp_path / "page.html"
    assert report(out / "release", "-o", page) == (0, f"Wrote {page}. {OutputStatus.SYNTHETIC.line}\n")
    assert page.read_bytes() == (out / "report.html").read_bytes()
    for release, file, sentence in [
        (out, page, "already exists. Choose another name, or add --overwrite."),
        (out, tmp_path, "is a directory. Give the name of a file."),
        (out, tmp_path / "nowhere" / "page.html", "can't be written: there is no folder"),
        (tmp_path, tmp_path / "new.html", "is not a release: it has no datapackage.json. Give OUT or OUT/release."),
    ]:
        code, told = report(release, "-o", file)
        assert (code, sentence in told) == (1, True), told
        assert "Traceback" not in told
    assert not (tmp_path / "new.html").exists()
    page.write_text("an earlier page")
    assert report(out, "-o", page, "--overwrite")[0] == 0
    assert page.read_bytes() == (out / "report.html").read_bytes()


def test_a_damaged_release_has_no_page(out, tmp_path):
    shutil.copytree(out / "release", tmp_path / "release")
    number_file = next((tmp_path / "release" / "numbers").rglob("*.parquet"))
    number_file.write_bytes(number_file.read_bytes()[:-100])
    result = cli("report", tmp_path / "release", "-o", tmp_path / "page.html")
    assert result.exit_code == 1
    assert "changed after the release was made: numbers/" in result.stderr
    assert not (tmp_path / "page.html").exists()


def test_the_key_figures_count_each_group_and_each_row_once(out):
    rows = numbers_of(out)
    shown = re.findall(r"<dd>([^<]*)</dd>", (out / "report.html").read_text(encoding="utf-8"))
    assert shown[:2] == [f"{len({group(row) for row in rows}):,}", f"{len(rows):,}"]
    assert shown[3] == str(len(page_of(out).concerns))


def test_five_lines_at_the_top_answer_what_readers_ask_first(out):
    text, page = (out / "report.html").read_text(encoding="utf-8"), page_of(out)
    lines = re.findall(r"<li><strong>([^<]*) </strong><span>(.*?)</span></li>", text.split("</header>")[0])
    assert [lead for lead, _ in lines] == list(LEADS)
    what, released, precise, cost, check = (re.sub(r"<[^>]*>", "", answer) for _, answer in lines)
    assert what.startswith("Counts of synthetic people in race or ethnicity groups, by area. Made on ")
    assert released == "No: these people are synthetic. They do not exist, even where the places do."
    totals = totals_of(numbers_of(out)).values()
    zeros = [row for row in totals if ends_of(row)[0] <= 0]
    assert f" {percent(len(zeros), len(totals))} may be zero." in precise
    assert re.match(r"A privacy loss of at most \S = [\d.]+ per person", cost)
    assert check.startswith(f"{len(page.concerns)} point")
    keys = {attributes.get("id") for _, attributes in page.tags}
    linked = {attributes["href"] for tag, attributes in page.tags if tag == "a"}
    assert {f"#{key}" for key in ("precision", "cost", "eye")} <= linked <= {f"#{key}" for key in keys}
