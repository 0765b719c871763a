"""The sensitivity of random small worlds, against every record that there could be.

What a record changes is computed here from the definitions alone: an any group holds a record that has one of its codes,
an only group one that has codes and no other. All code sets of each classification are combined with all of the others.
"""

import random
from dataclasses import replace
from functools import cache
from itertools import combinations, combinations_with_replacement, permutations, product

import numpy as np
import pytest

from tests.conftest import SMALL_EXAMPLE
from tests.inside import (
    CodeMaps,
    Sensitivity,
    groups_reached,
    iteration_map_of,
    reaching_record,
    read_public_files,
    sensitivity,
)

WORLDS = 1_500


def random_maps(chance, name, most_codes):
    """Any groups, only groups or both, of up to six codes; some codes are in no group."""
    codes = [f"{name}{n}" for n in range(chance.randint(1, most_codes))]
    kinds = chance.choice(["any", "only", "any only"])

    def groups(kind):
        inside = [code for code in codes if kind in kinds and chance.random() < 0.8]
        most = chance.randint(1, 6)
        return {code: f"{name} {kind} {chance.randrange(most)}" for code in inside}

    return CodeMaps(groups("any"), groups("only"), chance.randint(1, 4))


@cache
def worlds():
    chance = random.Random(20200401)
    names = [chance.choice(["a", "ab", "abc"]) for _ in range(WORLDS)]
    return tuple(tuple(random_maps(chance, name, 6) for name in of_world) for of_world in names)


def codes_of(maps):
    return [*sorted({*maps.any_of, *maps.only}), "code of no group"]


def code_sets(maps):
    """Every set of codes that the answers of a record can have, the empty one included."""
    for count in range(maps.most_answers + 1):
        yield from combinations(codes_of(maps), count)


def by_definition(maps):
    """Gives the groups of a set of codes."""
    any_of, only = ({group: members(of, group) for group in of.values()} for of in (maps.any_of, maps.only))

    def groups_of(codes):
        met = {group for group, inside in any_of.items() if not inside.isdisjoint(codes)}
        around = {group for group, inside in only.items() if codes and inside.issuperset(codes)}
        return met | around

    return groups_of


def members(group_of, group):
    return {code for code, of in group_of.items() if of == group}


def changes(maps):
    """The distinct changes of the counts of one classification, one row each, when one record is added."""
    groups = sorted({*maps.any_of.values(), *maps.only.values()})
    found = {frozenset(of_codes) for of_codes in map(by_definition(maps), code_sets(maps))}
    rows = sorted([group in reached for group in groups] for reached in found)
    return np.array(rows, dtype=np.int8).reshape(len(rows), len(groups))


def most_changed(world):
    """The greatest squared L2 norm and L1 norm over every combination of answers to all classifications."""
    joint = np.zeros((1, 0), dtype=np.int8)
    for maps in world:
        more = changes(maps)
        joint = np.hstack([np.repeat(joint, len(more), axis=0), np.tile(more, (len(joint), 1))])
    return Sensitivity(l2_squared=int((joint**2).sum(axis=1).max()), l1=int(abs(joint).sum(axis=1).max()))


@cache
def most_changed_in_worlds():
    return tuple(map(most_changed, worlds()))


def worlds_where_wrong(formula):
    return sum(formula(world) != most for world, most in zip(worlds(), most_changed_in_worlds(), strict=True))


def test_sensitivity_is_the_most_that_any_record_changes():
    assert worlds_where_wrong(sensitivity) == 0


def test_the_worlds_are_of_many_kinds():
    assert {len(world) for world in worlds()} == {1, 2, 3}
    assert {maps.most_answers for world in worlds() for maps in world} == {1, 2, 3, 4}
    assert len({(bool(maps.any_of), bool(maps.only)) for world in worlds() for maps in world}) == 4
    assert {each.l1 for each in most_changed_in_worlds()} >= set(range(10))


def test_a_record_is_in_the_groups_of_the_definition():
    for world in worlds():
        for maps in world:
            groups_of = by_definition(maps)
            assert all(maps.groups_of(codes) == groups_of(codes) for codes in code_sets(maps))


def any_reached_inside(maps):
    """For each only group the number of any groups that its codes are in."""
    inside = (members(maps.only, group) for group in set(maps.only.values()))
    return [len({maps.any_of[code] for code in codes & maps.any_of.keys()}) for codes in inside]


def of_each(most_groups):
    """A sum over classifications, of a formula of m, |B| and every |B(G)|."""

    def formula(world):
        terms = ((each.most_answers, len(set(each.any_of.values())), any_reached_inside(each)) for each in world)
        return Sensitivity.of_groups(sum(most_groups(*term) for term in terms))

    return formula


def largest_classification_alone(world):
    return Sensitivity.of_groups(max(sensitivity([maps]).l1 for maps in world))


def as_for_two_equal_records(world):
    groups = sensitivity(world).l1
    return Sensitivity(l2_squared=4 * groups, l1=2 * groups)


def test_the_formula_is_found_right_when_written_again():
    right = of_each(lambda m, spread, inside: max([min(m, spread), *(1 + min(m, each) for each in inside)]))
    assert worlds_where_wrong(right) == 0


WRONG = {
    "the only group forgotten": lambda m, spread, inside: max([min(m, spread), *(min(m, n) for n in inside)]),
    "only groups left out": lambda m, spread, _: min(m, spread),
    "one answer too few inside": lambda m, spread, inside: max([min(m, spread), *(1 + min(m - 1, n) for n in inside)]),
    "one answer too many": lambda m, spread, inside: max([min(m + 1, spread), *(1 + min(m, n) for n in inside)]),
    "one answer too many inside": lambda m, spread, inside: max([min(m, spread), *(1 + min(m + 1, n) for n in inside)]),
    "the paper's m + 1 everywhere": lambda m, _, inside: m + bool(inside),
    "one more wherever there is an only group": lambda m, spread, inside: min(m, spread) + bool(inside),
    "one for each only group": lambda m, spread, inside: min(m, spread) + len(inside),
}


@pytest.mark.parametrize(
    "wrong", [largest_classification_alone, as_for_two_equal_records, *map(of_each, WRONG.values())]
)
def test_a_wrong_formula_is_rejected(wrong):
    assert worlds_where_wrong(wrong) > WORLDS // 100


def shared_column_worlds():
    """Two classifications that read the same columns, one of them perhaps fewer."""
    chance = random.Random(20300401)
    for _ in range(200):
        yield random_maps(chance, "a", 4), random_maps(chance, "a", 4)


def most_groups_with_shared_columns(world):
    """The answers are given once, in order, and each classification uses the first of them."""
    codes = sorted({code for maps in world for code in codes_of(maps)})
    definitions = [(by_definition(maps), maps.most_answers) for maps in world]
    answers = (given for count in range(5) for given in permutations(codes, count))
    return max(sum(len(groups_of(given[:most])) for groups_of, most in definitions) for given in answers)


def test_sensitivity_is_an_upper_bound_where_classifications_share_columns():
    gaps = [sensitivity(world).l1 - most_groups_with_shared_columns(world) for world in shared_column_worlds()]
    assert min(gaps) == 0
    assert max(gaps) > 0


def sums_of(rows, records):
    """What so many records together can change, of one entity or of several.

    Records of different entities change different counts, so the columns come twice: for two entities.
    """
    two = [np.concatenate(pair) for row in rows for pair in ((row, 0 * row), (0 * row, row))]
    return np.array([sum(chosen) for chosen in combinations_with_replacement(two, records)])


@cache
def units():
    """Small worlds, a number k, and the greatest norms of any k records together."""
    chance = random.Random(20400401)
    found = []
    for world, most in zip(worlds(), most_changed_in_worlds(), strict=True):
        if len(world) > 1 or not most.l1 or len(rows := changes(world[0])) > 12:
            continue
        records = chance.choice([1, 2, 3])
        sums = sums_of(rows, records)
        found.append((world, records, (int((sums**2).sum(axis=1).max()), int(sums.sum(axis=1).max()))))
    return tuple(found)


def units_where_wrong(formula):
    """How often a formula of s and k differs from the two norms."""
    return sum(formula(sensitivity(world).l1, records) != norms for world, records, norms in units())


def test_the_records_of_a_unit_move_counts_by_what_the_sensitivity_says():
    assert len(units()) > 300
    assert {records for _, records, _ in units()} == {1, 2, 3}
    for world, records, norms in units():
        found = sensitivity(world, records)
        assert (found.l2_squared, found.l1, found.groups) == (*norms, sensitivity(world).l1)


def test_a_wrong_formula_of_units_is_rejected():
    assert units_where_wrong(lambda s, k: (k * k * s, k * s)) == 0
    for name, wrong in {
        "k missing": lambda s, _: (s, s),
        "k instead of its square": lambda s, k: (k * s, k * s),
        "the square in both norms": lambda s, k: (k * k * s, k * k * s),
        "k missing in the L1 norm": lambda s, k: (k * k * s, s),
        "s squared": lambda s, k: (k * k * s * s, k * s),
        "k one too small": lambda s, k: ((k - 1) ** 2 * s, (k - 1) * s),
        "k one too large": lambda s, k: ((k + 1) ** 2 * s, (k + 1) * s),
    }.items():
        assert units_where_wrong(wrong) > len(units()) // 10, name


def test_a_changed_unit_moves_counts_by_twice_the_square_of_an_added_one_and_no_more():
    for world, records, norms in units()[:60]:
        sums = sums_of(changes(world[0])[:8], min(records, 2))
        worst = ((sums[:, None] - sums) ** 2).sum(axis=2).max()
        assert worst <= 2 * norms[0]
    for world, records, norms in units():  # all records move from one entity to the other
        most = max(changes(world[0]), key=lambda row: int(row.sum()))
        moved = records * np.concatenate([most, -most]).astype(np.int64)
        assert (int((moved**2).sum()), int(abs(moved).sum())) == (2 * norms[0], 2 * norms[1])


def test_some_record_reaches_the_sensitivity_and_the_answers_are_ones_that_it_may_give():
    for world in worlds():
        answers = reaching_record(world)
        assert groups_reached(world, answers) == sensitivity(world).groups
        for maps, codes in zip(world, answers, strict=True):
            assert len(codes) <= maps.most_answers
            assert set(codes) <= {*maps.any_of, *maps.only}
        assert sensitivity(world).is_exact


def test_where_columns_are_shared_the_record_found_is_one_that_there_can_be():
    columns = ("c1", "c2", "c3", "c4")
    reached = []
    for world in shared_column_worlds():
        shared = [replace(maps, columns=columns[: maps.most_answers]) for maps in world]
        answers = reaching_record(shared)
        given = max(answers, key=len)
        assert all(codes == given[: len(codes)] for codes in answers)  # one column, one answer
        most = most_groups_with_shared_columns(world)
        has_groups = [bool(maps.any_of or maps.only) for maps in world]
        assert sensitivity(shared).is_exact is not all(has_groups)
        assert groups_reached(shared, answers) <= most <= sensitivity(shared).groups
        reached.append(groups_reached(shared, answers) == most)
    assert sum(reached) > 0.9 * len(reached)


def test_random_code_sets_of_real_lists_never_exceed_the_sensitivity():
    files = read_public_files(SMALL_EXAMPLE / "parameters", SMALL_EXAMPLE / "data").require()
    census, chance = files.config.census, random.Random(20500401)
    for level, kind in product(census.tabulated_group_levels, census.grains):
        maps = iteration_map_of(files.lists, level, kind, most_answers=files.config.most_answers).classifications
        codes = [codes_of(each) for each in maps]
        most = sensitivity(maps)
        for _ in range(10_000):
            answers = [chance.choices(of, k=chance.randint(1, 8)) for of in codes]
            assert groups_reached(maps, answers) <= most.groups
        assert groups_reached(maps, reaching_record(maps)) == most.groups


def test_a_level_without_groups_has_no_sensitivity():
    assert not sensitivity([])
    assert not sensitivity([CodeMaps({}, {}, 8)])
    assert Sensitivity(l2_squared=4, l1=2)


@pytest.mark.parametrize(("others", "is_exact"), [(("C",), True), (("A",), False), (("B", "A"), False)])
def test_the_sensitivity_is_exact_unless_two_classifications_share_a_column(others, is_exact):
    of_two_columns = CodeMaps({"a": "group a", "b": "group b"}, {}, 2, ("A", "B"))
    of_others = CodeMaps({"a": "group c"}, {}, len(others), others)
    assert sensitivity([of_two_columns, of_others]).is_exact is is_exact
    of_no_group = CodeMaps({}, {}, len(others), others)
    assert sensitivity([of_two_columns, of_no_group]).is_exact
