"""Want of memory is said as such, whoever runs out of it."""

import errno
import os
from pathlib import Path

import pyarrow as pa
import pytest

from tests.commands import refused
from tests.inside import (
    TEXT,
    FindingsOf,
    InvalidInput,
    RunFailed,
    damage_as_invalid_input,
    os_errors_as_run_failed,
    own_errors_logged,
    raise_if_refused_in_words,
    raise_if_the_machine_failed,
    table_files_module,
    text_form_module,
)

NO_MEMORY = [
    MemoryError(),
    pa.ArrowMemoryError("malloc of size 64 failed"),
    OSError("std::bad_alloc"),  # as Arrow says it of Parquet
    OSError(errno.ENOMEM, "Cannot allocate memory"),
    RuntimeError("can't start new thread"),
    ImportError("libarrow.so: failed to map segment from shared object"),
    pa.ArrowException("could not read: Cannot allocate memory"),
]


@pytest.mark.parametrize("error", NO_MEMORY, ids=lambda error: type(error).__name__)
def test_a_run_that_runs_out_of_memory_says_so(error):
    with pytest.raises(RunFailed, match=r"^out of memory\."), os_errors_as_run_failed(), own_errors_logged(None):
        raise error


@pytest.mark.parametrize("error", NO_MEMORY[1:4], ids=lambda error: type(error).__name__)
def test_no_file_is_called_damaged_for_want_of_memory(error, monkeypatch):
    def fail(*_):
        raise error

    findings = FindingsOf("GRF-C.txt")
    monkeypatch.setattr(text_form_module, "header_of", fail)
    with pytest.raises(MemoryError):
        list(table_files_module.batches_of(Path("GRF-C.txt"), TEXT, (), findings, []))
    assert findings.findings == ()


OF_A_NETWORK_DISK = "ESTALE ETIMEDOUT ENOTCONN EREMOTEIO EHOSTDOWN ENODEV EBUSY ECONNRESET"
REFUSALS = f"EMFILE EIO ENOSPC EINTR EROFS EDQUOT {OF_A_NETWORK_DISK}"


def told_of(error, where):
    with pytest.raises(RunFailed) as failed, where:
        raise error
    return str(failed.value)


class Told:
    """As a reader passes an error on that is the machine's."""

    def __enter__(self):
        pass

    def __exit__(self, _, error, __):
        raise_if_the_machine_failed(error)


@pytest.mark.parametrize("number", [getattr(errno, name) for name in REFUSALS.split()])
def test_what_the_machine_refuses_is_no_damage_and_no_fault_of_a_file(number):
    words = os.strerror(number)
    of_arrow = OSError(f"IOError: reading failed. Detail: {words}")  # which may have no number
    for error in OSError(number, words), of_arrow:
        assert told_of(error, damage_as_invalid_input(Path("a-file"))).startswith(f"a-file can't be read: {words}")
        told = told_of(error, Told())
        assert told.startswith(f"the operating system reported: {words}")
        assert "Nothing was written." in told


def test_a_file_that_arrow_could_not_close_is_no_damaged_one():
    error, words = OSError("error closing file"), "a file could not be closed"
    assert told_of(error, damage_as_invalid_input(Path("a-file"))).startswith(f"a-file can't be read: {words}")
    for where in Told(), os_errors_as_run_failed():
        assert told_of(error, where).startswith(f"the operating system reported: {words}. Nothing was written.")


def test_what_cant_be_read_for_its_content_is_damage():
    for error in OSError("Couldn't deserialize thrift"), pa.ArrowInvalid("no magic bytes"), ValueError("a"):
        with pytest.raises(InvalidInput, match="is damaged"), damage_as_invalid_input(Path("a-file")):
            raise error


def test_other_errors_are_the_readers():
    gone = FileNotFoundError(errno.ENOENT, "gone")
    for error in OSError("not a gzip file"), gone, pa.ArrowInvalid("x"), ValueError():
        raise_if_the_machine_failed(error)
    with pytest.raises(InvalidInput), os_errors_as_run_failed(), own_errors_logged(None):
        raise InvalidInput([])


@pytest.mark.parametrize("number", [errno.EIO, errno.EMFILE, errno.ENFILE])
@pytest.mark.parametrize("file", ["config.json", "race-and-ethnicity-codes.txt"])
def test_a_file_that_the_machine_refuses_to_read_is_not_at_fault(file, number, world, monkeypatch):
    def refusing(path, *more, **named):
        if path.name == file:
            raise OSError(number, os.strerror(number), str(path))
        return opened(path, *more, **named)

    opened = Path.open
    monkeypatch.setattr(Path, "open", refusing)
    told = f"The run failed: the operating system reported: {os.strerror(number)}. Nothing was written."
    assert refused("plan", *world, code=3) == told


def test_what_the_machine_refuses_in_words_is_no_damage():
    with pytest.raises(OSError, match="Input/output error") as refused:
        raise_if_refused_in_words(pa.ArrowException('Could not read from file "x": Input/output error'))
    assert refused.value.errno == errno.EIO
    raise_if_refused_in_words(pa.ArrowInvalid("the parser reached an invalid state"))
    raise_if_refused_in_words(pa.ArrowInvalid("corrupt snappy data"))
