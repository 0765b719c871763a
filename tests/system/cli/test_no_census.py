"""A folder without a census gets one sentence from every command that takes PARAMETERS, and a document."""

import json

import pytest

import safetab
from tests.cases import later
from tests.commands import cli, done, invalid, refused

COMMANDS = """
validate {} {data}
plan {}
plan {} {data}
run {} {data} {data}-out
lists {}
accuracy {} {data} {data}-out
compare {} {data} {data}-out
diff {} {}
explore -o {data}.html --parameters {}
tune levels --parameters {}
tune levels {}
explore {} -o {data}.html
tune margins 4 --parameters {}
official {data}.csv {data}-out --parameters {}
synthesize {data}-out --people 9000 --us --parameters {}
""".strip().splitlines()
NEITHER = "has neither census.toml nor config.json."
SENTENCES = {
    "nothing": "does not exist.",
    "file": "is a file: give its folder.",
    "empty": NEITHER,
    "capitals": f"{NEITHER} There is Census.toml: names are in small letters.",
}


@pytest.fixture
def places(tmp_path):
    for name in ("data", "empty", "capitals"):
        (tmp_path / name).mkdir()
    (tmp_path / "capitals" / "Census.toml").write_text("census = 1")
    (tmp_path / "file").write_text("census = 1")
    return tmp_path


@pytest.mark.parametrize(
    ("command", "place"),
    [
        *((command, "empty") for command in COMMANDS),
        *(("plan {}", place) for place in SENTENCES),
        *(later(command, place) for command in COMMANDS for place in SENTENCES),
    ],
)
def test_one_sentence_says_what_is_there_instead_of_a_census(command, place, places):
    words = command.format(str(places / place), str(places / place), data=places / "data").split()
    told = cli(*words, "--json")
    assert (told.exit_code, told.stderr) == (1, f"{places / place} {SENTENCES[place]}\n")
    (finding, *again) = json.loads(told.stdout)["findings"]
    assert (finding["file"], finding["message"], again[1:]) == (str(places / place), SENTENCES[place], [])


def test_parameters_of_a_study_are_an_argument_or_an_option(both_products, tmp_path):
    folder = both_products / "p" / "parameters"
    assert done("tune", "levels", folder) == done("tune", "levels", "--parameters", folder)
    for command in (["tune", "levels"], ["explore", "-o", tmp_path / "new.html"]):
        told = refused(*command, folder, "--parameters", folder, code=2)
        assert "--parameters: is given as an argument already." in told


@pytest.mark.parametrize("place", SENTENCES)
def test_python_says_the_same(place, places):
    folder, data = places / place, places / "data"
    for call, *more in (
        [safetab.plan],
        [safetab.validate, data],
        [safetab.run, data, places / "out"],
        [safetab.lists],
        [safetab.diff, folder],
    ):
        assert invalid(call, folder, *more) == f"{folder} {SENTENCES[place]}"


def test_a_file_in_place_of_data_is_told(both_products):
    records = next((both_products / "p" / "data").glob("person-records*"))
    assert f"{records} is a file: give its folder." in refused("validate", both_products / "p" / "parameters", records)
