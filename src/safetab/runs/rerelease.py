"""Re-release: a new output from the measurements of an old one. Nothing is drawn or spent."""

from __future__ import annotations

import datetime
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from safetab.core.privacy.output_status import OutputStatus, status_as_json, status_of_json
from safetab.foundation.failures import refusals_as_run_failed
from safetab.foundation.files import UnreadableFile, read_text
from safetab.foundation.findings import (
    FORMAT,
    OUTPUT_FORMAT,
    VERSION,
    FindingsOf,
    InvalidInput,
    format_of,
    readable_format,
    require_none,
    shortened,
)
from safetab.foundation.result_tables import WrittenFiles
from safetab.inputs.area_files import area_paths_at, read_areas_at
from safetab.inputs.specification.area_tables import read_area_table
from safetab.model.census.census import Words
from safetab.model.census_value import census_of
from safetab.model.known_census import DEFAULT_CENSUS
from safetab.model.specification.values import Specification
from safetab.release.files.allowed_files import measured_files
from safetab.release.files.census_file import ReleasedCensus
from safetab.release.files.checks.output_checks import OutputChecks
from safetab.release.files.checksums import damage_as_invalid_input, invalid
from safetab.release.files.documents import PRIVACY_FILE, ReleaseFacts, steps_as_json
from safetab.release.files.numbers.number_files import RELEASE_FOLDER
from safetab.release.files.release_folder import ReleaseFolder, open_release_folder
from safetab.release.files.release_options import ReleaseOptions, ReleaseRequest
from safetab.release.files.release_universe import Universe
from safetab.release.files.universe_files import read_universe
from safetab.release.files.write_release import write_release
from safetab.release.outputs import manifest as manifests
from safetab.release.outputs.manifest import MANIFEST_FILE
from safetab.release.outputs.output_folder import output_findings, whole_output
from safetab.release.outputs.pass_files import stated_format
from safetab.runs.declared_options import OF_BLOCKS, RERELEASE, with_defaults
from safetab.runs.release_parts import (
    GeographyOfPass,
    empty_blocks_as_json,
    populated_geography,
    write_documents,
)


@dataclass(frozen=True, slots=True)
class RereleaseRequest:
    """All steps of the new release; those of the old one don't matter.

    The coterminous step needs the geography of the run; `empty_blocks` lists blocks that hold
    nobody.
    """

    options: ReleaseOptions
    geography: Path | None = None
    empty_blocks: Path | None = None

    @classmethod
    def of(cls, geography: str | Path | None = None, **given: object) -> RereleaseRequest:
        """A request from the values of declared options. Raises InvalidInput with every mistake."""
        values = with_defaults(RERELEASE, given)
        paths = [
            None if path is None else Path(path) for path in (geography, values["empty_blocks"])
        ]
        return cls(ReleaseRequest.of(values).options(), *paths)

    @property
    def paths(self) -> dict[str, Path]:
        """The files that the re-release reads besides OUT, by the names of their options."""
        given = {"geography": self.geography, "empty_blocks": self.empty_blocks}
        return {name: path for name, path in given.items() if path is not None}


@dataclass(frozen=True, slots=True, repr=False)
class RereleaseSummary(WrittenFiles):
    """The status of the new output, and the number of rows of each file."""

    status: OutputStatus
    rows: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Measured:
    """The manifest's facts on an output's measurements; no later step changes them."""

    manifest: Mapping[str, Any]
    status: OutputStatus
    origin: Mapping[str, Any]  # version, format and day of the run that measured
    loss: str
    rows: Mapping[str, int]  # of the tables and the measurements
    documents: tuple[str, ...]


def rerelease_files(
    out: Path, new: Path, request: RereleaseRequest, *, overwrite: bool = False
) -> RereleaseSummary:
    """Write NEW: the measurements and tables of OUT, and a release with the steps asked for.

    Raises InvalidInput if an input is at fault, RunFailed if the machine refuses or the new output
    breaks a rule.
    """
    with refusals_as_run_failed(new):
        findings = FindingsOf("the command")
        if request.options.coterminous is not None and request.geography is None:
            words = _words_of(out)
            message = (
                f"compares {words.smallest_areas}."
                f" Add --geography: the {words.areas_file} file of the run."
            )
            findings.error("--coterminous", message)
        for name in request.paths if request.options.coterminous is None else ():
            findings.error(f"--{name.replace('_', '-')}", "needs --coterminous.")
        inputs = (out, *request.paths.values())
        require_none(output_findings(new, inputs, overwrite=overwrite) + findings.findings)
        return _rereleased(out, new, request, overwrite=overwrite)


def coterminous_files(
    out: Path, new: Path, request: RereleaseRequest, *, overwrite: bool = False
) -> RereleaseSummary:
    """Write NEW with the coterminous step, and with the confidence and the rules of OUT."""
    with refusals_as_run_failed():
        kept = open_release_folder(out).facts.options
    options = replace(kept, coterminous=request.options.coterminous)
    return rerelease_files(out, new, replace(request, options=options), overwrite=overwrite)


def _rereleased(
    out: Path, new: Path, request: RereleaseRequest, *, overwrite: bool
) -> RereleaseSummary:
    """Copy the measurements, make the release from them, and check the new output."""
    folder = open_release_folder(out)
    if request.options.coterminous is not None:
        request.options.coterminous.donors(folder.universe.census)  # refused before a file is read
    measured = _measured(out, folder.universe)
    spec = folder.universe.specification
    negatives = spec is not None and spec.privacy.negatives == "withheld"
    request = replace(request, options=request.options.withholding(negatives=negatives))
    populated: GeographyOfPass = {}
    if spec is None:
        populated = _populated(folder.universe, request)
    elif request.geography is not None:
        universe, populated = _with_areas(folder, spec, request.geography, request.empty_blocks)
        folder = replace(folder, universe=universe)
    today = datetime.datetime.now(datetime.UTC).date()
    facts = replace(
        folder.facts, version=VERSION, date=today, status=measured.status, options=request.options
    )
    with whole_output(new, overwrite=overwrite) as output:
        for name in (*measured.rows, *measured.documents):
            (output / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(out / name, output / name)
        manifests.write_not_for_release(output, measured.status)  # in the words of today
        checks = OutputChecks(output, folder.universe, request.options)
        with checks.of_tables_beside():
            rows = {**measured.rows, **write_release(output, folder.universe, facts, populated)}
        with checks.of_numbers_beside():
            write_documents(output, folder.universe, facts)
            _write_log(output, facts, measured, rows)
            census = folder.universe.census
            steps = steps_as_json(request.options, census) | empty_blocks_as_json(
                request.empty_blocks, census
            )
            made = {"version": facts.version, FORMAT: OUTPUT_FORMAT, "date": facts.date.isoformat()}
            manifest = {
                **measured.manifest,
                **made,
                **status_as_json(measured.status),
                "release": steps,
            }
            parts = _parts_of(folder.universe)
            files = {
                name: manifests.hashes_of(area_paths_at(path, parts))
                for name, path in request.paths.items()
            }
            manifest |= {
                manifests.MEASURED_BY: measured.origin,
                "rerelease": {"public_files": files},
            }
            manifests.write_json(
                output / manifests.MANIFEST_FILE, manifest | manifests.outputs_as_json(output, rows)
            )
        checks.of_remaining_files()
    return RereleaseSummary(measured.status, rows)


def _measured(out: Path, universe: Universe) -> _Measured:
    """The facts that the manifest of OUT states.

    Raises InvalidInput if OUT's files are not as it says.
    """
    needed = (*measured_files(universe), f"{RELEASE_FOLDER}/{PRIVACY_FILE}")
    try:
        manifest: dict[str, Any] = json.loads(read_text(out / MANIFEST_FILE))
        try:
            readable_format(out / MANIFEST_FILE, manifest.get(FORMAT, 0))
        except ValueError as wrong:
            raise invalid(out / MANIFEST_FILE, f"{wrong}. Get the output again.") from None
        files = manifest["outputs"] | manifest["documents"]
        outside = [name for name in files if not _stays_inside(name)]
        if outside:
            message = f"its manifest names files outside of it: {shortened(outside)}."
            raise invalid(out, f"{message} Get the output again.")
        missing = [
            name
            for name in dict.fromkeys((*files, *needed))
            if name not in files or not (out / name).is_file()
        ]
        found = {} if missing else manifests.hashes_by_name({name: out / name for name in files})
        changed = [
            name for name, found_hash in found.items() if found_hash != files[name]["sha256"]
        ]
        measured = None if missing or changed else _facts_of(manifest, universe)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, UnreadableFile):
        message = (
            f"has no readable {MANIFEST_FILE}. Give the whole output of a run:"
            " the measurements are needed."
        )
        raise invalid(out, message) from None
    if missing:
        message = f"its manifest names files that don't exist: {shortened(missing)}."
        raise invalid(out, f"{message} Give the whole output of a run.")
    if measured is None:
        raise invalid(
            out,
            f"files are not what its manifest says: {shortened(changed)}. Get the output again.",
        )
    for path in (out / name for name in measured.rows if name.endswith(".parquet")):
        with damage_as_invalid_input(path):
            readable_format(path, stated_format(path))
    return measured


def _stays_inside(name: str) -> bool:
    """Whether a file name in a folder can't lead out of it; links are not considered."""
    path = PurePosixPath(name)
    return (
        not path.is_absolute() and ".." not in path.parts and "\\" not in name and "\0" not in name
    )


def _facts_of(manifest: Mapping[str, Any], universe: Universe) -> _Measured:
    """A manifest's facts on the measurements; KeyError or ValueError if it is malformed."""
    loss, symbol = manifest["loss"]["whole_run"], universe.definition.budget_symbol
    run = manifest.get(manifests.MEASURED_BY, manifest)
    return _Measured(
        manifest=manifest,
        status=status_of_json(manifest),
        origin={
            "version": str(run["version"]),
            FORMAT: format_of(run.get(FORMAT, 0)),
            "date": str(run["date"]),
        },
        loss=f"{symbol} {loss[f'unbounded_{symbol}']}, bounded {loss[f'bounded_{symbol}']}",
        rows={name: int(manifest["outputs"][name]["rows"]) for name in measured_files(universe)},
        documents=(f"{RELEASE_FOLDER}/{PRIVACY_FILE}",),
    )


def _populated(universe: Universe, request: RereleaseRequest) -> GeographyOfPass:
    """The blocks that may hold people; empty if no geography is given.

    Raises InvalidInput if the geography is not the run's.
    """
    path = request.geography
    if path is None:
        return {}
    geography = read_areas_at(path, _parts_of(universe)).require()
    number_of = universe.census.part.ids.number
    of_pass = {
        which: geography.of_parts(map(number_of, parts)) for which, parts in universe.states.items()
    }
    findings = FindingsOf(path.name)
    for level, entities in universe.entities.items():
        listed = of_pass[level.tabulation_pass].entities(level.kind)
        different = np.setxor1d(listed, entities.ids)
        if len(different):
            ids = shortened(level.kind.ids.text(entity) for entity in different.tolist())
            findings.error(
                level.label,
                f"not the entities of the run: {ids}. Give the geography that the run used.",
            )
    populated = populated_geography(of_pass, request.empty_blocks)
    if populated.value is None or findings.has_errors:
        raise InvalidInput(findings.findings + populated.findings)
    return populated.value


def _parts_of(universe: Universe) -> list[str]:
    """The parts of the territory, such as states, that the run tabulated."""
    return [part for parts in universe.states.values() for part in parts]


def _words_of(out: Path) -> Words:
    """The words of an output's census."""
    try:
        return open_release_folder(out).universe.census.words
    except InvalidInput:  # another message says why
        return DEFAULT_CENSUS.words


def _with_areas(
    folder: ReleaseFolder, spec: Specification, path: Path, empty_blocks: Path | None
) -> tuple[Universe, GeographyOfPass]:
    """The universe with a table's numbers of ids, and the areas of each pass.

    The universe is that of a release; a table of areas gives the numbers to ids.

    Raises InvalidInput if the table is not the run's.
    """
    findings, universe = FindingsOf(path.name), folder.universe
    table = read_area_table(spec, path, findings)
    if empty_blocks is not None:
        findings.error("--empty-blocks", OF_BLOCKS)
    if table is None or findings.has_errors:
        raise InvalidInput(findings.findings)
    kinds = frozenset(kind.name for kind in universe.census.group_kinds)
    census = census_of(spec, replace(table.facts, group_kinds=kinds))
    areas = table.areas(census.kinds, census.part)
    of_pass = {one: areas.chosen(table.is_of_pass[one.name]) for one in census.passes}
    for level, entities in universe.entities.items():
        kind = census.kind(level.kind.name)
        listed = {
            kind.ids.text(number)
            for number in of_pass[level.tabulation_pass].entities(kind).tolist()
        }
        different = sorted(listed ^ set(entities.region_ids))
        if different:
            message = (
                f"not the entities of the run: {shortened(different)}."
                " Give the table of areas that the run used."
            )
            findings.error(level.label, message)
    findings.require_no_errors()
    of = ReleasedCensus(census, universe.product, spec)
    facts = (universe.definition, universe.states)
    return read_universe(
        folder.path, of, *facts, allow_negative=universe.allow_negative_counts
    ), of_pass


def _write_log(
    output: Path, facts: ReleaseFacts, measured: _Measured, rows: Mapping[str, int]
) -> None:
    """Write the log of the re-release, which is released with it."""
    lines = [
        f"{facts.date.isoformat()} safetab {facts.version}",
        f"released again from the measurements of {measured.origin['date']}"
        f" (safetab {measured.origin['version']}): no new noise was drawn and nothing was spent",
        measured.status.line,
        *(f"wrote {name}: {count} rows" for name, count in sorted(rows.items())),
        measured.loss,
    ]
    (output / manifests.LOG_FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")
