"""The import rules of pyproject.toml can fail: each violation that is planted in a copy of the package is refused."""

import shutil
import subprocess
import sys

import pytest

from tests.cases import cases_of
from tests.conftest import PROJECT

RULES = dict(
    cases_of(
        """
        no circle and no arrow back up inside a package | circles
        the path of the data is one-way | layers
        what makes or uses outputs can't reach a record, an engine or a mechanism | outputs
        a re-release can neither draw noise nor count persons | rerelease
        a census as a value needs no reader | value
        duckdb is a tool for tests and benchmarks | duckdb
        pyspark is imported in one place | pyspark
        OR-Tools is imported in one place | or_tools
        tests know the inside of the program from one module | inside
        """
    )
)
"""What each rule is called here."""


@pytest.fixture
def package(tmp_path):
    shutil.copytree(PROJECT / "src" / "safetab", tmp_path / "safetab", ignore=shutil.ignore_patterns("__pycache__"))
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
    found = {RULES[name] for name, _, verdict in verdicts if verdict == "BROKEN"}
    known = {name for name, _, verdict in verdicts if verdict in {"BROKEN", "KEPT"}}
    assert known == {*RULES}, linted.stdout + linted.stderr
    assert bool(found) == bool(linted.returncode)
    return found


def test_the_package_keeps_to_its_rules(package):
    assert broken_rules(package) == set()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("module", "planted", "broken"),
    cases_of(
        """
        counting/encoding.py | import duckdb | duckdb
        counting/local/engine.py | import duckdb | duckdb
        counting/spark/session.py | import duckdb | duckdb
        cli/accounts.py | def late(): import duckdb | duckdb
        runs/observed/theory.py | import pyspark | pyspark
        counting/contract.py | from pyspark.sql import SparkSession | pyspark
        runs/guards.py | import py4j.java_gateway | pyspark
        apps/compare/attacks/solver.py | def late(): from ortools.sat.python import cp_model | or_tools
        release/files/write_release.py | import safetab.counting.encoding | outputs rerelease
        release/estimates/estimate.py | import safetab.inputs.records.record_files | outputs rerelease
        release/files/export.py | import safetab.inputs.bureau.grfc | outputs
        apps/website/write_site.py | import safetab.inputs.records.cef.state_records | outputs
        release/outputs/manifest.py | import safetab.inputs.configuration | outputs rerelease
        release/estimates/noise.py | import safetab.inputs.public_files | outputs rerelease
        release/report/report.py | import safetab.inputs.own_records | outputs rerelease
        runs/rerelease.py | import safetab.inputs.records.cef.state_records | rerelease
        runs/rerelease.py | import safetab.core.mechanisms.noisy_count | rerelease
        runs/rerelease.py | import safetab.inputs.records.record_files | rerelease
        model/census/areas.py | import safetab.model.products.record | circles layers
        model/census/census.py | import safetab.model.known_census | circles layers
        inputs/readers/delimited.py | import safetab.model.us.us_census | circles layers
        model/config/run_config.py | import safetab.model.us.states | circles layers
        model/products/product.py | import safetab.model.known_census | circles layers
        model/us/us_census.py | import safetab.inputs.readers.delimited | outputs value
        model/us/geo_ids.py | import safetab.inputs.bureau.public_lists | outputs value
        release/estimates/noise.py | import safetab.release.estimates.estimate | circles
        release/files/numbers/level_numbers.py | def late(): import safetab.release.files.write_release | circles
        counting/contract.py | import safetab.counting.local.engine | circles
        """
    ),
)
def test_a_planted_violation_is_refused(package, module, planted, broken):
    path = package / module
    path.write_text(f"{path.read_text()}\n\n{planted}\n")
    assert broken_rules(package) == set(broken.split())


@pytest.mark.parametrize(
    ("module", "planted"),
    cases_of("""
        system/test_release.py | import safetab.release.files.write_release
        unit/test_names.py | from safetab.foundation import findings
    """),
)
def test_a_test_that_reaches_inside_is_refused(package, module, planted):
    path = package.parent / "tests" / module
    path.write_text(f"{path.read_text()}\n\n{planted}\n")
    assert broken_rules(package) == {"inside"}


def test_two_modules_of_a_package_that_import_each_other_are_refused(package):
    tables = package / "estimates" / "tables.py"
    tables.write_text(f"{tables.read_text()}\n\nimport safetab.release.estimates.estimate\n")
    assert broken_rules(package) == {"circles"}


def test_a_new_package_needs_a_layer(package):
    (package / "misc").mkdir()
    (package / "misc" / "__init__.py").write_text("")
    assert broken_rules(package) == {"layers"}
