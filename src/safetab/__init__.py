"""Differentially private tables of detailed race and ethnicity groups, with a proved guarantee.

`import safetab` stays light: what a function needs is imported when it is called.
"""

from __future__ import annotations

import safetab.foundation.quiet_start  # noqa: F401 - what it does is done

# isort: split
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from safetab.foundation.argument_types import checks_arguments
from safetab.foundation.failures import RunFailed
from safetab.foundation.findings import Finding, InvalidInput
from safetab.foundation.version import VERSION
from safetab.pipeline.declared_options import ASSESS, CONFIDENCE, CSV, RUN, STEPS, VALIDATE, DeclaredOption, shows

if TYPE_CHECKING:
    from safetab import tuning
    from safetab.assessment.accuracy_files import AccuracySummary
    from safetab.estimates.difference import Difference
    from safetab.estimates.estimate import Estimate
    from safetab.estimates.listings import Areas, Found, Groups
    from safetab.estimates.open_release import Release
    from safetab.estimates.ratio import Ratio
    from safetab.estimates.reading.absence import Absence
    from safetab.estimates.results import Answers, GroupTable
    from safetab.estimates.statuses import Statuses
    from safetab.pipeline.options import RunOptions
    from safetab.pipeline.rerelease import RereleaseSummary
    from safetab.pipeline.run import RunSummary
    from safetab.planning.run_plan import RunPlan

__version__ = VERSION

__all__ = [
    "Absence",
    "AccuracySummary",
    "Answers",
    "Areas",
    "Difference",
    "Estimate",
    "Finding",
    "Found",
    "GroupTable",
    "Groups",
    "InvalidInput",
    "Ratio",
    "Release",
    "RereleaseSummary",
    "RunFailed",
    "RunOptions",
    "RunPlan",
    "RunSummary",
    "Statuses",
    "__version__",
    "accuracy",
    "export",
    "open_release",
    "plan",
    "rerelease",
    "run",
    "status",
    "tuning",
    "validate",
]

_LATE = {
    "Absence": "safetab.estimates.reading.absence",
    "AccuracySummary": "safetab.assessment.accuracy_files",
    "Answers": "safetab.estimates.results",
    "Areas": "safetab.estimates.listings",
    "Difference": "safetab.estimates.difference",
    "Estimate": "safetab.estimates.estimate",
    "Found": "safetab.estimates.listings",
    "GroupTable": "safetab.estimates.results",
    "Groups": "safetab.estimates.listings",
    "Ratio": "safetab.estimates.ratio",
    "Release": "safetab.estimates.open_release",
    "RereleaseSummary": "safetab.pipeline.rerelease",
    "RunOptions": "safetab.pipeline.options",
    "RunPlan": "safetab.planning.run_plan",
    "RunSummary": "safetab.pipeline.run",
    "Statuses": "safetab.estimates.statuses",
}
"""Where the public names are that are imported when they are asked for."""


@shows(VALIDATE)
@checks_arguments
def validate(
    parameters: str | Path, data: str | Path, options: RunOptions | None = None, **given: object
) -> tuple[Finding, ...]:
    """Checks everything that is given, every record included: what the command `safetab validate` does.

    Gives the warnings. Raises `safetab.InvalidInput`, with every finding in it, if something is at fault.

    Args:
        parameters: The directory with config.json and the lists of codes and iterations.
        data: The directory with the geography file GRF-C and the records, or the .ini file of a CEF.
        options: All options at once, in place of those below.
    """
    from safetab.pipeline.run import validate_files

    return validate_files(Path(parameters), Path(data), _options(VALIDATE, options, given))


@checks_arguments
def plan(parameters: str | Path, data: str | Path, totals: str | Path | None = None) -> RunPlan:
    """What a run would measure, with how much noise, at what cost; opens no record file.

    Raises `safetab.InvalidInput`, with every finding in it, if a public file is at fault.

    Args:
        parameters: The directory with config.json and the lists of codes and iterations.
        data: The directory with the geography file GRF-C, or the .ini file of a CEF.
        totals: A release whose totals choose the tables of households, instead of a file of totals in `data`.
    """
    from safetab.pipeline.totals_of_release import given_totals
    from safetab.planning.planner import plan_of_files

    given = None if totals is None else given_totals(Path(totals), Path(data))
    return plan_of_files(parameters, data, given).require()


@shows(RUN)
@checks_arguments
def run(
    parameters: str | Path, data: str | Path, out: str | Path, options: RunOptions | None = None, **given: object
) -> RunSummary:
    """Validates, tabulates and writes: what the command `safetab run` does, with the same options.

    Raises `safetab.InvalidInput` if what was given is at fault, `safetab.RunFailed` if the run itself failed.

    Args:
        parameters: The directory with config.json and the lists of codes and iterations.
        data: The directory with the geography file GRF-C and the records, or the .ini file of a CEF.
        out: The directory to make; it appears whole or not at all.
        options: All options at once, in place of those below.
    """
    from safetab.pipeline.run import run_files

    return run_files(Path(parameters), Path(data), Path(out), _options(RUN, options, given))


@shows((CONFIDENCE, CSV, *STEPS))
@checks_arguments
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

    Args:
        out: The whole output of a run, which stays as it is.
        new: The directory to make.
        geography: With `coterminous`: the geography of the run, its GRF-C file.
        overwrite: Replace `new` if it is there.
    """
    from safetab.foundation.whole_path import whole_path
    from safetab.pipeline.rerelease import RereleaseRequest, rerelease_files

    request = RereleaseRequest.of(geography, **given)
    return rerelease_files(whole_path(Path(out)), whole_path(Path(new)), request, overwrite=overwrite)


@checks_arguments
def open_release(path: str | Path) -> Release:
    """Opens a release for those who use its numbers; needs no confidential file.

    Raises `safetab.InvalidInput` if there is no release.

    Args:
        path: OUT of a run, or OUT/release.
    """
    from safetab.estimates.open_release import open_release as opened

    return opened(path)


@checks_arguments
def export(
    path: str | Path, folder: str | Path, *, form: Literal["tidy", "census"] = "tidy", overwrite: bool = False
) -> dict[str, int]:
    """Writes a release as CSV files: what the command `safetab export` does.

    Gives the number of rows of each file. Raises `safetab.InvalidInput` if there is no release or the folder is there,
    `safetab.RunFailed` if the machine refused to write.

    Args:
        path: OUT of a run, or OUT/release.
        folder: The directory to make.
        form: tidy, a file for each geography level; or census, a file for each table, as the Census Bureau's.
        overwrite: Replace `folder` if it holds an earlier export.
    """
    from safetab.foundation.whole_path import whole_path
    from safetab.release.export import ExportForm, export_csv

    return export_csv(Path(path), whole_path(Path(folder)), ExportForm(form), overwrite=overwrite)


@checks_arguments
def status(
    path: str | Path,
    *,
    geography: str | None = None,
    group: str | None = None,
    level: str | None = None,
    kind: str | None = None,
) -> Statuses:
    """For each group of a part of a release why its number is there, or absent: what the command `safetab status` does.

    Raises `safetab.InvalidInput` if there is no release, no such area or no such group.

    Args:
        path: OUT of a run, or OUT/release.
        geography: The area: its name or its id; all if left out.
        group: The race or ethnicity group: its name or its code; all if left out.
        level: nation, state, county, tract, place or aiannh; all if left out.
        kind: alone, combination or ethnicity.
    """
    return open_release(path).status(geography=geography, group=group, level=level, kind=kind)


@shows(ASSESS)
@checks_arguments
def accuracy(  # noqa: PLR0913 - what the command takes
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

    `assess` is an older name of the same function.

    What it writes is made from the truth and may not be released. Raises `safetab.InvalidInput` if what was given is
    at fault or refused, `safetab.RunFailed` if the machine is.

    Args:
        parameters: The directory with config.json and the lists of codes and iterations.
        data: The directory with the geography file GRF-C and the records, or the .ini file of a CEF.
        out: The directory to make.
        runs: How many times the algorithm is run.
        against: Other parameters to compare with.
        confidential: Says that the records are of real people and that the curator will keep the result to himself.
        options: All options at once, in place of those below.
    """
    from safetab.assessment.accuracy_files import AccuracyRequest, accuracy_files

    other = Path(against) if against is not None else None
    request = AccuracyRequest(runs, other, confidential, _options(ASSESS, options, given))
    return accuracy_files(Path(parameters), Path(data), Path(out), request)


assess = accuracy


def _options(declared: Iterable[DeclaredOption], options: RunOptions | None, given: Mapping[str, object]) -> RunOptions:
    from safetab.pipeline.options import RunOptions

    if options is not None and given:
        raise TypeError("give options=RunOptions(...), or the options one by one, not both.")
    return options if options is not None else RunOptions.of(declared, **given)


def __getattr__(name: str) -> object:
    """What is public and heavy is imported when it is asked for."""
    if name == "tuning":
        return import_module("safetab.tuning")
    if name not in _LATE:
        raise AttributeError(f"module 'safetab' has no attribute {name!r}")
    return getattr(import_module(_LATE[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
