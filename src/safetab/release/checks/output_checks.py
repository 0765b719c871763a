"""Checks of a whole output before anybody sees it: it is read back from its files, row by row, in bounded memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet

from safetab.census.geography_levels import EntityKind
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.in_threads import Alongside
from safetab.outputs.manifest import MANIFEST_FILE, outputs_as_json
from safetab.release.allowed_files import allowed_files, stray_paths
from safetab.release.checks.after_steps_checks import AfterStepsChecks
from safetab.release.checks.breaches import Breaches
from safetab.release.checks.number_checks import NumberChecks
from safetab.release.checks.table_checks import TableChecks
from safetab.release.numbers.number_files import RELEASE_FOLDER
from safetab.release.release_options import ReleaseOptions
from safetab.release.release_universe import Universe
from safetab.release.universe_files import ReleasedRun, read_universe


def check_output(output: Path, universe: Universe, options: ReleaseOptions) -> None:
    """Raises RunFailed, with file, rule and row numbers, if an output is not what it must be.

    Files have their schemas; ids and codes are in the universe, and in the states of their pass; every group is there
    once, with the table that its stage-1 total chose, above the suppression threshold; t1 is the sum of t2, marginals
    are the sums of their cells, and both are made of the measurements; the release says the same, and so do t1 and t2
    after its steps; the manifest has the right rows and hashes; and nothing lies there that is not on the list of
    what may leave.
    """
    breaches = Breaches()
    checks = (
        lambda: _check_entities(universe, breaches),
        lambda: _check_universe_files(output, universe, breaches),
        lambda: _check_manifest(output, breaches),
        lambda: _check_names(output, universe, options, breaches),
        *(_pass_check(output, universe, options, breaches, which) for which in range(len(universe.passes))),
    )
    for check in checks:
        check()
    breaches.raise_if_any()


def _pass_check(
    output: Path, universe: Universe, options: ReleaseOptions, breaches: Breaches, which: int
) -> Callable[[], None]:
    def check() -> None:
        of_numbers = Breaches()
        try:
            of_pass = universe.passes[which]
            after_steps = (
                AfterStepsChecks(output, universe.product, of_pass, of_numbers) if options.change_numbers else None
            )
            numbers = NumberChecks(output / RELEASE_FOLDER, universe, options, of_numbers, after_steps)
            tables = TableChecks(output, universe, of_pass, breaches)
            of_levels = (partial(numbers.check_level, *level) for level in tables.check_levels())
            _check_side_by_side(chain([partial(tables.check_noise_and_shape, of_numbers)], of_levels))
            if after_steps is not None:
                after_steps.check_ends()
        except (pa.ArrowException, FileNotFoundError, LookupError, ValueError) as error:
            raise_if_the_machine_failed(error)
            breaches.add(f"the {universe.passes[which].value} pass", f"can't be read back ({type(error).__name__})")
        breaches.include(of_numbers)

    return check


def _check_side_by_side(checks: Iterable[Callable[[], None]]) -> None:
    """While the tables of a level are checked, so are noise and shape, and the numbers of levels before it."""
    with Alongside(pa.cpu_count()) as alongside:
        for check in checks:
            alongside.do(check)


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
