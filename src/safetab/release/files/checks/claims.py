"""Whether documents say what follows from other files, and the same where several say it.

Formats, versions, days, the publisher and the status are said in several of them.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetab.core.guarantees.guarantee import is_specified, protected_sentence
from safetab.core.guarantees.plan_json import losses_as_json
from safetab.core.privacy.composition import loss_of_a_pass, loss_of_disjoint_passes
from safetab.core.privacy.measurement_event import MeasurementEvent
from safetab.core.privacy.output_status import OutputStatus
from safetab.foundation.findings import FORMAT, VERSION
from safetab.release.files import documents as of_release
from safetab.release.files.allowed_files import REPORT_FILE
from safetab.release.files.checks.table_checks import Breaches
from safetab.release.files.citation import PACKAGE_KEYS, about_lines
from safetab.release.files.data_dictionary import resources_of
from safetab.release.files.documents import (
    DATAPACKAGE_FILE,
    PRIVACY_FILE,
    README_FILE,
    package_about,
)
from safetab.release.files.numbers.number_files import RELEASE_FOLDER
from safetab.release.files.release_folder import ReleaseFolder
from safetab.release.files.release_universe import Universe
from safetab.release.outputs.manifest import LOG_FILE, MANIFEST_FILE, MEASURED_BY, charge_as_json

_Document = Mapping[str, Any]

_PAGE_BEGINS = (
    '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    '<meta http-equiv="Content-Security-Policy" content="default-src &#x27;none&#x27;;'
    ' style-src &#x27;unsafe-inline&#x27;; img-src data:">'
)


def check_claims(name: str, folder: ReleaseFolder, document: _Document, breaches: Breaches) -> None:
    """Check that a document has its entries, and that these agree with the other files.

    Older documents have fewer entries.
    """
    universe, status = folder.universe, folder.facts.status
    of_pass = {
        each.name: loss_of_a_pass(one.design.budget for one in universe.levels_of(each))
        for each in universe.passes
    }
    loss = losses_as_json(
        universe.definition, of_pass | {"whole_run": loss_of_disjoint_passes(of_pass.values())}
    )
    expected: Mapping[str, Any] = of_release.facts_as_json(universe, folder.facts)
    needed = expected.keys() - {"csv_format"}
    is_of_this_version = False
    if name.endswith(PRIVACY_FILE):
        expected = of_release.privacy_as_json(universe, folder.facts, loss)
        needed = expected.keys() - _ABSENT_IN_FORMAT_0
        is_of_this_version = _version_of(document) == VERSION
    elif name == MANIFEST_FILE:
        steps = of_release.steps_as_json(folder.facts.options, universe.census)
        expected = {
            "product": universe.product.name,
            "loss": loss,
            "charged": _charged(universe),
            "release": steps,
        }
        if status is not OutputStatus.NO_PROTECTION:  # which may come with a test key
            expected = {**expected, "test_key": status is OutputStatus.TEST_KEY}
        if is_specified(universe.census):
            expected = {**expected, "protected": protected_sentence(universe.product)}
        needed = {*expected, *_OF_MANIFEST} - _ABSENT_IN_FORMAT_0
        is_of_this_version = document.get(MEASURED_BY, document)["version"] == VERSION
    for key in sorted(needed - document.keys()) if folder.format > 0 else ():
        breaches.add(name, f"{key} is missing")
    for key in sorted((expected.keys() & document.keys()) - _IN_WORDS):
        if not _says(document[key], expected[key]):
            breaches.add(name, f"{key} is not what follows from universe/levels.parquet")
    for key in sorted(_WORDS & expected.keys() & document.keys()):
        said, words = document[key], expected[key]
        if said != words if is_of_this_version else type(said) is not type(words) or not said:
            breaches.add(name, f"{key} is not in the words of the version that it names")


_OF_MANIFEST = ("program", "version", "date", "for_release", "configuration", "public_files")
_ABSENT_IN_FORMAT_0 = {FORMAT, "status", "status_sentence", "product", "test_key"}
"""A re-release keeps privacy.json and what the manifest says of the run.

So they may lack these in format 1 too.
"""
_WORDS = {"name", "software", "composition", "post_processing", "not_covered", "protected"}
"""Entries of privacy.json and of the manifest whose words change with versions."""
_IN_WORDS = {
    *_WORDS,
    "version",
    "date",
    FORMAT,
    "status",
    "status_sentence",
    "for_release",
    "csv_format",
}
"""Entries that are checked elsewhere, too."""


def _charged(universe: Universe) -> list[dict[str, object]]:
    """The charges that the manifest must state: of each stage of each level that has an area."""
    measured_levels = [
        level for level in universe.levels if len(universe.entities[level.geography])
    ]
    events = (
        MeasurementEvent(
            d.product, d.family, d.level, stage, d.definition, d.sensitivity, measured.budget
        )
        for d in (level.design for level in measured_levels)
        for stage, measured in d.stages.items()
    )
    return [charge_as_json(event) for event in events]


def _says(written: Any, expected: Any) -> bool:
    """Whether a document says all that is expected; it may say more."""
    if isinstance(written, dict) and isinstance(expected, dict):
        return all(key in written and _says(written[key], one) for key, one in expected.items())
    if isinstance(written, list) and isinstance(expected, list):
        return len(written) == len(expected) and all(map(_says, written, expected))
    return bool(written == expected)


def check_repeated_claims(
    folder: ReleaseFolder, package: _Document, named: Mapping[str, _Document], breaches: Breaches
) -> None:
    """Check the formats, versions and days of JSON documents, and the data package's subject.

    `named` has the documents by their names.
    """
    of_package = f"{RELEASE_FOLDER}/{DATAPACKAGE_FILE}"
    facts = folder.facts
    expected = package_about(folder.universe.census, facts)
    if facts.version == VERSION:
        files = dict.fromkeys(listed_files(package), 0)
        expected["resources"] = resources_of(folder.universe, files, facts.more_columns)
    else:  # other words
        del expected["description"]
    for key in sorted({*expected, *PACKAGE_KEYS}):
        if package.get(key) != expected.get(key):
            breaches.add(of_package, f"{key} is not what its facts, or those of the census, give")
    if folder.universe.specification is not None and not folder.format:
        breaches.add(of_package, "has no format, and a census of its own")
    for name, document in named.items():
        stated = document.get(FORMAT, folder.format)
        # A re-release keeps the file of the run.
        is_of_run = name.endswith(PRIVACY_FILE) and stated in range(1, folder.format)
        if stated != folder.format and not is_of_run:
            breaches.add(name, f"{FORMAT} is not that of {DATAPACKAGE_FILE}")
    _check_days(
        folder, named.get(MANIFEST_FILE), named.get(f"{RELEASE_FOLDER}/{PRIVACY_FILE}"), breaches
    )


def _check_days(
    folder: ReleaseFolder, manifest: _Document | None, privacy: _Document | None, breaches: Breaches
) -> None:
    """Check the versions and days of the release, and of the run that measured its numbers."""
    released = (folder.facts.version, folder.facts.date.isoformat())
    measured = None
    if manifest is not None:
        if (manifest.get("version"), manifest.get("date")) != released:
            breaches.add(
                MANIFEST_FILE, f"does not say what {DATAPACKAGE_FILE} says of version and date"
            )
        run = manifest.get(MEASURED_BY, manifest)
        measured = (run["version"], run["date"], run.get(FORMAT, 0))
    if privacy is None:
        return
    name = f"{RELEASE_FOLDER}/{PRIVACY_FILE}"
    stated = (_version_of(privacy), privacy["date"], privacy.get(FORMAT, 0))
    if measured is not None and stated != measured:
        breaches.add(name, f"does not say what {MANIFEST_FILE} says of version, date and format")
    if stated[1] > released[1]:
        breaches.add(name, "has a later date than the release")


def _version_of(privacy: _Document) -> str:
    """The version of safetab that wrote privacy.json."""
    software = privacy["software"]
    if "read_by" in software:
        return str(software["read_by"]).removeprefix("safetab ")
    return str(software["version"])


def listed_files(package: _Document) -> set[str]:
    """The files of all resources of a data package."""
    paths = [resource["path"] for resource in package["resources"]]
    return {name for path in paths for name in ([path] if isinstance(path, str) else path)}


def check_text(name: str, path: Path, folder: ReleaseFolder, breaches: Breaches) -> None:
    """Check that a text says the version, the day and whose numbers these are.

    A page must be unable to run scripts.
    """
    facts = folder.facts
    text = path.read_text(encoding="utf-8", errors="replace")
    if name.endswith(REPORT_FILE):
        if not text.startswith(_PAGE_BEGINS) or "<script" in text.lower():
            breaches.add(name, "is a page that may run scripts")
        text = html.unescape(re.sub("</?[a-z][^>]*>", _date_in, text))
    if facts.date.isoformat() not in text or f"safetab {facts.version}" not in text:
        breaches.add(name, f"does not say what {DATAPACKAGE_FILE} says of version and date")
    if name == LOG_FILE or facts.publication is None:
        return
    words = _without_spaces(text)
    claims = about_lines(facts.publication)
    if facts.origin is None and name.endswith(README_FILE):
        claims.append(
            f"{facts.publication.title} made on {facts.date.isoformat()}"
            f" with safetab {facts.version}"
        )
    elif facts.origin is None:
        claims.append(facts.publication.title)
    for claim in claims:
        if _without_spaces(claim) not in words:
            breaches.add(
                name, f"does not say what the release says of its publisher and title: {claim}"
            )


def _date_in(tag: re.Match[str]) -> str:
    """The date in the tag of a time, which is said in words beside it."""
    found = re.search('datetime="([0-9-]+)"', tag[0])
    return f" {found[1]} " if found else " "


def _without_spaces(text: str) -> str:
    return "".join(text.split()).upper().casefold()  # a README has its title in capitals
