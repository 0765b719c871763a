"""What the audit needs of a product: worlds of records that do not exist, and what is known of them by hand."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

from safetab.audit.verdicts import Verdict
from safetab.census.iterations import IterationLevel
from safetab.pipeline.options import RunOptions
from safetab.privacy.definitions import PrivacyDefinition
from safetab.products.product import Product


@dataclass(frozen=True, slots=True)
class AuditWorld:
    """PARAMETERS and DATA of a run."""

    parameters: Path
    data: Path


class FileRow(Protocol):
    """A record of somebody who doesn't exist."""

    @property
    def row(self) -> str:
        """As it stands in the file of records."""


People = tuple[FileRow, ...]
WriteWorld = Callable[[Path, People, Mapping[str, Any]], AuditWorld]
"""Takes a folder, the records, and what is changed in the usual configuration."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another world: with one record more, or with one record changed."""

    name: str
    people: People
    is_changed: bool = False  # in its attribute alone; none was added
    has_other_codes: bool = False  # a record that left its groups and entered others; none was added

    @property
    def may_differ_both_ways(self) -> bool:
        return self.is_changed or self.has_other_codes


@dataclass(frozen=True, slots=True)
class NoiseWorld:
    """Every level of both passes, many entities, crowds and nobody: every group is drawn, none chosen for its noise."""

    name: str
    write: Callable[[Path], AuditWorld]
    stability: Mapping[IterationLevel, int]  # counted by hand


@dataclass(frozen=True, slots=True)
class LossWorld:
    """One geography level of many entities, each with the same records; every second one has one record more.

    That record fills as many groups as one can. Numbers of different entities have noise of their own, so each entity
    is one sample of what a release tells about it.
    """

    name: str
    definition: PrivacyDefinition
    stability: int  # how many groups the record is in
    budget: Fraction
    fractions: tuple[Fraction, ...]  # of the budget, with which each of these groups is measured: by stage or family
    runs: int  # each with a key of its own
    entities: int
    write: Callable[[Path], AuditWorld]
    is_suppressed: bool = False


@dataclass(frozen=True, slots=True)
class FloorWorld:
    """One level in which one stage or family has the narrowest noise."""

    name: str
    stability: int
    share: Fraction  # of the budget that it is written with, which buys the narrowest noise
    write: Callable[[Path, float, str], AuditWorld]
    """Takes a folder, a budget and a privacy definition as config.json has it."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way out of the program: options, configuration, and what is done with the output afterwards."""

    name: str
    options: RunOptions = field(default_factory=RunOptions)
    changes: Mapping[str, Any] = field(default_factory=dict)
    is_in_small_batches: bool = False
    is_released_again: bool = False


@dataclass(frozen=True, slots=True)
class CpuSeconds:
    """About how long the parts of an audit take, as measured."""

    neighbours: int
    ways: int  # without Spark
    spending: int
    noise: int
    loss: int


@dataclass(frozen=True, slots=True)
class AuditedProduct:
    """A product and its worlds."""

    product: Product
    write: WriteWorld
    write_large: Callable[[Path], AuditWorld]  # one level of more groups than are read at once, and a crowd
    population: People
    several_more: People  # who fill whatever a person can, in both passes
    neighbours: tuple[Neighbour, ...]
    quick_neighbours: tuple[Neighbour, ...]
    nobody_in_a_pass: People
    first_of_a_pass: Neighbour
    few: People
    many: People  # the few and thousands more, shuffled
    ways: tuple[Way, ...]
    quick_ways: tuple[Way, ...]
    times_lost: int  # a record's loss, by a person whose presence is at stake
    floor_worlds: tuple[FloorWorld, ...]
    of_its_own: Callable[[Path], Iterator[Verdict]] | None  # what only this product has
    noise_worlds: tuple[NoiseWorld, ...]
    quick_noise_worlds: tuple[NoiseWorld, ...]
    loss_worlds: tuple[LossWorld, ...]
    quick_loss_worlds: tuple[LossWorld, ...]
    cpu_seconds: CpuSeconds
    quick_cpu_seconds: CpuSeconds
