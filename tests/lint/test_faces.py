"""Each room lists what it hands out, all of it is used, and what nobody else uses begins with an underscore."""

import pytest

from tools.rooms import PROJECT, differences, module_of, read_modules, used_by_nobody, used_elsewhere

MODULES = read_modules(PROJECT / "src" / "safetab")


def test_the_faces_list_what_other_rooms_use():
    """`python -m tools.rooms --write` renews them: look whether another room should use that name."""
    assert differences(MODULES) == []


def test_a_face_fits_a_screen():
    lines = {
        path: len(path.read_text().splitlines()) for path in (PROJECT / "src" / "safetab").glob("*/**/__init__.py")
    }
    assert {path: number for path, number in lines.items() if number > 80} == {}


def test_a_public_name_is_used_by_another_module():
    assert used_by_nobody(MODULES, used_elsewhere(MODULES)) == []


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("from safetab.model.us.states import _USPS", "safetab.model.us.states: _USPS is used by another room"),
        ("from safetab.model.us import states\nstates.TOLD", "safetab.model.us.states: TOLD is used by another room"),
        ("def us():\n    from ..model.us.states import TOLD", "safetab.model.us.states: TOLD is used by another room"),
    ],
)
def test_what_no_face_lists_is_found(planted, found):
    states = module_of("safetab.model.us.states", "TOLD = _USPS = 1")
    planted_in = {"safetab.model.us.states": states, "safetab.runs.new": module_of("safetab.runs.new", planted)}
    (difference,) = differences(planted_in)
    assert difference.startswith(found)


def test_what_a_face_lists_in_vain_is_found():
    modules = {
        "safetab.model": module_of("safetab.model", 'HANDED_OUT = {"us.states": "TOLD"}', is_package=True),
        "safetab.model.us.states": module_of("safetab.model.us.states", "TOLD = 1"),
    }
    (difference,) = differences(modules)
    assert difference.startswith("safetab.model.us.states: TOLD is listed")


def test_a_public_name_that_nobody_uses_is_found():
    modules = {"safetab.model.us.states": module_of("safetab.model.us.states", "TOLD = 1\n_KEPT = 2")}
    assert used_by_nobody(modules, set()) == ["safetab.model.us.states: TOLD"]
