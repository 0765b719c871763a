"""The room of templates: everything that pages and READMEs are made of.

They are read here and nowhere else.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from typing import Any

_ROOM = files("safetab") / "templates"


def template(name: str) -> str:
    """The text of a template, by its path in the room."""
    return (_ROOM / name).read_text(encoding="utf-8")


def is_template(name: str) -> bool:
    """Whether the room has a template at this path."""
    return (_ROOM / name).is_file()


def template_texts(name: str) -> Mapping[str, Any]:
    """The texts and words of a TOML file, by its path in the room."""
    return tomllib.loads(template(name))


def page_script(page: str, folders: Iterable[str]) -> str:
    """The scripts of a page as one closed scope.

    First come the common elements, then each noise, then each folder's scripts by name.
    """
    scripts = [template("shared/elements.js")]
    for folder in ("shared/noise", *(f"{page}/{folder}" for folder in folders)):
        names = sorted(script.name for script in (_ROOM / folder).iterdir())
        scripts += [template(f"{folder}/{name}") for name in names]
    return '"use strict";\n(() => {\n' + "\n".join(scripts) + "})();\n"
