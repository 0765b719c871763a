"""Whatever is given as a path: a sentence, never a traceback, and nothing that waits for ever."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.commands import cli
from tests.worlds.world import World

pytestmark = pytest.mark.slow


@pytest.fixture
def bad_paths(tmp_path):
    folder = tmp_path / "bad"
    folder.mkdir()
    os.mkfifo(folder / "pipe")
    (folder / "circle").symlink_to(folder / "circle")
    (folder / "file").write_bytes(bytes(range(256)))
    (folder / "deep.json").write_text('{"a":' * 100_000)
    (folder / "pipes").mkdir()
    for name in ("config.json", "datapackage.json", "manifest.json", "GRF-C.txt", "person-records.txt", "SYNTHETIC"):
        os.mkfifo(folder / "pipes" / name)
    paths = {path.name: path for path in folder.iterdir()}
    return paths | {"long": Path("/" + "y" * 300), "device": Path("/dev/full"), "bytes": folder / os.fsdecode(b"\xff")}


NAMES = ["circle", "long", *(pytest.param(name, marks=pytest.mark.slow) for name in ("pipe", "file", "device"))]
READ = ["pipes", *(pytest.param(name, marks=pytest.mark.slow) for name in ("bytes", "deep.json"))]
COMMANDS = {
    "a release": ["show BAD", "status BAD", "report BAD -o NEW", "export BAD NEW", "site BAD NEW", "rerelease BAD NEW",
        "site OUT NEW --earlier BAD"],
    "a release to write": ["rerelease OUT BAD/new", "export OUT BAD/new", "site OUT BAD/new", "report OUT -o BAD/new"],
    "parameters": ["plan BAD DATA", "lists BAD", "plan PARAMETERS DATA --with BAD", "explore --config BAD -o NEW"],
    "data": ["plan PARAMETERS BAD", "plan PARAMETERS DATA --totals BAD", "convert BAD NEW", "blocks-with-units BAD NEW"],
    "a file": ["site OUT NEW --boundaries BAD", "official BAD NEW --parameters PARAMETERS", "spend BAD", "tune levels --config BAD"],
    "a file to write": ["status OUT -o BAD", "lists PARAMETERS --short BAD/new", "synthesize BAD/new --people 1000 --us"],
}  # fmt: skip


@pytest.mark.parametrize("name", [*NAMES, *READ])
@pytest.mark.parametrize("kind", [kind for kind in COMMANDS if "write" not in kind])
def test_a_bad_path_to_read_is_a_sentence(kind, name, bad_paths, world, both_products, tmp_path):
    assert_sentences(kind, bad_paths[name], world, both_products, tmp_path)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", [kind for kind in COMMANDS if "write" in kind])
def test_a_bad_path_to_write_is_a_sentence(kind, name, bad_paths, world, both_products, tmp_path):
    assert_sentences(kind, bad_paths[name], world, both_products, tmp_path)


def assert_sentences(kind: str, bad: Path, world: World, both_products: Path, tmp_path: Path) -> None:
    places = {
        "PARAMETERS": world.parameters,
        "DATA": world.data,
        "OUT": both_products / "people",
        "NEW": tmp_path / "n",
    }
    for command in COMMANDS[kind]:
        words = [str(places.get(word, word)).replace("BAD", str(bad)) for word in command.split()]
        ended = cli(*words)
        assert isinstance(ended.exception, SystemExit), command
        assert (ended.exit_code, "program itself" in ended.stderr) == (1, False), (command, ended.stderr)
        assert not (tmp_path / "n").exists()


@pytest.fixture
def output(both_products, tmp_path):
    return Path(shutil.copytree(both_products / "people", tmp_path / "out"))


def rerelease(output: Path) -> tuple[int, str]:
    ended = cli("rerelease", output, output.parent / "new")
    assert isinstance(ended.exception, SystemExit)
    return ended.exit_code, ended.stderr


@pytest.mark.parametrize("name", ["../../.profile", "/etc/passwd", "t1/../../x", "..\\x"])
def test_no_file_of_a_manifest_leads_out_of_its_output(name, output):
    manifest = json.loads((output / "manifest.json").read_text())
    manifest["outputs"][name] = {"rows": 1, "sha256": "0" * 64}
    (output / "manifest.json").write_text(json.dumps(manifest))
    code, stderr = rerelease(output)
    assert code == 1
    assert f"names files outside of it: {name}." in stderr


@pytest.mark.parametrize(
    "text",
    ['{"a":' * 100_000, "[]", "null", '"outputs"', '{"outputs": [], "documents": {}}', '{"outputs": {"\\ud800": 1}}',
     '{"outputs": {"t1/us.csv": []}, "documents": {"x": null}}'],
)  # fmt: skip
def test_a_manifest_of_another_shape_is_a_sentence(text, output):
    (output / "manifest.json").write_text(text)
    code, stderr = rerelease(output)
    assert code == 1
    assert "manifest" in stderr


def test_a_manifest_that_is_a_pipe_is_a_sentence(output):
    (output / "manifest.json").unlink()
    os.mkfifo(output / "manifest.json")
    assert rerelease(output)[0] == 1
