"""Whether units with too many records are refused.

They must be, however their records are spread and read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product as crossed
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from safetab.apps.audit.audited_product import AuditedProduct
from safetab.apps.audit.audited_runs import SMALL_SIZES
from safetab.apps.audit.verdicts import Verdict, verdict
from safetab.core.privacy.output_status import SYNTHETIC_MARKER
from safetab.foundation.batch_sizes import USUAL_SIZES, BatchSizes
from safetab.foundation.findings import InvalidInput
from safetab.model.products.record import RecordLayout
from safetab.runs.inputs import validate_files
from safetab.runs.options import RunOptions
from safetab.runs.run import run_files

BOUND = "no unit with more records"
_SEVERAL = 4
_Lines = Sequence[str]


@dataclass(frozen=True, slots=True)
class _Form:
    """A way to give a program its records, and to read them."""

    sizes: BatchSizes
    ending: str
    files: int  # as many as there are threads

    def __str__(self) -> str:
        batches = ", small batches" if self.sizes is SMALL_SIZES else ""
        return f"{self.files} {self.ending[1:]}, threads: {self.files}{batches}"

    def write(self, data: Path, record: RecordLayout, header: str, rows: _Lines) -> None:
        """Write these lines of text as the records of a folder."""
        parts = data / record.table
        parts.mkdir(parents=True)
        (data / SYNTHETIC_MARKER).write_text("Nobody of these exists.\n")
        for number, part in enumerate(np.array_split(rows, self.files)):
            path = parts / f"{number}{self.ending}"
            if self.ending == ".txt":
                path.write_text("".join(f"{line}\n" for line in (header, *part)))
            else:
                separator = record.separator_in(".txt")
                values = zip(*(line.split(separator) for line in part), strict=True)
                columns = [pa.array(column, pa.string()) for column in values]
                pq.write_table(pa.table(columns, header.split(separator)), path)


_SIZES = (USUAL_SIZES, SMALL_SIZES)
_FORMS = tuple(_Form(*each) for each in crossed(_SIZES, (".txt", ".parquet"), (1, _SEVERAL)))
_QUICK_FORMS = tuple(form for form in _FORMS if form.sizes is SMALL_SIZES and form.files > 1)


def unit_check(audited: AuditedProduct, folder: Path, *, is_quick: bool = False) -> Verdict:
    """A unit may have k records. One more is refused, and so is a record of no unit."""
    record, own = audited.product.record, audited.of_one_unit
    assert record.unit is not None
    assert own is not None
    most = record.unit.most_records
    world = audited.write(folder / "world", (*audited.population, own), {})
    header, *others, of_unit = (world.data / f"{record.table}.txt").read_text().splitlines()
    cases = {
        f"{most} records": ([of_unit] * most, ""),
        f"{most + 1} records": ([of_unit] * (most + 1), f"at most {most} records"),
        "a record of no unit": ([_of_no_unit(of_unit, header, record)], "must not be missing"),
    }
    forms = _QUICK_FORMS if is_quick else _FORMS
    faults = []
    for form, (case, (rows, why)) in crossed(forms, cases.items()):
        data = folder / f"{form}, {case}"
        form.write(data, record, header, _spread(rows, others))
        faults += [
            f"{form}: {case}: {fault}" for fault in _faults_of(world.parameters, data, form, why)
        ]
    seen = f"{len(cases)} worlds, each of them read in {len(forms)} ways"
    return verdict(f"{BOUND}: {audited.product.name}", faults, seen)


def _of_no_unit(row: str, header: str, record: RecordLayout) -> str:
    assert record.unit is not None
    separator = record.separator_in(".txt")
    values = row.split(separator)
    values[header.split(separator).index(record.unit.column)] = ""
    return separator.join(values)


def _spread(rows: _Lines, others: _Lines) -> _Lines:
    """The rows at equal distances among the others."""
    found = list[str]()
    for row, part in zip(rows, np.array_split(others, len(rows)), strict=True):
        found += [row, *part]
    return found


def _faults_of(parameters: Path, data: Path, form: _Form, why: str) -> Iterator[str]:
    """Say what is wrong with the answer of `validate`.

    The answer of a run is judged too where the data must be refused for this reason.
    """
    options = RunOptions(threads=form.files, sizes=form.sizes)
    commands: list[Callable[[], object]] = [partial(validate_files, parameters, data, options)]
    if why:
        commands.append(
            partial(run_files, parameters, data, data.with_name(f"{data.name}, out"), options)
        )
    for command in commands:
        said = ""
        try:
            command()
        except InvalidInput as refused:
            said = str(refused)
        if bool(said) != bool(why) or why not in said:
            yield f"refused: {said}" if said else "accepted"
