"""The code of docs/how-to/in-r.md, run by R, beside what safetab says of the same release. `make test-browser` runs this where R is installed."""

import re
import shutil
import subprocess

import pytest

import safetab
from tests.conftest import PROJECT
from tests.inside import write_demo_census
from tests.official_forms import KEY, done

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed"),
]

_RESULTS = """
cat(sprintf("%s %.3f %.3f\\n", c("state", "children"),
            c(sum_with_margin(rhode_island)[["sum"]], sum_with_margin(children)[["sum"]]),
            c(sum_with_margin(rhode_island)[["margin"]], sum_with_margin(children)[["margin"]])),
    file = "results.txt", sep = "")
copies <- rbind(totals[!is.na(totals$donor_geo_id), ][1, ], totals[!is.na(totals$donor_geo_id), ][1, ])
cat(sum_with_margin(copies)[["margin"]] / sum_with_margin(copies[1, ])[["margin"]], file = "copies.txt")
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where the page was run, with the release that it is about."""
    folder = tmp_path_factory.mktemp("r")
    write_demo_census(folder / "demo")
    steps = {"test_key": KEY, "coterminous": True, "order": "tract,county"}  # counties get copies of their only tract
    safetab.run(folder / "demo" / "parameters", folder / "demo" / "data", folder / "demo" / "output", **steps)
    done("export", folder / "demo" / "output", folder / "csv")
    done("export", folder / "demo" / "output", folder / "census", "--form", "census")
    page = (PROJECT / "docs" / "how-to" / "in-r.md").read_text(encoding="utf-8")
    (folder / "page.R").write_text("\n".join(re.findall(r"```r\n(.*?)```", page, re.DOTALL)) + _RESULTS)
    ran = subprocess.run(
        ["Rscript", "--vanilla", "page.R"], cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert ran.returncode == 0, ran.stderr
    (folder / "printed.txt").write_text(ran.stdout)
    return folder


def test_sums_and_margins_are_those_of_safetab(folder):
    release = safetab.open_release(folder / "demo" / "output")
    totals = release.totals(group="Dominican", level="county", within="44")
    table = release.table("44007", "Dominican", level="county")
    expected = {"state": release.sum([totals]), "children": table.count(ages=(0, 17))}
    found = dict(line.split(" ", 1) for line in (folder / "results.txt").read_text().splitlines())
    assert found.keys() == expected.keys()
    for name, estimate in expected.items():
        value, margin = map(float, found[name].split())
        assert value == estimate.value
        assert margin == pytest.approx(estimate.margin_of_error, abs=1)


def test_a_number_and_its_copy_have_twice_the_noise_of_one(folder):
    assert float((folder / "copies.txt").read_text()) == pytest.approx(2)


def test_the_picture_and_the_tables_are_there(folder):
    assert (folder / "dominican.png").read_bytes().startswith(b"\x89PNG")
    printed = (folder / "printed.txt").read_text()
    assert "European alone or in any combination" in printed
    assert "T02001_011N" in printed
