"""Small attacked areas, what protections tell about them, and every data set that fits, one by one."""

import numpy as np
from numpy.random import default_rng

from tests.counted_census import parsed
from tests.inside import (
    AreaOfLevel,
    AttackedArea,
    ExactTables,
    Known,
    PublishedArea,
    PublishedTables,
    Rows,
    System,
    Windows,
    publish,
    windows_of,
)


def system_of(truth, expected, seed=0):
    """A group in areas (rows of `truth`) and the whole: cells, from 4 cells on two halves, and the total."""
    areas, cells = truth.shape
    half = cells // 2
    lines = (
        [range(cells)] + ([range(half), range(half, cells)] if cells >= 4 else []) + [[cell] for cell in range(cells)]
    )
    inside = [[area] for area in range(areas)] + [range(areas)]
    rows = Rows.of_lists([[area * cells + cell for area in of for cell in line] for of in inside for line in lines])
    counts, positions = rows.sums(truth.ravel()), np.repeat(np.arange(areas + 1), len(lines))
    keys = np.array([default_rng([seed, n]).integers(0, 2**64, dtype=np.uint64) for n in range(truth.size)])
    exact = ExactTables(counts, rows.sums(keys), counts[:: len(lines)][positions], np.full(len(rows), 10_000), rows)
    leaves = np.array([a * len(lines) + len(lines) - cells + cell for a in range(areas) for cell in range(cells)])
    line = np.tile(np.arange(len(lines)), areas + 1)
    wide = np.zeros(len(rows), int), np.full(len(rows), 10_000)
    return System(f"{seed}", f"group {seed}", truth.ravel(), expected.ravel(), exact, positions, line, *wide, leaves)


def area_of(systems, areas, shape):
    parts = tuple(AreaOfLevel(1, n, f"tract {n}", 10_000) for n in range(areas))
    whole = AreaOfLevel(0, 0, "county", 10_000)
    return AttackedArea("county", 10_000, ("county", "tract"), (*parts, whole), ("",), "alone", shape, systems)


def drawn_systems(number, areas, cells, shape, mean, seed):
    """Groups whose true counts come from the attacker's own prior."""
    random = default_rng([seed, areas, cells])
    systems = []
    for place in range(number):
        expected = random.gamma(2, mean / 2, (areas, cells)) + 0.02
        systems.append(system_of(random.negative_binomial(shape, shape / (shape + expected)), expected, place))
    return systems


def noise_windows(noisy, sigma, tells):
    """Noise of a discrete normal shape on the numbers that tell, as its likelihood."""
    lists = [
        [-((count - value) ** 2) / (2 * sigma**2) for count in range(max(value, 0) + 8)] if tells_it else []
        for value, tells_it in zip(noisy.tolist(), tells, strict=True)
    ]
    return Windows(np.zeros(len(lists), int), np.cumsum([0, *map(len, lists)]), np.concatenate([np.zeros(0), *lists]))


def discrete_noise(sigma, size, random):
    values = np.arange(-12, 13)
    chances = np.exp(-(values**2) / (2 * sigma**2))
    return random.choice(values, size, p=chances / chances.sum())


def is_cell(system):
    """Whether each number is a cell's: not a total, not a half's."""
    return system.lines > (2 if system.lines.max() > 3 else 0)


def published(system, spec, seed):
    """One draw of a protection; `noise:1.0` stands for noise on every cell of the areas and of the whole."""
    random = default_rng([seed, 99])
    if spec.startswith("noise:"):
        sigma = float(spec.removeprefix("noise:"))
        noisy = system.exact.counts + discrete_noise(sigma, len(system.lines), random)
        return PublishedTables.of(noisy), noise_windows(noisy, sigma, is_cell(system))
    protection = parsed(spec)
    tables = publish(protection, system.exact, random)
    return tables, windows_of(protection, tables, Known.of(system))


def publication_of(area, spec, seed=1):
    both = [published(system, spec, seed + place) for place, system in enumerate(area.systems)]
    tables, windows = zip(*both, strict=True)
    return PublishedArea(tables, windows, can_be_proven=not spec.startswith("noise"))


def enumerated(system, shape, windows):
    """The exact chances that each number is 1, and at least 1: all data sets, one by one."""
    rows = system.rows
    most = np.full(len(system.expected), 25)
    parts = [rows.members[rows.starts[n] : rows.starts[n + 1]] for n in range(len(rows))]
    for number, members in enumerate(parts):
        first, logs = windows.of(number)
        if len(logs):
            most[members] = np.minimum(most[members], first + len(logs) - 1)
    assert np.prod(most + 1.0) < 3e6, "too many data sets"
    sets = np.indices(most + 1, dtype=np.int16).reshape(len(most), -1)
    logs_of_set = np.zeros(sets.shape[1])
    for unknown, expected in enumerate(system.expected):
        counts = np.arange(1, most[unknown] + 1)
        prior = np.log((counts - 1 + shape) / counts * expected / (expected + shape)).cumsum()
        logs_of_set += np.concatenate([[0.0], prior])[sets[unknown]]
    for number, members in enumerate(parts):
        first, logs = windows.of(number)
        if len(logs):
            at = sets[members].sum(axis=0) - first
            logs_of_set += np.where((at >= 0) & (at < len(logs)), logs[np.clip(at, 0, len(logs) - 1)], -np.inf)
    sets, logs_of_set = sets[:, np.isfinite(logs_of_set)], logs_of_set[np.isfinite(logs_of_set)]
    chances = np.exp(logs_of_set - logs_of_set.max())
    chances /= chances.sum()
    sums = [sets[members].sum(axis=0) for members in parts]
    return np.array([chances @ (n == 1) for n in sums]), np.array([chances @ (n >= 1) for n in sums])
