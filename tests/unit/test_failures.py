"""Want of memory is said as such, whoever runs out of it."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from tests.conftest import World
from typer.testing import CliRunner

from safetab.cli.main import app
from safetab.foundation.failures import RunFailed, raise_if_the_machine_failed
from safetab.foundation.findings import FindingsOf, InvalidInput
from safetab.pipeline.guards import os_errors_as_run_failed, own_errors_logged
from safetab.readers import geography_batches
from safetab.readers.table_files import TableForm

NO_MEMORY = [
    MemoryError(),
    pa.ArrowMemoryError("malloc of size 64 failed"),
    OSError("std::bad_alloc"),  # as Arrow says it of Parquet
    OSError(errno.ENOMEM, "Cannot allocate memory"),
    RuntimeError("can't start new thread"),
    ImportError("libarrow.so: failed to map segment from shared object"),
    duckdb.IOException("could not read: Cannot allocate memory"),
]


@pytest.mark.parametrize("error", NO_MEMORY, ids=lambda error: type(error).__name__)
def test_a_run_that_runs_out_of_memory_says_so(error: Exception) -> None:
    with pytest.raises(RunFailed, match=r"^out of memory\."), os_errors_as_run_failed(), own_errors_logged(None):
        raise error


@pytest.mark.parametrize("error", NO_MEMORY[1:4], ids=lambda error: type(error).__name__)
def test_no_file_is_called_damaged_for_want_of_memory(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise error

    findings = FindingsOf("GRF-C.txt")
    monkeypatch.setattr(geography_batches, "_text_batches", fail)
    with pytest.raises(MemoryError):
        list(geography_batches.batches_of(Path("GRF-C.txt"), TableForm.TEXT, (), findings, []))
    assert findings.findings == ()


@pytest.mark.parametrize("number", [errno.EMFILE, errno.EIO, errno.ENOSPC])
def test_what_the_machine_refuses_is_no_fault_of_a_file(number: int) -> None:
    with pytest.raises(RunFailed, match=r"the machine refused: as it is\. Nothing was written\."):
        raise_if_the_machine_failed(OSError(number, "as it is"))


@pytest.mark.parametrize(
    "error", [OSError("not a gzip file"), FileNotFoundError(errno.ENOENT, "gone"), pa.ArrowInvalid("x"), ValueError()]
)
def test_other_errors_are_the_readers(error: Exception) -> None:
    raise_if_the_machine_failed(error)


def test_what_was_given_stays_at_fault() -> None:
    with pytest.raises(InvalidInput), os_errors_as_run_failed(), own_errors_logged(None):
        raise InvalidInput([])


@pytest.mark.parametrize("number", [errno.EIO, errno.EMFILE, errno.ENFILE])
@pytest.mark.parametrize("file", ["config.json", "race-and-ethnicity-codes.txt"])
def test_a_file_that_the_machine_refuses_to_read_is_not_at_fault(
    file: str, number: int, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(path: Path, *more: Any, **named: Any) -> Any:
        if path.name == file:
            raise OSError(number, os.strerror(number), str(path))
        return opened(path, *more, **named)

    opened = Path.open
    monkeypatch.setattr(Path, "open", refusing)
    ended = CliRunner().invoke(app, ["plan", str(world.parameters), str(world.data)])
    assert (ended.exit_code, ended.stderr) == (
        3, f"The run failed: the machine refused: {os.strerror(number)}. Nothing was written.\n"
    )  # fmt: skip
