"""A key's numbers never change: a change of structure keeps every address of noise, and so every number.

The hashes were written when only SafeTab-P existed. `python -m tests.system.runs.test_numbers_of_a_key` writes them again,
which is right only if noise, cost or tables are meant to change.
"""

import hashlib
import json
import tempfile
from itertools import product
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from tests.engine_inputs import SPARK_MARKS
from tests.releases import json_of
from tests.worlds.people import write_random_world

KEY = bytes(range(32)).hex()
HASHES = Path(__file__).parent / "numbers_of_a_key.json"
CASES = [
    f"{definition}, {codes} codes, p {chance}"
    for definition, codes, chance in product(("zcdp", "puredp"), (1, 3, 8), (0, 0.99))
]


def numbers_hash(case, folder, **options):
    """Of t1, t2 and the measurements, both passes."""
    definition, codes, chance = case.replace(" codes", "").replace("p ", "").split(", ")
    config = {"max_race_codes": int(codes), "zero_suppression_chance": float(chance), "privacy_defn": definition}
    world = write_random_world(folder / "world", 11, people=200, budget=2, **config)
    out = world.run(folder / "out", test_key=KEY, **options)
    found = hashlib.sha256()
    for name in ("t1/us.csv", "t1/pr.csv", "t2/us.csv", "t2/pr.csv"):
        found.update((out / name).read_bytes())
    for name in ("us", "pr"):
        rows = pq.read_table(out / "measurements" / f"{name}.parquet")
        found.update(json.dumps([rows.column_names, rows.to_pylist()]).encode())
    return found.hexdigest()


@pytest.mark.parametrize(
    "case", [pytest.param(case, marks=[] if number % 7 == 3 else pytest.mark.slow) for number, case in enumerate(CASES)]
)
def test_a_key_gives_the_numbers_that_it_always_gave(case, tmp_path):
    assert numbers_hash(case, tmp_path) == json_of(HASHES)[case]


@pytest.mark.parametrize("case", [pytest.param(case, marks=SPARK_MARKS) for case in (CASES[1], CASES[-1])])
def test_a_key_gives_these_numbers_on_spark_too(case, tmp_path):
    from tests.spark_sessions import QUICK  # noqa: PLC0415 - PySpark is optional

    found = numbers_hash(case, tmp_path, engine="spark", spark_conf=QUICK)
    assert found == json_of(HASHES)[case]


def write_hashes():
    with tempfile.TemporaryDirectory() as folder:
        hashes = {case: numbers_hash(case, Path(folder) / str(number)) for number, case in enumerate(CASES)}
    HASHES.write_text(json.dumps(hashes, indent=1) + "\n")


if __name__ == "__main__":
    write_hashes()
