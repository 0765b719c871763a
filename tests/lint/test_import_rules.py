"""The import rules of pyproject.toml can fail: each violation that is planted in a copy of the package is refused."""

import ast
import shutil
import subprocess
import sys

import pytest

from tests.cases import cases_of
from tests.conftest import PROJECT

SOURCE = PROJECT / "src" / "safetab"
RULES = dict(
    cases_of(
        """
        no circle and no arrow back up inside a package | circles
        the path of the data is one-way | layers
        a release and what reads it can't reach records, counts or mechanisms | wall
        a re-release can neither draw noise nor count persons | rerelease
        an application imports no other | applications
        noise is drawn by runs and the audit | noise
        the order inside core | core
        the order inside model | model
        the order inside release | release
        a run and a re-release don't know what observes runs | observed
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
        counting/spark/session.py | import duckdb | duckdb
        cli/accounts.py | def late(): import duckdb | duckdb
        runs/observed/theory.py | import pyspark | pyspark
        counting/contract.py | from pyspark.sql import SparkSession | pyspark
        runs/guards.py | import py4j.java_gateway | pyspark
        apps/compare/attacks/solver.py | def late(): from ortools.sat.python import cp_model | or_tools
        release/files/write_release.py | import safetab.counting.encoding | layers wall rerelease
        release/estimates/estimate.py | import safetab.inputs.records.record_files | wall rerelease
        release/files/export.py | import safetab.inputs.bureau.grfc | wall
        release/report/report.py | import safetab.inputs.own_records | wall rerelease
        release/outputs/manifest.py | import safetab.inputs.configuration | wall rerelease
        apps/website/write_site.py | import safetab.inputs.records.cef.state_records | wall
        release/files/documents.py | import safetab.core.mechanisms.noisy_count | noise wall rerelease
        runs/rerelease.py | import safetab.inputs.records.cef.state_records | rerelease
        runs/rerelease.py | import safetab.core.mechanisms.noisy_count | rerelease
        core/algorithm/safetab.py | import safetab.inputs.configuration | circles core layers
        core/noise/weighted_sum.py | import safetab.counting.encoding | circles core layers wall rerelease
        model/census/areas.py | import safetab.model.products.record | circles model
        model/us/us_census.py | import safetab.inputs.readers.delimited | circles layers wall
        foundation/arrays.py | import safetab.apps.compare.results | applications circles core layers model release wall rerelease
        runs/run.py | import safetab.apps.synthetic.census | applications circles layers
        runs/run.py | import safetab.runs.observed.truth | observed
        release/report/report.py | import safetab.release.estimates.estimate | release
        apps/accuracy/tables.py | import safetab.apps.compare.results | applications
        apps/explorer/explore.py | import safetab.core.mechanisms.noisy_count | noise
        cli/accounts.py | import safetab.core.mechanisms.noisy_count | noise
        apps/explorer/explore.py | import safetab.core.algorithm.safetab | noise
        apps/accuracy/tables.py | from safetab.core.algorithm.tabulate_level import noisy_count | noise
        runs/observed/theory.py | import safetab.core.privacy.ledger | noise
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
        system/release/test_release.py | import safetab.release.files.write_release
        unit/release/test_names.py | from safetab.foundation import findings
    """),
)
def test_a_test_that_reaches_inside_is_refused(package, module, planted):
    path = package.parent / "tests" / module
    path.write_text(f"{path.read_text()}\n\n{planted}\n")
    assert broken_rules(package) == {"inside"}


def modules_by_name(source):
    """The calls that import what a text names, and whole modules imported without naming what is used."""
    nodes = list(ast.walk(ast.parse(source)))
    calls = [node.func for node in nodes if isinstance(node, ast.Call)]
    names = [getattr(func, "id", getattr(func, "attr", "")) for func in calls]
    whole = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    return [name for name in names if name in {"import_module", "__import__"}] + [
        name for name in whole if name.startswith("safetab.")
    ]


BY_NAME = {
    "__init__.py": "public names, on first use",
    "core/privacy/calibration.py": "the class of a noise that the table of definitions names",
    "counting/spark/executor.py": "the libraries that a task needs",
    "foundation/result_tables.py": "pandas or Polars, if somebody asks for it",
}


def test_no_rule_is_passed_by_importing_what_a_text_names():
    sources = {path.relative_to(SOURCE).as_posix(): path.read_text() for path in SOURCE.rglob("*.py")}
    assert {name for name, source in sources.items() if modules_by_name(source)} == set(BY_NAME)


@pytest.mark.parametrize(
    "planted", ["importlib.import_module(name)", "__import__(name)", "import safetab.model.us as us"]
)
def test_an_import_by_name_is_found(planted):
    assert modules_by_name(planted)


def test_a_new_reader_of_records_is_behind_the_wall(package):
    """Wherever in `inputs` it is: the rule forbids the room, not a list of modules."""
    (package / "inputs" / "new_reader.py").write_text("import pyarrow.parquet\n")
    path = package / "release" / "files" / "release_folder.py"
    path.write_text(f"{path.read_text()}\n\nimport safetab.inputs.new_reader\n")
    assert broken_rules(package) == {"wall"}


def test_a_new_application_draws_no_noise(package):
    (package / "apps" / "survey").mkdir()
    (package / "apps" / "survey" / "__init__.py").write_text("import safetab.core.mechanisms.noisy_count\n")
    assert broken_rules(package) == {"noise"}


def test_two_modules_of_a_package_that_import_each_other_are_refused(package):
    tables = package / "release" / "estimates" / "tables.py"
    tables.write_text(f"{tables.read_text()}\n\nimport safetab.release.estimates.estimate\n")
    assert broken_rules(package) == {"circles"}


def test_a_new_package_needs_a_layer(package):
    (package / "misc").mkdir()
    (package / "misc" / "__init__.py").write_text("")
    assert broken_rules(package) == {"layers"}
