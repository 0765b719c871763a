"""Starts Spark so that nothing of a person is left behind: no user interface, no event log, encrypted spill files."""

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

from safetab.engines.contract import EngineSettings
from safetab.engines.spark.java import java_home
from safetab.engines.spark.options import SparkOptions, is_submitted
from safetab.foundation.failures import RunFailed
from safetab.foundation.findings import Finding, InvalidInput, Severity

Log = Callable[[str], None]

SPARK_ERRORS = (PySparkException, Py4JError)
"""What Spark raises here; its messages quote values, so they go to the confidential log alone."""

_PRIVATE = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.eventLog.enabled": "false",
    "spark.io.encryption.enabled": "true",
    "spark.log.level": "OFF",
    "spark.executor.syncLogLevel.enabled": "true",
    "spark.sql.debug.maxToStringFields": "0",
}
"""Whoever wants it otherwise says so with --spark-conf; the cluster's own defaults don't decide."""

_TUNED = {
    "spark.serializer": "org.apache.spark.serializer.KryoSerializer",
    "spark.rdd.compress": "true",
    "spark.sql.adaptive.enabled": "true",
    "spark.sql.codegen.hugeMethodLimit": "8000",  # longer methods Java only interprets, at a third of the speed
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
_NAME = "safetab"

_gateways: list[JavaGateway] = []
"""The way to the virtual machine: one for all sessions of this process."""


@contextmanager
def spark_session(options: SparkOptions, settings: EngineSettings, log: Log) -> Iterator[SparkSession]:
    """A session of the run's own, stopped at the end. Raises InvalidInput if Spark doesn't start."""
    if SparkSession.getActiveSession() is not None:
        raise RunFailed("a Spark session is open in this process already. Stop it before the run.")
    if not _gateways and SparkConf().getAll():  # settings of a virtual machine that somebody else started
        raise RunFailed("this process has already used Spark. Start the run in a new process.")
    values = _values(options, settings)
    try:
        session = _started(values, settings)
    except (*SPARK_ERRORS, RuntimeError, OSError) as error:
        log(f"Spark: {error}")
        where = options.master or "here"
        message = f"Spark did not start ({where}); the confidential log has the reason. Nothing was read."
        raise InvalidInput([Finding(Severity.ERROR, "the command", "--spark-master", message)]) from None
    try:
        yield session
    finally:
        session.stop()


def _values(options: SparkOptions, settings: EngineSettings) -> Mapping[str, str]:
    """Spark's settings, the later ones first in rank."""
    values = dict(_TUNED)
    if not is_submitted():
        master = options.master or f"local[{settings.threads}]"
        values |= {"spark.master": master, "spark.driver.memory": _megabytes(settings.memory)}
        if master.startswith("local"):
            partitions = str(_LOCAL_PARTITIONS_OF_A_THREAD * settings.threads)
            values |= _IN_THIS_PROCESS | {"spark.sql.shuffle.partitions": partitions}
            values["spark.driver.extraJavaOptions"] = "-XX:+UseParallelGC"  # a tenth less CPU than Java's own choice
            values["spark.local.dir"] = str(settings.temporary_folder)
    values["spark.sql.warehouse.dir"] = str(settings.temporary_folder / "warehouse")
    return values | _PRIVATE | options.setting_values


def _started(values: Mapping[str, str], settings: EngineSettings) -> SparkSession:
    if not _gateways:
        with _java_chosen(settings), (settings.temporary_folder / "spark-messages").open("w") as messages:
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
    context = SparkContext(
        conf.get("spark.master"),
        _NAME,
        gateway=_gateways[0],
        jsc=java().org.apache.spark.api.java.JavaSparkContext(conf),
    )
    context.setLogLevel(values["spark.log.level"])
    context.pythonExec = _python_of_executors(values, context.pythonExec)
    return SparkSession(context)


def java() -> Any:
    """The packages of the virtual machine, while a session is open."""
    return _gateways[0].jvm


def hadoop_configuration() -> Any:
    """With which Java finds and opens files, while a session is open."""
    return java().org.apache.spark.SparkContext.getOrCreate().hadoopConfiguration()


def _python_of_executors(values: Mapping[str, str], by_environment: str) -> str:
    """What is asked for; in this process's own Spark this Python, and on a cluster what PYSPARK_PYTHON says."""
    is_here = values.get("spark.master", "").startswith("local") and "PYSPARK_PYTHON" not in os.environ
    return values.get(_PYTHON_SETTING, sys.executable if is_here else by_environment)


def end_java(gateway: JavaGateway, java: subprocess.Popen[bytes]) -> None:
    """The virtual machine ends with its standard input; waiting for it makes its time part of ours.

    Py4J tells Java of every object that Python has dropped, in a thread of its own and until Python ends; whatever it
    sends to a virtual machine that is gone is a traceback on the terminal. So that thread is ended first.
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
    before = os.environ.get("JAVA_HOME")
    if not is_submitted():
        os.environ["JAVA_HOME"] = str(java_home(settings.temporary_folder))
    try:
        yield
    finally:
        os.environ.pop("JAVA_HOME", None)
        if before is not None:
            os.environ["JAVA_HOME"] = before


def _megabytes(memory: str) -> str:
    """`--memory`, as Java writes it."""
    number, unit = re.findall(r"([0-9.]+) ?([KMGT])", memory)[0]
    return f"{max(_LEAST_MEGABYTES, int(float(number) * _BYTES[unit] / 2**20))}m"
