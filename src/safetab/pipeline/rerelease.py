"""Re-release: a new output from the measurements of an old one, which stays as it is. Nothing is drawn."""

from __future__ import annotations

import datetime
import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from safetab.census.geography import Geography, region_id
from safetab.census.geography_levels import EntityKind, TabulationPass
from safetab.foundation.failures import refusals_as_run_failed
from safetab.foundation.findings import Checked, Finding, FindingsOf, InvalidInput, Severity, shortened
from safetab.foundation.formats import FORMAT, OUTPUT_FORMAT, format_of, readable_format
from safetab.foundation.text_files import UnreadableFile, read_text
from safetab.foundation.version import VERSION
from safetab.outputs.manifest import (
    LOG_FILE,
    MANIFEST_FILE,
    NOT_FOR_RELEASE_FILE,
    hashes_by_name,
    hashes_of,
    outputs_as_json,
    write_manifest_json,
)
from safetab.outputs.measurement_file import stated_format
from safetab.outputs.output_folder import output_findings, whole_output
from safetab.pipeline.declared_options import CONFIDENCE, CSV, STEPS, with_defaults
from safetab.pipeline.release_documents import write_documents
from safetab.privacy.output_status import OutputStatus, status_as_json, status_of_json
from safetab.readers.geography import lists_blocks_by_units, read_blocks_at, read_geography_at
from safetab.readers.table_files import table_paths_at
from safetab.release.allowed_files import measured_files
from safetab.release.checks.output_checks import OutputChecks
from safetab.release.coterminous.coterminous_sets import without_blocks
from safetab.release.damage import damage_told
from safetab.release.documents import PRIVACY_FILE, ReleaseFacts, steps_as_json
from safetab.release.numbers.number_files import RELEASE_FOLDER
from safetab.release.release_folder import open_release_folder
from safetab.release.release_options import ReleaseOptions, ReleaseRequest
from safetab.release.release_universe import Universe
from safetab.release.write_release import write_release

EMPTY_BLOCKS_AUTHORITY = (
    "Which blocks have a housing unit or group quarters was taken from the confidential unit files. It is public only"
    " if the numbers of units in each block are published without noise, outside the privacy loss stated here, as the"
    " curator states by giving the list. The Census Bureau did so for 2020: it declared them invariant."
)

MEASURED_BY = "measured_by"
"""Where the manifest of a re-release says which run measured its numbers."""

GeographyOfPass = Mapping[TabulationPass, Geography]


@dataclass(frozen=True, slots=True)
class RereleaseRequest:
    """All steps of the new release, whatever those of the old one were.

    The coterminous step needs the geography of the run; `empty_blocks` lists blocks that hold nobody.
    """

    options: ReleaseOptions
    geography: Path | None = None
    empty_blocks: Path | None = None

    @classmethod
    def of(cls, geography: str | Path | None = None, **given: object) -> RereleaseRequest:
        """From values by the names of declared options. Raises InvalidInput, with all that is wrong."""
        values = with_defaults((CONFIDENCE, CSV, *STEPS), given)
        blocks = values["empty_blocks"]
        return cls(
            ReleaseRequest.of(values).options(), *(None if one is None else Path(one) for one in (geography, blocks))
        )

    @property
    def paths(self) -> tuple[Path, ...]:
        return tuple(path for path in (self.geography, self.empty_blocks) if path is not None)


@dataclass(frozen=True, slots=True)
class RereleaseSummary:
    """What the new output is, and how many rows each file has."""

    status: OutputStatus
    rows: dict[str, int]


@dataclass(frozen=True, slots=True)
class _Measured:
    """What the manifest of an output says of its measurements; no step after them changes it."""

    manifest: Mapping[str, Any]
    status: OutputStatus
    origin: Mapping[str, Any]  # version, format and day of the run that measured
    loss: str
    rows: Mapping[str, int]  # of the tables and the measurements
    documents: tuple[str, ...]


def populated_geography(geography_of_pass: GeographyOfPass, empty_blocks: Path | None) -> Checked[GeographyOfPass]:
    """The geography without the blocks that a public list says hold nobody.

    Blocks of states outside the passes have no effect; one that its pass doesn't have is an error.
    """
    if empty_blocks is None:
        return Checked(geography_of_pass, ())
    listed = read_blocks_at(empty_blocks)
    if listed.value is None:
        return Checked(None, listed.findings)
    findings, populated = FindingsOf(empty_blocks.name), {}
    for tabulation_pass, geography in geography_of_pass.items():
        states = geography.entities(EntityKind.STATE)
        of_pass = listed.value[np.isin(listed.value // 10**13, states)]
        unknown = of_pass[~np.isin(of_pass, geography.block)]
        if len(unknown):
            blocks = shortened(f"{block:015d}" for block in unknown.tolist())
            findings.error("TABBLK", f"not in the geography: block {blocks}. List blocks of the geography alone.")
        populated[tabulation_pass] = without_blocks(geography, of_pass)
        if not len(populated[tabulation_pass].block):
            name = tabulation_pass.value.upper()
            findings.error("TABBLK", f"it lists every block of the {name} pass. List those that hold nobody.")
    return Checked(None if findings.has_errors else populated, listed.findings + findings.findings)


def empty_blocks_as_json(empty_blocks: Path | None) -> dict[str, object]:
    """On what authority a list of blocks that was made from confidential units is public."""
    if empty_blocks is None or not lists_blocks_by_units(empty_blocks):
        return {}
    return {"empty_blocks": EMPTY_BLOCKS_AUTHORITY}


def rerelease_files(out: Path, new: Path, request: RereleaseRequest, *, overwrite: bool = False) -> RereleaseSummary:
    """Writes NEW: the measurements and tables of OUT, and a release of the measurements with the steps asked for.

    Raises InvalidInput if what was given is at fault; RunFailed if the new output breaks a rule.
    """
    with refusals_as_run_failed(new):
        refused = output_findings(new, (out, *request.paths), overwrite=overwrite) + _refused(request)
        if refused:
            raise InvalidInput(refused)
        return _rereleased(out, new, request, overwrite=overwrite)


def coterminous_files(out: Path, new: Path, request: RereleaseRequest, *, overwrite: bool = False) -> RereleaseSummary:
    """The re-release with the coterminous step asked for, and the confidence and the rules that OUT has."""
    with refusals_as_run_failed():
        kept = open_release_folder(out).facts.options
    options = replace(kept, coterminous=request.options.coterminous)
    return rerelease_files(out, new, replace(request, options=options), overwrite=overwrite)


def _refused(request: RereleaseRequest) -> tuple[Finding, ...]:
    findings = FindingsOf("the command")
    if request.options.coterminous is not None and request.geography is None:
        findings.error("--coterminous", "compares blocks. Give --geography too: the GRF-C file of the run.")
    if request.options.coterminous is None:
        for option, path in (("--geography", request.geography), ("--empty-blocks", request.empty_blocks)):
            if path is not None:
                findings.error(option, "is about the coterminous step. Give --coterminous too.")
    return findings.findings


def _rereleased(out: Path, new: Path, request: RereleaseRequest, *, overwrite: bool) -> RereleaseSummary:
    folder = open_release_folder(out)
    measured = _measured(out, folder.universe)
    populated = (
        {} if request.geography is None else _populated(folder.universe, request.geography, request.empty_blocks)
    )
    today = datetime.datetime.now(datetime.UTC).date()
    facts = replace(folder.facts, version=VERSION, date=today, status=measured.status, options=request.options)
    with whole_output(new, today, overwrite=overwrite) as output:
        _copy_what_stays(out, output, measured)
        checks = OutputChecks(output, folder.universe, request.options)
        with checks.of_tables_beside():
            rows = {**measured.rows, **write_release(output, folder.universe, facts, populated)}
        with checks.of_numbers_beside():
            write_documents(output, folder.universe, facts)
            _write_log(output, facts, measured, rows)
            steps = steps_as_json(request.options) | empty_blocks_as_json(request.empty_blocks)
            manifest = {**measured.manifest, **_written_by(facts), **status_as_json(measured.status), "release": steps}
            manifest |= {MEASURED_BY: measured.origin, "rerelease": {"public_files": _public_files(request)}}
            write_manifest_json(output, manifest | outputs_as_json(output, rows))
        checks.of_the_whole()
    return RereleaseSummary(measured.status, rows)


def _measured(out: Path, universe: Universe) -> _Measured:
    """What OUT says of itself, once its files are what it says. Raises InvalidInput if they are not."""
    needed = (*measured_files(universe), f"{RELEASE_FOLDER}/{PRIVACY_FILE}")
    try:
        manifest: dict[str, Any] = json.loads(read_text(out / MANIFEST_FILE))
        _check_format(out / MANIFEST_FILE, manifest.get(FORMAT, 0))
        files = manifest["outputs"] | manifest["documents"]
        outside = [name for name in files if not _stays_inside(name)]
        if outside:
            raise _no_output(
                out, f"its manifest names files outside of it: {shortened(outside)}. Get the output again."
            )
        missing = [name for name in dict.fromkeys((*files, *needed)) if name not in files or not (out / name).is_file()]
        found = {} if missing else hashes_by_name({name: out / name for name in files})
        changed = [name for name, one in found.items() if one != files[name]["sha256"]]
        measured = None if missing or changed else _facts_of(manifest, universe)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, UnreadableFile):
        raise _no_output(
            out,
            f"has no {MANIFEST_FILE} that can be read. Give the whole output of a run: the measurements are needed.",
        ) from None
    if missing:
        raise _no_output(
            out, f"its manifest names files that are not there: {shortened(missing)}. Give the whole output of a run."
        )
    if measured is None:
        raise _no_output(out, f"files are not what its manifest says: {shortened(changed)}. Get the output again.")
    for path in (out / name for name in measured.rows if name.endswith(".parquet")):
        with damage_told(path):
            readable_format(path, stated_format(path))
    return measured


def _check_format(path: Path, stated: object) -> None:
    try:
        readable_format(path, stated)
    except ValueError as wrong:
        raise _no_output(path, f"{wrong}. Get the output again.") from None


def _stays_inside(name: str) -> bool:
    """Whether the name of a file, below a folder, can't lead out of it; links are another matter."""
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and "\\" not in name and "\0" not in name


def _no_output(out: Path, message: str) -> InvalidInput:
    return InvalidInput([Finding(Severity.ERROR, str(out), "", message)])


def _facts_of(manifest: Mapping[str, Any], universe: Universe) -> _Measured:
    loss, symbol = manifest["loss"]["whole_run"], universe.definition.budget_symbol
    return _Measured(
        manifest=manifest,
        status=status_of_json(manifest),
        origin=_origin_of(manifest.get(MEASURED_BY, manifest)),
        loss=f"{symbol} {loss[f'unbounded_{symbol}']}, bounded {loss[f'bounded_{symbol}']}",
        rows={name: int(manifest["outputs"][name]["rows"]) for name in measured_files(universe)},
        documents=(f"{RELEASE_FOLDER}/{PRIVACY_FILE}", *({NOT_FOR_RELEASE_FILE} & set(manifest["documents"]))),
    )


def _origin_of(said: Mapping[str, Any]) -> dict[str, object]:
    return {"version": str(said["version"]), FORMAT: format_of(said.get(FORMAT, 0)), "date": str(said["date"])}


def _populated(universe: Universe, path: Path, empty_blocks: Path | None) -> GeographyOfPass:
    geography = read_geography_at(path).require()
    of_pass = {tabulation_pass: geography.of_states(states) for tabulation_pass, states in universe.states.items()}
    findings = FindingsOf(path.name)
    for level, entities in universe.entities.items():
        listed = of_pass[level.tabulation_pass].entities(level.entity_kind)
        different = np.setxor1d(listed, entities.ids)
        if len(different):
            ids = shortened(region_id(entity, level.entity_kind) for entity in different.tolist())
            findings.error(level.label, f"not the entities of the run: {ids}. Give the geography that the run used.")
    populated = populated_geography(of_pass, empty_blocks)
    found = findings.findings + populated.findings
    if populated.value is None or findings.has_errors:
        raise InvalidInput(found)
    return populated.value


def _copy_what_stays(out: Path, output: Path, measured: _Measured) -> None:
    for name in (*measured.rows, *measured.documents):
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(out / name, output / name)


def _write_log(output: Path, facts: ReleaseFacts, measured: _Measured, rows: Mapping[str, int]) -> None:
    lines = [
        f"{facts.date.isoformat()} safetab {facts.version}",
        f"released again from the measurements of {measured.origin['date']} (safetab {measured.origin['version']}):"
        " no new noise was drawn and nothing was spent",
        measured.status.line,
        *(f"wrote {name}: {count} rows" for name, count in sorted(rows.items())),
        measured.loss,
    ]
    (output / LOG_FILE).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _written_by(facts: ReleaseFacts) -> dict[str, object]:
    return {"version": facts.version, FORMAT: OUTPUT_FORMAT, "date": facts.date.isoformat()}


def _public_files(request: RereleaseRequest) -> dict[str, object]:
    """The files that the re-release itself read, with their hashes."""
    given = {"geography": request.geography, "empty_blocks": request.empty_blocks}
    return {name: hashes_of(table_paths_at(path)) for name, path in given.items() if path is not None}
