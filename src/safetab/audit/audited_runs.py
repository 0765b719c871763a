"""Whole runs, from files to files, with a recorder where the noise is added, and everything that leaves at the end."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.csv

from safetab.audit.audited_product import AuditedProduct, AuditWorld, People, Way
from safetab.audit.recording import Change, Record, recorded
from safetab.engines.local import person_batches
from safetab.outputs import measurement_file
from safetab.pipeline.engine_kind import EngineKind
from safetab.pipeline.options import RunOptions
from safetab.pipeline.rerelease import RereleaseRequest, rerelease_files
from safetab.pipeline.run import run_files
from safetab.planning.run_plan import RunPlan
from safetab.release.export import export_csv
from safetab.release.group_status import Slice, statuses
from safetab.release.numbers import number_files
from safetab.release.release_folder import open_release_folder
from safetab.release.release_options import CoterminousOptions, ReleaseOptions
from safetab.release.release_rules import ReleaseRule
from safetab.tabulation import tabulate_level

Release = dict[str, tuple[bytes, float]]
"""For each file its bytes and when it was last changed."""


_COTERMINOUS = CoterminousOptions(copy_all=True)
_ALONE, _NEGATIVES = ReleaseRule.WITHHOLD_ALONE_ABOVE_PARTNER, ReleaseRule.WITHHOLD_NEGATIVES
PLAIN = Way("as it comes")
WAYS = (
    Way("one thread, export, re-release", RunOptions(threads=1), is_released_again=True),
    Way("many small batches", RunOptions(groups_at_once=37), is_in_small_batches=True),
    Way(
        "coterminous copies, rules, export, re-release",
        RunOptions(release=ReleaseOptions(rules=(_NEGATIVES, _ALONE), coterminous=_COTERMINOUS)),
        is_released_again=True,
    ),
    Way(
        "coterminous copies, clamped, CSV, in small batches",
        RunOptions(
            groups_at_once=23,
            release=ReleaseOptions(Fraction(9, 10), (ReleaseRule.CLAMP_NEGATIVES,), CoterminousOptions(), csv=True),
        ),
        is_in_small_batches=True,
    ),
    Way("geometric noise, nothing negative", changes={"privacy_defn": "puredp", "allow_negative_counts": False}),
)
NOTHING_SUPPRESSED = Way("nothing suppressed", changes={"zero_suppression_chance": 0})
SPARK = Way("counted by Spark", RunOptions(engine=EngineKind.SPARK))
SPARK_IF_INSTALLED = (SPARK,) if importlib.util.find_spec("pyspark") else ()
_SMALL_BATCHES: tuple[tuple[ModuleType, str, int], ...] = (
    (tabulate_level, "_CELLS_AT_ONCE", 100),
    (person_batches, "_ROWS_AT_ONCE", 50),
    (measurement_file, "_ROWS_OF_A_GROUP", 3000),
    (number_files, "_ROWS_OF_A_GROUP", 5000),
)


@dataclass(frozen=True, slots=True, eq=False)
class AuditedRun:
    world: AuditWorld
    plan: RunPlan
    record: Record
    released: Release


@dataclass(frozen=True, slots=True)
class Setting:
    """The product, the key that runs share, so that their noise is the same, and the way out."""

    audited: AuditedProduct
    key: bytes
    way: Way = PLAIN
    replayed: Record | None = None
    change: Change | None = None


def audited_run(folder: Path, people: People, setting: Setting) -> AuditedRun:
    """A whole run; every file that leaves on this way is kept."""
    return run_in_world(setting.audited.write(folder, people, setting.way.changes), folder / "out", setting)


def run_in_world(world: AuditWorld, out: Path, setting: Setting) -> AuditedRun:
    way = setting.way
    with ExitStack() as stack:
        record = stack.enter_context(recorded(setting.replayed, setting.change))
        if way.is_in_small_batches:
            stack.enter_context(_in_small_batches())
        summary = run_files(world.parameters, world.data, out, replace(way.options, test_key=setting.key))
        released = released_files(out)
        if way.is_released_again:
            released |= _released_again(world, out)
    return AuditedRun(world, summary.plan, record, released)


def _released_again(world: AuditWorld, out: Path) -> Release:
    """As CSV, and anew with coterminous copies and rules, and that as CSV again; and every group's status."""
    folders = {name: out.with_name(name) for name in ("exported", "again", "again-exported")}
    export_csv(out, folders["exported"])
    request = RereleaseRequest(ReleaseOptions(rules=(_ALONE,), coterminous=_COTERMINOUS), world.data / "GRF-C.txt")
    rerelease_files(out, folders["again"], request)
    export_csv(folders["again"], folders["again-exported"])
    for name in ("exported", "again"):
        release = open_release_folder(out if name == "exported" else folders["again"])
        pa.csv.write_csv(pa.Table.from_batches(statuses(release, Slice())), folders[name] / "statuses.csv")
        os.utime(folders[name] / "statuses.csv", (0, 0))
    found = {name: released_files(folder) for name, folder in folders.items()}
    return {f"{name}/{path}": file for name, files in found.items() for path, file in files.items()}


def released_files(out: Path) -> Release:
    files = (path for path in sorted(out.rglob("*")) if path.is_file())
    return {str(path.relative_to(out)): (path.read_bytes(), path.stat().st_mtime) for path in files}


def different_files(one: Release, other: Release) -> list[str]:
    return [f"{path} differs" for path in sorted(one.keys() | other.keys()) if one.get(path) != other.get(path)]


@contextmanager
def _in_small_batches() -> Iterator[None]:
    """Batches inside the program are large; small ones show whether they can be seen from outside."""
    usual = [(module, name, getattr(module, name)) for module, name, _ in _SMALL_BATCHES]
    try:
        for module, name, size in _SMALL_BATCHES:
            setattr(module, name, size)
        yield
    finally:
        for module, name, size in usual:
            setattr(module, name, size)
