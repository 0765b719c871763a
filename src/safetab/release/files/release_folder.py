"""A release folder, opened: its facts, its universe and the files of its numbers."""

from __future__ import annotations

import datetime
import json
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from safetab.core.privacy.output_status import status_of_json
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.files import resolved
from safetab.foundation.findings import (
    FORMAT,
    OUTPUT_FORMAT,
    FindingsOf,
    readable_format,
    shortened,
)
from safetab.model.census.census import Census
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.specification.reading import publication_of, publication_of_json
from safetab.release.files.census_file import read_census
from safetab.release.files.checksums import (
    CHECKSUMS,
    CHECKSUMS_FILE,
    check_files,
    damage_as_invalid_input,
    invalid,
)
from safetab.release.files.documents import (
    ABOUT,
    DATAPACKAGE_FILE,
    PARTS,
    PRIVACY_FILE,
    Origin,
    ReleaseFacts,
)
from safetab.release.files.made_of import MADE_OF_FILE
from safetab.release.files.numbers.number_files import RELEASE_FOLDER, number_columns, numbers_file
from safetab.release.files.numbers.read_numbers import NumbersReader
from safetab.release.files.release_options import (
    CoterminousOptions,
    ReleaseOptions,
    ReleaseRule,
    confidence_of,
)
from safetab.release.files.release_universe import ReleaseLevel, Universe
from safetab.release.files.universe_files import read_universe

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
        """Raises InvalidInput for a new file in the folder.

        The folder would no longer hold what was released.
        """
        if resolved(self.path) in resolved(file).parents:
            raise invalid(
                file, "is inside the release, which must not change. Choose another place."
            )

    def numbers_of(self, level: ReleaseLevel) -> Path | None:
        """The file of a level's numbers, if it has any.

        Raises InvalidInput if the file has not the columns of numbers.
        """
        path = self.path / numbers_file(level.design, self.format)
        if not path.is_file():
            return None
        with damage_as_invalid_input(path):
            found = pa.parquet.read_schema(path)
        types = {field.name: field.type for field in found}
        wrong = ["a duplicate column"] if len(types) < len(found) else []
        for column in number_columns(self.universe.product, self.universe.census):
            is_needed = column.name in types or not column.may_be_absent
            if is_needed and types.get(column.name) != column.type:
                wrong.append(column.name)
        if wrong:
            raise invalid(
                path, f"has missing or wrong columns: {shortened(wrong)}. Get the release again."
            )
        return path

    def open_numbers(self, level: ReleaseLevel) -> NumbersReader | None:
        """The reader of a level's numbers, if the level has any.

        Raises InvalidInput if its file is damaged.
        """
        path = self.numbers_of(level)
        if path is None:
            return None
        with damage_as_invalid_input(path):
            return NumbersReader(path, self.universe, level)


def open_release_folder(path: Path, *, as_released: bool = True) -> ReleaseFolder:
    """Open OUT/release, or OUT. Raises InvalidInput if there is no release, or a damaged one.

    Unless it is to be as released, its files may differ from their checksums.
    """
    try:
        return _opened(path, as_released=as_released)
    except OSError as error:
        raise_if_the_machine_failed(error)
        raise invalid(path, f"can't be read: {error.strerror or 'unknown error'}.") from None


def _opened(path: Path, *, as_released: bool) -> ReleaseFolder:
    """Open a release. Raises InvalidInput if a document is missing or damaged."""
    if not path.exists():
        raise invalid(path, "does not exist. Give OUT or OUT/release.")
    folder = path / RELEASE_FOLDER if (path / RELEASE_FOLDER / DATAPACKAGE_FILE).is_file() else path
    if not (folder / DATAPACKAGE_FILE).is_file():
        if path.is_file():
            raise invalid(path, "is a file: give the folder of a release, OUT or OUT/release.")
        if (path / MADE_OF_FILE).is_file():
            raise invalid(
                path,
                f"was made of a release. Give that, or check this: `safetab verify {path} OUT`.",
            )
        inside = sorted(
            each.parent.parent for each in path.glob(f"*/{RELEASE_FOLDER}/{DATAPACKAGE_FILE}")
        )
        others = shortened(inside or ["OUT", "OUT/release"], between=" or ")
        raise invalid(path, f"is not a release: it has no {DATAPACKAGE_FILE}. Give {others}.")
    if (folder / EXPORTED_ENTITIES).is_file():
        raise invalid(path, "holds CSV files that were made of a release. Give the release itself.")
    with suppress(OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        _require_known_format(folder)
    has_checksums = not as_released or (folder / CHECKSUMS_FILE).exists()
    if as_released and has_checksums:
        check_files(folder)
    with damage_as_invalid_input(folder, "is a release that is damaged, or of another version."):
        written_in = _require_known_format(folder)
        facts = _json_of(folder / DATAPACKAGE_FILE)["safetab"]
        if (written_in or CHECKSUMS in facts) and not has_checksums:  # older releases have none
            raise invalid(folder, f"its {CHECKSUMS_FILE} is missing. Get the release again.")
        definition = PrivacyDefinition.spelled(facts["privacy_definition"])
        of = read_census(folder, facts.get("product"))
        parts = facts[PARTS[of.specification is None]]
        states = {of.census.pass_named(name): tuple(listed) for name, listed in parts.items()}
        allow_negative = bool(facts["allow_negative_counts"])
        universe = read_universe(folder, of, definition, states, allow_negative=allow_negative)
        publication = publication_of_json(facts.get(ABOUT))
        if of.specification is not None:
            publication = publication_of(of.specification.about)
        read = replace(_facts(facts, of.census), publication=publication)
        return ReleaseFolder(folder, read, universe, written_in)


def _require_known_format(folder: Path) -> int:
    """The format of a release.

    Raises InvalidInput if a document of it says that a newer version wrote it.
    """
    written_in = readable_format(
        folder, _json_of(folder / DATAPACKAGE_FILE)["safetab"].get(FORMAT, 0)
    )
    privacy = folder / PRIVACY_FILE
    if privacy.is_file():  # a release of official files has none
        readable_format(privacy, _json_of(privacy).get(FORMAT, 0))
    return written_in


def _json_of(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


def _facts(facts: dict[str, Any], census: Census) -> ReleaseFacts:
    """The facts of a release from datapackage.json."""
    findings = FindingsOf(DATAPACKAGE_FILE)
    confidence = confidence_of(str(facts["confidence"]), findings)
    if findings.has_errors:
        raise ValueError("confidence")
    coterminous = facts["coterminous"]
    if coterminous is not None:
        coterminous = CoterminousOptions(tuple(coterminous["order"]), bool(coterminous["copy_all"]))
        if coterminous.refused_order(census):
            raise ValueError("order")
    rules = tuple(ReleaseRule(name) for name in facts["rules"])
    options = ReleaseOptions(confidence, rules, coterminous, bool(facts.get("csv", False)))
    date = datetime.date.fromisoformat(str(facts["date"]))
    origin = None if facts.get("origin") is None else Origin(bool(facts["origin"]["complete"]))
    return ReleaseFacts(str(facts["version"]), date, status_of_json(facts), options, origin)
