"""Every row of the loss tables of docs/privacy.md, against neighbours in small worlds.

The distances are computed here from the definitions alone: which groups a record is in, which cell it falls into, and how
far the numbers of two neighbouring worlds lie apart. What the program claims comes from its stability, its shapes and its
`JointLoss`, and what the docs claim is read from the tables themselves, so a row without a search fails. Every record
that there could be is added; for changes of several records the costliest and some others are combined in every way.
"""

import random
import re
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations, combinations_with_replacement, islice, pairwise, product
from operator import mul
from pathlib import Path

import pytest

from tests.code_maps import iteration_map
from tests.inside import (
    DETAILED,
    REGIONAL,
    SAFETAB_H,
    SAFETAB_P,
    US,
    US_PASS,
    JointLoss,
    PrivacyDefinition,
    PrivacyLoss,
    Product,
    Selector,
    iteration_map_of,
    loss_of_disjoint_passes,
    production_of_2020,
    read_config,
    read_public_lists,
    sensitivity,
)
from tests.property.test_stability_by_brute_force import iterations_by_definition

ZCDP, PURE = PrivacyDefinition.ZCDP, PrivacyDefinition.PURE_DP
PRIVACY = Path(__file__).parents[2] / "docs" / "privacy.md"
RACES, ETHNICITIES = ["1000", "2000", "3000", "4000"], ["1000", "2000", "9950"]
GAMMA = Fraction(1, 10)
EVERY_GROUP = replace(SAFETAB_P, name="every group", selector=Selector.NONE)
VALUES = {
    SAFETAB_P: [0, 7, 120, 231],
    SAFETAB_H: [0, 5, 11, 18],
    EVERY_GROUP: [0, 7, 120, 231],
}  # attributes that every shape but the total tells apart
KEPT = 12  # records of a pass that changes are made of: the costliest and some others


@dataclass(frozen=True)
class Record:
    part: str  # the pass
    block: str
    races: frozenset[str]
    ethnicity: str
    value: int


@dataclass(frozen=True, eq=False)
class Level:
    part: str
    entity_of_block: dict[str, str]
    maps: tuple[dict[str, str], dict[str, str], dict[str, str]]  # alone, in combination, ethnicity
    max_race_codes: int
    total_only: frozenset[str]
    budgets: tuple[Fraction, ...]  # of each table family

    @cached_property
    def stability(self):
        """As the program computes it."""
        return sensitivity(iteration_map(*self.maps, self.max_race_codes).classifications).l1

    @cache  # noqa: B019 (a level lives as long as the tests)
    def groups_of(self, record):
        if record.part != self.part or record.block not in self.entity_of_block:
            return []
        entity = self.entity_of_block[record.block]
        iterations = iterations_by_definition(*self.maps, set(record.races), record.ethnicity)
        return [(entity, iteration, iteration in self.total_only) for iteration in iterations]

    @cache  # noqa: B019
    def cost(self, made, shifts, definition, is_total_only):
        """The cost of a group, with the noise that its share of the budget buys."""
        return sum(map(mul, cost_of_group(made, shifts, definition, is_total_only), self.budgets)) / self.stability


Change = tuple[tuple[Record, int], ...]  # records that are added (1) and removed (-1)


@dataclass(frozen=True, eq=False)
class World:
    product: Product
    levels: tuple[Level, ...]
    max_race_codes: int

    def budget(self, part):
        """What the product claims to cost a record of this pass."""
        return sum((sum(level.budgets) for level in self.levels if level.part == part), Fraction(0))

    def loss(self, change, definition):
        """By composition: each group's stages with the noise that its share of the budget buys, the worst shapes."""
        whole = Fraction(0)
        for level in self.levels:
            shifts = defaultdict(tuple)
            for record, sign in change:
                for group in level.groups_of(record):
                    shifts[group] += ((record.value, sign),)
            alike = Counter((each, is_total_only) for (*_, is_total_only), each in shifts.items())
            for (each, is_total_only), groups in alike.items():
                whole += groups * level.cost(self.product, each, definition, is_total_only)
        return whole

    def records(self, part):
        """Every record that there could be."""
        blocks = sorted({block for level in self.levels if level.part == part for block in level.entity_of_block})
        counts = range(1, self.max_race_codes + 1)
        races = [frozenset(codes) for count in counts for codes in combinations(RACES, count)]
        for fields in product(blocks, races, ETHNICITIES, VALUES[self.product]):
            yield Record(part, *fields)


@cache
def cost_of_group(made, by_value, definition, is_total_only):
    """For each table family the distance of all that is measured of a group: both stages, with the worst shape."""
    total = distance([sum(shift for _, shift in by_value)], definition)
    if is_total_only:
        return [Fraction(total)] * len(made.families)
    shapes = [[distance(shifted_cells(by_value, shape), definition) for shape in one.shapes] for one in made.families]
    if made.selector is Selector.NOISY_STAGE_1:
        return [GAMMA * total + (1 - GAMMA) * max(distances) for distances in shapes]
    if made.selector is Selector.PUBLISHED_TOTALS:
        return [Fraction(max(distances)) for distances in shapes]
    assert made.selector is Selector.NONE
    return [Fraction(distances[-1]) for distances in shapes]


def distance(shifts, definition):
    """The squared L2 norm, or the L1 norm: what the noise of each definition is calibrated to."""
    return sum(shift**2 if definition is ZCDP else abs(shift) for shift in shifts)


def shifted_cells(by_value, shape):
    cells = Counter()
    for value, shift in by_value:
        cells[shape.cell_of_value[value]] += shift
    return list(cells.values())


# worlds


def random_level(rng, part, made, max_race_codes):
    blocks = [f"{part}-{n}" for n in range(2)]
    maps = tuple(
        {code: f"{kind}{rng.randrange(3)}" for code in codes if rng.random() < 0.8}
        for kind, codes in (("alone ", RACES), ("any ", RACES), ("ethnicity ", ETHNICITIES))
    )
    iterations = sorted({iteration for one in maps for iteration in one.values()})
    has_total_only = made.selector is Selector.NOISY_STAGE_1
    return Level(
        part=part,
        entity_of_block={block: rng.choice("xy") for block in blocks if rng.random() < 0.9},
        maps=maps,
        max_race_codes=max_race_codes,
        total_only=frozenset(one for one in iterations if has_total_only and rng.random() < 0.2),
        budgets=tuple(Fraction(rng.randint(1, 9), 10) for _ in made.families),
    )


@cache
def random_world(made, seed):
    rng = random.Random(seed)
    most = rng.choice([1, 2, 3])
    parts = ["us", "us", "pr"]
    return World(made, tuple(random_level(rng, part, made, most) for part in parts), most)


@cache
def rich_world(made):
    """Every code has iterations of its own, so that neighbours can be as far apart as the proofs say."""

    def level(part, *budgets):
        return Level(
            part=part,
            entity_of_block={f"{part}-0": "x", f"{part}-1": "y"},
            maps=tuple({code: f"{kind} {code}" for code in RACES} for kind in ("alone", "any", "ethnicity")),
            max_race_codes=2,
            total_only=frozenset(),
            budgets=tuple(map(Fraction, budgets))[: len(made.families)],
        )

    return World(made, (level("us", "2", "0.7"), level("us", "0.3", "1.1"), level("pr", "0.9", "0.4")), 2)


@cache
def kept_records(world, part):
    """The costliest records, with partners in other groups and other cells of the same groups, and some others."""
    every = list(world.records(part))
    random.Random(1).shuffle(every)
    dearest = sorted(every, key=lambda one: -world.loss(((one, 1),), ZCDP))[:1]
    disjoint = [one for one in every if dearest and not one.races & dearest[0].races and len(one.races) > 1]
    alike = [replace(one, value=value) for one in dearest for value in VALUES[world.product]]
    return tuple(dict.fromkeys([*dearest, *alike, *disjoint[:4], *every]))[:KEPT]


# what changes, in the words of the tables


def one_added(world, part):
    return (((record, 1),) for record in world.records(part))


def one_changed(world, part):
    for old, new in product(kept_records(world, part), repeat=2):
        yield (old, -1), (new, 1)


def one_moved_between_passes(world, _):
    for old, new in product(kept_records(world, "us"), kept_records(world, "pr")):
        yield (old, -1), (new, 1)


def household_changes(world, part):
    """A household stays in its block when somebody leaves or joins; it may also appear or disappear."""
    kept = kept_records(world, part)
    pairs = [((old, -1), (new, 1)) for old, new in product(kept, repeat=2) if old.block == new.block and old != new]
    return [*pairs, *((((one, sign),)) for one in kept for sign in (-1, 1))]


def one_household_changed(world, part):
    return iter(household_changes(world, part))


def two_households_changed(world, part):
    """All pairs of the costliest changes, each with itself: two households may be alike."""
    dearest = sorted(household_changes(world, part), key=lambda change: -world.loss(change, ZCDP))[:16]
    return (one + other for one, other in combinations_with_replacement(dearest, 2))


def several_added(people):
    def changes(world, part):
        chosen = combinations_with_replacement(kept_records(world, part)[:6], people)
        return (tuple((record, 1) for record in records) for records in chosen)

    return changes


def nothing(_, __):
    return iter([()])


OF_ONE_PRODUCT = {
    "one record is added or removed": one_added,
    "one record changes": one_changed,
    "one record moves to the other pass": one_moved_between_passes,
}
OF_TWO_PRODUCTS = {
    "one household record is added or removed": (nothing, one_added),
    "a person is added or removed": (one_added, one_household_changed),
    "a person's answers change": (one_changed, one_household_changed),
    "a person moves to another household": (one_changed, two_households_changed),
    "a household of k people is added or removed": (several_added, one_added),
}


def worst(world, changes, part, definition):
    return max((world.loss(change, definition) for change in changes(world, part)), default=Fraction(0))


# what the docs say


def table_of_docs(anchor):
    """The last two cells of each row of the first table after an anchor: the claims under zCDP and pure DP."""
    text = PRIVACY.read_text().split(f'<a id="{anchor}"></a>', 1)[1]
    lines = text[text.index("\n|") + 1 :].split("\n\n")[0].splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]
    return {row[0]: (row[-2], row[-1]) for row in rows}


def factors(claim, people=1):
    """The factor of each product's loss, or of each pass's."""
    terms = [re.fullmatch(r"(\d+|k²|k)?[ρε]_?(\w*)", term.strip()) for term in claim.split("+")]
    numbers = {None: 1, "k": people, "k²": people**2}
    return {term[2]: numbers[term[1]] if term[1] in numbers else int(term[1]) for term in terms}


def claimed(anchor, row, definition, people=1):
    return factors(table_of_docs(anchor)[row][definition is PURE], people)


def cost(claim, **budgets):
    """The loss by a row of the table: its factors times these budgets, added up."""
    return sum(factor * budgets[one] for one, factor in claim.items())


def test_every_loss_table_has_a_search():
    """Tables of claims are known by their heads; the line of 2020 has the losses of an added and a changed record."""
    lines = PRIVACY.read_text().splitlines()
    heads = [line for line, below in pairwise(lines) if "|---" in below and re.search("zCDP, at most|unbounded", line)]
    assert [head.split("|")[1].strip() for head in heads] == [
        "what changes", "what changes in one file", "2020 Detailed DHC-A, a person in the US pass",
    ]  # fmt: skip
    unbounded, bounded = map(Fraction, next(iter(table_of_docs("reference").values())))
    claim = claimed("loss-of-one-product", "one record changes", ZCDP)[""]
    assert (unbounded, bounded) == (Fraction("4.944"), claim * Fraction("4.944"))


def test_every_row_of_the_loss_tables_has_a_search():
    assert set(table_of_docs("loss-of-one-product")) == set(OF_ONE_PRODUCT)
    assert set(table_of_docs("two-products")) == set(OF_TWO_PRODUCTS)


def test_every_selector_has_a_product():
    """A new one needs a product in `VALUES`, and what it measures of a group in `cost_of_group`."""
    assert {made.selector for made in VALUES} == set(Selector)


# one product


def claim_of_one_product(world, row, definition):
    claim = claimed("loss-of-one-product", row, definition)
    if "US" in claim:
        return cost(claim, US=world.budget("us"), PR=world.budget("pr"))
    return claim[""] * world.budget("us")


of_each_selector = pytest.mark.parametrize("made", VALUES, ids=lambda one: one.name)
both_definitions = pytest.mark.parametrize("definition", [ZCDP, PURE], ids=lambda one: one.value)
random_worlds = pytest.mark.parametrize(
    "worlds", [range(5), pytest.param(range(5, 12), marks=pytest.mark.slow)], ids=["few", "others"]
)


@of_each_selector
@both_definitions
@pytest.mark.parametrize("row", OF_ONE_PRODUCT)
@random_worlds
def test_neighbours_of_one_product_are_as_far_apart_as_claimed_and_no_further(made, definition, row, worlds):
    for world in [rich_world(made), *(random_world(made, seed) for seed in worlds)]:
        found, claim = worst(world, OF_ONE_PRODUCT[row], "us", definition), claim_of_one_product(world, row, definition)
        assert found == claim if world is rich_world(made) else found <= claim


@of_each_selector
def test_what_the_program_says_of_a_changed_record_is_what_the_docs_say(made):
    world = rich_world(made)
    us, pr = (PrivacyLoss(world.budget(part)) for part in ("us", "pr"))
    assert us.bounded == claim_of_one_product(world, "one record changes", ZCDP)
    assert loss_of_disjoint_passes([us, pr]).bounded >= claim_of_one_product(
        world, "one record moves to the other pass", ZCDP
    )


# two products


def rows_of_two_products(of_a_household):
    """Each row of the table, with numbers of people."""
    return [(row, people) for row in OF_TWO_PRODUCTS for people in (of_a_household if " k " in row else (1,))]


@both_definitions
@pytest.mark.parametrize(("row", "people"), rows_of_two_products((2, 3)))
@random_worlds
def test_neighbours_of_two_products_are_as_far_apart_as_claimed_and_no_further(definition, row, people, worlds):
    of_persons, of_households = OF_TWO_PRODUCTS[row]

    def found_and_claimed(persons, households):
        """The files change independently of one another here, so the worst of both together is the sum."""
        changes = of_persons(people) if " k " in row else of_persons
        found = worst(persons, changes, "us", definition) + worst(households, of_households, "us", definition)
        claim = claimed("two-products", row, definition, people)
        return found, cost(claim, P=persons.budget("us"), H=households.budget("us"))

    found, claim = found_and_claimed(rich_world(SAFETAB_P), rich_world(SAFETAB_H))
    assert found == claim
    for seed in worlds:
        found, claim = found_and_claimed(random_world(SAFETAB_P, seed), random_world(SAFETAB_H, 1000 + seed))
        assert found <= claim


def test_a_move_that_was_claimed_to_cost_four_times_the_households_would_be_refuted():
    """The search can fail: a smaller factor under zCDP is exceeded, under pure DP it is reached."""
    world = rich_world(SAFETAB_H)
    assert worst(world, two_households_changed, "us", ZCDP) == 8 * world.budget("us")
    assert worst(world, two_households_changed, "us", PURE) == 4 * world.budget("us")


@both_definitions
@random_worlds
def test_a_move_to_the_other_pass_costs_no_more_than_one_inside_the_costlier(definition, worlds):
    """One household record changes in each pass; the passes share no number."""
    for seed in worlds:
        persons, households = random_world(SAFETAB_P, seed), random_world(SAFETAB_H, 1000 + seed)
        found = worst(persons, one_moved_between_passes, "", definition)
        found += sum(worst(households, one_household_changed, part, definition) for part in ("us", "pr"))
        claim = claimed("two-products", "a person moves to another household", definition)
        dearest = (max(one.budget("us"), one.budget("pr")) for one in (persons, households))
        assert found <= cost(claim, **dict(zip("PH", dearest, strict=True)))


@both_definitions
def test_the_program_claims_what_the_docs_claim(definition):
    persons, households = (
        replace(production_of_2020(made), privacy_definition=definition) for made in (SAFETAB_P, SAFETAB_H)
    )
    joint = JointLoss(persons, households)
    said = {change: losses[US_PASS] for change, losses in joint.rows()}
    rows = rows_of_two_products((2, 3, 4, 5))
    assert said == {
        row.replace(" k ", f" {people} "): cost(
            claimed("two-products", row, definition, people), P=Fraction("4.944"), H=Fraction("8.895302")
        )
        for row, people in rows
    }


@pytest.mark.needs_2020_files
@pytest.mark.parametrize("level", [REGIONAL, DETAILED])
def test_the_lists_of_2020_reach_the_bound_of_a_move(level, spec_2020):
    """Two households with the same householder's codes go from one type to another: 72 at stability 9."""
    config, lists = read_config(spec_2020).require(), read_public_lists(spec_2020).require()
    iterations = iteration_map_of(lists, level, US.kind("state"), most_answers=config.most_answers)
    code_of_group = {group: code for code, group in iterations.several.any_of.items()}
    codes = list(islice(code_of_group.values(), config.most_answers))
    groups = iterations.iterations_of(codes, next(iter(iterations.single.any_of)))
    assert len(groups) == sensitivity(iterations.classifications).l1 == 9
    old, new, *_ = VALUES[SAFETAB_H]
    shifts = shifted_cells([(old, -2), (new, 2)], SAFETAB_H.families[0].shapes[-1])
    assert len(groups) * distance(shifts, ZCDP) == 72
