"""Which engine counts, and in which folder: the choice that RunOptions make."""

from __future__ import annotations

import ctypes
import resource
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from safetab.engines.backend import Backend
from safetab.engines.contract import EngineSettings
from safetab.engines.local.local_backend import LocalBackend
from safetab.foundation.locked_folder import locked_folder
from safetab.pipeline.engine_kind import EngineKind
from safetab.pipeline.options import TEMPORARY_PREFIX, RunOptions

_PR_SET_DUMPABLE = 4  # from <sys/prctl.h>


@contextmanager
def backend_of(options: RunOptions, log: Callable[[str], None] = lambda _: None) -> Iterator[Backend]:
    """A backend whose temporary folder is gone afterwards; it starts nothing before it is asked something."""
    forbid_memory_dumps()
    with locked_folder(options.temporary_folder, TEMPORARY_PREFIX) as folder:
        settings = EngineSettings(folder, options.memory, options.threads)
        with closing(_backend(options, settings, log)) as backend:
            yield backend


def forbid_memory_dumps() -> None:
    """From now on this process leaves no core dump, and on Linux no other process of its user may look into it.

    Its memory holds persons, and the key of a run. A system that knows neither of the two stays as it was.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def _backend(options: RunOptions, settings: EngineSettings, log: Callable[[str], None]) -> Backend:
    if options.engine is EngineKind.LOCAL:
        return LocalBackend(settings, log)
    from safetab.engines.spark.spark_backend import SparkBackend  # noqa: PLC0415 - PySpark is optional

    return SparkBackend(options.spark, settings, log)
