"""Whose numbers these are: the keys of `about` that readers of a release see, and about.toml, which has no others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from safetab.foundation.findings import Checked, FindingsOf
from safetab.specification.keys import table_of
from safetab.specification.kinds import Frozen, Reading, Table
from safetab.specification.reading import ABOUT_FILE, read_section
from safetab.specification.values import About

_ABOUT = "about"


class Publication(Frozen):
    """Whose numbers a release holds, in the words of its publisher. A text is empty if it is not known."""

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
    given = read_section(parameters, ABOUT_FILE, _ABOUT, findings)
    if given is None:
        return Checked(None, findings.findings)
    publication = _TABLE.read(given, _ABOUT, Reading(findings))
    return Checked(None if findings.has_errors else publication, findings.findings)


def publication_as_json(publication: Publication) -> dict[str, str]:
    """The keys that say this again."""
    keys: dict[str, str] = _TABLE.written(publication)
    return keys


def publication_of_json(keys: Mapping[str, Any] | None) -> Publication | None:
    """Whose numbers these are, by the keys of a release; None without any. Raises ValueError if one is wrong.

    Keys that a later version may add are ignored.
    """
    if keys is None:
        return None
    findings = FindingsOf("")
    known = {name: text for name, text in keys.items() if name in _NAMES}
    publication: Publication = _TABLE.read(known, _ABOUT, Reading(findings))
    if findings.has_errors:
        raise ValueError(_ABOUT)
    return publication
