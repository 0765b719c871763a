"""Docstrings, comments, messages, pages and documents are written in plain English.

Readers had to translate each of the phrases below. None of them may occur in the program, its page
scripts, the documentation and its programs, or PAGES.
"""

import re
from functools import cache
from pathlib import Path

import pytest

from tests.cases import cases_of
from tests.conftest import PROJECT

SUFFIXES = {
    "src": {".py", ".toml", ".js", ".html", ".css"},
    "docs": {".md", ".ipynb"},
    "tools/docs": {".py", ".css"},
}
PAGES = ("README.md", "CONTRIBUTING.md", "tools/README.md")

COMMENT_SIGNS = {"#", "//", "*"}


def phrases(table):
    return {name: rest for name, *rest in (line.strip().split(" ~ ") for line in table.strip().splitlines())}


# phrase, how it is found at the beginning of a word, in small letters, a sentence that has it
PHRASES = phrases(
    r"""
    whoever ~ whoever\b ~ The session is whoever's started it.
    so many ~ so many\b ~ How many of so many groups would be published, on average.
    there already ~ there already\b ~ r.html has 1 problem: is there already.
    to mean something ~ to mean something\b ~ "spark" for --spark-master to mean something.
    told ~ told\b ~ A damaged page is told in other words.
    needn't ~ needn\W{1,2}t\b ~ who doesn't use Spark needn't have it
    give or take ~ give or take\b ~ How many people there are somewhere, give or take.
    what is given ~ what is given\b ~ Check what is given.
    all that is wrong ~ all that is wrong\b ~ Check it and tell all that is wrong.
    hardly ~ hardly\b ~ Noise alone hardly explains this difference.
    as it stands ~ as (it stands|they stand)\b ~ The loop is compiled as it stands.
    a human's eye ~ human's eye\b ~ points worth a human's eye
    the machine refused ~ machine refused: ~ The run failed: the machine refused: Permission
    not so ~ not so[.;,] ~ 2 rows are not so.
    up to, but not ~ up to, but not\b ~ from 0 up to, but not, 1
    none if there are none ~ none if there are none\b ~ the worst; none if there are none
    with which ~ with which parameters are chosen\b ~ The page with which parameters are chosen.
    """
)
EXACT_PHRASES = phrases(
    r'''
    a docstring that begins with Of ~ """Of  ~ """Of one number of a table."""
    is none ~ is none\b ~ "x" is none. Say both, male or female.
    Who as the subject ~ Who [a-z]+s [^?:;,"]{1,60} (needs?|uses?|must|runs?)\b ~ Who chooses parameters needs no data.
    Go on ~ "Go on" ~ element("h2", {}, "Go on")
    '''
)
"""Phrases that are found with their capital letters."""
EVERY_PHRASE = PHRASES | EXACT_PHRASES

PLAIN = """The margin of error of one number, or None. The session's creator stops it. `if place is None:`
Expected number of published groups. r.html already exists. --spark-master needs --engine spark.
PySpark is optional. sex must be both, male or female, not "x". 2 rows break this rule. At least 0 and below 1.
Choosing parameters needs no data. The difference is not so large. Who lives with whom: the people of a block.
An untold number of also many things. Write an interactive page. Check all inputs and list every problem."""


def sentences(text):
    """The text with each line break, comment sign and pair of joined string literals as one space."""
    joined = re.sub(r"""(?<!["'])(["'`])\s*\n\s*f?\1(?!["'])""", " ", text.replace('\\n",', ""))
    return " ".join(word for word in joined.split() if word not in COMMENT_SIGNS)


def found(phrase, text):
    """Each occurrence of the phrase in sentences, with some words around it."""
    pattern, _ = EVERY_PHRASE[phrase]
    searched = text if phrase in EXACT_PHRASES else in_small_letters(text)
    matches = [match for match in re.finditer(pattern, searched) if begins_a_word(match)]
    return [text[max(match.start() - 40, 0) : match.end() + 20] for match in matches]


def begins_a_word(match):
    """Checked here, since a pattern that begins with letters is found 40 times as fast as one with a boundary."""
    before = match.string[match.start() - 1] if match.start() else " "
    return not (before.isalnum() or before == "_")


@cache
def in_small_letters(text):
    return text.lower()


@pytest.fixture(scope="module")
def written():
    """Every file that is checked, with its sentences."""
    paths = [PROJECT / name for name in PAGES]
    for folder, suffixes in SUFFIXES.items():
        paths += [path for path in sorted((PROJECT / folder).rglob("*")) if path.suffix in suffixes]
    paths = [path for path in paths if "documentation" not in path.parts]  # made from docs/, in a source archive
    return {path.relative_to(PROJECT): sentences(path.read_text()) for path in paths}


@pytest.mark.parametrize("phrase", EVERY_PHRASE)
def test_no_file_has_the_phrase(phrase, written):
    faults = [f"{path}: ... {words} ..." for path, text in written.items() for words in found(phrase, text)]
    assert not faults, "\n".join([f"{len(faults)} times:", *faults])


@pytest.mark.parametrize("phrase", EVERY_PHRASE)
def test_a_planted_sentence_is_caught(phrase):
    _, planted = EVERY_PHRASE[phrase]
    assert found(phrase, sentences(planted))
    assert found(phrase, sentences(f"{PLAIN}\n{planted}\n"))


@pytest.mark.parametrize("between", ["\n    ", "\n    # ", "\n// ", "\n * ", ' "\n    f"', "'\n    '"])
def test_a_phrase_is_caught_across_two_lines(between):
    for phrase in ("so many", "give or take", "to mean something"):
        assert found(phrase, sentences(f"# {phrase.replace(' ', between, 1)}"))


@pytest.mark.parametrize("phrase", EVERY_PHRASE)
def test_plain_sentences_pass(phrase):
    assert not found(phrase, sentences(PLAIN))


def test_every_kind_of_file_is_read(written):
    kinds = {f"{path.parts[0]} {path.suffix}" for path in written}
    assert kinds >= {*cases_of("src .py | src .js | src .html | docs .md | docs .ipynb")[0]}
    assert {Path(name) for name in PAGES} <= set(written)
