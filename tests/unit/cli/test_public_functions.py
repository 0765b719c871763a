"""Every public function: its parameters are documented, and arguments of the wrong type are answered by a sentence."""

import inspect
import os
import re
import subprocess
import sys
import zipfile
from fractions import Fraction
from pathlib import Path

import pytest

import safetab
from tests.cases import cases_of
from tests.commands import invalid
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


def public_functions():
    found = {f"safetab.{name}": getattr(safetab, name) for name in safetab.__all__}
    found |= {f"safetab.tuning.{name}": getattr(safetab.tuning, name) for name in safetab.tuning.__all__}
    functions = {name: one for name, one in found.items() if inspect.isfunction(one)}
    for each in CLASSES:
        members = inspect.getmembers(each, inspect.isfunction)
        functions |= {f"{each.__name__}.{name}": one for name, one in members if not name.startswith("_")}
    return functions


FUNCTIONS = public_functions()
MANY = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
SAMPLES = {
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


def parameters_of(name):
    return [one for one in inspect.signature(FUNCTIONS[name]).parameters.values() if one.name != "self"]


def test_what_is_public_is_there():
    wanted = {"validate", "plan", "run", "rerelease", "export", "status", "open_release", "accuracy", "tuning"}
    assert wanted | {"InvalidInput", "RunFailed"} <= set(safetab.__all__) <= set(dir(safetab))
    assert all(getattr(safetab, name) is not None for name in safetab.__all__)
    assert len(FUNCTIONS) > 30
    with pytest.raises(AttributeError, match="has no attribute 'bogus'"):
        _ = safetab.bogus


def output_of(program, **how):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, **how).stdout


def test_importing_it_loads_nothing_heavy():
    """Nothing outside the standard library, and of safetab little but the words of its options."""
    program = (
        "import sys; before = {*sys.modules}; import safetab; loaded = {*sys.modules} - before;"
        "print({name for name in loaded if name.split('.')[0] not in {'safetab', *sys.stdlib_module_names}});"
        "print(len([name for name in loaded if name.startswith('safetab')]) < 15)"
    )
    assert output_of(program) == "set()\nTrue\n"


def test_importing_it_takes_less_than_a_tenth_of_a_second(tmp_path):
    """CPU seconds beyond those of modules of the standard library that it needs: the least of several times each."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    env |= {"PYTHONPYCACHEPREFIX": str(tmp_path)}

    def least(program):
        return min(float(output_of(f"import time; {program}; print(time.process_time())", env=env)) for _ in range(3))

    needed = least("import dataclasses, enum, fractions, inspect, pathlib, re, tomllib, typing")
    assert least("import safetab") - needed < 0.1


def test_the_words_of_options_are_those_of_the_census():
    assert DEFAULT_CENSUS.words.areas_file == option_words_module.AREAS_FILE
    assert ", ".join(kind.name for kind in DEFAULT_CENSUS.donor_order) == option_words_module.DONORS


def _owner(name):
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


PATHS = ("parameters", "data", "out")


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        ({"threads": "2"}, TypeError, "options: threads must be a whole number, not str."),
        ({"threads": True}, TypeError, "options: threads must be a whole number, not bool."),
        ({"rules": "x"}, TypeError, "options: rules must be a list of texts or None, not str."),
        ({"temp": 3}, TypeError, "options: temp must be a pathlib.Path, text or None, not int."),
        ({"overwrite": "yes"}, TypeError, "options: overwrite must be True or False, not str."),
        ({"confidence": None}, TypeError, "options: confidence must be text or a number, not None."),
        ({"options": {}}, TypeError, "run: options must be a RunOptions or None, not dict."),
        (lambda: safetab.sign("OUT"), TypeError, "sign() missing a required argument: 'key'"),
        (lambda: safetab.sign("OUT", kye="x"), TypeError, "sign() has no argument kye. Did you mean key?"),
        (lambda: safetab.docs(x="index"), TypeError, "docs() has no argument x. Known: page."),
        ({"confidnce": "0.9"}, TypeError, "there is no option confidnce. Did you mean confidence?"),
        ({"qqq": 1}, TypeError, "there is no option qqq. Known: engine, "),
        (lambda: safetab.demo("D", census="fr"), TypeError, "demo: census must be 'nz', 'ons' or None, not 'fr'."),
        (lambda: safetab.export("O", "C", form="wide"), TypeError, "export: form must be 'tidy' or 'census', not 'wide'."),
        (lambda: safetab.export("O", "C", form=1), TypeError, "export: form must be 'tidy' or 'census', not int."),
        (lambda: safetab.run("p", "a\0b", "o"), ValueError, "run: data must be a path without a NUL character."),
        ({"temp": Path("a\0b")}, ValueError, "options: temp must be a path without a NUL character."),
        (lambda: safetab.open_release("a\0b"), ValueError, "open_release: path must be a path without a NUL character."),
        (lambda: SAFETAB_P.line_question.cells_of(SEX_BY_AGE_4, ages=17), TypeError,
         "count: ages must be a pair (a whole number, a whole number), not int."),
        (lambda: SAFETAB_H.line_question.cells_of(TENURE.total, category=["x"]), TypeError,
         "count: category must be text, not list."),
    ],
)  # fmt: skip
def test_what_is_no_argument_is_answered_by_a_sentence(call, error, sentence):
    """With the function, and the right name or the choices that there are; options alone are those of a run."""
    with pytest.raises(error, match=f"^{re.escape(sentence)}"):
        call() if callable(call) else safetab.run(*PATHS, **call)


def test_an_engine_that_there_is_not_is_refused_by_a_sentence():
    assert "engine: must be one of local, spark" in invalid(safetab.run, "parameters", "data", "out", engine="abacus")


@pytest.mark.parametrize(
    ("right", "wrong", "kind"),
    [
        (("a", "b"), "ab", list[str]),
        (["a"], ["a", 1], list[str]),
        (1, "1", float),
        (1, True, int),
        ((0, 17), (0, 17, 18), tuple[int, int]),
    ],
)
def test_types_are_checked_as_people_mean_them(right, wrong, kind):
    assert [is_of_type(one, kind) for one in (right, wrong)] == [True, False]


def test_a_function_without_annotations_takes_anything():
    @checks_arguments
    def anything(given, *more, **named):
        return given, more, named

    assert anything(1, 2, three=3) == (1, (2,), {"three": 3})


def test_the_wheel_says_that_it_has_types(tmp_path):
    made = output_of(f"from flit_core.buildapi import build_wheel; print(build_wheel({str(tmp_path)!r}))", cwd=PROJECT)
    names = zipfile.ZipFile(tmp_path / made.strip()).namelist()
    assert {"safetab/__init__.py", "safetab/py.typed"} <= {*names}
    assert {f"safetab/model/products/{product}/census.toml" for product in ("safetab_p", "safetab_h")} <= {*names}


@pytest.mark.parametrize(
    ("folder", "front"),
    cases_of("""
        build/docs | index.html
        docs | overview.md
    """),
)
def test_the_overview_is_the_first_page_of_whatever_is_there(folder, front, tmp_path, monkeypatch):
    monkeypatch.setattr(documentation_module, "PACKAGE", tmp_path / "src" / "safetab")
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / front).touch()
    assert {safetab.docs(), safetab.docs("overview"), safetab.docs("docs/overview.md")} == {tmp_path / folder / front}
