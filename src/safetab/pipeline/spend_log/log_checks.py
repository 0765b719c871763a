"""What is wrong with a spend log, and what is in doubt: findings with line numbers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from safetab.foundation.findings import Finding, FindingsOf
from safetab.pipeline.spend_log.accounts import LineState, LogContent, LogLine, sound_lines
from safetab.pipeline.spend_log.people_accounts import all_accounts, bytes_of_log, datasets_of

NOT_COUNTED = "was cut short, as by a crash. It does not count: noise waits for a whole line."


@dataclass(frozen=True, slots=True)
class CheckedLog:
    """How much a log holds, and every finding about it. An error is damage; a warning is a doubt."""

    lines: int
    runs: int
    datasets: tuple[str, ...]
    findings: tuple[Finding, ...]

    @property
    def is_damaged(self) -> bool:
        return any(finding.is_error for finding in self.findings)


def check_log(log: Path) -> CheckedLog:
    """Judge every line of a log; changes nothing. Raises InvalidInput if there is no log or it can't be read."""
    content, findings = sound_lines(str(log), bytes_of_log(log))
    if content is None:
        return CheckedLog(0, 0, (), findings.findings)
    damaged = len(findings.findings)
    for number in content.cut_short:
        findings.warning(f"line {number}", NOT_COUNTED)
    warn_of_unended_runs(content, findings)
    _warn_of_clocks(content, findings)
    warn_of_limits(content, findings)
    lines = 1 + len(content.lines) + len(content.cut_short) + damaged
    return CheckedLog(lines, len({spend.run for spend in content.spends}), datasets_of(content), findings.findings)


def warn_of_unended_runs(content: LogContent, findings: FindingsOf) -> None:
    """Warn of each run that began and never ended."""
    begun = dict[str, LogLine]()
    for line in content.lines:
        if line.state is LineState.BEGUN:
            begun.setdefault(line.values["run"], line)
    for run, line in begun.items():
        if run not in content.ended_runs:
            message = (
                f'run {run} on "{line.values["dataset"]}" began at {line.values["utc"]} and has not ended. It counts in'
                " full: it may be at work, or was killed, and nobody can say who saw its output."
            )
            findings.warning(f"line {line.number}", message)


def _warn_of_clocks(content: LogContent, findings: FindingsOf) -> None:
    """Warn of lines with an earlier time than the line before; another log's lines begin anew."""
    before = ""
    for line in content.lines:
        utc = line.values["utc"]
        if utc < before:
            message = f"its time, {utc}, is before {before}, that of the line above: a clock was set back. Sums hold."
            findings.warning(f"line {line.number}", message)
        before = "" if line.state is LineState.MERGED else utc


def warn_of_limits(content: LogContent, findings: FindingsOf) -> None:
    """Warn of each account with more spent than a limit allows."""
    for people in all_accounts(content):
        for name in people.passes:
            account = people.of(name)
            for limit in people.limits:
                total = account.total(limit.definition)
                if total is not None and total > limit.amount:
                    message = f"{account} was spent, more than the limit of {limit}. Every further run is refused."
                    findings.warning(f"{people}, {name.upper()} pass", message)
