"""The parameters folders of a synthetic census.

They have config.json, the four public lists and about.toml. They are made for lists of the census's
own, with about the proportions of the 2020 lists, or taken over from parameters that somebody gave.
The parameters of households are derived from those of people.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from safetab.apps.synthetic.seeded_bits import apportioned
from safetab.foundation.files import read_text
from safetab.foundation.findings import Checked, FindingsOf
from safetab.foundation.templates import template, template_texts
from safetab.inputs.bureau import public_lists
from safetab.inputs.configuration import read_config
from safetab.inputs.readers.delimited import SEPARATOR
from safetab.inputs.tuning.tuning import PRODUCTION, presets
from safetab.model.census.census import PopulationGroupLevel
from safetab.model.census.groups import CharacteristicIteration, GroupLevel, GroupList, PublicLists
from safetab.model.config.run_config import (
    CONFIG_FILE,
    ReaderKind,
    budget_key,
    measured_levels,
    threshold_key,
)
from safetab.model.products.all_products import as_shipped
from safetab.model.products.bureau_columns import RACE, RACE_COLUMNS
from safetab.model.products.safetab_h.safetab_h import HOUSEHOLD_TYPE, SAFETAB_H, TENURE
from safetab.model.products.safetab_p.safetab_p import PERSONS, SAFETAB_P
from safetab.model.specification.reading import ABOUT_FILE
from safetab.model.us.us_census import (
    COMMON,
    DETAILED,
    ETHNICITY_KIND,
    MAJOR,
    RACE_ALONE,
    RACE_IN_COMBINATION,
    REGIONAL,
    TOTAL_ONLY,
    US,
)

HOUSEHOLD_PARAMETERS = "household-parameters"
"""The folder of the parameters with which households are tabulated."""

_ABOUT = """\
[about]
title   = "Race and ethnicity groups of a synthetic census"
agency  = "safetab, with invented people"
source  = "Synthetic records made by safetab. Nobody in them exists, even where the places do."
licence = "CC0 1.0 (public domain)"
"""
_FLAGS = {None: "Null|Null"} | {
    listed: SEPARATOR.join(flags) for flags, listed in public_lists.LISTS.items()
}
_NUMBER_MARK = "\ue000"  # a character that no configuration uses
_MARKED_NUMBER = re.compile(f'"{_NUMBER_MARK}([^"]*)"')
_SHARED_KEYS = (
    "max_race_codes allow_negative_counts run_us run_pr state_filter_us reader privacy_defn"
)


def write_lines(path: Path, lines: Iterable[str]) -> None:
    """Write UTF-8 lines that end in a line feed, so the bytes are the same on every system."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def write_parameters(
    folder: Path, lists: PublicLists, us_states: Iterable[str], reader: ReaderKind = ReaderKind.CSV
) -> None:
    """Write the configuration of the demo and these lists into an existing folder."""
    write_lines(folder / CONFIG_FILE, [json.dumps(_demo_config(us_states, reader), indent=2)])
    write_lines(folder / ABOUT_FILE, _ABOUT.splitlines())
    _write_lists(folder, lists)


def write_new_parameters(folder: Path, name: str, *, households: bool) -> None:
    """Write parameters to start from.

    They are the choices of 2020, short made-up lists, and a README that explains them.
    """
    product = SAFETAB_H if households else SAFETAB_P
    write_lines(folder / CONFIG_FILE, presets(product)[PRODUCTION].splitlines())
    _write_lists(folder, own_public_lists(FEWEST_ITERATIONS))
    commands = template_texts("new_parameters/commands.toml")[
        "households" if households else "people"
    ]
    values = {"folder": name, "commands": commands.strip().format(folder=name)}
    for file in ("README.md", ABOUT_FILE):
        text = Template(template(f"new_parameters/{file}")).substitute(values)
        write_lines(folder / file, text.splitlines())


def _write_lists(folder: Path, lists: PublicLists) -> None:
    codes = (f"{code}|{name}" for code, name in sorted(lists.code_names.items()))
    write_lines(folder / public_lists.CODES_FILE, ["RACE_ETH_CODE|RACE_ETH_NAME", *codes])
    races = list[str]()
    ethnicities = list[str]()
    pairs = list[str]()
    for iteration in lists.iterations:
        is_ethnicity = iteration.kind == ETHNICITY_KIND
        alone = "" if is_ethnicity else f"|{iteration.kind == RACE_ALONE}"
        row = (
            f"{iteration.code}|{iteration.name}|{iteration.level.number}{alone}"
            f"|{_FLAGS[iteration.listed]}"
        )
        (ethnicities if is_ethnicity else races).append(row)
        pairs += [
            f"{iteration.code}|{code}" for code in sorted(lists.codes_of_iteration[iteration.code])
        ]
    race_header = "ITERATION_CODE|ITERATION_NAME|LEVEL|ALONE|DETAILED_ONLY|COARSE_ONLY"
    write_lines(folder / public_lists.RACE_ITERATIONS_FILE, [race_header, *races])
    write_lines(
        folder / public_lists.ETHNICITY_ITERATIONS_FILE,
        [race_header.replace("|ALONE", ""), *ethnicities],
    )
    write_lines(folder / public_lists.ASSIGNMENTS_FILE, ["ITERATION_CODE|RACE_ETH_CODE", *pairs])


def _demo_config(us_states: Iterable[str], reader: ReaderKind) -> dict[str, Any]:
    """The budgets of 2020, with thresholds so low that 200,000 people get all four tables."""
    levels = US.levels
    return {
        "privacy_defn": "zcdp",
        "run_us": True,
        "run_pr": True,
        "state_filter_us": list(us_states),
        "reader": reader.value,
        "max_race_codes": len(RACE_COLUMNS),
        **{budget_key(SAFETAB_P, PERSONS, level): _chosen(level).persons for level in levels},
        "privacy_budget_p_stage_1_fraction": 0.1,
        "thresholds_p": {threshold_key(level): _chosen(level).thresholds for level in levels},
        "zero_suppression_chance": 0.9999,
        "allow_negative_counts": True,
    }


class _Choices(NamedTuple):
    """The budgets of 2020, and thresholds well above the noise of stage 1.

    So an empty group gets only a total.
    """

    persons: float
    households: float
    thresholds: tuple[int, ...]


def _chosen(level: PopulationGroupLevel) -> _Choices:
    if level.iterations == REGIONAL:
        return _Choices(
            0 if level.geography == US.area_level("AIANNH") else 0.008, 0.006915, (600, 2000, 8000)
        )
    if level.geography.kind.suppresses:
        return _Choices(0.159, 0.142869, (150, 500, 2000))
    return _Choices(2.134, 1.9208, (100, 300, 2000))


def read_given_parameters(parameters: Path) -> Checked[tuple[PublicLists, int]]:
    """The lists and max_race_codes of a parameters folder, and every finding about it."""
    config = read_config(parameters)
    lists = public_lists.read_lists(parameters)
    findings = FindingsOf(public_lists.CODES_FILE)
    if lists.value is not None and not any(map(RACE.may_hold, lists.value.code_names)):
        findings.error(
            "RACE_ETH_CODE", "lists no code from 1000 to 8999, so nobody could report a race."
        )
    found = config.findings + lists.findings + findings.findings
    if config.value is None or lists.value is None or findings.has_errors:
        return Checked(None, found)
    return Checked((lists.value, config.value.most_answers), found)


def write_given_parameters(
    folder: Path, parameters: Path, us_states: Iterable[str], reader: ReaderKind
) -> None:
    """Copy given parameters into a new folder, for these states and this reader.

    The lists are copied byte for byte, and about.toml says that the people are synthetic. The
    configuration keeps the passes that run: people are made for both passes anyway.
    """
    folder.mkdir()
    for path in public_lists.paths_of_lists(parameters):
        shutil.copyfile(path, folder / path.name)
    write_lines(folder / ABOUT_FILE, _ABOUT.splitlines())
    # numbers keep their spelling: a budget is an exact decimal
    text = read_text(parameters / CONFIG_FILE)
    config = json.loads(text, parse_float=lambda number: _NUMBER_MARK + number)
    config |= {"reader": reader.value, "state_filter_us": list(us_states)}
    spelled = json.dumps(config, indent=2, ensure_ascii=False)
    write_lines(folder / CONFIG_FILE, [_MARKED_NUMBER.sub(r"\1", spelled)])


def write_household_parameters(folder: Path, parameters: Path) -> None:
    """Write the parameters of household tables into a new folder.

    They have the same lists, the budgets of 2020, and the thresholds of the people, whose totals
    also choose the household tables.
    """
    folder.mkdir()
    for path in parameters.iterdir():
        if path.name != CONFIG_FILE:
            shutil.copyfile(path, folder / path.name)
    config = json.loads((parameters / CONFIG_FILE).read_text(encoding="utf-8"))
    thresholds = config[as_shipped(SAFETAB_P).family_keys[PERSONS.name].thresholds]
    measured = measured_levels(SAFETAB_H, US.levels)
    # people without a budget have households without one
    measured_people = {
        level for level in US.levels if config[budget_key(SAFETAB_P, PERSONS, level)]
    }
    budgets = {
        budget_key(SAFETAB_H, family, level): _chosen(level).households
        if level in measured_people
        else 0
        for family, level in measured
    }
    first_thresholds = {level: of_level[:1] for level, of_level in thresholds.items()}
    of_keys = as_shipped(SAFETAB_H).family_keys
    of_households = {
        **{key: config[key] for key in _SHARED_KEYS.split()},
        **budgets,
        of_keys[HOUSEHOLD_TYPE.name].thresholds: thresholds,
        of_keys[TENURE.name].thresholds: first_thresholds,
    }
    write_lines(folder / CONFIG_FILE, [json.dumps(of_households, indent=2)])


FEWEST_ITERATIONS = 40
MOST_ITERATIONS = 8_000
ITERATIONS_OF_2020 = 2_996
NOT_HISPANIC = "9950"
"""The code of people who are not Hispanic."""

_ETHNICITIES_PER_MILLE = 12
_REGIONS_PER_MILLE = 17
_TOTAL_ONLY_EVERY = 4  # every fourth Detailed group has only a total, at nation and state level
_TWO_CODES_EVERY = 5  # every fifth Detailed group has two codes


@dataclass(frozen=True, slots=True)
class ListedGroup:
    """An iteration before it has a kind and a code of its own."""

    name: str
    level: GroupLevel
    listed: GroupList | None
    codes: tuple[str, ...]


def public_lists_of(
    code_names: Mapping[str, str], races: Sequence[ListedGroup], ethnicities: Sequence[ListedGroup]
) -> PublicLists:
    """The lists of these codes and groups. Iterations are numbered from 1001 on."""
    groups_of_kind = (
        (RACE_ALONE, " alone", races),
        (RACE_IN_COMBINATION, " alone or in any combination", races),
        (ETHNICITY_KIND, "", ethnicities),
    )
    listed: list[CharacteristicIteration] = []
    codes_of_iteration: dict[str, frozenset[str]] = {}
    for kind, suffix, groups in groups_of_kind:
        for group in groups:
            code = str(1001 + len(listed))
            listed.append(
                CharacteristicIteration(code, group.name + suffix, group.level, kind, group.listed)
            )
            codes_of_iteration[code] = frozenset(group.codes)
    return PublicLists(
        MappingProxyType(dict(code_names)), tuple(listed), MappingProxyType(codes_of_iteration)
    )


# a major group, its first code, and how many of 1,000 Detailed groups are inside
_RACES = (
    ("White", 1000, 95),
    ("Black or African American", 2000, 45),
    ("Asian", 2500, 45),
    ("American Indian and Alaska Native", 3000, 670),
    ("Native Hawaiian and Other Pacific Islander", 8000, 35),
    ("Some Other Race", 8300, 110),
)
_HISPANIC = ("Hispanic or Latino", 9000, 1)


def own_public_lists(iterations: int) -> PublicLists:
    """Lists with exactly this number of tabulated iterations, Regional and Detailed together.

    The major groups, which are not tabulated, come on top.
    """
    ethnicities = max(2, iterations * _ETHNICITIES_PER_MILLE // 1000)
    ethnicities += (iterations - ethnicities) % 2  # race iterations come in pairs
    names: dict[str, str] = {NOT_HISPANIC: "Not Hispanic"}
    races = list(_groups(_RACES, (iterations - ethnicities) // 2, names))
    hispanics = list(_groups([_HISPANIC], ethnicities, names))
    return public_lists_of(names, races, hispanics)


def _groups(
    majors: Sequence[tuple[str, int, int]], tabulated: int, names: dict[str, str]
) -> Iterator[ListedGroup]:
    """Each major group, its regions and its Detailed groups. Adds the names of their codes."""
    weights = np.array([weight for *_, weight in majors], dtype=np.int64)
    counts = apportioned(tabulated, weights, least=2).tolist()
    for (major, first_code, _), count in zip(majors, counts, strict=True):
        regions = max(1, round(count * _REGIONS_PER_MILLE / 1000))
        inside = list(_detailed_groups(major, first_code, count - regions, names))
        names[str(first_code)] = f"{major} (checkbox)"
        yield ListedGroup(major, MAJOR, None, (str(first_code), *_codes_of(inside)))
        for region in range(regions):
            name = f"{major}, region {region + 1}"
            codes = _codes_of(inside[region::regions])
            yield ListedGroup(name, REGIONAL, COMMON, codes)
        yield from inside


def _codes_of(groups: Sequence[ListedGroup]) -> tuple[str, ...]:
    return tuple(code for group in groups for code in group.codes)


def _detailed_groups(
    major: str, first_code: int, count: int, names: dict[str, str]
) -> Iterator[ListedGroup]:
    """The Detailed groups of a major group, with codes in rising order.

    Adds the names of the codes.
    """
    next_code = first_code + 1
    for number in range(1, count + 1):
        name = f"{major} {number}"
        spellings = [name, f"{name} (other spelling)"][: 1 + (number % _TWO_CODES_EVERY == 0)]
        codes = [str(next_code + position) for position in range(len(spellings))]
        next_code += len(codes)
        names |= dict(zip(codes, spellings, strict=True))
        is_total_only = number % _TOTAL_ONLY_EVERY == 0
        listed = TOTAL_ONLY if is_total_only else COMMON
        yield ListedGroup(name, DETAILED, listed, tuple(codes))
