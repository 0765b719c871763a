"""No output is written where it would break a release, or among what is read."""

import re
import shutil
from pathlib import Path

import pytest

from tests.commands import refused
from tests.releases import files_of

INSIDE_OUT = """
site OUT OUT/new
site OUT/release OUT/new
site OUT OUT/release/new
export OUT OUT/new
export OUT/release OUT/new
report OUT -o OUT/new
report OUT/release -o OUT/new
status OUT -o OUT/new
rerelease OUT OUT/new
explore -o OUT/new
explore -o OUT/release/new
lists PARAMETERS --short OUT/new
run PARAMETERS DATA OUT/new --confidential-log LOG
accuracy PARAMETERS DATA OUT/new
synthesize OUT/new --people 1000 --us
site OUT LINK/new
demo OUT/new
""".strip().splitlines()
AMONG_INPUTS = """
run PARAMETERS DATA DATA/new --confidential-log LOG
run PARAMETERS DATA PARAMETERS/new --confidential-log LOG
run PARAMETERS DATA DATA/deeper/new --confidential-log LOG
accuracy PARAMETERS DATA DATA/new
accuracy PARAMETERS DATA PARAMETERS/new
synthesize PARAMETERS/new --people 1000 --parameters PARAMETERS
""".strip().splitlines()
AROUND_INPUTS = [
    "run PARAMETERS DATA WORLD --overwrite --confidential-log LOG", "accuracy PARAMETERS DATA WORLD --overwrite",
]  # fmt: skip


@pytest.fixture
def output(both_products, out):
    return shutil.copytree(both_products / "people", out)


def told(command, **places):
    """Of a command with places for names in capitals, which it refuses."""
    return refused(*(re.sub(r"^[A-Z]{3,}\b", lambda found: str(places[found[0]]), word) for word in command.split()))


@pytest.mark.parametrize("command", INSIDE_OUT)
def test_nothing_is_written_into_the_output_of_a_run(command, world, output, tmp_path):
    (tmp_path / "link").symlink_to(output)
    before = files_of(output)
    places = {"PARAMETERS": world.parameters, "DATA": world.data, "LOG": tmp_path / "log"}
    assert re.search("(lies|is) in", told(command, **places, OUT=output, LINK=tmp_path / "link"))
    assert files_of(output) == before
    assert {path.name for path in output.iterdir()} <= {Path(name).parts[0] for name in before}


@pytest.mark.parametrize("command", AMONG_INPUTS)
def test_nothing_is_written_among_what_is_read(command, world, tmp_path):
    (world.data / "deeper").mkdir()
    before, places = files_of(tmp_path), {"PARAMETERS": world.parameters, "DATA": world.data, "LOG": tmp_path / "log"}
    assert "which this command reads. Choose a folder elsewhere." in told(command, **places)
    assert files_of(tmp_path) == before


@pytest.mark.parametrize("command", AROUND_INPUTS)
def test_nothing_is_written_around_what_is_read(command, world, tmp_path):
    before, places = files_of(tmp_path), {"PARAMETERS": world.parameters, "DATA": world.data, "WORLD": tmp_path}
    assert "contains files that this command reads" in told(command, **places, LOG=tmp_path.parent / "log")
    assert files_of(tmp_path) == before
