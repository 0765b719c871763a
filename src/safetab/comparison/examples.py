"""One deduction of each attack, in words, taken from this run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from safetab.comparison.attacks import averaging, differencing
from safetab.comparison.attacks.attack import NAMED, Finding
from safetab.comparison.attacks.averaging import SplitGroups
from safetab.comparison.attacks.solver import bounds_of, window_ends
from safetab.comparison.protections.protection import Protection, Publication
from safetab.comparison.results import WorkedExample
from safetab.comparison.tables.attacked_area import AttackedArea, System

_MOST_LINES = 6
_ATTACKS = ("proven", "named", "averaging", "differencing")


def printed_number(publication: Publication, system: int, number: int) -> str:
    """A number as it would be printed."""
    value = publication.tables[system].numbers[number]
    return "withheld" if value is np.ma.masked else f"{value:,}"


class Examples:
    """Collects one example of each attack: of the first protection for which it finds anything."""

    def __init__(self, area: AttackedArea | None) -> None:
        self._area = area
        self._found = dict[str, WorkedExample]()

    def found(self) -> tuple[WorkedExample, ...]:
        """The examples, in the order of the attacks."""
        return tuple(self._found[attack] for attack in _ATTACKS if attack in self._found)

    def see(
        self,
        protection: Protection,
        publication: Publication,
        findings: Sequence[Finding],
        split: SplitGroups,
        seed: int,
    ) -> None:
        """Look at one protection; without any protection there is nothing to find out."""
        area, spec = self._area, protection.spec
        if area is None or protection.is_exact:
            return
        made: dict[str, Callable[[], WorkedExample | None]] = {
            "proven": lambda: _proven_example(area, spec, publication),
            "named": lambda: _named_example(area, spec, publication, findings),
            "differencing": lambda: differencing.example(area, publication, spec),
        }
        if protection.numbers is not None and protection.records is None and len(split.names):
            made["averaging"] = lambda: averaging.example(split, protection, seed)
        for attack, make in made.items():
            if attack not in self._found and (example := make()) is not None:
                self._found[attack] = example


def _proven_example(area: AttackedArea, spec: str, publication: Publication) -> WorkedExample | None:
    """The first cell of one person that follows from other numbers, though its own number leaves it open."""
    for place, system in enumerate(area.systems if publication.can_be_proven else ()):
        bounds, (low, high) = bounds_of(system, publication.windows[place]), window_ends(publication.windows[place])
        is_known = (bounds.row_low == 1) & (bounds.row_high == 1) & bounds.is_consistent & (low < high)
        found = system.leaves[is_known[system.leaves]]
        if len(found):
            number = int(found[0])
            steps = [
                f"{_line(area, system, each)}: {printed_number(publication, place, each)}, so the true count is"
                f" {_range(low[each], high[each])}."
                for each in _around(system, number)
            ]
            cell = _line(area, system, number)
            steps.append(f"Sums must agree in every line of every area: the only true count that fits {cell} is 1.")
            return _example("proven", area, spec, publication, (place, number), steps)
    return None


def _named_example(
    area: AttackedArea, spec: str, publication: Publication, findings: Sequence[Finding]
) -> WorkedExample | None:
    """The likeliest cell of one person whose own number leaves it open."""
    best, at = 0.0, (0, 0)
    for place, (system, finding) in enumerate(zip(area.systems, findings, strict=True)):
        if finding.chances is None or not len(system.leaves):
            continue
        chances = np.where(np.diff(publication.windows[place].starts) > 1, finding.chances.is_one, 0)[system.leaves]
        if best < chances.max() < 1:
            best, at = float(chances.max()), (place, int(system.leaves[chances.argmax()]))
    if best < NAMED:
        return None
    steps = (
        "Many true counts fit. The attacker weighs them by what the method does and by how groups gather.",
        f"In {best:.1%} of them, by weight, {_line(area, area.systems[at[0]], at[1])} is 1.",
    )
    return _example("named", area, spec, publication, at, steps)


def _example(
    attack: str, area: AttackedArea, spec: str, publication: Publication, at: tuple[int, int], steps: Sequence[str]
) -> WorkedExample:
    """The deduction of one number of one system, beside what is published around it."""
    place, number = at
    system = area.systems[place]
    around = _around(system, number)
    printed = tuple((_line(area, system, each), printed_number(publication, place, each)) for each in around)
    about = f"{system.name}, {area.areas[int(system.areas[number])].name}"
    return WorkedExample(attack, spec, about, printed, tuple(steps), f"{system.exact.counts[number]:,}")


def _around(system: System, number: int) -> Iterator[int]:
    """A number, and those of the same area that contain it or stand beside it; the total comes last."""
    same = np.flatnonzero(system.areas == system.areas[number])
    others = [each for each in same[::-1].tolist() if each != number and system.lines[each] > 0]
    yield number
    yield from others[: _MOST_LINES - 2]
    if system.lines[number] > 0:
        yield int(same[system.lines[same] == 0][0])


def _line(area: AttackedArea, system: System, number: int) -> str:
    return area.line_words[int(system.lines[number])] or "the total"


def _range(low: int, high: int) -> str:
    if high > 10**9:
        return f"at least {low:,}" if low else "anything"
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
