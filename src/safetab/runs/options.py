"""The options of a run, from the command line or Python, and the reasons to refuse them."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from safetab.core.algorithm.run_plan import RunPlan
from safetab.core.guarantees.losses import no_protection
from safetab.core.privacy.addressed_bits import KEY_BYTES
from safetab.core.privacy.output_status import SYNTHETIC_MARKER, OutputStatus, output_status
from safetab.counting.spark.options import SparkOptions, check_spark_options
from safetab.foundation.batch_sizes import USUAL_SIZES, BatchSizes
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.files import resolved, whole_path
from safetab.foundation.findings import Finding, FindingsOf, InvalidInput
from safetab.foundation.locked_folder import why_no_folder
from safetab.inputs.own_records import is_synthetic, leads_marker_nowhere
from safetab.release.files.release_options import ReleaseOptions, ReleaseRequest
from safetab.release.outputs.manifest import MANIFEST_FILE
from safetab.runs.declared_options import (
    DEFAULTS,
    OF_BLOCKS,
    RUN,
    DeclaredOption,
    EngineKind,
    with_defaults,
)
from safetab.runs.spend_log.accounts import amount_of
from safetab.runs.spend_log.log_file import refused_file
from safetab.runs.spend_log.log_lines import DATASET_NAME, DATASET_RULE
from safetab.runs.spend_log.people_accounts import AMOUNT_RULE, amount_text
from safetab.runs.spend_log.run_spending import SpendRequest

_MEMORY = re.compile(r"([0-9]{1,6})(\.[0-9]{1,6})? ?[KMGT]i?B")
_MOST_THREADS = 1024
_ONE_KEY = (
    "Two runs with one key on the data of real people would give them away, so a key can be chosen"
    " only for synthetic people."
)
TEMPORARY_PREFIX = "safetab-persons-"
"""The beginning of the name of a run's folder in --temp."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a run.

    Only `test_key`, which is for synthetic people, changes a released number.
    """

    engine: EngineKind = DEFAULTS["engine"]
    memory: str = DEFAULTS["memory"]
    threads: int = DEFAULTS["threads"]
    temporary_parent: Path | None = None
    overwrite: bool = False
    confidential_log: Path | None = None
    test_key: bytes | None = None
    groups_at_once: int | None = None  # that of `sizes` unless it is given
    dataset: str | None = None
    spend_log: Path | None = None
    spend_limit: str | None = None
    same_people_as: tuple[str, ...] = ()
    release: ReleaseOptions = field(default_factory=ReleaseOptions)
    empty_blocks: Path | None = None
    totals: Path | None = None
    spark: SparkOptions = field(default_factory=SparkOptions)
    sizes: BatchSizes = USUAL_SIZES

    def __post_init__(self) -> None:
        """Raises ValueError, before anything is read or charged, if a batch could hold nothing."""
        if self.groups_at_once is None:
            object.__setattr__(self, "groups_at_once", self.sizes.groups)
        else:
            sizes = replace(self.sizes, groups=self.groups_at_once)
            object.__setattr__(self, "sizes", sizes)

    @classmethod
    def of(cls, declared: Iterable[DeclaredOption] = RUN, /, **given: object) -> RunOptions:
        """Options from the values of declared options, as the command line and Python have them.

        Raises TypeError for an unknown name or a wrong type; InvalidInput, with every mistake, if
        the steps of the release contradict each other.
        """
        values = with_defaults(RUN, with_defaults(declared, given))
        limit = values["spend_limit"]
        unchanged = {name: values[name] for name in ("memory", "threads", "overwrite", "dataset")}
        names = ("temp", "confidential_log", "spend_log", "empty_blocks", "totals")
        paths: dict[str, Any] = {
            name: None if values[name] is None else Path(values[name]) for name in names
        }
        settings = tuple(values["spark_conf"] or ())
        return cls(
            engine=_engine(values["engine"]),
            test_key=_key_of(values["test_key"]),
            spend_limit=None if limit is None else amount_text(limit),
            same_people_as=tuple(values["same_people_as"] or ()),
            release=ReleaseRequest.of(values).options(),
            spark=SparkOptions(
                values["spark_master"], settings, values["persons"], values["geography"]
            ),
            temporary_parent=paths.pop("temp"),
            **paths,
            **unchanged,
        )

    @property
    def temporary_folder(self) -> Path:
        """The folder asked for, even if it doesn't exist; Python's tempfile would use another."""
        if self.temporary_parent is not None:
            return self.temporary_parent
        variable = _temporary_variable()
        return Path(os.environ[variable]) if variable else Path(tempfile.gettempdir())

    def log_of(self, out: Path) -> Path:
        """The path of the confidential log: by default beside OUT."""
        return self.confidential_log or out.parent / f"{out.name}.confidential.log"

    @property
    def spend_request(self) -> SpendRequest | None:
        """The accounts to keep, or None. Call it only if `refused_spending` found nothing."""
        if self.dataset is None or self.spend_log is None:
            return None
        limit = None if self.spend_limit is None else amount_of(self.spend_limit)
        return SpendRequest(self.dataset, whole_path(self.spend_log), limit, self.same_people_as)


def _engine(given: str | EngineKind) -> EngineKind:
    """The engine with this name. Raises InvalidInput if it is unknown."""
    try:
        return EngineKind(given)
    except ValueError:
        raise InvalidInput.about(
            "the command", f"must be one of {', '.join(EngineKind)}.", "--engine"
        ) from None


def _key_of(hexadecimal: str | None) -> bytes | None:
    """A key from its digits; other text gives an empty key, which `refused_options` refuses."""
    if hexadecimal is None:
        return None
    try:
        return bytes.fromhex(hexadecimal)
    except ValueError:
        return b""


def refused_options(data: Path, options: RunOptions) -> tuple[Finding, ...]:
    """Every problem with the options, spending aside."""
    findings = FindingsOf("the command")
    _refuse_what_is_for_synthetic_people(data, options.test_key, findings)
    if options.empty_blocks is not None and options.release.coterminous is None:
        findings.error(
            "--empty-blocks", "needs --coterminous: it lists blocks that this step ignores."
        )
    why = _why_not_private(options.temporary_folder)
    if why is not None:
        where = None if options.temporary_parent is not None else _temporary_variable()
        findings.error(where or "--temp", f"{options.temporary_folder} {why}", is_of_files=True)
    if options.engine is EngineKind.SPARK:
        check_spark_options(options.spark, findings, has_test_key=options.test_key is not None)
    else:
        spark = options.spark
        given = {"--spark-master": spark.master, "--spark-conf": spark.settings}
        given |= {"--persons": spark.persons, "--geography": spark.geography}
        for option in (name for name, value in given.items() if value not in {None, ()}):
            findings.error(option, "needs --engine spark.")
    if not _MEMORY.fullmatch(options.memory):
        findings.error("--memory", "must be a number and a unit, e.g. 8GB or 500MB.")
    if not 1 <= options.threads <= _MOST_THREADS:
        findings.error("--threads", f"must be from 1 to {_MOST_THREADS}.")
    return findings.findings


def _refuse_what_is_for_synthetic_people(
    data: Path, key: bytes | None, findings: FindingsOf
) -> None:
    """Report a doubtful marker, and a test key that is wrong or refused.

    A marker is doubtful if it may or may not be one. A key is refused for people who may be real.
    """
    if leads_marker_nowhere(data):
        advice = "Remove it, or make it a file if these people are synthetic."
        findings.error("DATA", f"{SYNTHETIC_MARKER} is a link that leads nowhere. {advice}")
    if key is not None and len(key) != KEY_BYTES:
        findings.error("--test-key", f"must be {2 * KEY_BYTES} hexadecimal digits.")
    if key is not None and not is_synthetic(data):
        problem = f"refused: {data} has no file {SYNTHETIC_MARKER}. {_ONE_KEY}"
        findings.error("--test-key", problem, is_of_files=True)


def has_synthetic_people(data: Path, options: RunOptions) -> bool:
    """Whether the people of a run are synthetic.

    The marker in DATA says so about records in DATA.
    """
    return is_synthetic(data) and options.spark.persons is None


def refused_plan(plan: RunPlan, data: Path, options: RunOptions) -> tuple[Finding, ...]:
    """Errors if real people would get no protection, or an option does not suit the census.

    Proof: docs/privacy.md#no-protection.
    """
    of_command, coterminous = FindingsOf("the command"), options.release.coterminous
    refused = () if coterminous is None else coterminous.refused_order(plan.config.census)
    if options.empty_blocks is not None and plan.config.specification is not None:
        of_command.error("--empty-blocks", OF_BLOCKS)
    findings = FindingsOf(plan.config.spelling.file)
    words = no_protection(plan.unprotected_levels)
    if words is not None and not has_synthetic_people(data, options):
        findings.error("privacy budgets", words)
    return findings.findings + refused + of_command.findings


def status_of_run(plan: RunPlan, data: Path, options: RunOptions) -> OutputStatus:
    """Whether the output of the run may be released, and if not, why."""
    return output_status(
        is_synthetic=has_synthetic_people(data, options),
        has_test_key=options.test_key is not None,
        is_unprotected=bool(plan.unprotected_levels),
    )


def refused_log(
    log: Path, kept_apart: tuple[Path, ...], called: str = "the confidential log"
) -> tuple[Finding, ...]:
    """An error if a file for the curator alone lies inside an input or the output."""
    findings = FindingsOf(str(log))
    try:
        if any(resolved(log).is_relative_to(resolved(folder)) for folder in kept_apart):
            findings.error("", f"{called} can't lie inside PARAMETERS, DATA or OUT.")
    except OSError as error:
        raise_if_the_machine_failed(error)
        findings.error("", f"{called} can't be written there: {error.strerror or 'unknown error'}.")
    return findings.findings


def refused_spending(
    options: RunOptions, kept_apart: tuple[Path, ...], confidential_log: Path
) -> tuple[Finding, ...]:
    """Every problem with the options about accounts."""
    findings = FindingsOf("the command")
    if options.spend_log is not None and options.dataset is None:
        findings.error(
            "--spend-log", "needs --dataset, the name of the people whose privacy is spent."
        )
    if options.dataset is not None and options.spend_log is None:
        findings.error("--dataset", "needs --spend-log, the file that keeps the accounts.")
    if options.spend_limit is not None and (options.spend_log is None or options.dataset is None):
        findings.error(
            "--spend-limit",
            "needs --spend-log and --dataset: a limit is kept over all runs on a data set.",
        )
    if options.same_people_as and options.spend_log is None:
        findings.error(
            "--same-people-as",
            "needs --spend-log and --dataset: it adds up the accounts of two names.",
        )
    if options.dataset is not None and not DATASET_NAME.fullmatch(options.dataset):
        findings.error("--dataset", DATASET_RULE)
    if options.spend_limit is not None and amount_of(options.spend_limit) is None:
        findings.error(
            "--spend-limit", f"{AMOUNT_RULE} It is rho or epsilon, as `safetab plan` shows them."
        )
    if options.spend_log is None:
        return findings.findings
    log = whole_path(options.spend_log)
    if log == whole_path(confidential_log):
        findings.error("--spend-log", "must not be the confidential log. Choose another file.")
    return findings.findings + (refused_log(log, kept_apart, "the spend log") or refused_file(log))


def spending_warnings(data: Path, out: Path, options: RunOptions) -> tuple[Finding, ...]:
    """Warnings for the curator of real people.

    They say that nobody counts the cost, or that a run costs the people again.
    """
    findings = FindingsOf("the command")
    replaces = (out / MANIFEST_FILE).is_file()
    again = "OUT held a release: if it counts the same people, they are charged again"
    if has_synthetic_people(data, options):
        return ()
    if options.spend_log is None:
        counted = (
            f"{again}, and nobody adds it up"
            if replaces
            else "Nobody counts what runs on these people cost"
        )
        findings.warning("--spend-log", f"missing. {counted}. Add it, with --dataset.")
    elif replaces:
        findings.warning("--overwrite", f"{again}, and both count.")
    return findings.findings


def _temporary_variable() -> str | None:
    """The environment variable that names a temporary folder, in the order of Python's tempfile."""
    return next((name for name in ("TMPDIR", "TEMP", "TMP") if os.environ.get(name)), None)


def _why_not_private(folder: Path) -> str | None:
    """Why confidential files would not be safe in this folder, or None.

    Users who can rename entries could replace our own folder; with the sticky bit, as in /tmp, only
    its owner can.
    """
    try:
        status = folder.stat()
    except OSError as error:
        raise_if_the_machine_failed(error)
        is_missing = isinstance(error, FileNotFoundError)
        reason = (
            "does not exist"
            if is_missing
            else f"can't be used: {error.strerror or 'unknown error'}"
        )
        return (
            f"{reason}. {'Create it, or name' if is_missing else 'Name'}"
            " another folder with --temp."
        )
    if not stat.S_ISDIR(status.st_mode):
        return "is not a directory. Name another folder with --temp."
    if not os.access(folder, os.W_OK | os.X_OK):
        return "can't be written to: permission denied. Name another folder with --temp."
    replace_files = "could replace the confidential files in it."
    if status.st_uid not in {0, os.geteuid()}:
        return f"belongs to another user, who {replace_files} Name one of your own with --temp."
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not status.st_mode & stat.S_ISVTX:
        advice = "Name a private folder with --temp, or run chmod go-w on this one."
        return f"has mode {stat.S_IMODE(status.st_mode):04o}: other users {replace_files} {advice}"
    why = why_no_folder(folder, TEMPORARY_PREFIX)
    return None if why is None else f"can't be written to: {why}. Name another folder with --temp."
