"""The virtual machine ends without a word on the terminal, whatever Py4J still wants to tell it."""

import logging
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from types import SimpleNamespace

from tests import inside
from tests.engine_inputs import SPARK_MARKS

pytestmark = SPARK_MARKS
DROPPED = 40


class SlowJava:
    """Answers Py4J's commands one by one, and no longer once its standard input is closed.

    It counts the objects that it is told were dropped; to everything else it answers with a new object.
    """

    def __init__(self):
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self._connections = []
        self.told = 0
        self.stdin = SimpleNamespace(close=self._close)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        with suppress(OSError):  # it was closed
            while True:
                connection, _ = self._server.accept()
                self._connections.append(connection)
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection):
        with suppress(OSError), connection, connection.makefile("rb") as commands:
            for number, command in enumerate(iter(lambda: _command(commands), [])):
                is_dropped = command[0] == b"m\n"
                if is_dropped:
                    time.sleep(0.005)
                    self.told += 1
                connection.sendall(b"!yv\n" if is_dropped else b"!yro%d\n" % number)

    def _close(self):
        self._server.close()
        for connection in self._connections:
            with suppress(OSError):  # Py4J may have left it
                connection.shutdown(socket.SHUT_RDWR)

    def wait(self, seconds): ...

    def kill(self): ...


def _command(lines):
    """The lines of the next command; none after the last one."""
    command = []
    for line in lines:
        command.append(line)
        if line in {b"e\n", b"s\n"}:  # the end of a command, and what Py4J sends last
            break
    return command


def test_nothing_is_sent_to_a_virtual_machine_that_is_gone(caplog):
    from py4j.clientserver import ClientServer, JavaParameters, PythonParameters  # noqa: PLC0415 - PySpark is optional

    java = SlowJava()
    python = PythonParameters(port=0, daemonize=True, daemonize_connections=True)
    gateway = ClientServer(JavaParameters(port=java.port), python)
    objects = [gateway.entry_point.anything() for _ in range(DROPPED + 1)]
    del objects[1:]
    while not java.told:
        time.sleep(0.01)
    with caplog.at_level(logging.ERROR):
        inside.end_java(gateway, java)
        told = java.told
        objects.clear()
        time.sleep(1.5)  # longer than Py4J's thread sleeps between two looks
    gateway.shutdown_callback_server()
    assert not caplog.records
    assert told == java.told == DROPPED


def test_a_process_that_has_used_spark_is_refused_by_a_sentence(tmp_path):
    """Its virtual machine has settings of its own, and nobody can tell what it leaves behind."""
    program = f"""
import os
from pathlib import Path
from safetab.counting.contract import EngineSettings
from safetab.counting.spark.options import SparkOptions, java_home
from safetab.counting.spark.session import spark_session
from safetab.foundation.failures import RunFailed
from pyspark.sql import SparkSession

def say_why():
    try:
        with spark_session(SparkOptions(), EngineSettings(Path({str(tmp_path)!r})), print):
            pass
    except RunFailed as failed:
        print(failed)

os.environ["JAVA_HOME"] = str(java_home(Path({str(tmp_path)!r})))
session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
say_why()
session.stop()
say_why()
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ended.stdout.splitlines() == [
        "a Spark session is already open in this process. Stop it before the run.",
        "this process has already used Spark. Start the run in a new process.",
    ]
