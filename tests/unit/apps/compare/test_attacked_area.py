"""The attacked area's numbers are those that the engine counts, and its people have the same order always."""

import numpy as np
import pytest

from tests.inside import ChosenArea, CountedArea, EngineSettings, LocalEngine, PeopleOfArea, people_of_area, read_inputs


def _counted(demo_census, folder, threads):
    folder.mkdir()
    inputs = read_inputs(demo_census / "parameters", demo_census / "data").require()
    engine = LocalEngine(inputs.records, inputs.files, EngineSettings(folder, threads=threads), print)
    engine.check()
    engine.prepare()
    return inputs, engine


@pytest.fixture(scope="module")
def counted(demo_census, tmp_path_factory):
    inputs, engine = _counted(demo_census, tmp_path_factory.mktemp("area") / "records", 2)
    yield inputs, engine
    engine.close()


def _area(counted, tables):
    inputs, engine = counted
    level = next(plan.level.geography for plan in inputs.plan.levels if plan.level.geography.kind.name == "county")
    ids = inputs.files.geography_of_pass[level.tabulation_pass].entities(level.kind)
    entity = int(engine.records_of_areas(level).argmax())
    chosen = ChosenArea(level, entity, "the county", level.kind.ids.text(int(ids[entity])))
    return CountedArea(inputs, people_of_area(engine, level, entity), chosen, tables, seed=7)


@pytest.mark.parametrize("tables", ["as-released", "every-group"])
def test_every_number_is_what_the_engine_counts(counted, tables):
    inputs, engine = counted
    area = _area(counted, tables).area
    plans = {
        plan.level.geography.label: plan for plan in inputs.plan.levels if plan.level.iterations.name == "Detailed"
    }
    totals = {label: engine.totals(plan) for label, plan in plans.items()}
    compared = 0
    for system in area.systems:
        for place, number in enumerate(system.totals.tolist()):
            of = area.areas[int(system.areas[number])]
            plan = plans[area.levels[of.level]]
            index = _index(plan, of.entity, system.iteration)
            assert (
                totals[area.levels[of.level]].of_groups(index).confidential_counts[0, 0] == system.exact.counts[number]
            )
            end = system.totals[place + 1] if place + 1 < len(system.totals) else len(system.lines)
            if end - number > 1 and compared < 10:  # the group has a table here
                shape = plan.family.shapes[1]
                cells = engine.cells(plan, {shape: index})[shape].confidential_counts[0]
                lines = [line for line in shape.lines if line.cells < shape.cells]
                assert system.exact.counts[number + 1 : end].tolist() == [cells[list(line.run)].sum() for line in lines]
                compared += 1
    assert compared


def _index(plan, entity, code):
    position = [iteration.code for iteration in plan.universe.iterations].index(code)
    return plan.universe.index.index_of(np.array([entity]), np.array([position]))


def test_the_design_says_what_a_table_tells(counted):
    for system in _area(counted, "as-released").area.systems:
        assert (system.least <= system.exact.counts).all()
        assert (system.exact.counts <= system.most).all()


def test_a_leaf_is_a_cell_or_a_lone_total_of_a_smallest_area(counted):
    area = _area(counted, "every-group").area
    assert area.levels[area.smallest] == "TRACT"
    for system in area.systems:
        assert {area.areas[place].level for place in system.areas[system.leaves].tolist()} == {area.smallest}
        assert (system.lines[system.leaves] > 0).all()
        assert system.exact.counts[system.leaves].sum() == system.truth.sum(), "the leaves divide the group"
    for system in _area(counted, "as-released").area.systems:
        assert system.exact.counts[system.leaves].sum() == system.truth.sum()


def test_the_people_are_the_same_with_one_thread_and_two(demo_census, counted, tmp_path):
    other = _counted(demo_census, tmp_path / "one", 1)
    one, two = (_area(each, "every-group") for each in (other, counted))
    for mine, theirs in zip(one.area.systems, two.area.systems, strict=True):
        assert mine.exact.keys.tolist() == theirs.exact.keys.tolist()
        assert mine.exact.counts.tolist() == theirs.exact.counts.tolist()
    other[1].close()


def test_the_same_people_recounted_give_the_same_numbers(counted):
    whole = _area(counted, "as-released")
    for system, again in zip(whole.area.systems, whole.recounted(whole.people), strict=True):
        for name in "counts", "keys", "group_totals", "area_people":
            assert getattr(system.exact, name).tolist() == getattr(again, name).tolist()


def test_record_keys_are_uniform_and_depend_on_the_seed():
    """False alarms: about 1e-6 for each of 16 bins, by the normal limit of the binomial."""
    people = PeopleOfArea(*[np.zeros(1 << 16, int)] * 3, lists=None, encoding=None)
    keys = people.keys(3)
    assert len(np.unique(keys)) == len(keys)
    bins = np.bincount((keys >> np.uint64(60)).astype(int), minlength=16)
    assert (np.abs(bins - 4096) < 5 * np.sqrt(4096 * 15 / 16)).all()
    assert (people.keys(4) != keys).all()
