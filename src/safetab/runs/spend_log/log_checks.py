"""Errors and doubts about a spend log, as findings with line numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path

from safetab.foundation.findings import Finding, FindingsOf, InvalidInput
from safetab.runs.spend_log.chain import Head, heads_in_file
from safetab.runs.spend_log.log_file import heads_file
from safetab.runs.spend_log.log_lines import LineState, LogContent, sound_lines
from safetab.runs.spend_log.people_accounts import all_accounts, bytes_of_log


def check_log(log: Path, against: Sequence[Path] = ()) -> tuple[Finding, ...]:
    """Every finding about a log: an error is damage, a warning is a doubt.

    `against` are files with heads of the log, such as confidential logs of runs. Raises
    InvalidInput if the log or one of them can't be read.
    """
    # First: a run may add lines meanwhile.
    heads = {file: heads_in_file(file) for file in (heads_file(log), *against)}
    content, findings = sound_lines(str(log), bytes_of_log(log))
    if content is not None:
        _check_heads(content, log, heads, findings)
        for number in content.cut_short:
            message = (
                "was cut short, as by a crash. It does not count: noise waits for a whole line."
            )
            findings.warning(f"line {number}", message)
        warn_of_unended_runs(content, findings)
        _warn_of_clocks(content, findings)
        warn_of_limits(content, findings)
    return findings.findings


def _check_heads(
    content: LogContent, log: Path, heads: Mapping[Path, tuple[Head, ...]], findings: FindingsOf
) -> None:
    """Report what was written down about the log and doesn't hold of it any more."""
    beside = heads_file(log)
    if content.chain.is_stated and len(content.chain.heads) > 1 and not beside.exists():
        findings.warning("", without_heads(beside))
    for file, written_down in heads.items():
        if file != beside and not any(map(content.chain.speaks_of, written_down)):
            raise InvalidInput.about(file, "tells of no head of this spend log.", "--against")
        message = content.chain.why_not(written_down, file)
        if message is not None:
            findings.error("", message)


def without_heads(beside: Path) -> str:
    """A doubt about a log that has no file of heads."""
    return f"there is no {beside} beside it, so nobody can see whether this is an older copy."


def warn_of_unended_runs(content: LogContent, findings: FindingsOf) -> None:
    """Warn of each run that began and never ended."""
    begun = {
        line.values["run"]: line
        for line in reversed(content.lines)
        if line.state is LineState.BEGUN
    }
    for run, line in reversed(begun.items()):
        if run not in content.ended_runs:
            began = (
                f'run {run} on "{line.values["dataset"]}" began at {line.values["utc"]}'
                " and has not ended."
            )
            counts = (
                "It counts in full: it may be at work, or was killed,"
                " and nobody can say who saw its output."
            )
            findings.warning(f"line {line.number}", f"{began} {counts}")


def _warn_of_clocks(content: LogContent, findings: FindingsOf) -> None:
    """Warn of lines with an earlier time than the line before; another log's lines begin anew."""
    before = ""
    for line in content.lines:
        utc = line.values["utc"]
        if utc < before:
            message = (
                f"its time, {utc}, is before {before}, that of the line above:"
                " a clock was set back. Sums hold."
            )
            findings.warning(f"line {line.number}", message)
        before = "" if line.state is LineState.MERGED else utc


def warn_of_limits(content: LogContent, findings: FindingsOf) -> None:
    """Warn of each account with more spent than a limit allows."""
    for people in all_accounts(content):
        for name, limit in product(people.passes, people.limits):
            account = people.of(name)
            if (account.total(limit.definition) or 0) > limit.amount:
                message = (
                    f"{account} was spent, more than the limit of {limit}."
                    " Every further run is refused."
                )
                findings.warning(f"{people}, {name.upper()} pass", message)
