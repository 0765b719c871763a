"""Records of any specification are checked and counted as a judge in plain Python does."""

import random
import shutil
from collections import Counter
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cases import cases_of, values_of
from tests.inside import text_lines_module
from tests.seeds import seeds
from tests.specified.agreement import differences, errors, findings, fingerprint
from tests.specified.judge import AREA, FIELD, UNIT, Judge
from tests.specified.judged_codes import CODE, GAP, MOST
from tests.worlds.specified.random_world import write_foreign_world
from tests.worlds.specified.small_world import (
    AREAS,
    CODES,
    census_of,
    nz_keys,
    of_lists,
    of_units,
    row_of,
    write_rows,
    write_specification,
)

ENDINGS = (".txt", ".csv", ".csv.gz", ".parquet")
WRONG = ("", "-", "x", "000", "29", "1e3", "Z", "130", "010;011;;012")
KINDS = {"must be listed": AREA, "after the first": GAP, "must have at most": MOST, "a patient may": UNIT}


def rewritten(folder, seed, change):
    """A random census with the texts of all its records after a change, and what writes its rows in a form of the seed."""
    world = write_foreign_world(folder, seed)
    judge = Judge(*world)
    nothing, records = judge.missing[0], judge.keys["records"]
    lists = [
        {name: (";".join(each) or None) if isinstance(each, list) else each for name, each in row.items()}
        for row in judge.rows
    ]
    rows = change([{name: nothing if text is None else text for name, text in row.items()} for row in lists])
    shutil.rmtree(world.data)

    def write(rows):
        write_rows(world.data, rows, ENDINGS[seed % 4], records.get("separator"), records["file"])

    write(rows)
    return world, Judge(*world), rows, write


def with_wrong_texts(dice, share):
    def change(rows):
        for row in rows:
            if dice.random() < share:
                row[dice.choice(list(row))] = dice.choice(WRONG)
        return rows

    return change


def told(world):
    """Which rules of which columns are broken, and by how many."""
    found = Counter()
    for where, message in errors(*world):
        found[where, kind_of(message)] += int(message.split(". ")[-1].split()[0].replace(",", ""))
    return found


def kind_of(message):
    kinds = (kind for start, kind in KINDS.items() if message.startswith(start))
    return next(kinds, CODE if "code" in message else FIELD)


@pytest.mark.parametrize("seed", seeds(1, 40))
def test_neither_order_nor_form_changes_what_is_counted(seed, tmp_path):
    before = fingerprint(*write_foreign_world(tmp_path / "before", seed))
    world, *_ = rewritten(tmp_path / "after", seed, lambda rows: rows[::-1])
    assert fingerprint(*world) == before
    assert differences(*world) == []


@pytest.mark.parametrize("seed", seeds(4, 40))
def test_wrong_rows_break_the_rules_that_the_judge_names(seed, tmp_path):
    world, judge, *_ = rewritten(tmp_path, seed, with_wrong_texts(random.Random(seed), 0.3))
    assert told(world) == judge.broken != {}


@pytest.mark.parametrize("seed", seeds(1, 24))
def test_a_single_wrong_row_is_enough(seed, tmp_path):
    """The encoder itself sees each row that breaks a rule: no other wrong row makes the rules be asked."""
    world, judge, rows, write = rewritten(tmp_path, seed, with_wrong_texts(random.Random(seed), 0.4))
    broken = [judge.broken_by(row) for row in judge.rows]
    right = [row for row, rules in zip(rows, broken, strict=True) if not rules][:50]
    wrong = {tuple(sorted(rules.elements())): row for row, rules in zip(rows, broken, strict=True) if rules}
    assert right
    assert wrong
    for rules, row in wrong.items():
        write([*right[:25], row, *right[25:]])
        assert told(world) == Counter(rules)


@pytest.mark.parametrize("seed", seeds(2, 24))
def test_the_judge_finds_the_same_blanks(seed, tmp_path):
    dice = random.Random(seed)

    def change(rows):
        for row in with_wrong_texts(dice, 0.1)(rows):
            if dice.random() < 0.5:
                name = dice.choice(list(row))
                row[name] = dice.choice([" {}", "{} ", "  {}  "]).format(row[name].replace(";", " ;"))
        return rows

    world, judge, *_ = rewritten(tmp_path, seed, change)
    expected = Counter()
    for row in judge.rows:
        bare = {name: text and ";".join(answer.strip() for answer in text.split(";")) for name, text in row.items()}
        expected.update((*rule, rule not in judge.broken_by(bare)) for rule in judge.broken_by(row).elements())
    expected.update((*rule, False) for rule in judge.broken if rule[1] == UNIT)
    found = Counter()
    for one in findings(*world):
        found[one.where, kind_of(one.message), ", without blanks" in one.rule] += one.count * one.is_error
    assert any(is_blank for *_, is_blank in expected)
    assert +found == expected


def ruled(*fields, **of_codes):
    """The small census with more fields and other rules of its codes."""
    keys = nz_keys()
    keys["records"]["fields"] += fields
    keys["classifications"]["ethnicity"] |= of_codes
    return keys


def row_of_list(answers):
    return {name: text for name, text in row_of(ETH=answers).items() if not name.startswith("ETH") or name == "ETH"}


def write_columns(world, rows, **changed):
    """As Parquet, with some columns that are not text."""
    shutil.rmtree(world.data)
    world.data.mkdir()
    columns = {name: [row[name] for row in rows] for name in rows[0]} | changed
    pq.write_table(pa.table(columns), world.data / "people.parquet")


def broken(rule, rows=1):
    return f"{rule}. {rows} {'rows break' if rows > 1 else 'row breaks'} this rule."


SEX, CODE_RULE = "must be one of 1, 2, 3", "must be a code of ethnicity.csv"
ANSWERS = "must be codes of ethnicity.csv, separated by ;"
NO_BLANKS = ", without blanks around it"
WRONG_TEXTS = """
PIN=abcd OK=yes ROOMS=0 RESIDENT=01 AGE=121 AGE=1.0 GENDER=X SA1=secret ETH1= ETH2=xyz ETH3=21111
GENDER=X_ ETH1=secret_ ETH1=_ AGE=_7 GENDER=\u00a01 ETH2=_21111 ETH2=_
"""
"""Each in a row of its own; a line below is a blank."""
TOLD = """
AGE | must be an integer from 0 to 120 | 2
AGE | must be an integer from 0 to 120, without blanks around it | 2
ETH1 | must be a code of ethnicity.csv | 3
ETH1 | must be a code of ethnicity.csv, without blanks around it | 1
ETH1..ETH3 | after the first missing answer none may follow | 1
ETH2 | must be a code of ethnicity.csv, or missing | 1
ETH2 | must be a code of ethnicity.csv, or missing, without blanks around it | 2
GENDER | must be one of 1, 2, 3 | 2
GENDER | must be one of 1, 2, 3, without blanks around it | 2
OK | must be true or false | 1
PIN | must match [a-z]{3} | 1
RESIDENT | must be one of 0, 1 | 1
ROOMS | must be an integer of at least 1 | 1
SA1 | must be listed in areas.csv | 1
SA1 | must be listed in areas.csv, without blanks around it | 1
"""


@pytest.mark.parametrize("ending", ENDINGS)
def test_rules_are_said_in_the_words_of_the_specification_and_blanks_are_told_apart(ending, tmp_path):
    keys = ruled(
        {"name": "PIN", "type": "string", "constraints": {"pattern": "[a-z]{3}"}},
        {"name": "OK", "type": "boolean"},
        {"name": "ROOMS", "type": "integer", "constraints": {"minimum": 1}},
    )
    right = row_of(PIN="abc", OK="TRUE", ROOMS="+4")
    answers = right | {"ETH2": "21111", "ETH3": "31111"}
    assert errors(*census_of(tmp_path / "right", [right, answers], keys, ending)) == []
    wrong = [
        dict([text.replace("_", " ").split("=")]) for text in WRONG_TEXTS.strip("\n").replace("\n", " ").split(" ")
    ]
    blanks = [{name: right[name] + " "} for name in ("SA1", "AGE", "GENDER", "ETH1")]
    world = census_of(tmp_path / "wrong", [right | each for each in wrong + blanks], keys, ending)
    assert errors(*world) == [(where, broken(rule, int(rows))) for where, rule, rows in cases_of(TOLD)]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_blanks_are_found_in_the_lines_of_each_file(ending, tmp_path):
    right, world = [row_of()] * 3, census_of(tmp_path, [row_of()])
    shutil.rmtree(world.data)
    files = {"a": [*right, row_of(GENDER="1 ")], "b": [row_of(GENDER="X"), *right, row_of(GENDER=" 1")]}
    for name, rows in files.items():
        write_rows(world.data / "people", rows, ending, table=name)
    noun, a, b, other = ("row", 4, 5, 1) if ending == ".parquet" else ("line", 5, 6, 2)
    assert {one.rule: one.rows for one in findings(*world)} == {
        SEX: f"b{ending}, {noun} {other}",
        SEX + NO_BLANKS: f"a{ending}, {noun} {a}; b{ending}, {noun} {b}",
    }


def test_blanks_around_the_answers_of_a_list_are_told(tmp_path):
    expected = [("ETH", broken(ANSWERS)), ("ETH", broken(f"{ANSWERS}, without blanks around them"))]
    wrong = [["11111", " 21111"], ["11111", " secret"], ["11111", "21111"]]
    rows = [row_of_list(";".join(answers)) for answers in wrong]
    for ending in ENDINGS:
        world = census_of(tmp_path / ending, rows, of_lists(), ending)
        assert errors(*world) == expected
    write_columns(world, rows, ETH=wrong)
    assert errors(*world) == expected


def test_bytes_that_are_no_text_are_no_blanks(tmp_path):
    rows = [row_of()] * 3
    world = census_of(tmp_path, rows)
    write_columns(world, rows, GENDER=pa.array([b"1 ", b"1\xff ", b"\xef\xbf\xbd"], pa.binary()))
    assert {one.rule: one.count for one in findings(*world)} == {SEX: 2, SEX + NO_BLANKS: 1}


def test_a_required_answer_is_asked_for_after_rows_whose_answers_are_all_residual(tmp_path):
    """Their pattern is empty, and must not stand for a missing answer."""
    residual = [row_of(ETH1="99999")] * 500
    assert errors(*census_of(tmp_path / "right", residual, ending=".parquet")) == []
    world = census_of(tmp_path / "wrong", [*residual, row_of(ETH1="")], ending=".parquet")
    assert errors(*world) == [("ETH1", broken(CODE_RULE))]


@pytest.mark.parametrize(
    ("use", "more", "rules"),
    values_of("""
        {} | [] | []
        {} | ["11111"] | ["must have at most 8 answers"]
        {"ethnicity": 2} | ["11111"] | []
        {"ethnicity": 2} | ["11111", "zzz"] | ["must be codes of ethnicity.csv, separated by ;"]
    """),
)
def test_a_list_may_hold_eight_answers_unless_only_the_first_count(use, more, rules, tmp_path):
    keys = of_lists()
    keys["privacy"]["use"] = use
    world = census_of(tmp_path, [row_of_list(";".join(["11111"] * 8 + more))], keys)
    assert errors(*world) == [("ETH", broken(rule)) for rule in rules]


def test_a_unit_may_have_so_many_records_and_no_more(tmp_path):
    keys = of_units("PATIENT", 2)
    rows = [row_of(PATIENT=f"patient-number-{number}") for number in range(300)] * 2
    for ending in ENDINGS:
        assert errors(*census_of(tmp_path / f"right{ending}", rows, keys, ending)) == []
        world = census_of(tmp_path / f"wrong{ending}", [*rows, *rows[:3], row_of(PATIENT="")], keys, ending)
        assert errors(*world) == [
            ("PATIENT", broken("must not be missing")),
            ("PATIENT", "a patient may have at most 2 records. 3 patients have more."),
        ]


def test_lists_of_a_parquet_file_are_texts_of_answers(tmp_path):
    lists = [["11111", "21111"], None, [], ["31111"], ["99999", "33111"], ["11111", "21111", "31111"]] * 20
    rows = [row_of_list("")] * len(lists)
    world = census_of(tmp_path, rows, of_lists(required=False))
    for first, rule in (
        (["11111;21111"], f"{ANSWERS}, or missing"),
        (["11111", None, "21111"], "after the first missing answer none may follow"),
        (lists[0], None),
    ):
        write_columns(world, rows, ETH=pa.array([first, *lists[1:]], pa.list_(pa.string())), EXTRA=[1.5] * len(rows))
        assert errors(*world) == ([("ETH", broken(rule))] if rule else [])
    assert differences(*world) == []


def test_integers_and_truth_values_of_a_parquet_file_are_their_texts(tmp_path):
    keys = ruled({"name": "OK", "type": "boolean"}, {"name": "FREE", "type": "string"})
    rows = [row_of(OK="true", FREE="7", AGE=str(age)) for age in range(50)]
    world = census_of(tmp_path, rows, keys)
    before = fingerprint(*world)
    write_columns(world, rows, OK=[True] * 50, FREE=[7] * 50, AGE=list(range(50)))
    assert differences(*world) == []
    assert fingerprint(*world) == before != fingerprint(*world, bytes([1] * 32))


def test_every_value_that_is_counted_changes_the_fingerprint(tmp_path):
    keys, plain = ruled({"name": "FREE", "type": "string"}), row_of(FREE="a")
    keys["areas"]["key"], keys["records"]["fields"][0]["name"] = ["SA1", "SA2"], "SA2"
    keys["records"]["fields"].append({"name": "SA1", "type": "string"})
    changes = values_of("""
        {"AGE": "31"}
        {"GENDER": "2"}
        {"ETH1": "31111"}
        {"ETH2": "31111"}
        {"RESIDENT": "0"}
        {"FREE": "b"}
        {}
        {"SA1": "7000002"}
        {"SA1": "7000003", "SA2": "s2"}
    """)
    rows = [[plain | {"SA2": "s1"}, plain | {"SA2": "s1"} | change] for (change,) in changes]
    seen = [fingerprint(*census_of(tmp_path / str(n), each, keys))["all"] for n, each in enumerate(rows)]
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize(
    ("separator", "lengths"),
    [
        ("\t", (16, 20)),
        pytest.param("|", (3, 16), marks=pytest.mark.slow),
        pytest.param(",", (9, 20), marks=pytest.mark.slow),
    ],
)
def test_lines_are_read_by_the_compiled_loop_whatever_the_length_of_ids(separator, lengths, tmp_path, monkeypatch):
    monkeypatch.setattr(text_lines_module, "compiling_pays", lambda *_, **__: True)
    monkeypatch.setattr(text_lines_module, "_FEW_VALUES", 4)
    by_arrow = Mock(wraps=text_lines_module.batch_by_arrow)
    monkeypatch.setattr(text_lines_module, "batch_by_arrow", by_arrow)
    dice, keys = random.Random(1), nz_keys()
    keys["records"]["separator"] = separator
    keys["tables"][0]["shapes"][1] |= {"by": ["age"], "breaks": {"age": list(range(121))}}
    for length in lengths:
        ids = [f"{number:0{length}d}" for number in range(1, 5)]
        areas = AREAS.replace("7000", "0" * (length - 3))

        def row(ids=ids):
            age, code = str(dice.randint(0, 120)), dice.choice(CODES.splitlines()[1:6])[:5]
            return row_of(SA1=dice.choice(ids), AGE=age, GENDER=dice.choice("123"), ETH1=code)

        rows = [row() for _ in range(500)]
        world = write_specification(tmp_path / str(length), keys, None, {"areas.csv": areas})
        write_rows(world.data, rows, ".csv", separator)
        assert differences(*world) == []
        assert by_arrow.called == (length > 16)


def test_text_that_is_not_utf8_is_refused_even_where_any_text_is_right(tmp_path):
    world = census_of(tmp_path, [row_of(FREE="abcdef")], ruled({"name": "FREE", "type": "string"}))
    path = world.data / "people.csv"
    path.write_bytes(path.read_bytes().replace(b"cd", b"\xff\xfe"))
    assert errors(*world) == [("", broken("a row must be UTF-8 text"))]


@pytest.mark.parametrize("dictionary", [True, False])
def test_parquet_text_that_is_not_utf8_breaks_the_rule_of_its_column(dictionary, tmp_path):
    world = census_of(tmp_path, [row_of(ETH2="21111", ETH3="31111")] * 2, ending=".parquet")
    path = world.data / "people.parquet"
    right = pq.read_table(path)
    for place, name in enumerate(right.column_names):
        texts = pa.array([b"\xff\xfe", *right[name].cast(pa.binary()).to_pylist()[1:]], pa.binary())
        is_valid, offsets, held = texts.buffers()
        wrong = pa.StringArray.from_buffers(len(texts), offsets, held, is_valid)
        pq.write_table(right.set_column(place, name, wrong), path, use_dictionary=dictionary)
        ((_, message),) = errors(*world)
        assert message.endswith("1 row breaks this rule.")


def test_records_in_no_pass_are_a_warning(tmp_path):
    keys = nz_keys("""areas.passes = [
        { name = "main", title = "main", where = { SA2 = "s1" }, levels = { sa2 = "main" } },
        { name = "islands", title = "islands", where = { SA2 = "s2" }, levels = { sa2 = "islands" } },
    ]""")
    keys["privacy"]["levels"][0]["areas"] = ["main", "islands"]
    world = census_of(tmp_path, [row_of(SA1=f"700000{number}") for number in (4, 4, 1, 3)], keys)
    assert [(one.is_error, one.where, one.message) for one in findings(*world)] == [
        (False, "SA1", "2 records are in no pass and are counted nowhere.")
    ]
