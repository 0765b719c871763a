"""What is accepted ends in a release, what is refused costs nothing: every construct, selector and odd text."""

import json
import os
from functools import reduce
from itertools import product
from operator import getitem

import pytest

import safetab
from tests.cases import values_of
from tests.inside import NOT_UTF_8_PATH, InvalidInput
from tests.specified.test_worlds import SMALL_WORLDS
from tests.worlds.specified.changed_worlds import (
    SELECTORS,
    declared_paths,
    keys_of,
    other_keys,
    used_paths,
    with_odd_texts,
    with_one_table,
    with_selector,
    write_other_keys,
)
from tests.worlds.specified.choices import Choices
from tests.worlds.specified.random_world import write_foreign_world
from tests.worlds.specified.small_world import AREAS, CODES, nz_keys, write_specification

DEFINITIONS = ("zcdp", "puredp")
EVERY_DAY = {("zcdp", "stage 1", 0), ("puredp", "published totals", 1), ("zcdp", "none", 1)}


def released(world, out, spend_log=None):
    """Whether a run with accounts released; if not, it was refused before it spent or wrote anything."""
    log = spend_log or out.with_name("spend.log")
    try:
        safetab.run(*world, out, dataset="people", spend_log=log)
    except InvalidInput:
        assert not out.exists()
        assert states_in(log) == []
        return False
    assert states_in(log)[-1] == "released"
    return True


def states_in(log):
    """What the lines of a spend log after its first say of runs."""
    lines = log.read_text("utf-8").splitlines()[1:] if log.exists() else []
    return [json.loads(line)["state"] for line in lines]


def run_world(folder, seed, selector, families_of_one_table):
    """Run a world with a selector, of which some families have the total alone. It is released."""
    run_changed(folder, write_foreign_world(folder, seed), selector, families_of_one_table)


def run_changed(folder, world, selector, families_of_one_table):
    (world.data / "SYNTHETIC").touch()  # so that no budget is too large
    with_one_table(world, families_of_one_table)
    with_selector(world, selector, Choices(1))
    assert released(world, folder / "out")


def run_odd_world(folder, seed, oddity):
    """Whether a world with odd texts is released; if not, it is refused before it spends anything."""
    world, choose = write_foreign_world(folder, seed), Choices(oddity)
    (world.data / "SYNTHETIC").touch()
    if choose.quietly(0.3):
        with_one_table(world, choose.between(1, 3))
    with_selector(world, choose.one(SELECTORS), choose)
    with_odd_texts(world, choose)
    return released(world, folder / "out")


@pytest.mark.parametrize("selector", SELECTORS)
@pytest.mark.parametrize("is_beside_another", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_totals_alone_are_released_with_every_selector(tmp_path, selector, is_beside_another):
    keys = nz_keys("""
        tables = [{ name = "people", detail = "nothing", shapes = [{ id = "P1", label = "people", title = "Total" }] }]
        privacy.levels = [{ groups = "level 1", areas = ["nation", "ta"], budget = 1, tables = "people" }]
    """)
    keys["privacy"]["levels"][0]["tables"] = "gender and age"
    for listed in keys["tables"], keys["privacy"]["levels"]:
        del listed[: not is_beside_another]
    world = write_specification(tmp_path, keys)
    with_selector(world, selector, Choices(0))
    assert released(world, tmp_path / "out")
    of_nation = (tmp_path / "out" / "release" / "numbers" / "geography_level=nation").iterdir()
    assert "level 1-nothing" in {path.stem for path in of_nation}


def test_the_worlds_that_run_have_every_key_and_every_choice(foreign):
    keys = [keys_of(foreign(seed).parameters) for seed in SMALL_WORLDS]
    keys += [other_keys(definition) for definition in DEFINITIONS]
    used = {path for one in keys for path in used_paths(one)}
    given_by_a_test = {".like", ".privacy.totals", *(f".privacy.selector = {selector}" for selector in SELECTORS)}
    assert set(declared_paths()) - used - given_by_a_test == set()


@pytest.mark.parametrize(
    ("definition", "selector", "families_of_one_table"),
    [
        case if case in EVERY_DAY else pytest.param(*case, marks=pytest.mark.slow)
        for case in product(DEFINITIONS, SELECTORS, (0, 1))
    ],
)
def test_every_selector_runs_with_the_other_keys(tmp_path, definition, selector, families_of_one_table):
    run_changed(tmp_path, write_other_keys(tmp_path / "world", definition), selector, families_of_one_table)


def test_a_selector_runs_with_some_constructs(tmp_path):
    run_world(tmp_path, SMALL_WORLDS[0], SELECTORS[2], families_of_one_table=0)


@pytest.mark.parametrize("negatives", ["zero", "withheld"])
def test_budgets_for_which_there_is_no_group_end_in_an_empty_release(tmp_path, negatives):
    keys = nz_keys(f'groups.lists.common.areas = ["sa2"]\n privacy.negatives = "{negatives}"')
    keys["privacy"]["levels"][0]["areas"] = ["nation", "region"]
    assert released(write_specification(tmp_path, keys), tmp_path / "out")


@pytest.mark.parametrize(
    "odd",
    ["\u00a0", "\n", "\x00", *(pytest.param(o, marks=pytest.mark.slow) for o in ("\t", "\u00ad", "\u3000", "\u202e"))],
)
def test_a_code_that_is_not_printable_is_refused_before_the_charge(tmp_path, odd):
    codes = CODES.replace("12,Other", f'"1{odd}2",Other')
    world = write_specification(tmp_path, nz_keys(), files={"ethnicity.csv": codes})
    with pytest.raises(InvalidInput, match="1 value has characters that can't be printed, such as") as refused:
        safetab.validate(*world)
    assert {finding.file for finding in refused.value.findings if finding.is_error} == {"ethnicity.csv"}
    assert not released(world, tmp_path / "out")


@pytest.mark.parametrize("command", ["plan", "validate", "diff", "run"])
def test_a_heading_in_another_encoding_is_a_finding_of_every_command(tmp_path, command):
    world = write_specification(tmp_path, nz_keys())
    (world.parameters / "areas.csv").write_bytes(AREAS.replace("REGC", "REGÄ").encode("latin-1"))
    given = {"run": (*world, tmp_path / "out"), "diff": (world.parameters, world.parameters)}.get(command, world)
    with pytest.raises(InvalidInput, match="line 1 is not UTF-8 text"):
        getattr(safetab, command)(*given)


@pytest.mark.parametrize(
    ("path", "text", "message"),
    values_of(r"""
        ("about", "title") | 100_000 | "about.title: 100,000 characters; 1,000 are the most."
        ("tables", 0, "detail") | 100_000 | r"tables\[1\].detail: 100,000 characters; 100 are the most."
        ("areas", "levels", 1, "noun") | 100_000 | r"areas.levels\[2\].noun: 100,000 characters; 1,000 are the most."
        ("areas", "levels", 0, "whole") | 100_000 | r"areas.levels\[1\].whole: 100,000 characters; 1,000 are the most."
        ("areas", "levels", 0, "whole") | 65 | "an id has at most 64 bytes and no blank around it"
        ("areas", "levels", 0, "whole") | " NZ" | "an id has at most 64 bytes and no blank around it"
    """),
)
def test_a_text_of_absurd_length_and_an_id_that_is_none_are_refused(tmp_path, path, text, message):
    keys = nz_keys()
    *inside, last = path
    reduce(getitem, inside, keys)[last] = text if isinstance(text, str) else "x" * text
    with pytest.raises(InvalidInput, match=message):
        safetab.plan(*write_specification(tmp_path, keys))


def test_the_longest_detail_names_files_of_a_release(tmp_path):
    keys = nz_keys()
    keys["tables"][0]["detail"] = "y" * 100
    assert released(write_specification(tmp_path, keys), tmp_path / "out")


@pytest.mark.parametrize("place", ["out", "parameters"])
def test_a_path_that_is_not_utf_8_is_refused_before_the_charge(tmp_path, place):
    parameters, data = write_specification(tmp_path, nz_keys())
    paths = {"out": tmp_path / "out", "parameters": parameters}
    changed = tmp_path / os.fsdecode(b"h\xe9l\xe8ne")
    changed.mkdir()
    paths[place] = changed / place
    if place == "parameters":
        parameters.rename(paths[place])
    assert not released((paths["parameters"], data), paths["out"], tmp_path / "spend.log")
    with pytest.raises(InvalidInput, match=NOT_UTF_8_PATH):
        safetab.run(paths["parameters"], data, paths["out"])


def test_a_marker_that_leads_nowhere_stops_a_run(tmp_path):
    """A run that ignored it would call numbers of synthetic people fit for release."""
    world = write_specification(tmp_path, nz_keys())
    (world.data / "SYNTHETIC").symlink_to(tmp_path / "nowhere")
    for command, *out in ((safetab.validate,), (safetab.run, tmp_path / "out")):
        with pytest.raises(InvalidInput, match="SYNTHETIC is a link that leads nowhere"):
            command(*world, *out)
    (tmp_path / "nowhere").touch()
    safetab.validate(*world)


def test_the_text_of_a_refusal_can_not_steer_a_terminal(tmp_path):
    keys, totals = nz_keys(), "area_level,area,group,count\n\x1b[2Jna\u202etion\x00,NZ,1,3\n"
    keys["privacy"] |= {"selector": "published totals", "totals": "totals.csv"}
    del keys["privacy"]["stage_1"], keys["privacy"]["suppress"]
    with pytest.raises(InvalidInput) as refused:
        safetab.plan(*write_specification(tmp_path / "totals", keys, files={"totals.csv": totals}))
    (finding,) = refused.value.findings
    assert "na" in str(finding)
    assert all(letter.isprintable() or letter == "\n" for letter in f"{refused.value}{finding}")


@pytest.mark.parametrize("seed", range(4))
def test_a_run_with_odd_texts_is_released_or_refused_before_the_charge(tmp_path, seed):
    run_odd_world(tmp_path, SMALL_WORLDS[seed], seed)
