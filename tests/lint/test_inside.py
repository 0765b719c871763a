"""Each name that tests have for the inside of the program is there, and some test uses it."""

import re
from importlib.util import find_spec

from tests import inside
from tests.conftest import PROJECT

PLACES = inside.PLACES | inside.MODULES


def test_each_name_is_there():
    with_spark = find_spec("pyspark") is not None
    asked = [name for name, place in PLACES.items() if with_spark or not place.startswith("counting.spark.")]
    assert [name for name in asked if getattr(inside, name) is None] == []


def test_each_name_is_used():
    texts = [path.read_text() for path in (PROJECT / "tests").rglob("*.py") if path.name != "inside.py"]
    assert set(PLACES) - set(re.findall(r"\w+", "".join(texts))) == set()
