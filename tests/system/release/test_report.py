"""The report: its numbers are those of the release, counted again here; its page asks nobody for anything."""

import hashlib
import re
import shutil
from collections import Counter, defaultdict
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

import safetab
from tests.brute_force import SUBSTATE, rows_of
from tests.commands import cli, done, refused
from tests.inside import LEADS, NOTHING, PAGES, OutputStatus, percent
from tests.releases import group, json_of, totals_of, unchanged_numbers_of, universe_of
from tests.report_pages import ReportPage
from tests.system.release.test_coterminous import write_world
from tests.worlds.pairs import NASTY
from tests.worlds.people import no_budgets_but

TABLES = {
    "total": "total only",
    "sex_age_4": "sex by 4 ages",
    "sex_age_9": "sex by 9 ages",
    "sex_age_23": "sex by 23 ages",
}
GROUPS = "Population groups by level and table"


@cache
def text_of(out):
    return (out / "report.html").read_text(encoding="utf-8")


@cache
def page_of(out):
    return ReportPage(text_of(out))


@pytest.fixture(scope="session")
def out(variant):
    return variant.out


@pytest.fixture(scope="session")
def page(out):
    return page_of(out)


@pytest.fixture(scope="session")
def totals(out):
    return totals_in(out)


@pytest.fixture(scope="session")
def paired(releases):
    return releases.pairs().out


@pytest.fixture(scope="module")
def few_pairs(releases, tmp_path_factory):
    """Of few levels."""
    folder = tmp_path_factory.mktemp("pairs")
    world = releases.pairs().world.copy(folder)
    world.configure(run_pr=False, **no_budgets_but("2_state", "2_county"))
    return world.run(folder / "out")


@cache
def totals_in(out):
    return totals_of(unchanged_numbers_of(out)).values()


def level_of(row):
    return row["geography_level"], row["iteration_level"]


def list_of(label):
    """Of iterations that a geography level has and others may lack."""
    return "substate only" if label in SUBSTATE else "total only"


@cache
def entities_of(out):
    return Counter(row["geography_level"] for row in universe_of(out, "entities"))


@cache
def possible_groups(out):
    """By level and kind, from the flags of the lists alone."""
    possible = Counter()
    for level in universe_of(out, "levels"):
        label = level["geography_level"]
        for row in universe_of(out, "iterations"):
            is_there = row["iteration_level"] == level["iteration_level"] and row["list"] in {"common", list_of(label)}
            if is_there and level["not_tabulated"] is None:
                possible[*level_of(level), row["iteration_kind"]] += entities_of(out)[label]
    return possible


def possible_at(out, level):
    return sum(count for key, count in possible_groups(out).items() if key[:2] == level)


def group_in_csv(row):
    return row["REGION_TYPE"], row["REGION_ID"], row["ITERATION_CODE"]


def test_groups_by_level_and_table_are_those_of_t1_and_t2(out, page):
    level_of_iteration = {row["iteration_code"]: row["iteration_level"] for row in universe_of(out, "iterations")}
    cells, published = Counter(), Counter()
    for path in (out / "t2").glob("*.csv"):
        for row in rows_of(path):
            cells[group_in_csv(row)] += row["AGESTART"] != "*"
    for path in (out / "t1").glob("*.csv"):
        for row in rows_of(path):
            table = [0, 8, 18, 46].index(cells[group_in_csv(row)])
            published[row["REGION_TYPE"], level_of_iteration[row["ITERATION_CODE"]], table] += 1
    shown = page.numbers(GROUPS)
    assert list(shown) == [level_of(row) for row in universe_of(out, "levels")], "every level has a row"
    assert published.total() > 50
    for level, texts in shown.items():
        could = possible_at(out, level)
        if could:
            of_tables = [published[*level, table] for table in range(4)]
            numbers = [entities_of(out)[level[0]], could, *of_tables, 0, 0, could - sum(of_tables)]
            assert [int(text) for text in texts[:-1]] == numbers
        else:
            assert [text[:14] for text in texts] == ["not tabulated:"]


def test_availability_tells_for_each_kind_how_many_groups_have_a_total_and_sex_by_age(out, page, totals):
    seen = 0
    for (label, _), cells in page.tables["Availability by level and kind of group"].items():
        assert len(cells) == 6
        for cell in cells:
            key = (label, cell.attributes["data-iterations"], cell.attributes["data-kind"])
            own = [row for row in totals if (*level_of(row), row["iteration_kind"]) == key]
            could, by_age = possible_groups(out)[key], sum(row["table"] != "total" for row in own)
            told = f"{len(own):,} of {could:,} groups have a total, {by_age:,} have sex by age"
            assert cell.attributes.get("title") == (told if could else None)
            assert ("h0" in cell.attributes["class"]) == (could > 0 and not own)
            seen += len(own)
    assert seen == len(totals)


def test_intervals_are_set_beside_their_numbers(out, page):
    expected = defaultdict(Counter)
    for row in unchanged_numbers_of(out):
        is_total = row["table_id"] == "T01001"
        if is_total or row["noise_draws"] == 1:
            count, low, high = row["unclamped_count"], row["interval_low"], row["interval_high"]
            farthest = 100 * max(count - low, high - count)
            place = next((n for n, limit in enumerate((5, 10, 25, 50)) if farthest <= limit * count), 4)
            caption = f"{'Totals' if is_total else 'Cells of sex by age'} by precision, level and table: "
            expected[caption + TABLES[row["table"]], level_of(row)][5 if low <= 0 else place] += 1
    found = {(caption, level) for caption, of in page.tables.items() if "by precision" in caption for level in of}
    assert found == set(expected)
    for (caption, level), classes in expected.items():
        numbers = [classes.total(), *(classes[place] for place in range(6))]
        assert page.numbers(caption)[level] == list(map(str, numbers))


def test_how_many_published_groups_may_be_empty_is_said(page, totals):
    zeros = [row for row in totals if row["interval_low"] <= 0]
    below, may_be = ([row for row in rows if row["geography_level"] in SUBSTATE] for rows in (totals, zeros))
    assert 0 < len(may_be) < len(zeros)
    assert f"{len(zeros):,} of {len(totals):,} published totals may be zero" in page.text
    assert f"{len(may_be):,} of {len(below):,} may be zero" in page.text
    assert f"{len(zeros):,} published totals may be zero" in page.concerns


def chance_from(at_least, row, stage):
    """P[noise >= at_least], summed term by term."""
    parameter = float(Fraction(row[f"{stage}_parameter"]))
    numbers = np.arange(-4000, 4001)
    is_gaussian = row["noise_mechanism"] == "discrete_gaussian"
    weights = np.exp(-(numbers**2) / (2 * parameter) if is_gaussian else -abs(numbers) / parameter)
    return weights[numbers >= at_least].sum() / weights.sum()


def test_the_bound_on_published_empty_groups_follows_from_public_numbers(out, page, totals):
    shown, levels = page.numbers("Published groups that may be empty"), universe_of(out, "levels")
    bounded = 0
    for row in levels:
        could = possible_at(out, level_of(row))
        if not could:
            assert level_of(row) not in shown
            continue
        groups, published, threshold, bound, reaching = shown[level_of(row)]
        own = [total["interval_low"] <= 0 for total in totals if level_of(total) == level_of(row)]
        assert [int(groups), int(published), int(reaching)] == [could, len(own), sum(own)]
        if row["suppression_threshold"] is None:
            assert (threshold, bound) == (NOTHING, f"{could} (all)")
            continue
        bounded += 1
        assert threshold == str(row["suppression_threshold"])
        with_table = chance_from(row["threshold_sex_age_4"], row, "stage_1")
        expected = could * (with_table + (1 - with_table) * chance_from(int(threshold) + 1, row, "stage_2"))
        assert expected - 1e-9 <= float(bound) <= 1.011 * expected
    assert bounded or not any(row["suppression_threshold"] is not None for row in levels)


def test_the_cost_is_that_of_the_manifest(out, page):
    for who in json_of(out / "manifest.json")["loss"].values():
        symbol = "rho" if "unbounded_rho" in who else "epsilon"
        for kind in ("unbounded", "bounded"):
            assert who[f"{kind}_{symbol}"] in page.text
            for delta in ("1e-05", "1e-10", "1e-15") if symbol == "rho" else ():
                decimals = f"{who[f'{kind}_epsilon_by_delta'][delta]:,.4f}"
                assert decimals.rstrip("0").rstrip(".") in page.text


def test_a_loss_far_above_2020_is_warned_of_by_the_run_and_the_report(variant, plain, tmp_path):
    page = page_of(variant.out).text
    is_zcdp = variant.world.config()["privacy_defn"] == "zcdp"
    assert "The privacy loss is far above that of the 2020 Detailed DHC-A" in page
    assert ("the 2020 Detailed DHC-A: changed (bounded)" in page) == is_zcdp
    assert ("Nation, Detailed: The loss of this level, epsilon 3, counts as rho 4.5 at most" in page) != is_zcdp
    if variant == plain:
        world = plain.world.copy(tmp_path)
        world.configure(run_pr=False, state_filter_us=["44"])
        told = cli("run", *world, tmp_path / "out")
        assert told.exit_code == 0, told.output
        assert "the 2020 Detailed DHC-A: rho 4.944 (bounded 9.888)" in told.stdout
        assert "Warning: The total loss per person" in told.stderr
        assert "No: these people are synthetic." in page_of(tmp_path / "out").text


def test_the_page_is_a_function_of_the_release_alone(plain, tmp_path):
    shutil.copytree(plain.out / "release", tmp_path / "given away")
    written = text_of(plain.out)
    for number, release in enumerate((tmp_path / "given away", plain.out)):
        PAGES["report"].write(release, tmp_path / f"{number}.html", overwrite=False)
        assert (tmp_path / f"{number}.html").read_text(encoding="utf-8") == written
    entry = json_of(plain.out / "manifest.json")["documents"]["report.html"]
    assert entry["sha256"] == hashlib.sha256(written.encode()).hexdigest()


def test_the_page_asks_nobody_for_anything_and_runs_nothing(paired):
    page = page_of(paired)
    assert not re.search(r"https?:|//[a-z]|url\(|@import|javascript:", text_of(paired))
    for tag, attributes in page.tags:
        assert tag not in {"script", "iframe", "object", "embed", "img", "form", "base"}
        assert not [key for key in attributes if key.startswith("on") or key in {"src", "srcset", "action", "style"}]
        assert re.match(r"#[a-z]+$|data:,$", attributes.get("href", "data:,"))
    policy = next(of["content"] for tag, of in page.tags if tag == "meta" and "http-equiv" in of)
    assert policy.startswith("default-src 'none'")


def test_the_page_can_be_read_aloud(page):
    assert [number for number, (tag, _) in enumerate(page.headings) if tag == "h1"] == [0]
    assert page.tags[0] == ("html", {"lang": "en"})
    tags = Counter(tag for tag, _ in page.tags)
    assert tags["caption"] == tags["table"] > 5
    for tag, attributes in page.tags:
        if tag == "svg":
            assert attributes.get("aria-label") or attributes["aria-hidden"] == "true"
        if tag == "th":
            assert attributes["scope"] in {"row", "col", "rowgroup", "colgroup"}
    targets = {attributes.get("id") for _, attributes in page.tags}
    assert {of["href"][1:] for tag, of in page.tags if tag == "a"} <= targets


def test_names_are_text_and_never_markup(paired):
    page = page_of(paired)
    assert "<script" not in text_of(paired)
    assert (
        page.text.count(NASTY) == 7
    )  # a state, Puerto Rico, and examples: two entities, a tract without a name, three groups
    assert f"{NASTY}, {NASTY}: " in page.text


def test_alone_totals_above_their_partners_are_counted_and_the_widest_named(paired):
    codes = defaultdict(set)
    for row in universe_of(paired, "iteration-codes"):
        codes[row["iteration_code"]].add(row["code"])
    rows, counts = unchanged_numbers_of(paired), defaultdict(dict)
    for (label, region, code), row in totals_of(rows).items():
        key = label, region, row["iteration_level"], *sorted(codes[code])
        counts[row["iteration_kind"]][key] = row["count"]
    pairs = counts["race alone or in any combination"]
    above = sum(count > pairs.get(key, count) for key, count in counts["race alone"].items())
    assert above > 5
    concerns = page_of(paired).concerns
    larger = "Pairs in which a group alone came out larger than the same group alone or in any combination"
    assert f"{larger}: {above:,}" in concerns
    negative = sum(row["count"] < 0 for row in rows if row["table_id"] == "T01001" or row["noise_draws"] == 1)
    assert f"{negative:,} totals and cells of sex by age are below zero" in concerns


def test_a_chosen_key_is_told_before_anything_else(paired):
    page = page_of(paired)
    assert page.text.strip().startswith("Status: test key. Not for release")
    assert page.concerns[0] == "This is not for release"


def test_thresholds_within_noise_and_levels_without_suppression_are_told(variant, paired):
    chance = variant.world.config()["zero_suppression_chance"]
    concerns = "\n".join(page_of(variant.out).concerns)
    assert ("below state where nothing is suppressed" in concerns) == (chance == 0)
    assert ("where the suppression threshold is within the noise" in concerns) == (chance == 0.9)
    assert "More than 2.5% of empty groups are published there, on average." in page_of(paired).text


@pytest.mark.parametrize("rule", ["clamp-negatives", "withhold-negatives", "withhold-alone-above-partner"])
def test_what_rules_did_is_told(few_pairs, releases, rule):
    out = releases.again(few_pairs, rules=[rule])
    page, rows = page_of(out), unchanged_numbers_of(out)
    acted = sum(row["rule"] == rule for row in rows)
    assert acted
    assert f"The rule {rule} acted on {acted:,} numbers" in page.concerns
    withheld = Counter(level_of(row) for row in totals_in(out) if row["status"] == "withheld")
    shown = {level: int(texts[7]) for level, texts in page.numbers(GROUPS).items() if len(texts) > 1}
    assert Counter(shown) == withheld
    assert bool(withheld) == (rule != "clamp-negatives")


def test_puerto_rico_alone_has_a_page_which_is_for_release(releases, tmp_path):
    world = releases.pairs().world.copy(tmp_path)
    (world.data / "SYNTHETIC").unlink()
    world.configure(run_us=False, state_filter_us=[], **no_budgets_but("2_pr_state"))
    page = page_of(world.run(tmp_path / "out", test_key=None))
    assert {label for label, _ in page.tables[GROUPS]} == {"PR-STATE", "PR-COUNTY", "PR-TRACT", "PR-PLACE"}
    assert "United States" not in page.text
    assert "not for release" not in page.text.lower()


def test_copies_are_told(tmp_path):
    out = tmp_path / "out"
    few = no_budgets_but("2_state", "2_county", "2_tract", "2_place")
    safetab.run(*write_world(tmp_path / "world", run_pr=False, **few), out, coterminous=True, copy_all=True)
    copied, beyond = Counter(), 0
    lists = {row["iteration_code"]: row["list"] for row in universe_of(out, "iterations")}
    for row in totals_in(out):
        is_beyond = lists[row["iteration_code"]] not in {"common", list_of(row["geography_level"])}
        assert not is_beyond or row["status"] == "copied"
        beyond += is_beyond
        copied[level_of(row)] += row["status"] == "copied" and not is_beyond
    page = page_of(out)
    shown = {level: texts for level, texts in page.numbers(GROUPS).items() if len(texts) > 1}
    assert Counter({level: int(texts[6]) for level, texts in shown.items()}) == copied
    assert copied.total() > 3
    assert beyond
    assert f"{beyond} copied groups that their level does not tabulate" in page.concerns
    assert all(int(texts[8]) >= 0 for texts in shown.values())


def test_the_command_writes_a_new_file_or_says_why_not(plain, tmp_path):
    out, page = plain.out, tmp_path / "page.html"
    assert done("report", out / "release", "-o", page) == f"Wrote {page}. {OutputStatus.TEST_KEY.line}\n"
    assert page.read_bytes() == (out / "report.html").read_bytes()
    for release, file, words in [
        (out, page, "already exists"),
        (out, tmp_path, "is a directory"),
        (out, tmp_path / "nowhere" / "page.html", "there is no folder"),
        (tmp_path, tmp_path / "new.html", "is not a release"),
    ]:
        assert words in refused("report", release, "-o", file)
    assert not (tmp_path / "new.html").exists()
    page.write_text("an earlier page")
    done("report", out, "-o", page, "--overwrite")
    assert page.read_bytes() == (out / "report.html").read_bytes()


def test_a_damaged_release_has_no_page(plain, tmp_path):
    release = shutil.copytree(plain.out / "release", tmp_path / "release")
    number_file = next((release / "numbers").rglob("*.parquet"))
    number_file.write_bytes(number_file.read_bytes()[:-100])
    assert "changed after the release was made: numbers/" in refused("report", release, "-o", tmp_path / "page.html")
    assert not (tmp_path / "page.html").exists()


def test_the_key_figures_count_each_group_and_each_row_once(out, page):
    rows, shown = unchanged_numbers_of(out), re.findall(r"<dd>([^<]*)</dd>", text_of(out))
    assert shown[:2] == [f"{len({group(row) for row in rows}):,}", f"{len(rows):,}"]
    assert shown[3] == str(len(page.concerns))


def test_five_lines_at_the_top_answer_what_readers_ask_first(out, page, totals):
    lines = re.findall(r"<li><strong>([^<]*) </strong><span>(.*?)</span></li>", text_of(out).split("</header>")[0])
    assert [lead for lead, _ in lines] == list(LEADS)
    what, released, precise, cost, check = (re.sub(r"<[^>]*>", "", answer) for _, answer in lines)
    assert what.startswith("Counts of synthetic people in race or ethnicity groups, by area. Made on ")
    assert released.startswith("No: ")
    zeros = sum(row["interval_low"] <= 0 for row in totals)
    assert f" {percent(zeros, len(totals))} may be zero." in precise
    assert re.match(r"A privacy loss of at most \S = [\d.]+ per person", cost)
    assert check.startswith(f"{len(page.concerns)} point")
    keys = {f"#{attributes.get('id')}" for _, attributes in page.tags}
    linked = {attributes["href"] for tag, attributes in page.tags if tag == "a"}
    assert {"#precision", "#cost", "#eye"} <= linked <= keys
