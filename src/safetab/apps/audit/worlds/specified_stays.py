"""The audit's foreign census: stays of guests of an island.

It is specified in stays/census.toml. A guest is protected, with up to two stays. Up to eight
languages are said and six of them count; codes are cut, and some mean "not stated". Towns cross
districts, some cells are in no town, unknown cells count elsewhere, and some stays do not count at
all. Only cells suppress small totals. Each level, pass and family has its own budget and
thresholds.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import product as crossed
from pathlib import Path
from typing import Any

from safetab.apps.audit import audited_runs as runs
from safetab.apps.audit.audited_product import (
    AuditedProduct,
    AuditWorld,
    FloorWorld,
    LossWorld,
    MadeUpRecord,
    Neighbour,
    NoiseWorld,
    Route,
)
from safetab.apps.audit.worlds import public_files as files
from safetab.apps.audit.worlds.configuration import GAMMA, own_factor, thresholds_reached
from safetab.core.privacy.output_status import SYNTHETIC_MARKER
from safetab.model.census.groups import GroupLevel
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.products.record import record_layout_of
from safetab.model.products.specified import product_of
from safetab.model.specification.reading import read_specification

_FILES = Path(__file__).parent / "stays"
_MOST_STAYS = 2  # of a guest
_COLUMNS = (
    "GUEST",
    "CELL",
    "COUNTED",
    "AGE",
    "MOOD",
    *(f"L{place}" for place in range(1, 9)),
    "MOTHER",
)
_LANGUAGES = (*(f"{family}0{number}" for family in "abcd" for number in (1, 2, 3)), "e01")
_EIGHT_LANGUAGES = ("a01.1", "b01", "c01.22", "d01", "a02", "b02", "c02", "d02")
"""Languages of all four families.

The first six, which count, are in six groups of languages.
"""
_MOTHERS = ("10", "11", "20", "21")
_CROWDED, _EMPTY, _SOUTHERN, _UNKNOWN = "1001", "1002", "2001", "unknown"
_Cells = Mapping[str, str]
"""For each cell its side, its district and its town."""
_ELSEWHERE = {"0000": "o,d0,-"}
_CELLS: _Cells = {
    **_ELSEWHERE,
    _CROWDED: "n,d1,t1",
    _EMPTY: "n,d1,t2",
    "1003": "n,d2,t1",
    "1004": "n,d2,-",
    _SOUTHERN: "s,d1,u1",
    "2002": "s,d1,-",
    **{str(cell): "n,d3,-" for cell in range(3000, 3030)},
}
_TABLES = ("mood and age", "age")
_NORTH_CELL = "north cell"
_LABELS = (
    "north",
    "north district",
    "north town",
    _NORTH_CELL,
    "south district",
    "south town",
    "south cell",
)
_GROUPS = {"family": 4, "language": 6, "mother": 2}
"""The stability of each level of groups.

A mother tongue is in a group of any and in one of only.
"""
_USUAL_BUDGET = Fraction(1, 4)  # noise of about 3, times the stability
_REACHED = {_NORTH_CELL: 0, "north town": 2, "south cell": 1, "south town": 1}
"""The number of thresholds that each group of a label reaches in a noise world."""
_CROWDS = (0, 8, 20, 55)  # one in each class of counts by which the width of noise is judged
_CROWDED_CELLS = 220
_LARGE_CELLS = 1_400
_LISTED = "listed"
_CHOSEN_BY_STAGE_1 = {"selector": "stage 1", "stage_1": float(GAMMA), "suppress": 0.9}
_NOT_CHOSEN = {"selector": "none", "stage_1": None, "suppress": 0, _LISTED: True}
_Choices = Mapping[tuple[str, str, str], tuple[Fraction, list[int]]]
"""Budget and thresholds of tables, label and level of groups."""


@dataclass(frozen=True, slots=True)
class _Stay(MadeUpRecord):
    """A made-up stay.

    `block`, `races` and `ethnicity` are its cell, languages and mother tongue.
    """

    ethnicity: str = _MOTHERS[0]
    guest: str = ""  # a guest of its own
    counted: str = "y"
    age: str = "30"
    mood: str = "g"

    @property
    def row(self) -> str:
        """The stay's line in the file of stays."""
        languages = (*self.races, *[""] * (8 - len(self.races)))
        return ";".join(
            (self.guest, self.block, self.counted, self.age, self.mood, *languages, self.ethnicity)
        )


def _usual_choices() -> dict[tuple[str, str, str], tuple[Fraction, list[int]]]:
    """Choices of which no two are alike; ages are not tabulated by mother tongue."""
    triples = list(crossed(_TABLES, _LABELS, _GROUPS))
    choices = {}
    for position, (tables, label, groups) in enumerate(triples):
        factor = own_factor(position, len(triples))
        thresholds = (
            [4 + position % 4, 9 + position % 7] if tables == _TABLES[0] else [4 + position]
        )
        if (tables, groups) != ("age", "mother"):
            choices[tables, label, groups] = (
                round(_USUAL_BUDGET * _GROUPS[groups] * factor, 6),
                thresholds,
            )
    return choices


def _write(
    folder: Path,
    stays: Iterable[MadeUpRecord],
    changes: Mapping[str, Any],
    choices: _Choices | None = None,
    cells: _Cells = _CELLS,
) -> AuditWorld:
    """Write a world, marked as synthetic.

    It lacks the pass of the south if nothing is chosen for it. The usual choices are made unless
    others are given. `changes` are to the other keys of privacy.toml; with `listed`, groups are on
    lists.
    """
    choices = choices or _usual_choices()
    world = AuditWorld(folder / "parameters", folder / "data", folder / "parameters" / "cells.csv")
    shutil.copytree(_FILES, world.parameters)
    world.data.mkdir()
    if not any(label.startswith("south") for _, label, _ in choices):
        specification = world.parameters / "census.toml"
        before, _, south = specification.read_text().rpartition("[[areas.passes]]")
        specification.write_text(before + south[south.index("\n[") :])
    settings = {"definition": "zcdp", **_CHOSEN_BY_STAGE_1, _LISTED: False, **changes}
    chance = settings.pop("suppress")
    if settings.pop(_LISTED):
        _put_groups_on_lists(world.parameters)
    selects = settings["selector"] != "none"
    text = [
        "use = { spoken = 6 }",
        *(f"{key} = {json.dumps(value)}" for key, value in settings.items() if value),
    ]
    text += [f'suppress = {{ chance = {chance}, areas = ["cell"] }}'] if chance else []
    for (tables, label, groups), (budget, thresholds) in choices.items():
        text += [
            "[[privacy.levels]]",
            f'tables = "{tables}"',
            f'areas = "{label}"',
            f'groups = "{groups}"',
        ]
        text += [f"budget = {float(budget)}", *([f"thresholds = {thresholds}"] if selects else [])]
    rows = (
        row if row[0] != ";" else f"g{number}{row}"
        for number, row in enumerate(stay.row for stay in stays)
    )
    files.write_lines(world.parameters / "privacy.toml", "[privacy]", text)
    files.write_lines(
        world.areas,
        "CELL,SIDE,DISTRICT,TOWN",
        (f"{cell},{inside}" for cell, inside in cells.items()),
    )
    files.write_lines(world.data / "stays.txt", ";".join(_COLUMNS), rows)
    (world.data / SYNTHETIC_MARKER).write_text("These guests do not exist.\n")
    return world


def _put_groups_on_lists(parameters: Path) -> None:
    """Take groups from two files in place of columns.

    Some are in large areas alone, some have a lone total.
    """
    specification = parameters / "census.toml"
    before, _, rest = specification.read_text().partition("[groups]\n")
    after = rest[rest.index("[[tables]]") :]
    specification.write_text(before + (parameters / "listed.toml").read_text() + after)


def _write_one_level(
    folder: Path,
    stays: Iterable[_Stay],
    budget: float,
    changes: Mapping[str, Any],
    cells: _Cells = _CELLS,
) -> AuditWorld:
    """Write a world of one side that tabulates the languages of cells alone."""
    choices = {(_TABLES[0], _NORTH_CELL, "language"): (Fraction(budget), [2, 5])}
    return _write(folder, stays, {"suppress": 0, **changes}, choices, cells)


def _write_large(folder: Path) -> AuditWorld:
    """Write a level that is read in several parts.

    One cell has a crowd, and the others have nobody.
    """
    cells = _ELSEWHERE | {str(10_000 + number): "n,d1,t1" for number in range(_LARGE_CELLS)}
    crowd = [replace(_FILLS_ALL_GROUPS, block="10700")] * files.LARGE_CROWD
    return _write_one_level(folder, crowd, 1.5, {"suppress": 0.9}, cells)


def _write_noisy(changes: Mapping[str, Any], times: int, folder: Path) -> AuditWorld:
    """Write a world in which every group of every level is drawn, with crowds of every size.

    It has `times` the usual budgets.
    """
    cells, stays = dict(_CELLS), list(_POPULATION)
    for number, side in crossed(range(_CROWDED_CELLS), "ns"):
        cell = f"{side}{number}"
        cells[cell] = f"{side},d{number % 5},town {cell}"
        for place, language in enumerate(_LANGUAGES):
            crowd = _Stay(cell, (language,), _MOTHERS[place % 4])
            stays += [crowd] * _CROWDS[(number + place) % len(_CROWDS)]
    choices = {}
    for (tables, label, groups), (budget, thresholds) in _usual_choices().items():
        limits = (
            thresholds_reached(_REACHED[label], len(thresholds))
            if label in _REACHED
            else thresholds
        )
        choices[tables, label, groups] = (times * budget, limits)
    return _write(folder, stays, {"suppress": 0, **changes}, choices, cells)


def _noise_world(kind: str, changes: Mapping[str, Any], times: int) -> NoiseWorld:
    stability = {
        GroupLevel(number, name): groups for number, (name, groups) in enumerate(_GROUPS.items())
    }
    write = partial(_write_noisy, changes, times)
    return NoiseWorld(f"stays, {kind}, stability 4, 6 and 2", write, stability, _MOST_STAYS)


def _write_loss(changes: Mapping[str, Any], budget: int, entities: int, folder: Path) -> AuditWorld:
    """Write cells with four stays each.

    In every second one, a guest has two more that are equal.
    """
    cells = [f"{10_000 + number}" for number in range(entities)]
    stays: list[_Stay] = []
    for number, cell in enumerate(cells):
        stay = replace(_FILLS_ALL_GROUPS, block=cell)
        stays += [stay] * 4 + [replace(stay, guest=f"of {cell}")] * (_MOST_STAYS * (number % 2))
    return _write_one_level(
        folder, stays, budget, changes, _ELSEWHERE | dict.fromkeys(cells, "n,d1,t1")
    )


def _loss_world(name: str, budget: int, runs_: int, **changes: Any) -> LossWorld:
    entities = 4_000
    is_pure = changes.get("definition") == "puredp"
    return LossWorld(
        name=f"two stays of a guest, {name}",
        definition=PrivacyDefinition.PURE_DP if is_pure else PrivacyDefinition.ZCDP,
        stability=_GROUPS["language"],
        budget=Fraction(budget),
        fractions=(Fraction(1),) if changes.get("selector") == "none" else (GAMMA, 1 - GAMMA),
        runs=runs_,
        entities=entities,
        write=partial(_write_loss, changes, budget, entities),
        is_suppressed=bool(changes.get("suppress")),
        most_records=_MOST_STAYS,
    )


def _floor_world(name: str, share: Fraction, **changes: Any) -> FloorWorld:
    """A world at the floor; `share` of the budget buys the narrowest noise."""

    def write(folder: Path, budget: float, definition: str) -> AuditWorld:
        return _write_one_level(folder, _POPULATION, budget, {"definition": definition, **changes})

    return FloorWorld(name, _GROUPS["language"], share, write, _MOST_STAYS)


_FILLS_ALL_GROUPS = _Stay(_CROWDED, _EIGHT_LANGUAGES)
_KINDS = (
    _Stay(_CROWDED, ("e01",), _MOTHERS[2], age="3"),
    _Stay(_CROWDED, ("zzz", "", "c03"), _MOTHERS[3], mood="s", age="?"),  # not stated, and a gap
    # values that count as others
    _Stay(_CROWDED, ("d03", "d03.4"), _MOTHERS[1], mood="?", age="250"),
    _Stay(_CROWDED, ("a03",), counted="n"),
)
_INHABITED = [cell for cell in _CELLS if cell != _EMPTY] + [_UNKNOWN]
_POPULATION = files.population(_FILLS_ALL_GROUPS, _KINDS, _INHABITED)
_FIRST, *_REST = _POPULATION
_IN_EMPTY_CELL = _Stay(_EMPTY, ("?", "a01.5", "zzz", "b03"), age="99", mood="x")
_ONE_FAMILY = _Stay(_CROWDED, ("a01", "a02", "a03"), age="0")
_SOUTHERNER = replace(_FILLS_ALL_GROUPS, block=_SOUTHERN, mood="s", age="65")
_OF_ONE_GUEST = replace(_FILLS_ALL_GROUPS, guest="twice")
_NOBODY_IN_THE_SOUTH = tuple(stay for stay in _POPULATION if not stay.block.startswith("2"))
_NEIGHBOURS = (
    Neighbour(
        "two equal stays of a guest", (*_POPULATION, _OF_ONE_GUEST, _OF_ONE_GUEST), is_of_unit=True
    ),
    Neighbour(
        "two stays of a guest, north and south",
        (*_POPULATION, _OF_ONE_GUEST, replace(_SOUTHERNER, guest="twice")),
        is_of_unit=True,
    ),
    Neighbour("one stay more", (*_POPULATION, _IN_EMPTY_CELL)),
    Neighbour("one family alone", (*_POPULATION, _ONE_FAMILY)),
    Neighbour(
        "in an unknown cell",
        (*_POPULATION, replace(_FILLS_ALL_GROUPS, block=_UNKNOWN, counted="yes")),
    ),
    Neighbour(
        "another mood and age", (replace(_FIRST, mood="s", age="84"), *_REST), is_changed=True
    ),
    Neighbour("moved to the south", (*_REST, replace(_FIRST, block=_SOUTHERN))),
)


def _some_stay(dice: random.Random, cell: str) -> _Stay:
    languages = tuple(dice.sample(_LANGUAGES, dice.choice((1, 1, 2, 3, 8))))
    age, mood = str(dice.randint(0, 120)), dice.choice("gsx")
    return _Stay(cell, languages, dice.choice(_MOTHERS), "", dice.choice("yyyn"), age, mood)


_SPEC = read_specification(_FILES).require()
_EVERY_GROUP = Route("every group in the finest table", changes=_NOT_CHOSEN)
_ON_LISTS = Route("groups on lists", changes={_LISTED: True})
LOSS_OF_A_GUEST = _loss_world("6 groups, both stages, all tables, rho 2", 2, 75)
_GEOMETRIC_LOSS = _loss_world(
    "6 groups, both stages, all tables, epsilon 4", 4, 100, definition="puredp"
)
_EVERY_LOSS = _loss_world("6 groups, all in the finest table, rho 2", 2, 75, **_NOT_CHOSEN)
GAUSSIAN_STAYS = _noise_world("Gaussian", {}, 1)
_EVERY_STAY = _noise_world("every group in the finest table", _NOT_CHOSEN, 1)
AUDITED_STAYS = AuditedProduct(
    product=product_of(_SPEC, record_layout_of(_SPEC, {}, ())),
    write=_write,
    write_large=_write_large,
    population=_POPULATION,
    several_more=(*_POPULATION, *[_OF_ONE_GUEST] * 2, _SOUTHERNER, _IN_EMPTY_CELL, _ONE_FAMILY),
    neighbours=_NEIGHBOURS,
    quick_neighbours=_NEIGHBOURS[:1],
    first_of_a_pass=Neighbour("the first stay of the south", (*_NOBODY_IN_THE_SOUTH, _SOUTHERNER)),
    thousands=files.thousands(_some_stay, _INHABITED),
    routes=(
        runs.RELEASED_AGAIN,
        runs.SMALL_BATCHES,
        runs.COTERMINOUS,
        replace(runs.GEOMETRIC, changes={"definition": "puredp", "negatives": "zero"}),
    ),
    quick_routes=(),
    times_lost=1,
    floor_worlds=(
        _floor_world("stage 1", Fraction(19, 20), stage_1=0.95),
        _floor_world("stage 2", 1 - GAMMA),
        _floor_world("every group", Fraction(1), **_NOT_CHOSEN),
    ),
    noise_worlds=(
        GAUSSIAN_STAYS,
        _noise_world("geometric", {"definition": "puredp"}, 10),
        _EVERY_STAY,
    ),
    quick_noise_worlds=(),
    loss_worlds=(
        LOSS_OF_A_GUEST,
        _loss_world("suppression, rho 2", 2, 75, suppress=0.6),
        _GEOMETRIC_LOSS,
        _EVERY_LOSS,
    ),
    quick_loss_worlds=(LOSS_OF_A_GUEST,),
    cpu_seconds={"neighbours": 39, "routes": 34, "spending": 3, "noise": 27, "loss": 12},
    quick_cpu_seconds={"neighbours": 8, "routes": 0, "spending": 2, "noise": 0, "loss": 2},
    is_specified=True,
    forms=(_EVERY_GROUP, _ON_LISTS),
    quick_forms=(_EVERY_GROUP,),
    of_one_unit=_OF_ONE_GUEST,
)
