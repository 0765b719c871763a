"""SafeTab-H as a value: its tables, and the numbers of the 2020 Detailed DHC-B."""

import json
from fractions import Fraction

import pytest

from tests.cases import cases_of, values_of
from tests.conftest import SHARED
from tests.inside import (
    CONFIDENCE,
    HOUSEHOLD_TYPE,
    SAFETAB_H,
    SAFETAB_P,
    TENURE,
    US,
    US_PASS,
    Guess,
    JointLoss,
    LinearForm,
    Measured,
    PrivacyDefinition,
    Sensitivity,
    Stage,
    calibrated_noise,
    combined,
    loss_of_config_pass,
    margin_of,
    parse_config,
    production_of_2020,
)
from tests.worlds.households import config_of_2020

MIDDLE = Fraction("0.142869")
NINE_GROUPS = Sensitivity.of_groups(9)


@pytest.mark.parametrize(
    ("family", "cells", "lines"), [(HOUSEHOLD_TYPE, [1, 2, 4, 5], [1, 3, 7, 9]), (TENURE, [1, 3], [1, 4])]
)
def test_cells_and_lines(family, cells, lines):
    assert [shape.cells for shape in family.shapes] == cells
    assert [len(shape.lines) for shape in family.shapes] == lines
    for shape in family.shapes:
        assert [line.number for line in shape.lines] == [*range(1, len(shape.lines) + 1)]
        assert shape.lines[0].is_total
        assert shape.lines[0].run == tuple(range(shape.cells))
        assert {kind.draws for kind in shape.kinds} == {line.cells for line in shape.lines}


def test_every_line_counts_the_values_that_it_names():
    """By the specification: family is types 1 to 3, rented is tenure 3 and 4."""
    values = [(kind, tenure) for kind in range(1, 6) for tenure in range(1, 5)]
    wanted = {"family": {1, 2, 3}, "nonfamily": {4, 5}, "other family": {2, 3}, "living alone": {4}, "rented": {3, 4}}
    for field, family in enumerate((HOUSEHOLD_TYPE, TENURE)):
        for shape in family.shapes:
            for line in shape.lines:
                cells = zip(values, shape.cell_of_value, strict=True)
                counted = {value[field] for value, cell in cells if cell in line.run}
                assert counted == wanted.get(str(line.labels[0]), counted)


def test_data_cells_are_the_bureaus():
    rows = {
        folder: "".join(row.texts[0] for row in rows)
        for family in SAFETAB_H.families
        for shape in family.shapes
        for folder, rows in shape.file_rows.items()
    }
    of_types = {"t3/T03001": "0", "t3/T03002": "016", "t3/T03003": "0123678", "t3/T03004": "012345678"}
    assert rows == of_types | {"t4/T04001": "0", "t4/T04002": "0123"}


@pytest.fixture(scope="module")
def households():
    return parse_config(json.dumps(config_of_2020())).require()


def test_the_losses_of_2020(households):
    us, pr = (loss_of_config_pass(households, one) for one in US.passes)
    assert us.unbounded == Fraction("8.895302")
    assert us.bounded == Fraction("17.790604")
    assert pr.unbounded == Fraction("4.754134")
    assert pr.bounded == Fraction("9.508268")


def test_what_both_products_of_2020_cost_together(households):
    """docs/privacy.md#two-products states these, for the US pass."""
    rows = JointLoss(production_of_2020(SAFETAB_P), households).rows()
    losses = {change: of_passes[US_PASS] for change, of_passes in rows}
    # the last: 9 times 4.944 and 8.895302
    for change, rho in cases_of("""
        one household record is added or removed | 8.895302
        a person is added or removed | 22.734604
        a person moves to another household | 81.050416
        a household of 3 people is added or removed | 53.391302
    """):
        assert losses[change] == Fraction(rho)


@pytest.mark.parametrize(
    ("budget", "sigma", "margins"),
    values_of("""
        "1.9208" | 1.53061224 | [3, 4, 5, 6, 7]
        "0.142869" | 5.612253 | [11, 16, 19, 22, 25]
        "0.006915" | 25.509983 | [50, 71, 87, 100, 112]
    """),
)
def test_the_noise_and_the_margins_of_2020(budget, sigma, margins):
    noise = calibrated_noise(PrivacyDefinition.ZCDP, NINE_GROUPS, Fraction(budget))
    assert float(noise.parameter) ** 0.5 == pytest.approx(sigma, abs=1e-6)
    assert [margin_of(noise, draws, CONFIDENCE) for draws in range(1, 6)] == margins


def test_combined_totals_are_21_to_39_percent_narrower():
    """By shape of household type and of tenure; half widths at 95 %, for Detailed groups below state."""
    noise, narrower = calibrated_noise(PrivacyDefinition.ZCDP, NINE_GROUPS, MIDDLE), []
    group = ("", US.area_level("COUNTY"), "44007", "3010", Stage.STAGE_2, noise)
    for of_type, of_tenure, width in values_of("""
        1 | 1 | 7.8
        2 | 3 | 12.0
        4 | 3 | 14.4
        5 | 3 | 15.1
    """):
        sizes = {"household type": of_type, "tenure": of_tenure}
        forms = [LinearForm({Measured(*group, name): (1,) * cells}) for name, cells in sizes.items()]
        best = combined([Guess(Fraction(0), form) for form in forms]).form.noise
        assert 1.96 * best.variance**0.5 == pytest.approx(width, abs=0.06)
        narrower += [1 - (best.variance / form.noise.variance) ** 0.5 for form in forms]
    assert 0.205 < min(narrower) < max(narrower) < 0.395


@pytest.mark.needs_2020_files
def test_the_real_configuration_is_read():
    text, own = (SHARED / "households" / "config-2020.json").read_text(), config_of_2020()
    config = parse_config(text).require()
    assert config.product == SAFETAB_H
    assert loss_of_config_pass(config, US_PASS).unbounded == Fraction("8.895302")
    assert [key for key, value in json.loads(text).items() if "budget" in key and own.get(key) != value] == []
