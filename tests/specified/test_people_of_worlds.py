"""The people made up for any specification pass `validate`, and the judge finds nothing to object to either."""

import pytest

from tests.inside import NoProgress, PeopleRequest, RunOptions, validate_files, write_people
from tests.specified.judge import Judge

WORLDS = range(100)
EVERY_DAY = WORLDS[:3]


@pytest.mark.parametrize("seed", [pytest.param(n, marks=() if n in EVERY_DAY else pytest.mark.slow) for n in WORLDS])
def test_made_up_people_are_valid(seed, foreign, tmp_path):
    world = foreign(seed)
    for form in ("parquet", "text"):
        data = tmp_path / form
        data.mkdir()
        plan = PeopleRequest(world.parameters, 300, seed, is_text=form == "text").checked().require()
        write_people(data, plan, NoProgress())
        validate_files(world.parameters, data, RunOptions.of(), NoProgress())
        judge = Judge(world.parameters, data)
        assert len(judge.rows) == 300
        assert not judge.broken
