"""The explorer: one HTML file that needs no installation, no server and no network."""

from __future__ import annotations

import json
from importlib.resources import files

from safetab.explorer.page_facts import JsonObject
from safetab.foundation.page_scripts import page_script

_PAGE = files("safetab.explorer") / "page"


def explorer_page(facts: JsonObject) -> str:
    """The whole page, with its styles, its scripts and the facts inside."""
    parts = {
        "{{style}}": (_PAGE / "explorer.css").read_text("utf-8"),
        "{{script}}": script(),
        "{{facts}}": json_in_a_page(facts),
    }
    page = (_PAGE / "explorer.html").read_text("utf-8")
    for place, part in parts.items():
        before, found, after = page.partition(place)
        assert found, place
        page = before + part + after
    return page


def script() -> str:
    """Arithmetic first, then what shows it."""
    return page_script(_PAGE / "arithmetic", _PAGE / "ui")


def json_in_a_page(value: object) -> str:
    """JSON that can't end the script element it stands in, whatever texts it holds."""
    return json.dumps(value, ensure_ascii=True).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
