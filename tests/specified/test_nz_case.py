"""The New Zealand-shaped case: 82,080 totals, natively, equal a plain count."""

import pytest

from tests.conftest import SHARED
from tests.specified.agreement import differences
from tests.specified.judge import Judge
from tests.worlds.specified.nz_case import TOTALS, write_nz_case

SHARED_CASE = SHARED / "census" / "nz-ethnicity" / "census.toml"
SHARED_MARKS = [pytest.mark.needs_2020_files]


@pytest.fixture(scope="module", params=["own", pytest.param("shared", marks=SHARED_MARKS)])
def case(request, tmp_path_factory):
    """Parameters and data; not to be changed."""
    world = write_nz_case(tmp_path_factory.mktemp("nz"), None)
    if request.param == "shared":
        (world.parameters / "census.toml").write_bytes(SHARED_CASE.read_bytes())
    return world


@pytest.fixture(scope="module")
def judge(case):
    return Judge(*case)


def test_areas_times_groups_are_the_totals(judge):
    universes = [judge.universe(triple.groups, judge.label(triple.label)) for triple in judge.triples]
    assert sum(len(ids) * len(codes) for ids, codes in universes) == TOTALS


own_by_day = pytest.mark.parametrize(
    "case", ["own", pytest.param("shared", marks=[*SHARED_MARKS, pytest.mark.slow])], indirect=True
)


@own_by_day
def test_a_person_is_in_at_most_six_groups_of_a_level_with_and_without_only(judge):
    for level in ("level 1", "level 2", "level 3"):
        assert judge.stability(level, judge.label("sa2")) == 6
        assert judge.most_groups_of_a_record(level, judge.label("nation")) in {4, 5, 6}


@own_by_day
def test_every_total_and_every_cell_equals_the_plain_count(case, judge):
    assert differences(*case, judge) == []
