"""People count as made up only if the marker lies where their records are, whatever DATA is."""

import re
import shutil

import safetab
from tests.commands import invalid
from tests.faults.worlds import few_levels
from tests.worlds.people import write_random_world


def world_without_marker(folder):
    world = write_random_world(folder / "world", 2, people=20)
    world.configure(**few_levels(world.config()))
    (world.data / "SYNTHETIC").unlink()
    return world


def a_marker_beside_data_does_not_count(folder):
    """In the folder above DATA, in PARAMETERS and in a folder of DATA it says nothing about the records."""
    world = world_without_marker(folder)
    (world.data / "deeper").mkdir()
    for elsewhere in world.data.parent, world.parameters, world.data / "deeper":
        (elsewhere / "SYNTHETIC").write_text("made up\n")
    told = invalid(safetab.run, *world, folder / "out", test_key="00" * 32)
    assert re.search("test_key: refused: .* has no file SYNTHETIC", told)
    assert "No protection at " in invalid(safetab.validate, *world)


def test_a_marker_beside_data_does_not_count(tmp_path):
    a_marker_beside_data_does_not_count(tmp_path)


def people_of_a_file_of_settings_may_be_real(folder):
    """An .ini file of the CEF has no marker unless one lies beside it."""
    world = world_without_marker(folder)
    settings = folder / "cef.ini"
    settings.write_text("[paths]\n")
    given = world.parameters, settings, folder / "out"
    assert "so its people may be real" in invalid(safetab.compare, *given, protections=["round:base=5"])


def test_people_of_a_file_of_settings_may_be_real(tmp_path):
    people_of_a_file_of_settings_may_be_real(tmp_path)


def test_the_marker_in_data_counts(tmp_path):
    world = world_without_marker(tmp_path)
    shutil.copyfile(world.parameters / "config.json", world.data / "SYNTHETIC")  # whatever it holds
    assert not any(finding.is_error for finding in safetab.validate(*world))
