from safetab.tuning import tuning_of
from tests.cases import values_of
from tests.inside import _scaled, group_sizes


def test_made_up_sizes_are_those_of_as_many_possible_groups_as_the_levels_have():
    facts = tuning_of().require().facts
    found = group_sizes(facts)
    assert found["people"] == 334_735_155
    for level, sizes in facts.items():
        kinds = found["levels"][f"{level.geography.label},{level.iterations.number}"]
        assert sum(kind["possible"] for kind in kinds.values()) == sizes.groups
        for kind in kinds.values():
            assert sum(groups for _, groups in kind["sizes"]) <= kind["possible"]
            assert all(size > 0 and groups > 0 for size, groups in kind["sizes"])
    counties = dict(found["levels"]["COUNTY,2"]["adaptive"]["sizes"])
    assert 0.1 < sum(counties.values()) / 6_757_450 < 0.2  # about one in eight has somebody


def test_a_distribution_keeps_its_shape_over_another_number_of_groups():
    sizes = [(1, 60), (5, 30), (100, 1)]
    for groups, scaled in values_of(
        """
        200 | [(100, 1), (5, 30), (1, 60)]
        2000 | [(100, 10), (5, 300), (1, 600)]
        20 | [(5, 3), (1, 6)]  # a tenth of one group rounds to none
        0 | []
        """
    ):
        assert list(_scaled(sizes, 200, groups)) == scaled
