"""A census in two folders, as every maker gives it."""

import json
import shutil
from pathlib import Path
from typing import NamedTuple

import safetab

KEY = "0b" * 32


class World(NamedTuple):
    """What a test may read, change and run."""

    parameters: Path
    data: Path

    @classmethod
    def of(cls, folder):
        return cls(folder / "parameters", folder / "data")

    def copy(self, folder):
        shutil.copytree(self.parameters, folder / "parameters")
        shutil.copytree(self.data, folder / "data")
        return self.of(folder)

    def run(self, out, **options):
        """The output of a run with a test key."""
        safetab.run(*self, out, **{"test_key": KEY} | options)
        return out

    def config(self):
        return json.loads((self.parameters / "config.json").read_text())

    def configure(self, **changes):
        self.write_config(self.config() | changes)

    def write_config(self, config):
        (self.parameters / "config.json").write_text(json.dumps(config))

    def edit(self, file, old, new):
        """Replaces the first `old` in a file, which must be there."""
        path = self.path(file)
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def append(self, file, *lines):
        path = self.path(file)
        path.write_text(path.read_text() + "".join(f"{line}\n" for line in lines))

    def path(self, file):
        """Of a file that is there, or of one of parameters."""
        in_data = self.data / file
        return in_data if in_data.exists() else self.parameters / file
