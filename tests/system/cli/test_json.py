"""`--json` of every command: one document on standard output, whatever happens, that its schema describes exactly."""

import csv
import json
import shlex

import pytest
from jsonschema import Draft202012Validator

import safetab
from tests.cases import cases_of
from tests.cef_files import cef_of
from tests.commands import cli, raising, ran
from tests.conftest import PROJECT
from tests.faults.worlds import few_levels
from tests.inside import RunFailed, group_statuses_module, run_module, statuses
from tests.official_forms import as_published
from tests.person_forms import as_text
from tests.releases import json_of
from tests.system.apps.audit.test_audit_command import FEW, planted_parts
from tests.system.cli.test_command_line import commands_of
from tests.system.inputs.test_bad_rows import rewrite
from tests.worlds.people import write_random_world
from tests.worlds.specified.small_world import nz_keys, write_specification
from tests.worlds.world import World
from tools.docs.generated.json_schemas import json_schemas

VALIDATORS = {name: Draft202012Validator(schema) for name, schema in json_schemas().items()}
SECRET = "a value of a record"


def document_of(result):
    """The one document of standard output. Raises ValueError for anything else, and for numbers JSON lacks."""

    def refused(number):
        raise ValueError(number)

    return json.loads(result.stdout, parse_constant=refused)


def validator_of(document):
    """The schema of the document's command."""
    return VALIDATORS[f"{document['command'].replace(' ', '-')}.schema.json"]


def faults(document):
    """What the schema of the document's command says is wrong with it."""
    return [f"{error.json_path}: {error.message}" for error in validator_of(document).iter_errors(document)]


def checked(*words, code=0):
    """The document that a command prints, which its schema must accept, if the command ends with this code."""
    result = cli(*words, "--json")
    assert result.exit_code == code, result.stderr
    document = document_of(result)
    assert (document["exit_code"], faults(document)) == (code, [])
    return document


MAY_BE_ABSENT = """
family groups_with_a_published_total joint_loss loss_of_2020 loss_of_reference max_race_codes use.ethnicity protected
about_public_files stability public_files delta people product unit threshold_unit empty_groups_published rho scale sigma
cautious_threshold relative_margin_now epsilon people_per_record_at_threshold_now suppression_threshold
"""
NAMED_BY_THE_CENSUS = """
rows loss labels margins_of_error if_all_groups_are_empty stages spent limit limit_set_utc sigma left tables left_out
unbounded_epsilon_by_delta bounded_epsilon_by_delta not_tabulated joint_loss public_files loss_of_reference
"""
"""Objects whose keys are names of files, levels, passes and the like."""


def shortened(value):
    """The value with the first item of each list of objects."""
    if isinstance(value, list):
        return [shortened(one) for one in (value[:1] if value and isinstance(value[0], dict) else value)]
    return {key: shortened(one) for key, one in value.items()} if isinstance(value, dict) else value


def damaged(value, name=""):
    """Copies with one key left out, one added, or one value of another type; of a list, in its first item."""
    if isinstance(value, list) and value:
        for what, item in damaged(value[0], name):
            yield f"[0]{what}", [item, *value[1:]]
    if not isinstance(value, dict):
        yield " of another type", {"unexpected": [{}]}
        return
    if name not in NAMED_BY_THE_CENSUS.split():
        yield " with another key", value | {"unexpected": [{}]}
        for key in value.keys() - {*MAY_BE_ABSENT.split()}:
            yield f".{key} left out", {other: value[other] for other in value if other != key}
    for key, inner in value.items():
        for what, changed in damaged(inner, name if name in NAMED_BY_THE_CENSUS.split() else key):
            yield f".{key}{what}", value | {key: changed}


@pytest.fixture(scope="module")
def places(both_products, tmp_path_factory):
    """Inputs and outputs that commands are asked about, by the name that the lists of commands give them."""
    folder = tmp_path_factory.mktemp("json")
    few = write_random_world(folder / "few", 11, people=30, budget=1, privacy_defn="zcdp")
    few.configure(**few_levels(few.config()))
    cef = cef_of(few, folder / "cef")
    cef.write()
    places = {"new": folder, "nz": write_specification(folder / "nz", nz_keys())[0], "cef": cef.ini}
    for name, world in {"few": few, "p": World.of(both_products / "p"), "h": World.of(both_products / "h")}.items():
        places |= {name: world.parameters, f"{name}-data": world.data}
    return places | {name: both_products / name for name in ("people", "households")}


@pytest.fixture
def with_published(places, made_in_census_form, tmp_path):
    published = as_published(made_in_census_form.tables[0], tmp_path)
    return places | {"published": published, "official": made_in_census_form.world.parameters}


def named(words, places):
    """The words of a command with paths for names in braces."""
    return [word.format_map(places) for word in shlex.split(words)]


DONE = """
new {new}/own
synthesize {nz} --people 40
validate {few} {few-data}
plan {few} {few-data}
plan {h} {h-data} --with {p}
plan {nz}
run {few} {few-data} {new}/out --dataset us --spend-log {new}/spend.log --spend-limit 999
spend {new}/spend.log
spend {new}/spend.log --check
spend {new}/spend.log --table {new}/spend.csv
diff {few} {p}
cef convert {cef} {new}/converted
cef blocks {cef} {new}/blocks.csv
show {people} 44
show {people} county 1093
show {people} 44 1093
show {people} 44 1093 --sex female --ages 0-17
show {people} 44 1093 --table
show {people} 44 1009
show {households} 44 1014 --table --family 'household type'
status {new}/out
status {households} --level county
status {new}/out -o {new}/status.csv
report {new}/out -o {new}/report.html
export {new}/out {new}/csv
rerelease {new}/out {new}/again
compare --list
docs overview --path
sign --new-key {new}/agency
sign {new}/again --key {new}/agency --not-for-release
verify {new}/again --key {new}/agency.pub
registry {people}
lists {p}
tune table-moe
tune table-thresholds
tune levels --parameters {nz}
tune budget 'COUNTY Detailed' 11
tune threshold 'COUNTY Detailed' 9
tune threshold 'COUNTY Detailed' total
tune margins 4 --parameters {nz}
tune noise --parameters {nz}
tune codes 'COUNTY Detailed'
tune curve 'COUNTY Detailed'
""".strip().splitlines()
COSTLY = """
site {people} {new}/site
accuracy {p} {p-data} {new}/accuracy --runs 2
audit --selftest
explore -o {new}/explorer.html --parameters {nz}
official {published} {new}/official --parameters {official}
""".strip().splitlines()


def wrong_documents(asked, places):
    """What a schema says of a document, and what it does not say of one that is damaged."""
    wrong, tried = {}, set()
    for words in asked:
        document = document_of(cli(*named(words, places), "--json"))
        command, validator = document["command"], validator_of(document)
        is_answer = document["exit_code"] == 0 and words.startswith(command)
        damages = {(command, what): changed for what, changed in damaged(shortened(document))}
        accepted = [what for what in damages.keys() - tried if validator.is_valid(damages[what])]
        tried |= damages.keys()
        if found := [*faults(document), *accepted, *([] if is_answer else ["failed"])]:
            wrong[words] = found
    return wrong


def test_each_command_prints_what_its_schema_says(places):
    """And the schema rejects the document as soon as a key is missing or new, or a value has another type."""
    assert wrong_documents(DONE, places) == {}


@pytest.mark.slow
def test_each_costly_command_prints_what_its_schema_says(with_published):
    assert wrong_documents(COSTLY, with_published) == {}


def test_every_command_has_a_schema_and_takes_json():
    listed = {" ".join(words) for words in commands_of()}
    assert {schema["properties"]["command"]["const"] for schema in json_schemas().values()} == listed
    asked = "\n".join(["", *DONE, *COSTLY, ""]).replace("\n", " \n")
    assert [words for words in listed if f"\n{words} " not in asked] == ["demo"]
    for words in listed:
        assert "--json" in cli(*words.split(), "--help").output, words


OF_COMMAND = [".command left out", ".command of another type"]


def unseen(document):
    """What the schema doesn't see in damaged documents that still say their command."""
    command = {"command": document["command"]}
    return [what for what, changed in damaged(document) if not faults(changed | command)]


def test_a_failing_check_of_the_audit_ends_with_3_and_all_verdicts(monkeypatch):
    planted_parts(monkeypatch, more=(FEW,))
    document = checked("audit")
    assert unseen(shortened(document)) == OF_COMMAND
    planted_parts(monkeypatch, "x differs")
    failed = checked("audit", code=3)
    assert [verdict["result"] for verdict in failed["verdicts"]] == ["passed", "failed"]
    assert failed["failure"] == "1 audit check failed. Do not release anything with this installation."


def test_validate_lists_every_finding_with_its_rule_and_its_rows_and_no_value(tmp_path):
    world = write_random_world(tmp_path / "world", 3, people=60, budget=1)
    rewrite(world, as_text, dict.fromkeys((3, 4, 38), ("QAGE", "777")))
    document = checked("validate", *world, code=1)
    warning, *_, finding = document["findings"]  # between them: thresholds of the world lie within noise
    assert (finding["where"], finding["rows"]) == ("QAGE", 3)
    assert finding["message"] == "must be an age from 0 to 115. 3 rows break this rule."
    assert finding["message"].startswith(finding["rule"])
    assert (warning["severity"], warning["where"], warning["rows"]) == ("warning", "max_race_codes", None)
    assert "confidential-log" in document["advice"]
    assert "777" not in json.dumps(document)
    assert unseen(document) == OF_COMMAND


AT_FAULT = """
validate {p-data} {p} | the command |
plan {new} {new} | |
run {p} {p-data} {people} | {people} |
show {people} 44 nobody | {people}/release | group
status {people} --area nowhere | {people}/release |
spend {new}/no.log | {new}/no.log |
export {new} {new}/e | |
tune budget nowhere 11 | the question |
cef blocks {new}/reader.ini {new}/b.csv | |
"""


@pytest.mark.parametrize(("words", "file", "where"), cases_of(AT_FAULT))
def test_an_input_at_fault_is_exit_1_and_a_finding(words, file, where, places):
    document = checked(*named(words, places), code=1)
    finding, *_ = document["findings"]
    assert (finding["severity"], document["failure"]) == ("error", None)
    assert finding["file"] == file.format_map(places) or not file
    assert where in {finding["where"], ""}


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (RunFailed("the disk is full."), "the disk is full."),
        (MemoryError(), "out of memory"),
        (KeyError(SECRET), "an error of the program itself (KeyError, "),
    ],
)
def test_a_failed_run_is_exit_3_with_its_reason_and_no_value(error, failure, places, monkeypatch):
    monkeypatch.setattr(run_module, "run_files", raising(error))
    document = checked("run", places["p"], places["p-data"], places["new"] / "failed", code=3)
    assert failure in document["failure"]
    assert SECRET not in json.dumps(document)
    assert "written" not in document


def test_rows_before_a_damaged_place_are_still_one_document(places, monkeypatch):
    cli("status", places["people"])  # loads what would keep the replaced function for later tests

    def damaged_rows(*_):
        batches = statuses(*_)
        yield next(batches)
        raise safetab.InvalidInput.about("the release", "is damaged.")

    monkeypatch.setattr(group_statuses_module, "statuses", damaged_rows)
    document = checked("status", places["people"], code=1)
    assert len(document["groups"]) > 1
    assert document["findings"][0]["message"] == "is damaged."
    assert "status" not in document


def test_status_has_the_rows_of_csv(places):
    rows = list(csv.DictReader(cli("status", places["people"], "--csv").stdout.splitlines()))
    document = checked("status", places["people"])
    for row in rows:
        assert row["geography_level"] != "COUNTY" or row["geo_id"].endswith(row["region_id"])
    texts = {"geo_id", "donor_geo_id"}  # which spreadsheets keep
    assert [{name: text or "" for name, text in row.items()} for row in document["groups"]] == [
        {name: text for name, text in row.items() if name not in texts} for row in rows
    ]
    assert document["status"] == "test key"


def test_the_schema_refuses_an_answer_of_a_failed_command_and_an_empty_one_of_another():
    document = checked("lists", "nowhere", code=1)
    for change in ({"codes": 3}, {"exit_code": 0}, {"exit_code": 3}, {"findings": []}):
        assert faults(document | change) != []


@pytest.mark.parametrize("words", ["validate", "validate --jsn", "status x --csv"])
def test_wrong_usage_is_a_finding_about_the_command(words):
    document = checked(*words.split(), code=2)
    assert [finding["file"] for finding in document["findings"]] == ["the command"]
    assert "Error: " in cli(*words.split(), "--json").stderr


def test_a_command_that_there_is_not_prints_no_document():
    result = cli("tune", "nothing", "--json")
    assert (result.exit_code, result.stdout) == (2, "")


def test_the_program_prints_the_document_alone_and_ctrl_c_prints_none():
    """One process is forked, for the sake of what both load."""
    program = """
import os, signal
import safetab.apps.compare.presets as presets
from safetab.cli.start import main
if child := os.fork():
    assert os.waitpid(child, 0)[1] == 0
    presets.list_text = lambda: os.kill(os.getpid(), signal.SIGINT)
main()
"""
    ended = ran(program, "compare", "--list", "--json")
    assert (ended.returncode, faults(json.loads(ended.stdout))) == (130, [])


def test_a_schema_is_one_and_has_its_file():
    parts = {}
    for name in json_schemas():
        schema = json_of(PROJECT / "docs" / "schemas" / name)
        assert schema["additionalProperties"] is False
        of_schema = [*schema.pop("properties").values(), *schema.pop("allOf")]
        parts |= {json.dumps(part): part for part in of_schema}  # each once: most schemas have the same
        Draft202012Validator.check_schema(schema)
    Draft202012Validator.check_schema({"$defs": parts})


@pytest.mark.slow
def test_the_demo_and_made_up_people_print_a_document(tmp_path):
    demo = checked("demo", tmp_path / "demo", "--census", "nz")
    assert demo["pages"][0] == str(tmp_path / "demo" / "site" / "index.html")
    size = ("--us", "--people", 300, "--states", 2, "--counties", 3, "--tracts", 6, "--iterations", 40)
    assert checked("synthesize", tmp_path / "us", *size)["people"] == 300
    data = (tmp_path / "us" / "parameters", tmp_path / "us" / "data")
    document = checked("compare", *data, tmp_path / "compared", "--protection", "round:base=5", "--attack", "none")
    assert document["protections"] == ["round:base=5"]
