"""The room of templates: data alone, read by one module, and nothing in it that nobody asks for."""

import re
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "safetab"
ROOM = SOURCE / "templates"
READER = SOURCE / "foundation" / "templates.py"
SCRIPTS = re.compile(r"(site|explorer|shared)/\w+/\w+\.js")
"""Pages name the folders of their scripts."""


def test_the_room_has_no_program():
    assert not [path for path in ROOM.rglob("*") if path.suffix in {".py", ".pyi", ".so"}]


def test_one_module_reads_the_room():
    sources = [path for path in SOURCE.rglob("*.py") if path.name != "__init__.py"]  # a face lists the reader
    readers = [path for path in sources if re.search(r"[\"']templates\b", path.read_text("utf-8"))]
    assert readers == [READER]


def test_every_template_is_asked_for():
    source = "\n".join(path.read_text("utf-8") for path in SOURCE.rglob("*.py"))
    names = [path.relative_to(ROOM).as_posix() for path in ROOM.rglob("*") if path.is_file()]
    asked = {name for name in names if f'"{name}"' in source or f'"{name.partition("/")[2]}"' in source}
    assert [name for name in names if name not in asked and not SCRIPTS.fullmatch(name)] == []
