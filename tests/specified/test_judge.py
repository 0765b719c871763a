"""The judge itself, held to answers that were worked out by hand."""

import pytest

from tests.brute_force import SUBSTATE, BruteForce
from tests.cases import cases_of, values_of
from tests.specified.judge import UNIT, Judge
from tests.worlds.specified.of_bureau import as_specification
from tests.worlds.specified.small_world import AREAS, PEOPLE, nz_keys, of_lists, of_units, write_specification


def judged(folder, keys=None, *given):
    return Judge(*write_specification(folder, keys or nz_keys(), *given))


def totals(judge, level, label):
    """Area and code with the total of each group, in their order."""
    found = judge.totals(level, judge.label(label))
    return ", ".join(f"{area} {code}: {count}" for (area, code), count in sorted(found.items()))


def filled(cells):
    return {cell: count for cell, count in cells.items() if count}


def test_total_response_counts_a_person_in_every_group_named(tmp_path):
    judge = judged(tmp_path)
    assert judge.records_of_passes() == {"all": 7}
    assert totals(judge, "level 2", "nation") == "NZ 11: 4, NZ 12: 1, NZ 21: 3, NZ 31: 2, NZ 33: 1"


def test_only_groups_hold_those_who_name_nothing_else(tmp_path):
    """Don't know counts as missing: the person who says Māori and don't know is Māori only."""
    found = totals(judged(tmp_path), "level 1", "nation")
    assert found == "NZ 1: 4, NZ 1-only: 2, NZ 2: 3, NZ 2-only: 1, NZ 3: 2, NZ 3-only: 1"


def test_areas_cross_and_some_are_nowhere(tmp_path):
    judge = judged(tmp_path)
    in_t1, in_t2 = (
        "t1 1: 2, t1 1-only: 1, t1 2: 1, t1 3: 1, t1 3-only: 1",
        "t2 1: 1, t2 1-only: 1, t2 2: 1, t2 2-only: 1",
    )
    assert totals(judge, "level 1", "ta") == f"{in_t1}, {in_t2}"
    assert judge.universe("level 2", judge.label("ta")) == (["t1", "t2"], ["11", "12", "21", "31", "33"])


def test_cells_are_genders_by_ranges_of_age(tmp_path):
    judge = judged(tmp_path)
    cells = judge.cells("level 1", judge.label("region"), "gender and age", "E2")
    assert filled(cells["01", "1"]) == {("male", (15, 64)): 2, ("female", (0, 14)): 1}
    assert filled(cells["02", "2"]) == {("male", (65, 120)): 1, ("female", (15, 64)): 1}
    order = [("male", (0, 14)), ("male", (15, 64)), ("male", (65, 120)), ("female", (0, 14))]
    assert list(cells["01", "1"])[:4] == order


def test_the_first_answers_count_if_others_are_not_used(tmp_path):
    found = totals(judged(tmp_path, nz_keys("privacy.use.ethnicity = 1")), "level 1", "nation")
    assert found == "NZ 1: 3, NZ 1-only: 3, NZ 2: 1, NZ 2-only: 1, NZ 3: 2, NZ 3-only: 2"


def test_longer_codes_are_cut_and_lists_are_split(tmp_path):
    keys = nz_keys("classifications.ethnicity.first = 5")
    people = PEOPLE.replace("33111", "33111.x")
    assert totals(judged(tmp_path / "cut", keys, people), "level 2", "nation").endswith("NZ 33: 1")
    keys = of_lists(first=5)
    lines = []
    for line in people.replace("ETH1,ETH2,ETH3", "ETH").splitlines():
        *rest, answers = line.split(",", 4)
        lines.append(",".join([*rest, ";".join(filter(None, answers.split(",")))]))
    found = judged(tmp_path / "list", keys, "\n".join(lines))
    expected = judged(tmp_path / "columns")
    for level in ("level 1", "level 2"):
        assert totals(found, level, "region") == totals(expected, level, "region")


def test_passes_count_their_own_records(tmp_path):
    keys = nz_keys("""areas.passes = [
        { name = "one", title = "One", where = { REGC = "01" }, levels = { sa2 = "S1", nation = "N1" } },
        { name = "two", title = "Two", where = { REGC = ["02"], TA = "none" }, levels = { nation = "N2" } },
    ]""")
    judge = judged(tmp_path, keys)
    assert judge.records_of_passes() == {"one": 4, "two": 2}
    assert [label.label for label in judge.labels] == ["N1", "S1", "N2"]
    assert totals(judge, "level 2", "N2") == "NZ 11: 1, NZ 21: 1, NZ 31: 1"


def test_what_is_no_value_counts_as_another(tmp_path):
    keys = nz_keys('areas.other = ["7000004"]')
    keys["records"]["fields"][3]["other"] = "3"
    judge = judged(tmp_path, keys, PEOPLE.replace("7000001,1,34,1", "abroad,1,34,x"))
    assert "02 1: 2" in totals(judge, "level 1", "region")
    cells = judge.cells("level 1", judge.label("sa2"), "gender and age", "E2")
    assert cells["s3", "1"]["another gender", (15, 64)] == 1


def test_lines_that_no_other_divides_are_cells(tmp_path):
    keys = nz_keys()
    lines = values_of("""
        "all" | ["1", "2", "3"]
        "m" | ["1"]
        "not m" | ["2", "3"]
        "f" | ["2"]
        "x" | ["3"]
    """)
    written = [{"label": label, "values": values, "stub": label, "words": label} for label, values in lines]
    shapes = cases_of("all\n all | m | not m\n all | m | not m | f | x")
    keys["tables"] = [
        {
            "name": "gender",
            "detail": "gender",
            "of": "gender",
            "lines": written,
            "shapes": [
                {"id": f"G{place}", "label": f"g{place}", "title": "Gender", "lines": chosen}
                for place, chosen in enumerate(shapes)
            ],
        }
    ]
    keys["privacy"]["levels"][0]["thresholds"] = [1, 2]
    judge = judged(tmp_path, keys)
    nation = judge.label("nation")
    assert judge.cells("level 2", nation, "gender", "G1")["NZ", "11"] == {("m",): 3, ("not m",): 1}
    assert judge.cells("level 2", nation, "gender", "G2")["NZ", "31"] == {("m",): 1, ("f",): 0, ("x",): 1}


@pytest.mark.parametrize(
    ("use", "level_1", "level_2"),
    values_of("""
        1 | 2 | 1
        2 | 2 | 2
        3 | 3 | 3
    """),
)
def test_stability_by_hand(tmp_path, use, level_1, level_2):
    """With one answer, a person is in a group and its only-group; with three, in three groups of level 1."""
    judge = judged(tmp_path, nz_keys(f"privacy.use.ethnicity = {use}"))
    for level, expected in (("level 1", level_1), ("level 2", level_2)):
        assert judge.stability(level, judge.label("ta")) == expected
        assert judge.stability_by_brute_force(level, judge.label("ta")) == expected


def test_a_unit_with_more_records_than_allowed_breaks_a_rule(tmp_path):
    keys = of_units("PID", 2)
    header, *rows = PEOPLE.splitlines()
    lines = [f"{header},PID", *(f"{row},{'a' if place < 3 else place}" for place, row in enumerate(rows))]
    assert judged(tmp_path / "3", keys, "\n".join(lines)).broken == {("PID", UNIT): 1}
    keys["records"]["unit"]["most_records"] = 3
    assert not judged(tmp_path / "4", keys, "\n".join(lines)).broken


def test_ids_sort_by_their_bytes(tmp_path):
    areas = AREAS.replace("s1", "é").replace("s2", "Z").replace("s3", "a")
    judge = judged(tmp_path, None, PEOPLE, {"areas.csv": areas})
    assert judge.universe("level 2", judge.label("sa2"))[0] == ["Z", "a", "é"]


@pytest.mark.needs_2020_files
@pytest.mark.parametrize("case", ["toy", "tricky-3-codes", "tricky-8-codes"])
def test_safetab_p_as_a_specification_counts_what_the_bureaus_files_say(cases, case, tmp_path):
    parameters, data = cases / case / "parameters", cases / case / "data"
    judge = Judge(as_specification(parameters, tmp_path), data)
    plain = BruteForce(parameters, data)
    expected = plain.people_of_groups()
    counted = {
        (label.label, *group): count
        for label in judge.labels
        for level in ("regional", "detailed")
        for group, count in judge.totals(level, label).items()
    }
    assert counted == {
        (label, area, code): people.total()
        for (label, area, code), people in expected.items()
        if plain.iterations[code]["LEVEL"] != "0"
        and plain.iterations[code]["DETAILED_ONLY" if label in SUBSTATE else "COARSE_ONLY"] != "True"
    }
    assert len(counted) > 50
