"""The wheel and the source archive, built twice from the last commit: `python -m supply_chain.archives` compares them.

The two builds lie in different folders, with different permissions for new files, and have the commit's time. If a byte
differs, nothing is left in build/dist.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

from supply_chain.locks import PROJECT

DIST = PROJECT / "build" / "dist"
_BUILD = "import sys; from flit_core import buildapi as b; b.build_wheel(sys.argv[1]); b.build_sdist(sys.argv[1])"


def commit_time() -> str:
    return _git("log", "-1", "--format=%ct").decode().strip()


def sources() -> bytes:
    """The files of the last commit that take part, as a tar archive."""
    return _git("archive", "HEAD", "src", "pyproject.toml", "README.md", "LICENSE")


def built(source: bytes, epoch: str, folder: Path, umask: int) -> dict[str, bytes]:
    """The archives by their names."""
    with tarfile.open(fileobj=io.BytesIO(source)) as files:
        files.extractall(folder / "source", filter="data")
    (folder / "dist").mkdir()
    environment = {**os.environ, "SOURCE_DATE_EPOCH": epoch}
    command = [sys.executable, "-c", _BUILD, str(folder / "dist")]
    subprocess.run(command, cwd=folder / "source", env=environment, check=True, umask=umask)  # noqa: S603 - as it stands
    return {path.name: path.read_bytes() for path in sorted((folder / "dist").iterdir())}


def built_twice(source: bytes, epoch: str) -> tuple[dict[str, bytes], dict[str, bytes]]:
    with TemporaryDirectory() as temporary:
        one, other = Path(temporary) / "one", Path(temporary) / "the" / "other"
        for folder in (one, other):
            folder.mkdir(parents=True)
        return built(source, epoch, one, 0o022), built(source, epoch, other, 0o077)


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=PROJECT, check=True, capture_output=True).stdout  # noqa: S603, S607


def main() -> int:
    shutil.rmtree(DIST, ignore_errors=True)
    one, other = built_twice(sources(), commit_time())
    if one != other:
        different = [name for name in sorted({*one, *other}) if one.get(name) != other.get(name)]
        print(f"Two builds of the last commit differ: {', '.join(different)}.", file=sys.stderr)
        return 3
    DIST.mkdir(parents=True)
    for name, content in one.items():
        (DIST / name).write_bytes(content)
        print(f"{hashlib.sha256(content).hexdigest()}  build/dist/{name}")
    print("Built twice from the last commit, with the same bytes.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
