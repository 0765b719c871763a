"""The entry point of the `safetab` command.

It checks memory limits before anything large is loaded.
"""

from __future__ import annotations

import gc
import os
import sys

from safetab.foundation import start_up

_RUN_FAILED = 3  # as in exit_codes, which is not loaded yet


def main() -> None:
    """Load the commands, run the one that was asked for, and exit with its code.

    Ctrl-C while the commands are loading exits with 130, like Ctrl-C later on.
    """
    # Nearly all objects live as long as the command; searching for others takes a tenth of it.
    gc.set_threshold(200_000)
    # OpenBLAS's threads wait in a busy loop, for matrices that are small here.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        _keep_to_limits()
        from safetab.cli.main import main as run_command  # noqa: PLC0415 - loading takes a while
    except KeyboardInterrupt:
        start_up.end_interrupted()
    run_command()


def _keep_to_limits() -> None:
    """Exit with code 3 if the process has too little memory for the command.

    Help always works.
    """
    command = sys.argv[1] if len(sys.argv) > 1 else "--help"
    space = start_up.address_space_limit()
    if not command.startswith("-") and not {"-h", "--help"} & {*sys.argv}:
        too_little = start_up.why_too_little(command, space, start_up.control_group_limit())
        if too_little is not None:
            sys.stderr.write(f"The run failed: {too_little}\n")
            sys.exit(_RUN_FAILED)
    if space is not None:
        start_up.reserve_little()
