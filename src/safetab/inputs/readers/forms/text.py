"""Delimited text, gzipped or not: a header, then a line for each row, without quotes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from safetab.foundation.batch_sizes import BatchSizes
from safetab.foundation.findings import FindingsOf, shortened
from safetab.inputs.readers.delimited import SEPARATOR, header_mistake
from safetab.inputs.readers.forms.table_form import (
    MOST_ROWS_LISTED,
    Batches,
    DamagedPart,
    MisshapenRows,
    NumberedRows,
    TableForm,
)
from safetab.inputs.readers.forms.text_lines import SeenValues, batch_by_arrow, batch_of_lines
from safetab.inputs.readers.text_tables import (
    LONGEST_LINE,
    blank_lines_inside,
    ends_with_return,
    header_of,
    lines_of_text,
    numbered_lines,
    whole_lines,
)
from safetab.model.products.record import RecordLayout

UTF8_RULE = "", "a row must be UTF-8 text"
HEADER_RULE = "", "the header may stand only in line 1"

_TEXT_BYTES_OF_A_RECORD = 78
_ZIPPED_BYTES_OF_A_RECORD = _TEXT_BYTES_OF_A_RECORD // 10


def shape_rule(record: RecordLayout) -> tuple[str, str]:
    """The rule about the number of fields in a row."""
    return "", f"a row must have {len(record.columns)} fields"


class TextForm(TableForm):
    """Text files, gzipped if their ending says so."""

    noun = "line"
    first_row = 2
    damage = "damaged, not what its ending says, or lines that end in different ways."
    has_types = False

    def columns_of(self, path: Path, separator: str) -> list[str]:
        """As `TableForm.columns_of`."""
        return header_of(path, separator)

    def about_rows(self, parts: Sequence[Path]) -> int:
        """An estimate from the sizes of the files."""
        is_zipped = self.ending.endswith(".gz")
        of_record = _ZIPPED_BYTES_OF_A_RECORD if is_zipped else _TEXT_BYTES_OF_A_RECORD
        return sum(path.stat().st_size for path in parts) // of_record

    def rows_of(self, path: Path, findings: FindingsOf, threads: int, sizes: BatchSizes) -> int:
        """The number of rows by the line ends; 0 if something was found before."""
        if findings.has_errors:
            return 0
        lines = lines_of_text(path, threads, sizes)
        if lines.has_overlong_line:
            report_overlong_line(findings)
        elif lines.has_blank_line_inside:
            count, first = blank_lines_inside(path, MOST_ROWS_LISTED)
            where = f"{path.name}, line {shortened(first, MOST_ROWS_LISTED)}"
            more = f" and {count - len(first):,} more" if count > len(first) else ""
            report_blank_lines(count, where + more, findings)
        elif lines.has_stray_return:
            report_stray_return(findings)
        return lines.rows

    def batches(
        self, path: Path, columns: Sequence[str], findings: FindingsOf, misshapen: list[int]
    ) -> Batches:
        """As `TableForm.batches`. Lines of a wrong shape are listed instead."""
        header = header_of(path)
        missing = [column for column in columns if header.count(column) != 1]
        if missing:
            cause = header_mistake(SEPARATOR.join(header), columns)
            problem = cause or f"columns missing or repeated: {shortened(missing, len(columns))}. "
            findings.error(
                "line 1", f"{problem}The header must hold {SEPARATOR.join(columns)}, in any order."
            )
            return

        before = 1  # lines, with the header

        def remember(row: pa.csv.InvalidRow) -> str:
            misshapen.append(before + row.number)
            return "skip"

        names = [str(position) for position in range(len(header))]
        wanted = [str(header.index(column)) for column in columns]
        for block in whole_lines(path):
            # rows passed to `remember` must be UTF-8; Latin-1 makes every byte a character, but no
            # new digit
            text = block if block.isascii() else block.decode("latin-1").encode()
            table = pa.csv.read_csv(
                pa.BufferReader(text),
                # one thread, this one: another that holds `remember` while Python ends would abort
                # the process
                pa.csv.ReadOptions(use_threads=False, block_size=len(text) + 1, column_names=names),
                pa.csv.ParseOptions(
                    delimiter=SEPARATOR, quote_char=False, double_quote=False,
                    ignore_empty_lines=False, invalid_row_handler=remember,
                ),
                pa.csv.ConvertOptions(
                    include_columns=wanted, column_types=dict.fromkeys(wanted, pa.binary()),
                    null_values=[],
                ),
            )  # fmt: skip
            before += block.count(b"\n")
            yield from table.rename_columns(list(columns)).to_batches()
        if misshapen:
            lines = shortened(f"line {line}" for line in misshapen)
            rule = (
                f"a row must have {len(header)} fields separated by {SEPARATOR}, as the header has"
            )
            findings.error("", f"{rule}: {lines}.")

    def pieces(self, path: Path, record: RecordLayout, sizes: BatchSizes) -> Iterator[Batches]:
        """As `TableForm.pieces`: a block of lines each. Raises DamagedPart for their line ends."""
        header, has_returns = _columns_in_order(path, record), ends_with_return(path)
        seen = SeenValues()
        for block in whole_lines(path, sizes):
            # a blank line is followed by blank lines alone
            if not block.startswith((b"\r", b"\n")):
                yield _batches(path, block, header, record, seen, has_returns=has_returns)

    def numbered_rows(
        self, path: Path, record: RecordLayout, sizes: BatchSizes
    ) -> Iterator[NumberedRows]:
        """As `TableForm.numbered_rows`: lines are counted with the header."""
        misshapen, header = shape_rule(record), _columns_in_order(path, record)
        separator = record.separator_in(path.name).encode()
        repeated = separator.join(name.encode() for name in header)
        for first, lines in numbered_lines(path, sizes):
            numbers: list[int] = []
            kept: list[bytes] = []
            misfits = dict[tuple[str, str], list[int]]()
            misfits |= {misshapen: [], UTF8_RULE: [], HEADER_RULE: []}
            for number, line in enumerate(lines, start=first):
                content = line.removesuffix(b"\r")
                if number == 1 or not content:
                    continue
                if content.decode("utf-8", errors="ignore").encode() != content:
                    misfits[UTF8_RULE].append(number)
                elif content.count(separator) != len(record.columns) - 1:
                    misfits[misshapen].append(number)
                elif content == repeated:
                    misfits[HEADER_RULE].append(number)
                else:
                    numbers.append(number)
                    kept.append(content)
            # Arrow would end a line at a carriage return; a NUL is as wrong in every column.
            text = b"\n".join(kept).replace(b"\r", b"\0")
            batch = batch_by_arrow(text, header, record, separator.decode()) if kept else None
            yield NumberedRows(np.array(numbers, dtype=np.int64), batch, misfits)


def _batches(
    path: Path,
    block: bytes,
    header: Sequence[str],
    record: RecordLayout,
    seen: SeenValues,
    *,
    has_returns: bool,
) -> Batches:
    """One batch of lines that all end as the header of their file does."""
    returns = block.count(b"\r\n") if has_returns or b"\r" in block else 0
    if returns != (block.count(b"\n") if has_returns else 0):
        raise DamagedPart(path, ValueError("lines end in different ways"))
    if record.fields and not _is_utf8(block):  # where any text is right, no rule would tell
        raise MisshapenRows
    lines = block.replace(b"\r\n", b"\n") if returns else block
    separator = record.separator_in(path.name)
    yield batch_of_lines(lines, header, record, separator, seen if record.fields else None)


def _is_utf8(block: bytes) -> bool:
    try:
        return block.isascii() or bool(block.decode("utf-8"))
    except UnicodeDecodeError:
        return False


def _columns_in_order(path: Path, record: RecordLayout) -> tuple[str, ...]:
    """The columns of a text file in their order, or that of the record if the header is wrong."""
    header = header_of(path, record.separator_in(path.name))
    return tuple(header) if sorted(header) == sorted(record.columns) else record.columns


def report_overlong_line(findings: FindingsOf) -> None:
    """Report a line that is too long to be a row."""
    findings.error(
        "", f"a line has more than {LONGEST_LINE:,} bytes. Look for zeros or missing line ends."
    )


def report_stray_return(findings: FindingsOf) -> None:
    """Report a carriage return inside a line."""
    advice = "End lines with a line feed, or with a carriage return and a line feed."
    findings.error("", f"a carriage return is inside a line. {advice}")


def report_blank_lines(count: int, where: str, findings: FindingsOf) -> None:
    """Report blank lines that something follows. `where` is for the confidential log only."""
    findings.error("", f"blank lines are only allowed at the end: {count:,} inside.", where)
