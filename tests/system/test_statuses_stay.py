"""A release that is made again says of itself what the measured release said: in every document, and not only in the log."""

from __future__ import annotations

import json
from pathlib import Path

import safetab
from tests.inside import OutputStatus, open_release_folder


def a_release_made_again_keeps_the_status(both_products: Path, folder: Path) -> None:
    for name in ("people", "households"):
        safetab.rerelease(both_products / name, folder / name, rules=["clamp-negatives"])
        assert open_release_folder(folder / name).facts.status is OutputStatus.TEST_KEY
        assert (folder / name / "NOT-FOR-RELEASE").exists()
        for document in ("log.txt", "release/README.txt"):
            said = " ".join((folder / name / document).read_text().split())
            assert OutputStatus.TEST_KEY.line in said, document
            assert OutputStatus.FOR_RELEASE.line not in said, document
        for document in ("manifest.json", "release/privacy.json", "release/datapackage.json"):
            read = json.loads((folder / name / document).read_text())
            assert (read.get("safetab") or read)["for_release"] is False, document


def test_a_release_made_again_keeps_the_status(both_products, tmp_path):
    a_release_made_again_keeps_the_status(both_products, tmp_path)
