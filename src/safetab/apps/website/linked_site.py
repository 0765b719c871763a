"""The site of another product of the same census, to which a site links.

An example is households beside people.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from safetab.foundation.findings import InvalidInput
from safetab.release.files.release_folder import ReleaseFolder, open_release_folder
from safetab.release.files.release_universe import Universe

_JsonObject = dict[str, object]
_OPTION = "--linked"


@dataclass(frozen=True, slots=True)
class LinkedSite:
    """The release that the other site shows, and the place of that site.

    The place is a folder or an address on the web.
    """

    release: Path
    folder: str
    seen_from: Path | None = None
    """The folder whose site links to it, if it is not the one that is written."""


def linked_facts(opened: ReleaseFolder, folder: Path, linked: LinkedSite) -> _JsonObject:
    """The facts of the other site for a site in a folder: its place, what it counts and has.

    Links lead to the area levels in `levels`, and to all groups except those that it `lacks`.
    Raises InvalidInput if the other release is not of another product of the same census.
    """
    other = open_release_folder(linked.release)
    other.refuse_inside(folder)
    here, there = opened.universe, other.universe
    ids_there = {level.label: entities.columns[0] for level, entities in there.entities.items()}
    ids_here = {level.label: entities.columns[0] for level, entities in here.entities.items()}
    levels = [label for label in ids_here if label in ids_there]
    have_the_same_areas = all(ids_here[label].equals(ids_there[label]) for label in levels)
    problem = None
    if here.product.name == there.product.name:
        problem = (
            f"is of {there.product.name} too. Give the release of the other product of this census."
        )
    elif not levels or not have_the_same_areas or not _have_the_same_groups(here, there):
        problem = (
            f"its areas or groups are not those of {opened.path}."
            " Give a release of the same census."
        )
    elif opened.facts.status.is_for_release is not other.facts.status.is_for_release:
        problem = (
            "one of the two may be released and the other may not."
            " Link releases that may both be released."
        )
    if problem is not None:
        raise InvalidInput.about(linked.release, problem, _OPTION)
    codes = {group.code for group in there.lists.iterations}
    return {
        "address": _address(linked.seen_from or folder, linked.folder),
        "nouns": there.product.record.nouns,
        "comesFirst": (there.product.number, there.product.name)
        < (here.product.number, here.product.name),
        "levels": levels,
        "lacks": sorted(group.code for group in here.lists.iterations if group.code not in codes),
    }


def _have_the_same_groups(here: Universe, there: Universe) -> bool:
    """Whether groups that both releases have are the same.

    Some are in both, and a code never names two.
    """
    names = {group.code: group.name for group in there.lists.iterations}
    shared = [group for group in here.lists.iterations if group.code in names]
    return bool(shared) and all(group.name == names[group.code] for group in shared)


def _address(folder: Path, other: str) -> str:
    """The address of the other site's page, seen from the page of this one.

    Raises InvalidInput if it can't be one.
    """
    if "://" not in other:
        if Path(other).resolve() == folder.resolve():
            raise InvalidInput.about(
                other, "is the folder of this site. Give that of the other one.", _OPTION
            )
        return quote(
            Path(os.path.relpath(Path(other).resolve(), folder.resolve()), "index.html").as_posix()
        )
    if not re.fullmatch(r"(?i:https?)://[^\s?#]+", other):
        problem = (
            "must be a folder, or an address that begins with https:// or http:// and has no ? or"
            " #."
        )
        raise InvalidInput.about(other, problem, _OPTION)
    return f"{other.removesuffix('index.html').rstrip('/')}/index.html"
