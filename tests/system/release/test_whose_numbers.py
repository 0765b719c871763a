"""Whose numbers a release holds: about.toml, the documents of the release, and the sites of two products."""

import datetime
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import safetab
from tests.cases import cases_of
from tests.commands import cli, done
from tests.inside import (
    InvalidInput,
    LinkedSite,
    OutputStatus,
    ReadingPublication,
    as_data_package,
    citation,
    export_csv,
    open_release_folder,
    read_publication,
    write_checksums,
    write_site,
)
from tests.releases import json_of
from tests.site_files import SiteFiles
from tests.stored_formats import LATEST, PERSONS
from tests.worlds.people import EXACT
from tests.worlds.world import KEY

ABOUT = """[about]
title = "Peoples of the isles"
agency = "Stats Isles"
year = 2031
contact = "help@isles.example"
url = "https://isles.example/census"
licence = "CC-BY-4.0"
"""
STATED = ReadingPublication(
    "Peoples of the isles", "Stats Isles", "2031", "", "help@isles.example", "https://isles.example/census", "CC-BY-4.0"
)


@pytest.fixture(scope="module")
def outputs(releases, tmp_path_factory):
    """People and households of one census, and people of another."""
    folder = tmp_path_factory.mktemp("isles")
    people = PERSONS.copy(folder)
    levels = {
        f"privacy_budget_p_level_{n}_{area}": EXACT * (n - 1) for n in (1, 2) for area in ("usa", "state", "county")
    }
    people.configure(run_pr=False, **levels)
    (people.parameters / "about.toml").write_text(ABOUT)
    others = releases.people(2, people=60, budget=1).out
    return {"people": people.run(folder / "people"), "homes": LATEST / "households", "others": others}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[about]\ntitle = 'a'\n", 'about.agency: missing. Write it, for example agency = "Stats Example".'),
        (ABOUT + "licens = 'x'\n", 'about.licens: unknown key. Did you mean "licence"?'),
        (ABOUT + "cite = 3\n", "about.cite: must be a text of one line, not 3."),
        ("title = 'a'\n", "title: unknown key. about.toml holds the table [about] and nothing else."),
        ("[about\n", "line 1, column 7: not valid TOML"),
        (ABOUT.replace("isles.example/", "isles\\u001b.example/"), "about.url: must be a text of one line, not"),
    ],
)
def test_a_mistake_in_about_toml_is_named(text, sentence, tmp_path):
    (tmp_path / "about.toml").write_text(text)
    read = read_publication(tmp_path)
    assert read.value is None
    assert any(f"{finding}".startswith(sentence) for finding in read.findings), read.findings


def test_a_run_refuses_a_wrong_about_toml_and_a_second_one(tmp_path):
    world = PERSONS.copy(tmp_path / "w")
    (world.parameters / "about.toml").write_text("[about]\ntitel = 'a'\n")
    with pytest.raises(InvalidInput, match=r'about.titel: unknown key. Did you mean "title"\?'):
        safetab.run(*world, tmp_path / "out", test_key=KEY)
    (world.parameters / "census.toml").write_text("")
    beside = "about.toml lies beside it, and is for config.json. Write its keys here, in [about]."
    assert beside in cli("validate", *world).stderr


def test_it_travels_with_the_release(outputs, tmp_path):
    out = outputs["people"]
    safetab.rerelease(out, tmp_path / "again")
    export_csv(out, tmp_path / "csv")
    for folder in (out / "release", tmp_path / "again" / "release", tmp_path / "csv"):
        package = json_of(folder / "datapackage.json")
        assert (package["title"], package["homepage"]) == ("Peoples of the isles", "https://isles.example/census")
        stated = {"title": "Stats Isles", "email": "help@isles.example"}
        assert stated.items() <= package["contributors"][0].items()
        readme = (folder / "README.txt").read_text()
        assert "\nPEOPLES OF THE ISLES\n" in readme
        assert "\nPublished by: Stats Isles\nYear: 2031\nContact: help@isles.example\n" in readme
        cited = "CITING Stats Isles (2031): Peoples of the isles. Not for release (no protection), made "
        assert cited in " ".join(readme.split())
    for folder in (out, tmp_path / "again"):
        assert open_release_folder(folder).facts.publication == STATED
        report = (folder / "report.html").read_text()
        assert '<h1>Peoples of the isles</h1><p class="agency">Stats Isles, 2031</p>' in report.replace("\n", "")
        assert "Licence: CC-BY-4.0" in report
    assert "about.toml" in json_of(out / "manifest.json")["public_files"]


def test_a_release_without_it_says_so(outputs, tmp_path):
    assert open_release_folder(outputs["homes"]).facts.publication is None
    assert "The publisher is not named." in (outputs["others"] / "report.html").read_text()
    write_site(outputs["homes"], tmp_path / "site")
    said = SiteFiles(tmp_path / "site").facts["publication"]
    assert said["agencyAndYear"] == "The publisher is not named."
    assert said["citation"].startswith("Detailed race and ethnicity groups: households. The publisher is not named.")
    assert "<small>The publisher is not named.</small>" in (tmp_path / "site" / "index.html").read_text()


def test_a_citation_that_the_publisher_asks_for_keeps_the_status():
    asked = replace(STATED, cite="Stats Isles, Peoples.")
    day = datetime.date(2031, 5, 1)
    assert citation(asked, asked.title, OutputStatus.FOR_RELEASE, day) == "Stats Isles, Peoples."
    synthetic = citation(asked, asked.title, OutputStatus.SYNTHETIC, day)
    assert synthetic == "Stats Isles, Peoples. Not for release (synthetic)."


@pytest.mark.parametrize(
    ("contact", "keys"),
    [
        ("help@isles.example", {"email": "help@isles.example"}),
        ("https://isles.example/help", {"path": "https://isles.example/help"}),
        ("PO Box 7, Isles", {}),
        ("@isles on the web", {}),
    ],
)
def test_a_data_package_has_an_email_address_or_a_path(contact, keys):
    package = as_data_package(replace(STATED, contact=contact))
    assert package["contributors"] == [{"title": "Stats Isles", "roles": ["publisher"], **keys}]


def test_a_forged_agency_is_damage(outputs, tmp_path):
    release = shutil.copytree(outputs["people"] / "release", tmp_path / "release")
    package = (release / "datapackage.json").read_text()
    before, about, after = package.partition('"about"')
    for forged in ('"\\u001b[2J"', "7", "null"):
        changed = after.replace('"agency": "Stats Isles"', f'"agency": {forged}', 1)
        assert changed != after
        (release / "datapackage.json").write_text(before + about + changed)
        write_checksums(release)
        with pytest.raises(InvalidInput, match="damaged"):
            open_release_folder(release)


def test_the_sites_of_people_and_households_lead_to_each_other(outputs, tmp_path):
    (tmp_path / "a b").mkdir()
    sites = {"people": tmp_path / "people", "homes": tmp_path / "a b" / "homes"}
    for name, other in (("people", "homes"), ("homes", "people")):
        done("site", outputs[name], sites[name], "--linked", outputs[other], sites[other])
    found = {name: SiteFiles(site).facts["linked"] for name, site in sites.items()}
    assert [found[name]["address"] for name in sites] == ["../a%20b/homes/index.html", "../../people/index.html"]
    assert [found[name]["nouns"] for name in sites] == ["households", "people"]
    assert [found[name]["comesFirst"] for name in sites] == [False, True]
    assert "COUNTY" in found["people"]["levels"]
    assert found["people"]["lacks"] == []
    write_site(outputs["people"], tmp_path / "web", linked=LinkedSite(outputs["homes"], "https://isles.example/homes/"))
    assert SiteFiles(tmp_path / "web").facts["linked"]["address"] == "https://isles.example/homes/index.html"


def assert_refused(sentence, own, linked):
    with pytest.raises(InvalidInput, match=sentence):
        write_site(own, Path("site"), linked=linked)
    assert not Path("site").exists()


@pytest.mark.parametrize(
    ("own", "other", "sentence"),
    cases_of("""
        people | others | is of SafeTab-P too. Give the release of the other product of this census.
        people | people | is of SafeTab-P too
        others | homes | its areas or groups are not those of
    """),
)
def test_a_site_links_only_to_the_other_product_of_its_census(own, other, sentence, outputs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert_refused(sentence, outputs[own], LinkedSite(outputs[other], "other"))


def test_an_address_that_is_no_site_is_refused(outputs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for address, sentence in cases_of(r"""
        javascript://isles.example/%0aalert(1) | must be a folder, or an address that begins with https://
        ftp://isles.example/homes | must be a folder, or an address that begins with https://
        https://isles.example/homes?a=1 | has no \? or #
        https://isles.example/homes/#/about | has no \? or #
        here/../site | is the folder of this site. Give that of the other one.
    """):
        assert_refused(sentence, outputs["people"], LinkedSite(outputs["homes"], address))


def test_a_site_is_not_written_over_the_release_that_it_links_to(outputs, tmp_path):
    homes = tmp_path / "site" / "homes"
    shutil.copytree(outputs["homes"], homes)
    with pytest.raises(InvalidInput, match="contains files that this command reads"):
        write_site(outputs["people"], tmp_path / "site", linked=LinkedSite(homes, "other"), overwrite=True)
