"""What a release brings for people: the report and the README, both made from the release as it is written."""

from __future__ import annotations

import shutil
from pathlib import Path

from safetab.estimates.readme_examples import readme_examples
from safetab.release.checksums import write_checksums
from safetab.release.documents import write_readme
from safetab.release.numbers.number_files import RELEASE_FOLDER
from safetab.release.release_folder import open_release_folder
from safetab.reports.report import REPORT_FILE, write_report_page


def write_documents(output: Path) -> None:
    """OUT/report.html, the same in the release, which may travel alone, the release's README, and its checksums."""
    release = output / RELEASE_FOLDER
    write_checksums(release)  # page and examples come from a release that is whole, and then belong to it
    folder = open_release_folder(release)
    write_report_page(folder, output / REPORT_FILE)
    examples = readme_examples(folder)
    shutil.copyfile(output / REPORT_FILE, release / REPORT_FILE)
    write_readme(release, folder.universe.product, folder.facts, examples)
    write_checksums(release)
