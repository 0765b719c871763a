"""The `safetab` command from its first moment on."""

from __future__ import annotations

import sys

_INTERRUPTED = 130


def main() -> None:
    """Loads the commands and runs one. Ctrl-C while they are loaded is Ctrl-C."""
    try:
        from safetab.cli.main import main as commands  # noqa: PLC0415 - loading takes a while
    except KeyboardInterrupt:
        sys.exit(_INTERRUPTED)
    commands()
