"""Numbers as each protection prints them, and one deduction of each attack in words.

All of them are taken from this run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from safetab.apps.compare.attacks.arithmetic import differencing_example
from safetab.apps.compare.attacks.attack import NAMED, AttackResult
from safetab.apps.compare.attacks.posterior import DISAGREE
from safetab.apps.compare.attacks.solver import bounds_of, window_ends
from safetab.apps.compare.protections.protection import Protection, PublishedArea
from safetab.apps.compare.results import ShownNumber, WorkedExample
from safetab.apps.compare.tables.attacked_area import AttackedArea

_MOST_LINES, _SHOWN_GROUPS = 6, 10


def _printed_number(publication: PublishedArea, system: int, number: int) -> str:
    """A number as it would be printed."""
    value = publication.tables[system].numbers[number]
    return "withheld" if value is np.ma.masked else f"{value:,}"


def shown_numbers(
    area: AttackedArea, printed: Mapping[str, PublishedArea]
) -> tuple[str, tuple[ShownNumber, ...]]:
    """Ten groups of one smallest area as each protection would print their totals.

    They are in order from large to small.
    """
    smallest = [place for place, each in enumerate(area.areas) if each.level == area.smallest]
    place = sorted(smallest, key=lambda each: area.areas[each].people)[len(smallest) // 2]
    found = [
        (int(system.exact.counts[number]), group, int(number))
        for group, system in enumerate(area.systems)
        for number in np.flatnonzero(
            (system.areas == place) & (system.lines == 0) & (system.exact.counts > 0)
        )
    ]
    found.sort(key=lambda each: -each[0])
    steps = np.unique(np.linspace(0, len(found) - 1, _SHOWN_GROUPS).astype(int)) if found else ()
    shown = []
    for size, group, number in (found[step] for step in steps):
        texts = {spec: _printed_number(each, group, number) for spec, each in printed.items()}
        shown.append(ShownNumber(area.systems[group].name, size, texts))
    return area.areas[place].name, tuple(shown)


def add_examples(
    found: dict[str, WorkedExample],
    area: AttackedArea,
    protection: Protection,
    publication: PublishedArea,
    findings: Sequence[AttackResult],
    averaged: Callable[[], WorkedExample | None] | None,
) -> None:
    """Add an example of each attack that has none yet.

    Without any protection there is nothing to find out.
    """
    makers: dict[str, Callable[[], WorkedExample | None]] = {
        "proven": lambda: _proven_example(area, protection.spec, publication),
        "named": lambda: _named_example(area, protection, publication, findings),
        "differencing": lambda: differencing_example(area, publication, protection.spec),
    }
    if averaged is not None and protection.numbers is not None:
        makers["averaging"] = averaged
    for attack, make in makers.items():
        if attack not in found and not protection.is_exact and (example := make()) is not None:
            found[attack] = example


def _proven_example(
    area: AttackedArea, spec: str, publication: PublishedArea
) -> WorkedExample | None:
    """The first cell of one person that follows from other numbers.

    Its own number leaves it open.
    """
    for place, system in enumerate(area.systems if publication.can_be_proven else ()):
        bounds, (low, high) = (
            bounds_of(system, publication.windows[place]),
            window_ends(publication.windows[place]),
        )
        is_known = (
            (bounds.row_low == 1) & (bounds.row_high == 1) & bounds.is_consistent & (low < high)
        )
        for number in system.leaves[is_known[system.leaves]].tolist():
            around = _around(area, publication, place, number)
            steps = [
                f"{line}: {printed}, so the true count is {_range(low[each], high[each])}."
                for each, (line, printed) in around.items()
            ]
            cell = around[number][0]
            steps.append(
                "Sums must agree in every line of every area:"
                f" the only true count that fits {cell} is 1."
            )
            return _example(("proven", spec), area, place, around, steps)
    return None


def _named_example(
    area: AttackedArea,
    protection: Protection,
    publication: PublishedArea,
    findings: Sequence[AttackResult],
) -> WorkedExample | None:
    """The likeliest cell of one person whose own number leaves it open.

    Its error is in no other number.
    """
    best, at = 0.0, (0, 0)
    for place, (system, finding) in enumerate(zip(area.systems, findings, strict=True)):
        if finding.chances is None or finding.chances.r_hat > DISAGREE or not len(system.leaves):
            continue
        _, of_number, times = np.unique(system.exact.keys, return_inverse=True, return_counts=True)
        is_met_once = (times[of_number] == 1) | (not protection.repeats_errors)
        is_open = is_met_once & (np.diff(publication.windows[place].starts) > 1)
        chances = np.where(is_open, finding.chances.is_one, 0)[system.leaves]
        if best < chances.max() < 1:
            best, at = float(chances.max()), (place, int(system.leaves[chances.argmax()]))
    if best < NAMED:
        return None
    around = _around(area, publication, *at) | _in_larger_areas(area, publication, *at)
    steps = (
        "Many true counts fit. The attacker weighs them by the method, by the group's true size in"
        f" {area.name}, which he is given even where it is withheld,"
        " and by how close members of a group live.",
        f"In {best:.1%} of them, by weight, {around[at[1]][0]} is 1.",
    )
    return _example(("named", protection.spec), area, at[0], around, steps)


def _around(
    area: AttackedArea, publication: PublishedArea, place: int, number: int
) -> dict[int, tuple[str, str]]:
    """A number and those beside it in its area: what they count, and how each is printed.

    The total comes last.
    """
    system = area.systems[place]
    same = np.flatnonzero(system.areas == system.areas[number])
    others = [each for each in same[::-1].tolist() if each != number and system.lines[each] > 0]
    total = same[system.lines[same] == 0].tolist() if system.lines[number] > 0 else []
    return {
        each: (
            area.line_words[int(system.lines[each])] or "the total",
            _printed_number(publication, place, each),
        )
        for each in (number, *others[: _MOST_LINES - 2], *total)
    }


def _in_larger_areas(
    area: AttackedArea, publication: PublishedArea, place: int, number: int
) -> dict[int, tuple[str, str]]:
    """Every number of a larger area that counts the people of this one.

    Each comes with its area, and with how it is printed.
    """
    system = area.systems[place]
    is_part = system.rows.is_part(len(system.truth))
    counts_them = is_part[:, is_part[number]].all(axis=1) & (system.areas != system.areas[number])
    return {
        each: (
            f"{area.line_words[int(system.lines[each])] or 'the total'},"
            f" {area.areas[int(system.areas[each])].name}",
            _printed_number(publication, place, each),
        )
        for each in np.flatnonzero(counts_them).tolist()
    }


def _example(
    about: tuple[str, str],
    area: AttackedArea,
    place: int,
    around: Mapping[int, tuple[str, str]],
    steps: Sequence[str],
) -> WorkedExample:
    """The deduction of the first of these numbers of one system.

    All the numbers stand beside it as they are printed.
    """
    system, number = area.systems[place], next(iter(around))
    where = f"{system.name}, {area.areas[int(system.areas[number])].name}"
    return WorkedExample(
        *about, where, tuple(around.values()), tuple(steps), f"{system.exact.counts[number]:,}"
    )


def _range(low: int, high: int) -> str:
    if high > 10**9:
        return f"at least {low:,}" if low else "anything"
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
