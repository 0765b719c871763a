"""The import rules of pyproject.toml can fail: each violation that is planted in a copy of the package is refused."""

import shutil
import subprocess
import sys

import pytest

from tests.conftest import PROJECT

CIRCLES = "no circle and no arrow back up inside a package"
LAYERS = "the path of the data is one-way"
OUTPUTS = "what makes or uses outputs can't reach a record, an engine or a mechanism"
RERELEASE = "a re-release can neither draw noise nor count persons"
VALUE = "a census as a value needs no reader"
DUCKDB = "duckdb is a tool for tests and benchmarks"
PYSPARK = "pyspark is imported in one place"
OR_TOOLS = "OR-Tools is imported in one place"
INSIDE = "tests know the inside of the program from one module"


@pytest.fixture
def package(tmp_path):
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(PROJECT / "src" / "safetab", tmp_path / "safetab", ignore=ignored)
    shutil.copytree(
        PROJECT / "tests", tmp_path / "tests", ignore=shutil.ignore_patterns("__pycache__", "formats", "data")
    )
    shutil.copy(PROJECT / "pyproject.toml", tmp_path)
    return tmp_path / "safetab"


def broken_rules(package):
    """The names of the rules that import-linter says are broken; the copy is found before the installed package."""
    program = "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))"
    linted = subprocess.run(
        [sys.executable, "-c", program], cwd=package.parent, capture_output=True, text=True, check=False
    )
    verdicts = [line.partition(" (")[0].rpartition(" ") for line in linted.stdout.splitlines()]
    found = {name for name, _, verdict in verdicts if verdict == "BROKEN"}
    kept = {name for name, _, verdict in verdicts if verdict == "KEPT"}
    assert found | kept == {LAYERS, CIRCLES, OUTPUTS, RERELEASE, VALUE, DUCKDB, PYSPARK, OR_TOOLS, INSIDE}, (
        linted.stdout + linted.stderr
    )
    assert bool(found) == bool(linted.returncode)
    return found


def test_the_package_keeps_to_its_rules(package):
    assert broken_rules(package) == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "planted", "broken"),
    [
        ("engines/encoding.py", "import duckdb", {DUCKDB}),
        ("engines/local/engine.py", "import duckdb", {DUCKDB}),
        ("engines/spark/session.py", "import duckdb", {DUCKDB}),
        ("cli/accounts.py", "def late():\n    import duckdb", {DUCKDB}),
        ("assessment/theory.py", "import pyspark", {PYSPARK}),
        ("engines/contract.py", "from pyspark.sql import SparkSession", {PYSPARK}),
        ("pipeline/guards.py", "import py4j.java_gateway", {PYSPARK}),
        ("comparison/attacks/solver.py", "def late():\n    from ortools.sat.python import cp_model", {OR_TOOLS}),
        ("release/write_release.py", "import safetab.engines.encoding", {OUTPUTS, RERELEASE}),
        ("estimates/estimate.py", "import safetab.readers.record_files", {OUTPUTS, RERELEASE}),
        ("release/export.py", "import safetab.dialects.bureau.grfc", {OUTPUTS}),
        ("website/write_site.py", "import safetab.dialects.bureau.cef.state_records", {OUTPUTS}),
        ("outputs/manifest.py", "import safetab.dialects.configuration", {OUTPUTS, RERELEASE}),
        ("estimates/noise.py", "import safetab.dialects.public_files", {OUTPUTS, RERELEASE}),
        ("reports/report.py", "import safetab.dialects.own_records", {OUTPUTS, RERELEASE}),
        ("pipeline/rerelease.py", "import safetab.dialects.bureau.cef.state_records", {RERELEASE}),
        ("pipeline/rerelease.py", "import safetab.mechanisms.noisy_count", {RERELEASE}),
        ("pipeline/rerelease.py", "import safetab.readers.record_files", {RERELEASE}),
        ("census/areas.py", "import safetab.products.record", {LAYERS, CIRCLES}),
        ("census/census.py", "import safetab.dialects.known_census", {LAYERS, CIRCLES}),
        ("readers/delimited.py", "import safetab.dialects.bureau.us_census", {LAYERS, CIRCLES}),
        ("config/run_config.py", "import safetab.dialects.bureau.states", {LAYERS, CIRCLES}),
        ("products/product.py", "import safetab.dialects.known_census", {LAYERS, CIRCLES}),
        ("dialects/bureau/us_census.py", "import safetab.readers.delimited", {VALUE, OUTPUTS}),
        ("dialects/bureau/geo_ids.py", "import safetab.dialects.bureau.public_lists", {VALUE, OUTPUTS}),
        ("estimates/noise.py", "import safetab.estimates.estimate", {CIRCLES}),
        ("release/numbers/level_numbers.py", "def late():\n    import safetab.release.write_release", {CIRCLES}),
        ("engines/contract.py", "import safetab.engines.local.engine", {CIRCLES}),
    ],
)
def test_a_planted_violation_is_refused(package, module, planted, broken):
    path = package / module
    path.write_text(f"{path.read_text()}\n\n{planted}\n")
    assert broken_rules(package) == broken


@pytest.mark.parametrize(
    ("module", "planted"),
    [
        ("system/test_release.py", "import safetab.release.write_release"),
        ("unit/test_names.py", "from safetab.foundation import findings"),
    ],
)
def test_a_test_that_reaches_inside_is_refused(package, module, planted):
    path = package.parent / "tests" / module
    path.write_text(f"{path.read_text()}\n\n{planted}\n")
    assert broken_rules(package) == {INSIDE}


def test_two_modules_of_a_package_that_import_each_other_are_refused(package):
    tables = package / "estimates" / "tables.py"
    tables.write_text(f"{tables.read_text()}\n\nimport safetab.estimates.estimate\n")
    assert broken_rules(package) == {CIRCLES}


def test_a_new_package_needs_a_layer(package):
    (package / "misc").mkdir()
    (package / "misc" / "__init__.py").write_text("")
    assert broken_rules(package) == {LAYERS}
