"""Releases that several modules look at, made once."""

import json

import pytest

from safetab import open_release
from tests.cef_files import write_cef
from tests.official_forms import (
    as_api_answer,
    as_bulk,
    as_download,
    as_published,
    read_again,
    rows_of,
    write_persons,
)
from tests.worlds.people import no_budgets_but


@pytest.fixture(scope="session")
def release(demo_out):
    return open_release(demo_out)


@pytest.fixture(scope="session")
def households(household_run):
    return open_release(household_run.out)


@pytest.fixture
def cef(world, tmp_path):
    return write_cef(world, tmp_path / "cef")


@pytest.fixture
def out(tmp_path):
    """Where a command writes its output; nothing is there yet."""
    return tmp_path / "out"


@pytest.fixture
def new(tmp_path):
    """As `out`, for what is made of an output."""
    return tmp_path / "new"


@pytest.fixture(scope="session")
def made_in_census_form(tmp_path_factory):
    return write_persons(tmp_path_factory.mktemp("census") / "world")


@pytest.fixture(scope="session")
def official_whole(made_in_census_form, tmp_path_factory):
    """All tables, read as whole ones, with nothing in them or beside them that tells who made them."""
    folder = tmp_path_factory.mktemp("official")
    files = [as_published(one, folder) for one in made_in_census_form.tables]
    read_again(made_in_census_form, folder / "whole", "--complete", files=files)
    return folder / "whole"


@pytest.fixture(scope="session")
def official_totals(made_in_census_form, tmp_path_factory):
    """T01001 alone, in the three forms: nation, states and counties from the API, tracts in bulk, and a download."""
    made, folder = made_in_census_form, tmp_path_factory.mktemp("totals")
    rows = rows_of(made.census / "T01001.csv")
    of_level = {one: [row for row in rows if row["GEO_ID"].startswith(one)] for one in ("010", "040", "050", "140")}
    for name, number in zip(("us", "state", "county"), of_level, strict=False):
        (folder / f"{name}.json").write_text(as_api_answer(of_level[number], name))
    (folder / "bulk.csv").write_bytes(as_bulk(of_level["140"]))
    rest = [row for row in rows if row["GEO_ID"][:3] not in of_level]
    assert rest
    (folder / "download.csv").write_bytes(as_download(rest))
    files = [folder / name for name in ["us.json", "state.json", "county.json", "bulk.csv", "download.csv"]]
    read_again(made, folder / "new", "--geography", made.world.data / "GRF-C.txt", files=files)
    return folder / "new"


FEW = no_budgets_but("1_usa", "2_usa", "2_state", "1_county", "2_county", "2_tract", "2_pr_state", "2_pr_tract")
VARIANTS = {
    "zcdp": """
        "seed": 2,
        "budget": 2,
        "privacy_budget_p_level_1_usa": 2,
        "privacy_budget_p_level_1_county": 2,
        "privacy_defn": "zcdp",
        "allow_negative_counts": true,
        "zero_suppression_chance": 0.99
    """,
    "pure dp, clamped": """
        "seed": 4,
        "budget": 3,
        "privacy_budget_p_level_2_usa": 3,
        "privacy_defn": "puredp",
        "allow_negative_counts": false,
        "zero_suppression_chance": 0.9,
        "state_filter_us": ["44"],
        "run": {"confidence": "0.9"}
    """,
    "no suppression": """
        "seed": 9,
        "budget": 2,
        "privacy_defn": "zcdp",
        "allow_negative_counts": false,
        "zero_suppression_chance": 0,
        "state_filter_us": ["44"]
    """,
}


def released(releases, settings):
    return releases.people(people=200, **FEW, **json.loads(f"{{{settings}}}"))


@pytest.fixture(scope="session", params=VARIANTS.values(), ids=VARIANTS)
def variant(request, releases):
    """Releases that differ in what decides their margins and intervals."""
    return released(releases, request.param)


@pytest.fixture(scope="session")
def plain(releases):
    """The first of these."""
    return released(releases, VARIANTS["zcdp"])
