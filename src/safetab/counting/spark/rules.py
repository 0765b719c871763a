"""Which rules records break, counted by file on executors; asked only if a row may break one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from safetab.counting.local.rules import broken_rules
from safetab.counting.spark import executor
from safetab.counting.spark.executor import MISFIT, Batches, results_of, send
from safetab.foundation.findings import FindingsOf, shortened
from safetab.inputs.known_lists import KnownLists
from safetab.inputs.readers.forms.table_form import MOST_ROWS_LISTED
from safetab.inputs.readers.forms.text import UTF8_RULE, shape_rule
from safetab.inputs.records.record_rules import Rule

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import DataFrame

FILE = "file"
"""A column with the path of the file that a row comes from.

For a table of the catalog, it has the table's name.
"""

_Key = tuple[str, str, str]
"""A file, and the column and sentence of a rule."""


def report_broken_rules(rows: DataFrame, known: KnownLists, findings: FindingsOf) -> None:
    """Report how many rows of which files break each rule. Raises one of `SPARK_ERRORS`."""
    picklable = replace(known, codes=frozenset(known.codes), oids=None)
    sent = send(rows.sparkSession, picklable)
    judged, task = rows, _count_in_pieces
    if MISFIT in rows.columns:
        judged, task = rows.select(*known.record.columns, MISFIT, FILE), _count_broken_rules
    counts_of_tasks = results_of(judged.mapInArrow(partial(task, sent), executor.RESULT))
    sent.destroy()
    rows_of_files: dict[Rule, Counter[str]] = {}
    for (file, *rule), count in sum(counts_of_tasks, Counter[_Key]()).items():
        rows_of_files.setdefault(tuple(rule), Counter())[file_name(file)] += count
    for (column, sentence), rows_of_file in sorted(rows_of_files.items()):
        files = [f"{count:,} in {file}" for file, count in sorted(rows_of_file.items())]
        findings.broken(column, sentence, rows_of_file.total(), shortened(files, MOST_ROWS_LISTED))


def file_name(path: str) -> str:
    """The name of a file whose path Spark gives, with percent signs for special characters."""
    return Path(unquote(path)).name


def _count_broken_rules(sent: Broadcast[KnownLists], batches: Batches) -> Iterator[pa.RecordBatch]:
    """A task: how many rows of each file break each rule. No value of a row leaves the task."""
    known = sent.value
    counts = Counter[_Key]()
    for batch in batches:
        misfit = batch.column(MISFIT).to_numpy()
        misfits = [
            (shape_rule(known.record), misfit == executor.WRONG_SHAPE),
            (UTF8_RULE, misfit == executor.NOT_UTF8),
        ]
        _add(counts, batch, misfits)
        rows = batch.filter(pa.array(misfit == 0))
        if rows.num_rows:
            _add(counts, rows, broken_rules(executor.batch_of_rows(rows, known.record), known))
    yield executor.result_row(counts)


def _count_in_pieces(sent: Broadcast[KnownLists], batches: Batches) -> Iterator[pa.RecordBatch]:
    """A task: the same for pieces of files that every executor sees."""
    known = sent.value
    counts = Counter[_Key]()
    for path, batch in executor.pieces_in(batches, known.record):
        for rule, is_broken in broken_rules(batch, known):
            counts[str(path), *rule] += int(is_broken.sum())
    yield executor.result_row(+counts)


def _add(
    counts: Counter[_Key], batch: pa.RecordBatch, broken: Iterable[tuple[Rule, NDArray[np.bool_]]]
) -> None:
    """Add to the counts of each file and rule the rows of a batch that break the rule."""
    files = pc.dictionary_encode(batch.column(FILE))
    file_of_row = files.indices.to_numpy()
    for rule, is_broken in broken:
        rows_of_file = np.bincount(file_of_row[is_broken], minlength=len(files.dictionary))
        for file, count in zip(files.dictionary.to_pylist(), rows_of_file.tolist(), strict=True):
            if count:
                counts[file, *rule] += count
