"""Questions that a journalist, a planner and a tribal demographer ask of a release, and the answers.

The release has Puerto Rico, copies between areas of the same blocks, and numbers that a rule withheld. What is expected
is read from its rows, plainly, or follows from the geography; nothing depends on which noise was drawn.
"""

import shutil
import sys
from fractions import Fraction

import pyarrow as pa
import pytest

import safetab
from tests.cases import cases_of
from tests.commands import cli, done, invalid
from tests.inside import parts_of_group
from tests.releases import group, numbers_of, totals_of
from tests.worlds.world import World

ZUNI = "Zuni Tribe of the Zuni Reservation"
DOMINICANS = ("Providence County", "Dominican")


@pytest.fixture(scope="module")
def rows(demo_out):
    return numbers_of(demo_out)


@pytest.fixture(scope="module")
def totals(rows):
    return totals_of(rows)


@pytest.fixture(scope="module")
def table(release):
    return release.table(*DOMINICANS)


@pytest.fixture(scope="module")
def in_rhode_island(release):
    return release.total("Rhode Island", "Dominican")


# a journalist


def test_1_how_many_dominicans_live_in_this_county(release, totals):
    answer = release.total("Providence County", "dominican")
    row = totals["COUNTY", "44007", answer.counted[0].group.code]
    count, margin = row["count"], row["margin_of_error"]
    assert (answer.value, answer.margin_of_error) == (count, margin)
    assert answer.interval == (count - margin, count + margin)
    assert str(answer).startswith(f"Dominican, Providence County, Rhode Island: {count:,} ± ")


def test_2_which_groups_are_the_largest_in_honolulu(release, totals):
    numbers = release.totals(area="Honolulu County")
    counts = [row["count"] for key, row in totals.items() if key[:2] == ("COUNTY", "15003")]
    shown = sorted((count for count in counts if count is not None), reverse=True)
    assert [one.value for one in numbers.largest(5)] == shown[:5]
    assert len(numbers.numbers) == len(shown)


def test_3_are_there_more_dominicans_than_puerto_ricans(release):
    a, b = release.total("44007", "Dominican"), release.total("44007", "Puerto Rican")
    difference = release.differ(a, b)
    assert difference.value == a.value - b.value
    assert difference.variance == pytest.approx(a.variance + b.variance)
    assert difference.chance_of_noise_alone < 1e-6
    assert "ruled out at 95 %." in str(difference)
    assert "differ by this much or more: less than once in" in str(difference)
    assert release.differ(b, a).chance_of_noise_alone == difference.chance_of_noise_alone


def test_4_hmong_is_two_groups_of_which_one_is_chosen(release):
    assert "has 2 matches" in invalid(release.total, "Providence County", "Hmong")
    assert release.group("hmong", kind="alone") == release.group("Hmong alone") == release.group("1048")


def test_5_a_misspelt_county_is_suggested(release):
    assert "Providence County, Rhode Island" in invalid(release.total, "Provdence County", "Dominican")
    told = invalid(release.area, "San Juan")
    assert '"San Juan" has 4 matches: San Juan County, New Mexico (county 35045)' in told
    assert release.area("dona ana").name == "Doña Ana County, New Mexico"
    assert release.area("San Juan", "place").region_id == "7276770"


def test_6_why_is_there_no_number_for_the_hmong_of_kent_county(release):
    answer = release.total("Kent County", "Hmong alone")
    assert (answer.value, answer.status) == (None, "suppressed")
    state = release.total("Rhode Island", "Hmong alone")
    assert [one.what for one in answer.instead] == [state.what]
    assert f"Hmong alone, Rhode Island: {state.value:,} ± {state.margin_of_error}" in str(answer)
    assert "does not mean zero" in str(answer)
    assert f"of more than {answer.at_most} people would be shown 95 % of the time" in str(answer)
    assert "most likely" not in str(answer)  # how likely a size is, nobody can say


def test_7_what_share_are_children_and_how_sure_is_that(release, table):
    children, everyone = table.count(ages=(0, 17)), table.count()
    share = release.ratio(children, everyone)
    low, high = share.interval
    assert share.value == pytest.approx(children.value / everyone.value)
    assert low < share.value < high
    assert (high - low) / 2 < children.margin_of_error / everyone.value  # they share noise, which cancels in part
    assert "Fieller" in str(share)


# a planner


def test_8_girls_and_boys_under_five_are_two_cells(table, rows):
    here = ("COUNTY", "44007", table.group.code)
    cells = {row["sex"]: row for row in rows if (group(row), row["age_start"], row["age_end"]) == (here, 0, 4)}
    answer = table.count(ages=(0, 4))
    assert len(cells) == 2
    assert answer.value == sum(row["count"] for row in cells.values())
    assert answer.variance == pytest.approx(sum(row["variance"] for row in cells.values()))
    assert table.count("female", (0, 4)).value == cells["female"]["count"]


def test_9_ages_that_the_table_does_not_have_are_told(table):
    said = invalid(table.count, ages=(0, 20))
    assert "0 to 20 is not a range of this table: its ages begin at 0, 5, 18" in said
    assert 'must be both, male or female, not "woman"' in invalid(table.count, "woman")


def test_10_the_parts_of_a_table_add_up_to_it_with_no_noise_left_over(release, table):
    parts = release.sum([table.count("male"), table.count("female", (0, 17)), table.count("female", (18, 115))])
    difference = release.differ(parts, release.total(*DOMINICANS))
    assert (difference.value, difference.variance, difference.margin_of_error) == (0, 0, 0)
    assert "the same measurements" in str(difference)
    assert parts.notes == ()


def test_11_the_counties_of_a_state_added_up(release, totals, in_rhode_island):
    code = release.group("Dominican").code
    counties = release.totals(group="Dominican", level="county", within="Rhode Island")
    published = [totals[key] for key in totals if (key[0], key[1][:2], key[2]) == ("COUNTY", "44", code)]
    answer = release.sum([counties])
    assert len(counties) == 5
    assert answer.value == sum(row["count"] for row in published)
    assert answer.variance == pytest.approx(sum(row["variance"] for row in published))
    assert ("absent" in " ".join(answer.notes)) == (len(published) < 5)
    # sums of different noise, in one distribution
    assert release.differ(answer, in_rhode_island).chance_of_noise_alone > 1e-6


def test_12_absent_counties_are_named_and_not_taken_for_zero(release):
    counties = release.totals(group="Hmong", kind="alone", level="county", within="44")
    answer = release.sum([counties])
    assert len(counties.numbers) < len(counties) == 5
    assert f"{len(counties.absences)} of 5 are absent and not in this sum" in answer.notes[0]
    assert counties.absences[0].what in answer.notes[0]
    said = invalid(release.sum, [("Kent County", "Hmong alone")])
    assert "nothing to add up: Hmong alone, Kent County, Rhode Island (suppressed)" in said


SUMS = """
Providence County, Dominican; Providence city, Dominican | county and place areas may overlap
Hawaii, Chinese alone or in any combination; Hawaii, Japanese alone or in any combination | overlap
Hawaii, East Asian alone; Hawaii, Chinese alone | overlap
Hawaii, Chinese alone; Hawaii, Mexican | overlap
United States, Dominican; Utah, Dominican | overlap
Hawaii, Chinese alone; Hawaii, Japanese alone |
Hawaii, Chinese alone or in any combination; Utah, Japanese alone or in any combination |
Hawaii, Mexican; Hawaii, Dominican |
United States, Dominican; Puerto Rico, Dominican |
"""


@pytest.mark.parametrize(("parts", "told"), cases_of(SUMS))
def test_13_and_14_groups_and_areas_that_overlap_are_told_of_their_sum(parts, told, release):
    notes = release.sum([tuple(part.split(", ")) for part in parts.split("; ")]).notes
    assert ["overlap" in note and told in note for note in notes] == [True] * bool(told)


def test_15_a_number_that_is_added_twice_has_twice_its_noise(release, in_rhode_island):
    one = in_rhode_island
    answer = release.sum([one, one])
    assert (answer.value, answer.margin_of_error) == (2 * one.value, 2 * one.margin_of_error)
    assert answer.variance == pytest.approx(4 * one.variance)
    assert "more than once" in answer.notes[0]


# a tribal demographer


def test_16_the_navajo_nation_on_its_own_land(release, totals):
    answer = release.total("Navajo", "Navajo Nation alone")
    assert answer.value == totals["AIANNH", "2430", answer.counted[0].group.code]["count"]
    assert answer.combined.margin_of_error < 0.75 * answer.margin_of_error


def test_17_a_level_without_budget_says_what_is_counted_there_instead(release):
    answer = release.total("Navajo", "American Indian", kind="alone")
    assert answer.status == "not tabulated"
    assert "the level has no budget" in str(answer)
    assert "Its people are counted there in: Navajo Nation alone" in str(answer)
    assert answer.instead[0].what == "American Indian alone, United States"


def test_18_small_totals_come_with_an_interval_that_knows_of_the_threshold(release, totals):
    low, key = min((row["count"], key) for key, row in totals.items() if may_be_selected(key, row))
    answer = release.total(*key[1:])
    assert answer.interval == (totals[key]["interval_low"], totals[key]["interval_high"])
    assert answer.interval[0] < low - answer.margin_of_error or answer.interval[0] == 0
    assert answer.combined is None  # the total underwent suppression
    assert any("shown only above a threshold" in note for note in answer.notes)
    twice = release.sum([answer, answer])
    assert twice.interval == (2 * answer.interval[0], 2 * answer.interval[1])
    assert any("the interval takes that into account" in note for note in twice.notes)
    assert f"its noise is ± {answer.margin_of_error})" in str(answer)
    assert f"({answer.interval[0]} to {answer.interval[1]})" in str(release.table(*key[1:]))
    large = release.total(*DOMINICANS)
    both = release.sum([answer, large])
    assert both.interval[0] < both.value - both.margin_of_error
    assert release.differ(both, answer).interval == large.interval  # what was selected has cancelled
    assert release.ratio(answer, large).method == "intervals of both"


def may_be_selected(key, row):
    """Whether it is a lone total of a level that suppresses small ones."""
    return level_of(key[0]) not in {"usa", "state"} and row["table"] == "total" and row["status"] != "withheld"


def level_of(label):
    return label.removeprefix("PR-").casefold()


def test_every_total_has_the_interval_of_the_release_and_a_note_only_if_selected_near_its_threshold(release, totals):
    noted = []
    for key, row in list(totals.items())[::21]:
        if row["status"] == "withheld":
            continue
        answer = release.total(release.area(key[1], level_of(key[0])), key[2])
        plain = tuple(max(answer.value + one, 0) for one in (-answer.margin_of_error, answer.margin_of_error))
        has_note = any("shown only above a threshold" in note for note in answer.notes)
        assert answer.interval == (row["interval_low"], row["interval_high"])
        assert has_note == (answer.interval != plain) == answer.selection_matters
        assert may_be_selected(key, row) or not has_note
        noted.append(has_note)
    assert 7 < sum(noted) < len(noted) - 7


def test_19_an_area_of_the_same_blocks_has_the_same_number_and_the_same_noise(release, totals):
    key, row = next((key, row) for key, row in totals.items() if key[0] == "TRACT" and row["status"] == "copied")
    copy, donor = release.total(*key[1:]), release.total(row["donor_region_id"], key[2])
    difference = release.differ(copy, donor)
    assert (difference.value, difference.noise.parts, difference.chance_of_noise_alone) == (0, (), 1)
    assert "copied from COUNTY" in copy.notes[0]
    both = release.sum([copy, donor])
    assert both.variance == pytest.approx(4 * copy.variance)
    assert "a copy and its donor" in both.notes[0]


def test_20_puerto_rico_answers_like_everywhere_else(release, totals):
    state = release.total("Puerto Rico", "Dominican")
    assert state.value == totals["PR-STATE", "72", release.group("Dominican").code]["count"]
    municipios = release.totals(group="Dominican", level="county", within="Puerto Rico")
    entities = [one.entity for one in municipios.absences] + [one.counted[0].entity for one in municipios.numbers]
    assert {entity.geography.label for entity in entities} == {"PR-COUNTY"}
    copied = next(key for key, row in totals.items() if key[0] == "PR-TRACT" and row["status"] == "copied")
    assert "copied from PR-COUNTY" in str(release.total(*copied[1:]))


# and what else must hold


def test_withheld_numbers_are_absent_with_the_rule(release, totals):
    key = next(key for key, row in totals.items() if key[0] == "COUNTY" and row["status"] == "withheld")
    answer = release.total(*key[1:])
    assert answer.status == "withheld"
    assert "withhold-alone-above-partner" in str(answer)
    assert answer.instead
    assert "has no number (withheld)" in invalid(release.differ, answer, answer)


def test_no_alone_number_is_shown_above_its_partner(rows):
    """Groups whose names differ in the ending alone are partners, by the lists of the demo."""

    def key_of(row, name):
        return *group(row)[:2], name, row["sex"], row["age_start"], row["age_end"]

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
    wanted = {"geography_level": "COUNTY", "status": "withheld", "stub": "Under 18 years"}.items()
    row = next(row for row in rows if wanted <= row.items())
    table = release.table(*group(row)[1:])
    assert any("Under 18 years (rule withhold-alone-above-partner)" in line for line in table.withheld)
    assert "withheld some of these cells" in invalid(table.count, ages=(0, 17))


def test_every_total_and_cell_of_the_release_has_its_own_margin_and_variance(release, rows):
    """Forms give back what the release says of each row, whatever its level, table or donor."""
    shown = [row for row in rows[::291] if row["status"] != "withheld"]
    for row in shown:
        assert answer_of(release, row).variance == pytest.approx(row["variance"])
    assert len(shown) > 100


def answer_of(release, row):
    """With the numbers of its row."""
    answer = release.table(*group(row)[1:]).count(row["sex"], (row["age_start"], row["age_end"]))
    assert answer.value == row["unclamped_count"]
    assert answer.margin_of_error == row["unclamped_margin_of_error"]
    return answer


def combined_totals(release, *areas):
    return [one for area in areas for one in release.totals(area=area).numbers if one.combined is not None]


@pytest.mark.slow
def test_combined_totals_are_nearer_to_the_truth(release, demo_census, tmp_path):
    """Against the synthetic people: the mean square of errors, over all combined totals of nation and states.

    There are hundreds, with independent noise, and the variance falls by half or more; by chance the combined ones are
    no better less than once in a million times.
    """
    world = World.of(demo_census).copy(tmp_path)
    budgets = (key for key, budget in world.config().items() if key.startswith("privacy_budget_p_level") and budget)
    world.configure(**dict.fromkeys(budgets, 10**9))
    truth = totals_of(numbers_of(world.run(tmp_path / "out")))
    errors = []
    for one in combined_totals(
        release, "United States", "Hawaii", "New Mexico", "Rhode Island", "Utah", "Vermont", "Puerto Rico"
    ):
        entity = one.counted[0].entity
        exact = truth[entity.geography.label, entity.region_id, one.counted[0].group.code]["count"]
        errors.append([float(number.exact_value - exact) ** 2 / one.variance for number in (one, one.combined)])
        low, high = one.combined.interval
        assert high - low <= 2 * one.margin_of_error + 1
    assert len(errors) > 300
    own, combined = map(sum, zip(*errors, strict=True))
    assert 0.7 < own / len(errors) < 1.3
    assert combined < 0.75 * own


def test_a_regional_ethnicity_is_combined_with_its_detailed_groups_in_states_alone(release):
    state = release.total("Rhode Island", "Caribbean Hispanic")
    assert state.combined.margin_of_error < 0.2 * state.margin_of_error
    measured = {key.iteration_code for key in state.combined.form.weights}
    assert {release.group(name).code for name in ("Cuban", "Dominican", "Puerto Rican")} < measured
    county = release.total("Providence County", "Caribbean Hispanic")
    assert {key.iteration_code for key in county.combined.form.weights} == {county.counted[0].group.code}


@pytest.mark.slow
def test_where_negative_numbers_were_raised_to_0_the_number_without_that_is_used(demo_census, tmp_path):
    world = World.of(demo_census).copy(tmp_path)
    world.configure(allow_negative_counts=False)
    out = world.run(tmp_path / "out", test_key="00" * 32)
    row = next(row for row in numbers_of(out) if row["count"] != row["unclamped_count"])
    answer = answer_of(safetab.open_release(out), row)
    assert answer.published == row["count"]
    assert f"shown in the release as {row['count']:,}" in str(answer)


def test_results_convert_to_arrow_pandas_and_polars_and_several_make_one_frame(release, in_rhode_island):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    number, absent = in_rhode_island, release.total("Kent County", "Hmong alone")
    counties, difference = release.totals(group="Hmong alone", level="county"), release.differ(number, number)
    results = [number, absent, counties, difference, release.table("Utah", "Mexican"), release.find("prov")]
    for result in (*results, release.status(area="Utah"), release.ratio(number, number)):
        assert pa.table(result) == result.to_arrow()
        assert polars.DataFrame(result).equals(result.to_polars())
        assert len(result.to_pandas()) == len(result.to_arrow())
    assert counties.to_arrow()["estimate"].null_count == len(counties.absences)
    assert difference.to_polars()["chance_of_noise_alone"][0] == difference.chance_of_noise_alone
    frame = pandas.concat([number.to_pandas(), absent.to_pandas()], ignore_index=True)
    assert list(frame["status"]) == ["number", "suppressed"]
    assert frame["estimate"][0] == number.value
    assert frame["combined_total"][0] == pytest.approx(float(number.combined.exact_value))
    assert repr(number) == str(number)


def test_the_notes_of_a_row_are_apart(release):
    counties = release.sum([release.totals(group="Dominican", level="county")] * 2)
    assert len(counties.notes) > 1
    assert counties.rows()[0]["notes"] == "; ".join(counties.notes + counties.combined.notes)


def test_without_pandas_a_sentence_says_what_to_do(in_rhode_island, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ModuleNotFoundError, match="`pip install pandas`, or use to_arrow"):
        in_rhode_island.to_pandas()


def test_another_confidence_can_be_asked_for(in_rhode_island):
    at, noise = in_rhode_island.margin_at, in_rhode_island.noise
    assert at(0.95) == in_rhode_island.margin_of_error == noise.margin_of_error(Fraction(19, 20)) < at("0.99")
    with pytest.raises(ValueError, match="between 0 and 1"):
        at(95)


QUESTIONS = """
area=Providence County&group=Dominican | give group= and level=, or area= alone
group=Dominican&level=village | "village" is not a level of this release. Say one of nation, state
group=Dominican&level=county&within=Providence city | give a state, or a county
group=Dominican&level=aiannh&within=Utah | other areas don't nest
area=Utah&kind=tribe | "tribe" is not a kind of group
"""


@pytest.mark.parametrize(("question", "message"), cases_of(QUESTIONS))
def test_questions_that_make_no_sense_are_told(question, message, release):
    assert message in invalid(release.totals, **dict(part.split("=") for part in question.split("&")))


def test_what_is_missing_in_a_question_is_named(release):
    assert "level: is needed with within=. Say one of county, tract, place." in invalid(release.areas, within="Utah")
    assert "within: give a state" in invalid(release.areas, within="United States")
    with pytest.raises(TypeError, match=r"^totals\(\) takes nothing by position\. Name the others: group, area, "):
        release.totals("Dominican")
    with pytest.raises(TypeError, match=r"^areas\(\) takes level by position\. Name the others: within\."):
        release.areas("county", "Utah")
    with pytest.raises(TypeError, match=r'area must be text or an Entity, not int\. Write "44007"\.'):
        release.total(44007, "Dominican")


def test_a_swapped_area_and_group_are_told(release):
    told = "is not in this release. There is a group of this name."
    assert f'area: "Dominican" {told}' in invalid(release.total, *reversed(DOMINICANS))
    assert told in invalid(release.area, "Hmong")  # two groups
    assert f'group: "{DOMINICANS[0]}" is not in this release. There is an area' in invalid(release.group, DOMINICANS[0])
    assert "of this name" not in invalid(release.total, "Domincan", "Dominican")


def test_a_search_without_a_result_suggests_names(release):
    found = release.find("providnce")
    assert "Did you mean one of these: Providence County, Rhode Island; " in str(found)
    assert "Providence County" in found.html_table().sentences[0]
    assert "Did you mean Dominican?" in str(release.find("domincan"))
    assert "Did you mean" not in str(release.find("providence")) + str(release.find("xyzzy"))


def test_numbers_of_two_releases_are_not_mixed(release, demo_out, tmp_path):
    """Their noise has the same addresses, and is not the same."""
    shutil.copytree(demo_out / "release", tmp_path / "release")
    own, other = (each.total("Utah", "Mexican") for each in (release, safetab.open_release(tmp_path)))
    for question in (release.differ, release.ratio, lambda *numbers: release.sum(numbers)):
        assert "is of another release" in invalid(question, own, other)
    assert safetab.open_release(demo_out).differ(own, release.total("Utah", "Cuban"))
    assert "give numbers, answers of totals(), or pairs" in invalid(release.sum, ["Mexican"])


def test_the_csv_way_gives_the_same_sum_and_goes_wrong_in_no_reader(release, demo_out, tmp_path):
    """As the how-to tells users of R and of spreadsheets, and docs/file-formats.md#csv; Polars must be told to see all rows."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    done("export", demo_out, tmp_path / "csv")
    counties = pandas.read_csv(tmp_path / "csv" / "numbers" / "COUNTY.csv")
    published = counties.query("table_id == 'T01001' and iteration_name == 'Dominican' and status != 'withheld'")
    totals = release.totals(group="Dominican", level="county").numbers
    answer = release.sum([one for one in totals if one.counted[0].entity.geography.label == "COUNTY"])
    assert published["unclamped_count"].sum() == answer.value
    assert 1.96 * published["variance"].sum() ** 0.5 == pytest.approx(answer.margin_of_error, abs=1)
    for path in (tmp_path / "csv").glob("*/*.csv"):
        plain, all_seen = pandas.read_csv(path), polars.read_csv(path, infer_schema_length=None)
        assert (len(plain), list(plain)) == (len(all_seen), all_seen.columns)
        if "variance" in plain:
            assert plain["variance"].sum() == pytest.approx(all_seen["variance"].sum())


def test_what_is_no_release_is_told(demo_out, tmp_path):
    assert "is not a release" in invalid(safetab.open_release, tmp_path)
    assert "does not exist. Give OUT or OUT/release." in invalid(safetab.open_release, tmp_path / "nothing")
    for name in ("output", "output-households"):
        (tmp_path / name).symlink_to(demo_out)
    choice = f"Give {tmp_path / 'output'} or {tmp_path / 'output-households'}."
    assert choice in invalid(safetab.open_release, tmp_path)
    file = demo_out / "release" / "datapackage.json"
    told = f"{file} is a file: give the folder of a release, OUT or OUT/release."
    assert invalid(safetab.open_release, file) == told


def test_show_answers_on_the_terminal_what_python_answers(release, table, demo_out):
    def shown(*options, out=demo_out):
        return cli("show", out, *options).stdout

    def said(answer):
        return f"{release.output_status.line}\n\n{answer}\n"

    county = ("--county", "Providence", "--group", "Dominican")
    assert shown(*county) == shown("Providence County, RI", "dominican") == said(release.total(*DOMINICANS))
    assert shown(*county, "--table") == said(table)
    assert "(sex by " in str(table).splitlines()[0]
    for asked in ("--ages", "0-17"), ("--where", "ages=0-17"), ("--where", "age=0-17"):
        assert shown(*county, *asked) == said(table.count(ages=(0, 17)))
    assert shown(*county, "--ages", "65+", "--sex", "female") == said(table.count("female", (65, 115)))
    nation = release.totals(area="1")
    largest = str(nation.largest(20)).replace("20 numbers", f"the 20 largest of {len(nation.numbers)} numbers")
    assert len(nation.numbers) > 20
    assert shown("--nation") == shown("USA") == said(largest)
    zuni = ("--aiannh", "Zuni", "--group", ZUNI, "--kind", "alone")
    assert shown(*zuni, out=demo_out / "release") == said(release.total("Zuni", ZUNI, kind="alone"))
    across = release.totals(group="Hmong alone", level="county").largest(20)
    assert shown("county", "Hmong alone") == said(across)
    for area in ("Providence County, RI", "county", "USA"):  # the order is plain from the names
        assert shown("Hmong alone", area) == shown(area, "Hmong alone") != ""
    absent = done("show", demo_out, "--place", "Provo", "--group", "Hispanic")
    assert "no number (not tabulated)" in absent
    assert "Hispanic, Utah: " in absent


MISTAKES = """
| AREA: name one area, or a level and a GROUP.
--state Utah --nation | AREA: name one area, or a level and a GROUP.
Utah --nation | AREA: name one area, or a level and a GROUP.
Utah Mexican --group Cuban | --group: means the same as GROUP.
county | "county" is a level, not an area. Name one area, or add a GROUP.
Hmong | "Hmong" is a group. Name an area or a level before it.
Hmong Utha | "Hmong" is not in this release.
--state Utah --table | --group: must be given with --table, --sex or --ages.
--state Utah --group Mexican --table --ages 0-4 | --table: shows all sexes and ages
--state Utah --group Mexican --ages young | --ages: must be like 0-17 or 65+.
--state Utah --group Mexican --ages 17-0 | 17 to 0 is not a range of this table
--state Utha --group Mexican | "Utha" is not in this release. Did you mean Utah?
--county Utah --group Mexcan | Did you mean Mexican?
--state Utah --group Mexican --kind alone | It has: Mexican (ethnicity).
--state= --group Mexican | "" is not in this release
"""


@pytest.mark.parametrize(("options", "message"), cases_of(MISTAKES))
def test_show_tells_mistakes_and_what_to_do(options, message, demo_out):
    result = cli("show", demo_out, *options.split())
    assert result.exit_code == (2 if message.startswith("--") else 1)
    assert message in result.stderr
    assert result.stdout == ""


def test_a_file_that_is_damaged_later_is_told_when_it_is_needed(demo_out, tmp_path):
    shutil.copytree(demo_out / "release", tmp_path / "release")
    opened = safetab.open_release(tmp_path)
    (tmp_path / "release" / "numbers" / "geography_level=COUNTY" / "detailed-sex-by-age.parquet").write_bytes(b"PAR1")
    said = invalid(opened.total, *DOMINICANS)
    assert "detailed-sex-by-age.parquet has 1 problem:\n  is damaged. Get the release again" in said
    assert opened.total("Rhode Island", "Dominican").value


def test_a_combined_total_is_as_unsure_as_its_threshold_and_the_groups_that_it_adds_up(release, totals):
    """Thresholds of the demo are few, and groups many: some stage-1 total is within 2 sigma of one.

    Some Regional group's own total is far from every threshold, and that of a Detailed part is near one.
    """
    noted = unsure_by_parts = 0
    for one in combined_totals(release, "Rhode Island", "Utah"):
        entity, own, notes = one.counted[0].entity, one.counted[0].group, one.combined.notes
        assert totals[entity.geography.label, entity.region_id, own.code]["stage_1_total"] is not None
        assert ("near a table threshold" in str(one)) == ("not at 95 %" in str(one)) == bool(notes)
        noted += bool(notes)
        parts = parts_of_group(one.universe, own, entity.geography)
        of_parts = [release.total(entity, part).combined for part in parts]
        near = sum(part is not None and not part.holds_confidence for part in of_parts)
        if of_parts:
            assert one.combined.holds_confidence <= (near == 0)
        if near and "groups that it adds up" in " ".join(notes):
            assert f"{near} of the groups that it adds up ha" in notes[0]
            unsure_by_parts += 1
    assert 0 < noted < 100
    assert unsure_by_parts
