import gzip

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq
import pytest

from tests.cases import cases_of
from tests.inside import AIANNH, NATION, NO_ENTITY, PLACE, STATE, US, BatchSizes, read_geography, text_tables_module

COLUMNS, *BLOCKS = cases_of(
    """
    TABBLKST | TABBLKCOU | TABTRACTCE | TABBLK | PLACEFP | AIANNHCE
    44 | 007 | 000101 | 1000 | 59000 | 9999
    01 | 001 | 000001 | 0002 | 99999 | 0001
    01 | 001 | 000001 | 0001 | 22800 | 9999
    72 | 031 | 050901 | 2040 | 99999 | 9999
    02 | 001 | 000001 | 0001 | 22800 | 0001
    """
)


def text(blocks):
    return "\n".join("|".join(row) for row in [COLUMNS, *blocks]) + "\n"


def write_text(folder):
    (folder / "GRF-C.txt").write_text(text(BLOCKS))


def write_more_columns(folder):
    lines = ["OIDTABBLK|" + "|".join(COLUMNS).replace("|PLACEFP", "|UR|PLACEFP") + "|LAST"]
    lines += ["1|" + "|".join([*row[:4], '"', *row[4:]]) + "|x" for row in BLOCKS]
    (folder / "GRF-C.txt").write_text("\n".join(lines))


def write_gzip(folder):
    (folder / "GRF-C.txt.gz").write_bytes(gzip.compress(text(BLOCKS).encode()))


def write_folder(folder):
    (folder / "GRF-C").mkdir()
    (folder / "GRF-C/_SUCCESS").touch()
    for name, blocks in ("a", BLOCKS[:2]), ("b", BLOCKS[2:]):
        (folder / f"GRF-C/{name}.txt").write_text(text(blocks))


def in_parquet(of_column, **more):
    """Writes columns as they are made of their texts, after others."""

    def write(folder):
        columns = zip(COLUMNS, zip(*BLOCKS, strict=True), strict=True)
        pq.write_table(pa.table(more | {name: of_column(texts) for name, texts in columns}), folder / "GRF-C.parquet")

    return write


@pytest.mark.parametrize(
    "write",
    [
        write_text,
        write_more_columns,
        write_gzip,
        write_folder,
        in_parquet(pa.array, MORE=[0] * len(BLOCKS)),
        in_parquet(lambda texts: pa.array(map(int, texts), pa.int32())),
        in_parquet(lambda texts: pa.array(texts).dictionary_encode()),
        in_parquet(lambda texts: pa.array(texts, pa.string_view())),
    ],
)
def test_every_form_gives_the_same_geography(write, tmp_path):
    write(tmp_path)
    checked = read_geography(tmp_path)
    geography = checked.require()
    assert checked.findings == ()
    blocks = [10010000010001, 10010000010002, 20010000010001, 440070001011000, 720310509012040]
    assert geography.smallest.tolist() == blocks
    assert geography.number_of_area(PLACE).tolist() == [122800, NO_ENTITY, 222800, 4459000, NO_ENTITY]
    assert geography.number_of_area(AIANNH).tolist() == [NO_ENTITY, 1, 1, NO_ENTITY, NO_ENTITY]


def test_batches_do_not_change_what_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(text_tables_module.whole_lines, "__defaults__", (BatchSizes(text_bytes=80),))
    blocks = [f"44|007|000101|{block:04d}|59000|9999".split("|") for block in range(500)]
    (tmp_path / "GRF-C.txt").write_text(text(blocks) + "\n" * 300)
    assert read_geography(tmp_path).require().smallest.tolist() == [440070001010000 + block for block in range(500)]
    (tmp_path / "GRF-C.txt").write_text(text(blocks[:-1]) + "\n" * 300 + "44|007|000101|9999|59000|9999\n")
    (finding,) = read_geography(tmp_path).findings
    assert finding.message.startswith("blank lines are only allowed at the end: line 501, line 502")
    assert pacsv.ReadOptions().block_size > 80


@pytest.fixture
def geography(tmp_path):
    write_text(tmp_path)
    return read_geography(tmp_path).require()


IDS = """
nation | 1
state | 01 02 44
county | 01001 02001 44007
tract | 01001000001 02001000001 44007000101
place | 0122800 0222800 4459000
aiannh | 0001
"""
"""The last crosses a state line."""


def test_entities_are_listed_once_in_order(geography):
    us = geography.of_parts([1, 2, 44])
    ids = {kind.name: " ".join(map(kind.ids.text, us.entities(kind).tolist())) for kind in US.kinds}
    assert ids == dict(cases_of(IDS))


def test_a_pass_sees_the_blocks_of_its_states_alone(geography):
    puerto_rico = geography.of_parts([72])
    assert puerto_rico.smallest.tolist() == [720310509012040]
    assert puerto_rico.entities(PLACE).tolist() == []
    assert geography.of_parts([5]).entities(NATION).tolist() == []


def test_which_kinds_cross_state_lines_follows_from_the_table(geography):
    for states, crossing in ([1, 2, 44], [NATION, AIANNH]), ([2], []):
        parents = {kind: geography.of_parts(states).parents(kind, STATE) for kind in US.kinds}
        assert [kind for kind, of_kind in parents.items() if (of_kind == NO_ENTITY).any()] == crossing
    assert all((of_kind == 0).all() for of_kind in parents.values())


def test_small_areas_suppress():
    assert [kind.name for kind in US.kinds if kind.suppresses] == ["county", "tract", "place", "aiannh"]
