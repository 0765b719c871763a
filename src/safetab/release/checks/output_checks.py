"""Checks of a whole output before anybody sees it: it is read back from its files, row by row.

Beside a batch of rows, 16 bytes of every published group are held from the tables' checks to those of the numbers.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from safetab.census.geography_levels import EntityKind, TabulationPass
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.file_identity import FileIdentity, identity_of
from safetab.foundation.in_threads import Alongside
from safetab.outputs.manifest import MANIFEST_FILE, outputs_as_json
from safetab.release.allowed_files import allowed_files, stray_paths
from safetab.release.checks.after_steps_checks import AfterStepsChecks
from safetab.release.checks.breaches import Breaches
from safetab.release.checks.number_checks import NumberChecks
from safetab.release.checks.table_checks import PublishedTotals, TableChecks
from safetab.release.numbers.number_files import RELEASE_FOLDER
from safetab.release.release_options import ReleaseOptions
from safetab.release.release_universe import ReleaseLevel, Universe
from safetab.release.universe_files import ReleasedRun, read_universe

_LARGE = 1 << 24  # bytes


def check_output(output: Path, universe: Universe, options: ReleaseOptions) -> None:
    """All checks of an output that is there as a whole. Raises RunFailed if it is not what it must be."""
    checks = OutputChecks(output, universe, options)
    with checks.of_tables_beside():
        pass
    with checks.of_numbers_beside():
        pass
    checks.of_the_whole()


class OutputChecks:
    """The checks of an output, each as soon as the files that it reads are whole, and beside the writing of others.

    Files have their schemas; ids and codes are in the universe, and in the states of their pass; every group is there
    once, with the table that its stage-1 total chose, above the suppression threshold; the tables are made of
    the measurements, and marginals are the sums of their cells; the release says the same, and so do the tables after
    its steps; the manifest has the right rows and hashes; and nothing lies there that is not on the list of
    what may leave. No file is another than it was when its check began.
    """

    def __init__(self, output: Path, universe: Universe, options: ReleaseOptions) -> None:
        self._output = output
        self._universe = universe
        self._options = options
        self._passes = [_PassChecks(output, universe, options, one) for one in universe.passes]
        self._identities: dict[Path, FileIdentity | None] = {}  # of the files that were there when a check began

    @contextmanager
    def of_tables_beside(self) -> Iterator[None]:
        """Table files and measurements are checked while the release is written inside."""
        self._remember_files()
        with Alongside(self._threads()) as alongside:
            alongside.do_steps(chain.from_iterable(one.check_tables() for one in self._passes))
            yield

    @contextmanager
    def of_numbers_beside(self) -> Iterator[None]:
        """The numbers of the release are checked, after the tables, while documents are written inside."""
        self._remember_files()
        with Alongside(self._threads()) as alongside:
            alongside.do_steps(chain.from_iterable(one.check_numbers() for one in self._passes))
            yield

    def of_the_whole(self) -> None:
        """The rest, once all is there. Raises RunFailed, with file, rule and rows, for all that any check has found."""
        breaches = Breaches()
        _check_entities(self._universe, breaches)
        _check_universe_files(self._output, self._universe, breaches)
        _check_manifest(self._output, breaches)
        _check_names(self._output, self._universe, self._options, breaches)
        for one in self._passes:
            breaches.include(one.of_tables)
            breaches.include(one.of_numbers)
        for path, identity in self._identities.items():
            if identity_of(path) != identity:
                breaches.add(str(path.relative_to(self._output)), "changed after its check had begun")
        breaches.raise_if_any()

    def _threads(self) -> int:
        """One for small files: two that take turns cost more than the wait."""
        return pa.cpu_count() if sum(one.size for one in self._identities.values() if one) >= _LARGE else 1

    def _remember_files(self) -> None:
        for path in self._output.rglob("*"):
            if path.is_file():
                self._identities.setdefault(path, identity_of(path))


class _PassChecks:
    """The checks of one pass. A file that can't be read back ends those of its kind."""

    def __init__(
        self, output: Path, universe: Universe, options: ReleaseOptions, tabulation_pass: TabulationPass
    ) -> None:
        self.of_tables = Breaches()
        self.of_numbers = Breaches()
        self._output = output
        self._universe = universe
        self._options = options
        self._pass = tabulation_pass
        self._published: deque[tuple[ReleaseLevel, PublishedTotals]] = deque()  # of levels whose tables were checked
        self._has_all_levels = False

    def check_tables(self) -> Iterator[None]:
        """In steps: one for the noise and the shapes of the measurements, one for each level."""
        with self._unreadable_files_added(self.of_tables):
            tables = TableChecks(self._output, self._universe, self._pass, self.of_tables)
            with self._unreadable_files_added(self.of_tables):
                tables.check_noise_and_shape()
            yield
            for level in tables.check_levels():
                self._published.append(level)
                yield
            self._has_all_levels = True

    def check_numbers(self) -> Iterator[None]:
        """In steps: one for each level."""
        with self._unreadable_files_added(self.of_numbers):
            after_steps = None
            if self._options.change_numbers:
                after_steps = AfterStepsChecks(self._output, self._universe.product, self._pass, self.of_numbers)
            release = self._output / RELEASE_FOLDER
            numbers = NumberChecks(release, self._universe, self._options, self.of_numbers, after_steps)
            while self._published:
                numbers.check_level(*self._published.popleft())
                yield
            if after_steps is not None and self._has_all_levels:
                after_steps.check_ends()

    @contextmanager
    def _unreadable_files_added(self, breaches: Breaches) -> Iterator[None]:
        try:
            yield
        except (pa.ArrowException, FileNotFoundError, LookupError, ValueError) as error:
            raise_if_the_machine_failed(error)
            breaches.add(f"the {self._pass.value} pass", f"can't be read back ({type(error).__name__})")


def _check_entities(universe: Universe, breaches: Breaches) -> None:
    for level, entities in universe.entities.items():
        if level.entity_kind.crosses_states:
            continue
        states = [int(state) for state in universe.states[level.tabulation_pass]]
        state = entities.ids // 10 ** (level.entity_kind.id_digits - EntityKind.STATE.id_digits)
        if not np.isin(state, states).all():
            breaches.add(f"{RELEASE_FOLDER}/universe", f"{level.label}: an entity is outside the states of its pass")


def _check_universe_files(output: Path, universe: Universe, breaches: Breaches) -> None:
    """The universe that travels with the release is the one that was measured."""
    name = f"{RELEASE_FOLDER}/universe"
    try:
        run = ReleasedRun(universe.product, universe.definition, universe.states, universe.allow_negative_counts)
        written = read_universe(output / RELEASE_FOLDER, run)
    except (pa.ArrowException, OSError, LookupError, ValueError) as error:
        raise_if_the_machine_failed(error)
        breaches.add(name, "can't be read back")
        return
    if written.lists.iterations != universe.lists.iterations:
        breaches.add(name, "iterations are not those of the run")
    if [level.design for level in written.levels] != [level.design for level in universe.levels]:
        breaches.add(name, "how a level was measured is not what the run did")
    for level, entities in universe.entities.items():
        found = written.entities.get(level)
        if found is None or found.region_ids != entities.region_ids or found.names != entities.names:
            breaches.add(name, f"{level.label}: entities are not those of the run")


def _check_names(output: Path, universe: Universe, options: ReleaseOptions, breaches: Breaches) -> None:
    allowed = allowed_files(universe, options, for_release=_manifest_of(output)["for_release"])
    for name in stray_paths(output, allowed):
        breaches.add(name, "is not among the files that may leave")


def _manifest_of(output: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((output / MANIFEST_FILE).read_text(encoding="utf-8"))
    return manifest


def _check_manifest(output: Path, breaches: Breaches) -> None:
    manifest = _manifest_of(output)
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
