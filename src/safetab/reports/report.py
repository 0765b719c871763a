"""The report of a release, made and written."""

from __future__ import annotations

from pathlib import Path

from safetab.findings import Finding, InvalidInput, Severity
from safetab.release.release_folder import open_release_folder
from safetab.reports.page import page_of
from safetab.reports.release_summary import release_summary

REPORT_FILE = "report.html"


def report_of(release: Path) -> str:
    """The page about OUT or OUT/release, from the release alone. Raises InvalidInput if there is none, or damaged."""
    return page_of(release_summary(open_release_folder(release)))


def report_file(release: Path, file: Path) -> None:
    """Writes the report of a release to a new file. Raises InvalidInput if that can't be done."""
    if file.exists():
        raise _refused(file, "is there already. Give another file with -o.")
    page = report_of(release)
    try:
        with file.open("x", encoding="utf-8") as opened:
            try:
                opened.write(page)
            except BaseException:
                file.unlink()
                raise
    except OSError as error:
        raise _refused(file, f"can't be written: {error.strerror or 'unknown error'}.") from None


def _refused(file: Path, message: str) -> InvalidInput:
    return InvalidInput([Finding(Severity.ERROR, str(file), "", message)])


def write_report(output: Path) -> None:
    """OUT/report.html, from OUT/release."""
    (output / REPORT_FILE).write_text(report_of(output), encoding="utf-8")
