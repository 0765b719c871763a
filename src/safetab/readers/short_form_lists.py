"""The short form of the code assignments: one row an iteration, with codes and ranges of codes.

A row is `1005|1000,1010:1290, 2000`. A range stands for every listed code from its first to its last, both included,
and may run over numbers that no code has.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path

from safetab.census.public_lists import PublicLists
from safetab.foundation.findings import FindingsOf, shortened
from safetab.foundation.new_file import write_new_file
from safetab.readers.delimited import SEPARATOR, Row, RowProblems

SHORT_FORM_FILE = "race-and-ethnicity-code-to-iteration-short-form.txt"
ASSIGNMENTS_HEADER = ("ITERATION_CODE", "RACE_ETH_CODE")

_TERM = re.compile(" *([0-9]{4})(?::([0-9]{4}))?")
_BETWEEN_TERMS = ","
_MARKS = frozenset((_BETWEEN_TERMS, ":"))
_CODES = ASSIGNMENTS_HEADER[1]


def is_short_form(rows: Iterable[Row]) -> bool:
    """Whether a value has a comma or a colon, which no code has."""
    return any(not _MARKS.isdisjoint(row.fields[-1]) for row in rows)


def expanded(rows: Sequence[Row], codes: Collection[str] | None, findings: FindingsOf) -> list[Row]:
    """A row for each pair, as the long form has it. Without the list of codes, a range stands for its two ends."""
    problems = RowProblems(findings)
    listed = None if codes is None else sorted(codes)
    seen: set[str] = set()
    pairs: list[Row] = []
    repeated: list[str] = []
    for row in rows:
        iteration, terms = row.fields[0].strip(" "), row.fields[1].rstrip(" ")
        if iteration in seen:
            problems.add(row.line, ASSIGNMENTS_HEADER[0], "more than once; keep one row an iteration", iteration)
        seen.add(iteration)
        members = [code for term in terms.split(_BETWEEN_TERMS) for code in _codes_of(term, row.line, listed, problems)]
        once = dict.fromkeys(members)
        repeated += [] if len(once) == len(members) else [iteration]
        pairs += [Row(row.line, (iteration, code)) for code in once]
    problems.report()
    if repeated:
        findings.warning(_CODES, f"a code is in more than one term of {shortened(repeated)}. It counts once.")
    return pairs


def _codes_of(term: str, line: int, listed: Sequence[str] | None, problems: RowProblems) -> Sequence[str]:
    match = _TERM.fullmatch(term)
    if match is None:
        rule = "a term must be a code of four digits or a range such as 1010:1290, with a comma between terms"
        problems.add(line, _CODES, rule, term)
        return ()
    first, last = match.groups()
    if last is None:
        return (first,)  # whether it is listed is asked of every pair
    if last < first:
        problems.add(line, _CODES, "a range must begin with its lower code", term)
        return ()
    if listed is None:
        return (first, last)
    inside = listed[bisect_left(listed, first) : bisect_right(listed, last)]
    if not inside:
        problems.add(line, _CODES, "a range without any listed code", term)
    return inside


def write_short_form(lists: PublicLists, file: Path, *, overwrite: bool) -> None:
    text = "".join(f"{line}\n" for line in short_form_lines(lists))
    write_new_file(file, lambda path: _write(path, text), overwrite=overwrite)


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")


def short_form_lines(lists: PublicLists) -> Iterator[str]:
    """The header and a line for each iteration that has codes; reading them gives the same pairs."""
    yield SEPARATOR.join(ASSIGNMENTS_HEADER)
    position = {code: number for number, code in enumerate(sorted(lists.code_names))}
    for iteration, codes in sorted(lists.codes_of_iteration.items()):
        if codes:
            yield f"{iteration}{SEPARATOR}{_BETWEEN_TERMS.join(_terms(sorted(codes), position))}"


def _terms(codes: Sequence[str], position: dict[str, int]) -> Iterator[str]:
    """A term for each run of codes between which the list has no other."""
    for _, run in groupby(enumerate(codes), key=lambda numbered: position[numbered[1]] - numbered[0]):
        members = [code for _, code in run]
        yield members[0] if len(members) == 1 else f"{members[0]}:{members[-1]}"
