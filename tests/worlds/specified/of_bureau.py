"""A parameters folder of the Bureau's as a specification: the shipped text with the folder's choices and lists."""

import re
from importlib.resources import files

from tests.inside import Choice, Members, Privacy, as_shipped, privacy_text, read_config, read_public_lists
from tests.worlds.specified.toml_text import csv_of

_LISTS = {"common": "common", "total only": "total-only", "substate only": "substate"}
_PASSES = re.compile(r"\[\[areas\.passes\]\]\n.*?\n(?=\[\[|\n)", re.DOTALL)
_WHERE = re.compile(r"where +=.*")


def as_specification(parameters, folder):
    """Write the specification of a folder with config.json; returns its folder."""
    config, lists = read_config(parameters).require(), read_public_lists(parameters).require()
    persons = folder / "safetab_p"
    persons.mkdir(parents=True)
    of_persons = _shipped("safetab_p")
    own = persons
    if config.product.name == "SafeTab-H":
        own = folder / "safetab_h"
        own.mkdir()
        (own / "census.toml").write_text(_without_privacy(_shipped("safetab_h")) + privacy_text(_privacy(config)))
        (persons / "census.toml").write_text(_with_passes(of_persons, config))
    else:
        text = _without_privacy(_with_passes(of_persons, config)) + privacy_text(_privacy(config))
        (persons / "census.toml").write_text(text)
    (persons / "codes.csv").write_text(csv_of("code,name", lists.code_names.items()), encoding="utf-8")
    rows, pairs = [], []
    for group in lists.iterations:
        classification = {"race": "race", "ethnicity": "hispanic-origin"}[group.kind.classification.name]
        listed = "" if group.listed is None else _LISTS[group.listed.name]
        members = "only" if group.kind.members is Members.ONLY else "any"
        rows.append((group.code, group.name, group.level.name.lower(), classification, members, listed))
        codes = sorted(filter(group.kind.classification.may_hold, lists.codes_of_iteration[group.code]))
        pairs += [(group.code, code) for code in codes]
    (persons / "groups.csv").write_text(csv_of("group,name,level,classification,members,list", rows), "utf-8")
    (persons / "group-codes.csv").write_text(csv_of("group,code", pairs), "utf-8")
    return own


def _shipped(name):
    return (files("safetab.model.products") / name / "census.toml").read_text("utf-8")


def _without_privacy(text):
    return text.partition("[privacy]")[0]


def _with_passes(text, config):
    """The text with the passes that run, of the states that the configuration names."""
    found = _PASSES.findall(text)
    assert [re.search(r'name +?= "(\w+)"', one)[1] for one in found] == ["us", "pr"]
    for one, which in zip(found, config.census.passes, strict=True):
        states = ", ".join(f'"{state}"' for state in config.parts_of(which))
        kept = _WHERE.sub(f"where = {{ TABBLKST = [{states}] }}", one) if which in config.passes else ""
        text = text.replace(one, kept)
    return text


def _privacy(config):
    choices = [
        Choice((of_family.family.name,), (level.iterations.name.lower(),), (level.geography.label,), budget,
               of_family.thresholds[level].totals)
        for of_family in config.families
        for level, budget in of_family.budgets.items()
        if budget > 0 and level.geography.tabulation_pass in config.passes
    ]  # fmt: skip
    is_staged = as_shipped(config.product).stage_1_key is not None
    kinds = tuple(kind.name for kind in config.census.kinds if kind.suppresses)
    return Privacy(
        definition=config.privacy_definition.spelling,
        selector="stage 1" if is_staged else "published totals",
        levels=tuple(choices),
        stage_1=config.stage_1_fraction if is_staged else None,
        suppress_chance=config.zero_suppression_chance,
        suppress_areas=kinds if config.zero_suppression_chance else (),
        negatives="kept" if config.allow_negative_counts else "zero",
        totals=config.product.totals_table,
        use={"race": config.most_answers},
    )
