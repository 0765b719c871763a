"""The report of a release, made and written."""

from __future__ import annotations

from pathlib import Path

from safetab.foundation.new_file import write_new_file
from safetab.privacy.output_status import OutputStatus
from safetab.release import allowed_files
from safetab.release.release_folder import ReleaseFolder, open_release_folder
from safetab.reports.page import page_of
from safetab.reports.release_summary import release_summary

REPORT_FILE = allowed_files.REPORT_FILE


def report_file(release: Path, file: Path) -> OutputStatus:
    """Writes the report of a release to a new file; tells the release's status. Raises InvalidInput if it can't."""
    opened = open_release_folder(release)
    opened.refuse_inside(file)
    write_new_file(file, lambda beside: write_report_page(opened, beside))
    return opened.facts.status


def write_report_page(release: ReleaseFolder, file: Path) -> None:
    file.write_text(page_of(release_summary(release)), encoding="utf-8")
