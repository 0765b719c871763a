"""Exact counts are read in a few files only; a file that is new to them needs a proof, or results that nobody publishes.

Contract: what a release holds depends on the records only through `noisy_count`. So whatever chooses, suppresses, orders or
words a number works with noisy or public numbers. These files alone may name `ExactCounts.confidential_counts`:
- `core/privacy/exact_counts.py` defines them, and makes of them only other exact counts;
- `core/mechanisms/noisy_count.py` adds the noise that was charged for, the one way to a release;
- `counting/spark/counter.py` counts, and decides only what is counted ahead (docs/privacy.md#counted-once);
- `runs/observed/`, `apps/compare/` and `apps/audit/` compare with the truth, and no release is made of what they find.

The test looks for the name. It can't see what `indices` say: which groups have a record is as confidential as the counts.
"""

import ast
import shutil

import pytest

from tests.conftest import PROJECT

SOURCE = PROJECT / "src" / "safetab"
NAME = "confidential_counts"
READERS = {
    "core/privacy/exact_counts.py",
    "core/mechanisms/noisy_count.py",
    "counting/spark/counter.py",
    "runs/observed/assess.py",
    "runs/observed/truth.py",
    "apps/audit/audited_runs.py",
    "apps/audit/loss_bound.py",
    "apps/compare/tables/counted_census.py",
}
"""The files that may read exact counts. To add one, write in the contract above why no release depends on it."""

MAKES_NO_EXACT_COUNTS = {"__post_init__", "__repr__", "__reduce__"}
"""The methods of `ExactCounts` that check, hide and refuse. Any other gives exact counts again, never a number."""


def readers(source):
    """The files that name exact counts: in code, in a text for `getattr`, or in words."""
    files = source.rglob("*.py")
    return {file.relative_to(source).as_posix() for file in files if NAME in file.read_text()}


def ways_out(exact_counts):
    """What the methods of `ExactCounts` give, other than exact counts."""
    (made,) = (node for node in ast.parse(exact_counts).body if getattr(node, "name", "") == "ExactCounts")
    methods = (node for node in made.body if isinstance(node, ast.FunctionDef))
    given = {one.name: ast.unparse(one.returns) if one.returns else "" for one in methods}
    return {name: what for name, what in given.items() if name not in MAKES_NO_EXACT_COUNTS and what != "ExactCounts"}


def test_only_these_files_read_exact_counts():
    new, gone = readers(SOURCE) - READERS, READERS - readers(SOURCE)
    assert not new, f"{', '.join(sorted(new))}: exact counts are confidential. Decide from what `noisy_count` gives."
    assert not gone, f"{', '.join(sorted(gone))}: no longer reads exact counts. Take it off the list."


def test_exact_counts_give_nothing_but_exact_counts():
    text = (SOURCE / "core" / "privacy" / "exact_counts.py").read_text()
    assert ways_out(text) == {}
    size = "    def size(self) -> int:\n        return int(self.confidential_counts.sum())\n\n"
    assert ways_out(text.replace("    def of_groups", f"{size}    def of_groups", 1)) == {"size": "int"}


SELECTOR = """
def _by_size(level, totals):
    is_large = {large}
    yield _stage_2(level, totals.some(is_large), None, level.shapes(is_large))
"""


@pytest.mark.parametrize(
    "large",
    [
        "totals.confidential_counts[:, 0] > 500",
        "(totals.between(0, 9).confidential_counts > 500).any(axis=1)",
        'getattr(totals, "confidential_counts")[:, 0] > 500',
        'attrgetter("confidential_counts")(totals)[:, 0] > 500',
    ],
)
def test_a_selector_that_reads_exact_counts_is_refused(tmp_path, large):
    planted = tmp_path / "core" / "algorithm" / "tabulate_level.py"
    shutil.copytree(SOURCE / "core" / "algorithm", planted.parent, ignore=shutil.ignore_patterns("__pycache__"))
    assert readers(tmp_path) == set()
    planted.write_text(planted.read_text() + SELECTOR.format(large=large))
    assert readers(tmp_path) - READERS == {"core/algorithm/tabulate_level.py"}
