"""Whatever is given as a path: a sentence, never a traceback, and nothing that waits for ever."""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.cases import cases_of
from tests.commands import refused
from tests.releases import json_of

PIPES = "config.json datapackage.json manifest.json GRF-C.txt person-records.txt SYNTHETIC"
pytestmark = pytest.mark.slow


@pytest.fixture
def bad_paths(tmp_path):
    folder = tmp_path / "bad"
    (folder / "pipes").mkdir(parents=True)
    (folder / "circle").symlink_to(folder / "circle")
    (folder / "file").write_bytes(bytes(range(256)))
    (folder / "deep.json").write_text('{"a":' * 100_000)
    os.mkfifo(folder / "pipe")
    for name in PIPES.split():
        os.mkfifo(folder / "pipes" / name)
    paths = {path.name: path for path in folder.iterdir()}
    return paths | {"long": Path("/" + "y" * 300), "device": Path("/dev/full"), "bytes": folder / os.fsdecode(b"\xff")}


NAMES, READ = ["circle", "long", "pipe", "file", "device"], ["pipes", "bytes", "deep.json"]
COMMANDS = """
a release | show BAD; status BAD; report BAD -o NEW; export BAD NEW; site BAD NEW; rerelease BAD NEW; site OUT NEW --earlier BAD
a release to write | rerelease OUT BAD/new; export OUT BAD/new; site OUT BAD/new; report OUT -o BAD/new
parameters | plan BAD DATA; lists BAD; plan PARAMETERS DATA --with BAD; explore --config BAD -o NEW
data | plan PARAMETERS BAD; plan PARAMETERS DATA --totals BAD; convert BAD NEW; blocks-with-units BAD NEW
a file | site OUT NEW --boundaries BAD; official BAD NEW --parameters PARAMETERS; spend BAD; tune levels --config BAD
a file to write | status OUT -o BAD; lists PARAMETERS --short BAD/new; synthesize BAD/new --people 1000 --us
"""


@pytest.mark.parametrize(
    ("commands", "name"),
    [(case[1], name) for case in cases_of(COMMANDS) for name in NAMES + ([] if "write" in case[0] else READ)],
)
def test_a_bad_path_is_a_sentence(commands, name, bad_paths, world, both_products, tmp_path):
    new = tmp_path / "n"
    places = {"PARAMETERS": world.parameters, "DATA": world.data, "OUT": both_products / "people", "NEW": new}
    for command in commands.split("; "):
        told = refused(*(str(places.get(word, word)).replace("BAD", str(bad_paths[name])) for word in command.split()))
        assert "program itself" not in told, command
        assert not new.exists()


@pytest.fixture
def output(both_products, out):
    return shutil.copytree(both_products / "people", out)


@pytest.mark.parametrize("name", ["../../.profile", "/etc/passwd", "t1/../../x", "..\\x"])
def test_no_file_of_a_manifest_leads_out_of_its_output(name, output, new):
    manifest = json_of(output / "manifest.json")
    manifest["outputs"][name] = {"rows": 1, "sha256": "0" * 64}
    (output / "manifest.json").write_text(json.dumps(manifest))
    assert f"names files outside of it: {name}." in refused("rerelease", output, new)


@pytest.mark.parametrize(
    "text",
    ['{"a":' * 100_000, "[]", "null", '"outputs"', '{"outputs": [], "documents": {}}', '{"outputs": {"\\ud800": 1}}',
     '{"outputs": {"t1/us.csv": []}, "documents": {"x": null}}'],
)  # fmt: skip
def test_a_manifest_of_another_shape_is_a_sentence(text, output, new):
    (output / "manifest.json").write_text(text)
    assert "manifest" in refused("rerelease", output, new)


def test_a_manifest_that_is_a_pipe_is_a_sentence(output, new):
    (output / "manifest.json").unlink()
    os.mkfifo(output / "manifest.json")
    refused("rerelease", output, new)
