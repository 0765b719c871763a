"""The options of Python's functions have types: what a type checker accepts is what the functions take."""

import re
import subprocess
import sys
from functools import reduce
from operator import or_
from types import UnionType
from typing import Literal, Union, get_args, get_origin, get_type_hints

import pytest

from tests.conftest import PROJECT
from tests.inside import declared_options_module, given_options_module

CALLS = PROJECT / "tests" / "typing" / "calls.py"


def texts_of_choices(kind):
    """The type that checks values when they are given: it takes older names, too."""
    kinds = [type(get_args(each)[0]) if get_origin(each) is Literal else each for each in get_args(kind) or (kind,)]
    return (
        str if get_origin(kind) is Literal else reduce(or_, kinds) if get_origin(kind) in {Union, UnionType} else kind
    )


@pytest.mark.parametrize(
    ("types", "declared"),
    [
        (given_options_module.GivenSteps, declared_options_module.STEPS),
        (given_options_module.GivenRerelease, declared_options_module.RERELEASE),
        (given_options_module.GivenValidate, declared_options_module.VALIDATE),
        (given_options_module.GivenRun, declared_options_module.RUN),
        (given_options_module.GivenAccuracy, declared_options_module.ASSESS),
        (given_options_module.GivenCompare, declared_options_module.COMPARE),
    ],
)
def test_the_types_are_those_of_the_declared_options(types, declared):
    taken = {name: texts_of_choices(kind) for name, kind in get_type_hints(types).items()}
    assert taken == {option.name: option.python_type for option in declared}
    assert not types.__required_keys__  # type: ignore[attr-defined] # each has a default


@pytest.mark.slow
def test_a_type_checker_finds_each_wrong_call_and_no_other(tmp_path):
    """By hand, with the same result: `basedpyright tests/typing/calls.py`."""
    lines = CALLS.read_text("utf-8").splitlines()
    wrong = {number for number, line in enumerate(lines, start=1) if line.endswith("# wrong")}
    assert len(wrong) > 15
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "", "--cache-dir", str(tmp_path), str(CALLS)]
    found = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False).stdout
    assert {int(number) for number in re.findall(r"calls\.py:(\d+): error", found)} == wrong, found
