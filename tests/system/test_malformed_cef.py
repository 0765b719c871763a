"""A CEF with something wrong: one finding that names file, field and rule, exit 1, no value shown, nothing left behind."""

from __future__ import annotations

import copy
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cef_files import (
    PERSON_WIDTHS,
    UNIT_WIDTHS,
    WIDTHS,
    Cef,
    cef_of,
    fixed_lines,
    gzipped_lines,
    piped_lines,
)
from tests.commands import cli
from tests.inside import lines_module
from tests.worlds.people import write_random_world
from tests.worlds.world import World

pytestmark = pytest.mark.slow

STATE = "44"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[World, Cef]:
    folder = tmp_path_factory.mktemp("made")
    world = write_random_world(folder / "world", 11, people=90, budget=1, state_filter_us=[STATE], run_pr=False)
    world.configure(reader="cef")
    return world, cef_of(world, folder / "cef")


@pytest.fixture
def world(made: tuple[World, Cef]) -> World:
    return made[0]


@pytest.fixture
def cef(made: tuple[World, Cef], tmp_path: Path) -> Cef:
    """A copy that a test may damage, not written yet."""
    copied = copy.deepcopy(made[1])
    copied.folder = tmp_path / "cef"
    return copied


def findings(stderr: str) -> list[str]:
    """Each finding as "FILE: WHERE AND WHAT", but for warnings about budgets of the small world's levels."""
    found, file = [], ""
    for line in stderr.splitlines():
        heading = re.fullmatch(r"(\S+) has \d+ (?:problem|warning)s?:", line)
        if heading:
            file = heading[1]
        elif line.startswith("  ") and file != "config.json":
            found.append(f"{file}: {line.strip()}")
    return found


def validate(world: World, cef: Cef, *options: object):
    return cli("validate", world.parameters, cef.ini, *options)


def only_finding(world: World, cef: Cef, folder: Path) -> str:
    """The one finding of a run, which must leave nothing but its log."""
    temporary, log = folder / "temporary", folder / "log"
    temporary.mkdir()
    before = sorted(folder.rglob("*"))
    options = ["--temp", str(temporary), "--confidential-log", str(log)]
    result = cli("run", world.parameters, cef.ini, folder / "out", *options)
    assert result.exit_code == 1, result.output
    assert "Traceback" not in result.output
    assert sorted(folder.rglob("*")) == sorted([*before, log])
    (found,) = findings(result.stderr)
    return found


def wrong_values() -> list[tuple[str, str, str]]:
    """For each field: above its values, blank or a letter where they are full, and what strips to no number."""
    low = {"RTYPE": "1", "CUF_PNC": "0", "MAFID": "99999999", "QAGE": "116", "QSEX": "3", "RELSHIP": "19"}
    free = {"VERSION", "FINAL_POP", "P18", "P60", "P65", "P75", "OIDTB"}  # every number is right
    found = []
    for kind, widths in (("PER", PERSON_WIDTHS), ("UNIT", UNIT_WIDTHS)):
        for name, width in widths.items():
            out_of_range = "x" * width if name in free else low.get(name, "9" * width)
            found += [(kind, name, out_of_range), (kind, name, "*".rjust(width))]
    return found


@pytest.mark.parametrize(("kind", "name", "value"), wrong_values())
def test_a_wrong_value_of_any_field_is_one_finding(kind, name, value, world, cef):
    cef.records[kind][STATE][2][name] = value
    cef.write()
    result = validate(world, cef)
    assert result.exit_code == 1
    (found,) = findings(result.stderr)
    assert found.startswith(f"CEF20_{kind}_{STATE}.txt: {name}: ")
    assert found.endswith("1 row breaks this rule.")
    assert "To find these rows" in result.stderr


@pytest.mark.parametrize(
    ("kind", "name"),
    [(kind, name) for kind, widths in WIDTHS.items() for name in widths],
)
def test_a_blank_field_is_wrong_unless_it_may_be_blank(kind, name, world, cef):
    optional = {f"QRACE{n}" for n in range(2, 9)} | {"QGQTYP", "HHLDRAGE", "HHSPAN", "HHLDRACE", "HHRACE", "GQSEX"}
    row = next((n for n, one in enumerate(cef.records[kind][STATE]) if not one.get("QRACE3")), 0)
    cef.records[kind][STATE][row][name] = ""
    cef.write()
    result = validate(world, cef)
    if name in optional:
        assert result.exit_code == 0, result.stderr
    else:
        assert result.exit_code == 1
        (found,) = findings(result.stderr)
        assert found.startswith(f"CEF20_{kind}_{STATE}.txt: {name}: ")


def changed(kind: str, row: int, **values: str) -> Callable[[Cef], None]:
    return lambda cef: cef.records[kind][STATE][row].update(values)


def line(kind: str, change: Callable[[bytes], bytes]) -> Callable[[Cef], None]:
    """Changes the third line of a file, which is written before."""

    def damage(cef: Cef) -> None:
        cef.write()
        lines = cef.path(kind, STATE).read_bytes().split(b"\n")
        lines[2] = change(lines[2])
        cef.path(kind, STATE).write_bytes(b"\n".join(lines))

    return damage


def householder_rows(cef: Cef) -> list[int]:
    return [row for row, one in enumerate(cef.records["PER"][STATE]) if one["RELSHIP"] == "20"]


def no_householder(cef: Cef) -> None:
    cef.records["PER"][STATE][householder_rows(cef)[0]]["RELSHIP"] = "34"


def two_householders(cef: Cef) -> None:
    people = cef.records["PER"][STATE]
    homes = {people[row]["MAFID"] for row in householder_rows(cef)}
    other = next(one for one in people if one["RELSHIP"] == "36" and one["MAFID"] in homes)
    other["RELSHIP"] = "20"


def vacant_with_people(cef: Cef) -> None:
    homes = {one["MAFID"] for one in cef.records["PER"][STATE]}
    lived_in = next(one for one in cef.records["UNIT"][STATE] if one["HHT"] != "0" and one["MAFID"] in homes)
    lived_in["HHT"] = "0"


def householder_of_group_quarters(cef: Cef) -> None:
    next(one for one in cef.records["PER"][STATE] if one["RTYPE"] == "5")["RELSHIP"] = "20"


def repeated_unit(cef: Cef) -> None:
    cef.records["UNIT"][STATE][1]["MAFID"] = cef.records["UNIT"][STATE][0]["MAFID"]


def removed(kind: str) -> Callable[[Cef], None]:
    def damage(cef: Cef) -> None:
        cef.write()
        cef.path(kind, STATE).unlink()

    return damage


def other_pair(cef: Cef) -> None:
    cef.records["PER"][STATE][0]["RTYPE"] = "5"


def lost_person(cef: Cef) -> None:
    """Somebody who isn't a householder: the unit's FINAL_POP is made to agree, so only the counts know."""
    people = cef.records["PER"][STATE]
    row = next(row for row, one in enumerate(people) if one["RELSHIP"] != "20")
    lost = people.pop(row)
    home = next(one for one in cef.records["UNIT"][STATE] if one["MAFID"] == lost["MAFID"])
    home["FINAL_POP"] = str(int(home["FINAL_POP"]) - 1)


def grfc(old: str, new: str) -> Callable[[Cef], None]:
    def damage(cef: Cef) -> None:
        cef.geography[STATE] = [row.replace(old, new) for row in cef.geography[STATE]]

    return damage


def one_oid_for_all(cef: Cef) -> None:
    rows = [row.rpartition("|")[0] for row in cef.geography[STATE]]
    cef.geography[STATE] = [f"{row}|{n // 2 + 1}" for n, row in enumerate(rows)]
    for one in cef.records["UNIT"][STATE]:
        one["OIDTB"] = "1"


def pipe_for(path_of: Callable[[Cef], Path]) -> Callable[[Cef], None]:
    def damage(cef: Cef) -> None:
        path_of(cef).unlink()
        os.mkfifo(path_of(cef))

    return damage


def gzip_cut_short(cef: Cef) -> None:
    cef.write(gzipped_lines)
    for path in (cef.folder / "records").iterdir():
        path.rename(f"{path}.gz")
    path = Path(f"{cef.path('PER', STATE)}.gz")
    path.write_bytes(path.read_bytes()[:-30])


PER, UNIT, CNT = (f"CEF20_{kind}_{STATE}.txt" for kind in ("PER", "UNIT", "CNT"))
SHAPE = "a line must have 91 characters, or 28 fields separated by |. 1 row breaks this rule."
MALFORMED: dict[str, tuple[Callable[[Cef], None], str]] = {
    "a short line": (line("PER", lambda text: text[:-1]), f"{PER}: {SHAPE}"),
    "a long line": (line("PER", lambda text: text + b" "), f"{PER}: {SHAPE}"),
    "a blank line": (line("PER", lambda _: b""), f"{PER}: {SHAPE}"),
    "a short unit": (line("UNIT", lambda text: text[1:]), f"{UNIT}: {SHAPE.replace('91', '76')}"),
    "a NUL": (line("PER", lambda text: b"\0" + text[1:]), f"{PER}: RTYPE: must be 3, 5."),
    "a NUL in a number": (line("PER", lambda text: text[:24] + b"\0" + text[25:]), f"{PER}: QAGE: must be 0 to 115."),
    "no ASCII": (line("PER", lambda text: text[:24] + b"\xd9" + text[25:]), f"{PER}: QAGE: must be 0 to 115."),
    "a carriage return inside": (line("PER", lambda text: text[:24] + b"\r" + text[25:]), f"{PER}: QAGE: must be"),
    "a line feed inside": (line("PER", lambda text: text[:40] + b"\n" + text[40:]), f"{PER}: a line must have 91"),
    "a separated line among fixed ones": (line("PER", lambda text: b"|".join([text] * 28)), f"{PER}: {SHAPE}"),
    "a unit among persons": (
        line("PER", lambda _: fixed_lines([dict.fromkeys(UNIT_WIDTHS, "2")], UNIT_WIDTHS).rstrip(b"\n")),
        f"{PER}: {SHAPE}",
    ),
    "digits apart": (changed("PER", 2, QDB="1987 105"), f"{PER}: QDB: must be 19040402 to 20200401."),
    "a code that the list doesn't have": (changed("PER", 2, QRACE1="1001"), f"{PER}: QRACE1: must be a code of the"),
    "a code after none": (changed("PER", 2, QRACE7="", QRACE8="1000"), f"{PER}: QRACE2..QRACE8: after the first"),
    "another state": (changed("PER", 2, BCUSTATEFP="01"), f"{PER}: BCUSTATEFP: must be the state of the file's"),
    "another state of a unit": (changed("UNIT", 2, BCUSTATEFP="01"), f"{UNIT}: BCUSTATEFP: must be the state of"),
    "a person without a unit": (changed("PER", 2, MAFID="899999999"), f"{PER}: MAFID: must be the MAFID of a unit of"),
    "a repeated unit": (repeated_unit, f"{UNIT}: MAFID: must belong to only one unit. 1 row breaks"),
    "a unit without a block": (changed("UNIT", 2, OIDTB="17"), f"{UNIT}: OIDTB: must be an OIDTABBLK of the GRF-C."),
    "one digit more in front": (changed("UNIT", 2, OIDTB="4" * 22), f"{UNIT}: OIDTB: must be an OIDTABBLK"),
    "a person of group quarters in a housing unit": (other_pair, f"{PER}: RTYPE: must be 3 in a housing unit"),
    "no householder": (no_householder, f"{UNIT}: HHT: an occupied housing unit must have exactly one householder. 1"),
    "two householders": (two_householders, f"{UNIT}: HHT: an occupied housing unit must have exactly one"),
    "people in a vacant unit": (vacant_with_people, f"{UNIT}: HHT: must not be 0 (vacant) in a housing unit"),
    "a householder of group quarters": (householder_of_group_quarters, f"{UNIT}: QGQTYP: group quarters must have no"),
    "a lost person": (lost_person, f"{CNT}: COUNT_PER, COUNT_PER_"),
    "a wrong count": (
        changed("CNT", 0, COUNT_UNIT_GQ="77"),
        f"{CNT}: COUNT_UNIT_GQ: does not match the number of lines",
    ),
    "counts of another state": (changed("CNT", 0, BCUSTATEFP="01"), f"{CNT}: BCUSTATEFP: must be the state"),
    "two lines of counts": (lambda cef: cef.records["CNT"][STATE].append(cef.records["CNT"][STATE][0]), f"{CNT}: it"),
    "no counts in their file": (
        lambda cef: cef.records["CNT"][STATE].clear(),
        f"{CNT}: it must have exactly one line.",
    ),
    "no persons of a state": (removed("PER"), f"reader.ini: state {STATE}: no file {PER} in the folders it names."),
    "no units of a state": (removed("UNIT"), f"reader.ini: state {STATE}: no file {UNIT} in the folders it names."),
    "a pipe for a geography": (
        pipe_for(lambda cef: cef.folder / "geography" / f"grfc_tab20_{STATE}.txt"),
        "reader.ini: grfc_dir: ",
    ),
    "a pipe for the counts": (pipe_for(lambda cef: cef.path("CNT", STATE)), f"reader.ini: state {STATE}: "),
    "an OID twice": (one_oid_for_all, "GRF-C: OIDTABBLK: "),
    "no number for an OID": (grfc("|3000", "|x000"), "grfc_tab20_44.txt: OIDTABBLK: must be a number of up to 22"),
    "gzip cut short": (gzip_cut_short, f"{PER}.gz: it is damaged, or not what its ending says."),
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_malformed_cef_is_one_finding_and_no_output(kind, world, cef, tmp_path):
    damage, expected = MALFORMED[kind]
    cef.write()
    written = {path: path.stat().st_mtime_ns for path in cef.folder.rglob("*")}
    damage(cef)
    if {path: path.stat().st_mtime_ns for path in cef.folder.rglob("*")} == written:  # the records were changed
        cef.write()
    assert only_finding(world, cef, tmp_path).startswith(expected)


def test_a_line_of_another_file_is_one_finding_among_separated_lines_too(world, cef, tmp_path):
    cef.write(piped_lines)
    lines = cef.path("PER", STATE).read_bytes().split(b"\n")
    lines[3] = cef.path("UNIT", STATE).read_bytes().split(b"\n")[0]
    cef.path("PER", STATE).write_bytes(b"\n".join(lines))
    assert only_finding(world, cef, tmp_path) == f"{PER}: RTYPE: must be 3, 5. 1 row breaks this rule."


def test_a_folder_that_does_not_exist_is_named_once(world, cef, tmp_path):
    cef.write()
    reader = cef.folder / "reader.ini"
    reader.write_text(re.sub(r"(?m)^(per_dir\w*) *=.*$", r"\1 = elsewhere", reader.read_text()))
    told = only_finding(world, cef, tmp_path)
    assert re.fullmatch(rf"reader.ini: per_dir( and per_dir_pr)?: {cef.folder / 'elsewhere'} does not exist\.", told)


@pytest.mark.parametrize("fields", [27, 29])
def test_a_separated_line_has_28_fields(fields, world, cef, tmp_path):
    cef.write(piped_lines)
    lines = cef.path("PER", STATE).read_bytes().split(b"\n")
    lines[1] = b"|".join([*lines[1].split(b"|"), b"1"][:fields])
    cef.path("PER", STATE).write_bytes(b"\n".join(lines))
    assert only_finding(world, cef, tmp_path) == f"{PER}: {SHAPE}"


def test_a_separated_field_may_not_be_longer_than_its_width(world, cef, tmp_path):
    cef.records["PER"][STATE][1]["QAGE"] = "0017"
    cef.write(piped_lines)
    assert only_finding(world, cef, tmp_path).startswith(f"{PER}: QAGE: must be 0 to 115.")


def test_blank_lines_at_the_end_are_no_lines_and_the_last_needs_no_line_end(world, cef):
    cef.write()
    for kind, end in (("PER", b"\n\r\n\n"), ("UNIT", b"")):
        path = cef.path(kind, STATE)
        path.write_bytes(path.read_bytes().rstrip(b"\n") + end)
    assert validate(world, cef).exit_code == 0


def test_line_numbers_are_for_the_confidential_log_and_values_for_nobody(world, cef, tmp_path):
    for row in (0, 4, 5):
        cef.records["PER"][STATE][row]["QAGE"] = "987"
    cef.write()
    log = tmp_path / "log"
    result = validate(world, cef, "--confidential-log", log)
    assert findings(result.stderr) == [f"{PER}: QAGE: must be 0 to 115. 3 rows break this rule."]
    assert f"Rows: {PER}, lines 1, 5, 6\n" in log.read_text()
    shown = result.output + result.stderr + log.read_text()
    assert "987" not in re.sub(r"\S+T[\d:]+\S+", "", shown)
    assert cef.records["PER"][STATE][0]["MAFID"] not in shown


def test_what_is_worth_a_look_is_a_warning(world, cef, tmp_path):
    cef.records["UNIT"][STATE][0]["FINAL_POP"] = "77"
    cef.write()
    cef.path("CNT", STATE).unlink()
    log = tmp_path / "log"
    result = validate(world, cef, "--confidential-log", log)
    assert result.exit_code == 0
    assert findings(result.stderr) == [
        f"{UNIT}: FINAL_POP: is not the number of its persons: 1 unit.",
        f"{UNIT}: there is no file of counts (CNT) beside it, so lost lines would not be noticed.",
    ]
    assert f"Rows: {UNIT}, line 1\n" in log.read_text()


def test_a_block_in_another_state_is_worth_a_look(made, cef, tmp_path):
    """Its people are tabulated where the block lies."""
    other = write_random_world(tmp_path / "other", 11, people=90, budget=1)
    other.configure(reader="cef")
    block = cef.geography["01"][0].rpartition("|")[2]
    cef.records["UNIT"][STATE][0]["OIDTB"] = block
    cef.write()
    result = validate(other, cef)
    assert result.exit_code == 0, result.stderr
    assert findings(result.stderr) == [
        f"{UNIT}: OIDTB: its block is in a state other than BCUSTATEFP: 1 unit.",
    ]
    alone = validate(made[0], cef)  # the other state is not asked for, so nobody could tabulate them
    assert alone.exit_code == 1
    assert findings(alone.stderr)[0].startswith(f"{UNIT}: OIDTB: must be an OIDTABBLK of the GRF-C.")


INI_FAULTS: dict[str, tuple[Callable[[str], str], str]] = {
    "no section": (lambda text: text.replace("[paths]", "[folders]"), "reader.ini: it must be an .ini file with a"),
    "no equals sign": (lambda text: text + "per_dir\n", "reader.ini: it must be an .ini file with a section [paths]"),
    "a single percent sign": (lambda text: text.replace("%%", "%"), "reader.ini: it must be an .ini file"),
    "no folder of persons": (lambda text: text.replace("per_dir =", "persons ="), "reader.ini: [paths]: keys missing"),
    "a bucket": (lambda text: text.replace("= ./geography", "= s3://bucket/x/"), "reader.ini: grfc_dir: must be a"),
    "a NUL in a folder": (
        lambda text: text.replace("./geography", "a\0b"),
        "reader.ini: grfc_dir: contains a NUL character",
    ),
    "a NUL in a name": (lambda text: text.replace("UNIT_", "UNIT\0"), "reader.ini: unit_file_format: contains a NUL"),
    "a name without a state": (lambda text: text.replace("UNIT_%%s", "UNIT"), "reader.ini: unit_file_format: must be"),
    "no such folder": (lambda text: text.replace("./geography", "./nowhere"), "reader.ini: grfc_dir: "),
    "no GRF-C": (
        lambda text: text.replace("./geography", "records"),
        f"reader.ini: grfc_dir: no GRF-C of state {STATE}",
    ),
}


@pytest.mark.parametrize("kind", INI_FAULTS)
def test_plan_and_validate_find_the_same_in_the_ini_file(kind, world, cef, tmp_path):
    damage, expected = INI_FAULTS[kind]
    cef.write()
    cef.ini.write_text(damage(cef.ini.read_text()))
    found = only_finding(world, cef, tmp_path)
    assert found.startswith(expected)
    planned = cli("plan", world.parameters, cef.ini)
    assert planned.exit_code == 1
    assert findings(planned.stderr) == [found]


@pytest.mark.parametrize("key", ["per_dir", "unit_dir", "grfc_dir", "pop_dir", "per_file_format", "geo_file_format"])
def test_run_and_convert_find_a_path_with_a_nul(key, world, cef, tmp_path):
    cef.write()
    others = [line for line in cef.ini.read_text().splitlines() if not line.startswith(key)]
    cef.ini.write_text("\n".join([*others, f"{key} = a\0%%s", ""]))
    for command in (["run", world.parameters, cef.ini, tmp_path / "out"], ["convert", cef.ini, tmp_path / "out"]):
        result = cli(*command)
        assert result.exit_code == 1
        assert f"{key}: contains a NUL character" in result.stderr
        assert not (tmp_path / "out").exists()


def test_the_records_are_judged_even_if_a_public_file_is_wrong(cef, tmp_path):
    other = write_random_world(tmp_path / "other", 11, people=90, budget=1)
    other.configure(reader="cef")
    (other.parameters / "race-and-ethnicity-codes.txt").write_text("RACE_ETH_CODE|RACE_ETH_NAME\nx|y\n")
    cef.records["PER"][STATE][1]["QSEX"] = "7"
    cef.write()
    found = findings(validate(other, cef).stderr)
    assert any(one.startswith("race-and-ethnicity-codes.txt: ") for one in found)
    assert f"{PER}: QSEX: must be 1 to 2. 1 row breaks this rule." in found


def test_a_wrong_line_is_found_wherever_blocks_of_bytes_end(world, cef, monkeypatch, tmp_path):
    monkeypatch.setattr(lines_module, "_BLOCK_BYTES", 100)
    cef.write()
    assert validate(world, cef).exit_code == 0
    cef.records["PER"][STATE][-1]["QSEX"] = "7"
    cef.write()
    log = tmp_path / "log"
    assert validate(world, cef, "--confidential-log", log).exit_code == 1
    assert f"line {len(cef.records['PER'][STATE])}\n" in log.read_text()
