"""The tours of the two shipped censuses that are not the U.S. census, from made-up people to a web site."""

import pytest

from tests.commands import done, refused
from tests.inside import PEOPLE_OF

PLACES = {"nz": ("Aldbridge District", "Samoan"), "ons": ("Norstead", "White: Irish")}

SHORT_NAMES = {"nz": ("nation", "Samoan"), "ons": ("country", "Somali")}
LONG_NAMES = {
    "nz": "Samoan, The whole country: ",
    "ons": "Black, Black British, Black Welsh, Caribbean or African: Somali, Eastmark: ",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", PEOPLE_OF)
def test_a_tour_ends_with_a_site_and_says_that_nobody_is_real(name, tmp_path, monkeypatch):
    monkeypatch.setitem(PEOPLE_OF, name, 40_000)
    out = tmp_path / "tour"
    said = " ".join(done("demo", out, "--census", name).split())
    assert "40,000 made-up people in made-up places" in said
    assert "Nobody in this census is real, and no agency published it." in said
    assert said.index("without opening a record.") < said.index("Checking the records")
    for path in ("site/index.html", "output/report.html", "output/release/README.txt", "data/SYNTHETIC"):
        assert (out / path).is_file(), path
    specification = (out / "parameters" / "census.toml").read_text()
    assert "shaped after" in specification
    assert 'agency  = "safetab, with invented people"' in specification
    assert ", ".join(reversed(PLACES[name])) in done("show", out / "output", *PLACES[name])
    assert LONG_NAMES[name] in done("show", out / "output", *SHORT_NAMES[name])
    done("demo", out, "--census", name, "--overwrite")


def test_another_name_is_wrong_usage(tmp_path):
    refused("demo", tmp_path / "tour", "--census", "mars", code=2)
