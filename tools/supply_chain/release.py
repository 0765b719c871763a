"""What is uploaded, in build/release: `python -m tools.supply_chain.release` puts it there.

`make release` runs the checks and makes the archives first. This says what is left to do by hand,
and uses no network. With `--ready` it only says what isn't ready, so that `make release` can refuse
at its start.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tools import PROJECT
from tools.supply_chain.archives import DIST, uncommitted
from tools.supply_chain.bill import BILL, bill
from tools.supply_chain.readme import LONG_DESCRIPTION, long_description, without_relative_links

RELEASE = PROJECT / "build" / "release"
_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)
_BY_HAND = """
{folder} has all that is uploaded. What is left to do by hand:

1. `python -m tools.supply_chain.faults`, which needs internet: \
no locked version may have a known fault.
2. Sign SHA256SUMS with the maintainers' key, and tag the commit: git tag -s v{version}
3. Upload the wheel and the source archive to the package index, \
and release-notes.md to where releases are announced.
4. Build the image of `Containerfile`, with the digest of its base image, and try it: \
docs/how-to/install.md#container
5. Write the checksum of the source archive into packaging/conda/recipe.yaml \
where it is published: {checksum}
"""


_UNPUBLISHED = "isn't published yet"


def project() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    return found


def version() -> str:
    return str(project()["version"])


def missing_addresses(urls: Mapping[str, str], read: Callable[[str], str]) -> Iterator[str]:
    """A sentence for each place that lacks the project's addresses.

    They say where the source is, and where to report a fault in private.
    """
    repository = urls.get("Repository")
    if repository is None:
        yield (
            "pyproject.toml: [project.urls] has no Repository. Publish the source,"
            " and write its address there."
        )
    if repository is None or repository not in read("SECURITY.md"):
        yield (
            "SECURITY.md: has no address for private reports. Write it,"
            " with the address of the repository."
        )
    for page in ("README.md", "docs/how-to/install.md"):
        if _UNPUBLISHED in read(page):
            yield f'{page}: says that safetab "{_UNPUBLISHED}". Write where it is.'


def sections(changelog: str) -> dict[str, str]:
    """The text below each heading of the changelog."""
    _, *parts = _HEADING.split(changelog)
    return {heading: text.strip() for heading, text in zip(parts[::2], parts[1::2], strict=True)}


def faults(version: str, changelog: str, citation: str) -> Iterator[str]:
    """A sentence for each thing that isn't ready."""
    found = sections(changelog)
    date = next(
        (
            heading.removeprefix(f"{version} - ")
            for heading in found
            if heading.startswith(f"{version} - ")
        ),
        None,
    )
    if date is None or not found[f"{version} - {date}"]:
        yield f'CHANGELOG.md: has no "## {version} - DATE" with the changes. Write it.'
    if found.get("Unreleased"):
        yield (
            "CHANGELOG.md: changes are still under Unreleased. Move them to the version's heading."
        )
    for line in (f"version: {version}", f"date-released: {date}"):
        if line not in citation.splitlines():
            yield f"CITATION.cff: has no line {line!r}. Write it."
    if BILL.read_text() != bill():
        yield (
            "The bill of materials is older than the locks. Run `python -m"
            " tools.supply_chain.bill`."
        )
    if LONG_DESCRIPTION.read_text(encoding="utf-8") != long_description():
        yield (
            "packaging/long-description.md is older than README.md."
            " Run `python -m tools.supply_chain.readme`."
        )


def write_release(folder: Path, version: str, changelog: str) -> str:
    """Fill a new folder with what is uploaded; the source archive's checksum comes back."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for path in sorted(DIST.iterdir()):
        shutil.copyfile(path, folder / path.name)
    shutil.copyfile(BILL, folder / f"safetab-{version}.cdx.json")
    (notes,) = (
        text for heading, text in sections(changelog).items() if heading.startswith(f"{version} - ")
    )
    (folder / "release-notes.md").write_text(
        f"# safetab {version}\n\n{without_relative_links(notes)}\n", encoding="utf-8"
    )
    sums = {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
    }
    (folder / "SHA256SUMS").write_text(
        "".join(f"{checksum}  {name}\n" for name, checksum in sums.items())
    )
    return sums[f"safetab-{version}.tar.gz"]


def _read(page: str) -> str:
    return (PROJECT / page).read_text(encoding="utf-8")


def main(arguments: Sequence[str] = ()) -> int:
    changelog = _read("CHANGELOG.md")
    found = [
        *missing_addresses(project()["urls"], _read),
        *faults(version(), changelog, _read("CITATION.cff")),
    ]
    if changed := uncommitted():
        found.append(
            "The archives are made from the last commit, and these files have changed since:"
            f" {changed}"
        )
    for fault in found:
        print(fault, file=sys.stderr)
    if found or "--ready" in arguments:
        return 1 if found else 0
    checksum = write_release(RELEASE, version(), changelog)
    print(
        _BY_HAND.format(
            folder=RELEASE.relative_to(PROJECT), version=version(), checksum=checksum
        ).strip()
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
