"""What the machine refuses is said in words that help: which path, what was written, and nothing of the program's own."""

import errno
import logging
import os

import pytest

from tests.cases import cases_of, later
from tests.commands import done, raising, ran, refused, refusing
from tests.conftest import SMALL_EXAMPLE
from tests.inside import (
    InvalidInput,
    RunFailed,
    SpendLogFile,
    accounts_module,
    audit,
    locked_folder_module,
    log_file_module,
    new_census_module,
    new_files_module,
    output_folder_module,
    progress_module,
)
from tests.worlds.world import World

SMALL = World.of(SMALL_EXAMPLE)


FAILING = """
export | ENOSPC | write to
export | ENOENT | use
site | EDQUOT | write to
rerelease | EROFS | write to
site | ENOENT | use
rerelease | ENOENT | use
"""
"""Command, error and what can't be done; the last four at night."""


@pytest.mark.parametrize(
    ("command", "error", "failed"), [*cases_of(FAILING)[:2], *(later(*case) for case in cases_of(FAILING)[2:])]
)
def test_a_full_disk_or_a_path_that_fails_later_is_named(
    command, error, failed, both_products, new, tmp_path, monkeypatch
):
    number = getattr(errno, error)
    monkeypatch.setattr(output_folder_module, "_settle", refusing(number))
    told = refused(command, both_products / "people", new, code=3)
    assert f"can't {failed} {new}: {os.strerror(number)}. Nothing was written." in told
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_network_disk_that_went_away_is_not_the_fault_of_the_columns(ending, tmp_path, monkeypatch):
    (tmp_path / f"people.{ending}").write_text("AREA,SEX\n")
    reader = new_census_module._columns_of_header if ending == "csv" else new_census_module._footer
    monkeypatch.setattr(new_census_module, reader.__name__, refusing(errno.ENOTCONN))
    told = refused("new", tmp_path / "census", "--columns", tmp_path / f"people.{ending}", code=3)
    assert "has 1 problem" not in told
    assert os.strerror(errno.ENOTCONN) in told


def no_records(folder):
    """A folder of parameters, since a folder without any is answered before all else."""
    parameters = folder / "parameters"
    parameters.mkdir()
    (parameters / "census.toml").touch()
    return parameters


@pytest.mark.parametrize(("command", "error"), cases_of("site | ENOENT\nexport | EPERM\nrerelease | EACCES"))
def test_a_place_where_no_folder_can_be_made_is_what_was_given(command, error, both_products, tmp_path, monkeypatch):
    """As in /proc and /sys, whose permissions promise root more than they keep."""
    number = getattr(errno, error)
    monkeypatch.setattr(locked_folder_module.tempfile, "mkdtemp", refusing(number))
    told = refused(command, both_products / "people", tmp_path / "new")
    assert f"can't be made in {tmp_path}: {os.strerror(number)}. Choose another folder." in told
    assert not [*tmp_path.iterdir()]


def test_a_folder_around_out_that_is_missing_is_told_as_such(both_products, tmp_path):
    told = refused("export", both_products / "people", tmp_path / "missing" / "new")
    assert f"{tmp_path / 'missing'} does not exist. Make it first." in told


def test_a_temp_where_no_folder_can_be_made_is_refused_before_anything_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(locked_folder_module.tempfile, "mkdtemp", refusing(errno.ENOENT))
    why = f"{os.strerror(errno.ENOENT)}. Name another folder with --temp."
    told = refused("validate", no_records(tmp_path), tmp_path, "--temp", tmp_path)
    assert f"--temp: {tmp_path} can't be written to: {why}" in told


@pytest.mark.parametrize("command", ["status OUT -o", "report OUT -o", "export OUT", later("rerelease OUT")])
def test_a_folder_that_cant_be_synced_is_a_warning(command, both_products, new, monkeypatch, caplog):
    for module in (new_files_module, output_folder_module):
        monkeypatch.setattr(module, "sync_directory", refusing(errno.EIO))
    done(*command.replace("OUT", str(both_products / "people")).split(), new)
    assert new.exists()
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert caplog.messages[0].startswith(f"{new} was written, but a power failure could still lose it")


def test_a_file_system_that_syncs_no_directories_is_no_news(both_products, new, monkeypatch, caplog):
    monkeypatch.setattr(new_files_module, "sync_directory", refusing(errno.EINVAL))
    done("status", both_products / "people", "-o", new)
    assert caplog.messages == []


def test_a_long_key_is_cut(world):
    world.configure(**{"x" * 100_000: 1})
    told = refused("validate", *world)
    assert f"{'x' * 200}...:" in told
    assert len(told) < 10_000


def test_a_file_that_cant_be_closed_when_its_object_goes_is_no_traceback():
    program = """
from safetab.cli import start
from safetab.inputs import public_files
class File:
    def __init__(self, error): self.error = error
    def __del__(self): raise self.error
def plan(*_):
    File(OSError("error closing file"))
    File(LookupError("an error of the program"))
    raise OSError(5, "Input/output error")
public_files.plan_of_files = plan
start.main()
"""
    ended = ran(program, "plan", *SMALL)
    assert ended.returncode == 3
    assert "error closing file" not in ended.stderr
    assert "LookupError: an error of the program" in ended.stderr  # what is wrong in the program is still seen
    assert ended.stderr.endswith(
        "The run failed: the operating system reported: Input/output error. Nothing was written.\n"
    )


@pytest.mark.parametrize(("number", "code"), [(errno.EDQUOT, 3), (errno.EACCES, 1), (errno.EINVAL, 1)])
def test_a_confidential_log_that_is_refused_says_what_was_refused(number, code, tmp_path, monkeypatch):
    """Only a link, a pipe or a folder is answered with what the log must be."""
    monkeypatch.setattr(progress_module.os, "fchmod", refusing(number))
    parameters = no_records(tmp_path)
    shown = refused("validate", parameters, parameters, "--confidential-log", tmp_path / "log", code=code)
    assert ("must be a regular file" in shown) is (number == errno.EINVAL)
    assert (os.strerror(number) in shown) is (number != errno.EINVAL)


def test_a_quota_on_the_disk_of_the_spend_log_names_the_log(tmp_path, monkeypatch):
    log = tmp_path / "spend.log"
    file = SpendLogFile(log, may_create=True)
    monkeypatch.setattr(log_file_module.os, "fsync", refusing(errno.EDQUOT))
    with file.locked() as content, pytest.raises(RunFailed) as failed:
        file.append(content, [])
    file.close()
    assert str(failed.value) == f"{log} can't be written: the operating system reported: {os.strerror(errno.EDQUOT)}."


@pytest.mark.parametrize("kind", ["machine", "path", "input"])
def test_a_merged_log_that_is_written_is_the_end_whatever_follows(kind, tmp_path, monkeypatch):
    logs = [tmp_path / "one.log", tmp_path / "two.log"]
    for log in logs:
        SpendLogFile(log, may_create=True).close()
    errors = {
        "machine": OSError(errno.ESTALE, os.strerror(errno.ESTALE)),
        "path": PermissionError(errno.EACCES, os.strerror(errno.EACCES), "new.log"),
        "input": InvalidInput.about(tmp_path / "new.log", "can't be opened."),
    }

    monkeypatch.setattr(accounts_module, "read_accounts", raising(errors[kind]))
    done("spend", logs[0], "--merge", logs[1], "--output", tmp_path / "new.log")
    assert (tmp_path / "new.log").is_file()


@pytest.mark.parametrize("is_own", [True, False])
def test_what_the_program_has_just_written_is_nobodys_mistake(is_own, tmp_path):
    """A refusal to read it names no path that is gone by then as an input."""
    refused = pytest.raises(RunFailed if is_own else InvalidInput, match="may not be read")
    with refused as failed, output_folder_module.whole_output(tmp_path / "out", overwrite=False) as made:
        raise InvalidInput.about(made / "numbers.csv" if is_own else tmp_path / "people.csv", "may not be read.")
    assert ".partial-" not in str(failed.value)
    assert not [*tmp_path.iterdir()]


def test_what_a_killed_audit_left_is_removed_by_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(locked_folder_module.tempfile, "tempdir", str(tmp_path))
    left = tmp_path / "safetab-audit-abc"
    left.mkdir()
    (left / ".safetab-lock").touch()
    (left / "0").mkdir()
    assert list(audit(())) == []
    assert not [*tmp_path.iterdir()]
