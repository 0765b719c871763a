"""What the audit needs of a product: worlds of records that do not exist, and what is known of them by hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

from safetab.census.iterations import IterationLevel
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


@dataclass(frozen=True, slots=True)
class NoiseWorld:
    """Every level of both passes, many entities, crowds and nobody: every group is drawn, none chosen for its noise."""

    name: str
    write: Callable[[Path], AuditWorld]
    stability: Mapping[IterationLevel, int]  # counted by hand
    stage_1_fraction: Fraction


@dataclass(frozen=True, slots=True)
class LossWorld:
    """One level of many entities, each with the same records; every second one has one record more.

    That record fills as many groups as one can. Numbers of different entities have noise of their own, so each entity
    is one sample of what a release tells about it.
    """

    name: str
    definition: PrivacyDefinition
    stability: int  # how many groups the record is in
    budget: Fraction
    stage_fractions: tuple[Fraction, ...]  # the shares of the budget that each of these groups is measured with
    runs: int  # each with a key of its own
    entities: int
    write: Callable[[Path], AuditWorld]
    is_suppressed: bool = False


@dataclass(frozen=True, slots=True)
class AuditedProduct:
    """A product and its worlds."""

    product: Product
    write: WriteWorld
    population: People
    several_more: People  # who fill whatever a person can, in both passes
    neighbours: tuple[Neighbour, ...]
    quick_neighbours: tuple[Neighbour, ...]
    nobody_in_a_pass: People
    first_of_a_pass: Neighbour
    few: People
    many: People  # the few and thousands more, shuffled
    noise_worlds: tuple[NoiseWorld, ...]
    loss_worlds: tuple[LossWorld, ...]
    quick_loss_worlds: tuple[LossWorld, ...]
