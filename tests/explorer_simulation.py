"""What the explorer's simulation must expect of a level, by the certified arithmetic of the package."""

from fractions import Fraction
from math import floor

from flint import arb, ctx

from tests.inside import Stage, group_sizes

BITS = 128
FAR = 10**12  # farther than any noise goes


def expected_groups(
    facts,
    tuned,
    totals,
    part,
    people_of_a_record=Fraction(1),
):
    """By the page's name of a number: how many groups on average; `totals` publishes what chooses tables, if not stage 1."""
    level, kinds = tuned.facts.level, ("adaptive", "total_only")
    counted = group_sizes(facts)["levels"][f"{level.geography.label},{level.iterations.number}"]
    found = dict.fromkeys(["absent", "far", "empty", *(f"tables/{n}" for n in range(len(tuned.family.shapes)))], arb(0))
    with ctx.workprec(BITS):
        for kind in kinds:
            if not counted[kind]["possible"]:
                continue
            sizes = dict(counted[kind]["sizes"])
            sizes[0] = counted[kind]["possible"] - sum(sizes.values())
            for size, groups in sizes.items():
                records = round(size / people_of_a_record)
                outcomes = _outcomes(tuned, totals, size, records, part, is_total_only=kind == "total_only")
                published = sum((chance for chance, _ in outcomes), arb(0))
                if size == 0:
                    found["empty"] += groups * published
                    continue
                found["absent"] += groups * (1 - published)
                for number, (chance, near) in enumerate(outcomes):
                    found[f"tables/{number}"] += groups * chance
                    found["far"] += groups * (chance - near)
    return {name: float(number.mid()) for name, number in found.items()}


def _outcomes(tuned, totals, size, records, part, *, is_total_only):
    """For each shape the chance to be published so, and to be published so and near the truth."""
    shapes, nothing = tuned.family.shapes, (arb(0), arb(0))
    most = floor(part * records)
    if totals is None:
        published = _published(tuned.design, size, is_total_only=is_total_only)
        pairs = [
            (chance * _between(noise, least, FAR), chance * _between(noise, max(least, -most), most + 1))
            for chance, noise, least in published
        ]
        return pairs + [nothing] * (len(shapes) - len(pairs))
    limits = [-FAR, *(threshold - size for threshold in tuned.design.thresholds.totals), FAR]
    found = []
    for shape, low, high in zip(shapes, limits, limits[1:], strict=False):
        published = _published(totals.design, size, is_total_only=is_total_only)
        chance = sum((one * _between(noise, max(least, low), high) for one, noise, least in published), arb(0))
        found.append((chance, chance * _between(_noise_of_total(tuned.design, shape), -most, most + 1)))
    return found


def _published(design, size, *, is_total_only):
    """How a total of people can be measured: with which chance, with which noise, and the least noise that is published."""
    if is_total_only:
        return [(arb(1), design.noise(Stage.TOTAL_ONLY), -FAR)]
    threshold = design.suppression_threshold
    least = -FAR if threshold is None else threshold + 1 - size
    return [
        (chance, _noise_of_total(design, shape), least if shape is design.family.total else -FAR)
        for shape, chance in design.shape_chances(size).items()
    ]


def _noise_of_total(design, shape):
    return design.noise(Stage.STAGE_2).sum_of(shape.kind("total").draws)


def _between(noise, at_least, below):
    if at_least >= below:
        return arb(0)
    if below == FAR:
        return arb(1) if at_least == -FAR else noise.tail(at_least)
    return noise.cdf(below - 1) if at_least == -FAR else noise.chance_between(at_least, below)
