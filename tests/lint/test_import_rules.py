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
        engines/encoding.py | import duckdb | duckdb
        engines/local/engine.py | import duckdb | duckdb
        engines/spark/session.py | import duckdb | duckdb
        cli/accounts.py | def late(): import duckdb | duckdb
        assessment/theory.py | import pyspark | pyspark
        engines/contract.py | from pyspark.sql import SparkSession | pyspark
        pipeline/guards.py | import py4j.java_gateway | pyspark
        comparison/attacks/solver.py | def late(): from ortools.sat.python import cp_model | or_tools
        release/write_release.py | import safetab.engines.encoding | outputs rerelease
        estimates/estimate.py | import safetab.readers.record_files | outputs rerelease
        release/export.py | import safetab.dialects.bureau.grfc | outputs
        website/write_site.py | import safetab.dialects.bureau.cef.state_records | outputs
        outputs/manifest.py | import safetab.dialects.configuration | outputs rerelease
        estimates/noise.py | import safetab.dialects.public_files | outputs rerelease
        reports/report.py | import safetab.dialects.own_records | outputs rerelease
        pipeline/rerelease.py | import safetab.dialects.bureau.cef.state_records | rerelease
        pipeline/rerelease.py | import safetab.mechanisms.noisy_count | rerelease
        pipeline/rerelease.py | import safetab.readers.record_files | rerelease
        census/areas.py | import safetab.products.record | circles layers
        census/census.py | import safetab.dialects.known_census | circles layers
        readers/delimited.py | import safetab.dialects.bureau.us_census | circles layers
        config/run_config.py | import safetab.dialects.bureau.states | circles layers
        products/product.py | import safetab.dialects.known_census | circles layers
        dialects/bureau/us_census.py | import safetab.readers.delimited | outputs value
        dialects/bureau/geo_ids.py | import safetab.dialects.bureau.public_lists | outputs value
        estimates/noise.py | import safetab.estimates.estimate | circles
        release/numbers/level_numbers.py | def late(): import safetab.release.write_release | circles
        engines/contract.py | import safetab.engines.local.engine | circles
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
        system/test_release.py | import safetab.release.write_release
        unit/test_names.py | from safetab.foundation import findings
    """),
)
def test_a_test_that_reaches_inside_is_refused(package, module, planted):
    path = package.parent / "tests" / module
    path.write_text(f"{path.read_text()}\n\n{planted}\n")
    assert broken_rules(package) == {"inside"}


def test_two_modules_of_a_package_that_import_each_other_are_refused(package):
    tables = package / "estimates" / "tables.py"
    tables.write_text(f"{tables.read_text()}\n\nimport safetab.estimates.estimate\n")
    assert broken_rules(package) == {"circles"}


def test_a_new_package_needs_a_layer(package):
    (package / "misc").mkdir()
    (package / "misc" / "__init__.py").write_text("")
    assert broken_rules(package) == {"layers"}
