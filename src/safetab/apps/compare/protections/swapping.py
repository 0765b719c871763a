"""Household swapping: pairs of households of about one size exchange their places.

It is done in arrays and in files. Every household has a pseudo-tract: its own, or that of another
household of its county or state. Its match key is its size plus -1, 0 or 1. Chosen households of
one pseudo-tract and one match key are paired. Of an odd number, the last one takes a household that
was not chosen, or stays where it is, equally often; if all were chosen, it looks for a partner in
the pseudo-county, then in the state. After Abowd and others 2025, A Simulated Reconstruction and
Reidentification Attack on the 2010 U.S. Census, appendix C, but nobody goes further than
`geography` allows. In any census, tract, county and state are the inner, middle and outer areas:
the finest kind of area that covers everything, and the two kinds around it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet
from numpy.typing import NDArray

from safetab.apps.compare.protections.method import Form, Made, Method, Place, number_text, value_of
from safetab.apps.compare.protections.protection import Floats, Known, Windows, chosen
from safetab.apps.compare.tables.exact_tables import Int64s
from safetab.counting.local.listed_areas import area_numbers_of
from safetab.counting.local.records import ValueBatch, ValueColumn, batches_of, rows_of
from safetab.foundation.arrays import find_sorted
from safetab.foundation.findings import Finding, InvalidInput, Severity, require_none
from safetab.foundation.parquet_facts import opened_parquet
from safetab.inputs.readers.digit_columns import is_text
from safetab.inputs.readers.forms.all_forms import PARQUET
from safetab.inputs.records.record_files import PERSON_HOUSEHOLD_FILE, record_file_names
from safetab.model.census.area_levels import AreaKind, Pass
from safetab.model.census.areas import NO_ENTITY, Areas
from safetab.model.products.all_products import PRODUCTS
from safetab.model.products.record import AreaColumns, RecordLayout
from safetab.runs.inputs import RunInputs

_LEAST = 1e-300  # stands for a chance of 0 in logarithms
_CUT = 30.0  # true counts less likely than exp(-30) beside the likeliest are left out
_SWAPS = 0x5A7  # the address of random bits for swapping
_MOST_NUMBERS = 1 << 40  # of areas of a kind
_NOBODY = -1
_HOUSEHOLDS_UNKNOWN = (
    "swap needs to know who lives with whom: synthesize with --households, as text or Parquet,"
    f" or give {PERSON_HOUSEHOLD_FILE} beside the records"
    " (HOUSEHOLD: an integer for each record, in the order of the records;"
    " null: in no household)."
)


@dataclass(frozen=True, slots=True, eq=False)
class Households:
    """The homes of households, and the larger areas around every smallest area."""

    areas: Int64s  # position of the smallest area
    sizes: Int64s
    # whether somebody is the only one of the inner area with their codes
    is_unique: NDArray[np.bool_]
    # by smallest area, a row each for the number of the inner, middle and outer area
    around: Int64s

    def chosen(self, which: Int64s) -> Self:
        """The households at these positions."""
        return replace(
            self, areas=self.areas[which], sizes=self.sizes[which], is_unique=self.is_unique[which]
        )


@dataclass(frozen=True, slots=True)
class Swapping:
    """Swapping of this share of the households.

    With the target "unique", households with a unique member come first.
    """

    rate: float
    # chances that the match key is one less, equal, one more
    size_noise: tuple[float, float, float] = (0.0, 1.0, 0.0)
    # chances of the own tract, one of the county, the state
    geography: tuple[float, float, float] = (1.0, 0.0, 0.0)
    # an agency's targets are secret, so "unique" is an assumption
    target: Literal["none", "unique"] = "none"

    def protect(self, people: Households, rng: np.random.Generator) -> Households:
        """The households after the exchange. Each area keeps its number of households."""
        areas, outer = people.areas.copy(), people.around[2, people.areas]
        order = np.argsort(outer, kind="stable")
        for inside in np.split(order, np.flatnonzero(np.diff(outer[order])) + 1):
            for pair in self._pairs(people.chosen(inside), rng):
                areas[inside[pair]] = people.areas[inside[pair[::-1]]]
        return replace(people, areas=areas)

    def _pairs(self, people: Households, rng: np.random.Generator) -> Iterator[Int64s]:
        """Pairs of households of one outer area that exchange their places.

        They come as two rows of positions each time.
        """
        order = rng.permutation(len(people.areas))
        is_first = people.is_unique & (self.target == "unique")
        order = order[np.argsort(~is_first[order], kind="stable")]
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        chosen = int(self.rate * len(order) + rng.random())
        key = people.sizes + rng.choice([0, 1, 2], len(order), p=self.size_noise)
        reach = rng.choice(3, len(order), p=self.geography)
        place = people.areas.copy()  # the area that stands for each household's own
        for number, kind in enumerate(people.around[1:], start=1):
            moving = np.flatnonzero(reach == number)
            around = kind[people.areas[moving]]
            shuffled = np.lexsort((rng.permutation(len(moving)), around))
            place[moving[np.argsort(around, kind="stable")]] = people.areas[moving[shuffled]]
        left = np.arange(len(order))
        for kind in people.around[: 1 + int(np.flatnonzero(self.geography)[-1])]:
            cell = kind[place[left]] * (key.max(initial=0) + 1) + key[left]
            by_cell = left[np.lexsort((rank[left], cell))]
            begins = np.flatnonzero(np.diff(np.sort(cell), prepend=-1))
            sizes = np.diff(begins, append=len(left))
            taken = (
                np.add.reduceat(rank[by_cell] < chosen, begins, dtype=np.int64)
                if len(begins)
                else begins
            )
            last = by_cell[np.maximum(begins + taken - 1, 0)]
            is_odd = taken % 2 == 1
            # the last one may take one that is not chosen; half of these do
            may_take = np.flatnonzero(is_odd & (sizes > taken))
            may_take = may_take[
                np.lexsort((rng.permutation(len(may_take)), ~is_first[last[may_take]]))
            ]
            paired = taken - is_odd
            paired[may_take[: (len(may_take) + 1) // 2]] += 2
            within = np.arange(len(left)) - np.repeat(begins, sizes)
            # neighbours in a cell
            yield by_cell[within < np.repeat(paired, sizes)].reshape(-1, 2).T
            left = last[is_odd & (sizes == taken)]

    def leaving_shares(self, people: Int64s, middle: Int64s, outer: Int64s) -> Floats:
        """The share of each inner area's people whom swapping takes to another one.

        It follows from the parameters. A swapped household stays if its partner, who has the same
        pseudo-tract, comes from the same tract. Sizes of households and rounding to pairs are left
        out.
        """
        own, near, far = self.geography
        of_middle, of_outer = np.bincount(middle, people)[middle], np.bincount(outer, people)[outer]
        of_near, of_far = people / np.maximum(of_middle, 1), people / np.maximum(of_outer, 1)
        around = of_middle / np.maximum(of_outer, 1)
        is_home = own + near * of_near + far * of_far  # the pseudo-tract is the own one
        is_near = near * (1 - of_near) + far * (around - of_far)
        is_far = far * (1 - around)
        stays = is_home**2 + is_near * (near * of_near + far * of_far) + is_far * far * of_far
        return np.asarray(self.rate * np.clip(1 - stays, 0, 1))

    def refused(self, data: Path) -> tuple[Finding, ...]:
        """A finding if DATA doesn't say who lives with whom, which swapping needs."""
        if (data / PERSON_HOUSEHOLD_FILE).is_file():
            return ()
        return (Finding(Severity.ERROR, str(data), "", _HOUSEHOLDS_UNKNOWN),)

    def changed_data(self, data: Path, folder: Path, inputs: RunInputs, seed: int) -> Path:
        """Make `folder/data`: DATA after swapping, for the same PARAMETERS. Return its path.

        Files without areas of records are links. Raises InvalidInput if nobody knows who lives with
        whom.
        """
        record = inputs.files.config.product.record
        # records of the same census
        layouts = [record] if record.fields else [product.record for product in PRODUCTS]
        persons = next((each for each in layouts if not each.holds_people), record)
        require_none(self.refused(data))
        home = _homes_of(data / PERSON_HOUSEHOLD_FILE)
        numbers, around = _ground(inputs.files.geography_of_pass, inputs.files.config.census.kinds)
        people = _households_of(
            data, persons, home, numbers, around, finds_unique=self.target == "unique"
        )
        # the others live outside of what is tabulated
        known = np.flatnonzero(people.areas != _NOBODY)
        inside = people.chosen(known)
        after = self.protect(inside, np.random.default_rng([seed, _SWAPS, 0])).areas
        # the last one is of people in no household
        moves_to = np.full(len(people.areas) + 1, NO_ENTITY, dtype=np.int64)
        moves_to[known] = np.where(after == inside.areas, NO_ENTITY, numbers[after])
        tables = {
            layout.table: layout
            for layout in layouts
            if record_file_names(data, layout).value is not None
        }
        out = folder / "data"
        out.mkdir(parents=True)
        for path in data.iterdir():
            if path.name.partition(".")[0] not in tables:
                (out / path.name).symlink_to(path.resolve())
        for layout in tables.values():
            _write_moved(
                data,
                out / layout.table,
                layout,
                moves_to[home] if layout is persons else moves_to[:-1],
            )
        return out

    def windows(self, windows: Windows, known: Known, leaving: float, leaves: Int64s) -> Windows:
        """Windows over true counts, from those over counts of swapped records.

        The leaves alone are read. Totals are sums of them, and people who leave a place or another
        area that is not made of smallest ones may stay in their smallest area.
        """
        nothing = Windows(windows.firsts, np.zeros_like(windows.starts), np.zeros(0))
        of_leaves = chosen(np.isin(np.arange(len(windows.firsts)), leaves), windows, nothing)
        return windows_before_swapping(of_leaves, known, leaving)

    def kinds_nobody_leaves(self, areas: Areas, kinds: Sequence[AreaKind]) -> set[AreaKind]:
        """The kinds of area that hold both partners of every exchange, so their numbers stay."""
        found, reach = kinds_around(areas, kinds), int(np.flatnonzero(self.geography)[-1])
        chain = (found[0], *found[0].around) if found else ()
        return {kind for place, kind in enumerate(chain) if place >= reach or kind.is_whole}

    def leaving_share(
        self,
        areas: Areas,
        kinds: Sequence[AreaKind],
        people_of: Callable[[AreaKind], Int64s],
        attacked: tuple[AreaKind, int],
    ) -> float:
        """The share of the attacked area's people whom swapping takes to another inner area.

        All of it is public. `people_of` gives those of each entity of a kind; `attacked` is a kind
        and a position among its entities.
        """
        found = kinds_around(areas, kinds)
        if not found:
            return 0.0
        people, nothing = (
            people_of(found[0]),
            np.zeros(len(areas.entities(found[0])), dtype=np.int64),
        )
        parents = [areas.parents(found[0], kind).astype(np.int64) for kind in found[1:]]
        middle, outer = [*parents, nothing, nothing][:2]
        leaving = people * self.leaving_shares(people, middle, outer)
        is_inside = areas.parents(found[0], attacked[0]) == attacked[1]
        return float(leaving[is_inside].sum() / max(people[is_inside].sum(), 1))


def windows_before_swapping(windows: Windows, known: Known, leaving: float) -> Windows:
    """Windows over true counts, from windows over the counts of the swapped records.

    Of n people each stays with chance 1 - `leaving`, and those who arrive are Poisson with mean
    `leaving` times what is expected: as if the members of a household did not move together.
    """
    if not leaving:
        return windows
    leaving = min(max(leaving, _LEAST), 1 - 1e-9)
    arriving = leaving * np.maximum(known.expected, 0)
    sizes = np.diff(windows.starts)
    last = np.maximum(windows.firsts + sizes - 1, 0)
    fewest = np.maximum(
        windows.firsts - np.ceil(arriving + 8 * np.sqrt(arriving) + 12).astype(np.int64), 0
    )
    least = np.maximum(fewest, known.least)
    root = 4 * np.sqrt(leaving) + np.sqrt(16 * leaving + last)
    beyond = root**2 / (1 - leaving) + _CUT / -np.log(leaving) + 1
    beyond = np.minimum(beyond, 10 * (last + known.expected) + 600)  # if nearly all leave
    most = np.maximum(np.minimum(np.ceil(beyond).astype(np.int64), known.most), least)
    largest = max(most.max(initial=0), last.max(initial=0))
    factorials = np.append(0, np.cumsum(np.log(np.arange(1, largest + 1))))  # their logarithms
    starts = np.append(0, np.cumsum(np.where(sizes > 0, most - least + 1, 0)))
    logs = np.zeros(starts[-1])
    for number in np.flatnonzero(sizes).tolist():
        first, window = windows.of(number)
        stay, counts = (
            np.arange(fewest[number], last[number] + 1),
            np.arange(least[number], most[number] + 1),
        )
        arrived, left = first + np.arange(len(window)) - stay[:, None], counts[:, None] - stay
        comes = (
            arrived * np.log(max(arriving[number], _LEAST)) - arriving[number] - factorials[arrived]
        )
        goes = factorials[counts][:, None] - factorials[stay] - factorials[left]
        goes += stay * np.log1p(-leaving) + left * np.log(leaving)
        chances = np.exp(np.where(arrived < 0, -np.inf, comes + window - window.max())).sum(axis=1)
        total = np.exp(np.where(left < 0, -np.inf, goes)) @ chances
        logs[starts[number] : starts[number + 1]] = window.max() + np.log(np.maximum(total, _LEAST))
    return Windows(least, starts, logs)


def kinds_around(areas: Areas, kinds: Sequence[AreaKind]) -> list[AreaKind]:
    """The covering kind with the most areas, and up to two kinds around it.

    Every smallest area lies in an area of a covering kind.
    """
    covering = [kind for kind in kinds if not (areas.number_of_run(kind) == NO_ENTITY).any()]
    inner = max(covering, key=lambda kind: len(areas.entities(kind)), default=None)
    return (
        [] if inner is None else [kind for kind in (inner, *inner.around)[:3] if not kind.is_whole]
    )


def _ground(
    areas_of_pass: Mapping[Pass, Areas], kinds: Sequence[AreaKind]
) -> tuple[Int64s, Int64s]:
    """The numbers of all smallest areas, rising, and the areas around each.

    There is a row for the inner, the middle and the outer area.
    """
    numbers = np.concatenate([areas.smallest for areas in areas_of_pass.values()])
    around = []
    for place, areas in enumerate(areas_of_pass.values()):
        rows = [areas.number_of_area(kind) for kind in kinds_around(areas, kinds)]
        rows += [np.zeros_like(areas.smallest)] * (3 - len(rows))
        # areas of two passes are never the same
        around.append(np.stack(rows) + place * _MOST_NUMBERS)
    order = np.argsort(numbers, kind="stable")
    return numbers[order], np.concatenate(around, axis=1)[:, order]


def _homes_of(path: Path) -> NDArray[np.int32]:
    """The household of each person record, from 0 on without gaps, or -1."""
    try:
        with opened_parquet(path) as file:
            column = file.read(["HOUSEHOLD"])["HOUSEHOLD"]
        home = column.cast(pa.int32()).fill_null(_NOBODY).to_numpy()
    except (pa.ArrowException, KeyError) as error:
        raise InvalidInput.about(
            path, "must be a Parquet file with a column HOUSEHOLD of integers."
        ) from error
    if home.min(initial=0) < _NOBODY or home.max(initial=0) > len(home):
        raise InvalidInput.about(
            path, "numbers of households must count from 0 without gaps.", "HOUSEHOLD"
        )
    return np.asarray(home)


def _households_of(
    data: Path,
    persons: RecordLayout,
    home: NDArray[np.int32],
    numbers: Int64s,
    around: Int64s,
    *,
    finds_unique: bool,
) -> Households:
    """The households with their homes, found by their members."""
    places, traits, number_of = (
        [np.empty(0, dtype=np.int32)],
        [np.empty(0, dtype=np.int64)],
        dict[str, int](),
    )
    inner = np.unique(around[0], return_inverse=True)[1]
    for batch in _batches(data, persons):
        place, is_known = find_sorted(numbers, _area_numbers(batch, persons))
        places.append(np.where(is_known, place, _NOBODY).astype(np.int32))
        if finds_unique:
            traits.append(inner[place] << 32 | _trait_numbers(batch, persons, number_of))
    place = np.concatenate(places)
    if len(place) != len(home):
        other = f"has {len(home):,} rows, and there are {len(place):,} records."
        raise InvalidInput.about(PERSON_HOUSEHOLD_FILE, other)
    lives_there, is_member = (place != _NOBODY) & (home != _NOBODY), home != _NOBODY
    sizes = np.bincount(home[is_member])
    areas = np.full(len(sizes), _NOBODY, dtype=np.int64)
    areas[home[lives_there]] = place[lives_there]
    is_unique = np.zeros(len(sizes), dtype=np.bool_)
    if finds_unique:
        _, which, times = np.unique(np.concatenate(traits), return_inverse=True, return_counts=True)
        is_unique[home[(times[which] == 1) & is_member]] = True
    return Households(areas, sizes, is_unique, around)


def _trait_numbers(batch: ValueBatch, layout: RecordLayout, number_of: dict[str, int]) -> Int64s:
    """A number for the codes of each record, without the attributes. `number_of` is extended."""
    names = dict.fromkeys(name for name, _ in layout.code_columns)
    texts = [_as_stored(batch[name]).cast(pa.string()) for name in names]
    encoded = pc.binary_join_element_wise(
        *texts, "\x1f", null_handling="replace"
    ).dictionary_encode()
    found = [number_of.setdefault(text, len(number_of)) for text in encoded.dictionary.to_pylist()]
    return np.asarray(np.array(found, dtype=np.int64)[encoded.indices.to_numpy()])


def _batches(data: Path, layout: RecordLayout) -> Iterator[ValueBatch]:
    """All records in order."""
    files = record_file_names(data, layout).require()
    return chain.from_iterable(batches_of(files, layout))


def _as_stored(column: ValueColumn) -> pa.Array:
    """The value of each row; lists are texts."""
    values = column.values.cast(pa.string()) if is_text(column.values.type) else column.values
    return pa.concat_arrays([values, pa.nulls(1, values.type)]).take(
        pa.array(column.position_of_row)
    )


def _area_numbers(batch: ValueBatch, layout: RecordLayout) -> Int64s:
    """The number of each record's smallest area; valid records have one."""
    if not isinstance(layout.area, AreaColumns):
        return area_numbers_of(layout).of_rows(batch)
    numbers = np.zeros(rows_of(batch), dtype=np.int64)
    for name, width in zip(layout.area.columns, layout.area.widths, strict=True):
        numbers = numbers * 10**width + batch[name].digits(width)[batch[name].position_of_row]
    return numbers


def _area_texts(numbers: Int64s, layout: RecordLayout) -> dict[str, pa.Array]:
    """The texts of the area columns for areas with these numbers."""
    area = layout.area
    if not isinstance(area, AreaColumns):
        return {
            name: pa.array(texts, pa.string()).take(pa.array(numbers))
            for name, texts in area.texts_of.items()
        }
    whole = pc.utf8_lpad(pa.array(numbers).cast(pa.string()), sum(area.widths), "0")
    ends = np.cumsum(area.widths).tolist()
    spans = zip(area.columns, area.widths, ends, strict=True)
    return {name: pc.utf8_slice_codeunits(whole, end - width, end) for name, width, end in spans}


def _write_moved(data: Path, folder: Path, layout: RecordLayout, moves_to: Int64s) -> None:
    """Write the records as Parquet, those that move with their new areas."""
    folder.mkdir()
    rows = 0
    for part, batch in enumerate(_batches(data, layout)):
        own = moves_to[rows : rows + rows_of(batch)]
        rows += rows_of(batch)
        if rows > len(moves_to):
            raise InvalidInput.about(
                folder.name, f"has more rows than {PERSON_HOUSEHOLD_FILE} has households."
            )
        numbers = np.where(own == NO_ENTITY, _area_numbers(batch, layout), own)
        columns = {name: _as_stored(column) for name, column in batch.items()} | _area_texts(
            numbers, layout
        )
        pa.parquet.write_table(pa.table(columns), folder / f"{part:06d}{PARQUET.ending}")


def _chances(text: str) -> tuple[float, ...]:
    with suppress(ValueError):
        values = tuple(value_of(part, 1.0) for part in text.split("/"))
        if len(values) == 3 and abs(sum(values) - 1) < 1e-9:
            return values
    raise ValueError("Give three chances that sum to 1, such as 0/1/0.")


def _swap(rate: float, size_noise: Any, geography: Any, target: Any) -> Made:
    first = ", unusual ones first" if target == "unique" else ""
    words = f"swapping of {number_text(100 * rate)}% of households{first}"
    return Swapping(rate, size_noise, geography, target), words


_HOW = {
    "size-noise": (_chances, (0.0, 1.0, 0.0)),
    "geography": (_chances, (1.0, 0.0, 0.0)),
    "target": (("none", "unique"), "none"),
}
SWAPPING = Method("swapping", Place.RECORDS, (Form("swap", _swap, {"rate": 1.0}, _HOW),))
