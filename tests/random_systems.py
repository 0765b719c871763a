"""Small systems of numbers: tracts with sex by age cells, places that cross them, and the county above."""

from itertools import chain

import numpy as np

from tests.inside import ExactTables, Rows, System, Windows

EVERYBODY = 1000


def tables_of(counts, rows):
    numbers = len(rows)
    return ExactTables(
        counts, np.zeros(numbers, np.uint64), np.full(numbers, counts.max()), np.full(numbers, EVERYBODY), rows
    )


def system_of(truth, numbers, leaves=()):
    """A group with these true counts, whose numbers are these sums of them."""
    unknowns, rows = np.array(truth, int), Rows.of_lists(numbers)
    exact = tables_of(rows.sums(unknowns), rows)
    nothing = np.zeros(len(rows), int)
    expected, most = unknowns.astype(float), np.full(len(rows), EVERYBODY)
    return System("1", "a group", unknowns, expected, exact, nothing, nothing, nothing, most, np.array([*leaves], int))


def random_system(rng, tracts=4, cells=4, crossed=True):
    """Tracts, places that each take a part of a tract or more, and a county: totals, sexes and cells of each."""
    atoms = [(tract, place) for tract in range(tracts) for place in range(2 if crossed else 1)]
    truth = rng.poisson(rng.gamma(0.3, 4.0, size=(len(atoms), 1)) * rng.uniform(0.1, 1, size=cells)).ravel()
    numbers = []
    leaves = []

    def add_area(inside):
        by_cell = [[atom * cells + cell for atom in inside] for cell in range(cells)]
        half = cells // 2
        numbers.extend([[*chain(*by_cell)], [*chain(*by_cell[:half])], [*chain(*by_cell[half:])], *by_cell])
        return list(range(len(numbers) - cells, len(numbers)))

    add_area(list(range(len(atoms))))
    for tract in range(tracts):
        leaves += add_area([at for at, atom in enumerate(atoms) if atom[0] == tract])
    if crossed:
        add_area([at for at, atom in enumerate(atoms) if atom[1] == 0])
    return system_of(truth.tolist(), numbers, leaves)


def windows_of(possible):
    """Each number has one of the listed true counts; None tells nothing."""
    firsts, logs = [], []
    for values in possible:
        listed = sorted(values) if values is not None else []
        firsts.append(listed[0] if listed else 0)
        logs.append([0.0 if count in listed else -np.inf for count in range(firsts[-1], (listed or [-1])[-1] + 1)])
    starts = np.cumsum([0, *map(len, logs)], dtype=np.int64)
    return Windows(np.array(firsts, int), starts, np.array([*chain(*logs)], float))
