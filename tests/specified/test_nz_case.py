"""The New Zealand-shaped case: 82,080 totals, natively, equal a plain count."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from tests.conftest import SHARED
from tests.specified.agreement import differences, engine_of, inputs_of
from tests.specified.judge import Judge
from tests.worlds.specified.nz_case import TOTALS, write_nz_case

SHARED_CASE = SHARED / "census" / "nz-ethnicity" / "census.toml"
Case = tuple[Path, Path]


@pytest.fixture(scope="module", params=["own", pytest.param("shared", marks=pytest.mark.needs_2020_files)])
def case(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    """Parameters and data; not to be changed."""
    parameters, data = write_nz_case(tmp_path_factory.mktemp("nz"), None)
    if request.param == "shared":
        (parameters / "census.toml").write_bytes(SHARED_CASE.read_bytes())
    return parameters, data


@pytest.fixture(scope="module")
def judge(case: Case) -> Judge:
    return Judge(*case)


def test_areas_times_groups_are_the_totals(judge):
    sizes = []
    for triple in judge.triples:
        ids, codes = judge.universe(triple.groups, judge.label(triple.label))
        sizes.append(len(ids) * len(codes))
    assert sum(sizes) == TOTALS


def test_a_person_is_in_at_most_six_groups_of_a_level_with_and_without_only(judge):
    for level in ("level 1", "level 2", "level 3"):
        assert judge.stability(level, judge.label("sa2")) == 6
        assert judge.most_groups_of_a_record(level, judge.label("nation")) in {4, 5, 6}


def test_every_total_and_every_cell_equals_the_plain_count(case):
    assert differences(*case) == []


@pytest.mark.slow
def test_every_group_of_the_universe_has_the_plain_total(case, judge, tmp_path):
    inputs, compared = inputs_of(*case), 0
    with closing(engine_of(inputs, tmp_path)) as engine:
        assert engine.check() == ()
        engine.prepare()
        for plan in inputs.plan.levels:
            expected = judge.totals(plan.level.iterations.name, judge.label(plan.level.geography.label))
            totals = engine.totals(plan)
            found = dict(zip(totals.indices.tolist(), totals.confidential_counts[:, 0].tolist(), strict=True))
            for index in range(plan.universe.size):
                group = plan.universe.group_at(index)
                assert found.get(index, 0) == expected.get((group.region_id, group.iteration.code), 0)
                compared += 1
    assert compared == TOTALS
