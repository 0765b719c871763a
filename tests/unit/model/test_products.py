"""A product is data: what it may be, and who may know what its attribute means."""

import re
from dataclasses import replace
from fractions import Fraction
from itertools import product as combinations_of

import pytest

from tests.cases import cases_of
from tests.conftest import PROJECT
from tests.inside import (
    PERSONS,
    PRODUCTS,
    SAFETAB_H,
    SAFETAB_P,
    TOTAL,
    US,
    AddressedBits,
    Ledger,
    MeasurementEvent,
    OverspentBudget,
    PrivacyDefinition,
    Sensitivity,
    Stage,
    product_named,
    product_of_keys,
)

PACKAGE = PROJECT / "src" / "safetab"
KNOWING = r"""
\b(sex|sexes|age|ages|QSEX|QAGE)\b
    model/products/safetab_p/
    inputs/bureau/cef/
    inputs/records/cef/        the fields of a person in the Census Edited File
    apps/synthetic/                  made-up people
    apps/audit/worlds/
    apps/explorer/workbook/          sheets of SafeTab-P
    cli/commands/               help and the tour
    cli/tune_answers/reading.py
    model/specification/              examples of keys

safetab_h\b|SafeTab-H|\bHOUSEHOLD_TYPE\b|\"TEN\"|\bHHT\b|\btenure\b|T0[34]00|data_cell
    model/products/safetab_h/
    model/products/all_products.py
    inputs/bureau/cef/
    inputs/records/cef/        the fields of a unit in the Census Edited File
    apps/bureau/cef_tables.py      which writes them as household records
    apps/synthetic/
    apps/audit/
    cli/commands/
    cli/functions/made_up.py
    model/us/examples.py     help
    inputs/bureau/specified.py    its name in a specification
    model/specification/checks.py         the noise numbers of shipped products
    model/specification/keys.py           examples of keys

from safetab\.model\.products\.safetab_p
    model/products/
    apps/synthetic/
    apps/audit/worlds/
    apps/audit/selftest.py
    apps/explorer/
    inputs/tuning/
    cli/
    cli/functions/made_up.py
    apps/bureau/cef_tables.py
"""
"""Words, below them who may know them, and why."""


@pytest.fixture(scope="module")
def sources():
    """The program without the faces of its rooms, which list modules of all of them."""
    texts = {path.relative_to(PACKAGE).as_posix(): path.read_text() for path in PACKAGE.rglob("*.py")}
    return {name: text.partition("\nHANDED_OUT = ")[0].lower() for name, text in texts.items()}


@pytest.mark.parametrize("known", KNOWING.strip().split("\n\n"), ids=["sex and age", "households", "SafeTab-P"])
def test_only_a_product_its_files_and_what_is_made_for_it_know_it(known, sources):
    words, *lines = known.lower().splitlines()
    knowing = sorted(path for path, text in sources.items() if re.search(words, text))
    assert len(knowing) > 5
    assert [path for path in knowing if not path.startswith(tuple(line.split()[0] for line in lines))] == []


@pytest.mark.parametrize("shape", PERSONS.shapes, ids=lambda shape: shape.label)
def test_a_shape_is_a_partition_and_its_lines_are_runs_of_cells(shape):
    assert len(shape.cell_of_value) == SAFETAB_P.record.attribute_values
    assert set(shape.cell_of_value) == set(range(shape.cells))
    for line in shape.lines:
        assert 0 <= line.first_cell < line.first_cell + line.cells <= shape.cells
    assert sum(line.is_total for line in shape.lines) == 1
    assert {kind.draws for kind in shape.kinds} == {line.cells for line in shape.lines}


def event_of(family, level, stage=Stage.TOTAL_ONLY, product=SAFETAB_P, cost=1):
    return MeasurementEvent(
        product, family, level, stage, PrivacyDefinition.ZCDP, Sensitivity.of_groups(9), Fraction(cost)
    )


def ledger_of(budgets):
    """Of families and levels."""
    return Ledger({measured: Fraction(budget) for measured, budget in budgets.items()}, AddressedBits(bytes(32)))


def prefix_of(product, family, level, stage):
    event = event_of(family, level, stage, product)
    return ledger_of({event.measured: 1}).charge(event).address_prefix


def test_products_and_families_never_share_an_address():
    families = [PERSONS, replace(PERSONS, number=1, name="other")]
    products = [SAFETAB_P, replace(SAFETAB_P, number=1, name="other")]
    prefixes = [prefix_of(*one) for one in combinations_of(products, families, US.levels, Stage)]
    assert len(set(prefixes)) == len(prefixes) == 2 * 2 * 20 * 3
    with pytest.raises(OverflowError):
        prefix_of(replace(SAFETAB_P, number=16), PERSONS, US.levels[0], Stage.STAGE_1)


def test_two_families_with_one_number_can_not_both_draw():
    """Even if nobody made a product of them: the ledger looks at the address."""
    other, level = replace(PERSONS, name="other"), US.levels[0]
    ledger = ledger_of({(PERSONS, level): 1, (other, level): 1})
    ledger.charge(event_of(PERSONS, level))
    with pytest.raises(OverspentBudget):
        ledger.charge(event_of(other, level))
    with pytest.raises(ValueError, match="numbers of their own"):
        replace(SAFETAB_P, families=(PERSONS, other))


@pytest.mark.parametrize(
    "changes",
    [
        {"cell_of_value": (0,) * 231},
        {"cell_of_value": (1,) * 232},
        {"cell_labels": ((None, None, None),) * 2},
        {"lines": (replace(TOTAL.lines[0], cells=2),)},
    ],
)
def test_a_shape_that_is_no_partition_is_refused(changes):
    with pytest.raises(ValueError, match="total:"):
        replace(SAFETAB_P, families=(replace(PERSONS, shapes=(replace(TOTAL, **changes), *PERSONS.finer)),))


def test_the_addresses_of_safetab_p_are_what_they_always_were():
    """Geography level, iteration level and stage, a byte each."""
    for geography, level in enumerate(US.levels[::2]):
        assert prefix_of(SAFETAB_P, PERSONS, level, Stage.STAGE_2) == (geography << 16) | (1 << 8) | 2


def test_a_family_pays_from_its_own_budget():
    other, level = replace(PERSONS, number=1, name="other"), US.levels[0]
    ledger = ledger_of({(PERSONS, level): 1, (other, level): 2})
    for family, cost in (PERSONS, 1), (other, 2):
        ledger.charge(event_of(family, level, cost=cost))
    assert ledger.spent(level.geography.tabulation_pass) == 3


@pytest.mark.parametrize(
    ("product", "keys"),
    cases_of("""
        H | thresholds_h_t3 reader
        P | thresholds_p
        P | zero_suppression_chance
        H | privacy_budget_h_t4_level_1_usa thresholds_p thresholds_h_t4
        H | reader run_us
    """),
)
def test_every_key_that_one_product_alone_has_names_it(product, keys):
    assert product_of_keys(keys.split(), SAFETAB_H).name == f"SafeTab-{product}"


def test_a_product_is_found_by_its_name_and_by_the_keys_of_its_budgets():
    assert product_named("SafeTab-P") is product_named(None) is SAFETAB_P
    with pytest.raises(KeyError):
        product_named("SafeTab-Q")
    assert product_of_keys(["privacy_budget_p_level_1_usa", "reader"]) is SAFETAB_P
    assert len({product.number for product in PRODUCTS}) == len(PRODUCTS)
