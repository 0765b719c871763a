"""The pictures of the documentation are what the script takes, and a terminal's picture is what its commands print."""

import re
import struct

import pytest

from tests.cases import cases_of
from tests.conftest import PROJECT
from tools.docs.pictures.pictured import PAGES, TERMINALS, Terminal
from tools.docs.pictures.terminal import page_of

PICTURES = PROJECT / "docs" / "pictures"
HOW_TOS = sorted((PROJECT / "docs" / "how-to").glob("*.md"))
SHOWN = re.compile(r"!\[[^]]{20,}\]\(\S*pictures/([a-z]+)\.png\)")


def pictures_in(*pages):
    return {name for page in pages for name in SHOWN.findall(page.read_text())}


@pytest.mark.parametrize("page", HOW_TOS, ids=lambda page: page.stem)
def test_every_how_to_has_a_picture_with_words(page):
    assert pictures_in(page)


def test_the_script_takes_each_picture_that_a_page_shows_and_no_other():
    taken = [one.name for one in (*PAGES, *TERMINALS)]
    assert sorted(taken) == sorted(pictures_in(PROJECT / "README.md", *(PROJECT / "docs").rglob("*.md")))
    assert sorted(taken) == sorted(path.stem for path in PICTURES.glob("*.png"))


@pytest.mark.parametrize("terminal", TERMINALS, ids=lambda terminal: terminal.name)
def test_the_picture_of_a_terminal_is_wide_enough_to_read_and_small(terminal):
    content = (PICTURES / f"{terminal.name}.png").read_bytes()
    width, height = struct.unpack(">II", content[16:24])
    assert (content[:8], width) == (b"\x89PNG\r\n\x1a\n", 1400)
    assert height < 1000
    assert len(content) < 80_000


def page_with(folder, *shown, before=(), exit_code=0):
    return (folder / page_of(Terminal("one", shown, before, exit_code), folder).page).read_text()


def test_commands_and_what_they_print_are_on_the_page_with_their_colours(tmp_path):
    commands = ("test -t 1 && stty size", r"cat made; printf '\033[1mbold\033[0m <&\n'; exit 1")
    page = page_with(tmp_path, *commands, before=("echo text > made",), exit_code=1)
    code = page.partition("<pre>")[2]
    assert re.sub("<[^>]*>", "", code).splitlines() == [
        "$ test -t 1 &amp;&amp; stty size",
        "40 88",
        r"$ cat made; printf &#x27;\033[1mbold\033[0m &lt;&amp;\n&#x27;; exit 1",
        "text",
        "bold &lt;&amp;",
        "",
    ]
    assert re.search(r'<span style="[^"]*font-weight: bold">bold</span>', code)
    assert "http" not in page


def test_each_page_begins_in_an_empty_folder(tmp_path):
    for _ in range(2):
        assert re.sub("<[^>]*>", "", page_with(tmp_path, "ls -1")).splitlines()[-4:] == ["$ ls -1", "demo", "nz", ""]


@pytest.mark.parametrize(
    ("command", "reason"),
    cases_of("""
        exit 3 | ended with 3
        pwd | names a folder of this machine
    """),
)
def test_a_command_that_fails_or_names_a_folder_is_not_pictured(command, reason, tmp_path):
    with pytest.raises(AssertionError, match=reason):
        page_with(tmp_path, command)
