"""Mutants: the small changes of a syntax tree, each with a name that survives moved lines."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass

_SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In,
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.LShift: ast.RShift, ast.RShift: ast.LShift,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
_OTHER_NAMES = {
    "any": "all",
    "all": "any",
    "min": "max",
    "max": "min",
    "ceil": "floor",
    "floor": "ceil",
}

Change = tuple[ast.AST, str, object]
"""A node, a field of it, and the field's other value."""


@dataclass(frozen=True)
class Mutant:
    """One change of a module. `number` tells apart equal changes of one function."""

    module: str
    function: str
    before: str
    after: str
    number: int = 1

    def __str__(self) -> str:
        number = f" #{self.number}" if self.number > 1 else ""
        return f"{self.module} {self.function}: {self.before} -> {self.after}{number}"


def mutants_of(module: str, source: str) -> Iterator[tuple[Mutant, Callable[[], ast.Module]]]:
    """Each mutant of a module, with what makes its tree."""
    tree = ast.parse(source)
    seen = Counter[Mutant]()
    for function, node, (changed, field, value) in _changes(tree):
        before = _in_a_line(node)
        kept = getattr(changed, field)
        setattr(changed, field, value)
        named = Mutant(module, function, before, _in_a_line(node))
        setattr(changed, field, kept)
        seen[named] += 1
        yield (
            Mutant(module, function, before, named.after, seen[named]),
            _maker(tree, changed, field, value),
        )


def _in_a_line(node: ast.AST) -> str:
    return " ".join(ast.unparse(node).split())


def _maker(tree: ast.Module, node: ast.AST, field: str, value: object) -> Callable[[], ast.Module]:
    def make() -> ast.Module:
        kept = getattr(node, field)
        setattr(node, field, value)
        made = ast.fix_missing_locations(deepcopy(tree))
        setattr(node, field, kept)
        return made

    return make


def _changes(tree: ast.Module) -> Iterator[tuple[str, ast.AST, Change]]:
    """Each change inside a function, with the function's name and the expression to show."""
    for name, function in _functions(tree, ""):
        for statement in function.body:
            for node in _own_nodes(statement):
                for change in _changes_of(node):
                    yield name, node, change


def _functions(node: ast.AST, inside: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _functions(child, f"{inside}{child.name}.")
        elif isinstance(child, ast.FunctionDef):
            yield f"{inside}{child.name}", child
            yield from _functions(child, f"{inside}{child.name}.<locals>.")


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """A node and all below it, without inner functions, annotations and messages."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.JoinedStr | ast.Raise | ast.Assert):
        return
    yield node
    for field, value in ast.iter_fields(node):
        if field in {"annotation", "returns"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                yield from _own_nodes(child)


def _changes_of(node: ast.AST) -> Iterator[Change]:
    match node:
        case ast.Compare(ops=[operator]) | ast.BoolOp(op=operator) | ast.BinOp(op=operator) if (
            type(operator) in _SWAPPED
        ):
            other = _SWAPPED[type(operator)]()
            yield (node, "ops", [other]) if isinstance(node, ast.Compare) else (node, "op", other)
        case ast.UnaryOp(op=ast.Not()):
            yield node, "operand", ast.UnaryOp(ast.Not(), node.operand)
        case ast.UnaryOp(op=ast.USub()):
            yield node, "op", ast.UAdd()
        case ast.Constant(value=bool(value)):
            yield node, "value", not value
        case ast.Constant(value=int(value)):
            yield node, "value", value + 1
        case ast.Call(func=ast.Name(id=name)) if name in _OTHER_NAMES:
            yield node.func, "id", _OTHER_NAMES[name]
        case ast.Call(args=[ast.Name() as first, ast.Name() as second]):
            yield node, "args", [second, first]
        case ast.If(body=[ast.Raise() | ast.Return() | ast.Continue()], orelse=[]):
            yield node, "test", ast.Constant(value=False)
