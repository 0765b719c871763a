"""Random records of a made-up census, and the forms of file that hold them."""

import gzip
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

DELIMITER = ";"
Record = dict[str, Any]
"""Texts by field; None is missing; a list holds the answers of a list column."""


def make_records(choose, keys, areas, codes):
    """Between 50 and 400 records that keep to every rule."""
    unit = keys["records"].get("unit")
    records, wanted = [], choose.between(50, 400)
    while len(records) < wanted:
        record = {field["name"]: _value(choose, field) for field in keys["records"]["fields"]}
        record |= _area(choose, keys["areas"], areas)
        for each in codes:
            if not (each.columns[0] in record and each.name == "first answer"):
                record |= _answers(choose, each)
        repeats = choose.between(1, unit["most_records"]) if unit else 1
        if unit:
            record[unit["column"]] = f"u{len(records)}"
        records += [dict(record) for _ in range(repeats)]
    return choose.shuffled(records)


def _value(choose, field):
    if "other" in field and choose.quietly(0.2):
        return choose.one([None, "nonsense", "99999", "-77", "1.0", " 1"])
    if field["type"] == "boolean":
        return choose.one(["true", "True", "TRUE", "1", "false", "False", "FALSE", "0"])
    limits = field.get("constraints", {})
    if "categories" in field:
        text = str(choose.one(field["categories"])["value"])
    elif "enum" in limits:
        text = str(choose.one(limits["enum"]))
    elif "minimum" in limits:
        text = str(choose.between(limits["minimum"], limits["maximum"]))
    else:
        return f"x{choose.between(0, 9)}"
    if field["type"] != "integer" or choose.quietly(0.7):
        return text
    sign, digits = ("-", text[1:]) if text[0] == "-" else (choose.one(["", "+"]), text)
    return f"{sign}{choose.one(['', '0', '00'])}{digits}"


def _area(choose, keys, areas):
    texts = list(areas.key_of(choose.one(areas.rows)))
    if "other" in keys and choose.quietly(0.15):
        texts[choose.between(0, len(texts) - 1)] = choose.one([None, "unknown", "E0000", "0"])
    return dict(zip(areas.record_columns, texts, strict=True))


def _answers(choose, codes):
    keys = codes.keys
    most = 8 if codes.is_list else len(codes.columns)
    wanted = choose.one([1, 1, choose.between(1, most), choose.between(1, most)])
    answers = [_code(choose, codes) for _ in range(min(wanted, most))]
    if keys.get("gaps") == "skipped" and not codes.is_list:
        answers = [None if place and choose.quietly(0.2) else text for place, text in enumerate(answers)]
        if not keys.get("required", True) and choose.quietly(0.15):
            answers[0] = None
    if not keys.get("required", True) and choose.quietly(0.15):
        answers = []
    if codes.is_list:
        return {codes.columns[0]: answers}
    return dict(zip(codes.columns, [*answers, *[None] * most], strict=False))


def _code(choose, codes):
    code = choose.one(codes.not_stated if codes.not_stated and choose.quietly(0.15) else codes.said)
    is_cut = len(code) == codes.keys.get("first") and choose.quietly(0.5)
    return code + choose.one([".9", "x", " é"]) if is_cut else code


def write_records(choose, keys, records, data):
    """The file of the records, in one of the forms that they may have."""
    file = keys["file"]
    form = choose.named(csv="csv", txt="txt", csv_gz="csv.gz", tabs="tabs", parquet="parquet", dictionary="dictionary")
    missing = keys.get("missing", [""])
    if form in {"parquet", "dictionary"}:
        table = _arrow(choose, keys, records, is_dictionary=form == "dictionary")
        if choose.chance("folder of parts", 0.25):
            (data / file).mkdir()
            half = len(records) // 2
            pq.write_table(table.slice(0, half), data / file / "part-0.parquet")
            pq.write_table(table.slice(half), data / file / "part-1.parquet")
        else:
            pq.write_table(table, data / f"{file}.parquet", row_group_size=choose.one([40, 1000]))
        return
    separator = {"txt": "|", "tabs": "\t"}.get(form, ",")
    if form == "tabs":
        keys["separator"] = "\t"
    columns = choose.shuffled([field["name"] for field in keys["fields"]])
    lines = [columns]
    for record in records:
        lines.append([_text(choose, record[column], missing) for column in columns])
    end = choose.named(lf="\n", crlf="\r\n")
    text = "".join(separator.join(line) + end for line in lines)
    content = (("\ufeff" if choose.chance("byte-order mark", 0.15) else "") + text).encode()
    ending = {"tabs": "txt"}.get(form, form)
    (data / f"{file}.{ending}").write_bytes(gzip.compress(content) if form == "csv.gz" else content)


def _text(choose, value, missing):
    if isinstance(value, list):
        return DELIMITER.join(value) if value else choose.one(missing)
    return choose.one(missing) if value is None else value


def _arrow(choose, keys, records, *, is_dictionary):
    columns = {}
    for field in choose.shuffled(keys["fields"]):
        values = [record[field["name"]] for record in records]
        if field["type"] == "list" and choose.chance("list<string>", 0.8):
            lists = [None if not value and choose.quietly(0.5) else value for value in values]
            columns[field["name"]] = pa.array(lists, pa.list_(pa.string()))
            continue
        texts = [DELIMITER.join(value) or None if isinstance(value, list) else value for value in values]
        missing = keys.get("missing", [""])
        texts = [choose.one(missing) if text is None and choose.quietly(0.5) else text for text in texts]
        columns[field["name"]] = _typed(choose, field, texts, is_dictionary=is_dictionary)
    columns["not in the specification"] = pa.array([1.5] * len(records))
    return pa.table(columns)


def _typed(choose, field, texts, *, is_dictionary):
    is_plain = "other" not in field and None not in texts
    if field["type"] == "integer" and is_plain and choose.chance("integers of Parquet", 0.5):
        return pa.array([int(text) for text in texts], pa.int16())
    if field["type"] == "boolean" and is_plain and choose.chance("booleans of Parquet", 0.5):
        return pa.array([text.lower() in {"true", "1"} for text in texts], pa.bool_())
    array = pa.array(texts, pa.string())
    return array.dictionary_encode() if is_dictionary and choose.quietly(0.8) else array
