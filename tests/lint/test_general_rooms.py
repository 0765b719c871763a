"""General rooms know no census: they name no level, kind, pass, state, race or list of the U.S. census.

Names, texts, scripts and pages are read; docstrings and comments may give examples.
"""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest

from tests.cases import cases_of, values_of
from tests.inside import STATE_NAMES, US

SOURCE = Path(__file__).parents[2] / "src" / "safetab"

AMERICAN_ROOMS = [
    room
    for room, *_why in cases_of(
        """
    inputs/bureau | the Bureau's files
    inputs/records/cef
    inputs/area_files.py | a door to the Bureau's files, as the next four
    inputs/configuration.py
    inputs/own_records.py
    inputs/public_files.py
    inputs/specified_files.py
    model/option_words.py
    model/known_census.py
    model/us | its census as a value
    apps/bureau
    apps/synthetic | a made-up U.S. census
    apps/audit | worlds in the Bureau's files, spelled apart from the program on purpose
    templates/audit
    templates/new_parameters | of a made-up U.S. census
    model/products/bureau_columns.py
    model/products/safetab_p
    model/products/safetab_h
    counting/local/cef.py
    release/files/official
    release/files/census_form.py
    inputs/tuning/paper.py | the paper's tables
    cli/commands/synthetic_commands.py
    cli/commands/demo.py
    cli/functions/demo.py
    cli/functions/made_up.py
    cli/commands/synthesize.py
    """
    )
]
"""The rooms that may be American, by name."""

WORDS = re.compile(
    r"(?<![a-z])(us census|county|counties|tracts?|aiannh|puerto|races?|ethnicit(?:y|ies)|ethnic|hispanic|fips|substate"
    r"|qrace\d?|qspan|tabblk\w*|grf|municipios?|tribal|bureau|below states?)(?![a-z])"
    r"|(?<![A-Za-z])(?:Regional|REGIONAL|Detailed|DETAILED)(?![A-Za-z])"
)
"""Words of the U.S. census, as whole words or as parts of a name."""

TEXTS = {
    *(level.label for level in US.area_levels),
    *(each.name for each in (*US.kinds, *US.passes, *US.group_kinds, *US.group_levels)),
    *(name for name, _ in STATE_NAMES.values()),
}
"""Texts that are American if they stand alone."""

EXCEPTIONS = {
    "runs/spend_log/log_lines.py": '"state"',  # the log's key for the state of a run
    "core/privacy/output_status.py": "published by the Census Bureau",  # the status of the Bureau's own numbers
}
"""Files, and texts in them that are meant."""

_STATES = re.compile(r"\b(?:" + "|".join(name for name, _ in STATE_NAMES.values()) + r")\b")
_NEXT_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TEXT_IN_SCRIPT = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'|`([^`]*)`")
_COMMENT_IN_SCRIPT = re.compile(r"/\*.*?\*/|(?<!:)//[^\n]*|<!--.*?-->", re.DOTALL)


def is_general(path):
    """Whether the file lies in none of the American rooms."""
    name = path.relative_to(SOURCE).as_posix()
    return not any(name == room or name.startswith(f"{room}/") for room in AMERICAN_ROOMS)


def american_in_python(source):
    """Lines of a Python file that know the U.S. census. The name of the Bureau's application doesn't count, nor does a face."""
    source = source.replace("apps.bureau.", "apps.").partition("\nHANDED_OUT = ")[0]
    if _may_be_american(source):
        yield from _american_tokens(source)


def _may_be_american(source):
    """Whether a word is anywhere in the file, also in its docstrings; most files are not read further."""
    return _has_word(source) or any(f"{quote}{text}{quote}" in source for text in TEXTS for quote in "\"'")


def _american_tokens(source):
    docstrings = set(_docstring_lines(ast.parse(source)))
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        line = token.start[0]
        is_text = token.type in {tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}
        if line not in docstrings and (is_text or token.type == tokenize.NAME):
            alone = token.string.lstrip("frbFRB").strip("\"'") if is_text else ""
            if alone in TEXTS or _has_word(token.string):
                yield f"{line}: {token.string[:100]}"


def american_in_page(source):
    """What a script, a page or a template knows of the U.S. census."""
    code = _COMMENT_IN_SCRIPT.sub("", source)
    yield from (text for text in ["".join(found) for found in _TEXT_IN_SCRIPT.findall(code)] if text in TEXTS)
    yield from (line.strip()[:80] for line in code.splitlines() if _has_word(line))


def _has_word(text):
    apart = _NEXT_WORD.sub(" ", text.replace("_", " "))
    return any(pattern.search(spelled) for pattern in (WORDS, _STATES) for spelled in (apart, apart.lower()))


def _docstring_lines(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


def american_lines():
    """Every American line of the general rooms."""
    found = []
    for path in sorted(SOURCE.rglob("*")):
        is_read = path.suffix in {".py", ".js", ".html", ".txt", ".css"} or path.name in {"texts.toml", "meanings.toml"}
        is_made = "documentation" in path.parts  # from docs/, in a source archive
        if is_read and is_general(path) and not is_made:
            reader = american_in_python if path.suffix == ".py" else american_in_page
            name = path.relative_to(SOURCE).as_posix()
            meant = EXCEPTIONS.get(name, "\n")  # which no line has
            found += [f"{name}: {line}" for line in reader(path.read_text()) if meant not in line]
    return found


def test_general_rooms_know_no_census():
    found = american_lines()
    assert not found, "\n".join([f"{len(found)} lines:", *found])


@pytest.mark.parametrize("room", AMERICAN_ROOMS)
def test_every_american_room_exists(room):
    assert (SOURCE / room).exists()


@pytest.mark.parametrize(
    "planted",
    [
        planted
        for [planted] in values_of(r"""
            'level = census.area_level("COUNTY")'
            'if kind.name == "state":\n    pass'
            'passes = ("us", "pr")'
            "from safetab.model.us.us_census import US"
            "most = config.max_race_codes"
            "DETAILED = 2"
            'name = "in Alabama and Texas"'
            "class TractNames:\n    pass"
            'listed = census.group_list("substate only")'
            'message = f"{share} of the groups below state level"'
            'columns = ["QRACE1", "TABBLKST"]'
            'kind = "race alone"'
        """)
    ],
)
def test_the_guard_finds_what_is_planted(planted):
    assert list(american_in_python(planted))


@pytest.mark.parametrize(
    "planted",
    [
        'if (level.label === "PR-STATE") return;',
        "<p>Find a county</p>",
        "const kinds = ['nation'];",
        "if (isCounty) return;",
    ],
)
def test_the_guard_finds_what_is_planted_in_pages(planted):
    assert list(american_in_page(planted))


def test_the_guard_leaves_general_words_alone():
    assert not list(
        american_in_python('def trace(state, place):\n    """A county, for example."""\n    return "en-US"')
    )
    assert not list(american_in_page('place(state, "detailed table"); // as for a county'))
