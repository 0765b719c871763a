"""Person records that no engine reads, and what every engine says of them: file, place and sentence."""

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from tests.person_forms import columns_of, text_of_columns
from tests.worlds.people import PERSON_HEADER

Said = tuple[str, str, str]
Columns = dict[str, list]
TABLE, TEXT, PARQUET = "person-records", "person-records.txt", "person-records.parquet"
HEADER = f"the header must be {PERSON_HEADER}, in any order"
ONCE = "columns missing or repeated, ignoring upper and lower case"


class RefusedFiles(NamedTuple):
    write: Callable[[Path, list[str]], None]
    said: list[Said]


def refused_files(write, *said):
    """With file, place and sentence of what is said."""
    return RefusedFiles(write, [tuple(one.split(" | ", 2)) for one in said])


def text(change, *said):
    def write(folder, rows):
        (folder / TEXT).write_text(change(text_of_columns(columns_of(rows))))

    return refused_files(write, *said)


def parquet(change, *said):
    def write(folder, rows):
        pq.write_table(pa.table(change(columns_of(rows))), folder / PARQUET)

    return refused_files(write, *said)


def parts(changes, *said):
    def write(folder, rows):
        (folder / TABLE).mkdir()
        for name, change in changes.items():
            pq.write_table(pa.table(change(columns_of(rows))), folder / TABLE / name)

    return refused_files(write, *said)


def renamed(header):
    return lambda text: header(text.split("\n", 1)[0]) + "\n" + text.split("\n", 1)[1]


def with_column(name, value):
    return lambda columns: columns | {name: [value] * len(columns[name])}


def without(name):
    return lambda columns: {other: values for other, values in columns.items() if other != name}


def no_parquet(folder, rows):
    (folder / TABLE).mkdir()
    (folder / TABLE / "a.parquet").write_text(text_of_columns(columns_of(rows)))


REFUSED_FILES = {
    "a column missing in the header": text(
        renamed(lambda header: header.replace("|QSPAN", "")), f"{TEXT} | line 1 | {HEADER}; missing: QSPAN."
    ),
    "a column twice in the header": text(
        renamed(lambda header: header.replace("QSEX", "QAGE")),
        f"{TEXT} | line 1 | {HEADER}; missing: QSEX; more than once: QAGE.",
    ),
    "an unknown column in the header": text(
        renamed(lambda header: f"MAFID|{header}"),
        f"{TEXT} | line 1 | {HEADER}; unknown columns, by position: 1.",
    ),
    "the header twice": text(
        lambda text: text + text.split("\n", 1)[0],
        f"{TEXT} |  | the header may stand only in line 1. 1 row breaks this rule.",
    ),
    "blank lines inside": text(
        lambda text: text.replace("\n", "\n\n\n", 2),
        f"{TEXT} |  | blank lines are only allowed at the end: 4 inside.",
    ),
    "a line of more than a megabyte": text(
        lambda text: text + "\0" * (1 << 20) + "\0\n",
        f"{TEXT} |  | a line has more than 1,048,576 bytes. Look for zeros or missing line ends.",
        f"{TEXT} |  | a row must have 17 fields. 1 row breaks this rule.",
    ),
    "a column missing in Parquet": parquet(without("QRACE8"), f"{PARQUET} |  | {ONCE}: QRACE8."),
    "a column missing in one part": parts(
        {"a.parquet": dict, "b.parquet": without("QRACE8")}, f"{TABLE}/b.parquet |  | {ONCE}: QRACE8."
    ),
    "a column twice but for capitals": parquet(
        lambda columns: columns | {"qage": columns["QAGE"]}, f"{PARQUET} |  | {ONCE}: QAGE."
    ),
    "text in one part, integers in another": parts(
        {"a.parquet": dict, "b.parquet": with_column("QSEX", 1)},
        f"{TABLE} | QSEX | has several types: integers, text. Write all parts alike.",
    ),
    "numbers with fractions": parquet(
        with_column("QAGE", 28.0), f"{PARQUET} | QAGE | holds numbers with fractions. Give text or integers."
    ),
    "dates": parquet(
        with_column("QAGE", datetime.date(2020, 4, 1)),
        f"{PARQUET} | QAGE | holds dates or times. Give text or integers.",
    ),
    "truth values for a sex": parquet(
        with_column("QSEX", True), f"{PARQUET} | QSEX | holds truth values. Give text or integers."
    ),
    "lists": parquet(
        with_column("QSPAN", ["9950"]), f"{PARQUET} | QSPAN | holds values of another type. Give text or integers."
    ),
    "what is no Parquet": refused_files(
        no_parquet, f"{TABLE}/a.parquet |  | {{}}/a.parquet is damaged, or not what its ending says. Write it again."
    ),
}
