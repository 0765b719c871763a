"""The pages about a release that are written on request.

A command is made from each entry of the table whenever the program starts, so everything else is
imported when a page is written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from safetab.foundation.argument_types import python_function

if TYPE_CHECKING:
    from safetab.core.privacy.output_status import OutputStatus
    from safetab.release.files.release_folder import ReleaseFolder


@dataclass(frozen=True, slots=True)
class ReleasePage:
    """A page that is a function of the release folder alone."""

    name: str  # of its command, of its public function, and of the file that they write
    make: Callable[[ReleaseFolder], str]
    help: str  # of its command

    @property
    def file(self) -> str:
        """The file that is written unless another is asked for."""
        return f"{self.name}.html"

    def write(self, release: Path, file: Path, *, overwrite: bool) -> OutputStatus:
        """Write the page of a release to a file and return the status of the release.

        Raises InvalidInput if the release is damaged or the file can't be written.
        """
        from safetab.foundation.new_files import write_new_file
        from safetab.release.files.release_folder import open_release_folder

        opened = open_release_folder(release)
        opened.refuse_inside(file)

        def fill(beside: Path) -> None:
            beside.write_text(self.make(opened), encoding="utf-8")

        write_new_file(file, fill, overwrite=overwrite)
        return opened.facts.status


def _report(release: ReleaseFolder) -> str:
    from safetab.release.report.report import report_page

    return report_page(release)


PAGES = {
    page.name: page
    for page in (
        ReleasePage(
            "report",
            _report,
            """Write the report of a release: one page that needs nothing else.

            What was released, how precise it is, what it cost, and points to check.
            A run writes OUT/report.html itself; this command makes the report from a
            release that you got without the rest of OUT.
            """,
        ),
    )
}


@python_function
def report(
    path: str | Path, output: str | Path = "report.html", *, overwrite: bool = False
) -> Path:
    """Write the report of a release, one page that needs nothing else,
    as the command `safetab report` does.

    Returns the page's path. Raises `safetab.InvalidInput` if there is no release or the page
    exists.

    Args:
        path: OUT of a run, or OUT/release.
        output: The page to write.
        overwrite: Replace `output` if it exists.
    """  # noqa: D205 - users see these words
    PAGES["report"].write(Path(path), Path(output), overwrite=overwrite)
    return Path(output)
