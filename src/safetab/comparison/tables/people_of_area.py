"""The synthetic people of one area, in an order that the records alone decide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from safetab.census.area_levels import AreaLevel
from safetab.comparison.tables.exact_tables import Int64s, UInt64s, numbered_keys
from safetab.engines.encoding import Encoding
from safetab.engines.local.counter import RecordCounter
from safetab.engines.patterns import IterationLists


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PeopleOfArea:
    """The atom, the pattern of codes and the attribute of each person; `lists` has each pattern's iterations."""

    atoms: Int64s
    patterns: Int64s
    attributes: Int64s
    lists: IterationLists
    encoding: Encoding

    def __len__(self) -> int:
        return len(self.atoms)

    def keys(self, seed: int) -> UInt64s:
        """A record key for each person: a function of the seed and of the person's place among them."""
        return numbered_keys(np.arange(len(self), dtype=np.uint64), seed)

    def members(self, iterations: Int64s) -> tuple[Int64s, Int64s]:
        """The people in these iterations (numbers of the encoding), and the position of each one's iteration.

        Somebody in several of them appears several times.
        """
        position = np.full(len(self.encoding.iteration_number), -1, dtype=np.int64)
        position[iterations] = np.arange(len(iterations))
        sizes = np.diff(self.lists.starts)[self.patterns]
        person = np.repeat(np.arange(len(self)), sizes)
        first = np.repeat(self.lists.starts[self.patterns] - np.cumsum(sizes) + sizes, sizes)
        of_person = position[self.lists.iterations[first + np.arange(len(person))]]
        is_wanted = of_person >= 0
        return person[is_wanted], of_person[is_wanted]


def people_of_area(engine: RecordCounter, geography: AreaLevel, entity: int) -> PeopleOfArea:
    """The people in one entity of an area level, after the engine has counted."""
    encoding, parts = engine.encoded
    entity_of_atom = encoding.entity_of_atom(geography)
    nobody = np.empty(0, dtype=np.int64)
    atoms, patterns, attributes = [nobody], [nobody], [nobody]
    for part in parts:
        records = part.records
        for atom in np.flatnonzero(entity_of_atom[part.atoms] == entity).tolist():
            runs = slice(*records.run_starts[atom : atom + 2].tolist())
            people = slice(*records.starts[atom : atom + 2].tolist())
            attributes.append(records.attributes[people].astype(np.int64))
            patterns.append(np.repeat(records.run_patterns[runs], records.run_sizes[runs]))
            atoms.append(np.full(people.stop - people.start, part.atoms.start + atom, dtype=np.int64))
    met, place = np.unique(np.concatenate(patterns), return_inverse=True)
    # patterns are numbered in the order in which threads meet them; their codes are always the same
    rank = np.empty(len(met), dtype=np.int64)
    rank[np.lexsort(encoding.patterns.codes[met].T)] = np.arange(len(met))
    of_person, attribute = np.concatenate(atoms), np.concatenate(attributes)
    order = np.lexsort((attribute, rank[place], of_person))
    return PeopleOfArea(of_person[order], place[order], attribute[order], encoding.lists_of(met), encoding)
