"""A standalone Spark cluster on the loopback interface: one master and two workers, each a process of its own."""

import os
import signal
import socket
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark

from tests.inside import java_home

SPARK_CLASS = Path(pyspark.__file__).parent / "bin" / "spark-class"


@dataclass(frozen=True)
class LoopbackCluster:
    master: str
    workers: tuple[subprocess.Popen, ...]
    folder: Path
    java_home: Path

    def kill_worker(self, number):
        """The worker and its executors, at once."""
        os.killpg(self.workers[number].pid, signal.SIGKILL)


@contextmanager
def loopback_cluster(folder):
    folder.mkdir()
    home = java_home(folder)
    port = _free_port()
    master = _start(folder, home, "master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0")
    workers = []
    try:
        _wait_for(port)
        for number in range(2):
            work = folder / f"worker-{number}" / "work"
            options = (
                "--host",
                "127.0.0.1",
                "--webui-port",
                "0",
                "--cores",
                "1",
                "--memory",
                "1g",
                "--work-dir",
                str(work),
            )
            workers.append(_start(folder, home, "worker.Worker", *options, f"spark://127.0.0.1:{port}"))
        yield LoopbackCluster(f"spark://127.0.0.1:{port}", tuple(workers), folder, home)
    finally:
        for process in (*workers, master):
            process.terminate()
        for process in (*workers, master):
            process.wait(60)


def _start(folder, home, name, *arguments):
    environment = os.environ | {"JAVA_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "512m"}
    with (folder / f"{name}-{time.monotonic_ns()}.log").open("wb") as log:
        command = [str(SPARK_CLASS), f"org.apache.spark.deploy.{name}", *arguments]
        return subprocess.Popen(command, stdout=log, stderr=log, env=environment, cwd=folder, start_new_session=True)


def _free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def _wait_for(port, seconds=90):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with socket.socket() as trial:
            if trial.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)
    raise TimeoutError("the master did not start")
