"""Differentially private tables of detailed race and ethnicity groups: SafeTab-P.

`import safetab` stays light: what a function needs is imported when it is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from safetab.foundation.failures import RunFailed
from safetab.foundation.findings import InvalidInput
from safetab.foundation.version import VERSION
from safetab.pipeline.declared_options import ASSESS, CONFIDENCE, CSV, RUN, STEPS, DeclaredOption, shows

if TYPE_CHECKING:
    from safetab.accuracy.accuracy_files import AccuracySummary
    from safetab.estimates.open_release import Release
    from safetab.pipeline.options import RunOptions
    from safetab.pipeline.rerelease import RereleaseSummary
    from safetab.pipeline.run import RunSummary
    from safetab.planning.run_plan import RunPlan

__version__ = VERSION

__all__ = [
    "InvalidInput",
    "RunFailed",
    "RunOptions",
    "__version__",
    "assess",
    "open_release",
    "plan",
    "rerelease",
    "run",
]


def plan(parameters: str | Path, data: str | Path) -> RunPlan:
    """What a run would measure, with how much noise, at what cost; opens no person file.

    Raises `safetab.InvalidInput`, with every finding in it, if a public file is at fault.
    """
    from safetab.planning.planner import plan_of_files

    return plan_of_files(parameters, data).require()


def open_release(path: str | Path) -> Release:
    """Opens a release, OUT of a run or OUT/release, for those who use its numbers; needs no confidential file.

    Raises `safetab.InvalidInput` if there is no release.
    """
    from safetab.estimates.open_release import open_release as opened

    return opened(path)


@shows(RUN)
def run(
    parameters: str | Path, data: str | Path, out: str | Path, options: RunOptions | None = None, **given: object
) -> RunSummary:
    """Validates, tabulates and writes: what the command `safetab run` does, with the same options.

    Options come one by one, by the names of the command's, or as `options=RunOptions(...)`. Raises
    `safetab.InvalidInput` if what was given is at fault, `safetab.RunFailed` if the run itself failed.
    """
    from safetab.pipeline.run import run_files

    return run_files(Path(parameters), Path(data), Path(out), _options(RUN, options, given))


@shows((CONFIDENCE, CSV, *STEPS))
def rerelease(
    out: str | Path,
    new: str | Path,
    *,
    geography: str | Path | None = None,
    overwrite: bool = False,
    **given: object,
) -> RereleaseSummary:
    """Makes the release of OUT again from its measurements: what the command `safetab rerelease` does.

    Nothing is drawn and nothing spent. Raises `safetab.InvalidInput` if what was given is at fault,
    `safetab.RunFailed` if the machine is, or if the new output breaks a rule.
    """
    from safetab.foundation.whole_path import whole_path
    from safetab.pipeline.rerelease import RereleaseRequest, rerelease_files

    request = RereleaseRequest.of(geography, **given)
    return rerelease_files(whole_path(Path(out)), whole_path(Path(new)), request, overwrite=overwrite)


@shows(ASSESS)
def assess(  # noqa: PLR0913 - what the command takes
    parameters: str | Path,
    data: str | Path,
    out: str | Path,
    *,
    runs: int = 100,
    against: str | Path | None = None,
    confidential: bool = False,
    options: RunOptions | None = None,
    **given: object,
) -> AccuracySummary:
    """Many runs beside the truth: what the command `safetab accuracy` does, with the same options.

    What it writes is made from the truth and may not be released. Raises `safetab.InvalidInput` if what was given is
    at fault or refused, `safetab.RunFailed` if the machine is.
    """
    from safetab.accuracy.accuracy_files import AccuracyRequest, accuracy_files

    other = Path(against) if against is not None else None
    request = AccuracyRequest(runs, other, confidential, _options(ASSESS, options, given))
    return accuracy_files(Path(parameters), Path(data), Path(out), request)


def _options(declared: Iterable[DeclaredOption], options: RunOptions | None, given: Mapping[str, object]) -> RunOptions:
    from safetab.pipeline.options import RunOptions

    if options is not None and given:
        raise TypeError("give options=RunOptions(...), or the options one by one, not both.")
    return options if options is not None else RunOptions.of(declared, **given)


def __getattr__(name: str) -> object:
    """What is public and heavy is imported when it is asked for."""
    if name == "RunOptions":
        from safetab.pipeline.options import RunOptions

        return RunOptions
    raise AttributeError(f"module 'safetab' has no attribute {name!r}")
