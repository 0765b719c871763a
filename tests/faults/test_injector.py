"""The tools that faults are tried with do what they say: a fault happens where it was asked for, and is seen."""

import errno
import json
import os
import stat
import subprocess
import sys

import pytest

from tests.conftest import PROJECT
from tests.faults.commands import HUNG, Ending
from tests.faults.errors import wrong_words
from tests.faults.every_command import SmallCommand, Traced
from tests.faults.injector import Fault, built_injector, compiler
from tests.faults.kills import codes_after, wrong_things
from tests.faults.run_places import RunPlaces, is_whole, spread_over
from tests.faults.suite import wrong_ending

needs_compiler = pytest.mark.skipif(compiler() is None, reason="there is no C compiler, which the fault injector needs")

_PROGRAM = """
import errno, sys
from pathlib import Path
from tests.faults.injector import Fault, Operations, arm, with_injector
with_injector(["-c", sys.argv[1], *sys.argv[1:]])
folder, at, error, sent, lasting = Path(sys.argv[2]), *map(int, sys.argv[3:7])
trace = open(sys.argv[7], "w")
second, later = map(int, sys.argv[8:10])
fault = Fault(at, error, sent, bool(lasting), second=second, later=later, kinds=Operations.CHANGES)
arm(fault, [folder], trace.fileno())
for name in "abc":
    try:
        (folder / name).write_bytes(b"x")
        (folder.parent / name).write_bytes(b"x")
        print(name)
    except OSError as failed:
        print(name, errno.errorcode[failed.errno])
"""


def _ended(folder, at, *, error=0, sent=0, lasting=0, second=0, later=0):
    (folder / "watched").mkdir()
    given = [_PROGRAM, folder / "watched", at, error, sent, lasting, folder / "trace", second, later]
    command = [sys.executable, "-c", _PROGRAM, *map(str, given)]
    return subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)


@needs_compiler
def test_an_error_is_given_at_the_operation_asked_for_and_nowhere_else(tmp_path):
    assert _ended(tmp_path, 5, error=28).stdout.splitlines() == ["a", "b ENOSPC", "c"]
    trace = (tmp_path / "trace").read_text()
    assert [line.split("\t")[1] for line in trace.splitlines()] == ["create", "write", "close"] * 3
    assert "watched/b" in trace


@needs_compiler
def test_a_lasting_error_stays(tmp_path):
    assert _ended(tmp_path, 4, error=28, lasting=1).stdout.splitlines() == ["a", "b ENOSPC", "c ENOSPC"]


@needs_compiler
@pytest.mark.parametrize(("sent", "made"), [(9, {"a"}), (2, {"a", "b"})])  # Python answers Ctrl-C after the call
def test_a_signal_is_sent_at_the_operation(sent, made, tmp_path):
    ending = _ended(tmp_path, 4, sent=sent)
    assert ending.returncode == -sent
    assert {path.name for path in (tmp_path / "watched").iterdir()} == made


@needs_compiler
@pytest.mark.parametrize(
    ("sent", "second", "later", "made"),
    [(1, 9, 0, {"a"}), (9, 1, 0, {"a"}), (28, 9, 3, {"a", "b"}), (28, 15, 0, {"a"})],  # 28 changes nothing
)
def test_a_second_signal_is_sent_so_many_operations_later(sent, second, later, made, tmp_path):
    ending = _ended(tmp_path, 4, sent=sent, second=second, later=later)
    assert ending.returncode in (-sent, -second)
    assert {path.name for path in (tmp_path / "watched").iterdir()} == made


def assert_not_loaded():
    with pytest.raises(PermissionError, match="only its owner"):
        built_injector()


@needs_compiler
def test_a_library_that_others_could_have_planted_is_not_loaded(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    library = built_injector()
    folder = library.parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert built_injector() == library
    for mode in (0o770, 0o707):
        folder.chmod(mode)
        assert_not_loaded()
    folder.chmod(0o700)
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    assert_not_loaded()


def test_what_no_command_may_do_is_seen():
    assert wrong_ending(Ending(0, "", ""), 0) == []
    assert wrong_ending(Ending(HUNG, "", ""), 0) == ["it hung"]
    assert len(wrong_ending(Ending(1, "", "Traceback (most recent call last):"), 0, 1)) == 1
    assert len(wrong_ending(Ending(-11, "", ""), 0, 1)) == 1


def said(code, words, number, *operations):
    return wrong_words(Ending(code, "", words), Fault(1, error=number), operations)


@pytest.mark.parametrize(
    "number", [errno.EIO, errno.ENOSPC, errno.EMFILE, errno.EROFS, errno.EINTR, errno.ESTALE, errno.ENOTCONN]
)
def test_a_machine_fault_that_is_told_as_damage_is_seen(number):
    reason = f"The run failed: the operating system reported: {os.strerror(number)}. Nothing was written."
    assert said(3, reason, number, "close") == []
    assert said(0, "", number, "close") == []
    assert said(1, reason, number, "close")
    assert said(3, "The run failed: something else.", number, "read")
    for words in ("is damaged. Get the release again.", "is damaged, or not what its ending says. Write it again."):
        assert said(1, words, number, "close")
        assert said(3, f"{reason} a-file {words}", number, "close")


def test_a_path_of_the_program_that_is_blamed_is_seen():
    assert said(1, "/tmp/safetab-faults-errors-x/people.csv may not be read.", errno.EACCES, "open") == []
    assert said(1, "/data/people.csv may not be read. Check its permissions.", errno.EACCES, "open") == []
    assert said(1, "/.out.partial-x/output/numbers.csv may not be read.", errno.EACCES, "open")
    assert said(1, "/tmp/safetab-persons-x/part-0 may not be read.", errno.EACCES, "open")


def test_an_interrupted_call_must_be_made_again_where_that_can_be():
    words = f"The run failed: the operating system reported: {os.strerror(errno.EINTR)}."
    assert said(3, words, errno.EINTR, "mkdir") == []
    assert said(3, words, errno.EINTR, "read")


KNOWN = Traced(SmallCommand("export", (), ()), (), before={}, after={"new": {"a.csv": True, "b.csv": True}})


def test_what_a_signal_leaves_must_be_old_or_new(tmp_path):
    def found(code):
        return wrong_things(KNOWN, tmp_path, Ending(code, "", ""))

    (tmp_path / "temporary").mkdir()
    assert found(130) == found(-9) == []
    assert found(0) == ["exit code 0, and it is not done"]
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "a.csv").write_text("1\n")
    assert len(found(-9)) == len(found(143)) - 1 == 1
    (tmp_path / "new" / "b.csv").write_text("1\n")
    assert found(0) == found(-9) == []
    assert len(found(129)) == 1
    (tmp_path / ".new.partial-x").mkdir()
    (tmp_path / "temporary" / "safetab-x").mkdir()
    assert found(-9) == []
    assert found(0) == ["left behind: ['.new.partial-x', 'temporary/safetab-x']"]


def test_two_signals_may_end_a_command_by_either():
    assert codes_after(Fault(1, signal=9, second=2)) == (0, -9, 130)
    assert codes_after(Fault(1, signal=15)) == (0, 143)


def test_half_an_output_is_not_whole(tmp_path):
    places = RunPlaces(tmp_path / "run").make()
    assert places.state() == "none"
    places.out.mkdir()
    (places.out / "manifest.json").write_text(json.dumps({"outputs": {"t1.csv": {"sha256": "0"}}, "documents": {}}))
    assert not is_whole(places.out)
    assert places.state() == "half"
    (places.temporary / "safetab-x").mkdir()
    (places.folder / "out.replaced-x").mkdir()
    assert places.left_behind() == ["out.replaced-x", "temporary/safetab-x"]


def test_every_operation_is_met_once_before_any_twice():
    for operations in (1, 2, 7, 906):
        assert sorted(spread_over(number, operations) for number in range(operations)) == list(range(1, operations + 1))
