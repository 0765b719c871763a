"""Random tables of areas against plain Python, which looks at one area after the other."""

import random
from dataclasses import replace
from itertools import compress

import numpy as np
import pytest

from tests.inside import (
    NO_ENTITY,
    AreaKind,
    AreaLevel,
    Areas,
    CharacteristicIteration,
    Classification,
    DigitIds,
    GroupKind,
    GroupLevel,
    GroupList,
    GroupUniverse,
    Members,
    Pass,
    PopulationGroupLevel,
    TextIds,
)
from tests.seeds import seeds

NOWHERE = ("", "none")
LETTERS = ["a", "B", "é", "ß", "Ω", "0", "~", " "]
LEVEL = GroupLevel(1, "Groups")
GROUP_KIND = GroupKind("any", "Any", Classification("codes", ("CODE",)), Members.ANY, (), ())
GROUPS = tuple(
    CharacteristicIteration(code, code, LEVEL, GROUP_KIND, GroupList("all", ())) for code in ("1000", "2000")
)

Row = dict[str, str]  # the id of the area, by "", and of its entity of each kind
Table = list[Row]


def random_table(rng):
    """Up to 40 areas in 2 to 5 kinds. Kinds nest or cross; some areas lie nowhere; ids are texts or digits."""
    areas, names = rng.randint(1, 40), ["part", "b", "c", "d", "e"][: rng.randint(2, 5)]
    pools, of_digits = {}, {}
    for name in ("", *names):
        count = areas if not name else rng.randint(1, 8)
        of_digits[name] = rng.random() < 0.4
        numbers = rng.sample(range(1000), count)
        pools[name] = [f"{number:03d}" if of_digits[name] else rng.choice(LETTERS) + str(number) for number in numbers]
    inside = {name: {one: rng.choice(pools[names[at - 1]]) for one in pools[name]} for at, name in enumerate(names)}
    nests = {name: at > 0 and rng.random() < 0.5 for at, name in enumerate(names)}
    table = list[Row]()
    for area in pools[""]:
        row = {"": area} | {name: rng.choice([*pools[name], *NOWHERE[: rng.randint(0, 2)]]) for name in names}
        for name, coarser in reversed(list(zip(names[1:], names[:-1], strict=True))):
            if nests[name] and row[name] not in NOWHERE:
                row[coarser] = inside[name][row[name]]
        table.append(row)
    texts = {name: tuple(entities_by_hand(table, name)) for name in ("", *names)}
    ids = {name: DigitIds(3) if of_digits[name] else TextIds(texts[name]) for name in texts}
    kinds = {name: AreaKind(name, name, name, name, ids[name], None, False) for name in names}
    return table, kinds, ids[""]


def in_order(table):
    return sorted(table, key=lambda row: row[""].encode())


def areas_of(table, kinds, ids):
    rows = in_order(table)
    texts = {kind: [row[kind.name] for row in rows] for kind in kinds.values()}
    number_of = {
        kind: np.array([NO_ENTITY if text in NOWHERE else kind.ids.number(text) for text in of_rows])
        for kind, of_rows in texts.items()
    }
    return Areas.of_numbers(np.array([ids.number(row[""]) for row in rows]), number_of, kinds["part"])


def entities_by_hand(table, name):
    return sorted({row[name] for row in table} - set(NOWHERE), key=str.encode)


def entity_of(row, name):
    return None if row[name] in NOWHERE else row[name]


def texts_of(areas, kind):
    return [kind.ids.text(number) for number in areas.entities(kind).tolist()]


def parent_by_hand(table, name, entity, coarser):
    around = {row[coarser] for row in table if row[name] == entity}
    return next(iter(around)) if len(around) == 1 and not around & set(NOWHERE) else None


def assert_is(areas, table, kinds, ids):
    table = in_order(table)
    assert [ids.text(number) for number in areas.smallest.tolist()] == [row[""] for row in table]
    for name, kind in kinds.items():
        entities = entities_by_hand(table, name)
        assert texts_of(areas, kind) == entities
        numbers = areas.number_of_area(kind).tolist()
        lies_in = [None if number == NO_ENTITY else kind.ids.text(number) for number in numbers]
        assert lies_in == [entity_of(row, name) for row in table]
        for coarser in kinds.values():
            outer = texts_of(areas, coarser)
            parents = [None if at == NO_ENTITY else outer[at] for at in areas.parents(kind, coarser).tolist()]
            assert parents == [parent_by_hand(table, name, one, coarser.name) for one in entities]
        level = PopulationGroupLevel(AreaLevel(name, 0, Pass("all", "All"), kind, name), LEVEL)
        universe = GroupUniverse(level, areas.entities(kind), GROUPS)
        groups = [universe.group_at(index) for index in range(universe.size)]
        by_hand = [(entity, group.code) for entity in entities for group in GROUPS]
        assert [(group.region_id, group.iteration.code) for group in groups] == by_hand
    assert_atoms_are(areas, table, kinds)


def assert_atoms_are(areas, table, kinds):
    """Areas share an atom exactly if they share all entities; the atoms of a part are neighbours."""
    atoms = areas.atoms()
    shared = [tuple(entity_of(row, name) for name in kinds) for row in table]
    pairs = set(zip(shared, atoms.atom_of_area.tolist(), strict=True))
    assert len(pairs) == len(set(shared)) == atoms.count
    for entities, atom in pairs:
        for entity, (name, kind) in zip(entities, kinds.items(), strict=True):
            position = int(atoms.positions(kind)[atom])
            assert (None if position == NO_ENTITY else entities_by_hand(table, name)[position]) == entity
    assert (np.diff(atoms.part_of_atom) >= 0).all()


@pytest.mark.parametrize("seed", seeds(40, 200))
def test_a_table_says_what_its_rows_say(seed):
    rng = random.Random(seed)
    table, kinds, ids = random_table(rng)
    areas = areas_of(table, kinds, ids)
    assert_is(areas, table, kinds, ids)
    wanted = [part for part in entities_by_hand(table, "part") if rng.random() < 0.6]
    of_parts = areas.of_parts(map(kinds["part"].ids.number, wanted))
    assert_is(of_parts, [row for row in table if row["part"] in wanted], kinds, ids)
    is_kept = np.array([rng.random() < 0.7 for _ in table])
    assert_is(areas.chosen(is_kept), [*compress(in_order(table), is_kept)], kinds, ids)


@pytest.mark.parametrize("seed", seeds(15, 60))
def test_a_declared_parent_that_the_rows_deny_is_refused(seed):
    rng = random.Random(seed)
    table, kinds, ids = random_table(rng)
    inner, outer = rng.sample(list(kinds), 2)
    kinds[inner] = replace(kinds[inner], parent=kinds[outer])
    parents = [parent_by_hand(table, inner, one, outer) for one in entities_by_hand(table, inner)]
    if None in parents:
        with pytest.raises(ValueError, match=f"not every {inner} lies in one {outer}"):
            areas_of(table, kinds, ids)
    else:
        assert_is(areas_of(table, kinds, ids), table, kinds, ids)


def test_parts_that_are_neighbours_are_not_copied():
    part = AreaKind("part", "part", "parts", "Part", DigitIds(1), None, False)
    areas = Areas.of_numbers(np.arange(6), {part: np.array([1, 1, 2, 2, 3, 3])}, part)
    assert np.shares_memory(areas.of_parts([2, 3]).smallest, areas.smallest)
    assert areas.of_parts([1, 3]).smallest.tolist() == [0, 1, 4, 5]
