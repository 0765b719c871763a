"""Checks of a whole output before anybody sees it: its files are read back, row by row.

Besides a batch of rows, 16 bytes of every published group stay in memory between the checks of the
tables and those of the numbers.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from safetab.census.area_levels import Pass
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.files import FileIdentity, identity_of
from safetab.foundation.in_threads import SecondThread
from safetab.outputs.manifest import MANIFEST_FILE, outputs_as_json
from safetab.release.allowed_files import allowed_files, stray_paths
from safetab.release.census_file import ReleasedCensus, read_census
from safetab.release.checks.number_checks import AfterStepsChecks, NumberChecks
from safetab.release.checks.table_checks import Breaches, PublishedTotals, TableChecks
from safetab.release.numbers.number_files import RELEASE_FOLDER
from safetab.release.release_options import ReleaseOptions
from safetab.release.release_universe import ReleaseLevel, Universe
from safetab.release.universe_files import read_universe

_LARGE = 1 << 24  # bytes


class OutputChecks:
    """The checks of an output, each run as soon as its files are complete, beside the writing of others.

    Files have their schemas. Ids and codes are in the universe and in the states of their pass.
    Every group appears once, with the table that its stage-1 total chose, above the suppression
    threshold. The tables follow from the measurements, and marginals are the sums of their cells.
    The release agrees, and so do the tables after its steps. The manifest has the right rows and
    hashes, only allowed files exist, and no file changed after its check began.
    """

    def __init__(self, output: Path, universe: Universe, options: ReleaseOptions) -> None:
        self._output = output
        self._universe = universe
        self._options = options
        self._passes = [_PassChecks(output, universe, options, each) for each in universe.passes]
        self._identities: dict[Path, FileIdentity | None] = {}  # of the files that were there when a check began

    def of_tables_beside(self) -> AbstractContextManager[None]:
        """Check table files and measurements while the release is written inside the block."""
        return self._beside(of_pass.check_tables() for of_pass in self._passes)

    def of_numbers_beside(self) -> AbstractContextManager[None]:
        """Check the numbers of the release while documents are written inside the block."""
        return self._beside(of_pass.check_numbers() for of_pass in self._passes)

    @contextmanager
    def _beside(self, steps: Iterable[Iterator[None]]) -> Iterator[None]:
        """Do the steps beside the block. Small files take one thread: taking turns costs more than waiting."""
        for path in self._output.rglob("*"):
            if path.is_file():
                self._identities.setdefault(path, identity_of(path))
        is_large = sum(identity.size for identity in self._identities.values() if identity) >= _LARGE
        with SecondThread(pa.cpu_count() if is_large else 1) as second:
            second.do_steps(chain.from_iterable(steps))
            yield

    def of_remaining_files(self) -> None:
        """Run the remaining checks. Raises RunFailed with the file, rule and rows of everything found."""
        breaches = Breaches()
        for level in self._universe.entities:
            if not self._universe.lies_in_parts(level).all():
                rule = f"{level.label}: an entity is outside the {self._universe.census.part.nouns} of its pass"
                breaches.add(f"{RELEASE_FOLDER}/universe", rule)
        _check_universe_files(self._output, self._universe, breaches)
        manifest = json.loads((self._output / MANIFEST_FILE).read_text(encoding="utf-8"))
        _check_manifest(self._output, manifest, breaches)
        allowed = allowed_files(self._universe, self._options, for_release=manifest["for_release"])
        for name in stray_paths(self._output, allowed):
            breaches.add(name, "is not among the files that may leave")
        for of_pass in self._passes:
            breaches.include(of_pass.of_tables)
            breaches.include(of_pass.of_numbers)
        for path, identity in self._identities.items():
            if identity_of(path) != identity:
                breaches.add(str(path.relative_to(self._output)), "changed after its check had begun")
        breaches.raise_if_any()


@dataclass(slots=True)
class _PassChecks:
    """The checks of one pass. A file that can't be read back ends the checks of its kind."""

    output: Path
    universe: Universe
    options: ReleaseOptions
    tabulation_pass: Pass
    of_tables: Breaches = field(default_factory=Breaches)
    of_numbers: Breaches = field(default_factory=Breaches)
    published: deque[tuple[ReleaseLevel, PublishedTotals]] = field(default_factory=deque)  # tables were checked
    has_all_levels: bool = False

    def check_tables(self) -> Iterator[None]:
        """Check in steps: the noise and shapes of the measurements, then each level."""
        with self._unreadable_files_added(self.of_tables):
            tables = TableChecks(self.output, self.universe, self.tabulation_pass, self.of_tables)
            with self._unreadable_files_added(self.of_tables):
                tables.check_noise_and_shape()
            yield
            for level in tables.check_levels():
                self.published.append(level)
                yield
            self.has_all_levels = True

    def check_numbers(self) -> Iterator[None]:
        """Check in steps, one for each level."""
        with self._unreadable_files_added(self.of_numbers):
            after_steps = None
            if self.options.change_numbers:
                product = self.universe.product
                after_steps = AfterStepsChecks(self.output, product, self.tabulation_pass, self.of_numbers)
            of_release = (self.output, self.universe, self.options, self.of_numbers, after_steps)
            while self.published:
                NumberChecks(*of_release, *self.published.popleft()).check()
                yield
            if after_steps is not None and self.has_all_levels:
                after_steps.check_ends()

    @contextmanager
    def _unreadable_files_added(self, breaches: Breaches) -> Iterator[None]:
        try:
            yield
        except (pa.ArrowException, FileNotFoundError, LookupError, ValueError) as error:
            raise_if_the_machine_failed(error)
            breaches.add(f"the {self.tabulation_pass.name} pass", f"can't be read back ({type(error).__name__})")


def _check_universe_files(output: Path, universe: Universe, breaches: Breaches) -> None:
    """Check that the released universe is the one that was measured."""
    name, folder = f"{RELEASE_FOLDER}/universe", output / RELEASE_FOLDER
    try:
        own = ReleasedCensus(universe.census, universe.product, universe.specification)
        facts = (universe.definition, universe.states)
        written = read_universe(folder, own, *facts, allow_negative=universe.allow_negative_counts)
        of = read_census(folder, universe.product.name)
    except (pa.ArrowException, OSError, LookupError, ValueError) as error:
        raise_if_the_machine_failed(error)
        breaches.add(name, "can't be read back")
        return
    if of.specification != universe.specification:
        breaches.add(name, "the specification is not that of the run")
    if written.lists.iterations != universe.lists.iterations:
        breaches.add(name, "iterations are not those of the run")
    if [level.design for level in written.levels] != [level.design for level in universe.levels]:
        breaches.add(name, "how a level was measured is not what the run did")
    for level, entities in universe.entities.items():
        found = written.entities.get(level)
        if found is None or found.region_ids != entities.region_ids or found.names != entities.names:
            breaches.add(name, f"{level.label}: entities are not those of the run")


def _check_manifest(output: Path, manifest: Mapping[str, Any], breaches: Breaches) -> None:
    """Check that the manifest has the right files, rows and hashes."""
    listed = {name: entry["rows"] for name, entry in manifest["outputs"].items()}
    missing = [name for name in listed if not (output / name).is_file()]
    for name in missing:
        breaches.add(MANIFEST_FILE, f"{name} is not there")
    if missing:
        return
    found = outputs_as_json(output, listed)
    for section in ("outputs", "documents"):
        if manifest[section] != found[section]:
            breaches.add(MANIFEST_FILE, f"{section}: names or hashes are not those of the files")
    for name, rows in listed.items():
        counted = _rows_of(output / name)
        if counted != rows:
            breaches.add(name, f"has {counted} rows, and the manifest says {rows}")


def _rows_of(path: Path) -> int:
    if path.suffix == ".parquet":
        rows: int = pa.parquet.read_metadata(path).num_rows
        return rows
    with path.open("rb") as file:
        blocks = iter(lambda: file.read(1 << 20), b"")
        return sum(block.count(b"\n") for block in blocks) - 1
