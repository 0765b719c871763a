"""A product as the audit needs it: made-up worlds, and facts about them counted by hand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from safetab.core.noise.discrete_gaussian import DiscreteGaussian
from safetab.core.noise.discrete_laplace import DiscreteLaplace
from safetab.core.noise.noise_distribution import NoiseDistribution
from safetab.model.census.groups import GroupLevel
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.products.product import Product
from safetab.runs.options import RunOptions


@dataclass(frozen=True, slots=True)
class AuditWorld:
    """The folders PARAMETERS and DATA of a run, and its public table of the smallest areas."""

    parameters: Path
    data: Path
    areas: Path


NO_ETHNICITY = "9950"


def due_noise(
    definition: PrivacyDefinition, stability: int, most_records: int, cost: Fraction
) -> NoiseDistribution:
    """The noise that a charge must buy, calibrated here anew.

    It is for up to `most_records` records of a unit. Sigma squared = most squared * stability / (2
    rho), scale = most * stability / epsilon.
    """
    due = {
        PrivacyDefinition.PURE_DP: DiscreteLaplace(most_records * stability / cost),
        PrivacyDefinition.ZCDP: DiscreteGaussian(most_records**2 * stability / (2 * cost)),
    }
    return due[definition]


@dataclass(frozen=True, slots=True)
class MadeUpRecord(ABC):
    """A made-up person or household, with the codes of the person or of the householder."""

    block: str
    races: tuple[str, ...]
    ethnicity: str = NO_ETHNICITY

    @property
    @abstractmethod
    def row(self) -> str:
        """The record's line in the file of records."""


Records = tuple[MadeUpRecord, ...]


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A world that has one record more than the usual world, or one record changed."""

    name: str
    records: Records
    is_changed: bool = False  # one record has another attribute; none was added
    has_other_codes: bool = False  # one record left its groups for others; none was added
    is_of_unit: bool = False  # all records of one unit were added


@dataclass(frozen=True, slots=True)
class NoiseWorld:
    """Every level of both passes, with many entities, crowds and empty groups.

    Nothing is suppressed, so every group is drawn and none is selected by its noise.
    """

    name: str
    write: Callable[[Path], AuditWorld]
    stability: Mapping[GroupLevel, int]  # counted by hand
    most_records: int = 1  # of a unit


@dataclass(frozen=True, slots=True)
class LossWorld:
    """One geography level of many entities with the same records.

    Every second entity has one more. The additional record fills as many groups as a record can; of
    a unit, there are as many equal ones as it can have. Numbers of different entities have
    independent noise, so each entity is one sample of what a release reveals about the record.
    """

    name: str
    definition: PrivacyDefinition
    stability: int  # number of groups that the record is in
    budget: Fraction
    fractions: tuple[Fraction, ...]  # shares of the budget, by stage or by table family
    runs: int  # each with its own key
    entities: int
    write: Callable[[Path], AuditWorld]
    is_suppressed: bool = False
    most_records: int = 1  # of a unit


@dataclass(frozen=True, slots=True)
class FloorWorld:
    """A world in which one stage or table family has the narrowest noise of all.

    `write` takes a folder, a budget and a privacy definition as spelled in config.json.
    """

    name: str
    stability: int
    share: Fraction  # share of the budget that buys the narrowest noise
    write: Callable[[Path, float, str], AuditWorld]
    most_records: int = 1  # of a unit


@dataclass(frozen=True, slots=True)
class Route:
    """A way for numbers to leave the program: options, configuration, and later commands."""

    name: str
    options: RunOptions = field(default_factory=RunOptions)
    changes: Mapping[str, Any] = field(default_factory=dict)  # to the usual configuration
    is_released_again: bool = False  # exported, re-released, and exported again


@dataclass(frozen=True, slots=True)
class AuditedProduct:
    """A product and its worlds. Fields named `quick_...` are for `safetab audit --quick`."""

    product: Product
    # the changes are to the usual configuration
    write: Callable[[Path, Records, Mapping[str, Any]], AuditWorld]
    write_large: Callable[[Path], AuditWorld]  # a level read in several parts, with a crowd
    population: Records
    several_more: Records  # the population and records that fill all groups, in both passes
    neighbours: tuple[Neighbour, ...]
    quick_neighbours: tuple[Neighbour, ...]
    first_of_a_pass: Neighbour  # without its last record, nobody is in that pass
    thousands: tuple[Records, Records]  # some, and three times as many that include them, shuffled
    routes: tuple[Route, ...]
    quick_routes: tuple[Route, ...]
    times_lost: int  # multiple of a record's loss that the person behind it can lose
    floor_worlds: tuple[FloorWorld, ...]
    noise_worlds: tuple[NoiseWorld, ...]
    quick_noise_worlds: tuple[NoiseWorld, ...]
    loss_worlds: tuple[LossWorld, ...]
    quick_loss_worlds: tuple[LossWorld, ...]
    # approximate duration of each part, as measured; routes without Spark
    cpu_seconds: Mapping[str, int]
    quick_cpu_seconds: Mapping[str, int]
    is_specified: bool = False  # by a file whose texts the audit counts again
    forms: tuple[Route, ...] = ()  # other configurations in which records are compared
    quick_forms: tuple[Route, ...] = ()
    of_one_unit: MadeUpRecord | None = None  # a record of a unit that may have several

    def quick(self) -> AuditedProduct:
        """The product with the worlds of a quick audit in place of those of a full one."""
        return replace(
            self,
            neighbours=self.quick_neighbours,
            routes=self.quick_routes,
            forms=self.quick_forms,
            noise_worlds=self.quick_noise_worlds,
            loss_worlds=self.quick_loss_worlds,
            cpu_seconds=self.quick_cpu_seconds,
        )
