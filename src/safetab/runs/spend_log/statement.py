"""A statement of accounts for a board: a row for each pass of each run, without fingerprints."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from safetab.core.guarantees.plan_json import exact
from safetab.foundation.new_files import write_new_file
from safetab.foundation.safe_csv import safe_text
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.runs.spend_log.accounts import Spend
from safetab.runs.spend_log.log_file import write_for_its_owner
from safetab.runs.spend_log.log_lines import LineState, LogContent, add_line
from safetab.runs.spend_log.people_accounts import PeopleAccounts, accounts_of

_AMOUNTS = ("cumulative", "limit", "left")
COLUMNS = (
    *("utc", "dataset", "same_people_as", "pass", "run", "ended", "product", "definition", "loss"),
    *(
        f"{amount}_{definition.budget_symbol}"
        for definition in PrivacyDefinition.of_each_unit()
        for amount in _AMOUNTS
    ),
)
_Row = dict[str, str | None]
"""A text for each of the columns; None where there is no such number."""
_NOT_ENDED = "not ended"


def statement(content: LogContent, dataset: str | None = None) -> list[_Row]:
    """The rows in order of time, of one data set with its other names, or of all.

    A merged log has its lines in the order of the merge, which says nothing about the runs. Sums
    and limits are those that were in force when a run had begun, for everybody who is now known to
    be the same people.
    """
    names = None if dataset is None else accounts_of(content, dataset).names
    return [row for row in _rows(content) if names is None or row["dataset"] in names]


def _rows(content: LogContent) -> Iterator[_Row]:
    ends = {line.values["run"]: line.state.value for line in content.lines if "run" in line.values}
    so_far = LogContent(
        content.secret,
        same_people=content.same_people[:],
        earlier_secrets=content.earlier_secrets[:],
    )
    counted = [line for line in content.lines if line.state in {LineState.BEGUN, LineState.LIMIT}]
    counted.sort(key=lambda line: (line.values["utc"], line.values.get("run", "")))
    for run, lines in groupby(counted, lambda line: line.values.get("run")):
        seen = len(so_far.spends)
        for line in lines:
            add_line(so_far, line.values)
        for spend in so_far.spends[seen:]:
            end = _NOT_ENDED if run not in content.ended_runs else ends[spend.run]
            yield _row(spend, accounts_of(so_far, spend.dataset), end)


def _row(spend: Spend, people: PeopleAccounts, end: str) -> _Row:
    account, others = people.of(spend.tabulation_pass), " ".join(people.names[1:])
    texts: list[str | None] = [
        spend.utc,
        spend.dataset,
        others,
        spend.tabulation_pass,
        spend.run,
        end,
        spend.product,
    ]
    texts += [spend.definition.spelling, exact(spend.budget)]
    for definition in PrivacyDefinition.of_each_unit():
        limit = next(
            (each for each in people.limits if each.definition.unit is definition.unit), None
        )
        of_limit = (None, None) if limit is None else (limit.amount, account.left(limit))
        numbers = (account.total(definition), *of_limit)
        texts += [None if number is None else exact(number) for number in numbers]
    return dict(zip(COLUMNS, texts, strict=True))


def write_statement(rows: list[_Row], file: Path) -> None:
    """Write the rows as a new CSV or JSON file, as the name ends, for its owner alone.

    Raises InvalidInput.
    """
    if file.suffix == ".json":
        text = json.dumps({"rows": rows}, indent=2) + "\n"
    else:
        lines = io.StringIO()
        table = csv.writer(lines, lineterminator="\n")
        table.writerow(COLUMNS)
        table.writerows([safe_text(each or "") for each in row.values()] for row in rows)
        text = lines.getvalue()
    write_new_file(file, lambda path: write_for_its_owner(path, text.encode()))
