"""Records that were found and not opened: files of this machine, or wherever Spark reads them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from safetab.foundation.findings import Checked
from safetab.inputs.own_records import OwnRecords
from safetab.inputs.readers.forms.table_form import TableForm
from safetab.inputs.readers.table_files import TableFiles
from safetab.model.products.record import RecordLayout

_ON_THIS_MACHINE = re.compile("file:(?://)?(/[^/].*)")  # as Spark spells it, and as Hadoop does


@dataclass(frozen=True, slots=True)
class RecordLocation:
    """The place where Spark finds records.

    It is parts of one form, or a table of the catalog, which has no form.
    """

    label: str
    form: TableForm | None
    parts: tuple[str, ...]
    rows: int | None = None  # known if the driver has counted them

    @property
    def parts_of_this_machine(self) -> tuple[Path, ...]:
        """The parts that are files of this machine."""
        return tuple(
            Path(found[1]) for part in self.parts if (found := _ON_THIS_MACHINE.fullmatch(part))
        )

    def part_named_in(self, text: str) -> str | None:
        """The name of the first part whose path occurs in a text, or None."""
        names = (part.rpartition("/")[2] for part in self.parts)
        return next((name for name in names if f"/{name}" in text), None)

    @classmethod
    def of_files(cls, files: TableFiles) -> RecordLocation:
        """The location of files of this machine."""
        return cls(
            files.label,
            files.form,
            tuple(f"file://{path.absolute()}" for path in files.parts),
            files.rows,
        )


Records = TableFiles | RecordLocation | OwnRecords


def record_files(records: Records) -> tuple[Path, ...]:
    """The files on this machine that hold records."""
    if isinstance(records, RecordLocation):
        return records.parts_of_this_machine
    return records.paths if isinstance(records, OwnRecords) else records.parts


class RecordFinder(Protocol):
    """Finds the records of a data directory, and its geography."""

    def records(self, data: Path, record: RecordLayout) -> Checked[Records]:
        """The records to count, by default those of the data directory."""

    def cef_records(self, data: Path, parts: Sequence[str]) -> Checked[Records]:
        """The files of a CEF that the .ini file names for these parts."""

    def geography_folder(self, data: Path) -> Checked[Path]:
        """The local folder with the geography, which is public."""

    def number_of_records(self, records: Records) -> int:
        """About how many records there are, if that is known before a row is read; otherwise 0."""
