"""Where Spark finds the person records; importing this loads no Spark."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from safetab.readers.person_files import label_of
from safetab.readers.table_files import TableFiles, TableForm

_OF_THIS_MACHINE = re.compile("file:(?://)?(/[^/].*)")  # as Spark spells it, and as Hadoop does


@dataclass(frozen=True, slots=True)
class PersonLocation:
    """Parts of one form as Spark reads them, or a table of the catalog, which has no form; and its name in findings."""

    label: str
    form: TableForm | None
    parts: tuple[str, ...]

    @property
    def parts_of_this_machine(self) -> tuple[Path, ...]:
        return tuple(Path(found[1]) for part in self.parts if (found := _OF_THIS_MACHINE.fullmatch(part)))

    def part_named_in(self, text: str) -> str | None:
        """The name of the first part whose path a text has."""
        names = (part.rpartition("/")[2] for part in self.parts)
        return next((name for name in names if f"/{name}" in text), None)

    @classmethod
    def of_files(cls, files: TableFiles) -> PersonLocation:
        return cls(label_of(files), files.form, tuple(f"file://{path.absolute()}" for path in files.parts))
