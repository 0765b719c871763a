"""The rooms of the program, and the arrows and names between them.

`python -m tools.rooms` counts them, and lists what is wrong. A room is a package below `safetab`,
or an application below `safetab.apps`. Its face is `HANDED_OUT` in its `__init__`: the names that
other rooms use, by module. `--write` renews all faces from what is used.
"""

from __future__ import annotations

import ast
import re
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests import inside

PROJECT = Path(__file__).parents[1]
PACKAGE = "safetab"
FACE = "HANDED_OUT"
OWN_FACE = {PACKAGE}
"""Rooms whose face is `__all__`: what users import.

A name that they alone hand on is in no other face.
"""
USERS = ("tests", "tools")
"""Folders with programs that use the program's names."""
WIDTH = 100

Name = tuple[str, str]
"""A module and a name in it."""


@dataclass
class Module:
    """One module: the names that it defines, and those that it imports.

    Also the names of others that it uses.
    """

    tree: ast.Module
    is_package: bool
    defined: dict[str, ast.stmt] = field(default_factory=dict)
    imported: dict[str, Name] = field(default_factory=dict)


def room_of(module: str) -> str:
    parts = module.split(".")
    if len(parts) > 2 and parts[1] == "apps":
        return ".".join(parts[:3])
    is_top = len(parts) == 1 or parts[1] in {"__main__", "apps", "tuning"}
    return PACKAGE if is_top else ".".join(parts[:2])


def read_modules(source: Path) -> dict[str, Module]:
    found = {}
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source.parent).with_suffix("").parts
        is_package = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_package else parts)
        found[name] = module_of(name, path.read_text(encoding="utf-8"), is_package=is_package)
    return found


def module_of(name: str, source: str, *, is_package: bool = False) -> Module:
    module = Module(ast.parse(source), is_package)
    for statement in module.tree.body:
        for each in _defined_by(statement):
            module.defined[each] = statement
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ImportFrom):
            origin = _origin(name, node, is_package=is_package)
            for alias in node.names:
                module.imported[alias.asname or alias.name] = (origin, alias.name)
    return module


def _defined_by(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        yield statement.name
    elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            yield from (
                each.id
                for each in ast.walk(target)
                if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)
            )
    elif isinstance(statement, (ast.If, ast.Try)):
        for inner in statement.body:
            yield from _defined_by(inner)


def _origin(name: str, node: ast.ImportFrom, *, is_package: bool) -> str:
    if not node.level:
        return node.module or ""
    above = name.split(".")
    kept = above[: len(above) - node.level + is_package]
    return ".".join([*kept, *filter(None, [node.module])])


def uses_in(modules: Mapping[str, Module]) -> dict[Name, set[str]]:
    """The modules that use each name of another module."""
    uses: dict[Name, set[str]] = {}
    for user, module in modules.items():
        for used in _used_by(module, modules):
            if used[0] != user:
                uses.setdefault(used, set()).add(user)
    return uses


def _used_by(module: Module, modules: Mapping[str, Module]) -> Iterator[Name]:
    for name in module.imported.values():
        yield from _found(name, modules)
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            origin, name = module.imported.get(node.value.id, ("", ""))
            for owner in (f"{origin}.{name}", *_reexported(origin, name, modules)):
                yield from _found((owner, node.attr), modules)


def _found(name: Name, modules: Mapping[str, Module]) -> Iterator[Name]:
    """The name where it is defined, if it is one of ours."""
    owner = modules.get(name[0])
    if owner is None or ".".join(name) in modules:
        return
    if name[1] in owner.defined:
        yield name
    elif name[1] in owner.imported:
        yield from _found(owner.imported[name[1]], modules)


def _reexported(origin: str, name: str, modules: Mapping[str, Module]) -> Iterator[str]:
    """The module that another hands on as one of its names."""
    if origin in modules and name in modules[origin].imported:
        yield ".".join(modules[origin].imported[name])


def handed_out(modules: Mapping[str, Module]) -> dict[str, dict[str, str]]:
    """By room and module, the names that other rooms use: what the faces should say."""
    wanted: dict[str, dict[str, set[str]]] = {}
    for (owner, name), users in uses_in(modules).items():
        room = room_of(owner)
        others = {room_of(user) for user in users} - {room} - OWN_FACE
        if room not in OWN_FACE and others:
            module = owner.removeprefix(room).removeprefix(".")
            wanted.setdefault(room, {}).setdefault(module, set()).add(name)
    return {
        room: {module: " ".join(sorted(faces[module])) for module in sorted(faces)}
        for room, faces in wanted.items()
    }


def faces(modules: Mapping[str, Module]) -> dict[str, dict[str, str]]:
    """What the faces say."""
    said = {}
    for name, module in modules.items():
        statement = module.defined.get(FACE)
        if isinstance(statement, ast.Assign):
            said[name] = ast.literal_eval(statement.value)
    return said


def differences(modules: Mapping[str, Module]) -> list[str]:
    """Names that other rooms use and no face lists.

    Then those that a face lists and no other room uses.
    """
    used, listed = (_flat(each) for each in (handed_out(modules), faces(modules)))
    missing = [
        f"{name} is used by another room, and the face of its room doesn't list it."
        for name in used - listed
    ]
    needless = [
        f"{name} is listed in the face of its room, and no other room uses it."
        for name in listed - used
    ]
    return sorted(missing + needless)


def _flat(each: Mapping[str, Mapping[str, str]]) -> set[str]:
    return {
        f"{room}.{module}: {name}"
        for room, names in each.items()
        for module in names
        for name in names[module].split()
    }


def used_by_nobody(modules: Mapping[str, Module], elsewhere: set[Name]) -> list[str]:
    """Public names that no other module of the program uses, nor anybody elsewhere.

    They should begin with _.
    """
    used = set(uses_in(modules)) | elsewhere
    return sorted(
        f"{owner}: {name}" for owner, name in public_names(modules) if (owner, name) not in used
    )


def public_names(modules: Mapping[str, Module]) -> list[Name]:
    return [
        (owner, name)
        for owner, module in modules.items()
        for name, statement in module.defined.items()
        if not name.startswith("_")
        and name != FACE
        and owner not in OWN_FACE
        and not _is_command(statement)
    ]


def _is_command(statement: ast.stmt) -> bool:
    """Whether the statement is a function that the command line finds by its decorator."""
    decorators = getattr(statement, "decorator_list", [])
    return any(re.search(r"\.(command|callback)\(", ast.unparse(each) + "(") for each in decorators)


def used_elsewhere(modules: Mapping[str, Module], project: Path = PROJECT) -> set[Name]:
    """The names in tests/inside.py, those that tools import, and those in the documentation."""
    used = {tuple(f"{PACKAGE}.{place}".rsplit(".", 1)) for place in inside.PLACES.values()}
    for path in (path for folder in USERS for path in sorted(project.glob(f"{folder}/**/*.py"))):
        text = path.read_text(encoding="utf-8")
        used |= set(_used_by(module_of("tests", text), modules))
        for module, name in re.findall(r'\b(\w+_module)(?:\.|, ")(\w+)', text):
            if module in inside.MODULES:
                used.add((f"{PACKAGE}.{inside.MODULES[module]}", name))
    named = {
        word
        for path in project.glob("docs/**/*.md")
        for word in re.findall(r"[`.](\w+)`", path.read_text("utf-8"))
    }
    return {(str(owner), name) for owner, name in used} | {
        each for each in public_names(modules) if each[1] in named
    }


def arrows(modules: Mapping[str, Module]) -> set[tuple[str, str]]:
    """Pairs of rooms of which the first imports the second."""
    found = set()
    for user, module in modules.items():
        for origin, name in module.imported.values():
            owner = f"{origin}.{name}" if f"{origin}.{name}" in modules else origin
            if owner in modules and room_of(owner) != room_of(user):
                found.add((room_of(user), room_of(owner)))
    return found


def write_faces(modules: Mapping[str, Module], source: Path) -> None:
    wanted = handed_out(modules)
    for room in {**faces(modules), **wanted}:
        path = source.parent.joinpath(*room.split("."), "__init__.py")
        text = path.read_text(encoding="utf-8").partition(f"\n{FACE} = ")[0].rstrip()
        names = wanted.get(room)
        face = f"\n{FACE} = {{\n{''.join(_lines(names))}}}\n" if names else ""
        path.write_text(f"{text}\n{face}", encoding="utf-8")


def _lines(names: Mapping[str, str]) -> Iterator[str]:
    """As the formatter has them: a text for each module, over several lines if it is long."""
    for module, text in names.items():
        line = f'    "{module}": "{text}",\n'
        if len(line) - 1 <= WIDTH:
            yield line
        else:
            parts = textwrap.wrap(text, WIDTH - len('        " "'))
            ended = [f"{part} " for part in parts[:-1]] + parts[-1:]
            yield f'    "{module}": (\n'
            yield from (f'        "{part}"\n' for part in ended)
            yield "    ),\n"


def main() -> int:
    source = PROJECT / "src" / PACKAGE
    modules = read_modules(source)
    if "--write" in sys.argv:
        write_faces(modules, source)
        modules = read_modules(source)
    rooms = {room_of(module) for module in modules}
    public = public_names(modules)
    listed = [names.split() for face in faces(modules).values() for names in face.values()]
    crossing = sum(map(len, listed))
    count = f"{len(modules)} modules in {len(rooms)} rooms, the package itself among them"
    print(f"{count}, with {len(arrows(modules))} arrows between them.")
    inside = len(public) - crossing
    print(f"{len(public)} public names: {crossing} are handed out, {inside} private to a room.")
    wrong = [*differences(modules), *used_by_nobody(modules, used_elsewhere(modules))]
    print(*wrong, sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
