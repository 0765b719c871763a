"""The data of a site: scripts that hand over one value each, since a page opened from a disk may read nothing else."""

from __future__ import annotations

import json
from pathlib import Path

from safetab.foundation.failures import RunFailed

DATA_FOLDER = "data"
MOST_BYTES = 2_000_000
"""No file of a site is larger."""

_FUNCTION = "safetabData"


class DataFolder:
    """Writes the data files of a site, and remembers how large they are."""

    def __init__(self, site: Path) -> None:
        self._folder = site / DATA_FOLDER
        self.bytes_of: dict[str, int] = {}

    def write(self, name: str, value: object) -> None:
        """DATA/name.js. A file that is too large is a fault of the program, and none of the release."""
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        written = f"{_FUNCTION}({json.dumps(name)},{text});\n".encode()
        if len(written) > MOST_BYTES:
            raise RunFailed(f"{DATA_FOLDER}/{name}.js would be larger than {MOST_BYTES:,} bytes.")
        path = self._folder / f"{name}.js"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(written)
        self.bytes_of[name] = len(written)


def value_of_data_file(text: str) -> object:
    """What a data file hands over."""
    return json.loads(text[text.index(",") + 1 : text.rindex(")")])
