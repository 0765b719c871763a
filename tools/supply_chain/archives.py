"""The wheel and the source archive, built twice from the last commit, and compared.

The two builds lie in different folders, with different permissions for new files, and have the
commit's time. Each writes the documentation into the package first. If a byte differs, nothing is
left in build/dist.
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

from tools import PROJECT

DIST = PROJECT / "build" / "dist"
PAGES = Path("src") / "safetab" / "documentation"
_BUILD = (
    "import sys; from flit_core import buildapi as b; b.build_wheel(sys.argv[1]);"
    " b.build_sdist(sys.argv[1])"
)


def commit_time() -> str:
    return _git("log", "-1", "--format=%ct").decode().strip()


def uncommitted() -> str:
    """The tracked files that differ from the last commit."""
    return _git("diff", "--name-only", "HEAD").decode().strip().replace("\n", ", ")


def sources() -> bytes:
    """The files of the last commit, as a tar archive."""
    return _git("archive", "HEAD")


def built(source: bytes, epoch: str, folder: Path, umask: int) -> dict[str, bytes]:
    """The archives by their names.."""
    with tarfile.open(fileobj=io.BytesIO(source)) as files:
        files.extractall(folder / "source", filter="data")
    (folder / "dist").mkdir()
    tree = folder / "source"
    own = os.pathsep.join((str(tree / "src"), str(tree)))
    environment = {**os.environ, "SOURCE_DATE_EPOCH": epoch, "PYTHONPATH": own}
    commands = [["-c", _BUILD, str(folder / "dist")]]
    if (tree / "docs").is_dir():
        commands.insert(0, ["-m", "tools.supply_chain.documentation", str(PAGES)])
    for command in commands:  # without -B, modules that were run would be packed as bytecode, too
        subprocess.run(  # noqa: S603
            [sys.executable, "-B", *command], cwd=tree, env=environment, check=True, umask=umask
        )
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
    if not (PROJECT / ".git").exists():
        print(
            "The archives are made from the last commit, and this is no clone of the repository.",
            file=sys.stderr,
        )
        return 1
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
