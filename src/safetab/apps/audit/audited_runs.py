"""Whole runs from files to files, with recorded noise and a copy of each released file.

The audit records what enters `noisy_count`, and replays one run's noisy numbers in another.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
from numpy.typing import NDArray

from safetab.apps.audit.audited_product import AuditedProduct, AuditWorld, Records, Route
from safetab.core.algorithm.run_plan import RunPlan
from safetab.core.algorithm.tabulate_level import Measure
from safetab.core.privacy.exact_counts import ExactCounts
from safetab.core.privacy.measurement_event import MeasurementEvent
from safetab.foundation.batch_sizes import BatchSizes
from safetab.model.products.product import Shape
from safetab.release.files.export import export_csv
from safetab.release.files.group_statuses import Slice, statuses
from safetab.release.files.release_folder import open_release_folder
from safetab.release.files.release_options import CoterminousOptions, ReleaseOptions, ReleaseRule
from safetab.runs.declared_options import EngineKind
from safetab.runs.options import RunOptions
from safetab.runs.rerelease import RereleaseRequest, rerelease_files
from safetab.runs.run import run_files

Question = tuple[MeasurementEvent, Shape]
"""The things that a run measures together: an event and the shape of its tables."""
_Numbers = dict[int, NDArray[np.int64]]
"""The numbers of each group's cells, by group index."""
Change = Callable[[Question, NDArray[np.int64], NDArray[np.int64]], NDArray[np.int64]]
"""Takes a question, its group indices and their noisy numbers.

Returns other noisy numbers.
"""


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """The exact and the noisy counts of a run, for every event and shape.

    With `replayed`, every noisy number is the one that the replayed run had, or would have had, at
    the same address; both runs need the same key. `change` may alter the numbers that are returned.
    """

    replayed: Record | None = None
    change: Change | None = None
    counts: dict[Question, _Numbers] = field(default_factory=dict)
    noisy: dict[Question, _Numbers] = field(default_factory=dict)

    def recorder(
        self, measure: Measure, counts: ExactCounts, event: MeasurementEvent, shape: Shape
    ) -> NDArray[np.int64]:
        """Measure and remember: a `Recorder`."""
        question, source = (event, shape), counts
        if self.replayed is not None:
            question = self.replayed.question_like(question)
            source = self.replayed.exact(question, counts.indices)
        noisy = measure(source)
        if self.change is not None:
            noisy = self.change(question, counts.indices, noisy)
        indices = counts.indices.tolist()
        exact = zip(indices, counts.confidential_counts, strict=True)
        self.counts.setdefault(question, {}).update(exact)
        self.noisy.setdefault(question, {}).update(zip(indices, noisy, strict=True))
        return noisy

    @property
    def events(self) -> set[MeasurementEvent]:
        """The charges of the run: one for each level, table family and stage."""
        return {event for event, _ in self.counts}

    def question_like(self, question: Question) -> Question:
        """The question of this run that asks the same; each run compiles a specification anew."""
        event, shape = question
        for mine, of_mine in self.counts if question not in self.counts else ():
            is_same_event = (
                mine.address_prefix == event.address_prefix and mine.noise == event.noise
            )
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


_ReleasedFiles = dict[str, tuple[bytes, int]]
"""The bytes of each file, and how much later it was written than its output.

The time is in nanoseconds; it is 0 in an output of ours.
"""

_COPY_ALL = CoterminousOptions(copy_all=True)
_ALONE = ReleaseRule.WITHHOLD_ALONE_ABOVE_PARTNER
_CLAMPED_CSV = ReleaseOptions(
    confidence=Fraction(9, 10),
    rules=(ReleaseRule.CLAMP_NEGATIVES,),
    coterminous=CoterminousOptions(),
    csv=True,
)
_RULES_AND_COPIES = ReleaseOptions(
    rules=(ReleaseRule.WITHHOLD_NEGATIVES, _ALONE), coterminous=_COPY_ALL
)
SMALL_SIZES = BatchSizes(
    text_bytes=2000,
    records=50,
    rows_of_units=1,
    cells=100,
    measurements=3000,
    numbers=5000,
)
"""So small that borders between batches would show outside."""
USUAL = Route("usual options")
RELEASED_AGAIN = Route(
    "one thread, export, re-release", RunOptions(threads=1), is_released_again=True
)
SMALL_BATCHES = Route("many small batches", RunOptions(groups_at_once=37, sizes=SMALL_SIZES))
COTERMINOUS = Route(
    "coterminous copies, rules, export, re-release",
    RunOptions(release=_RULES_AND_COPIES),
    is_released_again=True,
)
CLAMPED = Route(
    "coterminous copies, clamped, CSV, in small batches",
    RunOptions(groups_at_once=23, release=_CLAMPED_CSV, sizes=SMALL_SIZES),
)
GEOMETRIC = Route(
    "geometric noise, nothing negative",
    changes={"privacy_defn": "puredp", "allow_negative_counts": False},
)
NOTHING_SUPPRESSED = Route("nothing suppressed", changes={"zero_suppression_chance": 0})
SPARK = Route("counted by Spark", RunOptions(engine=EngineKind.SPARK))
SPARK_IF_INSTALLED = (SPARK,) if importlib.util.find_spec("pyspark") else ()


@dataclass(frozen=True, slots=True, eq=False)
class AuditedRun:
    """A finished run: its inputs, its plan, its recorded counts and its files."""

    world: AuditWorld
    plan: RunPlan
    record: Record
    released: _ReleasedFiles


@dataclass(frozen=True, slots=True)
class Setting:
    """The way in which a world is run. Runs with the same key have the same noise."""

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
    """Run a world that has been written.

    Keeps every file that leaves by the setting's route.
    """
    route, record = setting.route, Record(setting.replayed, setting.change)
    options = replace(route.options, test_key=setting.key)
    summary = run_files(world.parameters, world.data, out, options, recorder=record.recorder)
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
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mtime_ns - written)
        for path in paths
    }


def different_files(first: _ReleasedFiles, second: _ReleasedFiles) -> list[str]:
    """One sentence for each file that differs or that only one of the two has."""
    paths = sorted(first.keys() | second.keys())
    return [f"{path} differs" for path in paths if first.get(path) != second.get(path)]
