"""Checks that a release is what it says.

They are of its files, statuses and signature, and of all arithmetic that needs no secret.
"""

from __future__ import annotations

import filecmp
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow as pa

from safetab.core.privacy.output_status import OutputStatus, status_of_json
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import FORMAT, Finding, FindingsOf, InvalidInput, require_none
from safetab.foundation.locked_folder import clear_abandoned, scratch_folder
from safetab.foundation.new_files import SIGNATURE_FILES
from safetab.foundation.parquet_facts import opened_parquet
from safetab.foundation.parquet_layout import all_bytes_are_read
from safetab.foundation.result_tables import Findings, Result
from safetab.release.files.allowed_files import (
    REPORT_FILE,
    allowed_files,
    measured_files,
    not_files,
    stray_paths,
)
from safetab.release.files.census_form import POPGROUPS_FILE
from safetab.release.files.checks import signatures
from safetab.release.files.checks.claims import (
    check_claims,
    check_repeated_claims,
    check_text,
    listed_files,
)
from safetab.release.files.checks.output_checks import (
    AfterStepsChecks,
    NumberChecks,
    check_manifest,
)
from safetab.release.files.checks.recomputed_numbers import (
    SCRATCH,
    check_against_measurements,
    check_against_plan,
    check_universe,
)
from safetab.release.files.checks.signatures import Signature, checked_signature
from safetab.release.files.checks.table_checks import Breaches, TableChecks
from safetab.release.files.checksums import CHECKSUMS, CHECKSUMS_FILE, OF_CONTENT, check_files
from safetab.release.files.data_dictionary import CSV_FOLDER, CSV_FORMAT, write_csv_tables
from safetab.release.files.documents import DATAPACKAGE_FILE, PRIVACY_FILE, README_FILE
from safetab.release.files.numbers import number_files
from safetab.release.files.numbers.level_numbers import NumberKinds
from safetab.release.files.numbers.number_files import (
    NUMBERS_FOLDER,
    RELEASE_FOLDER,
    Column,
    numbers_file,
)
from safetab.release.files.official.write_official import ORIGIN_FILE
from safetab.release.files.release_folder import ReleaseFolder, open_release_folder
from safetab.release.files.universe_files import universe_files
from safetab.release.files.write_release import AFTER_STEPS_FOLDER
from safetab.release.outputs.manifest import (
    ADDED_LATER,
    LOG_FILE,
    MANIFEST_FILE,
    NOT_FOR_RELEASE_FILE,
)

_OF_MEASUREMENTS = {FORMAT.encode(), b"ARROW:schema"}
_LEFT_BY_SIGN = "was left by a `safetab sign` that was killed; signing again removes it"


@dataclass(frozen=True, slots=True, repr=False)
class Verification(Result):
    """The findings of `verify`. Nothing is wrong if there are none."""

    path: Path
    findings: tuple[Finding, ...]
    status: OutputStatus | None  # None if the release can't be opened
    signature: Signature | None  # None if it isn't signed, or not rightly
    numbers: int  # how many were checked
    has_measurements: bool  # whether the numbers were made again from the measurements

    @property
    def is_valid(self) -> bool:
        """Whether nothing is wrong."""
        return not self.findings

    @property
    def _title(self) -> str:
        status = "can't be opened" if self.status is None else self.status.value
        signed = (
            "not signed"
            if self.signature is None
            else f"signed by {self.signature.fingerprint[:19]}..."
        )
        return (
            f"{f'{len(self.findings)} findings' if self.findings else 'verified'}:"
            f" {status}, {signed}"
        )

    def __repr__(self) -> str:
        return f"<{self._title}>"

    def to_arrow(self) -> pa.Table:
        """A row for each finding."""
        return Findings(self.findings).to_arrow()

    def as_json(self) -> dict[str, object]:
        """All of it as JSON values, except for the findings."""
        signed = self.signature
        return {
            "status": None if self.status is None else self.status.value,
            "for_release": self.status is not None and self.status.is_for_release,
            "numbers": self.numbers,
            "has_measurements": self.has_measurements,
            "signed_by": None if signed is None else signed.fingerprint,
            "signed_on": None if signed is None else signed.date,
            "key_was_given": signed is not None and signed.key_was_given,
            "covers_output": signed is not None and signed.covers_output,
        }


def verify_release(path: Path, key: Path | None = None) -> Verification:
    """Everything that is wrong with a release.

    The release is OUT of a run, OUT/release alone, or a release of published files.

    Raises InvalidInput if there is no release, or if the key can't be read.
    """
    public = None if key is None else signatures.read_public_key(key)
    findings, breaches, numbers = FindingsOf(str(path)), Breaches(), 0
    inside = path / RELEASE_FOLDER
    found = inside if (inside / DATAPACKAGE_FILE).is_file() else path
    output = None if found == path else path
    for name in not_files(path) if (found / DATAPACKAGE_FILE).is_file() else ():
        findings.error(name, "is a link, or not a regular file.")
    if findings.has_errors:  # a pipe would wait for ever
        return Verification(path, findings.findings, None, None, 0, has_measurements=False)
    has_measurements = output is not None and (output / "measurements").is_dir()
    folder = _opened(found, breaches)
    status = None if folder is None else folder.facts.status
    if folder is not None:
        with _unreadable_added(breaches, "a document"):
            _check_files(folder, output, breaches)
            _check_documents(folder, output, breaches)
        numbers = _check_numbers(folder, output if has_measurements else None, breaches)
    signature = checked_signature(found, output, public, status, findings)
    for name, sentence in breaches.sentences():
        findings.error(name if output else name.removeprefix(f"{RELEASE_FOLDER}/"), sentence)
    return Verification(path, findings.findings, status, signature, numbers, has_measurements)


def sign_release(
    path: Path, key: Path, *, not_for_release: bool = False, overwrite: bool = False
) -> Signature:
    """Sign OUT, OUT/release or a release of published files, after checking it.

    Raises InvalidInput if it breaks a rule, is signed, is not for release, or if the key can't be
    used.
    """
    private = signatures.read_private_key(key)
    release = path / RELEASE_FOLDER if (path / RELEASE_FOLDER).is_dir() else path
    for name in SIGNATURE_FILES:  # of a signing that was killed
        clear_abandoned(release, f".{name}.partial-")
    if sum((release / name).exists() for name in SIGNATURE_FILES) == 1:
        overwrite = True  # of half a signature
    found = verify_release(path).findings
    require_none(one for one in found if not (overwrite and one.where in SIGNATURE_FILES))
    folder, findings = open_release_folder(path), FindingsOf(str(path))
    if not folder.facts.status.is_for_release and not not_for_release:
        findings.error(
            "",
            f"{folder.facts.status.line} Add --not-for-release, and the signature says the same.",
        )
    if not overwrite and any((folder.path / name).exists() for name in SIGNATURE_FILES):
        findings.error("", "is signed already. Add --overwrite to sign it again.")
    stated = _json_of(folder.path / DATAPACKAGE_FILE)["safetab"]
    if not ({"status", CHECKSUMS} <= stated.keys() and (folder.path / CHECKSUMS_FILE).is_file()):
        findings.error(
            "", f"has no status or no {CHECKSUMS_FILE} to sign. `safetab rerelease` makes both."
        )
    findings.require_no_errors()
    output = None if folder.path == path else path
    signatures.write_signature(folder, output, private, overwrite=overwrite)
    signature = checked_signature(
        folder.path, output, private.public_key(), folder.facts.status, findings
    )
    findings.require_no_errors()
    assert signature is not None
    return signature


def _opened(release: Path, breaches: Breaches) -> ReleaseFolder | None:
    """The release, unless it can't be opened.

    That, and files that differ from their checksums, are breaches.
    """
    if not (release / DATAPACKAGE_FILE).is_file():
        return open_release_folder(release)  # which says what else there is
    folder, has_checksums = None, (release / CHECKSUMS_FILE).exists()
    with _unreadable_added(breaches, release.name):
        folder = open_release_folder(release, as_released=False)
        # older releases have none
        has_checksums |= (
            folder.format > 0 or CHECKSUMS in _json_of(release / DATAPACKAGE_FILE)["safetab"]
        )
    with _unreadable_added(breaches, release.name):
        if has_checksums:
            check_files(release)
    return folder


def _json_of(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


@contextmanager
def _unreadable_added(breaches: Breaches, what: str) -> Iterator[None]:
    try:
        yield
    except InvalidInput as invalid:
        for one in invalid.findings:
            breaches.add(Path(one.file).name, one.message.removesuffix("."))
    except (OSError, *OF_CONTENT) as error:
        raise_if_the_machine_failed(error)
        if not (isinstance(error, FileNotFoundError) and _is_known_missing(str(error), breaches)):
            breaches.add(what, f"can't be read ({type(error).__name__})")


def _is_known_missing(error: str, breaches: Breaches) -> bool:
    """Whether the path that an error quotes is among the files that are said to be missing."""
    said = [f"{name}: {rule}" for name, rule in breaches.sentences() if re.search("missing", rule)]
    return any(Path(path).name in one for path in re.findall("'([^']+)'", error) for one in said)


def _check_numbers(folder: ReleaseFolder, output: Path | None, breaches: Breaches) -> int:
    """Check all numbers, and return how many there are.

    With an output, its tables and measurements are checked too.
    """
    numbers, options, universe = 0, folder.facts.options, folder.universe
    kinds = NumberKinds(universe, options.confidence)
    for tabulation_pass in universe.passes:
        published, after_steps = {}, None
        if output is not None:
            with _unreadable_added(breaches, f"the tables of the {tabulation_pass.name} pass"):
                tables = TableChecks(output, universe, tabulation_pass, breaches)
                tables.check_noise_and_shape()
                published = {id(level): totals for level, totals in tables.check_levels()}
            with _unreadable_added(breaches, f"the numbers of the {tabulation_pass.name} pass"):
                check_against_measurements(folder, output, tabulation_pass, breaches)
            if (
                options.change_numbers and (output / AFTER_STEPS_FOLDER).is_dir()
            ):  # older outputs lack it
                with _unreadable_added(breaches, AFTER_STEPS_FOLDER):
                    after_steps = AfterStepsChecks(
                        output, universe.product, tabulation_pass, breaches
                    )
        for level in universe.levels_of(tabulation_pass):
            name = f"{RELEASE_FOLDER}/{numbers_file(level.design, folder.format)}"
            with _unreadable_added(breaches, name):
                if folder.facts.origin is None:
                    of_level = (level, published.get(id(level)), folder.format)
                    NumberChecks(
                        folder.path, universe, options, breaches, after_steps, *of_level
                    ).check()
                numbers += check_against_plan(folder, level, kinds, name, breaches)
        if after_steps is not None:
            with _unreadable_added(breaches, AFTER_STEPS_FOLDER):
                after_steps.check_ends()
    return numbers


def _check_documents(folder: ReleaseFolder, output: Path | None, breaches: Breaches) -> None:
    """Check that the documents say what they must, and agree on status, noise and loss."""
    release, inside, is_read = folder.path, f"{RELEASE_FOLDER}/", folder.facts.origin is not None
    package = _json_of(release / DATAPACKAGE_FILE)
    documents = {f"{inside}{DATAPACKAGE_FILE}": package["safetab"]}
    texts = {f"{inside}{name}": release / name for name in (README_FILE, REPORT_FILE)}
    mark = release if is_read else output
    _check_tables_listed(folder, package, breaches)
    check_universe(folder, breaches)
    if (release / PRIVACY_FILE).is_file():
        documents[f"{inside}{PRIVACY_FILE}"] = _json_of(release / PRIVACY_FILE)
    if output is not None:
        texts |= {name: output / name for name in (LOG_FILE, REPORT_FILE)}
        with _unreadable_added(breaches, MANIFEST_FILE):
            documents[MANIFEST_FILE] = _json_of(output / MANIFEST_FILE)
            check_manifest(output, documents[MANIFEST_FILE], breaches)
        _check_beside(folder, output, breaches)
    if mark is not None and not folder.facts.status.is_for_release:
        texts[NOT_FOR_RELEASE_FILE] = mark / NOT_FOR_RELEASE_FILE
    with _unreadable_added(breaches, "what documents say twice"):
        check_repeated_claims(folder, package, documents, breaches)
    for name, document in documents.items():
        with _unreadable_added(breaches, name):
            check_claims(name, folder, document, breaches)
            said = document.get("status_sentence")
            if status_of_json(document) is not folder.facts.status or (
                said and not _fits(said, folder.facts.status)
            ):
                breaches.add(name, f"does not say what {DATAPACKAGE_FILE} says of the status")
    has_words = "status" in package["safetab"]  # the oldest have other words
    for name, path in texts.items():
        if path.is_file() and not _says_status(path, folder.facts.status, has_words=has_words):
            breaches.add(name, f"does not say what {DATAPACKAGE_FILE} says of the status")
        if path.is_file() and name != NOT_FOR_RELEASE_FILE:
            check_text(name, path, folder, breaches)


def _says_status(path: Path, status: OutputStatus, *, has_words: bool) -> bool:
    """Whether a text or page says the status first, in words on whether it may be released."""
    words = " ".join(
        re.sub("<[^>]+>", " ", path.read_text(encoding="utf-8", errors="replace")).split()
    )
    if not has_words:
        return not (status.is_for_release and "not for release" in words.lower())
    before, _, after = words.partition(f"Status: {status.value}. ")
    return "Status: " not in before and bool(after) and _fits(after[:40], status)


def _fits(words: str, status: OutputStatus) -> bool:
    return ("Not for release" in words) is not status.is_for_release


def _check_tables_listed(
    folder: ReleaseFolder, package: Mapping[str, Any], breaches: Breaches
) -> None:
    """Check that the release has its tables, and true CSV files.

    Its tables are those that it lists, and those that every level must have.
    """
    release, universe = folder.path, folder.universe
    listed = listed_files(package)
    if folder.facts.origin is None:
        listed |= {
            numbers_file(one.design, folder.format)
            for one in universe.levels
            if one.is_tabulated.any()
        }
    files = {path.relative_to(release).as_posix() for path in release.rglob("*") if path.is_file()}
    for name in sorted(listed - files):
        if name.startswith("/") or ".." in PurePosixPath(name).parts:
            breaches.add(
                f"{RELEASE_FOLDER}/{DATAPACKAGE_FILE}", f"lists a file outside the release, {name}"
            )
        else:
            breaches.add(f"{RELEASE_FOLDER}/{name}", "is missing")
    columns = {name: of_file for name, (_, of_file) in universe_files(universe).items()}
    of_numbers = (
        *number_files.number_columns(universe.product, universe.census),
        *folder.facts.more_columns,
    )
    for path in sorted(release.rglob("*.parquet")):
        name = path.relative_to(release).as_posix()
        if name not in listed:
            breaches.add(f"{RELEASE_FOLDER}/{name}", "is in no list of the release")
        _check_schema(path, f"{RELEASE_FOLDER}/{name}", columns.get(name, of_numbers), breaches)
    has_csv = folder.facts.options.csv or (release / CSV_FOLDER).exists()
    if has_csv and package["safetab"].get("csv_format") != CSV_FORMAT:
        breaches.add(
            f"{RELEASE_FOLDER}/{CSV_FOLDER}",
            f"was not checked: its form is not csv_format {CSV_FORMAT}",
        )
    elif has_csv:
        with scratch_folder(SCRATCH) as again:
            names = write_csv_tables(release, universe, again, folder.format)
            _, differ, missing = filecmp.cmpfiles(release / CSV_FOLDER, again, names, shallow=False)
        beside = {
            path.relative_to(release / CSV_FOLDER).as_posix()
            for path in (release / CSV_FOLDER).rglob("*.csv")
        }
        for name in sorted({*differ, *missing, *beside - names.keys()}):
            breaches.add(
                f"{RELEASE_FOLDER}/{CSV_FOLDER}/{name}",
                "does not have the rows of the Parquet files",
            )


def _check_schema(path: Path, name: str, columns: Iterable[Column], breaches: Breaches) -> None:
    """Check that a Parquet file has exactly the columns that are written, and no metadata."""
    with _unreadable_added(breaches, name), opened_parquet(path) as file:
        found, more = file.schema_arrow, file.metadata.metadata
        expected = [
            column for column in columns if not column.may_be_absent or column.name in found.names
        ]
        if more or not found.equals(number_files.schema_of_columns(expected)):
            breaches.add(name, "has other columns, or other metadata, than a release")
        _check_all_is_read(path, name, breaches)


def _check_all_is_read(path: Path, name: str, breaches: Breaches) -> None:
    """Check that nothing is hidden in a Parquet file that can be opened."""
    if not all_bytes_are_read(path):
        breaches.add(name, "has bytes that no reader of its tables sees")


def _check_files(folder: ReleaseFolder, output: Path | None, breaches: Breaches) -> None:
    """Check that every file may be there, and that every file is there that must be."""
    facts, universe, inside = folder.facts, folder.universe, f"{RELEASE_FOLDER}/"
    is_released, oldest = (
        facts.status.is_for_release,
        {f"{inside}{README_FILE}", *measured_files(universe)},
    )
    of_output = allowed_files(
        universe, facts.options, for_release=is_released, of_format=folder.format
    )
    place, prefix = (folder.path, inside) if output is None else (output, "")
    allowed = frozenset(name.removeprefix(prefix) for name in of_output if name.startswith(prefix))
    if facts.origin is not None:
        mark = () if is_released else (NOT_FOR_RELEASE_FILE,)
        allowed = allowed - {REPORT_FILE} | {POPGROUPS_FILE, ORIGIN_FILE, *mark}
    for name in stray_paths(place, allowed):
        is_of_signing = f"/{name}".rpartition("/.SIGNATURE.")[1] != ""
        breaches.add(
            f"{prefix}{name}",
            _LEFT_BY_SIGN if is_of_signing else "is not among the files that may leave",
        )
    has_all = folder.format > 0 or CHECKSUMS in _json_of(folder.path / DATAPACKAGE_FILE)["safetab"]
    perhaps = (f"{inside}{NUMBERS_FOLDER}/", f"{inside}{CSV_FOLDER}/", *ADDED_LATER)
    for name in sorted(allowed):
        is_needed = (
            not f"{prefix}{name}".startswith(perhaps) if has_all else f"{prefix}{name}" in oldest
        )
        if is_needed and not (place / name).is_file():
            breaches.add(f"{prefix}{name}", "is missing")


def _check_beside(folder: ReleaseFolder, output: Path, breaches: Breaches) -> None:
    """Check the metadata of the measurements, and that there is one report."""
    for name in measured_files(folder.universe):
        if not name.endswith(".parquet"):
            continue
        with _unreadable_added(breaches, name), opened_parquet(output / name) as file:
            if set(file.metadata.metadata or ()) - _OF_MEASUREMENTS:
                breaches.add(name, "has other metadata than measurements")
            _check_all_is_read(output / name, name, breaches)
    own, copy = output / REPORT_FILE, folder.path / REPORT_FILE
    if own.is_file() and copy.is_file() and not filecmp.cmp(own, copy, shallow=False):
        breaches.add(REPORT_FILE, "is not the report in the release")
