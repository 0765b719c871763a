"""What a release brings for people: the report and the README, both made from the release as it is written."""

from __future__ import annotations

import shutil
from pathlib import Path

from safetab.estimates.readme_examples import readme_examples
from safetab.release.checksums import write_checksums
from safetab.release.documents import ReleaseFacts, write_readme
from safetab.release.numbers.number_files import RELEASE_FOLDER
from safetab.release.release_folder import ReleaseFolder
from safetab.release.release_universe import Universe
from safetab.reports.report import REPORT_FILE, write_report_page


def write_documents(output: Path, universe: Universe, facts: ReleaseFacts) -> None:
    """OUT/report.html, the same in the release, which may travel alone, the release's README, and its checksums.

    The numbers in them are those of the release's files, and what is in them of the universe is that of its files.
    """
    release = output / RELEASE_FOLDER
    folder = ReleaseFolder(release, facts, universe)
    write_report_page(folder, output / REPORT_FILE)
    examples = readme_examples(folder)
    shutil.copyfile(output / REPORT_FILE, release / REPORT_FILE)
    write_readme(release, universe.product, facts, examples)
    write_checksums(release)
