"""A census in two folders, as every maker gives it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any, NamedTuple, Self

import safetab

KEY = "0b" * 32


class World(NamedTuple):
    """What a test may read, change and run."""

    parameters: Path
    data: Path

    @classmethod
    def of(cls, folder: Path) -> Self:
        return cls(folder / "parameters", folder / "data")

    def copy(self, folder: Path) -> Self:
        shutil.copytree(self.parameters, folder / "parameters")
        shutil.copytree(self.data, folder / "data")
        return self.of(folder)

    def run(self, out: Path, **options: Any) -> Path:
        """The output of a run with a test key."""
        safetab.run(*self, out, **{"test_key": KEY} | options)
        return out

    def config(self) -> dict[str, Any]:
        return json.loads((self.parameters / "config.json").read_text())

    def configure(self, **changes: Any) -> None:
        self.write_config(self.config() | changes)

    def write_config(self, config: Any) -> None:
        (self.parameters / "config.json").write_text(json.dumps(config))

    def edit(self, file: str, old: str, new: str) -> None:
        """Replaces the first `old` in a file, which must be there."""
        path = self.path(file)
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def append(self, file: str, *lines: str) -> None:
        path = self.path(file)
        path.write_text(path.read_text() + "".join(f"{line}\n" for line in lines))

    def path(self, file: str) -> Path:
        """Of a file that is there, or of one of parameters."""
        in_data = self.data / file
        return in_data if in_data.exists() else self.parameters / file
