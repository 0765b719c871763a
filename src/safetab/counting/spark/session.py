"""Starts Spark so that it leaves no record behind.

There is no user interface and no event log, and spill files are encrypted. The module also asks the
executors, before any record is read, whether their Python can run the compiled loops.
"""

from __future__ import annotations

import atexit
import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from py4j.clientserver import SHUTDOWN_FINALIZER_WORKER, FinalizerWorker
from py4j.java_gateway import JavaGateway
from py4j.protocol import Py4JError
from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkException
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from safetab.counting.contract import EngineSettings
from safetab.counting.spark.executor import RESULT, describe_python, results_of
from safetab.counting.spark.options import SparkOptions, is_submitted, java_home
from safetab.foundation.failures import RunFailed
from safetab.foundation.findings import VERSION, Finding, InvalidInput, Severity

Log = Callable[[str], None]

SPARK_ERRORS = (PySparkException, Py4JError)
"""Errors of Spark's. Their messages quote values, so they go to the confidential log alone."""

_PRIVATE = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "false",
    "spark.io.encryption.enabled": "true",
    "spark.log.level": "OFF",
    "spark.executor.syncLogLevel.enabled": "true",
    "spark.sql.debug.maxToStringFields": "0",
}
"""Only --spark-conf changes these; the cluster's own defaults do not."""

_TUNED = {
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.rdd.compress": "true",
    "spark.sql.adaptive.enabled": "true",
    # Java only interprets longer methods, at a third of the speed
    "spark.sql.codegen.hugeMethodLimit": "8000",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "true",
    "spark.driver.maxResultSize": "0",  # counts are streamed on as they come
}
_IN_THIS_PROCESS = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
_LOCAL_PARTITIONS_OF_A_THREAD = 4
_BYTES = {"K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_LEAST_MEGABYTES = 512
_SECONDS_TO_END = 20
_PYTHON_SETTING = "spark.pyspark.python"
_MISSING_MODULE = re.compile(r"No module named '(\w+)")
_NAME = "safetab"

_gateways: list[JavaGateway] = []
"""The connection to Java: one for all sessions of this process."""


@contextmanager
def spark_session(
    options: SparkOptions, settings: EngineSettings, log: Log
) -> Iterator[SparkSession]:
    """A session of the run's own.

    Raises InvalidInput if it does not start, RunFailed if one was open.
    """
    if SparkSession.getActiveSession() is not None:
        raise RunFailed("a Spark session is already open in this process. Stop it before the run.")
    if not _gateways and SparkConf().getAll():  # settings of a Java that was started elsewhere
        raise RunFailed("this process has already used Spark. Start the run in a new process.")
    values = _values(options, settings)
    try:
        session = _started(values, settings)
    except (*SPARK_ERRORS, RuntimeError, OSError) as error:
        log(f"Spark: {error}")
        where = options.where or "here"
        message = (
            f"Spark did not start ({where}); the confidential log has the reason. Nothing was read."
        )
        raise _setup_mistake("--engine", message) from None
    try:
        yield session
    finally:
        session.stop()


def require_python(session: SparkSession, log: Log) -> None:
    """Raise InvalidInput if an executor has another version of safetab or lacks a package."""
    cores = session.sparkContext.defaultParallelism
    problems = set[str]()
    try:
        answers = results_of(session.range(0, cores, 1, cores).mapInArrow(describe_python, RESULT))
    except (*SPARK_ERRORS, ImportError) as error:
        log(f"Spark, asked for the executors' Python: {error}")
        missing = _MISSING_MODULE.search(str(error))
        problems.add(f"lacks {missing[1]}" if missing else "does not answer")
    else:
        for version, lacking in answers:
            if version != VERSION:
                problems.add(f"has safetab {version}, and the driver {VERSION}")
            if lacking:
                problems.add(f"lacks {', '.join(lacking)}")
    if problems:
        python = f"{sys.version_info.major}.{sys.version_info.minor}"
        message = (
            f"the executors' Python {' and '.join(sorted(problems))}."
            f" Every executor needs Python {python} with safetab {VERSION}:"
            f" install it there with pip install 'safetab[spark]=={VERSION}',"
            f" and name that Python with --spark-conf {_PYTHON_SETTING}=PATH."
            " The confidential log has Spark's reason. Nothing was read."
        )
        raise _setup_mistake("--engine", message)


def _setup_mistake(option: str, message: str) -> InvalidInput:
    return InvalidInput([Finding(Severity.ERROR, "the command", option, message, is_of_files=True)])


def _values(options: SparkOptions, settings: EngineSettings) -> Mapping[str, str]:
    """Spark's settings. A later one outranks an earlier one."""
    values = dict(_TUNED)
    if not is_submitted():
        master = options.where or f"local[{settings.threads}]"
        values |= {"spark.master": master, "spark.driver.memory": _megabytes(settings.memory)}
        if master.startswith("local"):
            partitions = str(_LOCAL_PARTITIONS_OF_A_THREAD * settings.threads)
            values |= _IN_THIS_PROCESS | {"spark.sql.shuffle.partitions": partitions}
            values["spark.driver.extraJavaOptions"] = (
                "-XX:+UseParallelGC"  # a tenth less CPU than Java's own choice
            )
            values["spark.local.dir"] = str(settings.temporary_folder)
    values["spark.sql.warehouse.dir"] = str(settings.temporary_folder / "warehouse")
    return values | _PRIVATE | options.setting_values


def _started(values: Mapping[str, str], settings: EngineSettings) -> SparkSession:
    """A new Spark session with these settings."""
    if not _gateways:
        with (
            _java_chosen(settings),
            (settings.temporary_folder / "spark-messages").open("w") as messages,
        ):
            launched = SparkConf(loadDefaults=False)
            for name, value in values.items():
                launched.set(name, value)
            gateway = launch_gateway(launched, {"stdout": messages, "stderr": messages})
            if gateway.proc is not None:  # spark-submit ends its own
                atexit.register(end_java, gateway, gateway.proc)
            _gateways.append(gateway)
    conf = java().org.apache.spark.SparkConf(is_submitted())
    for name, value in values.items():
        conf.setIfMissing(name, value) if name in _TUNED else conf.set(name, value)
    conf.setAppName(_NAME)
    java_context = java().org.apache.spark.api.java.JavaSparkContext(conf)
    context = SparkContext(conf.get("spark.master"), _NAME, gateway=_gateways[0], jsc=java_context)
    context.setLogLevel(values["spark.log.level"])
    # the Python of --spark-conf; else this one in `local[...]`, or that of PYSPARK_PYTHON on a
    # cluster
    is_here = (
        values.get("spark.master", "").startswith("local") and "PYSPARK_PYTHON" not in os.environ
    )
    context.pythonExec = values.get(
        _PYTHON_SETTING, sys.executable if is_here else context.pythonExec
    )
    return SparkSession(context)


def java() -> Any:
    """Java's packages, while a session is open."""
    return _gateways[0].jvm


def hadoop_configuration() -> Any:
    """The settings by which Java finds and opens files, while a session is open."""
    return java().org.apache.spark.SparkContext.getOrCreate().hadoopConfiguration()


def end_java(gateway: JavaGateway, java: subprocess.Popen[bytes]) -> None:
    """End Java by closing its standard input.

    It is waited for, so that its time counts as ours.

    A thread of Py4J's tells Java about every object that Python has dropped. A message to a Java
    that has ended would print a traceback on the terminal, so that thread is ended first.
    """
    for thread in threading.enumerate():
        if isinstance(thread, FinalizerWorker):
            thread.deque.appendleft(SHUTDOWN_FINALIZER_WORKER)
            thread.join(_SECONDS_TO_END)
    gateway.shutdown()
    if java.stdin is not None:
        java.stdin.close()
    with suppress(subprocess.TimeoutExpired):
        java.wait(_SECONDS_TO_END)
    java.kill()


@contextmanager
def _java_chosen(settings: EngineSettings) -> Iterator[None]:
    """JAVA_HOME names a Java that Spark can run on while the block runs."""
    before = os.environ.get("JAVA_HOME")
    if not is_submitted():
        os.environ["JAVA_HOME"] = str(java_home(settings.temporary_folder))
    try:
        yield
    finally:
        os.environ.pop("JAVA_HOME", None)
        os.environ.update({} if before is None else {"JAVA_HOME": before})


def _megabytes(memory: str) -> str:
    """The value of `--memory` as Java writes it."""
    number, unit = re.findall(r"([0-9.]+) ?([KMGT])", memory)[0]
    return f"{max(_LEAST_MEGABYTES, int(float(number) * _BYTES[unit] / 2**20))}m"
