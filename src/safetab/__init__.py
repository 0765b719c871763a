"""Detailed census tables with a proved privacy guarantee.

Noise from a known distribution is in every number.

A whole census from Python; `safetab.synthesize` makes up people to try it on:

    import safetab

    safetab.validate("mine", "records")
    print(safetab.plan("mine"))
    safetab.run("mine", "records", "OUT", dataset="census-2026", spend_log="spend.log")
    release = safetab.open_release("OUT")
    print(release.total("Northland", "Tongan"))

Every command of the terminal has a function of the same name, with the same options. What can
be imported is in `safetab.__all__`; docs/how-to and `safetab docs` explain the rest.

`import safetab` stays light: a function imports what it needs when it is called.
"""

from __future__ import annotations

import safetab.foundation.copies
import safetab.foundation.start_up  # noqa: F401 - importing both is enough

# isort: split
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Unpack

from safetab.foundation.argument_types import python_function, warn_of_older_name
from safetab.foundation.failures import RunFailed
from safetab.foundation.findings import VERSION, Finding, InvalidInput
from safetab.runs.declared_options import ASSESS, COMPARE, RERELEASE, RUN, VALIDATE, shows

if TYPE_CHECKING:
    from safetab import tuning
    from safetab.apps.accuracy.accuracy_files import AccuracySummary
    from safetab.apps.audit.verdicts import AuditReport
    from safetab.apps.bureau.cef_tables import ConvertedCef
    from safetab.apps.compare.compare import ComparisonSummary
    from safetab.apps.compare.written_tables import OpenedComparison
    from safetab.apps.website.write_site import SiteSummary
    from safetab.cli.functions.curator import (
        blocks_with_units,
        check_spend_log,
        convert,
        merge_spend_logs,
        spend,
    )
    from safetab.cli.functions.demo import demo
    from safetab.cli.functions.documentation import docs
    from safetab.cli.functions.made_up import MadeUp, new, synthesize
    from safetab.cli.functions.releases import new_key, official, registry, sign, site, verify
    from safetab.cli.functions.studies import audit, diff, explore, lists
    from safetab.core.algorithm.run_plan import RunPlan
    from safetab.foundation.result_tables import Findings
    from safetab.inputs.parameter_difference import ParameterDifference
    from safetab.release.estimates.estimate import Absence, Difference, Estimate
    from safetab.release.estimates.open_release import Release
    from safetab.release.estimates.ratio import Ratio
    from safetab.release.estimates.results import (
        Answers,
        Areas,
        Found,
        Groups,
        GroupTable,
        Statuses,
    )
    from safetab.release.files.checks.verification import Verification
    from safetab.release.files.official.write_official import OfficialSummary
    from safetab.release.report.pages import report
    from safetab.runs.declared_options import DeclaredOption
    from safetab.runs.given_options import (
        GivenAccuracy,
        GivenCompare,
        GivenRerelease,
        GivenRun,
        GivenValidate,
    )
    from safetab.runs.options import RunOptions
    from safetab.runs.rerelease import RereleaseSummary
    from safetab.runs.run import RunSummary
    from safetab.runs.spend_log.accounts_shown import AccountsOfLog

__version__ = VERSION

__all__ = [
    "Absence", "AccountsOfLog", "AccuracySummary", "Answers", "Areas", "AuditReport",
    "ComparisonSummary", "ConvertedCef", "Difference", "Estimate", "Finding", "Findings", "Found",
    "GroupTable", "Groups", "InvalidInput", "MadeUp", "OfficialSummary", "OpenedComparison",
    "ParameterDifference", "Ratio", "Release", "RereleaseSummary", "RunFailed", "RunOptions",
    "RunPlan", "RunSummary", "SiteSummary", "Statuses", "Verification", "__version__", "accuracy",
    "audit", "blocks_with_units", "check_spend_log", "compare", "convert", "demo", "diff", "docs",
    "explore", "export", "lists", "merge_spend_logs", "new", "new_key", "official",
    "open_comparison", "open_release", "plan", "registry", "report", "rerelease", "run", "sign",
    "site", "spend", "status", "synthesize", "tuning", "validate", "verify",
]  # fmt: skip

_LATE = {
    "apps.accuracy.accuracy_files": ("AccuracySummary",),
    "apps.audit.verdicts": ("AuditReport",),
    "apps.bureau.cef_tables": ("ConvertedCef",),
    "apps.compare.compare": ("ComparisonSummary",),
    "apps.compare.written_tables": ("OpenedComparison",),
    "apps.website.write_site": ("SiteSummary",),
    "cli.functions.curator": (
        "blocks_with_units",
        "check_spend_log",
        "convert",
        "merge_spend_logs",
        "spend",
    ),
    "cli.functions.demo": ("demo",),
    "cli.functions.documentation": ("docs",),
    "cli.functions.made_up": ("MadeUp", "new", "synthesize"),
    "cli.functions.releases": ("new_key", "official", "registry", "sign", "site", "verify"),
    "cli.functions.studies": ("audit", "diff", "explore", "lists"),
    "core.algorithm.run_plan": ("RunPlan",),
    "foundation.result_tables": ("Findings",),
    "inputs.parameter_difference": ("ParameterDifference",),
    "release.estimates.estimate": ("Absence", "Difference", "Estimate"),
    "release.estimates.open_release": ("Release",),
    "release.estimates.ratio": ("Ratio",),
    "release.estimates.results": ("Answers", "Areas", "Found", "GroupTable", "Groups", "Statuses"),
    "release.files.checks.verification": ("Verification",),
    "release.files.official.write_official": ("OfficialSummary",),
    "release.report.pages": ("report",),
    "runs.options": ("RunOptions",),
    "runs.rerelease": ("RereleaseSummary",),
    "runs.run": ("RunSummary",),
    "runs.spend_log.accounts_shown": ("AccountsOfLog",),
}
"""The modules of public names that are imported on first use."""
_OLD = {"assess": "accuracy"}
"""Older names that still work, with a warning: docs/compatibility.md says for how long."""


@shows(VALIDATE)
@python_function
def validate(
    parameters: str | Path,
    data: str | Path,
    options: RunOptions | None = None,
    **given: Unpack[GivenValidate],
) -> Findings:
    """Check all inputs, every record included, as the command `safetab validate` does.

    Returns the warnings. Raises `safetab.InvalidInput`, with every finding, if something is wrong.

    Example:
        >>> for finding in safetab.validate("mine", "records"):  # doctest: +SKIP
        ...     print(finding.where, finding.message)

    Args:
        parameters: The directory with census.toml and its lists (or, of a U.S. census, with
            config.json and its lists).
        data: The directory with the records (of a U.S. census with its GRF-C too, or the .ini file
            of a CEF).
        options: All options together, in place of those below.
    """
    from safetab.foundation.result_tables import Findings
    from safetab.runs.inputs import validate_files

    return Findings(
        validate_files(Path(parameters), Path(data), _options(VALIDATE, options, given))
    )


@python_function
def plan(
    parameters: str | Path, data: str | Path | None = None, totals: str | Path | None = None
) -> RunPlan:
    """What a run would measure, with how much noise, at what cost; opens no record file.

    Returns the plan, which prints as tables. Raises `safetab.InvalidInput`, with every finding,
    if a public file is at fault.

    Example:
        >>> plan = safetab.plan("mine")  # doctest: +SKIP
        >>> plan.losses().to_pandas()  # doctest: +SKIP

    Args:
        parameters: The directory with census.toml and its lists (or, of a U.S. census, with
            config.json and its lists).
        data: Needed for a U.S. census alone: the directory with its GRF-C, or the .ini file of a
            CEF.
        totals: A release whose totals choose the tables of households, instead of a file of totals
            in `data`.
    """
    from safetab.inputs.public_files import plan_of_files
    from safetab.runs.inputs import given_totals

    read = (
        Path(parameters) / "DATA" if data is None else Path(data)
    )  # a specification reads nothing there
    given = None if totals is None else given_totals(Path(totals), read)
    return plan_of_files(parameters, read, given).require()


@shows(RUN)
@python_function
def run(
    parameters: str | Path,
    data: str | Path,
    out: str | Path,
    options: RunOptions | None = None,
    **given: Unpack[GivenRun],
) -> RunSummary:
    """Validate, tabulate and write OUT, as the command `safetab run` does, with the same options.

    Reads no variable of the environment: accounts are kept if `dataset` and `spend_log` are given.
    Returns the plan, the warnings, the rows of each file and the status. Raises
    `safetab.InvalidInput` if an input is at fault, `safetab.RunFailed` if the run itself failed.

    Example:
        >>> run = safetab.run(  # doctest: +SKIP
        ...     "mine", "records", "OUT", dataset="census-2026", spend_log="spend.log"
        ... )
        >>> print(run.losses())  # doctest: +SKIP

    Args:
        parameters: The directory with census.toml and its lists (or, of a U.S. census, with
            config.json and its lists).
        data: The directory with the records (of a U.S. census with its GRF-C too, or the .ini file
            of a CEF).
        out: The directory to make; it appears whole or not at all.
        options: All options together, in place of those below.
    """
    from safetab.runs.run import run_files

    return run_files(Path(parameters), Path(data), Path(out), _options(RUN, options, given))


@shows(RERELEASE)
@python_function
def rerelease(
    out: str | Path,
    new: str | Path,
    *,
    geography: str | Path | None = None,
    overwrite: bool = False,
    **given: Unpack[GivenRerelease],
) -> RereleaseSummary:
    """Make the release of OUT again from its measurements, as the command `safetab rerelease` does.

    Nothing is drawn and nothing spent. Returns the status and the rows of each file. Raises
    `safetab.InvalidInput` if an input is at fault, `safetab.RunFailed` if the machine refuses or
    the new output breaks a rule.

    Args:
        out: The whole output of a run; it does not change.
        new: The directory to make.
        geography: With `coterminous`, of a U.S. census: the GRF-C file of the run.
        overwrite: Replace `new` if it exists.
    """
    from safetab.foundation.files import whole_path
    from safetab.runs.rerelease import RereleaseRequest, rerelease_files

    request = RereleaseRequest.of(geography, **given)
    return rerelease_files(
        whole_path(Path(out)), whole_path(Path(new)), request, overwrite=overwrite
    )


@python_function
def open_release(path: str | Path) -> Release:
    """Open a release to use its numbers; needs no confidential file.

    Raises `safetab.InvalidInput` if there is no release or it is damaged.

    Example:
        >>> release = safetab.open_release("OUT")  # doctest: +SKIP
        >>> print(release.total("Northland", "Tongan"))  # doctest: +SKIP

    Args:
        path: OUT of a run, or OUT/release.
    """
    from safetab.release.estimates.open_release import open_release as opened

    return opened(path)


@python_function
def export(
    path: str | Path,
    folder: str | Path,
    *,
    form: Literal["tidy", "census"] = "tidy",
    overwrite: bool = False,
) -> dict[str, int]:
    """Write a release as CSV files, as the command `safetab export` does.

    Returns the number of rows of each file. Raises `safetab.InvalidInput` if there is no release or
    the folder exists, `safetab.RunFailed` if it can't be written.

    Args:
        path: OUT of a run, or OUT/release.
        folder: The directory to make.
        form: tidy, a file for each level of areas; or census, a file for each table.
        overwrite: Replace `folder` if it holds an earlier export.
    """
    from safetab.foundation.files import whole_path
    from safetab.release.files.export import ExportForm, export_csv

    return export_csv(Path(path), whole_path(Path(folder)), ExportForm(form), overwrite=overwrite)


@python_function
def status(
    path: str | Path,
    *,
    area: str | None = None,
    group: str | None = None,
    level: str | None = None,
    kind: str | None = None,
) -> Statuses:
    """Explain why each group's number is published or missing.

    The command `safetab status` does the same. Returns a table of groups and reasons. Raises
    `safetab.InvalidInput` if there is no release, no such area or no such group.

    Args:
        path: OUT of a run, or OUT/release.
        area: The area: its name or its id; all if left out.
        group: The group: its name or its code; all if left out.
        level: The kind of areas, such as county; all if left out.
        kind: Which answers define the group, if its name fits several, such as alone.
    """
    return open_release(path).status(area=area, group=group, level=level, kind=kind)


@shows(ASSESS)
@python_function
def accuracy(  # noqa: PLR0913 - what the command takes
    parameters: str | Path,
    data: str | Path,
    out: str | Path,
    *,
    runs: int = 100,
    against: str | Path | None = None,
    confidential: bool = False,
    options: RunOptions | None = None,
    **given: Unpack[GivenAccuracy],
) -> AccuracySummary:
    """Compare many runs with the true counts, as the command `safetab accuracy` does.

    The report is made from true counts and may not be released. Raises `safetab.InvalidInput` if an
    input is at fault or refused, `safetab.RunFailed` if the machine refuses.

    Args:
        parameters: The directory with census.toml and its lists (or, of a U.S. census, with
            config.json and its lists).
        data: The directory with the records (of a U.S. census with its GRF-C too, or the .ini file
            of a CEF).
        out: The directory to make.
        runs: How many times the algorithm is run.
        against: Other parameters to compare with.
        confidential: The records may be of real people; the curator keeps the report confidential.
        options: All options together, in place of those below.
    """
    from safetab.apps.accuracy.accuracy_files import AccuracyRequest, accuracy_files

    other = None if against is None else Path(against)
    request = AccuracyRequest(runs, other, confidential, _options(ASSESS, options, given))
    return accuracy_files(Path(parameters), Path(data), Path(out), request)


@shows(COMPARE)
@python_function
def compare(
    parameters: str | Path, data: str | Path, out: str | Path, **given: Unpack[GivenCompare]
) -> ComparisonSummary:
    """Compare protections on one synthetic census, as the command `safetab compare` does.

    Returns what was compared and what was not finished. Raises `safetab.InvalidInput` if an input
    is at fault or the people may be real, `safetab.RunFailed` if the machine refuses.

    Args:
        parameters: The directory with census.toml and its lists (or, of a U.S. census, with
            config.json and its lists).
        data: The directory with the records of synthetic people (of a U.S. census with its GRF-C
            too).
        out: The directory to make.
    """
    from safetab.apps.compare.compare import compare_files
    from safetab.apps.compare.world import CompareRequest

    return compare_files(Path(parameters), Path(data), Path(out), CompareRequest.of(**given))


@python_function
def open_comparison(path: str | Path) -> OpenedComparison:
    """Open what `compare` wrote: its tables, of one protection or of all.

    Raises `safetab.InvalidInput` if it isn't a comparison.

    Args:
        path: OUT of a comparison.
    """
    from safetab.apps.compare.written_tables import open_comparison as opened

    return opened(Path(path))


def _options(
    declared: Iterable[DeclaredOption], options: RunOptions | None, given: Mapping[str, object]
) -> RunOptions:
    from safetab.runs.options import RunOptions

    if options is not None and given:
        raise TypeError("give options=RunOptions(...), or the options one by one, not both.")
    if given.get("engine") == "duckdb":
        warn_of_older_name("engine='duckdb'", "engine='local'", frames=4)
    return options if options is not None else RunOptions.of(declared, **given)


if not TYPE_CHECKING:  # a type checker knows each name, and finds a misspelled one

    def __getattr__(name: str) -> object:
        """Import a public name on first use."""
        if name in _OLD:
            warn_of_older_name(f"safetab.{name}", f"safetab.{_OLD[name]}", frames=1)
            return globals()[_OLD[name]]
        if name == "tuning":
            return import_module("safetab.tuning")
        for module, names in _LATE.items():
            if name in names:
                return getattr(import_module(f"safetab.{module}"), name)
        raise AttributeError(f"module 'safetab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
