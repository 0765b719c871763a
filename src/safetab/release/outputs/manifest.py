"""The manifest: what ran and what it cost, from public files and released numbers only."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from pathlib import Path

import pyarrow as pa

from safetab.core.algorithm.run_plan import RunPlan
from safetab.core.guarantees.guarantee import guarantee_as_json
from safetab.core.guarantees.plan_json import exact, loss_as_json
from safetab.core.privacy.measurement_event import MeasurementEvent
from safetab.core.privacy.output_status import OutputStatus, status_as_json
from safetab.core.privacy.reference import loss_text
from safetab.foundation.files import sha256_of
from safetab.foundation.findings import FORMAT, OUTPUT_FORMAT, VERSION
from safetab.foundation.in_threads import results_in_threads
from safetab.foundation.new_files import SIGNATURE_FILES
from safetab.model.config.run_config import RunConfig

MANIFEST_FILE = "manifest.json"
LOG_FILE = "log.txt"
NOT_FOR_RELEASE_FILE = "NOT-FOR-RELEASE"
MEASURED_BY = "measured_by"
"""The key for the run that measured the numbers of a re-release."""
ADDED_LATER = frozenset(f"release/{name}" for name in SIGNATURE_FILES)
"""A signature is added to a finished output, so no manifest names it."""
_BYTES_WORTH_THREADS = 1 << 24


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Facts that may be said about a run: its plan, what was charged, the date."""

    plan: RunPlan
    events: tuple[MeasurementEvent, ...]
    date: datetime.date
    status: OutputStatus
    has_test_key: bool = False
    # What was done to the numbers of the release.
    release_steps: Mapping[str, object] = field(default_factory=dict)


def write_manifest(
    output: Path, ran: RunFacts, hashes: Mapping[str, str], rows: Mapping[str, int]
) -> None:
    """Write manifest.json."""
    manifest = {
        "program": "safetab",
        "version": VERSION,
        FORMAT: OUTPUT_FORMAT,
        "product": ran.plan.config.product.name,
        "date": ran.date.isoformat(),
        **status_as_json(ran.status),
        "test_key": ran.has_test_key,
        **guarantee_as_json(ran.plan.config),
        "configuration": configuration_as_json(ran.plan.config),
        "public_files": dict(sorted(hashes.items())),
        "charged": [charge_as_json(event) for event in ran.events],
        "loss": loss_as_json(ran.plan),
        "release": dict(ran.release_steps),
        **outputs_as_json(output, rows),
    }
    write_json(output / MANIFEST_FILE, manifest)


def outputs_as_json(output: Path, rows: Mapping[str, int]) -> dict[str, object]:
    """Every file except the manifest and a signature.

    They are the tables with their rows, and the documents beside them.
    """
    files = sorted(
        path.relative_to(output).as_posix() for path in output.rglob("*") if path.is_file()
    )
    documents = [
        name for name in files if name not in rows and name not in {MANIFEST_FILE, *ADDED_LATER}
    ]
    hashes = hashes_by_name({name: output / name for name in (*rows, *documents)})
    return {
        "outputs": {
            name: {"rows": count, "sha256": hashes[name]} for name, count in sorted(rows.items())
        },
        "documents": {name: {"sha256": hashes[name]} for name in documents},
    }


def write_json(path: Path, document: Mapping[str, object]) -> None:
    """Write a JSON document that people can read.

    It is indented, in UTF-8, with a line feed at its end.
    """
    path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def charge_as_json(event: MeasurementEvent) -> dict[str, object]:
    """The charge for a stage of a level."""
    return {
        **({} if len(event.product.families) == 1 else {"family": event.family.name}),
        "geography_level": event.level.geography.label,
        "iteration_level": event.level.iterations.name,
        "stage": int(event.stage),
        "cost": exact(event.cost),
        "mechanism": event.noise.mechanism,
    }


def configuration_as_json(config: RunConfig) -> dict[str, object]:
    """The configuration again, as its dialect spells it, with every number as an exact text."""
    keys = config.spelling.as_keys(config)
    return {
        key: exact(value) if isinstance(value, Fraction) else value for key, value in keys.items()
    }


def write_release_log(output: Path, ran: RunFacts, rows: Mapping[str, int]) -> None:
    """Write the log beside the tables: status, valid input, what was written, and the cost."""
    definition, loss = ran.plan.config.privacy_definition, ran.plan.loss
    lines = [
        f"{ran.date.isoformat()} safetab {VERSION}",
        ran.status.line,
        *(["the noise was drawn with a test key"] if ran.has_test_key else []),
        "validation passed",
        *(f"wrote {name}: {count} rows" for name, count in sorted(rows.items())),
        f"{definition.budget_symbol} {loss_text(loss.unbounded)},"
        f" bounded {loss_text(loss.bounded)}",
    ]
    (output / LOG_FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_not_for_release(output: Path, status: OutputStatus) -> None:
    """Mark an output that may not be released, so that nobody mistakes it for a release."""
    if not status.is_for_release:
        (output / NOT_FOR_RELEASE_FILE).write_text(f"{status.line}\n", encoding="utf-8")


def hashes_of(files: Iterable[Path]) -> dict[str, str]:
    """The SHA-256 of each file, by file name."""
    return hashes_by_name({path.name: path for path in files})


def hashes_by_name(files: Mapping[str, Path]) -> dict[str, str]:
    """The SHA-256 of each file, by the given names. Large files are hashed in threads."""
    paths = files.values()
    if sum(path.stat().st_size for path in paths) < _BYTES_WORTH_THREADS:
        return {name: sha256_of(path) for name, path in files.items()}
    hashes = results_in_threads((partial(sha256_of, path) for path in paths), pa.cpu_count())
    return dict(zip(files, hashes, strict=True))
