"""The coterminous step as a program: a new output from an old one, which stays as it is."""

from __future__ import annotations

import datetime
import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from safetab.failures import RunFailed
from safetab.findings import Checked, Finding, FindingsOf, InvalidInput, Severity, shortened
from safetab.outputs.manifest import (
    LOG_FILE,
    MANIFEST_FILE,
    NOT_FOR_RELEASE_FILE,
    hashes_of,
    outputs_as_json,
    sha256_of,
    write_manifest_json,
)
from safetab.outputs.output_folder import output_findings, whole_output
from safetab.postprocess.coterminous import without_blocks
from safetab.readers.geography import read_blocks_at, read_geography_at
from safetab.release.documents import PRIVACY_FILE, steps_as_json
from safetab.release.number_files import RELEASE_FOLDER
from safetab.release.output_checks import check_output
from safetab.release.release_folder import open_release_folder
from safetab.release.release_options import CoterminousOptions
from safetab.release.universe import Universe
from safetab.release.write_release import write_release
from safetab.reports.report import write_report
from safetab.spec.geography import Geography, region_id
from safetab.spec.geography_levels import EntityKind, TabulationPass

GeographyOfPass = Mapping[TabulationPass, Geography]


@dataclass(frozen=True, slots=True)
class CoterminousRequest:
    """What is compared with what: the geography of the run, and blocks that hold nobody."""

    geography: Path
    empty_blocks: Path | None = None
    options: CoterminousOptions = field(default_factory=CoterminousOptions)


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


def coterminous_files(out: Path, new: Path, request: CoterminousRequest, *, overwrite: bool = False) -> dict[str, int]:
    """Writes NEW: what OUT has, with the release after the coterminous step; tells how many rows each file has.

    Raises InvalidInput if what was given is at fault; RunFailed if the new output breaks a rule.
    """
    kept = [out, request.geography, *([request.empty_blocks] if request.empty_blocks else [])]
    refused = output_findings(new, kept, overwrite=overwrite)
    if refused:
        raise InvalidInput(refused)
    with _failures_told():
        return _coterminous(out, new, request, kept[1:], overwrite=overwrite)


def _coterminous(
    out: Path, new: Path, request: CoterminousRequest, public: list[Path], *, overwrite: bool
) -> dict[str, int]:
    folder, manifest = open_release_folder(out), _manifest_of(out)
    populated = _populated(folder.universe, request)
    options = replace(folder.facts.options, coterminous=request.options)
    facts = replace(folder.facts, options=options)
    with whole_output(new, datetime.datetime.now(datetime.UTC).date(), overwrite=overwrite) as output:
        rows = _copy_what_stays(out, output, manifest)
        rows |= write_release(output, folder.universe, facts, populated)
        write_report(output)
        with (output / LOG_FILE).open("a", encoding="utf-8") as log:
            log.write("the coterminous step was applied to the release\n")
        hashes = hashes_of(file for path in public for file in _files_of(path))
        manifest |= {"public_files": dict(sorted((manifest["public_files"] | hashes).items()))}
        manifest |= {"release": steps_as_json(options)} | outputs_as_json(output, rows)
        write_manifest_json(output, manifest)
        check_output(output, folder.universe, options)
    return rows


@contextmanager
def _failures_told() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RunFailed(f"the machine refused: {error.strerror or 'unknown error'}. Nothing was written.") from None


def _manifest_of(out: Path) -> dict[str, Any]:
    try:
        manifest: dict[str, Any] = json.loads((out / MANIFEST_FILE).read_text(encoding="utf-8"))
        files = manifest["outputs"] | manifest["documents"]
        missing = [name for name in files if not (out / name).is_file()]
        changed = [] if missing else [name for name, told in files.items() if sha256_of(out / name) != told["sha256"]]
    except (ValueError, KeyError, TypeError, FileNotFoundError, NotADirectoryError):
        message = (
            f"has no {MANIFEST_FILE} that can be read. Give the whole output of a run: the measurements are needed."
        )
        raise InvalidInput([Finding(Severity.ERROR, str(out), "", message)]) from None
    if missing:
        message = f"its manifest names files that are not there: {shortened(missing)}. Give the whole output of a run."
        raise InvalidInput([Finding(Severity.ERROR, str(out), "", message)])
    if changed:
        message = f"files are not what its manifest says: {shortened(changed)}. Get the output again."
        raise InvalidInput([Finding(Severity.ERROR, str(out), "", message)])
    return manifest


def _populated(universe: Universe, request: CoterminousRequest) -> GeographyOfPass:
    geography = read_geography_at(request.geography).require()
    of_pass = {tabulation_pass: geography.of_states(states) for tabulation_pass, states in universe.states.items()}
    findings = FindingsOf(request.geography.name)
    for level, entities in universe.entities.items():
        listed = of_pass[level.tabulation_pass].entities(level.entity_kind)
        different = np.setxor1d(listed, entities.ids)
        if len(different):
            ids = shortened(region_id(entity, level.entity_kind) for entity in different.tolist())
            findings.error(level.label, f"not the entities of the run: {ids}. Give the geography that the run used.")
    populated = populated_geography(of_pass, request.empty_blocks)
    found = findings.findings + populated.findings
    if populated.value is None or findings.has_errors:
        raise InvalidInput(found)
    return populated.value


def _copy_what_stays(out: Path, output: Path, manifest: Mapping[str, Any]) -> dict[str, int]:
    """Copies the tables, the measurements and the log; tells how many rows the copied tables have."""
    tables = {name: entry["rows"] for name, entry in manifest["outputs"].items() if not _is_of_release(name)}
    stays = [*tables, LOG_FILE, *({NOT_FOR_RELEASE_FILE} & set(manifest["documents"]))]
    for name in (*stays, f"{RELEASE_FOLDER}/{PRIVACY_FILE}"):
        (output / name).parent.mkdir(exist_ok=True)
        shutil.copyfile(out / name, output / name)
    return tables


def _is_of_release(name: str) -> bool:
    return name.startswith(f"{RELEASE_FOLDER}/")


def _files_of(path: Path) -> list[Path]:
    return sorted(path.iterdir()) if path.is_dir() else [path]
