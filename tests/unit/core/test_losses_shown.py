"""A loss is never shown too small, and is compared with that of 2020."""

import json
import random
import re
from fractions import Fraction
from math import erfc, exp, sqrt

import pytest

import safetab
from safetab.tuning import concerns
from tests.cases import cases_of
from tests.commands import cli, done
from tests.inside import (
    SAFETAB_P,
    SYNTHETIC_MARKER,
    FindingsOf,
    PrivacyDefinition,
    PrivacyLoss,
    beyond_protection,
    described,
    epsilons_by_delta,
    level_far_above,
    loss_number,
    loss_text,
    privacy_warnings,
    production_of_2020,
    reported_references,
    total_far_above,
    tuning_of,
)
from tests.worlds.specified.small_world import nz_keys, write_specification

REFERENCE = SAFETAB_P.reference


def read(text):
    return Fraction(text.replace(",", ""))


@pytest.mark.parametrize("digits", [1, 4, 5, 10])
def test_what_is_shown_is_never_less_than_the_loss_and_hardly_more(digits):
    dice = random.Random(digits)
    for _ in range(1000):
        loss = Fraction(*(dice.randint(1, 10 ** dice.randint(1, 20)) for _ in range(2)))
        shown = read(loss_text(loss, digits))
        assert 0 <= shown - loss < Fraction(10, 10**digits) * loss or shown == -(-loss // 1), loss
        assert read(loss_text(shown, 30)) == shown


SHOWN = """
    0 | 0
    4.944 | 4.944
    900004 | 900,004
    0.0001 | 0.0001
    1/3 | 0.3333333334
    9.99999999999 | 10
    1234567890123.5 | 1,234,567,890,124
"""


def test_a_short_decimal_is_shown_as_it_is():
    for loss, text in cases_of(SHOWN):
        assert loss_text(Fraction(loss)) == text


def test_the_epsilons_of_a_report_are_never_too_small():
    """Four digits rounded to the nearest were too small for about half of these."""
    too_small = 0
    for hundredths in range(1, 2000, 40):
        epsilon = epsilons_by_delta(Fraction(hundredths, 100))["1e-10"]
        assert read(loss_text(epsilon)) == epsilon
        too_small += Fraction(f"{float(epsilon):.4g}") < epsilon
    assert too_small > 12


def test_a_number_in_json_is_spelled_as_no_less():
    dice = random.Random(1)
    for _ in range(5000):
        loss = Fraction(dice.randint(1, 10**25), 10 ** dice.randint(4, 12))
        number = loss_number(loss)
        assert Fraction(json.dumps(number)) >= loss
        assert number == pytest.approx(float(loss), rel=1e-15)
    assert json.dumps(loss_number(Fraction("25.3629"))) == "25.3629"


def test_the_reference_is_the_costlier_pass_of_2020():
    rho, production = REFERENCE.rho, production_of_2020()
    assert tuning_of().require().loss == PrivacyLoss(rho)
    assert max(production.budgets.values()) == REFERENCE.costliest_level
    (loss,) = reported_references(SAFETAB_P).values()
    shown = loss.unbounded, loss.bounded, loss.unbounded_epsilon, loss.bounded_epsilon
    assert shown == tuple(map(Fraction, ("4.944", "9.888", "25.3629", "38.9488")))
    assert f"rho {float(4 * rho)}, 4 times {float(rho)}" in REFERENCE.published
    assert f"gives {float(2 * rho)}" in REFERENCE.published


def test_a_warning_begins_above_twice_the_reference():
    zcdp, pure = PrivacyDefinition.ZCDP, PrivacyDefinition.PURE_DP
    rho, level = REFERENCE.rho, REFERENCE.costliest_level
    for told, definition, most, above, words in (
        (total_far_above, zcdp, 2 * rho, 2 * rho + Fraction(1, 10**9), "2 times"),
        (level_far_above, zcdp, 2 * level, 3 * level, "more than 2 times"),
        (
            total_far_above,
            pure,
            Fraction("4.44"),
            Fraction("4.45"),
            "counts as rho 9.90125 at most",
        ),  # the first: 9.8568
    ):
        assert told(SAFETAB_P, definition, most) is None
        assert words in told(SAFETAB_P, definition, above)


def test_plan_shows_the_reference_and_warns(world):
    quiet = done("plan", *world)
    assert "2020 Detailed DHC-A 4.944 9.888 25.3629 38.9488" in [" ".join(line.split()) for line in quiet.splitlines()]
    assert "Warning" not in quiet
    world.configure(privacy_budget_p_level_2_county=900_000)
    loud = done("plan", *world)
    assert "Warning: The total loss per person, rho 900,004.65, is more than 182,039 times" in loud
    assert "Warning: (COUNTY, Detailed): The loss of this level, rho 900,000," in loud
    world.configure(**{f"privacy_budget_p_level_2_{level}": 900_000 for level in ("usa", "state", "tract", "place")})
    loudest = " ".join(done("plan", *world).split())
    assert "Warning: 5 levels, (USA, Detailed); (STATE, Detailed); (COUNTY, Detailed) and 2 more: The loss" in loudest
    assert loudest.count("The loss of") == 1
    plan = json.loads(done("plan", *world, "--json"))
    assert plan["privacy_warnings"] == list(privacy_warnings(safetab.plan(*world)))
    assert plan["loss_of_2020"]["unbounded_epsilon"] == 25.3629


def test_under_pure_dp_the_reference_is_told_in_rho(world):
    world.configure(privacy_defn="puredp")
    told = done("plan", *world)
    assert "2020 Detailed DHC-A: rho 4.944 (bounded 9.888). A pure epsilon counts as rho = epsilon squared / 2" in told
    assert "Warning: The total loss per person, epsilon 4.85, counts as rho 11.76125 at most" in told


def test_the_same_warning_of_several_places_is_one_line():
    findings = FindingsOf("config.json")
    for number in range(38):
        findings.warning(f"key_{number}", "unknown key; it has no effect.")
    for number in range(2):
        findings.error(f"level_{number}", "missing.")
    assert described(findings.findings) == (
        "config.json has 38 warnings:\n  key_0, key_1, key_2 and 35 more: unknown key; it has no effect.\n"
        "config.json has 2 problems:\n  level_0: missing.\n  level_1: missing."
    )


def test_the_same_problems_of_many_files_are_shown_once():
    files = [FindingsOf(f"persons/{number}.txt") for number in range(6)]
    for found in files:
        found.error("line 1", "the columns are separated by commas, not by |.")
    files[5].error("", "a carriage return is inside a line.")
    missing = [FindingsOf(f"P/{number}.txt") for number in range(2)]
    for found in missing:
        found.error("", "does not exist.")
    assert described(finding for found in (*files, *missing) for finding in found.findings) == (
        "persons/0.txt, persons/1.txt, persons/2.txt and 2 more have 1 problem each:\n"
        "  line 1: the columns are separated by commas, not by |.\n"
        "persons/5.txt has 2 problems:\n"
        "  line 1: the columns are separated by commas, not by |.\n  a carriage return is inside a line.\n"
        "P/0.txt does not exist.\nP/1.txt does not exist."
    )


BEYOND = "The total loss per {}, {}, is beyond any protection:"


def test_a_loss_is_beyond_protection_where_presence_is_almost_certain():
    """Of Gaussian noise the best guess errs with chance Phi(-sqrt(rho / 2)), of pure DP with 1 / (1 + exp(epsilon))."""
    for definition, most, error in (
        (PrivacyDefinition.ZCDP, 50, erfc(sqrt(50 / 2) / sqrt(2)) / 2),
        (PrivacyDefinition.PURE_DP, 15, 1 / (1 + exp(15))),
    ):
        assert 2.8e-7 < error < 3.1e-7
        assert beyond_protection(SAFETAB_P, definition, Fraction(most)) is None
        sentence = beyond_protection(SAFETAB_P, definition, most + Fraction(1, 100))
        assert sentence.startswith(BEYOND.format("person", f"{definition.budget_symbol} {most}.01"))
        assert "may tell whether a person was counted, and be wrong less than once in a million times" in sentence


@pytest.mark.parametrize(
    "reference", [pytest.param(None, marks=pytest.mark.slow), {"name": "a careless census", "rho": 1000}]
)
def test_a_loss_beyond_protection_is_told_of_every_census(tmp_path, reference):
    keys = nz_keys()
    if reference is not None:
        keys["about"]["reference"] = reference
    keys["privacy"]["levels"][0]["budget"] = 10
    parameters, data = write_specification(tmp_path, keys)
    (data / SYNTHETIC_MARKER).touch()
    told = BEYOND.format("person", "rho 80")
    for command, *out in ["validate"], ["plan"], ["run", tmp_path / "out"]:
        assert told in " ".join(cli(command, parameters, data, *out).output.split()), command
    assert told in " ".join(re.sub(r"<[^>]*>", " ", (tmp_path / "out/report.html").read_text()).split())
    assert any(one.text.startswith(told) for one in concerns(tuning_of(parameters=parameters).require()))


def test_a_loss_of_units_is_told_where_the_noise_of_one_number_looks_wide(tmp_path):
    """1,000 records of a unit make noise 1,000 times as wide, and stand out by as much."""
    keys = nz_keys()
    keys["records"]["unit"] = {"name": "patient", "column": "ID", "most_records": 1000}
    keys["records"]["fields"].append({"name": "ID", "type": "string"})
    keys["privacy"]["levels"][0]["budget"] = 12_500
    plan = safetab.plan(*write_specification(tmp_path, keys))
    assert plan.unprotected_levels == ()
    (warning,) = privacy_warnings(plan)
    assert warning.startswith(BEYOND.format("patient", "rho 100,000"))
