"""Every text file of an output speaks of its own product, with every step switched on."""

import re

import pyarrow.parquet as pq
import pytest

from tests.commands import done
from tests.system.apps.synthetic.test_words_of_a_specification import found
from tests.worlds.households import write_household_world
from tests.worlds.people import write_random_world
from tests.worlds.world import KEY

WORDS_OF_PERSONS = r"t1|t2|T0[12]\d*|T0[12]\d*_\d+\w|SafeTab-P|DHC-A|sex|sexes|ages?|age_start|age_end|AGESTART|AGEEND"
WORDS_OF_HOUSEHOLDS = (
    r"t3|t4|T0[34]\d*|T0[34]\d*_\d+\w|SafeTab-H|DHC-B|households?|householders?|tenure|rented|HOUSEHOLD_TYPE|category"
)
"""Both lists are of words that the other product has no use for. "Male" and "female" are in neither: household types are
about a male or a female householder. Nor is "people": groups are made of them, and their totals choose the tables of
households. No sentence of an output may name the other product, even where its release gave the totals."""

NO_TEXT = {".parquet", ".woff2", ".png"}
RULES = ["--rule", "clamp-negatives", "--rule", "withhold-alone-above-partner"]


def texts_of(folder):
    """Of a run, its exports, its site and its confidential log, which are all below one folder."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix not in NO_TEXT)
    return {str(path.relative_to(folder)): words_of(path) for path in files}


def words_of(path):
    """What somebody reads: names of colours and programs inside a page are none of it."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)
        text = re.sub(r' class="[^"]*"', "", text)
    return text


def made(world, folder, *options):
    folder.mkdir()
    out = folder / "out"
    accounts = ["--dataset", "census", "--spend-log", folder / "spend.log"]
    said = done("run", *world, out, "--csv", "--coterminous", *RULES, "--test-key", KEY, *accounts, *options)
    said += done("export", out, folder / "tidy")
    said += done("export", out, folder / "census", "--form", "census")
    said += done("site", out, folder / "site")
    said += done("report", out, "--output", folder / "report.html")
    (folder / "terminal.txt").write_text(said)
    return folder


def of_two_levels(world, **changes):
    """The world with budgets of two levels alone, the same for every table."""
    budgets = {key for key in world.config() if key.startswith("privacy_budget") and "_level_" in key}
    unused = {key for key in budgets if not key.endswith(("level_1_county", "level_2_state"))}
    world.configure(**dict.fromkeys(unused, 0), run_pr=False, **changes)
    return world


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    folder = tmp_path_factory.mktemp("people")
    return of_two_levels(write_random_world(folder, 21, people=60, budget=1), allow_negative_counts=True)


@pytest.fixture(scope="module")
def persons(people, tmp_path_factory):
    return made(people, tmp_path_factory.mktemp("persons") / "p")


@pytest.fixture(scope="module")
def households(people, tmp_path_factory):
    """Their tables are chosen by the totals of a release of persons."""
    folder = tmp_path_factory.mktemp("households")
    world = of_two_levels(write_household_world(folder / "world", 21, budget=0.3, people=60))
    (world.data / "pop-group-totals.txt").unlink()
    return made(world, folder / "h", "--totals", people.run(folder / "totals"))


def test_an_output_of_persons_has_no_word_of_households(persons):
    assert found(WORDS_OF_HOUSEHOLDS, texts_of(persons)) == []
    assert len(found(WORDS_OF_PERSONS, texts_of(persons))) > 100  # its own words are found where they stand


def test_an_output_of_households_has_no_word_of_persons(households):
    assert found(WORDS_OF_PERSONS, texts_of(households)) == []
    assert len(found(WORDS_OF_HOUSEHOLDS, texts_of(households))) > 100


def test_every_kind_of_text_file_is_read(persons, households):
    read = (
        "out/after-steps/README.txt out/log.txt out/manifest.json out/report.html out/release/README.txt"
        " out/release/csv/numbers/STATE.csv out/release/datapackage.json out/release/privacy.json census/README.txt"
        " census/columns.csv tidy/README.txt site/index.html site/site.js site/data/facts.js out.confidential.log"
        " report.html"
    )
    for output in (persons, households):
        assert texts_of(output).keys() >= {*read.split()}


def test_the_readme_of_tables_after_steps_names_those_of_its_product(persons, households):
    of_persons, of_households = (texts_of(one)["out/after-steps/README.txt"] for one in (persons, households))
    assert of_persons.startswith("t1 and t2 AFTER THE STEPS OF THE RELEASE\n")
    assert "These are not SafeTab-P's own tables: those are ../t1 and ../t2.\n" in of_persons
    assert of_households.startswith("t3 and t4 AFTER THE STEPS OF THE RELEASE\n")
    assert "These are not SafeTab-H's own tables: those are ../t3 and ../t4.\n" in of_households


def test_households_have_no_stage_1_total_and_their_dictionary_says_so(households):
    described = "Always null: published totals, not a noisy total of this release, chose the tables."
    assert described in texts_of(households)["out/release/datapackage.json"]
    numbers = pq.read_table(households / "out" / "release" / "numbers")
    assert numbers["stage_1_total"].null_count == numbers.num_rows > 0
