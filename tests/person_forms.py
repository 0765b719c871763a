"""The same person records as files of every order and form that can be read."""

import gzip
import random

import pyarrow as pa
import pyarrow.parquet as pq

from tests.worlds.people import PERSON_HEADER


def people_of(world):
    return (world.data / "person-records.txt").read_text().splitlines()[1:]


def as_text(folder, rows):
    (folder / "person-records.txt").write_text("\n".join([PERSON_HEADER, *rows]) + "\n")


def shuffled(folder, rows):
    as_text(folder, random.Random(7).sample(rows, len(rows)))


def windows_line_ends(folder, rows):
    text = "\r\n".join([PERSON_HEADER, *rows, "", ""])
    (folder / "person-records.txt").write_bytes(b"\xef\xbb\xbf" + text.encode())


def gzipped(folder, rows):
    text = "\n".join([PERSON_HEADER, *rows])
    (folder / "person-records.txt.gz").write_bytes(gzip.compress(text.encode()))


def split(folder, rows):
    (folder / "person-records").mkdir()
    for number in range(5):
        part = "\n".join([PERSON_HEADER, *rows[number::5]])
        (folder / "person-records" / f"part-{number}.txt").write_text(part)


def columns_of(rows):
    names = PERSON_HEADER.split("|")
    return {name: [row.split("|")[position] for row in rows] for position, name in enumerate(names)}


def parquet_of_text(folder, rows):
    pq.write_table(pa.table(columns_of(rows)), folder / "person-records.parquet", row_group_size=13)


def parquet_of_integers(folder, rows):
    def typed(name, values):
        if name == "HOUSEHOLDER":
            return pa.array([value == "True" for value in values])
        return pa.array(
            [None if value == "Null" else int(value) for value in values], pa.int16() if name < "T" else pa.int64()
        )

    columns = {name: typed(name, values) for name, values in reversed(columns_of(rows).items())}
    (folder / "person-records").mkdir()
    table = pa.table(columns | {"MORE": [1] * len(rows)})
    pq.write_table(table.slice(0, 30), folder / "person-records" / "a.parquet")
    pq.write_table(table.slice(30), folder / "person-records" / "b.parquet")


def text_of_columns(columns):
    return "".join("|".join(row) + "\n" for row in [tuple(columns), *zip(*columns.values(), strict=True)])


def split_in_other_orders(folder, rows):
    """Every part has its columns in an order of its own."""
    (folder / "person-records").mkdir()
    for number in range(3):
        columns = list(columns_of(rows[number::3]).items())
        text = text_of_columns(dict(columns[7 * number :] + columns[: 7 * number]))
        (folder / "person-records" / f"part-{number}.txt.gz").write_bytes(gzip.compress(text.encode()))


def parquet_of_several_texts(folder, rows):
    """Text stored in three ways; a column that is all null in one part."""
    (folder / "person-records").mkdir()
    rows = sorted(rows, key=lambda row: row.split("|")[15] == "Null", reverse=True)
    for number, text in enumerate([pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())]):
        part = rows[20 * number : 20 * number + 20] if number < 2 else rows[40:]
        columns = {name: pa.array(values).cast(text) for name, values in columns_of(part).items()}
        if number == 0:
            columns["QRACE8"] = pa.nulls(20)
        pq.write_table(pa.table(columns), folder / "person-records" / f"{number}.parquet")


def parquet_of_several_integers(folder, rows):
    (folder / "person-records").mkdir()
    for number, integer in enumerate([pa.int16(), pa.int32(), pa.int64(), pa.uint16(), pa.uint32(), pa.uint64()]):
        columns = {}
        for name, values in columns_of(rows[number::6]).items():
            numbers = [int(value) if value.isdigit() else None for value in values]
            columns[name] = pa.array(numbers, pa.int32() if name == "TABTRACTCE" else integer)
            if name == "HOUSEHOLDER":
                columns[name] = pa.array([value == "True" for value in values])
        pq.write_table(pa.table(columns), folder / "person-records" / f"{number}.parquet")


PERSON_FORMS = (
    as_text,
    shuffled,
    windows_line_ends,
    gzipped,
    split,
    split_in_other_orders,
    parquet_of_text,
    parquet_of_integers,
    parquet_of_several_texts,
    parquet_of_several_integers,
)


def header_only(folder, _):
    (folder / "person-records.txt").write_text(f"{PERSON_HEADER}\n")


def header_without_a_line_end(folder, _):
    (folder / "person-records.txt").write_text(PERSON_HEADER)


def gzipped_header(folder, _):
    (folder / "person-records.txt.gz").write_bytes(gzip.compress(f"{PERSON_HEADER}\n".encode()))


def parquet_without_rows(folder, _):
    columns = dict.fromkeys(PERSON_HEADER.split("|"), pa.array([], pa.string()))
    pq.write_table(pa.table(columns), folder / "person-records.parquet")


def parquet_of_integers_without_rows(folder, _):
    (folder / "person-records").mkdir()
    columns = dict.fromkeys(PERSON_HEADER.split("|"), pa.array([], pa.int16()))
    for part in ("a", "b"):
        pq.write_table(pa.table(columns), folder / "person-records" / f"{part}.parquet")


def people_of_other_states(folder, rows):
    as_text(folder, ["|".join([*row.split("|")[:3], "02", *row.split("|")[4:]]) for row in rows])


EMPTY_FORMS = (
    header_only,
    header_without_a_line_end,
    gzipped_header,
    parquet_without_rows,
    parquet_of_integers_without_rows,
    people_of_other_states,
)
