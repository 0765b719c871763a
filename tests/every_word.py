"""Levels so small that every combination of random words can be run, and what their outputs reveal.

One call of `tabulate_level` runs all of them: the level gets N areas that are copies of one area, and area r reads the
r-th combination of words. A word on which a value depends is divided where the distribution divides it, so that the
chance of each combination is known. Noise from `most_noise` on is one case, and numbers are cut off before it: that is
post-processing, so a bound on what the numbers reveal is a bound on what the cut ones reveal.
"""

from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from flint import fmpz
from numpy.typing import NDArray

from tests.inside import (
    BatchSizes,
    ChangedCounts,
    ExactCounts,
    InversionTable,
    Ledger,
    LossCurve,
    Stage,
    noisy_count_module,
    plan_of,
    read_public_files,
    tabulate_level,
    working_precision,
)
from tests.worlds.specified.small_world import nz_keys, write_specification

Int64s = NDArray[np.int64]
Counts = tuple[tuple[int, ...], ...]
"""Of each group of the area, how many records have each value of the attribute."""
BLOCK_BITS = 128


@dataclass(frozen=True)
class SmallLevel:
    """One area's groups, and how they are measured."""

    definition: str
    budget: Fraction
    stage_1: str
    thresholds: tuple[int, ...]  # one for each shape after the total
    suppress: str | None  # the chance with which a total of nobody is suppressed
    word_bits: int
    most_noise: int
    shapes: tuple[tuple[str, ...], ...] = (("gender",),)  # after the total: what each is by
    codes: int = 1
    members: tuple[str, ...] = ("any",)
    most_records: int = 1  # of a unit
    most_size: int = 1  # of a group

    @property
    def groups(self):
        return self.codes * len(self.members)


@cache
def plan_of_level(level):
    """Of a specification in files, as a run would make it; the census has one area."""
    keys = nz_keys()
    fields = [field for field in keys["records"]["fields"] if field["name"] not in {"AGE", "ETH2", "ETH3"}]
    gender = next(field for field in fields if field["name"] == "GENDER")
    gender["categories"] = gender["categories"][:2]
    any_one = {
        "name": "PRESENT",
        "attribute": "present",
        "type": "string",
        "categories": [{"value": "1", "label": "yes"}],
    }
    keys["records"] |= {"fields": [*fields, any_one, {"name": "UNIT", "type": "string"}]}
    if level.most_records > 1:
        keys["records"]["unit"] = {"name": "unit", "column": "UNIT", "most_records": level.most_records}
    keys["classifications"]["ethnicity"] = {"file": "ethnicity.csv", "columns": ["ETH1"]}
    of_groups = {"column": "level1", "names": "level1_name", "of": "ethnicity", "members": list(level.members)}
    keys["groups"]["levels"] = [{"name": "level 1", "title": "Level 1", **of_groups}]
    finer = [{"id": f"E{n}", "label": f"shape_{n}", "title": f"Shape {n}", "by": list(by)}
             for n, by in enumerate(level.shapes, 2)]  # fmt: skip
    keys["tables"][0]["shapes"] = [{"id": "E1", "label": "total", "title": "Total"}, *finer]
    keys["privacy"] |= {"definition": level.definition, "stage_1": Decimal(level.stage_1)}
    keys["privacy"].pop("suppress")
    if level.suppress is not None:
        keys["privacy"]["suppress"] = {"chance": Decimal(level.suppress), "areas": ["nation", "region", "ta", "sa2"]}
    budget = Decimal(level.budget.numerator) / level.budget.denominator
    choice = {"groups": "level 1", "areas": "nation", "budget": budget, "thresholds": list(level.thresholds)}
    keys["privacy"]["levels"] = [choice]
    codes = "code,name,level1,level1_name\n" + "".join(f"1111{n},code {n},{n},group {n}\n" for n in range(level.codes))
    with TemporaryDirectory() as folder:
        files = read_public_files(*write_specification(Path(folder), keys, files={"ethnicity.csv": codes}))
        (plan,) = plan_of(files.require()).require().levels
    assert plan.universe.size == level.groups
    return plan


@dataclass(frozen=True)
class Letters:
    """The cases of one draw: the blocks of bits, the noise that each stands for, and its chance."""

    blocks: NDArray[np.uint64]  # of both words
    values: Int64s
    chances: NDArray[np.float64]


@cache
def letters_of(noise, word_bits, most_noise):
    """Every word is a case, and more than one if the noise isn't the same in all of the word."""
    whole = 1 << BLOCK_BITS
    ends = [_scaled_cdf(noise, value) for value in range(-most_noise, most_noise)]
    words = range(0, whole, whole >> word_bits)
    begins = np.array(sorted({*words, *ends}), dtype=object)
    sizes = np.append(begins[1:], whole) - begins
    middles = begins + sizes // 2
    blocks = [(int(middle) >> 64, int(middle) % (1 << 64)) for middle in middles]
    values = np.searchsorted(np.array(ends, dtype=object), middles, side="right") - most_noise
    return Letters(np.array(blocks, dtype=np.uint64), values, (sizes / whole).astype(np.float64))


def _scaled_cdf(noise, value):
    """F(value) in units of the last bit of a block."""
    with working_precision(3 * BLOCK_BITS):
        floor = (noise.cdf(value, 3 * BLOCK_BITS) * fmpz(2) ** BLOCK_BITS).floor().unique_fmpz()
    assert floor is not None
    return int(floor)


Place = tuple[Stage, int, int, int]
"""Of a draw: its stage, the number of its shape, its cell, and its group."""


def places_of(plan, groups):
    """Every draw that a level might make for one area."""
    for group in range(groups):
        yield Stage.STAGE_1, 0, 0, group
        for number, shape in enumerate(plan.family.shapes):
            for cell in range(shape.cells):
                yield Stage.STAGE_2, number, cell, group


class EveryCombination:
    """Stands for a run's random bits: area r has the r-th combination of the letters of all places."""

    def __init__(self, level):
        plan = plan_of_level(level)
        self.groups = level.groups
        self.letters = {
            place: letters_of(plan.design.noise(place[0]), level.word_bits, level.most_noise)
            for place in places_of(plan, level.groups)
        }
        sizes = [len(letters.values) for letters in self.letters.values()]
        self.areas = int(np.prod(sizes))
        digits = np.unravel_index(np.arange(self.areas), sizes)
        self.digits = dict(zip(self.letters, (each.astype(np.int16) for each in digits), strict=True))

    def values(self, *place):
        """The noise at this place of each area."""
        return self.letters[place].values[self.digits[place]]

    def chances(self):
        """The chance of each area's combination."""
        product = np.ones(self.areas)
        for place, letters in self.letters.items():
            product *= letters.chances[self.digits[place]]
        return product

    def become_owned(self):
        """As bits of a key do: a ledger wants them for itself."""

    def words(self, prefix, indices):
        """Both words at an address; raises KeyError if nothing should be drawn there."""
        stage, shape, cell = Stage(prefix >> 40 & 15), prefix >> 32 & 255, prefix >> 24 & 255
        if prefix % (1 << 24):
            raise KeyError("a block decides every draw, so that nobody asks for an extension")
        found = np.empty((len(indices), 2), dtype=np.uint64)
        for group in range(self.groups):
            is_of_group = indices % self.groups == group
            place = (stage, shape, cell, group)
            areas = indices[is_of_group] // self.groups
            found[is_of_group] = self.letters[place].blocks[self.digits[place][areas]]
        return found

    def batches(self, prefix, indices):
        """As bits of a key: part by part."""
        for first in range(0, len(indices), 1 << 12):
            part = slice(first, first + (1 << 12))
            yield part, self.words(prefix, indices[part])

    def first_words_of_range(self, prefix, first, end):
        """As bits of a key: part by part."""
        for start in range(first, end, 1 << 12):
            yield start, self.words(prefix, np.arange(start, min(start + (1 << 12), end)))[:, 0].copy()


class CutTable(InversionTable):
    """A table of few bits. Undecided words are resolved as in a run, each once."""

    def resolved(self, bits, more_bits):
        known = self.__dict__.setdefault("known", {})
        if bits not in known:
            known[bits] = super().resolved(bits, more_bits)
        return known[bits]


@dataclass(frozen=True)
class CopiedCounts:
    """The exact counts of areas that are all alike."""

    counts: Counts
    areas: int

    def totals(self, _):
        """As an engine: only groups with a record."""
        totals = np.array([sum(of_group) for of_group in self.counts])
        indices = np.flatnonzero(np.tile(totals > 0, self.areas))
        return ExactCounts(indices, np.tile(totals, self.areas)[indices].reshape(-1, 1))

    def cells(self, _, groups_of):
        """As an engine."""
        return {
            shape: ExactCounts(indices, cells_of(self.counts, shape)[indices % len(self.counts)])
            for shape, indices in groups_of.items()
        }


def cells_of(counts, shape):
    """The cells of a shape for each group; a record has one value of gender, and its other attribute has one value."""
    return np.array([np.bincount(shape.cell_of_value, of_group, shape.cells) for of_group in counts]).astype(np.int64)


NOTHING = -100  # where a number is not published


def outputs_of(level, counts, words):
    """What `tabulate_level` publishes in each area: of each group the shape, the total of stage 1, and the numbers."""
    plan = plan_of_level(level)
    entities = np.arange(1, words.areas + 1)
    plan = replace(plan, universe=replace(plan.universe, entities=entities))
    ledger = Ledger({(plan.family, plan.level): plan.design.budget}, words)
    found = np.full((len(entities) * level.groups, 2 + _most_cells(plan)), NOTHING)
    tables = cache(lambda noise: CutTable(noise, level.word_bits))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noisy_count_module, "inversion_table", tables)
        for part in tabulate_level(plan, CopiedCounts(counts, words.areas), ledger, BatchSizes(groups=10_007)):
            assert (found[part.indices] == NOTHING).all()
            found[part.indices, 0] = part.shape_numbers
            found[part.indices, 1] = part.stage_1_totals
            for shape, values in part.values.items():
                found[part.indices[part.groups_of(shape)], 2 : 2 + shape.cells] = values
    assert ledger.spent(plan.level.geography.tabulation_pass) == level.budget
    return cut_off(level, found.reshape(words.areas, -1), counts)


def read_one_by_one(level, counts, words):
    """What the rules of the paper publish, with the noise of every group."""
    plan = plan_of_level(level)
    found = np.full((words.areas, level.groups, 2 + _most_cells(plan)), NOTHING)
    suppression = plan.design.suppression_threshold
    for group, of_group in enumerate(counts):
        size = sum(of_group)
        stage_1 = size + words.values(Stage.STAGE_1, 0, 0, group)
        chosen = sum((stage_1 >= threshold).astype(np.int64) for threshold in level.thresholds)
        total = size + words.values(Stage.STAGE_2, 0, 0, group)
        is_published = chosen > 0
        is_published |= total > suppression if suppression is not None else True
        own = found[:, group]
        own[:, 0], own[:, 1] = chosen, stage_1
        for number, shape in enumerate(plan.family.shapes):
            exact = cells_of((of_group,), shape)[0]
            noise = [words.values(Stage.STAGE_2, number, cell, group) for cell in range(shape.cells)]
            own[:, 2 : 2 + shape.cells][chosen == number] = (exact + np.stack(noise, axis=1))[chosen == number]
        own[~is_published] = NOTHING
    return cut_off(level, found.reshape(words.areas, -1), counts)


def _most_cells(plan):
    return max(shape.cells for shape in plan.family.shapes)


def cut_off(level, outputs, counts):
    """The outputs with numbers cut off so far inside that it doesn't matter how large the most noise is."""
    assert max(map(sum, counts)) <= level.most_size
    farthest = level.most_noise - level.most_size
    plan = plan_of_level(level)
    limits = [*level.thresholds, plan.design.suppression_threshold or 0]
    assert max(map(abs, limits)) <= farthest
    return np.where(outputs == NOTHING, NOTHING, np.clip(outputs, -farthest, level.most_noise))


def distributions(outputs, chances):
    """The chances of every output that one of them has; all runs have the same combinations."""
    keys = [np.zeros(len(chances), dtype=np.int64) for _ in outputs]
    for column in range(outputs[0].shape[1]):
        least = min(int(each[:, column].min()) for each in outputs)
        width = max(int(each[:, column].max()) for each in outputs) - least + 1
        keys = [key * width + each[:, column] - least for key, each in zip(keys, outputs, strict=True)]
    distinct, places = np.unique(np.concatenate(keys), return_inverse=True)
    return [np.bincount(of_one, chances, len(distinct)) for of_one in np.split(places, len(outputs))]


def renyi_divergence(p, q, order):
    """Of this order above 1; infinite if q has no chance where p has one. At `inf`, the greatest log ratio."""
    is_there = p > 0
    if (q[is_there] == 0).any():
        return np.inf
    log_p, log_q = np.log(p[is_there]), np.log(q[is_there])
    if order == np.inf:
        return float(np.max(log_p - log_q))
    return float(np.logaddexp.reduce(order * log_p + (1 - order) * log_q)) / (order - 1)


def hockey_stick(p, q, epsilon):
    """The least delta at this epsilon, one way."""
    return float(np.maximum(p - np.exp(float(epsilon)) * q, 0).sum())


ORDERS = (1.001, 1.5, 2.0, 3.0, 5.5, 16.0, 64.0)
EPSILONS = tuple(Fraction(quarters, 4) for quarters in (0, 1, 2, 4, 6, 8))
_ROUNDING = 1e-11


@dataclass(frozen=True)
class Revealed:
    """What is wrong, in sentences, and how much of the charge the worst divergence is."""

    wrong: list[str]
    share_of_charge: float


@cache
def delta_of(level, epsilon):
    """The least delta of the level's noisy numbers if nothing were suppressed."""
    design = plan_of_level(level).design
    stages = (design.noise(Stage.STAGE_1), design.noise(Stage.STAGE_2))
    curve = LossCurve(tuple(ChangedCounts(noise, design.stability, level.most_records) for noise in stages))
    return float(curve.delta(epsilon).upper())


def revealed(level, neighbours):
    """Run every combination on all data, and compare neighbours with the charge and runs with the rules."""
    words = EveryCombination(level)
    chances = words.chances()
    wrong, shares = [], [0.0]
    outputs = {}
    for counts in dict.fromkeys(counts for pair in neighbours for counts in pair):
        outputs[counts] = outputs_of(level, counts, words)
        differ = (outputs[counts] != read_one_by_one(level, counts, words)).any(axis=1)
        if differ.any():
            wrong.append(f"{counts}: {differ.sum()} outputs are not those of reading every group")
    if abs(chances.sum() - 1) > _ROUNDING:
        wrong.append(f"the chances add up to {chances.sum()}")
    orders = ORDERS if level.definition == "zcdp" else (np.inf,)
    for pair in neighbours:
        p, q = distributions([outputs[counts] for counts in pair], chances)
        for one, other in ((p, q), (q, p)):
            for order in orders:
                allowed = float(level.budget) * (order if order < np.inf else 1)
                share = renyi_divergence(one, other, order) / allowed
                shares.append(share)
                if share > 1 + _ROUNDING:
                    wrong.append(f"{pair}: divergence of order {order} is {share} of what was charged")
            for epsilon in EPSILONS:
                delta = hockey_stick(one, other, epsilon)
                allowed = delta_of(level, epsilon)
                if delta > allowed + _ROUNDING:
                    wrong.append(f"{pair}: delta {delta} at epsilon {epsilon}, where {allowed} was charged")
    return Revealed(wrong, max(shares))
