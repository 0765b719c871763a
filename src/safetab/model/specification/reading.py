"""Reads a specification from its files.

They are census.toml, privacy.toml beside it, what another one lends it, and about.toml.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from decimal import Decimal, InvalidOperation
from itertools import chain
from pathlib import Path, PurePosixPath
from typing import Any

from safetab.foundation.files import UnreadableFile, read_text, resolved
from safetab.foundation.findings import Checked, Finding, FindingsOf
from safetab.model.specification.checks import problems_of, separator_of, warnings_of
from safetab.model.specification.keys import FILE, TEXT, table_of
from safetab.model.specification.kinds import Frozen, Reading, Table, inside, numbered
from safetab.model.specification.values import (
    COMMON,
    EVERYWHERE,
    INHERITED,
    PRIVACY_FILE,
    SPECIFICATION,
    SPECIFICATION_FILE,
    About,
    ListOfGroups,
    Specification,
)

ABOUT_FILE = "about.toml"
_BUREAUS_FILE = "config.json"
_LIKE, _PRIVACY = "like", "privacy"


class _FindingsOfFiles(FindingsOf):
    """Findings about several files.

    Those about an inherited section belong to the file that has it.
    """

    def __init__(self) -> None:
        super().__init__(SPECIFICATION_FILE)
        self.file_of: dict[str, str] = {}

    def file_with(self, where: str) -> str:
        """The file that has the section of a key."""
        return self.file_of.get(where.partition(".")[0], self.file)


def is_specification(parameters: Path) -> bool:
    """Whether a parameters folder has a specification."""
    return os.path.exists(parameters / SPECIFICATION_FILE)  # noqa: PTH110 - never raises


def read_specification(parameters: Path) -> Checked[Specification]:
    """The specification of a parameters folder, and every finding about it."""
    specification, findings = read_sound_parts(parameters)
    return Checked(
        None if any(finding.is_error for finding in findings) else specification, findings
    )


def read_sound_parts(parameters: Path) -> tuple[Specification | None, tuple[Finding, ...]]:
    """The specification without the sections of lists that have errors; and every finding.

    The specification is None if the file is no TOML.
    """
    findings = _FindingsOfFiles()
    keys = _keys_at(parameters / SPECIFICATION_FILE, findings)
    if keys is None:
        return None, findings.findings
    if (parameters / _BUREAUS_FILE).exists():
        findings.error(
            "", f"{_BUREAUS_FILE} lies beside it. A folder has one of them: remove the other."
        )
    if (parameters / ABOUT_FILE).exists():
        findings.error(
            "",
            f"{ABOUT_FILE} lies beside it, and is for {_BUREAUS_FILE}."
            " Write its keys here, in [about].",
        )
    lacks: tuple[str, ...] = () if _add_privacy(parameters, keys, findings) else (_PRIVACY,)
    lacks += () if _LIKE not in keys or _add_inherited(parameters, keys, findings) else INHERITED
    specification = _specification(keys, Reading(findings), lacks)
    # lists can be read whatever field of the records holds their ids and codes
    hard = (
        each
        for each in findings.findings
        if each.is_error and "is not a field." not in each.message
    )
    wrong = {finding.where.partition(".")[0] for finding in hard}
    wrong |= {"groups"} if "classifications" in wrong else set()
    blank = {name: getattr(SPECIFICATION.blank, name) for name in INHERITED if name in wrong}
    return replace(specification, **blank), findings.findings


def specification_of_keys(keys: Mapping[str, object], findings: FindingsOf) -> Specification | None:
    """The specification that parsed keys say, or None and findings.

    It has its privacy, and inherits nothing.
    """
    specification = _specification(keys, Reading(findings, numbers_as_texts=True))
    return None if findings.has_errors else specification


def lists_folder(parameters: Path) -> Path:
    """The folder of the files that areas, classifications and groups name.

    It is that of the `like` file if there is one.
    """
    keys = _keys_at(parameters / SPECIFICATION_FILE, FindingsOf(SPECIFICATION_FILE)) or {}
    like = keys.get(_LIKE)
    return (parameters / like).parent if isinstance(like, str) else parameters


def public_file(folder: Path, name: str, where: str, findings: FindingsOf) -> Path | None:
    """The path of a public file that a specification names, or None and a finding."""
    if FILE.read(name, where, Reading(findings)) is None:
        return None
    path = folder / name
    if resolved(path).parent != resolved(folder):
        findings.error(
            where, f"{name} is a link that leads out of the folder. Copy the file there."
        )
    elif not path.is_file():
        findings.error(
            where, f"{path} {'is a directory, not a file' if path.is_dir() else 'does not exist'}."
        )
    else:
        return path
    return None


def _specification(
    keys: Mapping[str, object], reading: Reading, lacks: tuple[str, ...] = ()
) -> Specification:
    """The specification, and findings in the order of its keys.

    There are none about sections that could not be inherited.
    """
    findings, own = reading.findings, FindingsOf(reading.findings.file)
    reading = Reading(own, reading.numbers_as_texts)
    read: Specification = SPECIFICATION.read(keys, "", reading)
    misread = [finding.where for finding in own.findings]  # these are not missing
    for where, message in chain(reading.problems_of_names(), problems_of(read, reading.tables)):
        if not message.startswith("missing") or not any(each.startswith(where) for each in misread):
            own.error(where, message)
    places = {path: place for place, path in enumerate(_paths("", keys))}
    for finding in sorted(own.findings, key=lambda each: _place(each.where, places)):
        if finding.where in keys or finding.where not in lacks:
            findings.error(finding.where, finding.message)
    for warning in () if findings.has_errors else warnings_of(read):
        findings.warning(*warning)
    return _completed(read)


def _paths(where: str, value: object) -> Iterator[str]:
    """The path of a value and those of all that is in it, in their order."""
    yield where
    items = value.items() if isinstance(value, Mapping) else ()
    of_table = ((inside(where, key), each) for key, each in items)
    for path, each in chain(of_table, numbered(where, value if isinstance(value, list) else ())):
        yield from _paths(path, each)


def _place(where: str, places: Mapping[str, int]) -> int:
    """The place of a path, or of what is around it."""
    while where not in places:
        where = where[: max(where.rfind("."), where.rfind("["), 0)]
    return places[where]


def _completed(spec: Specification) -> Specification:
    """The specification with what its keys leave to be understood."""
    fields = {each.name: each for each in spec.records.fields}
    codes = (
        each if each.column is None
        else replace(
            each, columns=(each.column,), column=None, separator=separator_of(each, fields)
        )
        for each in spec.classifications
    )  # fmt: skip
    lists = {COMMON: ListOfGroups(COMMON)}
    for listed in spec.groups.lists:
        lists[listed.name] = (
            replace(listed, areas=None) if listed.areas == (EVERYWHERE,) else listed
        )
    families = tuple(family.name for family in spec.tables)
    choices = (
        each if each.tables else replace(each, tables=families) for each in spec.privacy.levels
    )
    return replace(
        spec,
        classifications=tuple(codes),
        groups=replace(spec.groups, lists=tuple(lists.values())),
        privacy=replace(spec.privacy, levels=tuple(choices)),
    )


_ADVICE = {
    "Invalid value": " Texts need quotes.",
    "Expected newline": (
        " Write a number with a point, such as 0.1, and each key on a line of its own."
    ),
    r"Illegal character '\n'": " A text has no closing quote.",
}
"""The advice about mistakes in TOML, by the beginning of the parser's words for them."""


def _keys_at(path: Path, findings: FindingsOf) -> dict[str, Any] | None:
    """The keys of a TOML file, with exact numbers, or None and a finding."""
    try:
        return tomllib.loads(read_text(path), parse_float=_exact)
    except UnreadableFile as problem:
        findings.error("", str(problem))
    except RecursionError:
        findings.error("", "its brackets are nested too deeply.")
    except tomllib.TOMLDecodeError as problem:
        what, _, place = str(problem).rpartition(" (at ")
        advice = next((words for begin, words in _ADVICE.items() if what.startswith(begin)), "")
        findings.error(place.removesuffix(")"), f"not valid TOML ({what.lower()}).{advice}")
    except ValueError:  # Python refuses to read such an integer
        findings.error("", "it has an integer with thousands of digits.")
    return None


def _exact(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent beyond all bounds
        return Decimal("NaN")


def _add_privacy(parameters: Path, keys: dict[str, Any], findings: _FindingsOfFiles) -> bool:
    """Add the table of privacy.toml, if the file is there, and return whether it could be read."""
    if not (parameters / PRIVACY_FILE).exists():
        return True
    of_file = FindingsOf(PRIVACY_FILE)
    given = _read_section(parameters, PRIVACY_FILE, _PRIVACY, of_file)
    findings._findings += of_file.findings
    if _PRIVACY in keys:
        findings.error(_PRIVACY, f"also in {PRIVACY_FILE}. Keep one of them.")
    elif given is not None:
        keys[_PRIVACY] = given
        findings.file_of[_PRIVACY] = PRIVACY_FILE
    return given is not None


def _read_section(parameters: Path, file: str, section: str, findings: FindingsOf) -> object:
    """The table that is all of a public file, unchecked; None if there is no such file or table."""
    if not (parameters / file).exists():
        return None
    path = public_file(parameters, file, "", findings)
    given = None if path is None else _keys_at(path, findings)
    if given is not None and section not in given:
        findings.error(section, f"missing. {file} holds the table [{section}] and nothing else.")
    for key in given or {}:
        if key != section:
            findings.error(
                key, f"unknown key. {file} holds the table [{section}] and nothing else."
            )
    return None if given is None else given.get(section)


def _add_inherited(parameters: Path, keys: dict[str, Any], findings: _FindingsOfFiles) -> bool:
    """Add the sections of the `like` file, and return whether they could be read."""
    like = keys[_LIKE]
    problem = _why_not_like(parameters, like)
    if problem:
        findings.error(_LIKE, problem)
        return False
    of_file = FindingsOf(like)
    given = _keys_at(parameters / like, of_file)
    if given is not None and _LIKE in given:
        of_file.error(
            _LIKE,
            f"{SPECIFICATION_FILE} is like this file, which is like another. Name that one there.",
        )
    for section in INHERITED:
        if section in keys:
            findings.error(
                section, f"also taken from {like}. Leave it out here, or leave out `like`."
            )
        elif given is not None and section in given:
            keys[section] = given[section]
            findings.file_of[section] = like
        elif given is not None:
            of_file.error(section, f"missing, and {SPECIFICATION_FILE} needs it.")
    findings._findings += of_file.findings
    return not of_file.has_errors


def _why_not_like(parameters: Path, like: object) -> str | None:
    """Why a path may not be inherited from, or None if it may."""
    advice = (
        "Name a census.toml inside the folder or in one beside it,"
        ' such as "../safetab-p/census.toml".'
    )
    if TEXT.read(like, "", Reading(FindingsOf(""))) is None:
        return f"it is not a path. {advice}"
    parts = PurePosixPath(str(like)).parts
    beside = parts[1:] if parts[0] == ".." and len(parts) == 3 else parts
    real, folder = resolved(parameters / str(like)), resolved(parameters)
    is_near = real.is_relative_to(folder) or real.parent.parent == folder.parent
    if (
        "\\" in str(like)
        or ".." in beside
        or parts[0] == "/"
        or parts[-1] != SPECIFICATION_FILE
        or not is_near
    ):
        return advice
    if real == resolved(parameters / SPECIFICATION_FILE):
        return f"it is this file. {advice}"
    return None


_ABOUT = "about"


class Publication(Frozen):
    """Whose numbers a release holds, in the words of its publisher.

    A text is empty if it is not known.
    """

    title: str
    agency: str
    year: str = ""
    source: str = ""
    contact: str = ""
    url: str = ""
    licence: str = ""
    cite: str = ""


_NAMES = tuple(each.name for each in fields(Publication))
_TABLE = Table(tuple(key for key in table_of(About).keys if key.name in _NAMES), Publication)


def publication_of(about: About) -> Publication:
    """Whose numbers these are, by a specification."""
    return Publication(**{name: getattr(about, name) for name in _NAMES})


def read_publication(parameters: Path) -> Checked[Publication]:
    """Whose numbers these are, by about.toml; no value if there is no such file, or a wrong one."""
    findings = FindingsOf(ABOUT_FILE)
    given = _read_section(parameters, ABOUT_FILE, _ABOUT, findings)
    if given is None:
        return Checked(None, findings.findings)
    publication = _TABLE.read(given, _ABOUT, Reading(findings))
    return Checked(None if findings.has_errors else publication, findings.findings)


def publication_as_json(publication: Publication) -> dict[str, str]:
    """The keys that say this again."""
    keys: dict[str, str] = _TABLE.written(publication)
    return keys


def publication_of_json(keys: Mapping[str, Any] | None) -> Publication | None:
    """The statement of whose numbers these are, by the keys of a release; None without any.

    Raises ValueError if a key is wrong. Keys that a later version may add are ignored.
    """
    if keys is None:
        return None
    findings = FindingsOf("")
    known = {name: text for name, text in keys.items() if name in _NAMES}
    publication: Publication = _TABLE.read(known, _ABOUT, Reading(findings))
    if findings.has_errors:
        raise ValueError(_ABOUT)
    return publication
