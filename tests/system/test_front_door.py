"""What the README promises a newcomer: the demo, its pages, and an example that runs as written."""

from __future__ import annotations

import os
import re
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import safetab
from tests.conftest import PROJECT

README = (PROJECT / "README.md").read_text(encoding="utf-8")
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
SIX_MARGINS = 6 * 47
"""Two runs differ by more, 8 standard deviations, less than once in a thousand million times."""


@dataclass(frozen=True)
class Shown:
    """A command of the README and what it shows below it, if anything."""

    command: str
    printed: list[str]


def examples() -> list[Shown]:
    """The commands of one block, and in the next block what the last of them prints."""
    blocks = [block.strip("\n").splitlines() for block in README.split("```")[1::2]]
    (at,) = (at for at, block in enumerate(blocks) if block[0].startswith(".venv/bin/safetab"))
    *before, last = blocks[at]
    return [*(Shown(command, []) for command in before), Shown(last, blocks[at + 1])]


def in_shell(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """On a terminal of the usual width, as the README shows it."""
    environment = os.environ | {"COLUMNS": "80"}
    return subprocess.run(command, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@dataclass(frozen=True)
class Front:
    """A folder like a fresh clone after `make demo`, and what the demo said."""

    folder: Path
    said: str

    @property
    def demo(self) -> Path:
        return self.folder / "build" / "demo"


@pytest.fixture(scope="module")
def front(tmp_path_factory: pytest.TempPathFactory) -> Front:
    folder = tmp_path_factory.mktemp("front")
    (folder / ".venv").mkdir()
    (folder / ".venv" / "bin").symlink_to(Path(sys.executable).parent)
    recipe = re.findall(r"^\.venv/bin/safetab .+$", in_shell("make -n demo", PROJECT).stdout, re.MULTILINE)
    ended = in_shell(recipe[-1], folder)
    assert ended.returncode == 0, ended.stderr
    return Front(folder, ended.stdout)


def test_the_demo_ends_with_pages_to_open(front):
    last = front.said[front.said.index("Open these in a browser") :]
    pages = re.findall(r"^  (build/demo/\S+\.html)$", last, re.MULTILINE)
    assert pages == [
        "build/demo/site/index.html",
        "build/demo/site-households/index.html",
        "build/demo/explorer.html",
        "build/demo/output/report.html",
    ]
    assert all((front.folder / page).stat().st_size > 1000 for page in pages)
    assert "Providence County" in front.said


def test_the_sites_of_the_demo_are_of_people_and_of_households(front):
    for site, noun in (("site", "person"), ("site-households", "household")):
        assert f'"noun":"{noun}"' in (front.demo / site / "data" / "facts.js").read_text()


def test_the_commands_that_the_demo_names_run_as_written(front):
    commands = re.findall(r"^  (\.venv/bin/safetab .+)$", front.said, re.MULTILINE)
    assert [command.split()[1] for command in commands] == ["show", "plan"]
    for command in commands:
        ended = in_shell(command, front.folder)
        assert ended.returncode == 0, ended.stderr


def test_the_readme_names_what_the_demo_wrote(front):
    named = re.findall(r"`((?:site|explorer|output)[\w./-]*)`", README)
    assert len(named) == 5
    assert all((front.demo / name).exists() for name in named)


def test_the_readmes_example_runs_as_written(front):
    shown = examples()
    assert [example.command.split()[1] for example in shown] == ["validate", "plan", "run", "show"]
    for example in shown:
        ended = in_shell(example.command, front.folder)
        assert ended.returncode == 0, ended.stderr
        if example.printed:
            same_but_for_noise(ended.stdout.splitlines(), example.printed)
    assert safetab.open_release(front.folder / "build" / "mine").total("44007", "Dominican").margin_of_error == 47


def same_but_for_noise(printed: list[str], expected: list[str]) -> None:
    assert [NUMBER.sub("N", line) for line in printed] == [NUMBER.sub("N", line) for line in expected]
    for line, as_shown in zip(printed, expected, strict=True):
        for number, of_readme in zip(NUMBER.findall(line), NUMBER.findall(as_shown), strict=True):
            assert abs(float(number.replace(",", "")) - float(of_readme.replace(",", ""))) <= SIX_MARGINS
    assert re.findall(r"± (\d+)", "\n".join(printed)) == re.findall(r"± (\d+)", "\n".join(expected))


def test_words_and_numbers_of_another_answer_are_noticed():
    shown = examples()[-1].printed
    for other in (["Hmong" if "Dominican" in line else line for line in shown], [*shown[:-2], "1,999 ± 47", shown[-1]]):
        with pytest.raises(AssertionError):
            same_but_for_noise(other, shown)
    with pytest.raises(AssertionError):
        same_but_for_noise([line.replace("1,341", "1,741") for line in shown], shown)
    with pytest.raises(AssertionError):
        same_but_for_noise([line.replace("± 47", "± 48") for line in shown], shown)


def test_the_readme_is_one_screen_with_three_pictures():
    assert len(README.splitlines()) <= 90
    pictures = re.findall(r"!\[[^]]+\]\((docs/pictures/[a-z]+\.png)\)", README)
    assert len(pictures) == 3
    for name in pictures:
        content = (PROJECT / name).read_bytes()
        width, _ = struct.unpack(">II", content[16:24])
        assert (content[:8], width) == (b"\x89PNG\r\n\x1a\n", 1400)
        assert len(content) < 250_000


@pytest.mark.parametrize("command", ["make demo", "make demo OPEN=1", "make test"])
def test_the_readmes_make_commands_exist(command):
    assert re.search(rf"^{command}$|`{command}`", README, re.MULTILINE)
    recipe = in_shell(command.replace("make", "make -n", 1), PROJECT)
    assert recipe.returncode == 0, recipe.stderr
    assert ("--open" in recipe.stdout) == ("OPEN" in command)
