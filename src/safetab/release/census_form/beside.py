"""What lies beside files that are read as published, if an export of safetab made them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from safetab.foundation.findings import FindingsOf
from safetab.outputs.manifest import NOT_FOR_RELEASE_FILE
from safetab.privacy.output_status import OutputStatus, gravest, status_that_forbids


def status_beside(files: Sequence[Path], findings: FindingsOf) -> OutputStatus:
    """The gravest status that a NOT-FOR-RELEASE beside any of the files tells; official if there is none."""
    found = []
    for folder in _folders(files):
        try:
            text = (folder / NOT_FOR_RELEASE_FILE).read_text(encoding="utf-8")
            found.append(status_that_forbids(text))
        except FileNotFoundError:
            continue
        except (OSError, ValueError):
            message = f"the {NOT_FOR_RELEASE_FILE} beside them can't be understood. Get the folder again."
            findings.error("FILES", message)
    return gravest(found) or OutputStatus.OFFICIAL


def _folders(files: Iterable[Path]) -> list[Path]:
    """Where the files lie, and where those lie that they are links to."""
    return sorted({folder for path in files for folder in (path.absolute().parent, path.resolve().parent)})
