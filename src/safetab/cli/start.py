"""The `safetab` command from its first moment on."""

from __future__ import annotations

import gc
import os
import sys

from safetab.foundation.memory_limits import address_space_limit, control_group_limit, reserve_little, why_too_little
from safetab.foundation.quiet_start import end_interrupted

_RUN_FAILED = 3


def main() -> None:
    """Loads the commands and runs one. Ctrl-C while they are loaded is Ctrl-C."""
    gc.set_threshold(200_000)  # nearly all objects last as long as the command: looking for others costs a tenth of it
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # its threads wait busily, for matrices that are small here
    try:
        _keep_to_limits()
        from safetab.cli.main import main as commands  # noqa: PLC0415 - loading takes a while
    except KeyboardInterrupt:
        end_interrupted()
    commands()


def _keep_to_limits() -> None:
    """Before anything large is loaded. Help is given under any limit."""
    command, space = sys.argv[1] if len(sys.argv) > 1 else "--help", address_space_limit()
    if not command.startswith("-") and "--help" not in sys.argv:
        too_little = why_too_little(command, space, control_group_limit())
        if too_little is not None:
            sys.stderr.write(f"The run failed: {too_little}\n")
            sys.exit(_RUN_FAILED)
    if space is not None:
        reserve_little()
