"""What an earlier output of a command is known by, and which files it may hold: nothing else is ever removed."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container
from dataclasses import dataclass
from pathlib import Path

from safetab.outputs.manifest import MANIFEST_FILE

_NO_LIST = (ValueError, LookupError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class EarlierOutput:
    """An output that may be replaced: it has the file `known_by`, and no file that is not among its own."""

    known_by: str
    own_names: Callable[[Path], Container[str]]
    """Of a folder: the files that were written into it, by the list that it keeps or by the names that there are."""

    def foreign_in(self, out: Path) -> list[str]:
        """Files, and links whatever they lead to, that the command didn't write; its list, if it can't be one."""
        if not (out / self.known_by).is_file():
            return []
        try:
            own = self.own_names(out)
        except _NO_LIST:
            return [self.known_by]
        return [name for name in names_in(out) if name not in own]


def names_in(folder: Path) -> list[str]:
    """Of files at any depth, and of links whatever they lead to."""
    paths = (path for path in folder.rglob("*") if path.is_symlink() or not path.is_dir())
    return sorted(path.relative_to(folder).as_posix() for path in paths)


class NamesLike(Container[str]):
    """Every name that the whole of a pattern fits."""

    def __init__(self, pattern: str) -> None:
        self._pattern = re.compile(pattern)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._pattern.fullmatch(name) is not None


def always_named(known_by: str, names: Container[str]) -> EarlierOutput:
    """An output whose files have the same names wherever it lies."""
    return EarlierOutput(known_by, lambda _: names)


def _names_of_manifest(out: Path) -> Container[str]:
    manifest = json.loads((out / MANIFEST_FILE).read_bytes())
    return {MANIFEST_FILE, *manifest["outputs"], *manifest.get("documents", ())}


OUTPUT_OF_RUN = EarlierOutput(MANIFEST_FILE, _names_of_manifest)
