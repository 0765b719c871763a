"""A release folder, opened: its facts and its universe."""

from __future__ import annotations

import datetime
import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from safetab.census.geography_levels import TabulationPass
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import Finding, FindingsOf, InvalidInput, Severity, shortened
from safetab.foundation.formats import FORMAT, OUTPUT_FORMAT, readable_format
from safetab.foundation.whole_path import resolved
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.output_status import status_of_json
from safetab.products.all_products import product_named
from safetab.release.checksums import CHECKSUMS, CHECKSUMS_FILE, check_files
from safetab.release.damage import damage_told
from safetab.release.documents import DATAPACKAGE_FILE, PRIVACY_FILE, ReleaseFacts
from safetab.release.numbers.number_columns import Column, number_columns
from safetab.release.numbers.number_files import RELEASE_FOLDER, numbers_file
from safetab.release.origin import origin_of_json
from safetab.release.release_options import KIND_NAMES, CoterminousOptions, ReleaseOptions, confidence_of
from safetab.release.release_rules import ReleaseRule
from safetab.release.release_universe import ReleaseLevel, Universe
from safetab.release.universe_files import ReleasedRun, read_universe

EXPORTED_ENTITIES = "universe/entities.csv"
"""An export as CSV files has it, and no release."""


@dataclass(frozen=True, slots=True)
class ReleaseFolder:
    """Needs nothing but the folder itself."""

    path: Path
    facts: ReleaseFacts
    universe: Universe
    format: int = OUTPUT_FORMAT

    def refuse_inside(self, file: Path) -> None:
        """Raises InvalidInput for a new file in the folder: it would no longer hold what was released."""
        if resolved(self.path) in resolved(file).parents:
            raise InvalidInput([_finding(file, "is inside the release, which must not change. Choose another place.")])

    def numbers_of(self, level: ReleaseLevel) -> Path | None:
        """The file of a level's numbers, if it has any. Raises InvalidInput if it has not the columns of numbers."""
        path = self.path / numbers_file(level.design, self.format)
        if not path.is_file():
            return None
        wrong = _wrong_columns(path, number_columns(self.universe.product))
        if wrong:
            message = f"has missing or wrong columns: {shortened(wrong)}. Get the release again."
            raise InvalidInput([_finding(path, message)])
        return path


def open_release_folder(path: Path) -> ReleaseFolder:
    """Opens OUT/release, or OUT. Raises InvalidInput if there is no release, or a damaged one."""
    try:
        return _opened(path)
    except OSError as error:
        raise_if_the_machine_failed(error)
        raise InvalidInput([_finding(path, f"can't be read: {error.strerror or 'unknown error'}.")]) from None


def _opened(path: Path) -> ReleaseFolder:
    if not path.exists():
        raise InvalidInput([_finding(path, "does not exist. Give OUT or OUT/release.")])
    folder = path / RELEASE_FOLDER if (path / RELEASE_FOLDER / DATAPACKAGE_FILE).is_file() else path
    if not (folder / DATAPACKAGE_FILE).is_file():
        raise InvalidInput([_finding(path, f"is no release: it has no {DATAPACKAGE_FILE}. Give OUT or OUT/release.")])
    if (folder / EXPORTED_ENTITIES).is_file():
        raise InvalidInput([_finding(path, "holds CSV files that were made of a release. Give the release itself.")])
    with suppress(OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):  # which are told below
        _require_known_format(folder)
    has_checksums = (folder / CHECKSUMS_FILE).exists()
    if has_checksums:
        check_files(folder)
    with damage_told(folder, "is a release that is damaged, or of another version."):
        written_in = _require_known_format(folder)
        facts = _json_of(folder / DATAPACKAGE_FILE)["safetab"]
        if CHECKSUMS in facts and not has_checksums:  # older releases have none
            raise InvalidInput([_finding(folder, f"its {CHECKSUMS_FILE} is missing. Get the release again.")])
        definition = next(one for one in PrivacyDefinition if one.spelling == facts["privacy_definition"])
        states = {TabulationPass(name): tuple(listed) for name, listed in facts["states"].items()}
        run = ReleasedRun(product_named(facts.get("product")), definition, states, bool(facts["allow_negative_counts"]))
        universe = read_universe(folder, run)
        return ReleaseFolder(folder, _facts(facts), universe, written_in)


def _require_known_format(folder: Path) -> int:
    """The format of a release. Raises InvalidInput if a document of it says that a newer version wrote it."""
    written_in = readable_format(folder, _json_of(folder / DATAPACKAGE_FILE)["safetab"].get(FORMAT, 0))
    privacy = folder / PRIVACY_FILE
    if privacy.is_file():  # a release of official files has none
        readable_format(privacy, _json_of(privacy).get(FORMAT, 0))
    return written_in


def _json_of(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def _wrong_columns(path: Path, expected: tuple[Column, ...]) -> list[str]:
    """Columns that are missing or of another type, and whether any is there twice."""
    with damage_told(path):
        found = pa.parquet.read_schema(path)
    types = {field.name: field.type for field in found}
    twice = ["a duplicate column"] if len(types) < len(found) else []
    needed = [column for column in expected if column.name in types or not column.may_be_absent]
    return twice + [column.name for column in needed if types.get(column.name) != column.type]


def _facts(facts: dict[str, Any]) -> ReleaseFacts:
    findings = FindingsOf(DATAPACKAGE_FILE)
    options = ReleaseOptions(
        confidence=confidence_of(str(facts["confidence"]), findings),
        rules=tuple(ReleaseRule(name) for name in facts["rules"]),
        coterminous=None if facts["coterminous"] is None else _coterminous(facts["coterminous"]),
        csv=bool(facts.get("csv", False)),
    )
    if findings.has_errors:
        raise ValueError("confidence")
    date = datetime.date.fromisoformat(str(facts["date"]))
    return ReleaseFacts(str(facts["version"]), date, status_of_json(facts), options, origin_of_json(facts))


def _coterminous(given: dict[str, Any]) -> CoterminousOptions:
    return CoterminousOptions(tuple(KIND_NAMES[name] for name in given["order"]), bool(given["copy_all"]))


def _finding(path: Path, message: str) -> Finding:
    return Finding(Severity.ERROR, str(path), "", message)
