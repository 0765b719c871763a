"""Whether a run's key is 32 bytes from the operating system, new each time."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from safetab.audit.paid_noise import right_to_draw
from safetab.audit.verdicts import Verdict, verdict
from safetab.distributions.discrete_gaussian import DiscreteGaussian
from safetab.mechanisms.noisy_count import noisy_count
from safetab.pipeline import run as pipeline
from safetab.pipeline.options import RunOptions
from safetab.privacy import addressed_bits
from safetab.privacy.addressed_bits import KEY_BYTES, AddressedBits
from safetab.privacy.exact_counts import ExactCounts

KEYS, EVERY_BIT = "keys", "every bit of a key"
RUNS = 10_000
_WIDTH, _ADDRESSES, _MOST_EQUAL = 2_000, 256, 6
_FAR = 7.0  # standard deviations; 256 bits together reach it once in a thousand million audits


def key_check(runs: int = RUNS) -> Verdict:
    """So many runs' keys: each is what the operating system gave, no two are equal, every bit is 0 and 1 alike."""
    with _watched() as (given, keys):
        for _ in range(runs):
            pipeline.bits_of_run(RunOptions())
    faults = []
    if keys != given or any(len(key) != KEY_BYTES for key in keys):
        faults.append(f"a key isn't the {KEY_BYTES} bytes that the operating system gave for it")
    if len(set(keys)) < runs:
        faults.append(f"{runs - len(set(keys))} of {runs:,} keys were there before")
    if keys and all(len(key) == KEY_BYTES for key in keys):
        ones = np.unpackbits(np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(len(keys), -1), axis=1).sum(axis=0)
        far = np.flatnonzero(np.abs(ones.astype(np.int64) - len(keys) / 2) > _FAR * math.sqrt(len(keys)) / 2)
        faults += [f"bit {bit} is 1 in {ones[bit]:,} of {len(keys):,} keys" for bit in far.tolist()[:3]]
    power = f"keys of 23 random bits, or a bit that is 1 with a chance of {0.5 + 9.4 / (2 * math.sqrt(runs)):.3f}"
    return verdict(KEYS, faults, f"{runs:,} keys of {KEY_BYTES} bytes, all different, every bit 0 and 1 alike", power)


def key_bits_check() -> Verdict:
    """Keys that differ in a single bit, any of them, give unrelated noise, however its bits are read.

    Two draws of this noise are equal once in 7,000 times: more than six of 256 are once in 10^13 times. The correlation
    of 256 independent pairs is 7 / 16 once in 10^12 times. All comparisons together fail once in 10^9 checks.
    """
    key, faults = os.urandom(KEY_BYTES), list[str]()
    usual = _noise_of_key(key)
    for bit in range(8 * KEY_BYTES):
        changed = bytearray(key)
        changed[bit // 8] ^= 1 << bit % 8
        for how, noise in _noise_of_key(bytes(changed)).items():
            equal = int(np.count_nonzero(noise == usual[how]))
            correlation = np.corrcoef(noise, usual[how])[0, 1]
            if equal > _MOST_EQUAL or abs(correlation) * math.sqrt(len(noise)) > _FAR:
                faults.append(f"bit {bit}: {equal} of {len(noise)} draws {how} are the same without it")
    return verdict(EVERY_BIT, faults, f"{8 * KEY_BYTES} keys, each with one bit flipped, read in two ways")


def _noise_of_key(key: bytes) -> dict[str, NDArray[np.int64]]:
    """Noise of neighbouring groups, read as one stream, and of groups that are not neighbours."""
    right = right_to_draw(DiscreteGaussian(Fraction(_WIDTH**2)), AddressedBits(key))
    total, nobody = right.event.family.total, np.zeros((_ADDRESSES, 1), dtype=np.int64)
    ways = {"of neighbours": np.arange(_ADDRESSES), "of others": np.arange(0, 2 * _ADDRESSES, 2)}
    return {how: noisy_count(ExactCounts(indices, nobody), total, right)[:, 0] for how, indices in ways.items()}


@contextmanager
def _watched() -> Iterator[tuple[list[bytes], list[bytes]]]:
    """What the operating system gives, and what becomes a key."""
    given, keys = list[bytes](), list[bytes]()
    begin: Callable[[AddressedBits, bytes], None] = AddressedBits.__init__

    class WatchedSystem:
        def urandom(self, size: int) -> bytes:
            given.append(os.urandom(size))
            return given[-1]

    def beginning(self: AddressedBits, key: bytes) -> None:
        keys.append(key)
        begin(self, key)

    setattr(addressed_bits, "os", WatchedSystem())  # noqa: B010 - stands in on purpose
    setattr(AddressedBits, "__init__", beginning)  # noqa: B010
    try:
        yield given, keys
    finally:
        setattr(addressed_bits, "os", os)  # noqa: B010
        setattr(AddressedBits, "__init__", begin)  # noqa: B010
