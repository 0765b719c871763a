"""Whole runs from files to files, with recorded noise and a copy of every file that leaves.

The audit records what enters `noisy_count`, and replays one run's noisy numbers in another. It
replaces `noisy_count` in the module that calls it, so the program itself needs no hook.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from safetab.apps.audit.audited_product import AuditedProduct, AuditWorld, Records, Route
from safetab.core.algorithm import tabulate_level
from safetab.core.algorithm.run_plan import RunPlan
from safetab.core.privacy.exact_counts import ExactCounts
from safetab.core.privacy.ledger import DrawingRight
from safetab.core.privacy.measurement_event import MeasurementEvent
from safetab.counting.local import records, units
from safetab.inputs.readers import text_tables
from safetab.model.products.product import Shape
from safetab.release.files.export import export_csv
from safetab.release.files.group_statuses import Slice, statuses
from safetab.release.files.numbers import number_files
from safetab.release.files.release_folder import open_release_folder
from safetab.release.files.release_options import CoterminousOptions, ReleaseOptions, ReleaseRule
from safetab.release.outputs import pass_files
from safetab.runs.declared_options import EngineKind
from safetab.runs.options import RunOptions
from safetab.runs.rerelease import RereleaseRequest, rerelease_files
from safetab.runs.run import run_files

_NoisyCount = Callable[[ExactCounts, Shape, DrawingRight], NDArray[np.int64]]
Question = tuple[MeasurementEvent, Shape]
"""What a run measures together: an event and the shape of its tables."""
_Numbers = dict[int, NDArray[np.int64]]
"""The numbers of each group's cells, by group index."""
Change = Callable[[Question, NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]
"""Takes a question, its group indices and their noisy numbers; returns other noisy numbers."""


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """The exact and the noisy counts of a run, for every event and shape."""

    counts: dict[Question, _Numbers] = field(default_factory=dict)
    noisy: dict[Question, _Numbers] = field(default_factory=dict)

    def add(self, question: Question, counts: ExactCounts, noisy: NDArray[np.int64]) -> None:
        """Remember one call of `noisy_count` and its answer."""
        indices = counts.indices.tolist()
        exact = zip(indices, counts.confidential_counts, strict=True)
        self.counts.setdefault(question, {}).update(exact)
        self.noisy.setdefault(question, {}).update(zip(indices, noisy, strict=True))

    @property
    def events(self) -> set[MeasurementEvent]:
        """The charges of the run: one for each level, table family and stage."""
        return {event for event, _ in self.counts}

    def question_like(self, question: Question) -> Question:
        """The question of this run that asks the same; each run compiles a specification anew."""
        event, shape = question
        for mine, of_mine in self.counts if question not in self.counts else ():
            is_same_event = mine.address_prefix == event.address_prefix and mine.noise == event.noise
            if is_same_event and of_mine.label == shape.label:
                return mine, of_mine
        return question

    def exact(self, question: Question, indices: NDArray[np.int64]) -> ExactCounts:
        """Exact counts of these groups; 0 for groups that the run did not ask about."""
        cells = question[1].cells
        counted = self.counts.get(question, {})
        zeros = np.zeros(cells, dtype=np.int64)
        rows = [counted.get(index, zeros) for index in indices.tolist()]
        width = -1 if rows else cells
        return ExactCounts(indices, np.array(rows, dtype=np.int64).reshape(len(indices), width))


@contextmanager
def recorded(
    replayed: Record | None = None,
    change: Change | None = None,
    before_each_draw: Callable[[], None] = lambda: None,
) -> Iterator[Record]:
    """Record the runs inside the block; yields the record.

    With `replayed`, every noisy number is the one that the replayed run had, or would have had, at
    the same address; both runs need the same key. `change` may alter the numbers that are returned;
    `before_each_draw` is called before each of them is drawn.
    """
    record = Record()
    # what a run would call now: a check around this one may have replaced it
    noisy_count: _NoisyCount = getattr(tabulate_level, "noisy_count")  # noqa: B009 - not exported

    def recording(counts: ExactCounts, shape: Shape, right: DrawingRight) -> NDArray[np.int64]:
        question = (right.event, shape)
        source = counts
        if replayed is not None:
            question = replayed.question_like(question)
            source = replayed.exact(question, counts.indices)
        before_each_draw()
        noisy = noisy_count(source, shape, right)
        if change is not None:
            noisy = change(question, counts.indices, noisy)
        record.add(question, counts, noisy)
        return noisy

    with patch.object(tabulate_level, "noisy_count", recording):
        yield record


_ReleasedFiles = dict[str, tuple[bytes, int]]
"""The bytes of each file, and how much later it was written than its output, in nanoseconds: 0 in an output of ours."""

_COPY_ALL = CoterminousOptions(copy_all=True)
_ALONE = ReleaseRule.WITHHOLD_ALONE_ABOVE_PARTNER
_CLAMPED_CSV = ReleaseOptions(
    confidence=Fraction(9, 10),
    rules=(ReleaseRule.CLAMP_NEGATIVES,),
    coterminous=CoterminousOptions(),
    csv=True,
)
_RULES_AND_COPIES = ReleaseOptions(rules=(ReleaseRule.WITHHOLD_NEGATIVES, _ALONE), coterminous=_COPY_ALL)
USUAL = Route("usual options")
RELEASED_AGAIN = Route("one thread, export, re-release", RunOptions(threads=1), is_released_again=True)
SMALL_BATCHES = Route("many small batches", RunOptions(groups_at_once=37), is_in_small_batches=True)
COTERMINOUS = Route(
    "coterminous copies, rules, export, re-release", RunOptions(release=_RULES_AND_COPIES), is_released_again=True
)
CLAMPED = Route(
    "coterminous copies, clamped, CSV, in small batches",
    RunOptions(groups_at_once=23, release=_CLAMPED_CSV),
    is_in_small_batches=True,
)
GEOMETRIC = Route(
    "geometric noise, nothing negative", changes={"privacy_defn": "puredp", "allow_negative_counts": False}
)
NOTHING_SUPPRESSED = Route("nothing suppressed", changes={"zero_suppression_chance": 0})
SPARK = Route("counted by Spark", RunOptions(engine=EngineKind.SPARK))
SPARK_IF_INSTALLED = (SPARK,) if importlib.util.find_spec("pyspark") else ()
_SMALL_BATCHES = (  # internal batches, made small to see whether their borders show outside
    (tabulate_level, "_CELLS_AT_ONCE", 100),
    (records, "_ROWS_AT_ONCE", 50),
    (units, "_MOST_WAITING", 0),
    (text_tables, "BLOCK_BYTES", 2000),
    (pass_files, "_ROWS_OF_A_GROUP", 3000),
    (number_files, "_ROWS_OF_A_GROUP", 5000),
)


@contextmanager
def small_batches() -> Iterator[None]:
    """Make the program's internal batches small inside the block."""
    with ExitStack() as stack:
        for module, name, size in _SMALL_BATCHES:
            stack.enter_context(patch.object(module, name, size))
        yield


@dataclass(frozen=True, slots=True, eq=False)
class AuditedRun:
    """A finished run: its inputs, its plan, its recorded counts and its files."""

    world: AuditWorld
    plan: RunPlan
    record: Record
    released: _ReleasedFiles


@dataclass(frozen=True, slots=True)
class Setting:
    """How a world is run. Runs with the same key have the same noise."""

    audited: AuditedProduct
    key: bytes
    route: Route = USUAL
    replayed: Record | None = None
    change: Change | None = None


def audited_run(folder: Path, records: Records, setting: Setting) -> AuditedRun:
    """Write a world of these records into `folder` and run it."""
    world = setting.audited.write(folder, records, setting.route.changes)
    return run_in_world(world, folder / "out", setting)


def run_in_world(world: AuditWorld, out: Path, setting: Setting) -> AuditedRun:
    """Run a world that has been written, and keep every file that leaves by the setting's route."""
    route = setting.route
    with ExitStack() as stack:
        record = stack.enter_context(recorded(setting.replayed, setting.change))
        if route.is_in_small_batches:
            stack.enter_context(small_batches())
        options = replace(route.options, test_key=setting.key)
        summary = run_files(world.parameters, world.data, out, options)
        released = _files_in(out)
        if route.is_released_again:
            released |= _released_again(world, out)
    return AuditedRun(world, summary.plan, record, released)


def _released_again(world: AuditWorld, out: Path) -> _ReleasedFiles:
    """Files of an export, of a re-release with copies and rules, and of its export.

    Both releases also get a file with the status of every group.
    """
    folders = {name: out.with_name(name) for name in ("exported", "again", "again-exported")}
    options = ReleaseOptions(rules=(_ALONE,), coterminous=_COPY_ALL)
    export_csv(out, folders["exported"])
    rerelease_files(out, folders["again"], RereleaseRequest(options, world.areas))
    export_csv(folders["again"], folders["again-exported"])
    files: _ReleasedFiles = {}
    for release, name in ((out, "exported"), (folders["again"], "again")):
        path = out.with_name(f"{name}-statuses.csv")
        table = pa.Table.from_batches(statuses(open_release_folder(release), Slice()))
        pa.csv.write_csv(table, path)
        files[path.name] = path.read_bytes(), 0
    for name, folder in folders.items():
        files |= {f"{name}/{path}": file for path, file in _files_in(folder).items()}
    return files


def _files_in(folder: Path) -> _ReleasedFiles:
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    written = folder.stat().st_mtime_ns
    return {str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns - written) for path in paths}


def different_files(first: _ReleasedFiles, second: _ReleasedFiles) -> list[str]:
    """One sentence for each file that differs or that only one of the two has."""
    paths = sorted(first.keys() | second.keys())
    return [f"{path} differs" for path in paths if first.get(path) != second.get(path)]
