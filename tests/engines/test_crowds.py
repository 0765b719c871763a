"""Records that are all alike, in the first area, and with all eight answers, are counted as a judge counts them."""

import pytest

from tests.inside import counter_module
from tests.specified.agreement import differences
from tests.worlds.specified.small_world import census_of, nz_keys, row_of

SMALL_CROWDS = (1, 255, 1_001, 2_049)
LARGE_CROWDS = (32_768, 70_000)  # beyond 16 bits; what compiles the loops takes seconds
CODES_HEADER = "code,name,level1,level1_name,level2,level2_name\n"
CODES = ("11111", "12411", "21111", "31111")


def crowds_are_counted(sizes, folder):
    rows = [row_of(ETH1=code) for code, size in zip(CODES, sizes, strict=False) for _ in range(size)]
    assert differences(*census_of(folder / "crowds", rows, ending=".parquet")) == []


def small_crowds_are_counted(folder):
    crowds_are_counted(SMALL_CROWDS, folder)


def test_small_crowds_are_counted(tmp_path):
    small_crowds_are_counted(tmp_path)


@pytest.mark.slow
def test_large_crowds_are_counted(tmp_path):
    crowds_are_counted(LARGE_CROWDS, tmp_path)


def sparse_and_dense_totals_are_right_in_every_area(folder, patch):
    """The first area, whose groups have the first numbers, has records too."""
    areas = [f"700000{number}" for number in (1, 2, 3, 4)]
    rows = [row_of(SA1=area, ETH1="31111", ETH2=code) for area in areas for code in CODES[:2]]
    world = census_of(folder, [row for number, row in enumerate(rows, start=1) for _ in range(number)])
    for cells in (-1, 1 << 40):
        patch.setattr(counter_module, "_CELLS_OF_A_COUNT", cells)
        assert differences(*world) == []


def test_sparse_and_dense_totals_are_right_in_every_area(tmp_path, monkeypatch):
    sparse_and_dense_totals_are_right_in_every_area(tmp_path, monkeypatch)


def all_eight_answers_count(folder):
    """With and without a gap at each place, whether or not answers may be skipped."""
    names = [f"ETH{place}" for place in range(1, 9)]
    codes = [f"{place}1111" for place in range(1, 9)]
    listed = "".join(f"{code},{code},{code[0]},one,{code[:2]},two\n" for code in codes)
    for rule in ("error", "skipped"):
        keys, answers = nz_keys(), dict(zip(names, codes, strict=True))
        keys["records"]["fields"][4:] = [{"name": name, "type": "string"} for name in names]
        keys["classifications"]["ethnicity"] |= {"columns": names, "gaps": rule, "required": False}
        rows = [row_of(**answers), *(row_of(**answers | {name: ""}) for name in names if rule == "skipped")]
        assert differences(*census_of(folder / rule, rows, keys, ethnicity=CODES_HEADER + listed)) == []


def test_all_eight_answers_count(tmp_path):
    all_eight_answers_count(tmp_path)
