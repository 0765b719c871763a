"""What plan and manifest say of a specification: its public files, and records that its rules allow."""

import json
from hashlib import sha256

import pytest

from tests.cases import cases_of, values_of
from tests.commands import cli, done
from tests.inside import plan_as_json, plan_of_files, privacy_of, read_inputs, run_files, stabilities_in_words
from tests.specified.agreement import differences
from tests.specified.broken_records import CASES, SECRET
from tests.specified.judge import Judge
from tests.worlds.specified.small_world import AREAS, NZ, PEOPLE, nz_keys, of_lists, write_specification
from tests.worlds.specified.toml_text import toml_of

ALLOWED = """
{ name = "ETH1" | { constraints = { pattern = "[0-9]+" }, name = "ETH1"
where = { RESIDENT = "1" } | where = { RESIDENT = "1", ETH1 = ["11111", "12411", "21111", "31111", "33111"] }
"""
FORBIDDEN = """
{ name = "ETH | { constraints = { enum = ["11111", "21111"] }, name = "ETH
{ name = "ETH | { categories = [{ value = "31111", label = "Samoan" }], name = "ETH
{ name = "ETH1" | { constraints = { pattern = "[23].*" }, name = "ETH1"
where = { RESIDENT = "1" } | where = { ETH1 = "31111" }
key = ["SA1"] | key = ["ETH1 = SA1"]
"""


def said(folder, *edits):
    """What the plan of the changed specification says of stabilities."""
    text = NZ
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return list(stabilities_in_words(plan_of_files(*write_specification(folder, text)).require()))


@pytest.mark.parametrize("edits", [[], cases_of(ALLOWED)])
def test_a_stability_is_exact_if_a_record_may_reach_it(edits, tmp_path):
    sentences = said(tmp_path, *edits)
    assert sentences
    assert all("(stability), and in exactly 3 with the codes 11111, " in sentence for sentence in sentences)


@pytest.mark.parametrize("edit", cases_of(FORBIDDEN))
def test_a_stability_is_a_bound_if_rules_forbid_the_record(edit, tmp_path):
    sentences = said(tmp_path, edit)
    assert sentences
    bound = "is in at most 3 of the groups of an area (stability); the rules of the fields, or the areas, may forbid"
    assert all(bound in each for each in sentences)


def test_plan_and_manifest_list_both_specifications_of_a_like(tmp_path):
    lender, data = write_specification(tmp_path / "lender", nz_keys())
    own = {name: each for name, each in nz_keys().items() if name not in {"areas", "classifications", "groups"}}
    borrower = lender.parent / "borrower"
    borrower.mkdir()
    (borrower / "census.toml").write_text('like = "../parameters/census.toml"\n' + toml_of(own), "utf-8")
    paths = {"census.toml": borrower / "census.toml", "parameters/census.toml": lender / "census.toml"}
    paths |= {name: lender / name for name in ("areas.csv", "ethnicity.csv")}
    hashes = {name: sha256(path.read_bytes()).hexdigest() for name, path in paths.items()}
    assert plan_as_json(plan_of_files(borrower, data).require())["public_files"] == hashes
    run_files(borrower, data, tmp_path / "out")
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["public_files"] == hashes


def test_public_files_inside_data_are_a_warning(tmp_path):
    parameters, data = write_specification(tmp_path, NZ)
    assert "lies inside DATA" not in done("validate", parameters, data)
    printed = " ".join(done("validate", parameters.rename(data / "lists"), data).split())
    for name in ("census.toml", "areas.csv", "ethnicity.csv"):
        assert f"{name}: lies inside DATA. The guarantee does not hold if it was made from the records." in printed


@pytest.mark.parametrize("use", [{}, {"ethnicity": 2}])
def test_choices_are_written_with_the_use_that_was_given(use, tmp_path):
    keys = of_lists()
    keys["privacy"] |= {"use": use} if use else {}
    assert privacy_of(plan_of_files(*write_specification(tmp_path, keys)).require().config).use == use


def test_a_blank_line_hides_no_broken_rule(tmp_path):
    (case,) = (each for each in CASES if each.name == "an unknown category")
    parameters, data = case.write(tmp_path)
    file = data / "people.csv"
    file.write_text(file.read_text("utf-8").replace("\n", "\n\n", 2), encoding="utf-8")
    found = read_inputs(parameters, data).errors
    assert found[0].message == "blank lines are only allowed at the end: 2 inside."
    assert [one.where for one in found] == ["", "GENDER"]
    assert SECRET not in str(found)


@pytest.mark.parametrize(
    ("unread", "told"),
    values_of("""
        0 | "Everything is valid."
        1 | "Valid, with 1 warning."
    """),
)
def test_validation_ends_with_the_number_of_warnings(unread, told, tmp_path):
    keys = nz_keys()
    keys["records"]["fields"] += [{"name": "FLOOR", "type": "string"}] * unread
    people = "".join(f"{line}{',FLOOR' if n == 0 else ',3'}\n" for n, line in enumerate(PEOPLE.splitlines()))
    parameters, data = write_specification(tmp_path, keys, people if unread else PEOPLE)
    assert cli("validate", parameters, data).stdout == f"{told}\n"


def test_ids_that_lost_their_zeros_have_a_hint(tmp_path):
    areas, people = AREAS.replace("7000001", "0700001"), PEOPLE.replace("7000001", "700001")
    parameters, data = write_specification(tmp_path, nz_keys(), people, {"areas.csv": areas})
    with pytest.raises(Exception, match=r"SA1: must be listed in areas.csv, with its leading zeros\. 3 rows"):
        run_files(parameters, data, tmp_path / "out")


def test_published_totals_of_strangers_are_named_as_in_their_file(tmp_path):
    keys = nz_keys()
    keys["privacy"] |= {"selector": "published totals", "totals": "totals.csv"}
    del keys["privacy"]["stage_1"], keys["privacy"]["suppress"]
    totals = "area_level,area,group,count\nnation,NZ,1,400\nnation,NZ,nix,7\n"
    (found,) = plan_of_files(*write_specification(tmp_path, keys, files={"totals.csv": totals})).errors
    assert (found.file, found.where) == ("totals.csv", "group")
    assert found.message == "nix at nation: not in the lists of groups."


@pytest.mark.parametrize(
    ("use", "counted"),
    values_of("""
        1 | [0, 1]
        2 | [1, 1]
        3 | [2, 1]
    """),
)
def test_a_residual_code_is_an_answer_without_a_group(tmp_path, use, counted):
    """It may be followed by others, is enough where one is required, and takes one of the columns that are used."""
    keys = nz_keys(f"privacy.use.ethnicity = {use}")
    people = "".join(f"7000001,1,34,1,{answers}\n" for answers in ("99999,21111,", "94444,,", "31111,94444,21111"))
    parameters, data = write_specification(tmp_path, keys, PEOPLE.splitlines(keepends=True)[0] + people)
    assert differences(parameters, data) == []
    judge = Judge(parameters, data)
    totals = judge.totals("level 1", judge.label("nation"))
    assert [totals.get(("NZ", code), 0) for code in ("2", "3")] == counted
