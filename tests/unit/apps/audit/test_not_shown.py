"""A check of the audit that could not have found a fault is "not shown", never "passed"."""

import pickle
from fractions import Fraction

import numpy as np
import pytest

from tests.inside import (
    DRAWS,
    HOUSEHOLD_LOSS_WORLDS,
    JUDGED,
    NINE_GROUPS_SUPPRESSED,
    ONE_GROUP,
    PERSON_LOSS_WORLDS,
    SAFETAB_P,
    US,
    CheckResult,
    DiscreteGaussian,
    DrawnNoise,
    MeasurementEvent,
    NoiseVerdict,
    PrivacyDefinition,
    Sensitivity,
    Stage,
    judged,
    noise_checks_module,
    p_value_of_counts,
    verdict,
)


def samples(size, with_record, without):
    """This many samples of each world; these shares of them say that the record is present."""
    places = (np.arange(size) * 0.618033988749895) % 1
    return np.stack([(places < share).astype(float) for share in (with_record, without)])


SEEN, UNSEEN = (0.765, 0.235), (0.02, 0.02)  # a delta of 0.53, and 0.537 is claimed; no loss at all


@pytest.mark.parametrize(
    ("size", "shares", "result"),
    [
        (20_000, SEEN, CheckResult.PASSED),
        (20_000, UNSEEN, CheckResult.NOT_SHOWN),
        pytest.param(100, SEEN, CheckResult.NOT_SHOWN, marks=pytest.mark.slow),
        (600, SEEN, CheckResult.NOT_SHOWN),  # some loss is seen; spending half as much again would not be
        (20_000, (0.8, 0.2), CheckResult.FAILED),
        (600, (1.0, 0.0), CheckResult.FAILED),  # few samples show a gross fault
    ],
)
def test_a_loss_check_without_the_power_it_needs_is_not_shown(size, shares, result):
    found = judged(ONE_GROUP, samples(size, *shares), is_full=False)
    assert found.result is result
    assert ("too few" in found.seen) == (result is CheckResult.NOT_SHOWN)
    if (size, shares) == (600, SEEN):
        assert found.seen.startswith("delta at least 0.")
        assert found.seen.endswith("too few to show a budget overspent by 50%: run the full audit")


def test_a_full_audit_that_sees_too_little_has_failed_where_nothing_is_suppressed():
    assert judged(ONE_GROUP, samples(600, 0.765, 0.235), is_full=True).result is CheckResult.FAILED
    assert judged(NINE_GROUPS_SUPPRESSED, samples(600, 0.02, 0.02), is_full=True).result is CheckResult.NOT_SHOWN


def test_a_loss_world_can_be_sent_to_other_processes():
    """The long ones are measured there."""
    for world in (*PERSON_LOSS_WORLDS, *HOUSEHOLD_LOSS_WORLDS):
        assert pickle.loads(pickle.dumps(world)).name == world.name


def test_noise_checks_without_noise_are_not_shown():
    checks = noise_checks_module
    found = (checks._two_runs([], []), checks._as_wide_as_due([]), checks._unrelated([]))
    assert [one.result for one in found] == [CheckResult.NOT_SHOWN] * 3


def totals_drawn(counts):
    """Noise of totals of these counts, as it should be."""
    (family, *_), level = SAFETAB_P.families, US.levels[0]
    event = MeasurementEvent(
        SAFETAB_P, family, level, Stage.STAGE_1, PrivacyDefinition.ZCDP, Sensitivity.of_groups(1), Fraction(1, 200)
    )
    noise = np.rint(np.random.default_rng(3).normal(0, 10, (len(counts), 1))).astype(np.int64)
    return DrawnNoise((event, family.total), np.arange(len(counts)), counts[:, None], noise)


def test_the_width_is_shown_where_every_size_of_counts_has_draws_enough_and_too_few_are_named():
    few, enough = (
        noise_checks_module._as_wide_as_due([totals_drawn(np.repeat([0, 4, 20, 55], draws))])
        for draws in ([600, 600, 499, 600], 500)
    )
    assert few.result is CheckResult.NOT_SHOWN
    assert few.seen.endswith("not judged: stage 1, a total, counts from 10 to 49 (499)")
    assert enough.result is CheckResult.PASSED
    assert "not judged" not in enough.seen


@pytest.mark.parametrize("noise", JUDGED, ids=str)
@pytest.mark.parametrize("off", [0.97, 1.03])
def test_the_draws_would_show_a_variance_that_is_3_percent_off(noise, off):
    rng, values = np.random.default_rng(5), np.arange(-400, 401)
    if isinstance(noise, DiscreteGaussian):
        chances = np.exp(-(values**2) / (2 * float(noise.sigma_squared) * off))
    else:
        chances = np.exp(-np.abs(values) / (float(noise.scale) * off**0.5))
    for _ in range(10):
        drawn = rng.multinomial(DRAWS, chances / chances.sum()).tolist()
        seen = {value: count for value, count in zip(values.tolist(), drawn, strict=True) if count}
        assert not NoiseVerdict(noise, p_value_of_counts(seen, noise)).is_right


def test_a_fault_counts_whatever_the_check_could_find():
    assert verdict("x", ["fault"], "seen", could_find=False).result is CheckResult.FAILED
    assert verdict("x", [], "seen", could_find=False).would_have_found == "nothing"
