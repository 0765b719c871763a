"""Records of any specification are checked and counted as a judge in plain Python does."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.inside import CodeList, RecordField, Unit, text_module
from tests.seeds import seeds
from tests.specified_records import Judge, Row, SpecifiedWorld, fields_of, specification, world_of, write_rows

ENDINGS = (".txt", ".csv", ".csv.gz", ".parquet")


def several(count: int, **changed) -> tuple[CodeList, tuple[str, ...]]:
    names = tuple(f"E{number}" for number in range(count))
    return CodeList("several", "codes.csv", names, **changed), names


def random_specification(dice: random.Random):  # noqa: C901, PLR0915 - a long list of choices
    """Any mixture of what a specification may say."""
    names, lists = list[str](), list[CodeList]()
    changed_fields = dict[str, RecordField]()
    common = {
        "residual": ("000", "999") if dice.random() < 0.6 else (),
        "required": dice.random() < 0.6,
        "gaps": dice.choice(["error", "skipped"]),
    }
    way = dice.choice(["columns", "columns", "list", "one", "two ones"])
    use: dict[str, int] = {}
    if way == "columns":
        count = dice.randint(2, 8)
        codes, columns = several(count, first=dice.choice([None, 3]), **common)
        names += columns
        lists.append(codes)
        if dice.random() < 0.5:
            use["several"] = dice.randint(1, count)
    elif way == "list":
        lists.append(CodeList("several", "codes.csv", ("L",), separator=";", **common))
        changed_fields["L"] = RecordField("L", "list", delimiter=";")
        if dice.random() < 0.5:
            use["several"] = dice.randint(1, 4)
    elif way == "two ones":
        lists.append(CodeList("several", "codes.csv", ("E0",), **common))
        names.append("E0")
    if way in {"one", "two ones"} or dice.random() < 0.5:
        shared = way == "columns" and dice.random() < 0.5
        residual = ("001",) if dice.random() < 0.5 else ()
        lists.append(
            CodeList("single", "other.csv", ("E0" if shared else "S",), residual=residual, required=dice.random() < 0.5)
        )
        names += [] if shared else ["S"]
    dice.shuffle(lists)
    key = ("K", "L2", "M")[: dice.choice([1, 1, 2, 3])]
    how: dict[str, object] = {"use": use, "missing": dice.choice([("",), ("", "-")])}
    if dice.random() < 0.5:
        changed_fields["AGE"] = RecordField("AGE", "integer", attribute="age", minimum=0, maximum=99, other="99")
    if dice.random() < 0.5:
        how["other"] = ("Z",) * len(key)
    if dice.random() < 0.6:
        changed_fields["R"] = RecordField("R", "string", enum=("0", "1"), other=dice.choice([None, "1"]))
        how["where"] = {"R": ("1",)}
    if dice.random() < 0.5:
        changed_fields["N"] = RecordField("N", "integer", minimum=-5, maximum=5)
        how["where"] = dict(how.get("where", {})) | {"N": ("-1", "0", "1", "2", "3")}
    if dice.random() < 0.5:
        changed_fields["B"] = RecordField("B", "boolean")
    fields = fields_of(*key, *names, **changed_fields)
    return specification(fields, key, lists, **how)


def random_row(world: SpecifiedWorld, dice: random.Random, wrong: float) -> Row:
    """A row of likely texts, with some that no rule accepts."""
    spec, missing = world.spec, world.spec.records.missing
    row = dict(zip((column.record for column in spec.areas.key), dice.choice(world.keys), strict=True))
    for one in spec.records.fields:
        if one.name in row:
            continue
        texts = (
            [category.value for category in one.categories] or list(one.enum) or ["0012", "+7", "3", "0", "-1", "42"]
        )
        if one.type == "boolean":
            texts = ["true", "FALSE", "1", "0"]
        row[one.name] = dice.choice(texts)
    for codes in spec.classifications:
        listed = [*sorted(world.codes[codes.name])[:8], *codes.residual, *codes.residual]
        texts = [dice.choice(listed) + ("7" if codes.first and dice.random() < 0.3 else "") for _ in range(8)]
        answers = dice.choice([1, 1, 1, 2, 3, 8, 0])
        if codes.separator is not None:
            row[codes.columns[0]] = codes.separator.join(texts[:answers])
            continue
        for number, name in enumerate(codes.columns):
            row[name] = texts[number] if number < answers else dice.choice(missing)
        if codes.gaps == "skipped" and dice.random() < 0.2:
            row[dice.choice(codes.columns)] = missing[0]
    if dice.random() < wrong:
        row[dice.choice(list(row))] = dice.choice(["", "-", "x", "000", "29", "1e3", "Z", "120", "010;011;;012"])
    return row


def rows_of(world: SpecifiedWorld, dice: random.Random, count: int, wrong: float) -> list[Row]:
    return [random_row(world, dice, wrong) for _ in range(count)]


@pytest.mark.parametrize("seed", seeds(8, 40))
def test_right_rows_of_random_specifications_are_counted_as_the_judge_does(seed, tmp_path):
    dice = random.Random(seed)
    world = world_of(random_specification(dice), dice)
    judge = Judge(world)
    rows = [row for row in rows_of(world, dice, 1_500, 0.05) if not judge.broken(row)][:600]
    assert len(rows) > 100
    ending = ENDINGS[seed % 4]
    write_rows(tmp_path / "data", world, rows, ending)
    engine = world.engine(tmp_path / "data", tmp_path)
    assert [finding for finding in engine.check() if finding.is_error] == []
    found = world.counts(engine)
    assert found == judge.counts(rows)
    assert found
    before = engine.fingerprint(bytes(32))
    engine.close()
    for file in (tmp_path / "data").iterdir():
        file.unlink()
    write_rows(tmp_path / "data", world, rows[::-1], ENDINGS[(seed + 1) % 4])
    engine = world.engine(tmp_path / "data", tmp_path)
    assert engine.fingerprint(bytes(32)) == before
    engine.close()


KINDS = {"listed": "must be listed", "gap": "after the first", "most": "must have at most"}


@pytest.mark.parametrize("seed", seeds(8, 24))
def test_wrong_rows_break_the_rules_that_the_judge_names(seed, tmp_path):
    dice = random.Random(seed + 500)
    world = world_of(random_specification(dice), dice)
    judge, rows = Judge(world), rows_of(world, dice, 300, 0.3)
    ending = ENDINGS[seed % 4]
    expected = Counter(broken for row in rows for broken in judge.broken(row))
    if not expected:
        pytest.skip("no rule is broken")
    write_rows(tmp_path / "data", world, rows, ending)
    engine = world.engine(tmp_path / "data", tmp_path)
    found = {(one.where, one.message) for one in engine.check() if one.is_error}
    engine.close()
    counts = Counter({
        (column, kind): next(
            int(message.split(". ")[-1].split()[0].replace(",", ""))
            for where, message in found
            if where == column and _is_of(kind, message)
        )
        for column, kind in expected
    })  # fmt: skip
    assert counts == expected
    assert len(found) == len(expected)


@pytest.mark.parametrize("seed", seeds(8, 24))
def test_a_single_wrong_row_is_enough(seed, tmp_path):
    """The encoder itself sees each row that breaks a rule: no other wrong row makes the rules be asked."""
    dice = random.Random(seed + 900)
    world = world_of(random_specification(dice), dice)
    judge, rows = Judge(world), rows_of(world, dice, 600, 0.4)
    right = [row for row in rows if not judge.broken(row)][:50]
    wrong = {tuple(sorted(judge.broken(row))): row for row in rows if judge.broken(row)}
    assert right
    assert wrong
    for number, (broken, row) in enumerate(wrong.items()):
        found = findings_of(world, [*right, row, *right], tmp_path / str(number), ENDINGS[(seed + number) % 4])
        assert len(found) == len(broken)


def _is_of(kind: str, message: str) -> bool:
    if kind.startswith("code of"):
        return f"must be a {kind}" in message or f"must be {kind.replace('code', 'codes', 1)}" in message
    if kind == "rule":
        return "code" not in message and "listed" not in message and "after" not in message and "answers" not in message
    return message.startswith(KINDS[kind])


def simple_world(*, key: tuple[str, ...] = ("K",), codes: CodeList | None = None, **changed) -> SpecifiedWorld:
    codes = codes or several(3)[0]
    fields = changed.pop("fields", ())
    plain = [*key, *codes.columns, *changed.pop("names", ())]
    spec = specification((*fields_of(*plain), *fields), key, [codes], **changed)
    return world_of(spec, random.Random(1))


def row_of(world: SpecifiedWorld, **texts: str) -> Row:
    row = {one.name: "" for one in world.spec.records.fields} | {"AGE": "30", "SEX": "F"}
    row |= dict(zip((column.record for column in world.spec.areas.key), world.keys[0], strict=True))
    return row | {world.spec.classifications[0].columns[0]: "005"} | texts


def findings_of(world: SpecifiedWorld, rows: list[Row], folder: Path, ending: str = ".csv") -> list[tuple[str, str]]:
    write_rows(folder / "data", world, rows, ending)
    engine = world.engine(folder / "data", folder)
    found = [(one.where, one.message) for one in engine.check() if one.is_error]
    engine.close()
    return found


@pytest.mark.parametrize("ending", ENDINGS)
def test_rules_are_said_in_the_words_of_the_specification(ending, tmp_path):
    ruled = (
        RecordField("PIN", "string", pattern="[a-z]{3}"),
        RecordField("OK", "boolean"),
        RecordField("ROOMS", "integer", minimum=1),
        RecordField("KIND", "string", enum=("1", "2", "3")),
    )
    world = simple_world(fields=ruled, codes=several(3, required=True)[0])
    right = row_of(world, PIN="abc", OK="TRUE", ROOMS="+4", KIND="2")
    wrong = [
        {"PIN": "abcd"}, {"OK": "yes"}, {"ROOMS": "0"}, {"KIND": "02"}, {"AGE": "100"}, {"AGE": "1.0"}, {"SEX": "X"},
        {"K": "secret"}, {"E0": ""}, {"E1": "xyz"}, {"E2": "006"},
    ]  # fmt: skip
    assert findings_of(world, [right, right | {"E1": "006", "E2": "005"}], tmp_path / "right", ending) == []
    found = findings_of(world, [right | each for each in wrong], tmp_path / "wrong", ending)
    assert found == [
        ("AGE", "must be an integer from 0 to 99. 2 rows break this rule."),
        ("E0", "must be a code of codes.csv. 1 row breaks this rule."),
        ("E0..E2", "after the first missing answer none may follow. 1 row breaks this rule."),
        ("E1", "must be a code of codes.csv, or missing. 1 row breaks this rule."),
        ("K", "must be listed in areas.csv. 1 row breaks this rule."),
        ("KIND", "must be one of 1, 2, 3. 1 row breaks this rule."),
        ("OK", "must be true or false. 1 row breaks this rule."),
        ("PIN", "must match [a-z]{3}. 1 row breaks this rule."),
        ("ROOMS", "must be an integer of at least 1. 1 row breaks this rule."),
        ("SEX", "must be one of F, M, U. 1 row breaks this rule."),
    ]


@pytest.mark.parametrize("ending", ENDINGS)
def test_values_that_only_blanks_make_wrong_are_told_apart_and_no_value_is_said(ending, tmp_path):
    world = simple_world(codes=several(3, required=True)[0])
    right = row_of(world)
    blanks = [{name: right[name] + " "} for name in ("K", "AGE", "SEX", "E0")]
    blanks += [{"AGE": " 7"}, {"SEX": "\u00a0M"}, {"E1": " 006"}, {"E1": " "}]
    wrong = [{"AGE": "x"}, {"SEX": "X "}, {"E0": "secret "}, {"E0": " "}]
    found = findings_of(world, [right | each for each in blanks + wrong], tmp_path / "wrong", ending)
    assert found == [
        ("AGE", "must be an integer from 0 to 99. 1 row breaks this rule."),
        ("AGE", "must be an integer from 0 to 99, without blanks around it. 2 rows break this rule."),
        ("E0", "must be a code of codes.csv. 2 rows break this rule."),
        ("E0", "must be a code of codes.csv, without blanks around it. 1 row breaks this rule."),
        ("E1", "must be a code of codes.csv, or missing, without blanks around it. 2 rows break this rule."),
        ("K", "must be listed in areas.csv, without blanks around it. 1 row breaks this rule."),
        ("SEX", "must be one of F, M, U. 1 row breaks this rule."),
        ("SEX", "must be one of F, M, U, without blanks around it. 2 rows break this rule."),
    ]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_blanks_are_found_in_the_lines_of_each_file(ending, tmp_path):
    world = simple_world()
    right = [row_of(world)] * 3
    files = {"a": [*right, row_of(world, SEX="F ")], "b": [row_of(world, SEX="X"), *right, row_of(world, SEX=" F")]}
    for name, rows in files.items():
        write_rows(tmp_path / name, world, rows, ending)
        (path,) = (tmp_path / name).iterdir()
        (tmp_path / "data" / "people").mkdir(parents=True, exist_ok=True)
        path.rename(tmp_path / "data" / "people" / f"{name}{ending}")
    engine = world.engine(tmp_path / "data", tmp_path)
    found = {one.rule: one.rows for one in engine.check()}
    engine.close()
    noun, a, b, other = ("row", 4, 5, 1) if ending == ".parquet" else ("line", 5, 6, 2)
    assert found == {
        "must be one of F, M, U": f"b{ending}, {noun} {other}",
        "must be one of F, M, U, without blanks around it": f"a{ending}, {noun} {a}; b{ending}, {noun} {b}",
    }


def test_blanks_around_the_answers_of_a_list_are_told(tmp_path):
    codes = CodeList("several", "codes.csv", ("L",), separator=";")
    fields = (*fields_of("K"), RecordField("L", "list", delimiter=";"))
    world = world_of(specification(fields, ("K",), [codes]), random.Random(1))
    rule = "must be codes of codes.csv, separated by ;"
    expected = [
        ("L", f"{rule}. 1 row breaks this rule."),
        ("L", f"{rule}, without blanks around them. 1 row breaks this rule."),
    ]
    wrong = [["001", " 002"], ["001", " secret"], ["001", "002"]]
    rows = [row_of(world, L=";".join(answers)) for answers in wrong]
    for ending in ENDINGS:
        assert findings_of(world, rows, tmp_path / ending, ending) == expected
    columns = {name: [row[name] for row in rows] for name in world.record.columns if name != "L"}
    pq.write_table(pa.table(columns | {"L": pa.array(wrong)}), tmp_path / "people.parquet")
    engine = world.engine(tmp_path, tmp_path)
    assert [(one.where, one.message) for one in engine.check()] == expected
    engine.close()


def test_bytes_that_are_no_text_are_no_blanks(tmp_path):
    world = simple_world()
    rows = [row_of(world)] * 3
    columns = {name: [row[name] for row in rows] for name in world.record.columns}
    columns["SEX"] = pa.array([b"F ", b"F\xff ", b"\xef\xbf\xbd"], pa.binary())
    pq.write_table(pa.table(columns), tmp_path / "people.parquet")
    engine = world.engine(tmp_path, tmp_path)
    rule = "must be one of F, M, U"
    assert {one.rule: one.count for one in engine.check()} == {rule: 2, f"{rule}, without blanks around it": 1}
    engine.close()


@pytest.mark.parametrize("seed", seeds(4, 24))
def test_the_judge_finds_the_same_blanks(seed, tmp_path):
    dice = random.Random(seed + 1_300)
    world = world_of(random_specification(dice), dice)
    judge, rows = Judge(world), rows_of(world, dice, 300, 0.1)
    for row in rows:
        if dice.random() < 0.5:
            name = dice.choice(list(row))
            row[name] = dice.choice([" {}", "{} ", "\t{}  "]).format(row[name].replace(";", " ;"))
    expected = Counter(
        (*broken, broken not in judge.broken(without_blanks(row))) for row in rows for broken in judge.broken(row)
    )
    write_rows(tmp_path / "data", world, rows, ENDINGS[seed % 4])
    engine = world.engine(tmp_path / "data", tmp_path)
    found = [(one.where, one.rule, one.count) for one in engine.check() if one.is_error]
    engine.close()
    assert any(is_blank for _, _, is_blank in expected)
    assert len(found) == len(expected)
    for (column, kind, is_blank), count in expected.items():
        alike = [each for each in found if each[0] == column and _is_of(kind, each[1]) and each[2] == count]
        assert [rule for _, rule, _ in alike if (", without blanks around " in rule) == is_blank]


def without_blanks(row: Row) -> Row:
    return {name: ";".join(answer.strip() for answer in text.split(";")) for name, text in row.items()}


def test_a_required_answer_is_asked_for_after_rows_whose_answers_are_all_residual(tmp_path):
    """Their pattern is empty, and must not stand for a missing answer."""
    world = simple_world(codes=several(3, required=True, residual=("999",))[0])
    residual = [row_of(world, E0="999")] * 500
    assert findings_of(world, residual, tmp_path / "right", ".parquet") == []
    found = findings_of(world, [*residual, row_of(world, E0="")], tmp_path / "wrong", ".parquet")
    assert found == [("E0", "must be a code of codes.csv. 1 row breaks this rule.")]


def test_a_list_may_hold_eight_answers_unless_only_the_first_count(tmp_path):
    codes = CodeList("several", "codes.csv", ("L",), separator=";")
    fields = (RecordField("L", "list", delimiter=";"),)
    nine = ";".join(["001"] * 9)
    spec = specification((*fields_of("K"), *fields), ("K",), [codes])
    world = world_of(spec, random.Random(1))
    assert findings_of(world, [row_of(world, L=nine[:-4])], tmp_path / "eight") == []
    found = findings_of(world, [row_of(world, L=nine)], tmp_path / "nine")
    assert found == [("L", "must have at most 8 answers. 1 row breaks this rule.")]
    world = world_of(replace(spec, privacy=replace(spec.privacy, use={"several": 2})), random.Random(1))
    assert findings_of(world, [row_of(world, L=nine)], tmp_path / "use") == []
    found = findings_of(world, [row_of(world, L=nine + ";zzz")], tmp_path / "wrong")
    assert found == [("L", "must be codes of codes.csv, separated by ;. 1 row breaks this rule.")]


def test_a_unit_may_have_so_many_records_and_no_more(tmp_path):
    world = simple_world(names=("PATIENT",), unit=Unit("patient", "PATIENT", 2))
    rows = [row_of(world, PATIENT=f"patient-number-{number}") for number in range(300)] * 2
    for ending in ENDINGS:
        assert findings_of(world, rows, tmp_path / f"right{ending}", ending) == []
    more = [rows[0], rows[1], rows[2]]
    for ending in ENDINGS:
        found = findings_of(world, [*rows, *more, row_of(world)], tmp_path / f"wrong{ending}", ending)
        assert found == [
            ("PATIENT", "must not be missing. 1 row breaks this rule."),
            ("PATIENT", "a patient may have at most 2 records. 3 patients have more."),
        ]


def test_lists_of_a_parquet_file_are_texts_of_answers(tmp_path):
    codes = CodeList("several", "codes.csv", ("L",), separator=";", required=False, residual=("999",))
    world = world_of(
        specification((*fields_of("K"), RecordField("L", "list", delimiter=";")), ("K",), [codes]), random.Random(1)
    )
    lists = [["001", "002"], None, [], ["003"], ["999", "004"], ["001", "002", "003"]] * 20
    rows = [row_of(world, L=";".join(answers or [])) for answers in lists]

    def write(answers: list[list[str | None] | None]) -> list[tuple[str, str]]:
        columns = {name: [row[name] for row in rows[: len(answers)]] for name in world.record.columns if name != "L"}
        table = pa.table(columns | {"L": pa.array(answers, pa.list_(pa.string())), "EXTRA": [1.5] * len(answers)})
        pq.write_table(table, tmp_path / "people.parquet")
        engine = world.engine(tmp_path, tmp_path)
        found = [(one.where, one.message) for one in engine.check() if one.is_error]
        if not found:
            assert world.counts(engine) == Judge(world).counts(rows)
        engine.close()
        return found

    assert write(lists) == []
    rule = "must be codes of codes.csv, separated by ;, or missing. 1 row breaks this rule."
    assert write([["001;002"], *lists[1:]]) == [("L", rule)]
    after = "after the first missing answer none may follow. 1 row breaks this rule."
    assert write([["001", None, "002"], *lists[1:]]) == [("L", after)]


def test_integers_and_truth_values_of_a_parquet_file_are_their_texts(tmp_path):
    world = simple_world(fields=(RecordField("OK", "boolean"), RecordField("FREE", "string")))
    rows = [row_of(world, OK="true", FREE="7", AGE=str(age)) for age in range(50)]
    columns = {name: [row[name] for row in rows] for name in world.record.columns}
    columns |= {"OK": [True] * 50, "FREE": [7] * 50, "AGE": list(range(50))}
    pq.write_table(pa.table(columns), tmp_path / "people.parquet")
    engine = world.engine(tmp_path, tmp_path)
    assert [one for one in engine.check() if one.is_error] == []
    assert world.counts(engine) == Judge(world).counts(rows)
    before = engine.fingerprint(bytes(32))
    engine.close()
    (tmp_path / "people.parquet").unlink()
    write_rows(tmp_path, world, rows, ".txt")
    engine = world.engine(tmp_path, tmp_path)
    assert engine.fingerprint(bytes(32)) == before
    assert world.engine(tmp_path, tmp_path).fingerprint(bytes([1] * 32)) != before


def test_every_value_that_is_counted_changes_the_fingerprint(tmp_path):
    fields = (RecordField("R", "string", enum=("0", "1")), RecordField("FREE", "string"))
    world = simple_world(fields=fields, where={"R": ("1",)}, key=("K", "L2"))
    which = next(key for key in world.keys if world.place[key][0] == "main")
    other = next(key for key in world.keys if world.place[key][0] == "main" and key != which)
    plain = row_of(world, R="1", FREE="a", **dict(zip(("K", "L2"), which, strict=True)))
    changes = [{"AGE": "31"}, {"SEX": "M"}, {"E0": "006"}, {"E1": "006"}, {"R": "0"}, {"FREE": "b"}]
    changes.append(dict(zip(("K", "L2"), other, strict=True)))
    seen = []
    for number, change in enumerate([{}, *changes]):
        write_rows(tmp_path / str(number), world, [plain, plain | change], ".csv")
        engine = world.engine(tmp_path / str(number), tmp_path)
        seen.append(engine.fingerprint(bytes(32))["main"])
        engine.close()
    assert len(set(seen)) == len(seen)


@pytest.mark.parametrize("separator", ["|", ",", "\t"])
@pytest.mark.parametrize("length", [3, 9, 16, 20])
def test_lines_are_read_by_the_compiled_loop_whatever_the_length_of_ids(separator, length, tmp_path, monkeypatch):
    monkeypatch.setattr(text_module, "compiling_pays", lambda *_, **__: True)
    monkeypatch.setattr(text_module, "_FEW_VALUES", 4)
    by_arrow = list[int]()
    read = text_module.batch_by_arrow
    monkeypatch.setattr(text_module, "batch_by_arrow", lambda *given: by_arrow.append(1) or read(*given))
    dice = random.Random(length)
    spec = specification(fields_of("K", "E0"), ("K",), [CodeList("several", "codes.csv", ("E0",))], separator=separator)
    world = world_of(spec, dice)
    long = {key[0]: f"{number:0{length}d}" for number, key in enumerate(world.keys)}
    keys, place = tuple((long[key],) for (key,) in world.keys), {(long[key[0]],): at for key, at in world.place.items()}
    world = replace(world, keys=keys, place=place)
    rows = rows_of(world, dice, 500, 0)
    right = [row for row in rows if not Judge(world).broken(row)]
    write_rows(tmp_path / "data", world, right, ".csv")
    engine = world.engine(tmp_path / "data", tmp_path)
    assert [one for one in engine.check() if one.is_error] == []
    assert world.counts(engine) == Judge(world).counts(right)
    assert bool(by_arrow) == (length > 16)
    engine.close()


def test_text_that_is_not_utf8_is_refused_even_where_any_text_is_right(tmp_path):
    world = simple_world(names=("FREE",))
    write_rows(tmp_path / "data", world, [row_of(world, FREE="abcdef")], ".csv")
    path = tmp_path / "data" / "people.csv"
    path.write_bytes(path.read_bytes().replace(b"cd", b"\xff\xfe"))
    engine = world.engine(tmp_path / "data", tmp_path)
    assert [(one.where, one.message) for one in engine.check()] == [
        ("", "a row must be UTF-8 text. 1 row breaks this rule.")
    ]


@pytest.mark.parametrize("dictionary", [True, False])
def test_parquet_text_that_is_not_utf8_breaks_the_rule_of_its_column(dictionary, tmp_path):
    world = simple_world()
    write_rows(tmp_path / "data", world, [row_of(world), row_of(world)], ".parquet")
    path = tmp_path / "data" / "people.parquet"
    right = pq.read_table(path)
    for name in right.column_names:
        texts = pa.array([b"\xff\xfe", *right[name].cast(pa.binary()).to_pylist()[1:]], pa.binary())
        is_valid, offsets, held = texts.buffers()
        broken = pa.StringArray.from_buffers(len(texts), offsets, held, is_valid)
        table = right.set_column(right.column_names.index(name), name, broken)
        pq.write_table(table, path, use_dictionary=dictionary)
        engine = world.engine(tmp_path / "data", tmp_path)
        found = [one.message for one in engine.check() if one.is_error]
        assert len(found) == 1
        assert found[0].endswith("1 row breaks this rule.")
        engine.close()


def test_records_in_no_pass_are_a_warning(tmp_path):
    world = simple_world()
    outside = next(key for key in world.keys if world.place[key][0] is None)
    inside = [next(key for key in world.keys if world.place[key][0] == name) for name in ("main", "islands")]
    rows = [row_of(world, K=key[0]) for key in (outside, outside, *inside)]
    write_rows(tmp_path / "data", world, rows, ".csv")
    engine = world.engine(tmp_path / "data", tmp_path)
    assert [(one.is_error, one.where, one.message) for one in engine.check()] == [
        (False, "K", "2 records are in no pass and are counted nowhere.")
    ]
    engine.close()
