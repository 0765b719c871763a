"""What is said when a file of a release can't be read: the machine's reason if it has one, else that it is damaged."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa

from safetab.foundation.failures import OF_THE_PATH, RunFailed, is_out_of_memory, refusal_of
from safetab.foundation.findings import Finding, InvalidInput, Severity
from safetab.foundation.text_files import why_unreadable

_OF_CONTENT = (
    pa.ArrowException, ValueError, LookupError, TypeError, AttributeError, StopIteration, RecursionError,
)  # fmt: skip


@contextmanager
def damage_told(path: Path, message: str = "is damaged. Get the release again.") -> Iterator[None]:
    """Around what reads `path`: InvalidInput with the message if its content is wrong.

    What the machine refuses is no damage: it is said as such, and RunFailed unless the path itself is at fault.
    """
    try:
        yield
    except (OSError, *_OF_CONTENT) as error:
        if is_out_of_memory(error):
            raise MemoryError from None
        refusal = error if isinstance(error, OSError) and error.errno is not None else refusal_of(error)
        if refusal is not None:
            raise _refused(path, refusal) from None
        raise _invalid(path, message) from None


def document_of(path: Path) -> str:
    """The text of a file of a release that is handed on as it is."""
    with damage_told(path):
        return path.read_text(encoding="utf-8")


def _refused(path: Path, error: OSError) -> Exception:
    where = Path(error.filename) if isinstance(error.filename, str) else path
    why = why_unreadable(where, error)
    return _invalid(path, why) if error.errno in OF_THE_PATH else RunFailed(why)


def _invalid(path: Path, message: str) -> InvalidInput:
    return InvalidInput([Finding(Severity.ERROR, str(path), "", message)])
