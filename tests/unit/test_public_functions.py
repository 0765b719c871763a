"""Every public function: its parameters are documented, and arguments of the wrong type are answered by a sentence."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import safetab
from tests.conftest import PROJECT
from tests.inside import (
    DEFAULT_CENSUS,
    SAFETAB_H,
    SAFETAB_P,
    SEX_BY_AGE_4,
    TENURE,
    US_PASS,
    checks_arguments,
    documentation_module,
    is_of_type,
    option_words_module,
)

CLASSES = (
    safetab.Release, safetab.Estimate, safetab.Difference, safetab.Ratio, safetab.GroupTable, safetab.Answers,
    safetab.Absence, safetab.Areas, safetab.Groups, safetab.Found, safetab.Statuses,
)  # fmt: skip


class Wrong:
    """Of no type that any function takes."""


def public_functions() -> dict[str, Callable[..., Any]]:
    found = {f"safetab.{name}": getattr(safetab, name) for name in safetab.__all__}
    found |= {f"safetab.tuning.{name}": getattr(safetab.tuning, name) for name in safetab.tuning.__all__}
    functions = {name: one for name, one in found.items() if inspect.isfunction(one)}
    for each in CLASSES:
        members = inspect.getmembers(each, inspect.isfunction)
        functions |= {f"{each.__name__}.{name}": one for name, one in members if not name.startswith("_")}
    return functions


FUNCTIONS = public_functions()
MANY = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
SAMPLES: dict[str, Any] = {
    "str": "text",
    "int": 1,
    "list[str | Path]": ["path"],
    "str | Path": "path",
    "Geographic": "area",
    "Grouped": "group",
    "Iterable[Addend]": [],
    "Answer": object.__new__(safetab.Estimate),
    "Fraction": Fraction(1, 2),
    "float | str": 0.9,
    "Tuning": object.__new__(safetab.tuning.Tuning),
    "TunedLevel": object.__new__(safetab.tuning.TunedLevel),
    "Pass": US_PASS,
    "LineKind": SEX_BY_AGE_4.kinds[0],
    "Mapping[PopulationGroupLevel, Fraction]": {},
}


def parameters_of(name: str) -> list[inspect.Parameter]:
    return [one for one in inspect.signature(FUNCTIONS[name]).parameters.values() if one.name != "self"]


def test_what_is_public_is_there():
    wanted = {"validate", "plan", "run", "rerelease", "export", "status", "open_release", "accuracy", "tuning"}
    assert wanted | {"InvalidInput", "RunFailed"} <= set(safetab.__all__) <= set(dir(safetab))
    assert all(getattr(safetab, name) is not None for name in safetab.__all__)
    assert len(FUNCTIONS) > 30
    with pytest.raises(AttributeError, match="has no attribute 'bogus'"):
        _ = safetab.bogus


def test_importing_it_loads_nothing_heavy():
    """Nothing outside the standard library, and of safetab little but the words of its options."""
    program = (
        "import sys; before = {*sys.modules}; import safetab; loaded = {*sys.modules} - before;"
        "print({name for name in loaded if name.split('.')[0] not in {'safetab', *sys.stdlib_module_names}});"
        "print(len([name for name in loaded if name.startswith('safetab')]) < 15)"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout == "set()\nTrue\n"


def test_importing_it_takes_less_than_a_tenth_of_a_second(tmp_path):
    """CPU seconds beyond those of modules of the standard library that it needs: the least of several times each."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env |= {"PYTHONPYCACHEPREFIX": str(tmp_path)}
    needed = "import dataclasses, enum, fractions, inspect, pathlib, re, tomllib, typing"

    def least(program: str) -> float:
        timed = f"import time; {program}; print(time.process_time())"
        return min(float(subprocess.check_output([sys.executable, "-c", timed], env=env)) for _ in range(5))

    assert least("import safetab") - least(needed) < 0.1


def test_the_words_of_options_are_those_of_the_census():
    assert DEFAULT_CENSUS.words.areas_file == option_words_module.AREAS_FILE
    assert ", ".join(kind.name for kind in DEFAULT_CENSUS.donor_order) == option_words_module.DONORS


def _owner(name: str) -> Any:
    """By its class, so that what it inherits is found."""
    owner, _, own = name.rpartition(".")
    return getattr({one.__name__: one for one in CLASSES}.get(owner), own, FUNCTIONS[name])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_says_what_it_gives(name):
    words = inspect.getdoc(_owner(name)) or ""
    assert len(words.splitlines()[0]) > 15


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_is_documented_once(name):
    documented = re.findall(r"^\s+(\w+): \S", (FUNCTIONS[name].__doc__ or "").partition("Args:")[2], re.MULTILINE)
    assert documented == [one.name for one in parameters_of(name)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_an_argument_of_the_wrong_type_is_answered_by_a_sentence(name):
    """Nothing is opened before the types are checked: what is given besides is of the right type and no more."""
    function, asked = FUNCTIONS[name], [one for one in parameters_of(name) if one.kind not in MANY]
    needed = {one.name: SAMPLES[str(one.annotation)] for one in asked if one.default is one.empty}
    of_object = (Wrong(),) if "self" in inspect.signature(function).parameters else ()
    for one in asked:
        with pytest.raises(TypeError, match=rf"^\w+: {one.name} must be .+, not Wrong\.$"):
            function(*of_object, **needed | {one.name: Wrong()})


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"threads": "2"}, "options: threads must be a whole number, not str."),
        ({"threads": True}, "options: threads must be a whole number, not bool."),
        ({"rules": "clamp-negatives"}, "options: rules must be a list of texts or None, not str."),
        ({"temp": 3}, "options: temp must be a pathlib.Path, text or None, not int."),
        ({"overwrite": "yes"}, "options: overwrite must be True or False, not str."),
        ({"confidence": None}, "options: confidence must be text or a number, not None."),
        ({"options": {}}, "run: options must be a RunOptions or None, not dict."),
    ],
)
def test_options_of_the_wrong_type_are_answered_by_a_sentence(given, sentence):
    with pytest.raises(TypeError, match=f"^{re.escape(sentence)}$"):
        safetab.run("parameters", "data", "out", **given)


def test_a_misspelled_or_missing_argument_is_answered_with_the_function_and_the_right_name():
    with pytest.raises(TypeError, match=r"^sign\(\) missing a required argument: 'key'$"):
        safetab.sign("OUT")
    with pytest.raises(TypeError, match=r"^sign\(\) has no argument kye\. Did you mean key\?$"):
        safetab.sign("OUT", kye="agency")
    with pytest.raises(TypeError, match=r"^docs\(\) has no argument x\. Known: page\.$"):
        safetab.docs(x="index")
    with pytest.raises(TypeError, match=r"^there is no option confidnce\. Did you mean confidence\?$"):
        safetab.run("parameters", "data", "out", confidnce="0.9")
    with pytest.raises(TypeError, match=r"^there is no option qqq\. Known: engine, "):
        safetab.run("parameters", "data", "out", qqq=1)


def test_a_choice_that_there_is_not_is_answered_with_those_that_there_are():
    with pytest.raises(TypeError, match=r"^demo: census must be 'nz', 'ons' or None, not 'fr'\.$"):
        safetab.demo("DEMO", census="fr")
    with pytest.raises(TypeError, match=r"^export: form must be 'tidy' or 'census', not 'wide'\.$"):
        safetab.export("OUT", "CSV", form="wide")
    with pytest.raises(TypeError, match=r"^export: form must be 'tidy' or 'census', not int\.$"):
        safetab.export("OUT", "CSV", form=1)


def test_a_path_that_no_file_can_have_is_answered_by_a_sentence():
    with pytest.raises(ValueError, match=r"^run: data must be a path without a NUL character\.$"):
        safetab.run("parameters", "a\0b", "out")
    with pytest.raises(ValueError, match=r"^options: temp must be a path without a NUL character\.$"):
        safetab.run("parameters", "data", "out", temp=Path("a\0b"))
    with pytest.raises(ValueError, match=r"^open_release: path must be a path without a NUL character\.$"):
        safetab.open_release("a\0b")


def test_an_engine_that_there_is_not_is_refused_by_a_sentence():
    with pytest.raises(safetab.InvalidInput, match="engine: must be one of local, spark"):
        safetab.run("parameters", "data", "out", engine="abacus")


def test_questions_about_lines_are_checked():
    with pytest.raises(TypeError, match=r"count: ages must be a pair \(a whole number, a whole number\), not int\."):
        SAFETAB_P.line_question.cells_of(SEX_BY_AGE_4, ages=17)
    with pytest.raises(TypeError, match=r"count: category must be text, not list\."):
        SAFETAB_H.line_question.cells_of(TENURE.total, category=["family"])


def test_types_are_checked_as_people_mean_them():
    assert is_of_type(("a", "b"), list[str])
    assert not is_of_type("ab", list[str])
    assert not is_of_type(["a", 1], list[str])
    assert is_of_type(1, float)
    assert not is_of_type(True, int)
    assert is_of_type((0, 17), tuple[int, int])
    assert not is_of_type((0, 17, 18), tuple[int, int])


def test_a_function_without_annotations_takes_anything():
    @checks_arguments
    def anything(given, *more, **named):
        return given, more, named

    assert anything(1, 2, three=3) == (1, (2,), {"three": 3})


def test_the_wheel_says_that_it_has_types(tmp_path):
    program = f"from flit_core.buildapi import build_wheel; print(build_wheel({str(tmp_path)!r}))"
    made = subprocess.run([sys.executable, "-c", program], cwd=PROJECT, capture_output=True, text=True, check=True)
    names = zipfile.ZipFile(tmp_path / made.stdout.strip()).namelist()
    assert "safetab/py.typed" in names
    assert {f"safetab/products/{product}/census.toml" for product in ("safetab_p", "safetab_h")} <= {*names}
    assert "safetab/__init__.py" in names


@pytest.mark.parametrize(("folder", "front"), [("build/docs", "index.html"), ("docs", "overview.md")])
def test_the_overview_is_the_first_page_of_whatever_is_there(folder, front, tmp_path, monkeypatch):
    monkeypatch.setattr(documentation_module, "PACKAGE", tmp_path / "src" / "safetab")
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / front).touch()
    assert {safetab.docs(), safetab.docs("overview"), safetab.docs("docs/overview.md")} == {tmp_path / folder / front}
