"""A CEF with something wrong: one finding that names file, field and rule, exit 1, no value shown, nothing left behind."""

import copy
import os
import re
from pathlib import Path

import pytest

from tests.cases import cases_of
from tests.cef_files import (
    PERSON_WIDTHS,
    UNIT_WIDTHS,
    WIDTHS,
    cef_of,
    fixed_lines,
    gzipped_lines,
    piped_lines,
)
from tests.commands import cli, refused
from tests.inside import lines_module
from tests.worlds.people import write_random_world

pytestmark = pytest.mark.slow

STATE = "44"
FILES = {kind: f"CEF20_{kind}_{STATE}.txt" for kind in WIDTHS}
PER, UNIT, CNT = FILES.values()
LOW = "RTYPE=1 CUF_PNC=0 MAFID=99999999 QAGE=116 QSEX=3 RELSHIP=19"
FREE = "VERSION FINAL_POP P18 P60 P65 P75 OIDTB"
BLANK = "QGQTYP HHLDRAGE HHSPAN HHLDRACE HHRACE GQSEX"
SHAPE = "a line must have 91 characters, or 28 fields separated by |. 1 row breaks this rule."


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    world = write_random_world(folder / "world", 11, people=90, budget=1, state_filter_us=[STATE], run_pr=False)
    world.configure(reader="cef")
    return world, cef_of(world, folder / "cef")


@pytest.fixture
def world(made):
    return made[0]


@pytest.fixture
def cef(made, tmp_path):
    """A copy that a test may damage, not written yet."""
    copied = copy.deepcopy(made[1])
    copied.folder = tmp_path / "cef"
    return copied


def findings(stderr):
    """Each finding as "FILE: WHERE AND WHAT", but for warnings about budgets of the small world's levels."""
    found, file = [], ""
    for line in stderr.splitlines():
        heading = re.fullmatch(r"(\S+) has \d+ (?:problem|warning)s?:", line)
        if heading:
            file = heading[1]
        elif line.startswith("  ") and file != "config.json":
            found.append(f"{file}: {line.strip()}")
    return found


def validate(world, cef, *options, code=0):
    result = cli("validate", world.parameters, cef.ini, *options)
    assert result.exit_code == code, result.output
    return result


def only_finding(world, cef, folder):
    """The one finding of a run, which must leave nothing but its log."""
    temporary, log = folder / "temporary", folder / "log"
    temporary.mkdir()
    before = sorted(folder.rglob("*"))
    result = cli("run", world.parameters, cef.ini, folder / "out", "--temp", temporary, "--confidential-log", log)
    assert result.exit_code == 1, result.output
    assert "Traceback" not in result.output
    assert sorted(folder.rglob("*")) == sorted([*before, log])
    (found,) = findings(result.stderr)
    return found


def wrong_values():
    """For each field: above its values, blank or a letter where they are full, and what strips to no number."""
    low = dict(one.split("=") for one in LOW.split())
    free = FREE.split()  # every number is right
    found = []
    for kind, widths in (("PER", PERSON_WIDTHS), ("UNIT", UNIT_WIDTHS)):
        for name, width in widths.items():
            out_of_range = "x" * width if name in free else low.get(name, "9" * width)
            found += [(kind, name, out_of_range), (kind, name, "*".rjust(width))]
    return found


@pytest.mark.parametrize(("kind", "name", "value"), wrong_values())
def test_a_wrong_value_of_any_field_is_one_finding(kind, name, value, world, cef):
    rows(cef, kind)[2][name] = value
    cef.write()
    result = validate(world, cef, code=1)
    (found,) = findings(result.stderr)
    assert found.startswith(f"CEF20_{kind}_{STATE}.txt: {name}: ")
    assert found.endswith("1 row breaks this rule.")
    assert "To find these rows" in result.stderr


@pytest.mark.parametrize(("kind", "name"), [(kind, name) for kind, widths in WIDTHS.items() for name in widths])
def test_a_blank_field_is_wrong_unless_it_may_be_blank(kind, name, world, cef):
    optional = {f"QRACE{n}" for n in range(2, 9)}.union(BLANK.split())
    next(one for one in rows(cef, kind) if not one.get("QRACE3"))[name] = ""
    cef.write()
    if name in optional:
        validate(world, cef)
    else:
        (found,) = findings(validate(world, cef, code=1).stderr)
        assert found.startswith(f"CEF20_{kind}_{STATE}.txt: {name}: ")


def changed(what):
    """One row of a file with other values."""
    kind, row, values = what.split(" ", 2)
    return lambda cef: cef.records[kind][STATE][int(row)].update(one.split("=") for one in values.split(","))


def line(kind, change, form=fixed_lines):
    """Changes the third line of a file, which is written before."""

    def damage(cef):
        cef.write(form)
        lines = cef.path(kind, STATE).read_bytes().split(b"\n")
        lines[2] = change(lines[2])
        cef.path(kind, STATE).write_bytes(b"\n".join(lines))

    return damage


def rows(cef, kind="PER"):
    return cef.records[kind][STATE]


def householders(cef):
    return [one for one in rows(cef) if one["RELSHIP"] == "20"]


def no_householder(cef):
    householders(cef)[0]["RELSHIP"] = "34"


def two_householders(cef):
    homes = {one["MAFID"] for one in householders(cef)}
    next(one for one in rows(cef) if one["RELSHIP"] == "36" and one["MAFID"] in homes)["RELSHIP"] = "20"


def vacant_with_people(cef):
    homes = {one["MAFID"] for one in rows(cef)}
    next(one for one in rows(cef, "UNIT") if one["HHT"] != "0" and one["MAFID"] in homes)["HHT"] = "0"


def householder_of_group_quarters(cef):
    next(one for one in rows(cef) if one["RTYPE"] == "5")["RELSHIP"] = "20"


def repeated_unit(cef):
    first, second, *_ = rows(cef, "UNIT")
    second["MAFID"] = first["MAFID"]


def removed(kind):
    def damage(cef):
        cef.write()
        cef.path(kind, STATE).unlink()

    return damage


def lost_person(cef):
    """Somebody who isn't a householder: the unit's FINAL_POP is made to agree, so only the counts know."""
    lost = next(one for one in rows(cef) if one["RELSHIP"] != "20")
    rows(cef).remove(lost)
    home = next(one for one in rows(cef, "UNIT") if one["MAFID"] == lost["MAFID"])
    home["FINAL_POP"] = str(int(home["FINAL_POP"]) - 1)


def grfc(old, new):
    def damage(cef):
        cef.geography[STATE] = [row.replace(old, new) for row in cef.geography[STATE]]

    return damage


def one_oid_for_all(cef):
    blocks = [row.rpartition("|")[0] for row in cef.geography[STATE]]
    cef.geography[STATE] = [f"{block}|{n // 2 + 1}" for n, block in enumerate(blocks)]
    for one in rows(cef, "UNIT"):
        one["OIDTB"] = "1"


def pipe_for(path_of):
    def damage(cef):
        path_of(cef).unlink()
        os.mkfifo(path_of(cef))

    return damage


def gzip_cut_short(cef):
    cef.write(gzipped_lines)
    for path in (cef.folder / "records").iterdir():
        path.rename(f"{path}.gz")
    path = Path(f"{cef.path('PER', STATE)}.gz")
    path.write_bytes(path.read_bytes()[:-30])


CHANGED = """
PER 2 QDB=1987 105 | QDB: must be 19040402 to 20200401.
PER 2 QRACE1=1001 | QRACE1: must be a code of the
PER 2 QRACE7=,QRACE8=1000 | QRACE2..QRACE8: after the first
PER 2 BCUSTATEFP=01 | BCUSTATEFP: must be the state of the file's
UNIT 2 BCUSTATEFP=01 | BCUSTATEFP: must be the state of
PER 2 MAFID=899999999 | MAFID: must be the MAFID of a unit of
UNIT 2 OIDTB=17 | OIDTB: must be an OIDTABBLK of the GRF-C.
UNIT 2 OIDTB=4444444444444444444444 | OIDTB: must be an OIDTABBLK
CNT 0 COUNT_UNIT_GQ=77 | COUNT_UNIT_GQ: does not match the number of lines
CNT 0 BCUSTATEFP=01 | BCUSTATEFP: must be the state
PER 0 RTYPE=5 | RTYPE: must be 3 in a housing unit
"""
LINES = [
    ("PER", lambda text: text[:-1], SHAPE),
    ("PER", lambda text: text + b" ", SHAPE),
    ("PER", lambda _: b"", SHAPE),
    ("UNIT", lambda text: text[1:], SHAPE.replace("91", "76")),
    ("PER", lambda text: b"\0" + text[1:], "RTYPE: must be 3, 5."),
    ("PER", lambda text: text[:24] + b"\0" + text[25:], "QAGE: must be 0 to 115."),
    ("PER", lambda text: text[:24] + b"\xd9" + text[25:], "QAGE: must be 0 to 115."),
    ("PER", lambda text: text[:24] + b"\r" + text[25:], "QAGE: must be"),
    ("PER", lambda text: text[:40] + b"\n" + text[40:], "a line must have 91"),
    ("PER", lambda text: b"|".join([text] * 28), SHAPE),
    ("PER", lambda _: fixed_lines([dict.fromkeys(UNIT_WIDTHS, "2")], UNIT_WIDTHS).rstrip(b"\n"), SHAPE),
]
MALFORMED = [
    *((changed(what), f"{FILES[what.split()[0]]}: {said}") for what, said in cases_of(CHANGED)),
    *((line(kind, change), f"{FILES[kind]}: {said}") for kind, change, said in LINES),
    *((removed(kind), f"reader.ini: state {STATE}: no file {FILES[kind]} in the folders") for kind in ("PER", "UNIT")),
    (repeated_unit, f"{UNIT}: MAFID: must belong to only one unit. 1 row breaks"),
    (no_householder, f"{UNIT}: HHT: an occupied housing unit must have exactly one householder. 1"),
    (two_householders, f"{UNIT}: HHT: an occupied housing unit must have exactly one"),
    (vacant_with_people, f"{UNIT}: HHT: must not be 0 (vacant) in a housing unit"),
    (householder_of_group_quarters, f"{UNIT}: QGQTYP: group quarters must have no"),
    (lost_person, f"{CNT}: COUNT_PER, COUNT_PER_"),
    (lambda cef: rows(cef, "CNT").append(rows(cef, "CNT")[0]), f"{CNT}: it"),
    (lambda cef: rows(cef, "CNT").clear(), f"{CNT}: it must have exactly one line."),
    (pipe_for(lambda cef: cef.folder / "geography" / f"grfc_tab20_{STATE}.txt"), "reader.ini: grfc_dir: "),
    (pipe_for(lambda cef: cef.path("CNT", STATE)), f"reader.ini: state {STATE}: "),
    (one_oid_for_all, "GRF-C: OIDTABBLK: "),
    (grfc("|3000", "|x000"), "grfc_tab20_44.txt: OIDTABBLK: must be a number of up to 22"),
    (gzip_cut_short, f"{PER}.gz: it is damaged, or not what its ending says."),
]


def times(cef):
    return {path: path.stat().st_mtime_ns for path in cef.folder.rglob("*")}


@pytest.mark.parametrize(("damage", "said"), MALFORMED)
def test_a_malformed_cef_is_one_finding_and_no_output(damage, said, world, cef, tmp_path):
    cef.write()
    written = times(cef)
    damage(cef)
    if times(cef) == written:  # the records were changed
        cef.write()
    assert only_finding(world, cef, tmp_path).startswith(said)


def test_a_line_of_another_file_is_one_finding_among_separated_lines_too(world, cef, tmp_path):
    cef.write(piped_lines)
    unit = cef.path("UNIT", STATE).read_bytes().split(b"\n")[0]
    line("PER", lambda _: unit, piped_lines)(cef)
    assert only_finding(world, cef, tmp_path) == f"{PER}: RTYPE: must be 3, 5. 1 row breaks this rule."


def test_a_folder_that_does_not_exist_is_named_once(world, cef, tmp_path):
    cef.write()
    reader = cef.folder / "reader.ini"
    reader.write_text(re.sub(r"(?m)^(per_dir\w*) *=.*$", r"\1 = elsewhere", reader.read_text()))
    told = only_finding(world, cef, tmp_path)
    assert re.fullmatch(rf"reader.ini: per_dir( and per_dir_pr)?: {cef.folder / 'elsewhere'} does not exist\.", told)


@pytest.mark.parametrize("fields", [27, 29])
def test_a_separated_line_has_28_fields(fields, world, cef, tmp_path):
    line("PER", lambda text: b"|".join([*text.split(b"|"), b"1"][:fields]), piped_lines)(cef)
    assert only_finding(world, cef, tmp_path) == f"{PER}: {SHAPE}"


def test_a_separated_field_may_not_be_longer_than_its_width(world, cef, tmp_path):
    rows(cef)[1]["QAGE"] = "0017"
    cef.write(piped_lines)
    assert only_finding(world, cef, tmp_path).startswith(f"{PER}: QAGE: must be 0 to 115.")


def test_blank_lines_at_the_end_are_no_lines_and_the_last_needs_no_line_end(world, cef):
    cef.write()
    for kind, end in (("PER", b"\n\r\n\n"), ("UNIT", b"")):
        path = cef.path(kind, STATE)
        path.write_bytes(path.read_bytes().rstrip(b"\n") + end)
    validate(world, cef)


def test_line_numbers_are_for_the_confidential_log_and_values_for_nobody(world, cef, tmp_path):
    for row in (0, 4, 5):
        rows(cef)[row]["QAGE"] = "987"
    cef.write()
    log = tmp_path / "log"
    result = validate(world, cef, "--confidential-log", log, code=1)
    assert findings(result.stderr) == [f"{PER}: QAGE: must be 0 to 115. 3 rows break this rule."]
    assert f"Rows: {PER}, lines 1, 5, 6\n" in log.read_text()
    shown = result.output + result.stderr + log.read_text()
    assert "987" not in re.sub(r"\S+T[\d:]+\S+", "", shown)
    assert rows(cef)[0]["MAFID"] not in shown


def test_what_is_worth_a_look_is_a_warning(world, cef, tmp_path):
    rows(cef, "UNIT")[0]["FINAL_POP"] = "77"
    cef.write()
    cef.path("CNT", STATE).unlink()
    log = tmp_path / "log"
    result = validate(world, cef, "--confidential-log", log)
    assert findings(result.stderr) == [
        f"{UNIT}: FINAL_POP: is not the number of its persons: 1 unit.",
        f"{UNIT}: there is no file of counts (CNT) beside it, so lost lines would not be noticed.",
    ]
    assert f"Rows: {UNIT}, line 1\n" in log.read_text()


@pytest.fixture
def other(tmp_path):
    """The same people, and the other state is asked for too."""
    other = write_random_world(tmp_path / "other", 11, people=90, budget=1)
    other.configure(reader="cef")
    return other


def test_a_block_in_another_state_is_worth_a_look(world, other, cef):
    """Its people are tabulated where the block lies."""
    rows(cef, "UNIT")[0]["OIDTB"] = cef.geography["01"][0].rpartition("|")[2]
    cef.write()
    assert findings(validate(other, cef).stderr) == [
        f"{UNIT}: OIDTB: its block is in a state other than BCUSTATEFP: 1 unit."
    ]
    alone = validate(world, cef, code=1)  # the other state is not asked for, so nobody could tabulate them
    assert findings(alone.stderr)[0].startswith(f"{UNIT}: OIDTB: must be an OIDTABBLK of the GRF-C.")


INI_FAULTS = """
[paths] => [folders] | it must be an .ini file with a
[paths] => [paths]\\nper_dir | it must be an .ini file with a section [paths]
%% => % | it must be an .ini file
per_dir = => persons = | [paths]: keys missing
= ./geography => = s3://bucket/x/ | grfc_dir: must be a
./geography => a\0b | grfc_dir: contains a NUL character
UNIT_ => UNIT\0 | unit_file_format: contains a NUL
UNIT_%%s => UNIT | unit_file_format: must be
./geography => ./nowhere | grfc_dir:
./geography => records | grfc_dir: no GRF-C of state 44
"""


@pytest.mark.parametrize(("edit", "said"), cases_of(INI_FAULTS))
def test_plan_and_validate_find_the_same_in_the_ini_file(edit, said, world, cef, tmp_path):
    cef.write()
    old, new = edit.replace("\\n", "\n").split(" => ")
    cef.ini.write_text(cef.ini.read_text().replace(old, new))
    found = only_finding(world, cef, tmp_path)
    assert found.startswith(f"reader.ini: {said}")
    planned = cli("plan", world.parameters, cef.ini)
    assert (planned.exit_code, findings(planned.stderr)) == (1, [found])


PATHS = "per_dir unit_dir grfc_dir pop_dir per_file_format geo_file_format"


@pytest.mark.parametrize("key", PATHS.split())
def test_run_and_convert_find_a_path_with_a_nul(key, world, cef, out):
    cef.write()
    others = [line for line in cef.ini.read_text().splitlines() if not line.startswith(key)]
    cef.ini.write_text("\n".join([*others, f"{key} = a\0%%s", ""]))
    for command in (["run", world.parameters], ["convert"]):
        assert f"{key}: contains a NUL character" in refused(*command, cef.ini, out)
        assert not out.exists()


def test_the_records_are_judged_even_if_a_public_file_is_wrong(other, cef):
    (other.parameters / "race-and-ethnicity-codes.txt").write_text("RACE_ETH_CODE|RACE_ETH_NAME\nx|y\n")
    rows(cef)[1]["QSEX"] = "7"
    cef.write()
    found = findings(validate(other, cef, code=1).stderr)
    assert any(one.startswith("race-and-ethnicity-codes.txt: ") for one in found)
    assert f"{PER}: QSEX: must be 1 to 2. 1 row breaks this rule." in found


def test_a_wrong_line_is_found_wherever_blocks_of_bytes_end(world, cef, monkeypatch, tmp_path):
    monkeypatch.setattr(lines_module, "_BLOCK_BYTES", 100)
    cef.write()
    validate(world, cef)
    rows(cef)[-1]["QSEX"] = "7"
    cef.write()
    log = tmp_path / "log"
    validate(world, cef, "--confidential-log", log, code=1)
    assert f"line {len(rows(cef))}\n" in log.read_text()
