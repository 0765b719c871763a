"""A demo: a synthetic census, its two releases and pages about them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Literal

from safetab.apps.explorer.explore import ExplorerRequest, write_explorer
from safetab.apps.synthetic.demo_census import write_demo_census
from safetab.apps.synthetic.files.parameter_files import HOUSEHOLD_PARAMETERS
from safetab.apps.synthetic.specified.people import PEOPLE_OF, write_example
from safetab.apps.website.linked_site import LinkedSite
from safetab.apps.website.write_site import write_site
from safetab.core.algorithm.run_plan import RunPlan
from safetab.foundation.argument_types import python_function
from safetab.foundation.files import whole_path
from safetab.foundation.findings import require_none
from safetab.foundation.interrupts import publishing_for_itself
from safetab.foundation.progress import NoProgress, Progress
from safetab.inputs.bureau.grfc import GEOGRAPHY_TABLE
from safetab.inputs.public_files import plan_of_files
from safetab.release.outputs.output_folder import (
    EarlierOutput,
    names_in,
    output_findings,
    whole_output,
)
from safetab.runs.options import RunOptions
from safetab.runs.run import RunSummary, run_files

_MADE_FILE = "MADE-BY-SAFETAB-DEMO"
"""Lists the files of a demo: an overwrite removes nothing else."""

PEOPLE = "output"
_HOUSEHOLDS = "output-households"
PEOPLE_PAGE = "site/index.html"
EXPLORER = "explorer.html"
_Shown = Callable[[], AbstractContextManager[Progress]]
"""The display of the progress of a step."""
_EARLIER = EarlierOutput(
    _MADE_FILE, lambda folder: set((folder / _MADE_FILE).read_text(encoding="utf-8").splitlines())
)


@python_function
def demo(
    out: str | Path = "safetab-demo",
    *,
    census: Literal["nz", "ons"] | None = None,
    overwrite: bool = False,
) -> dict[str, RunSummary]:
    """Make a small synthetic census, its tables, and pages to explore, as `safetab demo` does.

    Returns the summary of each run, by its folder in `out`. Raises `safetab.InvalidInput` if `out`
    exists.

    Args:
        out: The directory to make.
        census: Another made-up census: nz (like New Zealand's) or ons (like that of England and
            Wales).
        overwrite: Replace `out` if it is a demo.
    """
    return write_demo(Path(out), census, lambda: nullcontext(NoProgress()), overwrite=overwrite)


def write_demo(
    out: Path,
    census: str | None,
    shown: _Shown,
    begun: Callable[[], None] = lambda: None,
    planned: Callable[[RunPlan], None] = lambda _: None,
    *,
    overwrite: bool,
) -> dict[str, RunSummary]:
    """Make the demo of the U.S. census or of another shipped one.

    OUT appears whole or not at all. `planned` is called with the plan of a shipped census before
    its run. Returns the summary of each run by its folder. Raises InvalidInput if OUT may not be
    made or replaced.
    """
    with _demo_folder(out, begun, overwrite=overwrite) as folder:
        runs = (
            _run_us(folder, shown)
            if census is None
            else _run_census(folder, census, shown, planned)
        )
        _write_sites(folder, list(runs))
    return runs


def _write_sites(folder: Path, outputs: list[str]) -> None:
    """Write the site of each output; if there are two, they link to each other."""
    site_of = {name: folder / name.replace(PEOPLE, "site") for name in outputs}
    for name, site in site_of.items():
        linked = next(
            (LinkedSite(folder / each, str(site_of[each])) for each in outputs if each != name),
            None,
        )
        write_site(folder / name, site, linked=linked)


def _run_us(folder: Path, shown: _Shown) -> dict[str, RunSummary]:
    """The summary of each run, by its folder, after making the census and the explorer.

    People come first: their published totals, after the coterminous step as in 2020, choose the
    tables of households.
    """
    write_demo_census(folder, has_households=True)
    parameters, data = folder / "parameters", folder / "data"
    write_explorer(
        ExplorerRequest(folder / EXPLORER, parameters=parameters, geography=data / GEOGRAPHY_TABLE)
    )
    people = _run(parameters, data, folder / PEOPLE, shown, coterminous=True)
    households = _run(
        folder / HOUSEHOLD_PARAMETERS, data, folder / _HOUSEHOLDS, shown, totals=folder / PEOPLE
    )
    return {PEOPLE: people, _HOUSEHOLDS: households}


def _run_census(
    folder: Path, name: str, shown: _Shown, planned: Callable[[RunPlan], None]
) -> dict[str, RunSummary]:
    """The summary of the run of a shipped census, by its folder.

    People and the explorer are made before.
    """
    parameters, data = folder / "parameters", folder / "data"
    with shown() as progress:
        write_example(name, PEOPLE_OF[name], folder, progress)
    planned(plan_of_files(parameters, data, None).require())
    write_explorer(ExplorerRequest(folder / EXPLORER, parameters=parameters))
    return {PEOPLE: _run(parameters, data, folder / PEOPLE, shown)}


def _run(parameters: Path, data: Path, out: Path, shown: _Shown, **options: object) -> RunSummary:
    with shown() as progress:
        return run_files(parameters, data, out, RunOptions.of(**options), progress)


@contextmanager
def _demo_folder(out: Path, begun: Callable[[], None], *, overwrite: bool) -> Iterator[Path]:
    """A folder to fill with a demo; it becomes OUT and lists its own files.

    `begun` is called before the work. Raises InvalidInput if OUT may not be made or replaced.
    """
    whole = whole_path(out)
    with suppress(OSError):  # found below
        whole.parent.mkdir(parents=True, exist_ok=True)
    require_none(output_findings(whole, (), overwrite=overwrite, earlier=_EARLIER))
    begun()
    with whole_output(whole, overwrite=overwrite) as folder:
        with publishing_for_itself():
            yield folder
        made = "\n".join((_MADE_FILE, *names_in(folder), ""))
        (folder / _MADE_FILE).write_text(made, encoding="utf-8")
