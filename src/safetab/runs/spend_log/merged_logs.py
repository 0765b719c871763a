"""One log from several that were kept apart: every run of any of them, once.

They may have been kept on two machines, for example. Proof: docs/privacy.md#merged-logs.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from pathlib import Path

from safetab.foundation.findings import Finding, FindingsOf, InvalidInput, require_none, shortened
from safetab.foundation.new_files import new_file_findings, write_new_file
from safetab.runs.spend_log import log_lines
from safetab.runs.spend_log.accounts import Limit
from safetab.runs.spend_log.chain import chained, heads_in_file
from safetab.runs.spend_log.log_checks import warn_of_limits, warn_of_unended_runs
from safetab.runs.spend_log.log_file import (
    NAME_BYTES,
    heads_file,
    utc_now,
    write_down,
    write_for_its_owner,
)
from safetab.runs.spend_log.log_lines import LineState, LogContent, read_lines
from safetab.runs.spend_log.people_accounts import bytes_of_log, datasets_of

_LEAST_LOGS = 2


def merge_logs(logs: Sequence[Path], new: Path) -> tuple[Finding, ...]:
    """Write a new log with every run of these logs, whole or not at all, and return warnings.

    The logs stay as they are. Raises InvalidInput, with nothing written, if the file can't be made,
    if lines of a log are lost, or if two logs say different things about a run or have limits that
    can't be compared.
    """
    if len(logs) < _LEAST_LOGS:
        raise InvalidInput.about("the command", "give another log to merge.", "--merge")
    require_none(new_file_findings(new) + new_file_findings(heads_file(new)))
    contents = _whole_together(logs)
    content, warnings = contents[0], list[Finding]()
    lines = [*_lines_of(content, frozenset())]
    name = secrets.token_hex(NAME_BYTES)
    header = log_lines.header_line(content.secrets[0], name)
    for log, other in zip(logs[1:], contents[1:], strict=True):
        findings = FindingsOf(str(log))
        _compare_runs(content, other, findings)
        limits = _limits_of_both(content, other, findings)
        _warn_of_names(content, other, findings)
        findings.require_no_errors()
        warnings += findings.findings
        lines += _lines_of(other, {line.text for line in content.lines})
        lines += [log_lines.limit_line(replace(limit, utc=utc_now())) for limit in limits]
        text = chained(header, name, lines).encode()
        content = read_lines(str(log), text).require()
    write_new_file(new, lambda path: write_for_its_owner(path, text))
    write_down(new, content.chain.head)
    of_new = FindingsOf(str(new))
    warn_of_unended_runs(content, of_new)
    warn_of_limits(content, of_new)
    return (*warnings, *of_new.findings)


def _whole_together(logs: Sequence[Path]) -> list[LogContent]:
    """The content of each log.

    Raises InvalidInput if a head beside one of them holds of none: its lines are lost.
    """
    heads = [heads_in_file(heads_file(log)) for log in logs]  # first, as a log may grow meanwhile
    contents = [read_lines(str(log), bytes_of_log(log)).require() for log in logs]
    for log, beside, content in zip(logs, heads, contents, strict=True):
        lost = [head for head in beside if not any(each.chain.has(head) for each in contents)]
        message = content.chain.why_not(lost, heads_file(log))
        if message is not None:
            raise InvalidInput.about(log, message)
    return contents


def _lines_of(content: LogContent, known: AbstractSet[bytes]) -> Iterator[str]:
    """The lines of a log but those known, after a line that says of which log they are.

    A line that was cut short is left out with its mark: no run drew noise after it.
    """
    of, secret = str(content.chain.head), content.secrets[0].hex()
    yield log_lines.line_of(LineState.MERGED, utc=utc_now(), secret=secret, of=of)
    for line in content.lines:
        if line.state is LineState.MERGED or (
            line.text not in known and line.state is not LineState.TORN
        ):
            yield f"{line.text.decode()}\n"


def _compare_runs(content: LogContent, other: LogContent, findings: FindingsOf) -> None:
    """Report lines that differ about the same part of a run: its loss in a pass, or its end."""
    known = {(line.values.get("run"), line.values.get("pass")): line.text for line in content.lines}
    for line in other.lines:
        run, of_pass = line.values.get("run"), line.values.get("pass")
        if run and known.get((run, of_pass), line.text) != line.text:
            message = (
                f"another log has a different line about run {run}. Restore the one that is wrong."
            )
            findings.error(f"line {line.number}", message)
        elif (
            line.state is LineState.BEGUN
            and run in content.ended_runs
            and (run, of_pass) not in known
        ):
            findings.error(
                f"line {line.number}",
                f"another log has the end of run {run}, and lacks this line. Restore it.",
            )


def _limits_of_both(content: LogContent, other: LogContent, findings: FindingsOf) -> list[Limit]:
    """The smaller limit of each data set that has one in both logs. Reports limits in two units."""
    smaller = list[Limit]()
    for dataset in sorted(content.limits.keys() & other.limits.keys()):
        one, another = content.limits[dataset], other.limits[dataset]
        smaller.append(min(one, another, key=lambda limit: limit.amount))
        where, both = f'the limit of "{dataset}"', f"is {another}, and {one} in another log"
        if one.definition is not another.definition:
            findings.error(where, f"{both}. Set one of them in the unit of the other first.")
        elif one.amount != another.amount:
            findings.warning(
                where, f"{both}. The smaller one holds; `safetab spend` can change it."
            )
    return smaller


def _warn_of_names(content: LogContent, other: LogContent, findings: FindingsOf) -> None:
    """Warn of names whose records can't be compared.

    Their fingerprints have different secrets.
    """
    mine, others = set(datasets_of(content)), set(datasets_of(other))
    if mine - others and others - mine and content.secrets != other.secrets:
        names = f"{shortened(sorted(others - mine))} and {shortened(sorted(mine - others))}"
        message = (
            "fingerprints of different logs can't be compared,"
            " so these may be names for the same people."
        )
        findings.warning(
            names,
            f"{message} The next run on such records is refused until you give --same-people-as.",
        )
