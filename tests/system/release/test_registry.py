"""`safetab registry` writes an entry for the public registry of deployments: valid, and clear about what a person must add."""

import json
from functools import cache
from pathlib import Path

import jsonschema
import pytest
import yaml

import safetab
from tests.commands import cli, done, refused
from tests.conftest import SHARED
from tests.specified.released_world import SPECIFICATION, released
from tests.stored_formats import STORED, stored

KINDS = ("persons", "households", "official")
PERSONS = STORED / "format-1" / "persons"
SCHEMA = json.loads(Path(__file__).with_name("schema_of_entries.json").read_text())
"""What the registry's schema says of the fields that entries use."""
SECTIONS = {"basic", "dp_variant", "privacy_loss", "deployment_model", "accounting", "implementation", "administrative"}


@cache
def text_of(path):
    return safetab.registry(path)


def entry_of(path):
    return yaml.safe_load(text_of(path))


@pytest.mark.parametrize("kind", KINDS)
def test_an_entry_has_every_section_says_what_to_add_and_fits_the_registrys_schema(kind):
    for path in stored(kind):
        entry = entry_of(path)
        assert (entry["status"], entry["tier"], set(entry["deployment"])) == ("Draft", 3, SECTIONS)
        assert entry["deployment"]["basic"]["intended_use"].startswith("ADD: ")
        assert entry["deployment"]["administrative"]["registry_authors"] == ["ADD: who fills in this entry"]
        assert "{" not in text_of(path)
        jsonschema.validate(entry, SCHEMA)


def test_the_loss_and_the_unit_are_those_of_the_release():
    people, homes = (entry_of(STORED / "format-1" / name)["deployment"] for name in ("persons", "households"))
    assert people["dp_variant"]["variant_name"] == "Zero-concentrated DP"
    assert people["privacy_loss"]["privacy_parameters"] == {"rho": 1.2}
    details = people["privacy_loss"]["privacy_parameters_details"]
    assert "rho is for unbounded neighbours: 1.2. For bounded neighbours it is 2.4." in details
    assert "As (epsilon, delta): 11.1162 at delta 1e-10 (bounded: 16.5255), rounded up." in details
    assert "(COUNTY, Detailed) 0.2" in details
    of_homes = homes["privacy_loss"]["privacy_parameters_details"]
    levels = of_homes.split("Budgets of the levels: ")[1].split("; ")
    assert len(set(levels)) == len(levels) == 2 * len({level.split(")")[0] for level in levels})
    assert people["privacy_loss"]["privacy_unit"] == "one person: a record of the person file"
    assert homes["privacy_loss"]["privacy_unit"] == "one household: a record of the household file"
    assert "Published totals that choose the tables of groups: yes" in homes["dp_variant"]["unprotected_quantities"]
    assert "Published totals" not in people["dp_variant"]["unprotected_quantities"]
    assert "Curator: the publisher. It holds the records, runs" in people["deployment_model"]["actors"]
    assert "Noise: discrete Gaussian, sigma_squared = stability / (2 budget)" in people["implementation"]["mechanisms"]


def test_what_is_not_for_release_says_so_first():
    text = text_of(PERSONS)
    assert text.startswith("# Status: test key. Not for release")
    assert "Don't register it.\nurl_slug: " in text


def test_the_command_prints_an_entry_or_writes_a_file(tmp_path):
    file, text = tmp_path / "entry.yaml", text_of(PERSONS)
    assert cli("registry", PERSONS).stdout == text
    assert "places say ADD:, for you to fill in." in done("registry", PERSONS, "-o", file)
    assert file.read_text() == text
    refused("registry", tmp_path)


def test_the_entry_of_a_specification_has_its_words(tmp_path):
    out = released(tmp_path, text=SPECIFICATION.replace('definition = "zcdp"', 'definition = "puredp"')).out
    entry = entry_of(out)["deployment"]
    assert entry["basic"]["name"] == "Languages of Atlantis, a made-up census"
    assert entry["basic"]["data_curators"] == ["The Office of Nowhere"]
    assert entry["dp_variant"]["variant_name"] == "Pure DP"
    assert set(entry["privacy_loss"]["privacy_parameters"]) == {"epsilon"}
    assert "the same epsilon, with delta 0" in entry["privacy_loss"]["privacy_parameters_details"]
    assert "islander" in entry["privacy_loss"]["privacy_unit"]
    assert "- https://nowhere.example\n" in entry["administrative"]["sources"]
    assert entry_of(out)["url_slug"] == "languages-of-atlantis-a-made-up-census-the-office-of-nowhere-2031"


@pytest.mark.needs_2020_files
@pytest.mark.parametrize("kind", KINDS)
def test_an_entry_is_valid_by_the_registrys_own_schema(kind):
    schema = yaml.safe_load((SHARED / "registry" / "deployments-schema.yaml").read_text())
    jsonschema.validate(entry_of(STORED / "format-1" / kind), schema)
