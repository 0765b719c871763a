"""A loss is never shown too small, and is compared with that of 2020."""

import json
import random
import re
from fractions import Fraction
from math import erfc, exp, sqrt

import pytest

import safetab
from safetab.tuning.concerns import concerns
from tests.commands import cli
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
    for _ in range(5000):
        loss = Fraction(dice.randint(1, 10 ** dice.randint(1, 20)), dice.randint(1, 10 ** dice.randint(1, 20)))
        shown = read(loss_text(loss, digits))
        assert 0 <= shown - loss < Fraction(10, 10**digits) * loss or shown == -(-loss // 1), loss
        assert read(loss_text(shown, 30)) == shown


@pytest.mark.parametrize(
    ("loss", "text"),
    [
        ("0", "0"),
        ("4.944", "4.944"),
        ("900004", "900,004"),
        ("0.0001", "0.0001"),
        ("1/3", "0.3333333334"),
        ("9.99999999999", "10"),
        ("1234567890123.5", "1,234,567,890,124"),
    ],
)
def test_a_short_decimal_is_shown_as_it_is(loss, text):
    assert loss_text(Fraction(loss)) == text


def test_the_epsilons_of_a_report_are_never_too_small():
    """Four digits rounded to the nearest were too small for about half of these."""
    too_small = 0
    for hundredths in range(1, 2000, 10):
        epsilon = epsilons_by_delta(Fraction(hundredths, 100))["1e-10"]
        assert read(loss_text(epsilon)) == epsilon
        too_small += Fraction(f"{float(epsilon):.4g}") < epsilon
    assert too_small > 50


def test_a_number_in_json_is_spelled_as_no_less():
    dice = random.Random(1)
    for _ in range(5000):
        loss = Fraction(dice.randint(1, 10**25), 10 ** dice.randint(4, 12))
        number = loss_number(loss)
        assert Fraction(json.dumps(number)) >= loss
        assert number == pytest.approx(float(loss), rel=1e-15)
    assert json.dumps(loss_number(Fraction("25.3629"))) == "25.3629"


def test_the_reference_is_the_costlier_pass_of_2020():
    production = tuning_of().require()
    assert production.loss == PrivacyLoss(REFERENCE.rho)
    assert max(production_of_2020().budgets.values()) == REFERENCE.costliest_level
    (loss,) = reported_references(SAFETAB_P).values()
    assert (loss.unbounded, loss.bounded) == (Fraction("4.944"), Fraction("9.888"))
    assert (loss.unbounded_epsilon, loss.bounded_epsilon) == (Fraction("25.3629"), Fraction("38.9488"))
    assert f"rho {float(4 * REFERENCE.rho)}, 4 times {float(REFERENCE.rho)}" in REFERENCE.published
    assert f"gives {float(2 * REFERENCE.rho)}" in REFERENCE.published


def test_a_warning_begins_above_twice_the_reference():
    zcdp, pure = PrivacyDefinition.ZCDP, PrivacyDefinition.PURE_DP
    assert total_far_above(SAFETAB_P, zcdp, 2 * REFERENCE.rho) is None
    assert total_far_above(SAFETAB_P, zcdp, 2 * REFERENCE.rho + Fraction(1, 10**9)) is not None
    assert level_far_above(SAFETAB_P, zcdp, 2 * REFERENCE.costliest_level) is None
    assert "more than 2 times" in (level_far_above(SAFETAB_P, zcdp, 3 * REFERENCE.costliest_level) or "")
    assert total_far_above(SAFETAB_P, pure, Fraction("4.44")) is None  # 4.44 squared / 2 is 9.8568
    assert "counts as rho 9.90125 at most" in (total_far_above(SAFETAB_P, pure, Fraction("4.45")) or "")


def test_plan_shows_the_reference_and_warns(world):
    words = ["plan", str(world.parameters), str(world.data)]
    quiet = cli(*words).stdout
    assert "2020 Detailed DHC-A 4.944 9.888 25.3629 38.9488" in [" ".join(line.split()) for line in quiet.splitlines()]
    assert "rho 19.776, 4 times 4.944" in quiet
    assert "Warning" not in quiet
    world.configure(privacy_budget_p_level_2_county=900_000)
    loud = cli(*words).stdout
    assert "Warning: The total loss per person, rho 900,004.65, is more than 182,039 times" in loud
    assert "Warning: (COUNTY, Detailed): The loss of this level, rho 900,000," in loud
    same = {f"privacy_budget_p_level_2_{level}": 900_000 for level in ("usa", "state", "tract", "place")}
    world.configure(**same)
    loudest = " ".join(cli(*words).stdout.split())
    listed = (
        "5 levels, (USA, Detailed); (STATE, Detailed); (COUNTY, Detailed) and 2 more: The loss of each, rho 900,000,"
    )
    assert f"Warning: {listed}" in loudest
    assert loudest.count("The loss of") == 1
    plan = json.loads(cli(*words, "--json").stdout)
    assert plan["privacy_warnings"] == list(privacy_warnings(safetab.plan(*world)))
    assert plan["loss_of_2020"]["unbounded_epsilon"] == 25.3629


def test_under_pure_dp_the_reference_is_told_in_rho(world):
    world.configure(privacy_defn="puredp")
    told = cli("plan", *world).stdout
    assert "2020 Detailed DHC-A: rho 4.944 (bounded 9.888). A pure epsilon counts as rho = epsilon squared / 2" in told
    assert "Warning: The total loss per person, epsilon 4.85, counts as rho 11.76125 at most" in told


def test_the_same_warning_of_several_places_is_one_line():
    findings = FindingsOf("config.json")
    for number in range(38):
        findings.warning(f"key_{number}", "unknown key; it has no effect.")
    findings.warning("other", "something else.")
    for number in range(5):
        findings.error(f"level_{number}", "missing.")
    assert described(findings.findings).splitlines() == [
        "config.json has 39 warnings:",
        "  key_0, key_1, key_2 and 35 more: unknown key; it has no effect.",
        "  other: something else.",
        "config.json has 5 problems:",
        *(f"  level_{number}: missing." for number in range(5)),
    ]


def test_the_same_problems_of_many_files_are_shown_once():
    files = [FindingsOf(f"person-records/{number}.txt") for number in range(6)]
    for found in files:
        found.error("line 1", "the columns are separated by commas, not by |.")
    files[5].error("", "a carriage return is inside a line.")
    missing = [FindingsOf(f"P/{number}.txt") for number in range(4)]
    for found in missing:
        found.error("", "does not exist.")
    shown = described(finding for found in (*files, *missing) for finding in found.findings)
    assert shown.splitlines() == [
        "person-records/0.txt, person-records/1.txt, person-records/2.txt and 2 more have 1 problem each:",
        "  line 1: the columns are separated by commas, not by |.",
        "person-records/5.txt has 2 problems:",
        "  line 1: the columns are separated by commas, not by |.",
        "  a carriage return is inside a line.",
        *(f"P/{number}.txt does not exist." for number in range(4)),
    ]


BEYOND = (
    "The total loss per {who}, {loss}, is beyond any protection: an attacker who knows everything else may tell whether a"
    " {who} was counted, and be wrong less than once in a million times."
)


@pytest.mark.parametrize(("definition", "most"), [(PrivacyDefinition.ZCDP, 50), (PrivacyDefinition.PURE_DP, 15)])
def test_a_loss_is_beyond_protection_where_presence_is_almost_certain(definition, most):
    """Of Gaussian noise the best guess errs with chance Phi(-sqrt(rho / 2)), of pure DP with 1 / (1 + exp(epsilon))."""
    errors = {
        PrivacyDefinition.ZCDP: erfc(sqrt(most / 2) / sqrt(2)) / 2,
        PrivacyDefinition.PURE_DP: 1 / (1 + exp(most)),
    }
    assert 2.8e-7 < errors[definition] < 3.1e-7
    assert beyond_protection(SAFETAB_P, definition, Fraction(most)) is None
    sentence = beyond_protection(SAFETAB_P, definition, Fraction(most) + Fraction(1, 100))
    assert sentence == BEYOND.format(who="person", loss=f"{definition.budget_symbol} {most}.01")


@pytest.mark.parametrize("reference", [None, {"name": "a careless census", "rho": 1000}])
def test_a_loss_beyond_protection_is_told_of_every_census(tmp_path, reference):
    keys = nz_keys()
    if reference is not None:
        keys["about"]["reference"] = reference
    keys["privacy"]["levels"][0]["budget"] = 10
    parameters, data = write_specification(tmp_path, keys)
    (data / SYNTHETIC_MARKER).touch()
    told = BEYOND.format(who="person", loss="rho 80")
    for words in (["validate"], ["plan"], ["run", str(tmp_path / "out")]):
        answer = cli(words[0], parameters, data, *words[1:])
        assert told in " ".join(answer.output.split()), words
    assert told in " ".join(re.sub(r"<[^>]*>", " ", (tmp_path / "out/report.html").read_text()).split())
    assert told in [concern.text for concern in concerns(tuning_of(parameters=parameters).require())]


def test_a_loss_of_units_is_told_where_the_noise_of_one_number_looks_wide(tmp_path):
    """1,000 records of a unit make noise 1,000 times as wide, and stand out by as much."""
    keys = nz_keys()
    keys["records"]["unit"] = {"name": "patient", "column": "ID", "most_records": 1000}
    keys["records"]["fields"].append({"name": "ID", "type": "string"})
    keys["privacy"]["levels"][0]["budget"] = 12_500
    plan = safetab.plan(*write_specification(tmp_path, keys))
    assert plan.unprotected_levels == ()
    assert list(privacy_warnings(plan)) == [BEYOND.format(who="patient", loss="rho 100,000")]
