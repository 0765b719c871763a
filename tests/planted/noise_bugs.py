"""Noise that is too narrow, missing, repeated or related; keys that somebody could know."""

import hashlib
import os
import random
from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from tests.inside import (
    US,
    US_PASS,
    AddressedBits,
    ConfigKeys,
    InversionTable,
    Sensitivity,
    Stage,
    calibrated_noise,
    ledger_module,
    measurement_event_module,
    noisy_count_module,
    run_module,
)

KEY = bytes(range(32))


@cache
def narrower(noise, of_variance):
    """The table of a noise whose budget is 1 / `of_variance` times what was paid."""
    if hasattr(noise, "scale"):
        return InversionTable(replace(noise, scale=noise.scale * of_variance))
    return InversionTable(replace(noise, sigma_squared=noise.sigma_squared * of_variance))


def noise_of_one_group(patch):
    patch.setattr(
        measurement_event_module,
        "calibrated_noise",
        lambda kind, _, cost: calibrated_noise(kind, Sensitivity.of_groups(1), cost),
    )


def _overspent(patch, factor):
    """Drawn so, and nowhere said: neither the event nor its charge shows it."""
    patch.setattr(noisy_count_module, "inversion_table", lambda noise: narrower(noise, 1 / factor))


def overspent_by_5_percent(patch):
    _overspent(patch, Fraction(105, 100))


def overspent_by_10_percent(patch):
    _overspent(patch, Fraction(110, 100))


def overspent_by_25_percent(patch):
    _overspent(patch, Fraction(125, 100))


def noise_too_narrow(patch):
    patch.setattr(noisy_count_module, "inversion_table", lambda noise: narrower(noise, Fraction(94, 100)))


def _changed_noise(patch, change):
    """`change` takes the counts, their noise and what is drawn; gives other noise."""
    original = noisy_count_module._add_noise

    def add(counts, draws, noisy):
        original(np.zeros_like(counts), draws, noisy)
        noisy[:] = counts + change(counts, noisy.copy(), draws)

    patch.setattr(noisy_count_module, "_add_noise", add)


def noise_cut_at_three_sigma(patch):
    def cut(_, noise, draws):
        most = int(3 * draws.right.event.noise.width)
        return np.clip(noise, -most, most)

    _changed_noise(patch, cut)


def noise_rounded_to_even_numbers(patch):
    _changed_noise(patch, lambda _, noise, __: noise // 2 * 2)


def no_noise_above_50(patch):
    _changed_noise(patch, lambda sums, noise, _: np.where(sums > 50, 0, noise))


def no_noise_for_counts_from_10_to_49(patch):
    _changed_noise(patch, lambda sums, noise, _: np.where((sums >= 10) & (sums < 50), 0, noise))


def no_noise_for_total_only_groups(patch):
    _changed_noise(patch, lambda _, noise, draws: 0 * noise if draws.right.event.stage is Stage.TOTAL_ONLY else noise)


def no_noise_in_empty_cells(patch):
    _changed_noise(patch, lambda sums, noise, draws: np.where((sums == 0) & (draws.shape.cells > 1), 0, noise))


def cells_for_stability_8_where_it_is_9(patch):
    original = noisy_count_module._add_noise

    def add(*given):
        draws = given[1]
        with pytest.MonkeyPatch.context() as inner:
            if draws.shape.cells > 1 and draws.right.event.stability == 9:
                inner.setattr(noisy_count_module, "inversion_table", lambda noise: narrower(noise, Fraction(8, 9)))
            original(*given)

    patch.setattr(noisy_count_module, "_add_noise", add)


def stage_1_with_the_noise_of_stage_2(patch):
    original = noisy_count_module._add_noise

    def add(*given):
        draws = given[1]
        with pytest.MonkeyPatch.context() as inner:
            if draws.right.event.stage is Stage.STAGE_1:
                inner.setattr(noisy_count_module, "inversion_table", lambda noise: narrower(noise, Fraction(1, 9)))
            original(*given)

    patch.setattr(noisy_count_module, "_add_noise", add)


def a_float_between_count_and_noise(patch):
    original = noisy_count_module._add_noise

    def add(counts, draws, noisy):
        original(np.zeros_like(counts), draws, noisy)
        noisy[:] = counts.astype(float) + noisy

    patch.setattr(noisy_count_module, "_add_noise", add)


def noise_reused_between_stages(patch):
    original = ledger_module.DrawingRight.address_prefix.fget
    patch.setattr(ledger_module.DrawingRight, "address_prefix", property(lambda right: original(right) >> 8))


def noise_reused_between_passes(patch):
    original = ledger_module.DrawingRight.address_prefix.fget
    patch.setattr(ledger_module.DrawingRight, "address_prefix", property(lambda right: original(right) & 0xFFFF))


def other_addresses(patch, prefix_of):
    original = noisy_count_module._prefix

    def prefix(right, shape, cell, extension=0):
        return prefix_of(original, right, shape, cell, extension)

    patch.setattr(noisy_count_module, "_prefix", prefix)


def all_cells_share_one_draw(patch):
    other_addresses(patch, lambda original, right, shape, _, extension: original(right, shape, 0, extension))


def men_and_women_share_draws(patch):
    def prefix(original, right, shape, cell, extension):
        half = shape.cells // 2
        return original(right, shape, cell % half if half else cell, extension)

    other_addresses(patch, prefix)


def the_first_cell_reuses_stage_1(patch):
    def prefix(original, right, shape, cell, extension):
        if shape.cells == 1 or cell:
            return original(right, shape, cell, extension)
        stage_1 = (original(right, right.event.family.total, 0, extension) >> 44 << 4) | int(Stage.STAGE_1)
        return stage_1 << 40

    other_addresses(patch, prefix)


def puerto_ricos_cells_at_us_addresses(patch):
    us = {one.kind: one for one in US.area_levels if one.tabulation_pass == US_PASS}

    def prefix(original, right, shape, cell, extension):
        usual, geography = original(right, shape, cell, extension), right.event.level.geography
        if shape.cells == 1 or geography.tabulation_pass == US_PASS:
            return usual
        return usual ^ ((geography.address ^ us[geography.kind].address) << 56)

    other_addresses(patch, prefix)


def neighbouring_groups_share_noise(patch):
    original = AddressedBits.batches

    def batches(self, prefix, indices):
        for part, words in original(self, prefix, indices):
            yield part, words[np.arange(len(words)) // 2 * 2]

    patch.setattr(AddressedBits, "batches", batches)


def key_fixed(patch):
    patch.setattr(AddressedBits, "of_the_operating_system", classmethod(lambda cls, *_: cls(KEY)))


def key_of_16_bits(patch):
    few = classmethod(lambda cls, urandom=os.urandom: cls(hashlib.sha256(urandom(2)).digest()))
    patch.setattr(AddressedBits, "of_the_operating_system", few)


def half_a_key(patch):
    half = classmethod(lambda cls, urandom=os.urandom: cls(urandom(16) + bytes(16)))
    patch.setattr(AddressedBits, "of_the_operating_system", half)


def keys_from_another_source(patch):
    """A run that asks nobody in particular gets its key from a generator that was seeded once."""
    patch.setattr(run_module.bits_of_run, "__defaults__", (random.Random(2020).randbytes,))


def key_from_the_clock(patch):
    ticks = iter(range(10**9))

    def clock(*_):
        return AddressedBits(hashlib.sha256(next(ticks).to_bytes(8, "big")).digest())

    patch.setattr(run_module, "bits_of_run", clock)


def a_level_charged_half(patch):
    original = ledger_module.Ledger.charge
    patch.setattr(
        ledger_module.Ledger, "charge", lambda self, event: original(self, replace(event, cost=event.cost / 2))
    )


def noise_for_twice_the_charge(patch):
    patch.setattr(
        measurement_event_module, "calibrated_noise", lambda kind, s, cost: calibrated_noise(kind, s, 2 * cost)
    )


def a_float_budget(patch):
    original = ConfigKeys.number

    def rounded(self, *given, **named):
        exact = original(self, *given, **named)
        return None if exact is None else Fraction(float(exact))

    patch.setattr(ConfigKeys, "number", rounded)
