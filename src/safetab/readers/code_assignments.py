"""Which codes are inside which iteration: race-and-ethnicity-code-to-iteration.txt, or its short form."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from safetab.census.iterations import CharacteristicIteration, IterationKind, IterationLevel
from safetab.foundation.failures import raise_if_the_machine_failed
from safetab.foundation.findings import Checked, FindingsOf, shortened
from safetab.readers.delimited import Row, RowProblems, read_rows
from safetab.readers.short_form_lists import ASSIGNMENTS_HEADER, SHORT_FORM_FILE, expanded, is_short_form

ASSIGNMENTS_FILE = "race-and-ethnicity-code-to-iteration.txt"

CodesOfIteration = Mapping[str, frozenset[str]]


def read_code_assignments(
    parameters: Path, codes: Collection[str] | None, iterations: Collection[CharacteristicIteration] | None
) -> Checked[CodesOfIteration]:
    """The codes of each iteration; references are checked against those lists that could be read."""
    path = assignments_path(parameters)
    findings = FindingsOf(path.name)
    rows = read_rows(path, ASSIGNMENTS_HEADER, findings)
    if path.name == SHORT_FORM_FILE or is_short_form(rows):
        rows = expanded(rows, codes, findings)
    if path.name == ASSIGNMENTS_FILE and _is_there(parameters / SHORT_FORM_FILE):
        findings.error("", f"{SHORT_FORM_FILE} is there too. Keep one of the two.")
    _check_pairs(rows, codes, iterations, findings)
    assigned: dict[str, set[str]] = {iteration.code: set() for iteration in iterations or ()}
    for row in rows:
        iteration_code, code = row.fields
        assigned.setdefault(iteration_code, set()).add(code)
    _check_one_iteration_a_code(assigned, iterations or (), findings)
    if rows:
        _warn_of_iterations_without_codes(assigned, iterations or (), findings)
    frozen = MappingProxyType({iteration: frozenset(members) for iteration, members in assigned.items()})
    return Checked(None if findings.has_errors else frozen, findings.findings)


def assignments_path(parameters: Path) -> Path:
    """The long file; the one in short form if that is there alone."""
    long, short = parameters / ASSIGNMENTS_FILE, parameters / SHORT_FORM_FILE
    return short if _is_there(short) and not _is_there(long) else long


def _is_there(path: Path) -> bool:
    try:
        return path.exists() or path.is_symlink()
    except OSError as error:
        raise_if_the_machine_failed(error)
        return False


def _check_pairs(
    rows: Collection[Row],
    codes: Collection[str] | None,
    iterations: Collection[CharacteristicIteration] | None,
    findings: FindingsOf,
) -> None:
    known_iterations = None if iterations is None else {iteration.code for iteration in iterations}
    if _are_right([row.fields for row in rows], codes, known_iterations):
        return
    problems = RowProblems(findings)
    seen: set[tuple[str, ...]] = set()
    for row in rows:
        iteration_code, code = row.fields
        if row.fields in seen:
            problems.add(row.line, "", "the same pair more than once; keep one row a pair", "|".join(row.fields))
        seen.add(row.fields)
        if known_iterations is not None and iteration_code not in known_iterations:
            problems.add(row.line, "ITERATION_CODE", "not in the lists of iterations", iteration_code)
        if codes is not None and code not in codes:
            problems.add(row.line, "RACE_ETH_CODE", "not in the list of codes", code)
    problems.report()


def _are_right(
    pairs: Collection[tuple[str, ...]], codes: Collection[str] | None, iterations: Collection[str] | None
) -> bool:
    """Nearly always: then no pair need be looked at by itself."""
    different = set(pairs)
    return (
        len(different) == len(pairs)
        and (iterations is None or {iteration for iteration, _ in different}.issubset(iterations))
        and (codes is None or {code for _, code in different}.issubset(codes))
    )


def _check_one_iteration_a_code(
    assigned: Mapping[str, set[str]], iterations: Iterable[CharacteristicIteration], findings: FindingsOf
) -> None:
    """At each grain of geography a code has at most one iteration of a kind and level: stability rests on it."""
    for is_substate, grain in ((False, "at nation and state level"), (True, "below state level")):
        owners: dict[tuple[IterationKind, IterationLevel], dict[str, str]] = {}
        clashes: dict[str, str] = {}
        for iteration in iterations:
            if not iteration.is_tabulated(is_substate=is_substate):
                continue
            owner, codes = owners.setdefault((iteration.kind, iteration.level), {}), assigned[iteration.code]
            shared = owner.keys() & codes
            for code in sorted(shared):
                clash = f"{code} in {owner[code]} and {iteration.code}"
                clashes[clash] = f"{iteration.level.label} {iteration.kind.value}"
            owner |= dict.fromkeys(codes - shared, iteration.code)
        if clashes:
            described = (f"{clash} ({kind})" for clash, kind in clashes.items())
            findings.error(
                "RACE_ETH_CODE",
                f"{grain}, a code can be in one iteration of each kind and level only: {shortened(described)}.",
            )


def _warn_of_iterations_without_codes(
    assigned: Mapping[str, set[str]], iterations: Iterable[CharacteristicIteration], findings: FindingsOf
) -> None:
    without = [iteration.code for iteration in iterations if iteration.listed and not assigned[iteration.code]]
    if without:
        findings.warning("ITERATION_CODE", f"no code leads to {shortened(without)}: such groups can hold nobody.")
