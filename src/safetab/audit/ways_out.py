"""Equal noisy numbers, equal bytes: on every way out, and for thousands of people.

Other people are always more people: a group that is empty in the first world alone is asked for its noise in the second
one, and has it there as it would have had it here.
"""

from __future__ import annotations

import importlib.util
import os
import random
from collections.abc import Iterator
from pathlib import Path

from safetab.audit import worlds
from safetab.audit.audited_runs import SPARK, WAYS, People, Setting, Way, audited_run, different_files
from safetab.audit.verdicts import Verdict, verdict
from safetab.privacy.addressed_bits import KEY_BYTES

WAYS_OUT, SCALE = "equal numbers on every way out", "thousands of people, equal numbers"
_FEW, _MANY = 1_500, 4_600
_SEED = 20_200_401  # who they are makes no difference; that they are the same each time helps to look into a failure


def ways(*, is_quick: bool) -> tuple[Way, ...]:
    if is_quick:
        return WAYS[2:4]
    return (*WAYS, SPARK) if importlib.util.find_spec("pyspark") else WAYS


def way_checks(folder: Path, chosen: tuple[Way, ...], key: bytes | None = None) -> Iterator[Verdict]:
    for number, way in enumerate(chosen):
        yield _replayed(
            f"{WAYS_OUT}: {way.name}", folder / str(number), worlds.POPULATION, worlds.SEVERAL_MORE, way, key
        )


def scale_check(folder: Path, key: bytes | None = None) -> Verdict:
    """Two thirds of the people of a pass are removed at once, and the rows are shuffled."""
    dice = random.Random(_SEED)  # noqa: S311 - people, not noise
    blocks = [block for block in worlds.BLOCKS if block != worlds.EMPTY_BLOCK]
    people = [_somebody(dice, blocks) for _ in range(_MANY)]
    few, many = tuple(people[:_FEW]), dice.sample(people, len(people))
    return _replayed(SCALE, folder, few, tuple(many), WAYS[3], key)


def _somebody(dice: random.Random, blocks: list[str]) -> worlds.Person:
    races = tuple(dice.sample(worlds.RACES, dice.choice((1, 1, 2, 3, 8))))
    ethnicity = dice.choice(worlds.ETHNICITIES)
    return worlds.Person(dice.choice(blocks), races, ethnicity, dice.choice((1, 2)), dice.randint(0, worlds.OLDEST_AGE))


def _replayed(name: str, folder: Path, few: People, many: People, way: Way, key: bytes | None) -> Verdict:
    key = key or os.urandom(KEY_BYTES)
    one = audited_run(folder / "few", few, Setting(key, way))
    other = audited_run(folder / "many", many, Setting(key, way, one.record))
    faults = different_files(one.released, other.released)
    seen = f"{len(one.released)} files, {len(few):,} and {len(many):,} people"
    return verdict(name, faults, seen)
