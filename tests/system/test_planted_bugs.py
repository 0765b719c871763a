"""Bugs that break the guarantee, planted one by one: each must be caught by the check that docs/privacy.md names.

Nothing in the package plants them: they are patched in here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import PROJECT

from safetab.audit import noise_checks
from safetab.audit.loss_bound import LOSS, LOSS_WORLDS, loss_check
from safetab.audit.neighbour_checks import NO_TRACE, ONE_PERSON, REPLAY, neighbour_checks
from safetab.audit.noise_checks import DISTRIBUTION, EXACT, FRESH, PAID, UNRELATED
from safetab.audit.verdicts import Verdict
from safetab.engines.encoding import Encoding
from safetab.engines.local.array_counter import ArrayCounter
from safetab.engines.local.duckdb_engine import DuckDbEngine
from safetab.engines.local.person_encoder import PersonEncoder
from safetab.engines.pattern_table import IterationLists
from safetab.mechanisms import noisy_count as adding
from safetab.mechanisms.inversion_table import InversionTable
from safetab.outputs import output_folder
from safetab.pipeline import run as pipeline
from safetab.planning import planner
from safetab.privacy import ledger, measurement_event
from safetab.privacy.addressed_bits import AddressedBits
from safetab.privacy.calibration import calibrated_noise
from safetab.privacy.exact_counts import ExactCounts
from safetab.tabulation import tabulate_level as tabulation
from safetab.tabulation.empty_groups import EmptyGroups

Patch = pytest.MonkeyPatch
KEY = bytes(range(32))


def stability_forgotten(patch: Patch) -> None:
    patch.setattr(planner, "stability", lambda _: 1)


def noise_of_one_group(patch: Patch) -> None:
    patch.setattr(
        measurement_event, "calibrated_noise", lambda definition, _, cost: calibrated_noise(definition, 1, cost)
    )


def noise_reused_between_stages(patch: Patch) -> None:
    original = ledger.DrawingRight.address_prefix.fget
    patch.setattr(ledger.DrawingRight, "address_prefix", property(lambda right: original(right) >> 8))


def noise_reused_between_passes(patch: Patch) -> None:
    original = ledger.DrawingRight.address_prefix.fget
    patch.setattr(ledger.DrawingRight, "address_prefix", property(lambda right: original(right) & 0xFFFF))


def noise_too_narrow(patch: Patch) -> None:
    def narrow(noise):
        narrowed = Fraction(97, 100)
        if hasattr(noise, "scale"):
            return InversionTable(replace(noise, scale=noise.scale * narrowed))
        return InversionTable(replace(noise, sigma_squared=noise.sigma_squared * narrowed**2))

    patch.setattr(adding, "inversion_table", narrow)


def key_fixed(patch: Patch) -> None:
    patch.setattr(AddressedBits, "of_the_operating_system", classmethod(lambda cls: cls(KEY)))


def empty_groups_dropped(patch: Patch) -> None:
    patch.setattr(EmptyGroups, "that_may_be_published", lambda *_: np.empty(0, dtype=np.int64))


def threshold_on_the_true_count(patch: Patch) -> None:
    original = tabulation._stage_2

    def by_truth(level, counts, stage_1, _):
        shapes = tabulation.chosen_shapes(counts.confidential_counts[:, 0], level.plan.design.thresholds)
        return original(level, counts, stage_1, shapes)

    patch.setattr(tabulation, "_stage_2", by_truth)


def universe_from_data(patch: Patch) -> None:
    """Only entities in which somebody lives are looked at."""
    original, found = tabulation._adaptive, EmptyGroups.that_may_be_published
    inhabited: dict[str, np.ndarray] = {}

    def of_inhabited(level, totals, groups_at_once):
        index = level.plan.universe.index
        inhabited["entities"] = np.unique(index.entity_of(totals.indices))
        inhabited["iterations"] = np.array(index.iterations)
        yield from original(level, totals, groups_at_once)

    def some(self, first, end):
        indices = found(self, first, end)
        return indices[np.isin(indices // inhabited["iterations"], inhabited["entities"])]

    patch.setattr(tabulation, "_adaptive", of_inhabited)
    patch.setattr(EmptyGroups, "that_may_be_published", some)


def a_cell_counted_twice(patch: Patch) -> None:
    original = ArrayCounter.cells

    def twice(self, level, groups_of):
        counted = original(self, level, groups_of)
        both = {table: cells.confidential_counts for table, cells in counted.items()}
        return {
            table: ExactCounts(counted[table].indices, cells + np.roll(cells, 1, axis=1))
            for table, cells in both.items()
        }

    patch.setattr(ArrayCounter, "cells", twice)


def a_block_joined_twice(patch: Patch) -> None:
    original = PersonEncoder.add

    def twice(self, batch):
        original(self, batch)
        original(self, batch)

    patch.setattr(PersonEncoder, "add", twice)


def a_float_between_count_and_noise(patch: Patch) -> None:
    original = adding._add_noise

    def add(sums, draws, draws_in_all):
        noise = np.zeros_like(sums)
        original(noise, draws, draws_in_all)
        sums[:] = sums.astype(float) + noise

    patch.setattr(adding, "_add_noise", add)


def suppression_on_the_true_count(patch: Patch) -> None:
    original, truth = tabulation._stage_2, {}

    def remembering(level, counts, stage_1, tables):
        truth["counts"] = counts.confidential_counts[tables == 0, 0]
        return original(level, counts, stage_1, tables)

    patch.setattr(tabulation, "_stage_2", remembering)
    patch.setattr(
        tabulation,
        "passes_suppression",
        lambda noisy, threshold: np.ones(len(noisy), dtype=bool) if threshold is None else truth["counts"] > threshold,
    )


def a_level_charged_half(patch: Patch) -> None:
    original = ledger.Ledger.charge
    patch.setattr(ledger.Ledger, "charge", lambda self, event: original(self, replace(event, cost=event.cost / 2)))


def noise_for_twice_the_charge(patch: Patch) -> None:
    patch.setattr(
        measurement_event, "calibrated_noise", lambda definition, s, cost: calibrated_noise(definition, s, 2 * cost)
    )


def suppressed_groups_in_the_measurements(patch: Patch) -> None:
    patch.setattr(tabulation, "passes_suppression", lambda noisy, _: np.ones(len(noisy), dtype=bool))


def a_hash_of_the_person_file_in_the_manifest(patch: Patch) -> None:
    original = pipeline.hashes_of

    def with_persons(paths):
        data = next(path for path in paths if path.name.startswith("GRF-C")).parent
        persons = (data / "person-records.txt").read_bytes()
        return original(paths) | {"person-records.txt": hashlib.sha256(persons).hexdigest()}

    patch.setattr(pipeline, "hashes_of", with_persons)


def the_number_of_persons_in_the_releasable_log(patch: Patch) -> None:
    original, prepare, people = pipeline.write_release_log, DuckDbEngine.prepare, {}

    def counting(self):
        people["counted"] = prepare(self)
        return people["counted"]

    def telling(output: Path, *facts) -> None:
        original(output, *facts)
        with (output / "log.txt").open("a") as log:
            log.write(f"{people['counted']}\n")

    patch.setattr(DuckDbEngine, "prepare", counting)
    patch.setattr(pipeline, "write_release_log", telling)


def the_time_of_the_run_on_the_files(patch: Patch) -> None:
    patch.setattr(output_folder.os, "utime", lambda *_: None)


def repeated_codes_counted_each_time(patch: Patch) -> None:
    """Nobody sorts out the codes that a person has twice."""
    original = Encoding.iteration_lists

    def repeated(self):
        lists = original(self)
        counts = np.diff(lists.starts)
        parts = np.split(lists.iterations, np.cumsum(counts)[:-1])
        return IterationLists(
            np.concatenate([[0], np.cumsum(2 * counts)]), np.concatenate([np.tile(part, 2) for part in parts])
        )

    patch.setattr(Encoding, "iteration_lists", repeated)


@dataclass(frozen=True)
class PlantedBug:
    plant: Callable[[Patch], None]
    caught_by: str

    @property
    def name(self) -> str:
        return self.plant.__name__.replace("_", " ")


BUGS = [
    PlantedBug(stability_forgotten, ONE_PERSON),
    PlantedBug(noise_of_one_group, LOSS),
    PlantedBug(noise_reused_between_stages, UNRELATED),
    PlantedBug(noise_reused_between_passes, UNRELATED),
    PlantedBug(noise_too_narrow, DISTRIBUTION),
    PlantedBug(key_fixed, FRESH),
    PlantedBug(empty_groups_dropped, REPLAY),
    PlantedBug(threshold_on_the_true_count, REPLAY),
    PlantedBug(universe_from_data, REPLAY),
    PlantedBug(a_cell_counted_twice, ONE_PERSON),
    PlantedBug(a_block_joined_twice, ONE_PERSON),
    PlantedBug(a_float_between_count_and_noise, EXACT),
    PlantedBug(suppression_on_the_true_count, REPLAY),
    PlantedBug(a_level_charged_half, PAID),
    PlantedBug(noise_for_twice_the_charge, PAID),
    PlantedBug(suppressed_groups_in_the_measurements, NO_TRACE),
    PlantedBug(a_hash_of_the_person_file_in_the_manifest, REPLAY),
    PlantedBug(the_number_of_persons_in_the_releasable_log, REPLAY),
    PlantedBug(the_time_of_the_run_on_the_files, REPLAY),
    PlantedBug(repeated_codes_counted_each_time, ONE_PERSON),
]


def verdicts_of(check: str, folder: Path) -> Iterator[Verdict]:
    """Those of the group of checks to which this one belongs."""
    if check in {ONE_PERSON, REPLAY, NO_TRACE}:
        yield from neighbour_checks(folder, KEY)
    elif check == LOSS:
        yield loss_check(LOSS_WORLDS[0], folder, 5_000, lambda: None)
    else:
        yield from noise_checks.noise_checks(folder)


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_planted_bug_is_caught(bug: PlantedBug, tmp_path: Path, monkeypatch: Patch) -> None:
    monkeypatch.setattr(pipeline, "check_output", lambda *_: None)  # it would stop some of these runs by itself
    bug.plant(monkeypatch)
    failed = [verdict.check for verdict in verdicts_of(bug.caught_by, tmp_path) if not verdict.is_passed]
    assert any(check.startswith(bug.caught_by) for check in failed), failed


@pytest.mark.parametrize("check", [ONE_PERSON, DISTRIBUTION])
def test_the_program_as_it_is_passes(check: str, tmp_path: Path) -> None:
    assert [verdict for verdict in verdicts_of(check, tmp_path) if not verdict.is_passed] == []


def test_the_table_in_the_documentation_is_this_one() -> None:
    text = (PROJECT / "docs" / "privacy.md").read_text()
    section = text[text.index('<a id="audit"></a>') :]
    rows = re.findall(r"^\| ([a-z][^|]*?) \| ([^|]*?) \|$", section, re.MULTILINE)[1:]  # below the header
    assert rows == [(bug.name, bug.caught_by) for bug in BUGS]
