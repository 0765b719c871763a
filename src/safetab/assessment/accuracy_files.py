"""The command's whole path: what is refused, the exact counts, the runs, and the folder that nobody else may read."""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from safetab.assessment.assess import Assessment, Repetition, assess
from safetab.assessment.comparison import comparison_table, levels_alike
from safetab.assessment.pages.page import AssessedData, accuracy_page
from safetab.assessment.rows import accuracy_table
from safetab.config.config_file import product_asked_for, read_config
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import Checked, Finding, FindingsOf, InvalidInput
from safetab.foundation.new_file import is_output_of_run
from safetab.foundation.progress import NoProgress, Progress
from safetab.foundation.safe_csv import safe_texts
from safetab.foundation.version import VERSION
from safetab.foundation.whole_path import resolved, whole_path
from safetab.outputs.earlier_output import NamesLike, always_named
from safetab.outputs.manifest import configuration_as_json
from safetab.outputs.output_folder import output_findings, whole_output
from safetab.pipeline.backends import backend_of, forbid_memory_dumps
from safetab.pipeline.guards import findings_logged, os_errors_as_run_failed, own_errors_logged, pyarrow_threads
from safetab.pipeline.inputs import RunInputs, checked_engine, read_inputs
from safetab.pipeline.options import RunOptions, refused_options, status_of_run
from safetab.privacy.output_status import SYNTHETIC_MARKER
from safetab.readers.cef.reader_file import paths_read
from safetab.readers.synthetic_marker import is_synthetic
from safetab.release.documents import steps_as_json

FACTS_FILE = "accuracy.json"
GIVEN, OTHER = "given", "other"
_EARLIER = always_named(
    FACTS_FILE, NamesLike(r"accuracy\.(parquet|csv|html|json)|comparison\.(parquet|csv)|README\.txt")
)
_MOST_RUNS = 100_000


@dataclass(frozen=True, slots=True)
class AccuracyRequest:
    """How often to run, against what, and whether the truth of real people may be looked at."""

    runs: int = 100
    against: Path | None = None
    is_confidential: bool = False
    options: RunOptions = field(default_factory=RunOptions)


@dataclass(frozen=True, slots=True)
class AccuracySummary:
    """What the curator reads at the end."""

    warnings: tuple[Finding, ...]
    rows: Mapping[str, int]
    is_synthetic: bool
    nouns: str = "people"  # what the records are of


def accuracy_files(
    parameters: Path, data: Path, out: Path, request: AccuracyRequest, progress: Progress | None = None
) -> AccuracySummary:
    """Assesses one or two configurations and writes the report; it is whole, or there is none.

    Looks at the truth, and what it writes tells it: confidential, but for synthetic people.
    Proof: docs/privacy.md#accuracy. Raises InvalidInput if what was given is at fault, RunFailed if the machine is.
    """
    progress, options = progress or NoProgress(), request.options
    forbid_memory_dumps()
    out = whole_path(out)
    refused = _refused(parameters, data, out, request)
    if refused:
        raise InvalidInput(refused)
    given = {GIVEN: parameters} | ({OTHER: request.against} if request.against is not None else {})
    with os_errors_as_run_failed(), findings_logged(None), own_errors_logged(None), pyarrow_threads(options.threads):
        assessed, warnings = {}, tuple[Finding, ...]()
        read = {name: _read(one, data, options, progress) for name, one in given.items()}
        for name, checked in read.items():
            assessed[name], found = _assessed(checked, request, progress)
            warnings += tuple(finding for finding in found if finding not in warnings)
        progress.step("Writing the report", 1)
        status = status_of_run(assessed[GIVEN].plan, data, options)
        nouns = assessed[GIVEN].product.record.nouns
        names = names_of(parameters, request.against or parameters)
        rows = _write(out, assessed, AssessedData(is_synthetic(data), status, GIVEN, OTHER, nouns, names), options)
        progress.advance()
    return AccuracySummary(warnings, rows, is_synthetic(data), nouns)


def names_of(given: Path, other: Path) -> tuple[str, str]:
    """What two folders are called: by their last names, and by as much before these as tells them apart."""
    parts, of_other = whole_path(given).parts, whole_path(other).parts
    for count in range(1, max(len(parts), len(of_other)) + 1):
        if parts[-count:] != of_other[-count:]:
            return "/".join(parts[-count:]), "/".join(of_other[-count:])
    return parts[-1], f"{parts[-1]} again"


def _refused(parameters: Path, data: Path, out: Path, request: AccuracyRequest) -> tuple[Finding, ...]:
    options = request.options
    findings = FindingsOf("the command")
    is_nowhere = not os.path.exists(data)  # noqa: PTH110 - never raises; reading it says so
    if not is_nowhere and not is_synthetic(data) and not request.is_confidential:
        findings.error(
            "--confidential",
            f"needed: {data} has no file {SYNTHETIC_MARKER}, so its {product_asked_for(parameters).record.nouns} may be"
            " real. This looks at the truth, and what it writes must never be released. Give --confidential if you may"
            " do that.",
        )
    if not 1 <= request.runs <= _MOST_RUNS:
        findings.error("--runs", f"must be from 1 to {_MOST_RUNS:,}.")
    inputs = [parameters, *paths_read(data), *([request.against] if request.against else [])]
    found = findings.findings + refused_options(data, options)
    found += _of_another_product(parameters, request.against)
    return found + (_inside_a_release(out) or _unusable(out, inputs, options))


def _of_another_product(parameters: Path, against: Path | None) -> tuple[Finding, ...]:
    """What can't be read is told when it is read."""
    findings = FindingsOf("the command")
    own, other = (None if one is None else read_config(one).value for one in (parameters, against))
    if own is not None and other is not None and own.product is not other.product:
        message = f"is a configuration of {other.product.name}; PARAMETERS is one of {own.product.name}."
        findings.error("--against", message)
    return findings.findings


def _unusable(out: Path, inputs: list[Path], options: RunOptions) -> tuple[Finding, ...]:
    kept = (options.temporary_folder,)
    return output_findings(out, inputs, overwrite=options.overwrite, earlier=_EARLIER, kept=kept)


def _inside_a_release(out: Path) -> tuple[Finding, ...]:
    """What tells the truth may lie neither in what is released nor take its place."""
    findings = FindingsOf(str(out))
    try:
        for folder in (resolved(out), *resolved(out).parents):
            if is_output_of_run(folder):
                where = (
                    "is the output of a run" if folder == resolved(out) else f"lies in {folder}, the output of a run"
                )
                findings.error("", f"{where}, which may be released; an accuracy report may not. Choose another OUT.")
                break
    except OSError as error:
        raise_if_the_machine_failed(error)
        findings.error("", f"can't be made: {error.strerror or 'unknown error'}.")
    return findings.findings


def _read(parameters: Path, data: Path, options: RunOptions, progress: Progress) -> Checked[RunInputs]:
    """Of every configuration before the first is assessed: a mistake in the last is told at once."""
    progress.step(f"Reading the public files of {parameters}", 1)
    checked = read_inputs(parameters, data, options.empty_blocks, totals=options.totals)
    checked.require()
    progress.advance()
    return checked


def _assessed(
    checked: Checked[RunInputs], request: AccuracyRequest, progress: Progress
) -> tuple[Assessment, tuple[Finding, ...]]:
    options, inputs = request.options, checked.require()
    with backend_of(options) as backend, checked_engine(checked, backend, progress) as (warnings, engine):
        progress.step(f"Counting the {inputs.plan.config.product.record.noun}s of each state", 1)
        engine.prepare()
        progress.advance()
        repetition = Repetition(request.runs, options.threads, options.test_key)
        return assess(inputs, engine, options.release, repetition, progress), warnings


def _write(out: Path, assessed: Mapping[str, Assessment], data: AssessedData, options: RunOptions) -> dict[str, int]:
    today = datetime.datetime.now(datetime.UTC).date()
    tables = {"accuracy": _accuracy(assessed)}
    if OTHER in assessed:
        alike = levels_alike(assessed[GIVEN], assessed[OTHER])
        tables["comparison"] = comparison_table(tables["accuracy"], (GIVEN, OTHER), assessed[GIVEN].product, alike)
    page = accuracy_page(assessed, tables["accuracy"], tables.get("comparison"), data)
    with whole_output(out, today, overwrite=options.overwrite) as output, _for_the_curator_alone(output):
        for name, table in tables.items():
            marked = table.replace_schema_metadata({"safetab": data.warning})
            with (output / f"{name}.parquet").open("wb") as file:  # Arrow itself opens no path that isn't UTF-8
                pa.parquet.write_table(marked, file, compression="zstd")
            with (output / f"{name}.csv").open("wb") as file:
                pa.csv.write_csv(safe_texts(table), file)
        (output / "accuracy.html").write_text(page, encoding="utf-8")
        (output / "README.txt").write_text(_readme(data), encoding="utf-8")
        facts = json.dumps(_facts(assessed, data, today), indent=2, ensure_ascii=False)
        (output / FACTS_FILE).write_text(facts + "\n", encoding="utf-8")
    return {name: len(table) for name, table in tables.items()}


@contextmanager
def _for_the_curator_alone(output: Path) -> Iterator[None]:
    yield
    output.chmod(0o700)
    for path in output.iterdir():
        path.chmod(0o600)


def _accuracy(assessed: Mapping[str, Assessment]) -> pa.Table:
    return pa.concat_tables(
        [
            accuracy_table(one.levels, one.runs, has_theory=one.has_theory, configuration=name)
            for name, one in assessed.items()
        ]
    )


def _facts(assessed: Mapping[str, Assessment], data: AssessedData, today: datetime.date) -> dict[str, object]:
    return {
        "program": "safetab",
        "version": VERSION,
        "date": today.isoformat(),
        "what": "accuracy report",
        "warning": data.warning,
        "status": data.status.value if data.is_synthetic else "confidential",
        "for_release": False,
        "data_is_synthetic": data.is_synthetic,
        "names": dict(zip(assessed, data.names, strict=False)),
        "runs": {name: one.runs for name, one in assessed.items()},
        "release": {name: steps_as_json(one.options) for name, one in assessed.items()},
        "configuration": {name: configuration_as_json(one.plan.config) for name, one in assessed.items()},
    }


def _readme(data: AssessedData) -> str:
    return (
        f"{data.warning}\n\n"
        "accuracy.html     the report for people; begin there\n"
        "accuracy.csv      the same in numbers, a row for each level, way of measuring, kind of iteration,\n"
        '                  true-size class, table and sort of number; "all" is all of them together\n'
        "accuracy.parquet  the same for programs\n"
        "comparison.*      with --against: the two configurations, class by class\n"
        "accuracy.json     what was run\n\n"
        "Columns that end in _theory are what theory predicts, in _distance how many standard errors what was seen\n"
        "is away from it, in _low and _high the ends of a 95 % binomial interval. docs/accuracy.md says more.\n"
    )
