"""Differentially private tables of detailed race and ethnicity groups: SafeTab-P.

`import safetab` stays light: what a function needs is imported when it is called.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from safetab.foundation.version import VERSION

if TYPE_CHECKING:
    from safetab.accuracy.accuracy_files import AccuracySummary
    from safetab.estimates.open_release import Release
    from safetab.pipeline.rerelease import RereleaseSummary
    from safetab.pipeline.run import RunSummary
    from safetab.planning.run_plan import RunPlan

__version__ = VERSION

__all__ = ["__version__", "assess", "open_release", "plan", "rerelease", "run"]


def plan(parameters: str | Path, data: str | Path) -> RunPlan:
    """What a run would measure, with how much noise, at what cost; opens no person file.

    Raises `safetab.foundation.findings.InvalidInput`, with every finding in it, if a public file is at fault.
    """
    from safetab.planning.planner import plan_of_files

    return plan_of_files(parameters, data).require()


def open_release(path: str | Path) -> Release:
    """Opens a release, OUT of a run or OUT/release, for those who use its numbers; needs no confidential file.

    Raises `safetab.foundation.findings.InvalidInput` if there is no release.
    """
    from safetab.estimates.open_release import open_release as opened

    return opened(path)


def run(  # noqa: PLR0913 - the options of the command
    parameters: str | Path,
    data: str | Path,
    out: str | Path,
    *,
    engine: str = "duckdb",
    memory: str = "4GB",
    threads: int = 2,
    temp: str | Path | None = None,
    overwrite: bool = False,
    confidential_log: str | Path | None = None,
    test_key: str | None = None,
    dataset: str | None = None,
    spend_log: str | Path | None = None,
    spend_limit: str | int | None = None,
    same_people_as: Sequence[str] = (),
    confidence: str = "0.95",
    coterminous: bool = False,
    empty_blocks: str | Path | None = None,
    order: str | None = None,
    copy_all: bool = False,
    rules: Sequence[str] = (),
    spark_master: str | None = None,
    spark_conf: Sequence[str] = (),
    persons: str | None = None,
    geography: str | None = None,
) -> RunSummary:
    """Validates, tabulates and writes: what the command `safetab run` does, with the same options.

    Raises `safetab.foundation.findings.InvalidInput` if what was given is at fault,
    `safetab.foundation.failures.RunFailed` if the run itself failed.
    """
    from safetab.engines.engine_kind import EngineKind
    from safetab.engines.spark.options import SparkOptions
    from safetab.pipeline.options import RunOptions, key_of
    from safetab.pipeline.run import run_files
    from safetab.release.release_options import ReleaseRequest

    options = RunOptions(
        engine=EngineKind(engine),
        memory=memory,
        threads=threads,
        temporary_parent=Path(temp) if temp is not None else None,
        overwrite=overwrite,
        confidential_log=Path(confidential_log) if confidential_log is not None else None,
        test_key=key_of(test_key),
        dataset=dataset,
        spend_log=Path(spend_log) if spend_log is not None else None,
        spend_limit=str(spend_limit) if spend_limit is not None else None,
        same_people_as=tuple(same_people_as),
        release=ReleaseRequest(confidence, tuple(rules), coterminous, order, copy_all).options(),
        empty_blocks=Path(empty_blocks) if empty_blocks is not None else None,
        spark=SparkOptions(spark_master, tuple(spark_conf), persons, geography),
    )
    return run_files(Path(parameters), Path(data), Path(out), options)


def rerelease(  # noqa: PLR0913 - the options of the command
    out: str | Path,
    new: str | Path,
    *,
    confidence: str = "0.95",
    rules: Sequence[str] = (),
    coterminous: bool = False,
    geography: str | Path | None = None,
    empty_blocks: str | Path | None = None,
    order: str | None = None,
    copy_all: bool = False,
    overwrite: bool = False,
) -> RereleaseSummary:
    """Makes the release of OUT again from its measurements: what the command `safetab rerelease` does.

    Nothing is drawn and nothing spent. Raises `safetab.foundation.findings.InvalidInput` if what was given is at fault,
    `safetab.foundation.failures.RunFailed` if the machine is, or if the new output breaks a rule.
    """
    from safetab.pipeline.options import whole_path
    from safetab.pipeline.rerelease import RereleaseRequest, rerelease_files
    from safetab.release.release_options import ReleaseRequest

    request = RereleaseRequest(
        ReleaseRequest(confidence, tuple(rules), coterminous, order, copy_all).options(),
        Path(geography) if geography is not None else None,
        Path(empty_blocks) if empty_blocks is not None else None,
    )
    return rerelease_files(whole_path(Path(out)), whole_path(Path(new)), request, overwrite=overwrite)


def assess(  # noqa: PLR0913 - the options of the command
    parameters: str | Path,
    data: str | Path,
    out: str | Path,
    *,
    runs: int = 100,
    against: str | Path | None = None,
    confidential: bool = False,
    coterminous: bool = False,
    empty_blocks: str | Path | None = None,
    order: str | None = None,
    copy_all: bool = False,
    rules: Sequence[str] = (),
    memory: str = "4GB",
    threads: int = 2,
    temp: str | Path | None = None,
    overwrite: bool = False,
    test_key: str | None = None,
) -> AccuracySummary:
    """Many runs beside the truth: what the command `safetab accuracy` does, with the same options.

    What it writes tells the truth and may not be released. Raises
    `safetab.foundation.findings.InvalidInput` if what was given is at fault or refused,
    `safetab.foundation.failures.RunFailed` if the machine is.
    """
    from safetab.accuracy.accuracy_files import AccuracyRequest, accuracy_files
    from safetab.pipeline.options import RunOptions, key_of
    from safetab.release.release_options import ReleaseRequest

    options = RunOptions(
        memory=memory,
        threads=threads,
        temporary_parent=Path(temp) if temp is not None else None,
        overwrite=overwrite,
        test_key=key_of(test_key),
        release=ReleaseRequest(rules=tuple(rules), coterminous=coterminous, order=order, copy_all=copy_all).options(),
        empty_blocks=Path(empty_blocks) if empty_blocks is not None else None,
    )
    request = AccuracyRequest(runs, Path(against) if against is not None else None, confidential, options)
    return accuracy_files(Path(parameters), Path(data), Path(out), request)
