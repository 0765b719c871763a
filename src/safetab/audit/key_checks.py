"""Whether a run's key is 32 bytes from the operating system, new each time."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from safetab.audit.verdicts import Verdict, verdict
from safetab.pipeline import run as pipeline
from safetab.pipeline.options import RunOptions
from safetab.privacy import addressed_bits
from safetab.privacy.addressed_bits import KEY_BYTES, AddressedBits

KEYS = "keys"
RUNS = 10_000
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
