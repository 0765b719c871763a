"""The loops that sort and count encoded persons, on plain integer arrays; compiled for many people.

Persons who share atom and pattern are a run: they differ in their attribute alone, so whatever depends on atom and
pattern is looked up once for all of them. The arrays of `RunsOfPersons` say which runs and persons an atom has.
"""

from __future__ import annotations

import numpy as np

from safetab.engines.local.person_loops import Attributes, Int32s, Int64s

RunsOfPersons = tuple[Int64s, Int64s, Int32s, Int32s, Attributes]
"""Where the persons of each atom begin; where its runs begin; pattern and people of each run; attributes.

The runs of an atom, and the persons of a run, lie one after the other.
"""


def sort_by_atom(
    atoms: Int32s, patterns: Int32s, attributes: Attributes, starts: Int64s, sorted_patterns: Int32s,
    sorted_attributes: Attributes,
) -> None:  # fmt: skip
    """Puts the persons of each atom together: those of atom a are at starts[a] up to starts[a + 1]."""
    for person in range(len(atoms)):
        starts[atoms[person] + 1] += 1
    for atom in range(len(starts) - 1):
        starts[atom + 1] += starts[atom]
    for person in range(len(atoms) - 1, -1, -1):
        atom = atoms[person]
        starts[atom + 1] -= 1
        sorted_patterns[starts[atom + 1]] = patterns[person]
        sorted_attributes[starts[atom + 1]] = attributes[person]
    for atom in range(1, len(starts) - 1):
        starts[atom] = starts[atom + 1]
    starts[len(starts) - 1] = len(atoms)


def group_by_pattern(  # noqa: PLR0913, PLR0917 - a loop to be compiled takes plain arrays
    starts: Int64s, patterns: Int32s, attributes: Attributes, run_of_pattern: Int32s, run_starts: Int64s,
    run_patterns: Int32s, run_people: Int32s, grouped: Attributes,
) -> None:  # fmt: skip
    """Puts the persons of each pattern together, inside their atom: `grouped` has their attributes.

    `run_of_pattern` is -1 for every pattern; `patterns` is overwritten.
    """
    found, most = 0, 0
    for atom in range(len(starts) - 1):
        most = max(most, starts[atom + 1] - starts[atom])
    places = np.empty(most, dtype=np.int64)
    for atom in range(len(starts) - 1):
        run_starts[atom] = first = found
        for person in range(starts[atom], starts[atom + 1]):
            pattern = patterns[person]
            if run_of_pattern[pattern] < first:
                run_of_pattern[pattern] = found
                run_patterns[found] = pattern
                run_people[found] = 0
                found += 1
            run = run_of_pattern[pattern]
            run_people[run] += 1
            patterns[person] = run
        place = starts[atom]
        for run in range(first, found):
            places[run - first] = place
            place += run_people[run]
        for person in range(starts[atom], starts[atom + 1]):
            of_atom = patterns[person] - first
            grouped[places[of_atom]] = attributes[person]
            places[of_atom] += 1
    run_starts[len(starts) - 1] = found


def memberships(run_patterns: Int32s, list_starts: Int64s) -> int:
    """How many iterations all runs have together."""
    count = 0
    for run in range(len(run_patterns)):
        count += list_starts[run_patterns[run] + 1] - list_starts[run_patterns[run]]
    return count


def count_atoms(  # noqa: PLR0913, PLR0917
    persons: RunsOfPersons, list_starts: Int64s, lists: Int32s, counted_starts: Int64s, iterations: Int32s,
    counts: Int32s, counted_at: Int64s,
) -> None:  # fmt: skip
    """Adds every person to each of their iterations, at their atom.

    Atom a has the iterations and counts at counted_starts[a] up to counted_starts[a + 1], in no order. `counted_at` is
    -1 for every iteration.
    """
    _, run_starts, run_patterns, run_people, _ = persons
    found = 0
    for atom in range(len(run_starts) - 1):
        counted_starts[atom] = first = found
        for run in range(run_starts[atom], run_starts[atom + 1]):
            pattern, people = run_patterns[run], run_people[run]
            for position in range(list_starts[pattern], list_starts[pattern + 1]):
                iteration = lists[position]
                if counted_at[iteration] < first:
                    counted_at[iteration] = found
                    iterations[found] = iteration
                    counts[found] = 0
                    found += 1
                counts[counted_at[iteration]] += people
    counted_starts[len(run_starts) - 1] = found


def count_attributes(
    persons: RunsOfPersons, list_starts: Int64s, lists: Int32s, by_pattern: Int32s, by_attribute: Int32s
) -> None:
    """Adds every person to each of their iterations, in the whole state by attribute.

    Those of the patterns that `by_pattern` has a row for are counted in it, and added to their iterations at the end.
    """
    _, _, run_patterns, run_people, attributes = persons
    person = 0
    for run in range(len(run_patterns)):
        pattern, end = run_patterns[run], person + run_people[run]
        if pattern < len(by_pattern):
            for one in range(person, end):
                by_pattern[pattern, attributes[one]] += 1
        else:
            for position in range(list_starts[pattern], list_starts[pattern + 1]):
                for one in range(person, end):
                    by_attribute[lists[position], attributes[one]] += 1
        person = end
    for pattern in range(len(by_pattern)):
        for attribute in range(by_pattern.shape[1]):
            if by_pattern[pattern, attribute]:
                for position in range(list_starts[pattern], list_starts[pattern + 1]):
                    by_attribute[lists[position], attribute] += by_pattern[pattern, attribute]


def add_atoms_to_entities(
    starts: Int64s, iterations: Int32s, counts: Int32s, entity_of_atom: Int64s, position_of_iteration: Int64s,
    totals: Int64s,
) -> None:  # fmt: skip
    """Adds the counts of atoms to those of their entities, for the iterations that a level has."""
    for atom in range(len(starts) - 1):
        entity = entity_of_atom[atom]
        if entity < 0:
            continue
        for counted in range(starts[atom], starts[atom + 1]):
            position = position_of_iteration[iterations[counted]]
            if position >= 0:
                totals[entity, position] += counts[counted]


def add_cells(  # noqa: PLR0913, PLR0917
    row_starts: Int64s, iteration_of_row: Int64s, begins: Int64s, ends: Int64s, atoms: Int64s, persons: RunsOfPersons,
    list_starts: Int64s, lists: Int32s, first_cell: Int64s, shape_of_row: Int64s, cell_of: Int32s,
    row_of_iteration: Int64s, cells: Int64s,
) -> None:  # fmt: skip
    """Adds the persons of some entities to the cells of those of their groups that have a row.

    Entity e has the rows row_starts[e] up to row_starts[e + 1] and the atoms at begins[e] up to ends[e]. A row's cells
    begin at first_cell[row]; cell_of its shape says which of them each attribute value is. `row_of_iteration` is -1
    everywhere, and is so again afterwards.
    """
    starts, run_starts, run_patterns, run_people, attributes = persons
    for entity in range(len(begins)):
        for row in range(row_starts[entity], row_starts[entity + 1]):
            row_of_iteration[iteration_of_row[row]] = row
        for position in range(begins[entity], ends[entity]):
            person = starts[atoms[position]]
            for run in range(run_starts[atoms[position]], run_starts[atoms[position] + 1]):
                pattern, end = run_patterns[run], person + run_people[run]
                for listed in range(list_starts[pattern], list_starts[pattern + 1]):
                    row = row_of_iteration[lists[listed]]
                    if row >= 0:
                        first, shape = first_cell[row], shape_of_row[row]
                        for one in range(person, end):
                            cells[first + cell_of[shape, attributes[one]]] += 1
                person = end
        for row in range(row_starts[entity], row_starts[entity + 1]):
            row_of_iteration[iteration_of_row[row]] = -1
