"""The scripts of a page as one: those of its folders, below what every page has."""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable


def page_script(*folders: Traversable) -> str:
    """Folder by folder, in the order of the names of files; one scope, closed to the outside."""
    scripts = [files("safetab.foundation") / "page_elements.js"]
    scripts += [one for folder in folders for one in sorted(folder.iterdir(), key=lambda one: one.name)]
    return '"use strict";\n(() => {\n' + "\n".join(one.read_text("utf-8") for one in scripts) + "})();\n"
