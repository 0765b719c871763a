"""`safetab accuracy`: checks, exact counts, runs, and a folder.

Only the curator can read the folder.
"""

from __future__ import annotations

import datetime
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from safetab.apps.accuracy.pages.page import AssessedData, accuracy_page
from safetab.apps.accuracy.tables import accuracy_table, comparison_table, levels_alike
from safetab.core.privacy.output_status import SYNTHETIC_MARKER
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.files import resolved, whole_path
from safetab.foundation.findings import VERSION, Checked, Finding, FindingsOf, InvalidInput
from safetab.foundation.new_files import is_output_of_run, output_around
from safetab.foundation.parquet_facts import opened_parquet
from safetab.foundation.progress import NoProgress, Progress
from safetab.foundation.result_tables import Result
from safetab.foundation.safe_csv import safe_texts
from safetab.foundation.templates import template_texts
from safetab.inputs.configuration import product_asked_for, read_config, require_parameters
from safetab.inputs.own_records import is_synthetic, paths_read
from safetab.model.products.product import Product
from safetab.release.files.documents import steps_as_json
from safetab.release.outputs.manifest import configuration_as_json
from safetab.release.outputs.output_folder import (
    NamesLike,
    always_named,
    output_findings,
    whole_output,
)
from safetab.runs import guards
from safetab.runs.inputs import RunInputs, WatchedFiles, checked_engine, read_inputs
from safetab.runs.observed.assess import Assessment, assess
from safetab.runs.options import RunOptions, refused_options, status_of_run

_FACTS_FILE = "accuracy.json"
_GIVEN, _OTHER = "given", "other"  # the names of the configurations in tables
_FILE_NAMES = r"accuracy\.(parquet|csv|html|json)|comparison\.(parquet|csv)|README\.txt"
_EARLIER = always_named(_FACTS_FILE, NamesLike(_FILE_NAMES))
_MOST_RUNS = 100_000


@dataclass(frozen=True, slots=True)
class AccuracyRequest:
    """The number of runs, the other PARAMETERS, and whether the data may be of real people."""

    runs: int = 100
    against: Path | None = None
    is_confidential: bool = False
    options: RunOptions = field(default_factory=RunOptions)


@dataclass(frozen=True, slots=True, repr=False)
class AccuracySummary(Result):
    """The files that were written, and whom they are about."""

    warnings: tuple[Finding, ...]
    rows: Mapping[str, int]  # by the name of a table
    is_synthetic: bool
    nouns: str = "people"  # what the records describe
    folder: Path = Path()

    @property
    def _title(self) -> str:
        return (
            f"Accuracy report about {'synthetic' if self.is_synthetic else 'real'} {self.nouns}:"
            f" {self.folder}"
        )

    def to_arrow(self) -> pa.Table:
        """A row for each table of the report: its name and its number of rows."""
        return pa.table({"table": [*self.rows], "rows": [*self.rows.values()]})

    def table(self, name: str = "accuracy") -> pa.Table:
        """A table of the report: accuracy; or comparison, of two configurations."""
        with opened_parquet(self.folder / f"{name}.parquet") as file:
            return file.read()


def accuracy_files(
    parameters: Path,
    data: Path,
    out: Path,
    request: AccuracyRequest,
    progress: Progress | None = None,
) -> AccuracySummary:
    """Assess one or two configurations and write the report: all of it, or nothing.

    The report is made from the truth, so it is confidential unless the data are synthetic.
    Proof: docs/privacy.md#accuracy. Raises InvalidInput if an input or option is wrong, RunFailed
    if the machine fails.
    """
    progress, options = progress or NoProgress(), request.options
    require_parameters(parameters, data)
    guards.forbid_memory_dumps()
    out = whole_path(out)
    refused = _refused(parameters, data, out, request)
    if refused:
        raise InvalidInput(refused)
    folders = {_GIVEN: parameters}
    if request.against is not None:
        folders[_OTHER] = request.against
    assessed: dict[str, Assessment] = {}
    warnings: list[Finding] = []
    watched = WatchedFiles(
        (*folders.values(), *paths_read(data), options.empty_blocks, options.totals)
    )
    threads = guards.pyarrow_threads(options.threads)
    with (
        guards.os_errors_as_run_failed(),
        guards.findings_logged(None),
        guards.own_errors_logged(None),
        threads,
        watched.changes_reported_first(),
    ):
        read = {name: _read(folder, data, options, progress) for name, folder in folders.items()}
        for name, checked in read.items():
            assessed[name], found = _assessed(checked, request, progress, watched)
            warnings += [finding for finding in found if finding not in warnings]
        progress.step("Writing the report", 1)
        assessed_data = AssessedData(
            is_synthetic=is_synthetic(data),
            status=status_of_run(assessed[_GIVEN].plan, data, options),
            given=_GIVEN,
            nouns=assessed[_GIVEN].product.record.nouns,
            names=names_of(parameters, request.against or parameters),
        )
        rows = _write(out, assessed, assessed_data, options)
        progress.advance()
    return AccuracySummary(
        tuple(warnings), rows, assessed_data.is_synthetic, assessed_data.nouns, out
    )


def names_of(given: Path, other: Path) -> tuple[str, str]:
    """Names for two folders: the shortest ends of their paths that differ."""
    parts, of_other = whole_path(given).parts, whole_path(other).parts
    for count in range(1, max(len(parts), len(of_other)) + 1):
        if parts[-count:] != of_other[-count:]:
            return "/".join(parts[-count:]), "/".join(of_other[-count:])
    return parts[-1], f"{parts[-1]} again"


def _refused(
    parameters: Path, data: Path, out: Path, request: AccuracyRequest
) -> tuple[Finding, ...]:
    """All reasons not to begin, as findings."""
    options = request.options
    findings = FindingsOf("the command")
    exists = os.path.exists(data)  # noqa: PTH110 - never raises; reading it reports what is wrong
    if exists and not is_synthetic(data) and not request.is_confidential:
        nouns = product_asked_for(parameters, data).record.nouns
        findings.error(
            "--confidential",
            f"needed: {data} has no file {SYNTHETIC_MARKER}, so its {nouns} may be real. The report"
            " is made from the truth and must never be released. Add --confidential if you are"
            " allowed to make it.",
            is_of_files=True,
        )
    if not 1 <= request.runs <= _MOST_RUNS:
        findings.error("--runs", f"must be from 1 to {_MOST_RUNS:,}.")
    inputs = [parameters, *paths_read(data), *([request.against] if request.against else [])]
    found = findings.findings + refused_options(data, options)
    found += _of_another_product(parameters, request.against)
    kept = (options.temporary_folder,)
    return found + (
        _inside_a_release(out)
        or output_findings(out, inputs, overwrite=options.overwrite, earlier=_EARLIER, kept=kept)
    )


def _of_another_product(parameters: Path, against: Path | None) -> tuple[Finding, ...]:
    """A finding if the two configurations have different tables.

    A configuration that cannot be read is reported when it is read.
    """
    findings = FindingsOf("the command")
    own = read_config(parameters).value
    other = read_config(against).value if against is not None else None
    if own is not None and other is not None and _tables(own.product) != _tables(other.product):
        message = (
            f"is a configuration of {other.product.name}; PARAMETERS is one of {own.product.name}."
        )
        if own.product.name == other.product.name:
            message = (
                "has other tables than PARAMETERS."
                " Only configurations with the same tables can be compared."
            )
        findings.error("--against", message, is_of_files=True)
    return findings.findings


def _tables(product: Product) -> tuple[object, ...]:
    """The parts of a product that two configurations must share to be compared."""
    families = [(family.name, len(family.shapes)) for family in product.families]
    shapes = [(shape.label, shape.cell_of_value, shape.lines) for shape in product.shapes]
    return product.name, product.selector, families, shapes


def _inside_a_release(out: Path) -> tuple[Finding, ...]:
    """A finding if the report would lie in a release or replace one."""
    findings = FindingsOf(str(out))
    output = (
        "the output of a run, which may be released; an accuracy report may not."
        " Choose another OUT."
    )
    try:
        if is_output_of_run(resolved(out)):
            findings.error("", f"is {output}")
        elif (around := output_around(out)) is not None:
            findings.error("", f"lies in {around}, {output}")
    except OSError as error:
        raise_if_the_machine_failed(error)
        findings.error("", f"can't be created: {error.strerror or 'unknown error'}.")
    return findings.findings


def _read(
    parameters: Path, data: Path, options: RunOptions, progress: Progress
) -> Checked[RunInputs]:
    """Read the public files of a configuration.

    All configurations are read before the first is assessed, so that mistakes show early.
    """
    progress.step(f"Reading the public files of {parameters}", 1)
    checked = read_inputs(parameters, data, options.empty_blocks, totals=options.totals)
    checked.require()
    progress.advance()
    return checked


def _assessed(
    checked: Checked[RunInputs], request: AccuracyRequest, progress: Progress, watched: WatchedFiles
) -> tuple[Assessment, tuple[Finding, ...]]:
    """Count and run one configuration; returns its assessment and the warnings about its data."""
    options, inputs = request.options, checked.require()
    with (
        guards.backend_of(options) as backend,
        checked_engine(checked, backend, progress) as (warnings, engine),
    ):
        config = inputs.plan.config
        progress.step(
            f"Counting the {config.product.record.counted} of each {config.census.part.noun}", 1
        )
        engine.prepare()
        watched.require_unchanged()
        progress.advance()
        return assess(inputs, engine, options, request.runs, progress), warnings


def _write(
    out: Path, assessed: Mapping[str, Assessment], data: AssessedData, options: RunOptions
) -> dict[str, int]:
    """Write all files of the report, for the curator alone; returns the rows of each table."""
    today = datetime.datetime.now(datetime.UTC).date()
    parts = [accuracy_table(assessment, name) for name, assessment in assessed.items()]
    tables = {"accuracy": pa.concat_tables(parts)}
    if _OTHER in assessed:
        given, other = assessed[_GIVEN], assessed[_OTHER]
        tables["comparison"] = comparison_table(
            tables["accuracy"], (_GIVEN, _OTHER), given.product, levels_alike(given, other)
        )
    page = accuracy_page(assessed, tables["accuracy"], tables.get("comparison"), data)
    with whole_output(out, overwrite=options.overwrite) as output:
        for name, table in tables.items():
            marked = table.replace_schema_metadata({"safetab": data.warning})
            with (output / f"{name}.parquet").open("wb") as file:  # Arrow opens only UTF-8 paths
                pa.parquet.write_table(marked, file, compression="zstd")
            with (output / f"{name}.csv").open("wb") as file:
                pa.csv.write_csv(safe_texts(table), file)
        (output / "accuracy.html").write_text(page, encoding="utf-8")
        (output / "README.txt").write_text(_readme(data), encoding="utf-8")
        facts = json.dumps(_facts(assessed, data, today), indent=2, ensure_ascii=False)
        (output / _FACTS_FILE).write_text(facts + "\n", encoding="utf-8")
        output.chmod(0o700)  # for the curator alone
        for path in output.iterdir():
            path.chmod(0o600)
    return {name: len(table) for name, table in tables.items()}


def _facts(
    assessed: Mapping[str, Assessment], data: AssessedData, today: datetime.date
) -> dict[str, object]:
    """The facts of an assessment as JSON values."""
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
        "runs": {name: own.runs for name, own in assessed.items()},
        "release": {
            name: steps_as_json(own.options, own.plan.config.census)
            for name, own in assessed.items()
        },
        "configuration": {
            name: configuration_as_json(own.plan.config) for name, own in assessed.items()
        },
    }


def _readme(data: AssessedData) -> str:
    """The text of the README beside the files."""
    text: str = template_texts("accuracy/texts.toml")["any"]["readme"]
    return text.format(warning=data.warning)
