"""The release that a site or an export was made of, and the checksums of its own files."""

from __future__ import annotations

from pathlib import Path

from safetab.foundation.files import sha256_of
from safetab.foundation.findings import VERSION
from safetab.release.files.checksums import CHECKSUMS_FILE, write_checksums
from safetab.release.outputs.manifest import write_json

MADE_OF_FILE = "MADE-OF.json"
MADE_BY = "made_by"
THIS_PROGRAM = f"safetab {VERSION}"
MADE_FILES = (MADE_OF_FILE, CHECKSUMS_FILE)


def write_made_of(folder: Path, release: Path) -> None:
    """Name the program and the release in a folder, then list all files of the folder.

    The release is named by the checksum that a signature covers.
    """
    sums = release / CHECKSUMS_FILE
    # The oldest releases have none.
    signed = {CHECKSUMS_FILE: sha256_of(sums)} if sums.is_file() else {}
    write_json(folder / MADE_OF_FILE, {MADE_BY: THIS_PROGRAM, "release": {"sha256": signed}})
    write_checksums(folder)
