"""No module uses what a library keeps for itself: such a name may change or go with any version."""

import ast
import re

import pytest

from tests.cases import values_of
from tests.conftest import PROJECT

FOLDERS = ("src", "tests", "examples", "tools")
OUR_PACKAGES = {"safetab", "tests", "tools"}
INTERNAL = ("numba.core", "numpy.core", "pyarrow.lib")
"""Modules that their makers call internal, though no underscore says so."""

DOCUMENTED = {
    "_exit",  # of os
    "_replace",  # of named tuples
    "_repr_html_",  # what notebooks ask an object for
    "_repr_mimebundle_",
}
"""Names with an underscore that the documentation of Python or Jupyter tells everybody to use."""

SETTERS = {"getattr", "setattr", "delattr", "hasattr"}


MAY_BE_FOREIGN = re.compile(
    r"(?<!\bself)(?<!\bcls)\._[a-zA-Z]"  # an attribute
    r"|^\s*(?:from|import)\b.*(?<!\w)_[a-zA-Z]|^\s+_\w+(?: as \w+)?,?$"  # an import
    r"|attr\(|import_module\("
    r"|\b(?:core|lib)\b",
    re.MULTILINE,
)
"""What every module has in its text that uses a private name of another; most modules are not read further."""

_USED = re.compile(r"(?:(?<!\bself)(?<!\bcls)\.|[\"'])(_\w+)")
_DEFINED = re.compile(r"(?:(?<![.\w])|\bself\.|\bcls\.)(_\w+)")


def is_private(name):
    return name.startswith("_") and not name.endswith("__") and name not in DOCUMENTED


def modules():
    return sorted(path for folder in FOLDERS for path in (PROJECT / folder).rglob("*.py"))


def own_names(tree):
    """The private names that a module defines: functions, classes, variables, fields."""
    names = set[str]()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and _is_self(node.value):
            names.add(node.attr)
    return names


def foreign_private_names(tree, ours):
    """The line and the name of each use of a private name of a library.

    Of a name that the module imports from a library, everything private is foreign. Of any other object, a private name
    is foreign if no module of ours defines it.
    """
    libraries = dict(_imported_from_libraries(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for name in _full_names(node):
                if _is_foreign(name) and (any(map(is_private, name.split("."))) or _is_internal(name)):
                    yield node.lineno, name
        elif isinstance(node, ast.Attribute):
            of_library = _first_name(node) in libraries
            is_foreign = is_private(node.attr) and (of_library or node.attr not in ours)
            if (is_foreign and not _is_self(node.value)) or (
                of_library and _is_internal(_with_module(node, libraries))
            ):
                yield node.lineno, ast.unparse(node)
        elif isinstance(node, ast.Call):
            yield from ((node.lineno, text) for text in _names_in_texts(node) if _is_foreign_text(text, ours))


def _imported_from_libraries(tree):
    """What a name of the module stands for, if that is of a library."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias, full in zip(node.names, _full_names(node), strict=True):
                if _is_foreign(full):
                    is_top = isinstance(node, ast.Import) and alias.asname is None
                    yield (full.split(".")[0],) * 2 if is_top else (alias.asname or alias.name, full)


def _full_names(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names]


def _is_foreign(full_name):
    return full_name.partition(".")[0] not in {"", "__future__", *OUR_PACKAGES}


def _is_internal(full_name):
    return any(f"{full_name}.".startswith(f"{internal}.") for internal in INTERNAL)


def _is_self(node):
    return isinstance(node, ast.Name) and node.id in {"self", "cls"}


def _first_name(node):
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _with_module(node, libraries):
    first, _, rest = ast.unparse(node).partition(".")
    return f"{libraries[first]}.{rest}"


def _names_in_texts(call):
    """A module or attribute that is named by a text."""
    called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    texts = [one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    if called in SETTERS:
        yield from texts[:1]
    elif called == "import_module":
        yield from texts


def _is_foreign_text(text, ours):
    if "." not in text:
        return is_private(text) and text not in ours
    return _is_foreign(text) and (any(map(is_private, text.split("."))) or _is_internal(text))


def test_no_module_uses_a_private_name_of_a_library():
    texts = {path: path.read_text() for path in modules()}
    assert len(texts) > 500
    suspects = {path: text for path, text in texts.items() if MAY_BE_FOREIGN.search(text)}
    assert len(suspects) > 50
    used = {name for text in suspects.values() for name in _USED.findall(text) if is_private(name)}
    defining = [text for text in texts.values() if used.intersection(_DEFINED.findall(text))]
    ours = set[str]().union(*(own_names(ast.parse(text)) for text in defining))
    found = [
        f"{path.relative_to(PROJECT)}:{line}: {name}"
        for path, text in suspects.items()
        for line, name in foreign_private_names(ast.parse(text), ours)
    ]
    assert found == []


@pytest.mark.parametrize(
    "source",
    [
        source
        for [source] in values_of(r"""
            "import typer._coercion"
            "from typer._coercion import build_runtime_param"
            "from typer import _coercion"
            "import numba.core.caching"
            "from numba.core import caching"
            "from importlib import import_module\nimport_module('numba.core.caching')"
            "import atexit\natexit._run_exitfuncs()"
            "import numba\nnumba.core.config.CACHE_DIR"
            "import pyarrow as pa\npa._compute"
            "import pyarrow.parquet as pq\npq.core._parquet"
            "from pyspark import SparkContext\nSparkContext._gateway"
            "from pyspark import SparkContext\nSparkContext._ours"
            "def of(session):\n    return session._jvm"
            "def of(session):\n    return session.sparkContext._jsc.hadoopConfiguration()"
            "import numba\ndef of(loop):\n    numba.njit(loop)._cache = None"
            "def of(parameter):\n    return getattr(parameter, '_runtime_param', None)"
            "if True:\n    def late():\n        from rich import _console"
        """)
    ],
)
def test_a_private_name_that_is_planted_is_found(source):
    assert MAY_BE_FOREIGN.search(source)
    assert list(foreign_private_names(ast.parse(source), {"_ours"}))


@pytest.mark.parametrize(
    "source",
    [
        source
        for [source] in values_of(r"""
            "import os\nos._exit(0)"
            "from __future__ import annotations"
            "import safetab.counting\nsafetab.counting._ours"
            "from safetab.counting import _ours"
            "class A:\n    def of(self):\n        return self._own"
            "def of(shown):\n    return shown._repr_html_()"
            "def of(other):\n    return other._ours"
            "import numpy\nnumpy.__version__"
        """)
    ],
)
def test_a_name_of_our_own_and_a_public_one_are_no_finding(source):
    assert not list(foreign_private_names(ast.parse(source), {"_ours"}))
