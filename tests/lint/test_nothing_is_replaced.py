"""No shipped code replaces functions: it imports no mocks, and assigns to nothing of an import."""

import ast

import pytest

from tests.conftest import PROJECT

SOURCE = PROJECT / "src"
HOOKS = {"sys.stdout", "sys.stderr", "sys.excepthook", "sys.unraisablehook"}
"""What Python itself offers to programs for replacement."""
MOCKS = {"unittest", "mock"}


def _names(target):
    """What a statement assigns to or deletes, one by one."""
    inner = target.elts if isinstance(target, ast.Tuple | ast.List) else ()
    return [name for part in inner for name in _names(part)] or [target]


def _targets(node):
    if isinstance(node, ast.Assign | ast.Delete):
        return [name for target in node.targets for name in _names(target)]
    if isinstance(node, ast.AugAssign | ast.AnnAssign):
        return [node.target]
    is_setter = isinstance(node, ast.Call) and ast.unparse(node.func) in {"setattr", "delattr"}
    return [ast.Attribute(node.args[0], "a name")] if is_setter else []


def replacements(source):
    """What replaces something of another module, and each import of mocks."""
    nodes = list(ast.walk(ast.parse(source)))
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    named = [(node, alias) for node in imports for alias in node.names]
    modules = [getattr(node, "module", None) or alias.name for node, alias in named]
    found = [module for module in modules if module.partition(".")[0] in MOCKS]
    imported = {(alias.asname or alias.name).partition(".")[0] for _, alias in named}
    for target in (target for node in nodes for target in _targets(node)):
        words = ast.unparse(target)
        is_of_another = isinstance(target, ast.Attribute) and words.partition(".")[0] in imported
        if is_of_another and words not in HOOKS:
            found.append(words)
    return found


def test_no_shipped_code_replaces_functions():
    paths = sorted(SOURCE.rglob("*.py"))
    assert len(paths) > 300
    texts = {str(path.relative_to(SOURCE)): path.read_text(encoding="utf-8") for path in paths}
    assert {name: words for name, text in texts.items() if (words := replacements(text))} == {}


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("from unittest.mock import patch", ["unittest.mock"]),
        ("def late():\n    import unittest", ["unittest"]),
        ("from safetab.runs import run\nrun.bits_of_run = None", ["run.bits_of_run"]),
        ("import safetab.runs.run\nsafetab.runs.run.bits_of_run = None", ["safetab.runs.run.bits_of_run"]),
        ("from safetab.a import Bits\none, Bits.words = 1, None", ["Bits.words"]),
        ("from safetab.a import Bits\nsetattr(Bits, 'words', None)", ["Bits.a name"]),
        ("from safetab.a import Bits\nbits = Bits()\nbits.words = None", []),
        ("import sys\nsys.excepthook = print", []),
    ],
)
def test_a_planted_replacement_is_found(planted, found):
    assert replacements(planted) == found
