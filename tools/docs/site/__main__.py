"""Build the site into build/docs: gather pages, run the tutorial, run Sphinx, check links."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import build_main

from tools import PROJECT
from tools.docs.site.accessible import make_accessible
from tools.docs.site.checks import faults_of
from tools.docs.site.pages import write_pages

SOURCES, SITE = PROJECT / "build" / "docs-sources", PROJECT / "build" / "docs"


def main() -> int:
    for folder in (SOURCES, SITE):
        shutil.rmtree(folder, ignore_errors=True)
    faults = write_pages(PROJECT, SOURCES)
    if not faults:
        here = str(Path(__file__).parent)
        if build_main(
            [
                "-q",
                "-W",
                "--keep-going",
                "-c",
                here,
                "-d",
                str(SOURCES / ".trees"),
                str(SOURCES),
                str(SITE),
            ]
        ):
            return 1
        make_accessible(SITE)
        faults = faults_of(SITE)
    for fault in faults:
        sys.stderr.write(f"{fault}\n")
    if not faults:
        sys.stdout.write(f"Wrote {SITE.relative_to(PROJECT)}/index.html\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
