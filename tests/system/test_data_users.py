"""Questions that a journalist, a planner and a tribal demographer ask of a release, and the answers.

The release has Puerto Rico, copies between areas of the same blocks, and numbers that a rule withheld. What is expected
is read from its rows, plainly, or follows from the geography; nothing depends on which noise was drawn.
"""

from __future__ import annotations

import csv
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import Result

import safetab
from tests.commands import cli
from tests.inside import Absence, Estimate, GroupTable, InvalidInput, Release, parts_of_group
from tests.releases import Row, group, numbers_of, totals_of

ZUNI = "Zuni Tribe of the Zuni Reservation"


@pytest.fixture(scope="module")
def census(demo_census: Path) -> Path:
    return demo_census


@pytest.fixture(scope="module")
def out(demo_out: Path) -> Path:
    return demo_out


@pytest.fixture(scope="module")
def release(out: Path) -> Release:
    return safetab.open_release(out)


@pytest.fixture(scope="module")
def rows(out: Path) -> list[Row]:
    return numbers_of(out)


@pytest.fixture(scope="module")
def totals(rows: list[Row]) -> dict[tuple[str, str, str], Row]:
    return totals_of(rows)


def present(answer: object) -> Estimate:
    assert isinstance(answer, Estimate), answer
    return answer


# a journalist


def test_1_how_many_dominicans_live_in_this_county(release, totals):
    answer = present(release.total("Providence County", "dominican"))
    row = totals["COUNTY", "44007", answer.counted[0].group.code]
    assert (answer.value, answer.margin_of_error) == (row["count"], row["margin_of_error"])
    assert answer.variance == pytest.approx(row["variance"])
    assert answer.interval == (row["count"] - row["margin_of_error"], row["count"] + row["margin_of_error"])
    assert str(answer).startswith(f"Dominican, Providence County, Rhode Island: {row['count']:,} ± ")


def test_2_which_groups_are_the_largest_in_honolulu(release, totals):
    answers = release.totals(area="Honolulu County")
    counts = sorted(
        (row["count"] for key, row in totals.items() if key[:2] == ("COUNTY", "15003") and row["count"] is not None),
        reverse=True,
    )
    assert [one.value for one in answers.largest(5)] == counts[:5]
    assert len(answers.numbers) == len(counts)


def test_3_are_there_more_dominicans_than_puerto_ricans(release):
    a, b = release.total("44007", "Dominican"), release.total("44007", "Puerto Rican")
    difference = release.differ(a, b)
    assert difference.value == present(a).value - present(b).value
    assert difference.variance == pytest.approx(present(a).variance + present(b).variance)
    assert difference.chance_of_noise_alone < 1e-6
    assert "Equal true numbers are ruled out at 95 %." in str(difference)
    assert "How often noise makes equal true numbers differ by this much or more: less than once" in str(difference)
    assert release.differ(b, a).chance_of_noise_alone == difference.chance_of_noise_alone


def test_4_hmong_is_two_groups_and_both_are_named(release):
    with pytest.raises(InvalidInput) as told:
        release.total("Providence County", "Hmong")
    assert '"Hmong" has 2 matches: Hmong alone (1048); Hmong alone or in any combination (1126)' in str(told.value)
    assert release.group("hmong", kind="alone").name == "Hmong alone"
    assert release.group("Hmong alone").code == "1048"


def test_5_a_misspelt_county_is_suggested(release):
    with pytest.raises(InvalidInput, match=r"Did you mean .*Providence County, Rhode Island"):
        release.total("Provdence County", "Dominican")
    with pytest.raises(InvalidInput, match="Did you mean one of these: Hmong alone;"):
        release.group("Hmogn")
    with pytest.raises(InvalidInput, match=r'"San Juan" has 4 matches: San Juan County, New Mexico \(county 35045\)'):
        release.area("San Juan")
    assert release.area("dona ana").name == "Doña Ana County, New Mexico"
    assert release.area("San Juan", "place").region_id == "7276770"


def test_6_why_is_there_no_number_for_the_hmong_of_kent_county(release):
    answer = release.total("Kent County", "Hmong alone")
    assert isinstance(answer, Absence)
    assert (answer.value, answer.status) == (None, "suppressed")
    state = present(release.total("Rhode Island", "Hmong alone"))
    assert [one.what for one in answer.instead] == [state.what]
    assert f"Hmong alone, Rhode Island: {state.value:,} ± {state.margin_of_error}" in str(answer)
    assert "does not mean zero" in str(answer)
    assert f"A group of more than {answer.at_most} people would be shown 95 % of the time or more." in str(answer)
    assert "most likely" not in str(answer)  # how likely a size is, nobody can say


def test_7_what_share_are_children_and_how_sure_is_that(release):
    table = release.table("Providence County", "Dominican")
    assert isinstance(table, GroupTable)
    children, everyone = table.count(ages=(0, 17)), table.count()
    share = release.ratio(children, everyone)
    low, high = share.interval
    assert share.value == pytest.approx(children.value / everyone.value)
    assert low < share.value < high
    assert (high - low) / 2 < children.margin_of_error / everyone.value  # they share noise, which cancels in part
    assert "Fieller" in str(share)


# a planner


def test_8_girls_and_boys_under_five_are_two_cells(release, rows):
    table = release.table("Providence County", "Dominican")
    assert isinstance(table, GroupTable)
    cells = [
        row
        for row in rows
        if group(row) == ("COUNTY", "44007", table.group.code) and (row["age_start"], row["age_end"]) == (0, 4)
    ]
    answer = table.count(ages=(0, 4))
    assert len(cells) == 2
    assert answer.value == sum(row["count"] for row in cells)
    assert answer.variance == pytest.approx(sum(row["variance"] for row in cells))
    assert table.count("female", (0, 4)).value == next(row["count"] for row in cells if row["sex"] == "female")


def test_9_ages_that_the_table_does_not_have_are_told(release):
    table = release.table("Providence County", "Dominican")
    assert isinstance(table, GroupTable)
    with pytest.raises(InvalidInput, match="0 to 20 is not a range of this table: its ages begin at 0, 5, 18"):
        table.count(ages=(0, 20))
    with pytest.raises(InvalidInput, match=r'must be both, male or female, not "woman"'):
        table.count("woman")


def test_10_the_parts_of_a_table_add_up_to_it_with_no_noise_left_over(release):
    table = release.table("Providence County", "Dominican")
    assert isinstance(table, GroupTable)
    parts = release.sum([table.count("male"), table.count("female", (0, 17)), table.count("female", (18, 115))])
    difference = release.differ(parts, release.total("44007", "Dominican"))
    assert (difference.value, difference.variance, difference.margin_of_error) == (0, 0, 0)
    assert "the same measurements" in str(difference)
    assert parts.notes == ()


def test_11_the_counties_of_a_state_added_up(release, totals):
    code = release.group("Dominican").code
    counties = release.totals(group="Dominican", level="county", within="Rhode Island")
    published = [
        row for key, row in totals.items() if key[0] == "COUNTY" and key[1].startswith("44") and key[2] == code
    ]
    answer = release.sum([counties])
    assert len(counties) == 5
    assert answer.value == sum(row["count"] for row in published)
    assert answer.variance == pytest.approx(sum(row["variance"] for row in published))
    assert ("absent" in " ".join(answer.notes)) == (len(published) < 5)
    state = release.total("Rhode Island", "Dominican")
    assert release.differ(answer, state).chance_of_noise_alone > 1e-6  # sums of different noise, in one distribution


def test_12_absent_counties_are_named_and_not_taken_for_zero(release):
    counties = release.totals(group="Hmong", kind="alone", level="county", within="44")
    answer = release.sum([counties])
    assert len(counties.numbers) < len(counties) == 5
    assert f"{len(counties.absences)} of 5 are absent and not in this sum" in answer.notes[0]
    assert counties.absences[0].what in answer.notes[0]
    with pytest.raises(InvalidInput, match=r"nothing to add up: Hmong alone, Kent County, Rhode Island \(suppressed\)"):
        release.sum([("Kent County", "Hmong alone")])


def test_13_groups_in_combination_overlap_and_the_sum_says_so(release):
    names = [f"{name} alone or in any combination" for name in ("Chinese", "Japanese")]
    assert "overlap" in release.sum([("Hawaii", name) for name in names]).notes[0]
    assert release.sum([("Hawaii", "Chinese alone"), ("Hawaii", "Japanese alone")]).notes == ()
    assert release.sum([("Hawaii", names[0]), ("Utah", names[1])]).notes == ()
    assert "overlap" in release.sum([("Hawaii", "East Asian alone"), ("Hawaii", "Chinese alone")]).notes[0]
    assert "overlap" in release.sum([("Hawaii", "Chinese alone"), ("Hawaii", "Mexican")]).notes[0]
    assert release.sum([("Hawaii", "Mexican"), ("Hawaii", "Dominican")]).notes == ()


def test_14_a_county_and_a_city_in_it_overlap(release):
    answer = release.sum([("Providence County", "Dominican"), ("Providence city", "Dominican")])
    assert "county and place areas may overlap" in answer.notes[0]
    assert "overlap" in release.sum([("United States", "Dominican"), ("Utah", "Dominican")]).notes[0]
    assert not release.sum([("United States", "Dominican"), ("Puerto Rico", "Dominican")]).notes


def test_15_a_number_that_is_added_twice_has_twice_its_noise(release):
    one = present(release.total("Rhode Island", "Dominican"))
    answer = release.sum([one, one])
    assert (answer.value, answer.margin_of_error) == (2 * one.value, 2 * one.margin_of_error)
    assert answer.variance == pytest.approx(4 * one.variance)
    assert "more than once" in answer.notes[0]


# a tribal demographer


def test_16_the_navajo_nation_on_its_own_land(release, totals):
    answer = present(release.total("Navajo", "Navajo Nation alone"))
    assert answer.value == totals["AIANNH", "2430", answer.counted[0].group.code]["count"]
    assert answer.combined is not None
    assert answer.combined.margin_of_error < 0.75 * answer.margin_of_error


def test_17_a_level_without_budget_says_what_is_counted_there_instead(release):
    answer = release.total("Navajo", "American Indian", kind="alone")
    assert isinstance(answer, Absence)
    assert answer.status == "not tabulated"
    assert "the level has no budget" in str(answer)
    assert "Its people are counted there in: Navajo Nation alone" in str(answer)
    assert answer.instead[0].what == "American Indian alone, United States"


def test_18_small_totals_come_with_an_interval_that_knows_of_the_threshold(release, totals):
    low, key = min((row["count"], key) for key, row in totals.items() if may_be_selected(key, row))
    answer = present(release.total(key[1], key[2]))
    assert answer.interval == (totals[key]["interval_low"], totals[key]["interval_high"])
    assert answer.interval[0] < low - answer.margin_of_error or answer.interval[0] == 0
    assert answer.combined is None  # the total underwent suppression
    assert any("shown only above a threshold" in note for note in answer.notes)
    twice = release.sum([answer, answer])
    assert twice.interval == (2 * answer.interval[0], 2 * answer.interval[1])
    assert any("the interval takes that into account" in note for note in twice.notes)
    assert f"its noise is ± {answer.margin_of_error})" in str(answer)
    assert f"({answer.interval[0]} to {answer.interval[1]})" in str(release.table(key[1], key[2]))
    large = release.total("Providence County", "Dominican")
    both = release.sum([answer, large])
    assert both.interval[0] < both.value - both.margin_of_error
    assert release.differ(both, answer).interval == present(large).interval  # what was selected has cancelled
    assert release.ratio(answer, large).method == "intervals of both"


def may_be_selected(key: tuple[str, str, str], row: Row) -> bool:
    """Whether it is a lone total of a level that suppresses small ones."""
    return level_of(key[0]) not in {"usa", "state"} and row["table"] == "total" and row["status"] != "withheld"


def test_every_total_has_the_interval_of_the_release_and_a_note_only_if_selected_near_its_threshold(release, totals):
    quiet = noted = 0
    for key, row in list(totals.items())[::7]:
        if row["status"] == "withheld":
            continue
        answer = present(release.total(release.area(key[1], level_of(key[0])), key[2]))
        interval = (row["interval_low"], row["interval_high"])
        plain = (max(answer.value - answer.margin_of_error, 0), max(answer.value + answer.margin_of_error, 0))
        has_note = any("shown only above a threshold" in note for note in answer.notes)
        assert answer.interval == interval
        assert has_note == (interval != plain) == answer.selection_matters
        assert may_be_selected(key, row) or not has_note
        quiet, noted = quiet + (not has_note), noted + has_note
    assert min(quiet, noted) > 20


def level_of(label: str) -> str:
    return label.removeprefix("PR-").casefold()


def test_19_an_area_of_the_same_blocks_has_the_same_number_and_the_same_noise(release, totals):
    key, row = next((key, row) for key, row in totals.items() if key[0] == "TRACT" and row["status"] == "copied")
    copy = present(release.total(key[1], key[2]))
    donor = present(release.total(row["donor_region_id"], key[2]))
    difference = release.differ(copy, donor)
    assert (difference.value, difference.noise.parts, difference.chance_of_noise_alone) == (0, (), 1)
    assert "copied from COUNTY" in copy.notes[0]
    both = release.sum([copy, donor])
    assert both.variance == pytest.approx(4 * copy.variance)
    assert "a copy and its donor" in both.notes[0]


def test_20_puerto_rico_answers_like_everywhere_else(release, totals):
    code = release.group("Dominican").code
    state = present(release.total("Puerto Rico", "Dominican"))
    assert state.value == totals["PR-STATE", "72", code]["count"]
    municipios = release.totals(group="Dominican", level="county", within="Puerto Rico")
    assert {one.entity.geography.label for one in municipios.absences} | {
        one.counted[0].entity.geography.label for one in municipios.numbers
    } == {"PR-COUNTY"}
    copied = next(key for key, row in totals.items() if key[0] == "PR-TRACT" and row["status"] == "copied")
    assert "copied from PR-COUNTY" in str(release.total(copied[1], copied[2]))


# and what else must hold


def test_withheld_numbers_are_absent_with_the_rule(release, totals):
    key = next(key for key, row in totals.items() if key[0] == "COUNTY" and row["status"] == "withheld")
    answer = release.total(key[1], key[2])
    assert isinstance(answer, Absence)
    assert answer.status == "withheld"
    assert "withhold-alone-above-partner" in str(answer)
    assert answer.instead
    with pytest.raises(InvalidInput, match=r"has no number \(withheld\)"):
        release.differ(answer, answer)


def test_no_alone_number_is_shown_above_its_partner(rows):
    """Groups whose names differ in the ending alone are partners, by the lists of the demo."""

    def key_of(row: Row, name: str) -> tuple[object, ...]:
        return row["geography_level"], row["region_id"], name, row["sex"], row["age_start"], row["age_end"]

    shown = {key_of(row, row["iteration_name"]): row["count"] for row in rows if row["status"] != "withheld"}
    withheld = [row for row in rows if row["rule"] == "withhold-alone-above-partner"]
    assert {row["iteration_name"].endswith(" alone") for row in withheld} == {True}
    compared = 0
    for row in rows:
        partner = shown.get(key_of(row, row["iteration_name"].replace(" alone", " alone or in any combination")))
        if row["status"] == "published" and row["iteration_name"].endswith(" alone") and partner is not None:
            assert row["count"] <= partner
            compared += 1
    assert compared > 100


def test_a_table_names_its_withheld_lines_and_does_not_add_over_them(release, rows):
    row = next(
        row
        for row in rows
        if row["geography_level"] == "COUNTY" and row["status"] == "withheld" and row["stub"] == "Under 18 years"
    )
    table = release.table(row["region_id"], row["iteration_code"])
    assert isinstance(table, GroupTable)
    assert any("Under 18 years (rule withhold-alone-above-partner)" in line for line in table.withheld)
    with pytest.raises(InvalidInput, match="withheld some of these cells"):
        table.count(ages=(0, 17))


def test_every_total_and_cell_of_the_release_has_its_own_margin_and_variance(release, rows):
    """Forms give back what the release says of each row, whatever its level, table or donor."""
    seen = 0
    for row in rows[::97]:
        if row["status"] == "withheld":
            continue
        table = release.table(row["region_id"], row["iteration_code"])
        assert isinstance(table, GroupTable)
        answer = table.count(row["sex"], (row["age_start"], row["age_end"]))
        assert answer.value == row["unclamped_count"]
        assert answer.margin_of_error == row["unclamped_margin_of_error"]
        assert answer.variance == pytest.approx(row["variance"])
        seen += 1
    assert seen > 300


@pytest.mark.slow
def test_combined_totals_are_nearer_to_the_truth(release, census, tmp_path):
    """Against the synthetic people: the mean square of errors, over all combined totals of nation and states.

    There are hundreds, with independent noise, and the variance falls by half or more; by chance the combined ones are
    no better less than once in a million times.
    """
    config = json.loads((census / "parameters" / "config.json").read_text())
    budgets = {key: 10**9 for key in config if key.startswith("privacy_budget_p_level") and config[key] != 0}
    (tmp_path / "parameters").mkdir()
    for path in (census / "parameters").iterdir():
        (tmp_path / "parameters" / path.name).write_bytes(path.read_bytes())
    (tmp_path / "parameters" / "config.json").write_text(json.dumps(config | budgets))
    safetab.run(tmp_path / "parameters", census / "data", tmp_path / "out", test_key="11" * 32)
    truth = totals_of(numbers_of(tmp_path / "out"))
    errors = []
    for area in ("United States", "Hawaii", "New Mexico", "Rhode Island", "Utah", "Vermont", "Puerto Rico"):
        for one in release.totals(area=area).numbers:
            if one.combined is not None:
                entity, code = one.counted[0].entity, one.counted[0].group.code
                exact = truth[entity.geography.label, entity.region_id, code]["count"]
                deviation = one.variance**0.5
                errors.append(
                    ((one.exact_value - exact) / deviation, float(one.combined.exact_value - exact) / deviation)
                )
                low, high = one.combined.interval
                assert high - low <= 2 * one.margin_of_error + 1
    assert len(errors) > 300
    own, combined = (sum(float(error) ** 2 for error in column) for column in zip(*errors, strict=True))
    assert 0.7 < own / len(errors) < 1.3
    assert combined < 0.75 * own


def test_a_regional_ethnicity_is_combined_with_its_detailed_groups_in_states_alone(release):
    state = present(release.total("Rhode Island", "Caribbean Hispanic"))
    assert state.combined is not None
    assert state.combined.margin_of_error < 0.2 * state.margin_of_error
    measured = {key.iteration_code for key in state.combined.form.weights}
    assert {release.group(name).code for name in ("Cuban", "Dominican", "Puerto Rican")} < measured
    county = present(release.total("Providence County", "Caribbean Hispanic"))
    assert county.combined is not None
    assert {key.iteration_code for key in county.combined.form.weights} == {county.counted[0].group.code}


@pytest.mark.slow
def test_where_negative_numbers_were_raised_to_0_the_number_without_that_is_used(census, tmp_path):
    (tmp_path / "parameters").mkdir()
    for path in (census / "parameters").iterdir():
        (tmp_path / "parameters" / path.name).write_bytes(path.read_bytes())
    config = json.loads((census / "parameters" / "config.json").read_text()) | {"allow_negative_counts": False}
    (tmp_path / "parameters" / "config.json").write_text(json.dumps(config))
    safetab.run(tmp_path / "parameters", census / "data", tmp_path / "out", test_key="00" * 32)
    row = next(row for row in numbers_of(tmp_path / "out") if row["count"] != row["unclamped_count"])
    table = safetab.open_release(tmp_path / "out").table(row["region_id"], row["iteration_code"])
    assert isinstance(table, GroupTable)
    answer = table.count(row["sex"], (row["age_start"], row["age_end"]))
    assert (answer.value, answer.published) == (row["unclamped_count"], row["count"])
    assert answer.margin_of_error == row["unclamped_margin_of_error"]
    assert f"shown in the release as {row['count']:,}" in str(answer)


def test_results_convert_to_arrow_pandas_and_polars(release):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    answers = release.totals(group="Hmong", kind="alone", level="county")
    table = answers.to_arrow()
    assert isinstance(table, pa.Table)
    assert (len(table), table["estimate"].null_count) == (len(answers), len(answers.absences))
    assert isinstance(answers.to_pandas(), pandas.DataFrame)
    assert isinstance(answers.to_polars(), polars.DataFrame)
    total = present(release.total("Rhode Island", "Dominican"))
    frame = total.to_pandas()
    assert frame["estimate"][0] == total.value
    assert frame["combined_total"][0] == pytest.approx(float(total.combined.exact_value))
    difference = release.differ(total, release.total("Utah", "Dominican"))
    assert difference.to_polars()["chance_of_noise_alone"][0] == difference.chance_of_noise_alone
    assert release.ratio(total, total).to_arrow()["ratio"][0].as_py() == 1
    assert repr(total) == str(total)


def test_libraries_of_arrow_take_results_and_several_make_one_frame(release):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    answers = [release.total("Utah", "Mexican"), release.total("Kent County", "Hmong alone")]
    results = [*answers, release.totals(area="Utah"), release.table("Utah", "Mexican"), release.find("prov")]
    results += [release.differ(answers[0], answers[0]), release.status(area="Utah")]
    for result in results:
        assert pa.table(result) == result.to_arrow()
        assert polars.DataFrame(result).equals(result.to_polars())
    frame = pandas.concat([answer.to_pandas() for answer in answers], ignore_index=True)
    assert list(frame["status"]) == ["number", "suppressed"]


def test_the_notes_of_a_row_are_apart(release):
    counties = release.sum([release.totals(group="Dominican", level="county")] * 2)
    assert len(counties.notes) > 1
    assert counties.rows()[0]["notes"] == "; ".join(counties.notes + present(counties.combined).notes)


def test_without_pandas_a_sentence_says_what_to_do(release, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match="pandas is not installed: `pip install pandas`, or use to_arrow"):
        release.total("Rhode Island", "Dominican").to_pandas()


def test_another_confidence_can_be_asked_for(release):
    answer = present(release.total("Rhode Island", "Dominican"))
    assert answer.margin_at(0.95) == answer.margin_of_error < answer.margin_at("0.99")
    assert answer.margin_at(0.95) == answer.noise.margin_of_error(Fraction(19, 20))
    with pytest.raises(ValueError, match="between 0 and 1"):
        answer.margin_at(95)


@pytest.mark.parametrize(
    ("question", "message"),
    [
        ({"area": "Providence County", "group": "Dominican"}, "give group= and level=, or area= alone"),
        (
            {"group": "Dominican", "level": "village"},
            '"village" is not a level of this release. Say one of nation, state',
        ),
        ({"group": "Dominican", "level": "county", "within": "Providence city"}, "give a state, or a county"),
        ({"group": "Dominican", "level": "aiannh", "within": "Utah"}, "other areas don't nest"),
        ({"area": "Utah", "kind": "tribe"}, '"tribe" is not a kind of group'),
    ],
)
def test_questions_that_make_no_sense_are_told(question, message, release):
    with pytest.raises(InvalidInput) as told:
        release.totals(**question)
    assert message in str(told.value)


def test_what_is_missing_in_a_question_is_named(release):
    with pytest.raises(InvalidInput, match=r"level: is needed with within=\. Say one of county, tract, place\."):
        release.areas(within="Rhode Island")
    assert "within: give a state" in refusal(lambda: release.areas(within="United States"))
    for named in (lambda: release.totals("Dominican"), lambda: release.totals("Dominican", level="county")):  # type: ignore[misc]
        with pytest.raises(TypeError, match=r"^totals\(\) takes nothing by position\. Name the others: group, area, "):
            named()
    with pytest.raises(TypeError, match=r"^areas\(\) takes level by position\. Name the others: within\."):
        release.areas("county", "Utah")  # type: ignore[misc]
    with pytest.raises(TypeError, match=r'area must be text or an Entity, not int\. Write "44007"\.'):
        release.total(44007, "Dominican")  # type: ignore[arg-type]


def test_a_swapped_area_and_group_are_told(release):
    area, group = "Providence County", "Dominican"
    told = f'area: "{group}" is not in this release. There is a group of this name.'
    assert told in refusal(lambda: release.total(group, area))
    assert told.replace(group, "Hmong") in refusal(lambda: release.area("Hmong"))  # two groups
    assert f'group: "{area}" is not in this release. There is an area of this name.' in refusal(
        lambda: release.group(area)
    )
    assert "of this name" not in refusal(lambda: release.total("Domincan", group))


def test_a_search_without_a_result_suggests_names(release):
    found = release.find("providnce")
    assert "Did you mean one of these: Providence County, Rhode Island; " in str(found)
    assert "Providence County" in found.html_table().sentences[0]
    assert "Did you mean Dominican?" in str(release.find("domincan"))
    assert "Did you mean" not in str(release.find("providence")) + str(release.find("xyzzy"))


def refusal(question: Callable[[], object]) -> str:
    with pytest.raises(InvalidInput) as told:
        question()
    return str(told.value)


def test_numbers_of_two_releases_are_not_mixed(release, out, tmp_path):
    """Their noise has the same addresses, and is not the same."""
    shutil.copytree(out / "release", tmp_path / "release")
    other = safetab.open_release(tmp_path).total("Utah", "Mexican")
    for question in (release.differ, release.ratio, lambda *numbers: release.sum(numbers)):
        with pytest.raises(InvalidInput, match="is of another release"):
            question(release.total("Utah", "Mexican"), other)
    assert safetab.open_release(out).differ(release.total("Utah", "Mexican"), release.total("Utah", "Cuban"))
    with pytest.raises(InvalidInput, match=r"give numbers, answers of totals\(\), or pairs"):
        release.sum(["Mexican"])


def test_the_csv_way_gives_the_same_sum(release, out, tmp_path):
    """As the how-to tells users of R and of spreadsheets."""
    assert cli("export", out, tmp_path / "csv").exit_code == 0
    with (tmp_path / "csv" / "numbers" / "COUNTY.csv").open(encoding="utf-8", newline="") as file:
        totals = [
            row
            for row in csv.DictReader(file)
            if (row["table_id"], row["iteration_name"]) == ("T01001", "Dominican") and row["status"] != "withheld"
        ]
    counties = release.totals(group="Dominican", level="county").numbers
    answer = release.sum([one for one in counties if one.counted[0].entity.geography.label == "COUNTY"])
    assert sum(int(row["unclamped_count"]) for row in totals) == answer.value
    by_hand = 1.96 * sum(float(row["variance"]) for row in totals) ** 0.5
    assert by_hand == pytest.approx(answer.margin_of_error, abs=1)


def test_readers_of_csv_files_go_wrong_nowhere(out, tmp_path):
    """As docs/file-formats.md#csv says; Polars must be told to see all rows."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    safetab.export(out, tmp_path / "csv")
    tables = {str(one.relative_to(tmp_path)): one for one in (tmp_path / "csv").glob("*/*.csv")}
    assert "csv/numbers/COUNTY.csv" in tables
    for path in tables.values():
        plain, all_seen = pandas.read_csv(path), polars.read_csv(path, infer_schema_length=None)
        assert (len(plain), list(plain)) == (len(all_seen), all_seen.columns)
        if "variance" in plain:
            assert plain["variance"].sum() == pytest.approx(all_seen["variance"].sum())


def test_the_folder_around_releases_and_a_file_of_one_are_told(out, tmp_path):
    for name in ("output", "output-households"):
        shutil.copytree(out / "release", tmp_path / name / "release")
    choice = f"Give {tmp_path / 'output'} or {tmp_path / 'output-households'}."
    assert choice in refusal(lambda: safetab.open_release(tmp_path))
    file = out / "release" / "datapackage.json"
    told = f"{file} is a file: give the folder of a release, OUT or OUT/release."
    assert refusal(lambda: safetab.open_release(file)) == told


def test_what_is_no_release_is_told(tmp_path):
    with pytest.raises(InvalidInput, match="is not a release"):
        safetab.open_release(tmp_path)
    with pytest.raises(InvalidInput, match=r"does not exist\. Give OUT or OUT/release\."):
        safetab.open_release(tmp_path / "nothing")


def shown(out: Path, *options: str) -> Result:
    return cli("show", out, *options)


def test_show_answers_on_the_terminal_what_python_answers(release, out):
    status = f"{release.output_status.line}\n\n"
    county = ["--county", "Providence", "--group", "Dominican"]
    assert shown(out, *county).stdout == f"{status}{release.total('44007', 'Dominican')}\n"
    assert shown(out, *county, "--table").stdout == f"{status}{release.table('44007', 'Dominican')}\n"
    assert "(sex by " in str(release.table("44007", "Dominican")).splitlines()[0]
    table = release.table("44007", "Dominican")
    assert isinstance(table, GroupTable)
    for asked in (("--ages", "0-17"), ("--where", "ages=0-17"), ("--where", "age=0-17")):
        assert shown(out, *county, *asked).stdout == f"{status}{table.count(ages=(0, 17))}\n"
    assert (
        shown(out, *county, "--ages", "65+", "--sex", "female").stdout
        == f"{status}{table.count('female', (65, 115))}\n"
    )
    nation = release.totals(area="1")
    largest = str(nation.largest(20)).replace("20 numbers", f"the 20 largest of {len(nation.numbers)} numbers")
    assert len(nation.numbers) > 20
    assert shown(out, "--nation").stdout == f"{status}{largest}\n"
    assert shown(out / "release", "--aiannh", "Zuni", "--group", ZUNI, "--kind", "alone").stdout == (
        f"{status}{release.total('Zuni', ZUNI, kind='alone')}\n"
    )
    assert shown(out, "Providence County, RI", "dominican").stdout == shown(out, *county).stdout
    assert shown(out, "USA").stdout == shown(out, "--nation").stdout
    across = release.totals(group="Hmong alone", level="county").largest(20)
    assert shown(out, "county", "Hmong alone").stdout == f"{status}{across}\n"
    for area in ("Providence County, RI", "county", "USA"):  # the order is plain from the names
        assert shown(out, "Hmong alone", area).stdout == shown(out, area, "Hmong alone").stdout != ""
    absent = shown(out, "--place", "Provo", "--group", "Hispanic")
    assert absent.exit_code == 0
    assert "no number (not tabulated)" in absent.stdout
    assert "Hispanic, Utah: " in absent.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "AREA: name one area, or a level and a GROUP."),
        (["--state", "Utah", "--nation"], "AREA: name one area, or a level and a GROUP."),
        (["Utah", "--nation"], "AREA: name one area, or a level and a GROUP."),
        (["Utah", "Mexican", "--group", "Cuban"], "--group: means the same as GROUP."),
        (["county"], '"county" is a level, not an area. Name one area, or add a GROUP.'),
        (["Hmong"], '"Hmong" is a group. Name an area or a level before it.'),
        (["Hmong", "Utha"], '"Hmong" is not in this release.'),
        (["--state", "Utah", "--table"], "--group: must be given with --table, --sex or --ages."),
        (["--state", "Utah", "--group", "Mexican", "--table", "--ages", "0-4"], "--table: shows all sexes and ages"),
        (["--state", "Utah", "--group", "Mexican", "--ages", "young"], "--ages: must be like 0-17 or 65+."),
        (["--state", "Utah", "--group", "Mexican", "--ages", "17-0"], "17 to 0 is not a range of this table"),
        (["--state", "Utha", "--group", "Mexican"], '"Utha" is not in this release. Did you mean Utah?'),
        (["--county", "Utah County", "--group", "Mexcan"], "Did you mean Mexican?"),
        (["--state", "Utah", "--group", "Mexican", "--kind", "alone"], "It has: Mexican (ethnicity)."),
        (["--state", "", "--group", "Mexican"], '"" is not in this release'),
    ],
)
def test_show_tells_mistakes_and_what_to_do(options, message, out):
    result = shown(out, *options)
    assert result.exit_code == (2 if message.startswith("--") else 1)
    assert message in result.stderr
    assert result.stdout == ""


def test_a_file_that_is_damaged_later_is_told_when_it_is_needed(out, tmp_path):
    shutil.copytree(out / "release", tmp_path / "release")
    opened = safetab.open_release(tmp_path)
    (tmp_path / "release" / "numbers" / "geography_level=COUNTY" / "detailed-sex-by-age.parquet").write_bytes(b"PAR1")
    with pytest.raises(
        InvalidInput, match=r"detailed-sex-by-age.parquet has 1 problem:\n  is damaged. Get the release again"
    ):
        opened.total("Providence County", "Dominican")
    assert opened.total("Rhode Island", "Dominican").value


def test_a_combined_total_near_a_threshold_says_so(release, totals):
    """Thresholds of the demo are few, and groups many: some stage-1 total is within 2 sigma of one."""
    notes = 0
    for area in ("United States", "Hawaii", "New Mexico", "Rhode Island", "Utah"):
        for one in release.totals(area=area).numbers:
            if one.combined is not None:
                key = (
                    one.counted[0].entity.geography.label,
                    one.counted[0].entity.region_id,
                    one.counted[0].group.code,
                )
                assert totals[key]["stage_1_total"] is not None
                notes += bool(one.combined.notes)
                assert ("near a table threshold" in str(one)) == bool(one.combined.notes)
                assert ("not at 95 %" in str(one)) == bool(one.combined.notes)
    assert 0 < notes < 100


def test_a_combined_total_is_as_unsure_as_the_groups_that_it_adds_up(release):
    """Of a Regional group whose own total is far from every threshold, and that of a Detailed part is near one."""
    unsure_by_parts = 0
    for area in ("United States", "Hawaii", "New Mexico", "Rhode Island", "Utah"):
        for one in release.totals(area=area, kind="ethnicity").numbers:
            entity, group = one.counted[0].entity, one.counted[0].group
            parts = parts_of_group(one.universe, group, entity.geography)
            if one.combined is None or not parts:
                continue
            of_parts = [release.total(entity, part).combined for part in parts]
            near = sum(part is not None and not part.holds_confidence for part in of_parts)
            assert one.combined.holds_confidence <= (near == 0)
            if near and "groups that it adds up" in " ".join(one.combined.notes):
                assert f"{near} of the groups that it adds up ha" in one.combined.notes[0]
                assert "not at 95 %" in str(one)
                unsure_by_parts += 1
    assert unsure_by_parts


def test_opening_a_release_loads_no_engine(out):
    code = (
        "import sys, safetab; safetab.open_release(sys.argv[1]).total('Utah', 'Mexican');"
        "sys.exit(any(name in sys.modules for name in ('duckdb', 'numba', 'cryptography')))"
    )
    subprocess.run([sys.executable, "-c", code, str(out)], check=True)
