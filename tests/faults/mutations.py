"""Small damages to files, each drawn from a seeded generator: bytes, lines, fields, JSON, Parquet, the file itself."""

import gzip
import json
import os
import zlib

import pyarrow as pa
import pyarrow.parquet as pq

SECRET = "7654321098"
"""Put into confidential files only: nothing on a screen may show it."""

_PIECES = [
    b"\x00" * 4096,
    b"x" * 100_000,
    *bytes.split(
        b"\x00~\xff~\r~\n~\r\n~\n\n~|~||~\"~'~\\~\t~ ~#~\xef\xbb\xbf~\xe2\x80\xae~\xe2\x80\xa8~\xd9\xa3~\x1b[2J~\x85~\x0c~\x1a",
        b"~",
    ),
]
_FIELDS = [
    *str.split(
        '; ;0;-1;+1;1 ; 1;1.0;1e3;01;00;999;99999999999999999999;NaN;null;Null;NULL;True;true;1_0;0x1;\u0663;\uff11;=1+1;";\\N;True\r;\u00a01',
        ";",
    ),
    "9" * 5000,
    SECRET,
]
_JSON_VALUES = [
    *json.loads("""[null, true, false, 0, -1, 1, 2, 0.1, 1e308, 1e-300, NaN, Infinity, "", "1", "1/3", "0/0", [], {}, [1, 2, 3],
        [[]], {"a": 1}, ["01", "01"], ["44"], "\\ud800", "zcdp", "puredp", "cef", "csv"]"""),
    10**30,
    -(10**30),
    "x" * 10_000,
]


def _place(content, rng):
    return rng.randrange(len(content) + 1)


def one_bit(content, rng):
    if not content:
        return b"\x01"
    at = rng.randrange(len(content))
    return content[:at] + bytes([content[at] ^ (1 << rng.randrange(8))]) + content[at + 1 :]


def inserted(content, rng):
    at = _place(content, rng)
    return content[:at] + rng.choice(_PIECES) + content[at:]


def cut(content, rng):
    return content[: _place(content, rng)]


def without_a_piece(content, rng):
    at, length = _place(content, rng), rng.choice((1, 1, 2, 9, 100))
    return content[:at] + content[at + length :]


def zeroed(content, rng):
    at, length = _place(content, rng), rng.choice((1, 8, 64, 512))
    return content[:at] + b"\x00" * len(content[at : at + length]) + content[at + length :]


def repeated(content, rng):
    at, length = _place(content, rng), rng.choice((1, 16, 200))
    return content[:at] + content[at : at + length] + content[at:]


def emptied(_, rng):
    return rng.choice((b"", b"\n", b"\x00", b"{}", b"PAR1", b"\x1f\x8b"))


def another_line(content, rng):
    """A line twice, gone, or in another place."""
    lines = content.split(b"\n")
    line = lines.pop(rng.randrange(len(lines)))
    for _ in range(rng.choice((0, 1, 2))):
        lines.insert(rng.randrange(len(lines) + 1), line)
    return b"\n".join(lines)


def another_line_end(content, rng):
    ends = rng.choice((b"\r\n", b"\r", b"\n\r", b"\n\n", b"\x85"))
    return content.replace(b"\n", ends, rng.choice((1, 2, -1)))


def another_field(content, rng):
    """A value of a line, of a fixed width where lines have no separators."""
    lines = content.split(b"\n")
    at = rng.randrange(len(lines))
    value = rng.choice(_FIELDS).encode("utf-8", "surrogatepass")
    if b"|" in lines[at]:
        fields = lines[at].split(b"|")
        fields[rng.randrange(len(fields))] = rng.choice((value, rng.choice(fields)))
        lines[at] = b"|".join(fields)
    else:
        begin = _place(lines[at], rng)
        lines[at] = lines[at][:begin] + value[:10] + lines[at][begin + len(value[:10]) :]
    return b"\n".join(lines)


BYTES = (one_bit, inserted, cut, without_a_piece, zeroed, repeated, emptied)
LINES = (another_line, another_line_end, another_field, another_field, another_field)


def another_json(content, rng):
    try:
        values = json.loads(content)
    except (ValueError, RecursionError):
        return one_bit(content, rng)
    if not isinstance(values, dict) or not values:
        return one_bit(content, rng)
    key = rng.choice(sorted(values))
    which = rng.randrange(6)
    if which == 0:
        del values[key]
    elif which == 1:
        values[rng.choice((key.upper(), key + "_x", "", "privacy_budget_p_level_3_usa"))] = rng.choice(_JSON_VALUES)
    elif which == 2 and isinstance(values[key], dict):
        values[key][rng.choice(sorted(values[key]))] = rng.choice(_JSON_VALUES)
    elif which == 3:
        return content.replace(b"{", f'{{"{key}": {json.dumps(rng.choice(_JSON_VALUES))},'.encode(), 1)  # a key twice
    elif which == 4:
        depth = rng.choice((50, 5_000, 200_000))
        return content.replace(b"{", b'{"deep": ' + b"[" * depth + b"]" * depth + b",", 1)
    else:
        values[key] = rng.choice(_JSON_VALUES)
    return json.dumps(values).encode()


def _typed(column, rng):
    names = str.split("int8 int32 int64 uint64 float64 large_string binary bool date32 null string_view")
    return column.cast(rng.choice([*names, pa.decimal128(20, 2), pa.dictionary(pa.int32(), pa.string())]))


def another_table(path, rng):
    """A valid Parquet file with other values, types, columns or encodings; a damaged one gets another bit."""
    options = {}
    try:
        table = pq.read_table(path, partitioning=None)
    except (pa.ArrowException, OSError):
        path.write_bytes(one_bit(path.read_bytes(), rng))
        return
    name = rng.choice(table.column_names)
    at, which = table.column_names.index(name), rng.randrange(7)
    try:
        if which == 0:
            table = table.set_column(at, name, _typed(table[name], rng))
        elif which == 1:
            values = table[name].to_pylist()
            values[rng.randrange(len(values))] = rng.choice(
                (None, rng.choice(values), *(_FIELDS if isinstance(values[0], str) else (-1, 0, 3, 64, 10**9)))
            )
            table = table.set_column(at, name, pa.array(values))
        elif which == 2:
            table = table.drop_columns([name])
        elif which == 3:
            table = table.rename_columns(
                [rng.choice((one.lower(), one + " ", "")) if one == name else one for one in table.column_names]
            )
        elif which == 4:
            table = table.append_column(rng.choice((name, name.lower(), "more")), table[name])
        elif which == 5:
            table = table.slice(0, rng.choice((0, 1, len(table))))
        else:
            encoding = rng.choice(("DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "PLAIN"))
            options = {"use_dictionary": False, "column_encoding": encoding}
        compression = rng.choice(("snappy", "zstd", "gzip", "none", "lz4", "brotli"))
        sink = pa.BufferOutputStream()  # a file that can't be written would be removed
        pq.write_table(table, sink, compression=compression, data_page_version=rng.choice(("1.0", "2.0")), **options)
        path.write_bytes(sink.getvalue())
    except (pa.ArrowException, OSError, ValueError, TypeError, OverflowError):
        path.write_bytes(one_bit(path.read_bytes(), rng))


def another_kind_of_file(path, rng):
    content = path.read_bytes()
    path.unlink()
    which = rng.randrange(6)
    if which == 0:
        path.mkdir()
    elif which == 1:
        os.mkfifo(path)
    elif which == 2:
        path.symlink_to(path.name)
    elif which == 3:
        path.symlink_to(path.parent / "nothing")
    elif which == 4:
        (path.parent / f".{path.name}").write_bytes(content)
        path.symlink_to(f".{path.name}")


def mutate(path, rng, *, is_confidential):
    """Damages a file in place; gives the name of what was done."""
    if rng.random() < 0.02:
        another_kind_of_file(path, rng)
        return "another_kind_of_file"
    if path.suffix == ".parquet" and rng.random() < 0.6:
        another_table(path, rng)
        return "another_table"
    content, is_gzipped = path.read_bytes(), path.suffix == ".gz" and rng.random() < 0.5
    mutation = _chosen(path, content, rng)
    try:
        text = gzip.decompress(content) if is_gzipped else content
    except (OSError, EOFError, zlib.error):
        text, is_gzipped = content, False
    damaged = mutation(text, rng)
    if not is_confidential:
        damaged = damaged.replace(SECRET.encode(), b"7")
    path.write_bytes(gzip.compress(damaged, mtime=0) if is_gzipped else damaged)
    return mutation.__name__


def _chosen(path, content, rng):
    if path.suffix == ".parquet" or not content:
        return rng.choice(BYTES)
    if path.suffix == ".json" and rng.random() < 0.7:
        return another_json
    return rng.choice(LINES) if rng.random() < 0.6 else rng.choice(BYTES)
