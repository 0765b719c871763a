"""What the README promises a newcomer: the demo, its pages, and an example that runs as written."""

import re
import shlex
import struct
import subprocess
import sys
from pathlib import Path

import pytest

import safetab
from tests.cases import later
from tests.commands import done
from tests.conftest import PROJECT

README = (PROJECT / "README.md").read_text()
BLOCKS = [block.strip("\n").splitlines() for block in README.split("```")[1::2]]
(AT,) = (at for at, block in enumerate(BLOCKS) if block[0].startswith(".venv/bin/safetab"))
COMMANDS, ANSWER = BLOCKS[AT : AT + 2]
"""The commands of one block, and in the next block what the last of them prints."""
DEMO = Path("build/demo")
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
SIX_MARGINS = 6 * 47
"""Two runs differ by more, 8 standard deviations, less than once in a thousand million times."""


def recipe(target):
    """What make would do."""
    return subprocess.run(
        ["make", "-n", *target.split()], cwd=PROJECT, capture_output=True, text=True, check=True
    ).stdout


def said_by(command):
    """On a terminal of the usual width, as the README shows it."""
    program, *words = shlex.split(command)
    assert program == ".venv/bin/safetab"
    return done(*words, env={"COLUMNS": "80"})


@pytest.fixture(scope="module")
def front(tmp_path_factory):
    """What the demo said, in a folder like a fresh clone after `make demo`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [".venv/bin/safetab"])
        patch.chdir(tmp_path_factory.mktemp("front"))
        *_, demo = re.findall(r"^\.venv/bin/safetab .+$", recipe("demo"), re.MULTILINE)
        yield said_by(demo)


def test_the_demo_ends_with_pages_to_open(front):
    _, found, last = front.partition("Open these in a browser")
    assert found
    pages = re.findall(r"^  build/demo/(\S+\.html)$", last, re.MULTILINE)
    assert pages == ["site/index.html", "site-households/index.html", "explorer.html", "output/report.html"]
    assert all((DEMO / page).stat().st_size > 1000 for page in pages)
    assert "Providence County" in front


@pytest.mark.usefixtures("front")
def test_the_sites_of_the_demo_are_of_people_and_of_households():
    for site, noun in (("site", "person"), ("site-households", "household")):
        assert f'"noun":"{noun}"' in (DEMO / site / "data/facts.js").read_text()


def test_the_commands_that_the_demo_names_run_as_written(front):
    commands = re.findall(r"^  (\.venv/bin/safetab .+)$", front, re.MULTILINE)
    assert [command.split()[1] for command in commands] == ["show", "plan"]
    assert all(map(said_by, commands))


def test_the_program_starts_where_the_readme_names_it():
    bin_folder = Path(sys.executable).parent
    assert b"safetab" in subprocess.run([bin_folder / "safetab", "--version"], capture_output=True, check=True).stdout


@pytest.mark.usefixtures("front")
def test_the_readme_names_what_the_demo_wrote():
    named = re.findall(r"`((?:site|explorer|output)[\w./-]*)`", README)
    assert len(named) == 5
    assert all((DEMO / name).exists() for name in named)


@pytest.mark.usefixtures("front")
@pytest.mark.parametrize("out", ["build/demo/output", later("build/mine")])
def test_the_readmes_example_runs_as_written(out):
    """By day the demo's own run answers, in the place of another run of its census."""
    assert [command.split()[1] for command in COMMANDS] == ["validate", "plan", "run", "show"]
    commands = [command.replace("build/mine", out) for command in COMMANDS]
    *_, shown = (said_by(command) for command in commands if not Path(out).exists() or " run " not in command)
    same_but_for_noise(shown.splitlines(), ANSWER)
    assert safetab.open_release(out).total("44007", "Dominican").margin_of_error == 47


def same_but_for_noise(printed, expected):
    assert [NUMBER.sub("N", line) for line in printed] == [NUMBER.sub("N", line) for line in expected]
    printed, expected = "\n".join(printed), "\n".join(expected)
    for numbers in zip(NUMBER.findall(printed), NUMBER.findall(expected), strict=True):
        one, other = (float(number.replace(",", "")) for number in numbers)
        assert abs(one - other) <= SIX_MARGINS
    assert re.findall(r"± (\d+)", printed) == re.findall(r"± (\d+)", expected)


@pytest.mark.parametrize("change", [("Dominican", "Hmong"), ("± 47", "± 48"), ("1,341", "1,741")])
def test_words_and_numbers_of_another_answer_are_noticed(change):
    with pytest.raises(AssertionError):
        same_but_for_noise([line.replace(*change) for line in ANSWER], ANSWER)


def test_the_readme_is_one_screen_with_three_pictures():
    assert len(README.splitlines()) <= 90
    pictures = re.findall(r"!\[[^]]+\]\((docs/pictures/[a-z]+\.png)\)", README)
    assert len(pictures) == 3
    for name in pictures:
        content = (PROJECT / name).read_bytes()
        assert (content[:8], struct.unpack(">I", content[16:20])) == (b"\x89PNG\r\n\x1a\n", (1400,))
        assert len(content) < 250_000


@pytest.mark.parametrize("command", ["make demo", "make demo OPEN=1", "make test"])
def test_the_readmes_make_commands_exist(command):
    assert re.search(rf"^{command}$|`{command}`", README, re.MULTILINE)
    assert ("--open" in recipe(command.removeprefix("make "))) == ("OPEN" in command)
