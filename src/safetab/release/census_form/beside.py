"""What lies beside files that are read as published, if an export of safetab made them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import FindingsOf
from safetab.foundation.whole_path import resolved
from safetab.outputs.manifest import NOT_FOR_RELEASE_FILE
from safetab.privacy.output_status import OutputStatus, status_that_forbids
from safetab.release.census_form.columns_file import COLUMNS_FILE, tells_of_clamping


def statuses_beside(files: Sequence[Path], findings: FindingsOf) -> list[OutputStatus]:
    """What each NOT-FOR-RELEASE beside the files tells."""
    found = []
    for folder in _folders(files):
        try:
            text = (folder / NOT_FOR_RELEASE_FILE).read_text(encoding="utf-8")
            found.append(status_that_forbids(text))
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            raise_if_the_machine_failed(error)
            message = f"the {NOT_FOR_RELEASE_FILE} beside them can't be understood. Get the folder again."
            findings.error("FILES", message)
    return found


def check_not_clamped(files: Sequence[Path], findings: FindingsOf) -> None:
    """Refuses an export whose numbers below 0 became 0: such a 0 has not the noise that its margin is of."""
    if any(tells_of_clamping(folder / COLUMNS_FILE) for folder in _folders(files)):
        findings.error(
            "FILES",
            f"the {COLUMNS_FILE} beside them says that numbers below 0 are shown as 0, so that what noise they have"
            " can't be told. Export a release that shows or withholds them.",
        )


def _folders(files: Iterable[Path]) -> list[Path]:
    """Where the files lie, and where those lie that they are links to."""
    return sorted({folder for path in files for folder in (path.absolute().parent, resolved(path).parent)})
