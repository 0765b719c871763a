"""Faults at chosen file operations: an error, a kill or an interrupt at the Nth operation under given folders.

`injector.c` is built by the C compiler of the machine and preloaded, so a program has to be started with it:
`with_injector` starts this Python anew. Afterwards `arm` says what shall happen from now on, in this process and those
that it forks.
"""

import ctypes
import errno
import hashlib
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from enum import IntFlag
from pathlib import Path

SOURCE = Path(__file__).with_name("injector.c")
_PRELOADED = "PRELOADED_FAULT_INJECTOR"


class Operations(IntFlag):
    """Which operations count: those that only look, those that change something, or both."""

    READS = 1
    CHANGES = 2


@dataclass(frozen=True)
class Fault:
    """What happens at operation `at` (0: nothing, operations are only counted)."""

    at: int = 0
    error: int = 0
    signal: int = 0
    is_lasting: bool = False  # at all later operations too, as on a full disk
    second: int = 0  # another signal
    later: int = 0  # so many operations after the first
    kinds: Operations = Operations.READS | Operations.CHANGES

    def __str__(self):
        what = (
            errno.errorcode[self.error] if self.error else signal.Signals(self.signal).name if self.signal else "none"
        )
        then = f", {signal.Signals(self.second).name} {self.later} later" if self.second else ""
        return f"{what}{' from' if self.is_lasting else ' at'} operation {self.at}{then}"


def compiler():
    return shutil.which("cc") or shutil.which("gcc")


def built_injector():
    """The library, built once for each state of its source."""
    digest = hashlib.sha256(SOURCE.read_bytes()).hexdigest()[:16]
    library = _own_folder() / f"{digest}.so"
    if not library.exists():
        made = library.with_suffix(f".{os.getpid()}")
        command = f"{compiler() or 'cc'} -O2 -Wall -Werror -shared -fPIC -o".split()
        subprocess.run([*command, made, SOURCE, "-ldl"], check=True)
        made.replace(library)
    return library


def _own_folder():
    """A folder for the library in which nobody else can plant another one: it is loaded into this user's processes."""
    folder = Path(tempfile.gettempdir()) / f"safetab-fault-injector-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(f"{folder} must be a folder that only its owner, this user, may use. Remove it.")
    return folder


def with_injector(arguments):
    """Starts Python anew with the injector, unless it has it; does not come back if it hadn't."""
    if _PRELOADED in os.environ:
        return
    library = str(built_injector())
    environment = os.environ | {"LD_PRELOAD": library, _PRELOADED: library}
    os.execve(sys.executable, [sys.executable, *arguments], environment)


def arm(fault, folders, trace=-1):
    """Counts from now on; each operation is noted at the descriptor `trace`: number, name and path."""
    library = ctypes.CDLL(os.environ[_PRELOADED])
    library.faults_watch("\n".join(str(folder.resolve()) for folder in folders).encode())
    library.faults_arm(
        ctypes.c_long(fault.at), int(fault.kinds), fault.error, int(fault.is_lasting), fault.signal, trace
    )
    if fault.second:
        library.faults_arm_second(ctypes.c_long(fault.at + fault.later), fault.second)


def disarm():
    arm(Fault(kinds=Operations(0)), ())
