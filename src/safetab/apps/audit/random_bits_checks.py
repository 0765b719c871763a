"""Whether every number gets its own random bits: a new key per run, an address per number."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from numpy.typing import NDArray

from safetab.apps.audit.selftest import right_to_draw
from safetab.apps.audit.verdicts import Verdict, verdict
from safetab.core.algorithm.level_design import LevelDesign
from safetab.core.algorithm.tabulate_level import EmptyGroups
from safetab.core.mechanisms.noisy_count import noisy_count
from safetab.core.noise.discrete_gaussian import DiscreteGaussian
from safetab.core.privacy.addressed_bits import KEY_BYTES, AddressedBits
from safetab.core.privacy.calibration import Stage
from safetab.core.privacy.exact_counts import ExactCounts
from safetab.core.privacy.ledger import DrawingRight, Ledger
from safetab.core.privacy.measurement_event import MeasurementEvent
from safetab.model.census.census import PopulationGroupLevel
from safetab.model.census.sensitivity import Sensitivity
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.products.all_products import PRODUCTS
from safetab.model.products.product import Shape, Thresholds
from safetab.model.us.us_census import DETAILED, US
from safetab.runs import run as pipeline
from safetab.runs.options import RunOptions

KEYS = "keys"
EVERY_BIT = "every bit of a key"
NO_SHARED_BITS = "no two numbers share bits"
LAZY = "empty groups are published as if drawn one by one"
_WIDTH = 2_000  # of the noise: two draws are equal once in 7,000 times

_RUNS_FOR_KEYS = 10_000
_ADDRESS_0 = bytes(16)
_DRAWS_OF_A_KEY = 256
_MOST_EQUAL = 6
_FAR = 7.0  # standard deviations; 256 bits together reach it once in a billion audits

_RUNS_FOR_ADDRESSES = 6  # two numbers agree in all once in 6 * 10^22; there are 5 * 10^10 pairs
_LAST_OF_A_NATION = 85_000 * 1_600 - 1  # more tracts and Detailed iterations than a nation has
_EDGES = (1 << 14, 1 << 21, 1 << 24, 1 << 32, _LAST_OF_A_NATION)
_NEIGHBOURS = 130
_POWERS_OF_TWO = [1 << bits for bits in range(7, 41)]
_BESIDE_EDGES = [edge + step for edge in _EDGES for step in (-1, 1)]
_INDICES = np.unique([*range(_NEIGHBOURS), *_POWERS_OF_TWO, *_BESIDE_EDGES])
_STAGES = (Stage.STAGE_1, Stage.STAGE_2, Stage.TOTAL_ONLY)

_LAZY_KEYS = 30  # a group is published with a chance of 0.37: 30 keys miss it once in a million
_LAZY_REACH = 9_000
_FIRST_THRESHOLD = 5
_SUPPRESSED_UP_TO = 4
_SIGMA_SQUARED = {Stage.STAGE_1: 90, Stage.STAGE_2: 10}
_PRODUCT = next(product for product in PRODUCTS if product.has_stage_1)
_ONE_GROUP = Sensitivity.of_groups(1)
_DESIGN = LevelDesign(
    product=_PRODUCT,
    family=_PRODUCT.families[0],
    level=PopulationGroupLevel(US.area_level("TRACT"), DETAILED),
    definition=PrivacyDefinition.ZCDP,
    sensitivity=_ONE_GROUP,
    budget=Fraction(1),
    thresholds=Thresholds((_FIRST_THRESHOLD, 8, 12)),
    stages={},
    suppression_threshold=_SUPPRESSED_UP_TO,
)


def key_check() -> Verdict:
    """Each run's key is what the operating system gave.

    No two keys are equal, and no bit is biased.
    """
    runs = _RUNS_FOR_KEYS
    found = [_key_of_a_run() for _ in range(runs)]
    keys = list(filter(None, found))
    faults = []
    if len(keys) < runs or pipeline.bits_of_run.__defaults__ != (os.urandom,):
        faults.append(f"a key isn't the {KEY_BYTES} bytes that the operating system gave for it")
    if len(set(keys)) < len(keys):
        faults.append(f"{len(keys) - len(set(keys))} of {runs:,} keys occurred before")
    if keys:
        key_bytes = np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(len(keys), -1)
        ones = np.unpackbits(key_bytes, axis=1).sum(axis=0).astype(np.int64)
        most = _FAR * math.sqrt(len(keys)) / 2
        far = np.flatnonzero(np.abs(ones - len(keys) / 2) > most).tolist()
        faults += [f"bit {bit} is 1 in {ones[bit]:,} of {len(keys):,} keys" for bit in far[:3]]
    chance = 0.5 + 9.4 / (2 * math.sqrt(runs))
    power = f"keys of 23 random bits, or a bit that is 1 with a chance of {chance:.3f}"
    seen = f"{runs:,} keys of {KEY_BYTES} bytes, all different, every bit 0 and 1 equally often"
    return verdict(KEYS, faults, seen, power)


def _key_of_a_run() -> bytes | None:
    """The bytes that the operating system gave a run.

    None if they are not the key of its bits.
    """
    given: list[bytes] = []

    def urandom(size: int) -> bytes:
        given.append(os.urandom(size))
        return given[-1]

    bits = pipeline.bits_of_run(RunOptions(), urandom)
    key = b"".join(given)
    if len(key) != KEY_BYTES:
        return None
    cipher = Cipher(algorithms.AES(key), modes.ECB())  # noqa: S305 - of one block
    is_its_key = bits.words(0, np.arange(1)).tobytes() == cipher.encryptor().update(_ADDRESS_0)
    return key if is_its_key else None


def key_bits_check() -> Verdict:
    """Keys that differ in any single bit give unrelated noise, however its bits are read.

    Two draws of this noise are equal once in 7,000 times; more than six of 256 are, once in 10^13
    times. The correlation of 256 independent pairs is 7 / 16 once in 10^12 times. All comparisons
    together fail once in 10^9 checks.
    """
    key = os.urandom(KEY_BYTES)
    usual = _noise_of_key(key)
    faults: list[str] = []
    for bit in range(8 * KEY_BYTES):
        changed = bytearray(key)
        changed[bit // 8] ^= 1 << bit % 8
        for how, noise in _noise_of_key(bytes(changed)).items():
            equal = int(np.count_nonzero(noise == usual[how]))
            correlation = np.corrcoef(noise, usual[how])[0, 1]
            if equal > _MOST_EQUAL or abs(correlation) * math.sqrt(len(noise)) > _FAR:
                draws = f"{equal} of {len(noise)} draws {how}"
                faults.append(f"bit {bit}: {draws} are the same without it")
    seen = f"{8 * KEY_BYTES} keys, each with one bit flipped, read in two ways"
    return verdict(EVERY_BIT, faults, seen)


def _noise_of_key(key: bytes) -> dict[str, NDArray[np.int64]]:
    """Noise of neighbouring groups, read as one stream, and of groups that are not neighbours."""
    right = right_to_draw(DiscreteGaussian(Fraction(_WIDTH**2)), AddressedBits(key))
    indices = {
        "of neighbours": np.arange(_DRAWS_OF_A_KEY),
        "of others": np.arange(0, 2 * _DRAWS_OF_A_KEY, 2),
    }
    return {how: _total_noise(of_groups, right) for how, of_groups in indices.items()}


def _noise(indices: NDArray[np.int64], shape: Shape, right: DrawingRight) -> NDArray[np.int64]:
    nobody = np.zeros((len(indices), shape.cells), dtype=np.int64)
    return noisy_count(ExactCounts(indices, nobody), shape, right)


def _total_noise(indices: NDArray[np.int64], right: DrawingRight) -> NDArray[np.int64]:
    return _noise(indices, right.event.family.total, right)[:, 0]


def shared_bits_check() -> Verdict:
    """No two numbers have the same noise under several keys, at any kind of address.

    Wide noise is drawn for sampled groups of every cell, stage, level and family, and sorted.
    """
    zcdp, cost = PrivacyDefinition.ZCDP, Fraction(1, 2 * _WIDTH**2)
    events = [
        MeasurementEvent(product, family, level, stage, zcdp, _ONE_GROUP, cost)
        for product in PRODUCTS
        for family in product.families
        for level in US.levels
        for stage in (_STAGES if product.has_stage_1 else (Stage.STAGE_2,))
    ]
    columns = [
        f"{event.product.name} {event.level}, stage {int(event.stage)}, {shape.label} cell {cell}"
        for event in events
        for shape in _shapes(event)
        for cell in range(shape.cells)
    ]
    rights = [_rights(events) for _ in range(_RUNS_FOR_ADDRESSES)]
    runs = [_drawn(rights_of_run, _INDICES) for rights_of_run in rights]
    faults = [
        f"{columns[number]}: neighbours read as a stream have other noise"
        for number in _other_streams(rights[0], runs[0])
    ]
    signs = np.where(runs[0] < 0, -1, 1)  # opposite noise is no better than equal noise
    halves = (runs[: _RUNS_FOR_ADDRESSES // 2], runs[_RUNS_FOR_ADDRESSES // 2 :])
    # several draws of each number in one integer; wide noise stays far below 2^20
    packed = [
        reduce(lambda found, run: (found << 21) + signs * run, half, 0 * signs) for half in halves
    ]
    numbers = np.stack(packed)
    order = np.lexsort(numbers)
    is_same = (numbers[:, order[1:]] == numbers[:, order[:-1]]).all(axis=0)
    pairs = np.stack([order[:-1][is_same], order[1:][is_same]], axis=1).tolist()
    faults += [_sharing(columns, *sorted(pair)) for pair in pairs]
    cells = f"{numbers.shape[1]:,} numbers of {len(columns):,} cells"
    seen = f"{cells}, at indices up to 2^40, false alarm 1e-12"
    return verdict(NO_SHARED_BITS, faults, seen, "any two of these numbers that share their noise")


def _sharing(columns: Sequence[str], first: int, second: int) -> str:
    """Say which two numbers share noise, given their positions among all numbers."""
    column, group = divmod(first, len(_INDICES))
    other_column, other_group = divmod(second, len(_INDICES))
    if column == other_column:
        groups = f"groups {_INDICES[group]} and {_INDICES[other_group]}"
        return f"{columns[column]}: {groups} share their noise"
    return f"{columns[column]} and {columns[other_column]} share their noise"


def _shapes(event: MeasurementEvent) -> Sequence[Shape]:
    return event.family.shapes if event.stage is Stage.STAGE_2 else (event.family.total,)


def _rights(events: Sequence[MeasurementEvent]) -> list[DrawingRight]:
    """Rights from a ledger with its own key and enough budget."""
    budgets = {event.measured: 2 * event.cost for event in events}
    ledger = Ledger(budgets, AddressedBits(os.urandom(KEY_BYTES)))
    return [ledger.charge(event) for event in events]


def _drawn(rights: Sequence[DrawingRight], indices: NDArray[np.int64]) -> NDArray[np.int64]:
    """The noise of every column, one after the other."""
    parts = []
    for right in rights:
        parts += [_noise(indices, shape, right).T.reshape(-1) for shape in _shapes(right.event)]
    return np.concatenate(parts)


def _other_streams(rights: Sequence[DrawingRight], drawn: NDArray[np.int64]) -> list[int]:
    """The columns whose first groups have other noise as one stream than address by address.

    `drawn` has gaps, so it was read address by address. Where both readings agree, a stream shares
    no bits either.
    """
    first = _INDICES[:_NEIGHBOURS]
    streams = _drawn(rights, first).reshape(-1, len(first))
    is_other = streams != drawn.reshape(-1, len(_INDICES))[:, : len(first)]
    return [int(column) for column in np.flatnonzero(is_other.any(axis=1))]


def empty_groups_check() -> Verdict:
    """Empty groups that are looked up are those whose noise, drawn one by one, publishes them.

    The ranges lie around every edge where an index could wrap: they end there, begin there and go
    across. Some have more than 2^14 groups.
    """
    faults: list[str] = []
    looked_at = 0
    measured = (_DESIGN.product, _DESIGN.family, _DESIGN.level)
    events = [
        MeasurementEvent(
            *measured, stage, _DESIGN.definition, _ONE_GROUP, Fraction(1, 2 * sigma_squared)
        )
        for stage, sigma_squared in _SIGMA_SQUARED.items()
    ]
    for _ in range(_LAZY_KEYS):
        rights = _rights(events)
        empty = EmptyGroups(_DESIGN, *rights)
        for edge in _EDGES:
            indices = np.arange(edge - _LAZY_REACH, edge + _LAZY_REACH)
            looked_at += len(indices)
            stage_1, stage_2 = noise = [_drawn_alone(indices, right) for right in rights]
            if not np.array_equal(noise, [_total_noise(indices, right) for right in rights]):
                where = f"around {edge:,}"
                faults.append(f"{where}: groups drawn together get other noise than drawn alone")
            is_published = (stage_1 >= _FIRST_THRESHOLD) | (stage_2 > _SUPPRESSED_UP_TO)
            for part in (slice(_LAZY_REACH), slice(_LAZY_REACH, None), slice(None)):
                first, last = int(indices[part][0]), int(indices[part][-1])
                expected = indices[part][is_published[part]]
                different = np.setxor1d(empty.that_may_be_published(first, last + 1), expected)
                if len(different):
                    faults.append(f"group {different[0]:,} is not published as its noise requires")
    seen = f"{looked_at:,} groups around 2^14, 2^21, 2^24, 2^32 and a nation's last"
    return verdict(LAZY, faults, seen, "an empty group at an edge that the program skips")


def _drawn_alone(indices: NDArray[np.int64], right: DrawingRight) -> NDArray[np.int64]:
    """Noise of every second group, then of the others: neighbours would be read as one stream."""
    found = np.empty_like(indices)
    for first in (0, 1):
        found[first::2] = _total_noise(indices[first::2], right)
    return found
