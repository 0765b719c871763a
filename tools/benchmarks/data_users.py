"""How long data users wait on a release: `python -m tools.benchmarks.data_users RELEASE`.

Opens it, looks up totals by name, adds up a group over all counties; reads files that the system
has already cached.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import safetab
from safetab.release.estimates.estimate import Absence

T = TypeVar("T")


def timed(what: str, work: Callable[[], T], times: int = 5) -> T:
    """The least and the first of several wall times."""
    seconds = []
    for _ in range(times):
        start = time.perf_counter()
        result = work()
        seconds.append(time.perf_counter() - start)
    print(f"{what}: first {seconds[0]:.3f} s, best of {times} {min(seconds):.3f} s")
    return result


def main(path: Path) -> None:
    release = timed("open", lambda: safetab.open_release(path))
    print(repr(release))
    release = safetab.open_release(path)
    county = release.totals(group="4015", level="county").largest(1)[0].counted[0].entity
    timed(f"total by name ({county.name})", lambda: release.total(county.name, "Mexican"))
    timed("total by part of a name", lambda: release.total(county.name, "hmong", kind="alone"))
    tract = release.totals(group="4015", level="tract").largest(1)[0].counted[0].entity
    timed(f"total of {tract.name}", lambda: release.total(tract.name, "Mexican"))
    timed("table", lambda: str(release.table(county, "Mexican")))
    timed(
        "an absent number", lambda: isinstance(release.total(tract, "Maori", kind="alone"), Absence)
    )
    timed("a name that is not there", lambda: _missing(release))
    total = timed(
        "sum over all counties",
        lambda: release.sum([release.totals(group="Mexican", level="county")]),
    )
    timed("its margin", lambda: total.margin_of_error)
    timed("its combined margin", lambda: total.combined and total.combined.margin_of_error)
    print(total)
    timed(
        "sum over all tracts",
        lambda: release.sum([release.totals(group="Mexican", level="tract")]),
        2,
    )


def _missing(release: object) -> str:
    try:
        release.total("Blackvew Conty", "Mexican")  # type: ignore[attr-defined]
    except Exception as error:
        return str(error)
    raise AssertionError("a name that should be missing was found")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
