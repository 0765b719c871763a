"""A release that is made again says of itself what the measured release said: in every document, and not only in the log."""

import json

import safetab
from tests.inside import OutputStatus, open_release_folder


def a_release_made_again_keeps_the_status(both_products, folder):
    for name in ("people", "households"):
        out = folder / name
        safetab.rerelease(both_products / name, out, rules=["clamp-negatives"])
        assert open_release_folder(out).facts.status is OutputStatus.TEST_KEY
        assert (out / "NOT-FOR-RELEASE").exists()
        for document in ("log.txt", "release/README.txt"):
            said = " ".join((out / document).read_text().split())
            assert OutputStatus.TEST_KEY.line in said, document
            assert OutputStatus.FOR_RELEASE.line not in said, document
        for document in ("manifest.json", "release/privacy.json", "release/datapackage.json"):
            read = json.loads((out / document).read_text())
            assert read.get("safetab", read)["for_release"] is False, document


def test_a_release_made_again_keeps_the_status(both_products, tmp_path):
    a_release_made_again_keeps_the_status(both_products, tmp_path)
