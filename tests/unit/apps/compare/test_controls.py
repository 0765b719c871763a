"""The controls hold for the attack as it is, and fail for one that is made weak."""

import re
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from tests.attacked_worlds import area_of, drawn_systems
from tests.inside import PublishedArea, PublishedTables, Swapping, Windows, attack_module, controls, posterior, publish

NAMES = [
    "protection that changes nothing", "protection that changes very little", "sampler and enumeration",
    "data sets fit what is published", "withheld numbers have no value",
]  # fmt: skip


@pytest.fixture(scope="module")
def area():
    return area_of(drawn_systems(6, 5, 4, 0.3, 0.5, 4), 5, 0.3)


@pytest.fixture(scope="module")
def small(area):
    return replace(area, systems=area.systems[:2])


@pytest.fixture
def one_tiny_world(monkeypatch):
    monkeypatch.setattr(attack_module, "_TINY_WORLDS", ((0, 0, 0, 0),))


def failing(found, names=NAMES):
    assert [control.name for control in found] == names
    return [control.name for control in found if not control.holds]


@pytest.mark.slow
def test_the_controls_hold_and_say_what_was_measured(area):
    found = controls(area, 1)
    assert failing(found) == []
    named = sum(sorted(len(system.uniques) for system in area.systems)[-4:])
    assert f"Of {named} people who are alone in a cell, the attack named at least {named};" in found[0].sentence
    little = [int(right) for right in re.findall(r"(\d+) after", found[1].sentence)]
    assert len(little) == 3
    assert little[0] == little[1] == named, "cell keys and swapping change next to nothing"
    assert "at most 0.00" in found[2].sentence
    assert found[3].sentence.startswith("0 of the data sets at the end of each round of sampling, in 8 attacks,")
    assert found[4].sentence.startswith("0 of ")


@pytest.mark.usefixtures("one_tiny_world")
def test_a_data_set_outside_a_window_makes_a_control_fail(small):
    nobody = attack_module.baseline(replace(small, systems=[]), 1)
    assert failing(controls(small, 1, {"some": nobody})) == []
    found = controls(small, 1, {"some": nobody, "other": replace(nobody, outside=1)})
    assert failing(found) == NAMES[3:4]
    assert "(other); it must be 0." in found[3].sentence


@pytest.mark.usefixtures("one_tiny_world")
def test_where_nobody_is_alone_a_check_that_names_somebody_could_not_fail(area):
    """It is left out: if there is nobody to name, it would always hold."""
    nobody = replace(area, systems=[system for system in area.systems if not len(system.uniques)])
    assert failing(controls(nobody, 1), NAMES[2:]) == []


def half_dropped(system, shape, windows, *others):
    """Every second number is not looked at."""
    sizes = np.diff(windows.starts)
    dropped = np.arange(len(sizes)) % 2 == 1
    starts = np.concatenate([[0], np.cumsum(np.where(dropped, 0, sizes))])
    kept = windows.logs[np.repeat(~dropped, sizes)]
    return posterior(system, shape, replace(windows, starts=starts, logs=kept), *others)


def prior_from_windows(system, shape, windows, *others):
    """The prior is made from what is published: the first possible count of each leaf."""
    return posterior(replace(system, expected=windows.firsts[system.leaves] + 0.02), shape, windows, *others)


@pytest.mark.slow
def test_a_dropped_factor_makes_controls_fail(area, monkeypatch):
    monkeypatch.setattr(attack_module, "posterior", half_dropped)
    monkeypatch.setattr(attack_module, "_SEVERAL_KINDS", attack_module._SEVERAL_KINDS[:1])
    assert failing(controls(area, 1))[:3] == NAMES[:3]


def test_another_prior_makes_a_control_fail(area, monkeypatch):
    monkeypatch.setattr(attack_module, "posterior", prior_from_windows)
    monkeypatch.setattr(attack_module, "_SEVERAL_KINDS", attack_module._SEVERAL_KINDS[:1])
    assert failing(controls(replace(area, systems=[]), 1), NAMES[2:]) == NAMES[2:3]


@pytest.mark.usefixtures("one_tiny_world")
def test_swapping_that_is_taken_for_stronger_than_it_is_makes_a_control_fail(small, monkeypatch):
    """Also leaves that are not read: either attack is weak for swapping alone."""
    read, seen = Swapping.windows, []
    for planted in (
        lambda step, windows, known, leaving, leaves: read(step, windows, known, 600 * leaving, leaves),
        lambda step, windows, known, leaving, leaves: read(step, windows, known, leaving, leaves[::3]),
    ):
        monkeypatch.setattr(Swapping, "windows", planted)
        seen.append(failing(controls(small, 1)))
    assert seen == [NAMES[1:2]] * 2


def large_safetab(part, *, drops=False):
    """All numbers, as they are; or without what they tell."""
    windows = [
        Windows(each.exact.counts, np.arange(len(each.lines) + 1), np.zeros(len(each.lines))) for each in part.systems
    ]
    if drops:
        windows = [replace(each, starts=np.zeros_like(each.starts), logs=np.zeros(0)) for each in windows]
    return PublishedArea([PublishedTables.of(each.exact.counts) for each in part.systems], windows, can_be_proven=False)


@pytest.mark.usefixtures("one_tiny_world")
def test_safetab_is_checked_with_a_very_large_budget(small):
    good, weak = (controls(small, 1, None, partial(large_safetab, drops=drops))[2] for drops in (False, True))
    assert good.name == weak.name == "SafeTab with a very large budget"
    assert f"Of {small.uniques} people" in good.sentence
    assert f"the attack named {small.uniques};" in good.sentence
    assert (good.holds, weak.holds) == (True, False)


@pytest.mark.usefixtures("one_tiny_world")
def test_a_mark_instead_of_a_withheld_number_makes_a_control_fail(small, monkeypatch):
    def marked(*given):
        tables = publish(*given)
        return replace(tables, numbers=np.ma.MaskedArray(tables.numbers.filled(-1)))

    monkeypatch.setattr(attack_module, "publish", marked)
    assert NAMES[4] in failing(controls(small, 1))
