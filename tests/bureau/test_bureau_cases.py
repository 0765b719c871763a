"""The Census Bureau's own tests of SafeTab-P and SafeTab-H, as cases: same verdicts on inputs, same tables without noise.

README.md says where the cases are from, what a result means, and how they were translated.
"""

import json
import re
from pathlib import Path

import pytest

from tests.brute_force import T3_LINES, T4_LINES
from tests.bureau.outputs import HOUSEHOLD_TABLES, Output, line_of, wrong_with
from tests.bureau.worlds import TOTALS, TOTALS_COLUMNS, all_cases, all_worlds, write_case
from tests.commands import cli

CASES = {case["id"]: case for case in all_cases() if case["do"] != "not applicable"}
WORLDS = all_worlds()
KNOWN = json.loads((Path(__file__).parent / "expected.json").read_text(encoding="utf-8"))
_SLOW = {"run", "marginals", "accuracy"}


def _known_result(case):
    return KNOWN.get(case["id"], {}).get("result", "equal")


def _parameters():
    """By day, of the cases of one test of theirs, the first of those that have one result for one reason."""
    kinds = set()
    for name, case in CASES.items():
        test = case["source"].rpartition("::")[2]
        kind = str((test, case.get("expect"), case.get("names"), case.get("at"), _known_result(case)))
        by_day = case["do"] not in _SLOW and kind not in kinds
        kinds.add(kind)
        yield pytest.param(case, id=name, marks=[] if by_day else pytest.mark.slow)


@pytest.mark.parametrize("case", list(_parameters()))
def test_a_case_of_the_bureau_has_the_result_that_is_known(case, tmp_path):
    result, why = _JUDGES.get(case["do"], _judged_by_verdict)(case, tmp_path)
    assert result == _known_result(case), why


def test_results_that_are_not_equal_say_why_and_have_a_case():
    every = {case["id"]: case["do"] for case in all_cases()}
    assert len(every) == 437
    assert KNOWN.keys() <= every.keys()
    assert all(known["why"] for known in KNOWN.values())
    left_out = {name for name, what in every.items() if what == "not applicable"}
    assert {name for name, known in KNOWN.items() if known["result"] == "not applicable"} == left_out


# Results are equal, stricter, looser or different, with what is not equal.


def _told(*words):
    """The exit code of a command, its JSON document, and all errors in words."""
    done = cli(*words, "--json")
    document = json.loads(done.stdout) if done.stdout.startswith("{") else {"findings": []}
    errors = [found for found in document.get("findings", ()) if found["severity"] == "error"]
    lines = [" ".join(filter(None, (one["file"], one["where"], one["rule"], one["message"]))) for one in errors]
    return done.exit_code, document, "\n".join([*lines, document.get("failure") or ""])


def _judged_by_paths(case, _):
    code = _told("validate", *case["paths"])[0]
    return ("equal" if code in {1, 2} else "looser"), f"exit code {code}"


def _judged_by_plan(case, folder):
    written = write_case(case, WORLDS, folder)
    code, document, errors = _told("plan", *written.world)
    if code:
        return "stricter", errors
    level_of = {f"{one['geography_level']}, {one['iteration_level']}": one for one in document["levels"]}
    wrong = []
    for name, facts in case["expect"].get("levels", {}).items():
        found = {key: level_of[name][key] for key in facts}
        wrong += [] if found == facts else [f"{name}: {found}, {facts} expected"]
    for names, key, wanted in case["expect"].get("sums", ()):
        found_sum = sum(level_of[name][key] for name in names if name in level_of)
        wrong += [] if found_sum == wanted else [f"{names}: {key} {found_sum}, {wanted} expected"]
    return ("different" if wrong else "equal"), "; ".join(wrong)


def _judged_by_verdict(case, folder):
    """Validate or run: refused or accepted, and after a run the tables."""
    written = write_case(case, WORLDS, folder)
    code, document, errors = _told(case["do"], *written.world, *[folder / "out"] * (case["do"] == "run"))
    if code not in {0, 1}:
        return "different", f"exit code {code}"
    expected = case["expect"]
    if expected == "refused":
        return _judged_refusal(case, document, errors) if code else ("looser", "accepted")
    if code:
        return "stricter", errors
    wrong = [] if expected == "accepted" else wrong_with(Output(folder / "out", written), expected)
    return ("different" if wrong else "equal"), "; ".join(wrong)


def _judged_refusal(case, document, errors):
    """The findings must name the key, column, file or code that theirs names, not merely be there."""
    missing = [name for name in case.get("names", ()) if not re.search(name, errors)]
    if "rows" in case and all(found["rows"] != case["rows"] for found in document["findings"]):
        missing.append(f"{case['rows']} rows")
    if case.get("at", "") not in errors:
        missing.append(case["at"])
    return ("different" if missing else "equal"), f"the findings do not name {missing}: {errors}"


def _judged_by_accuracy(case, folder):
    written, out = write_case(case, WORLDS, folder), folder / "out"
    code, _, errors = _told("accuracy", *written.world, out, "--runs", "5")
    wrote = any(path.is_file() for path in out.rglob("*"))
    return ("equal" if wrote and not code else "stricter"), errors


def _judged_by_marginals(case, folder):
    """All lines of a table whose cells have as many households as the case says, without noise."""
    table, shape = case["note"][:2], int(case["note"][-1])
    written = _marginals_world(case, table, shape, folder)
    code, _, errors = _told("run", *written.world, folder / "out")
    if code:
        return "stricter", errors
    name = HOUSEHOLD_TABLES[shape + (table == "t4") * len(T3_LINES)]
    rows = Output(folder / "out", written).tables[name]
    found = sorted([int(line_of(row, name)), int(row["COUNT"])] for row in rows)
    return ("equal" if found == case["expect"]["lines"] else "different"), str(found)


def _marginals_world(case, table, shape, folder):
    shapes, homes = list((T3_LINES if table == "t3" else T4_LINES).values()), []
    for line, count in case["cells"]:
        value = min(shapes[shape][line])
        answers = (value, 1) if table == "t3" else (1, value)
        fields = ["01|001|000001|0001|01|1000", *["Null"] * 7, "1000", *map(str, answers)]
        homes += ["|".join(fields)] * count
    records = WORLDS[case["world"]]["data"]["household-records.txt"].split("\n")[:1] + homes
    totals = ["|".join(TOTALS_COLUMNS), f"01|STATE|0002|{shape * 10 + 5}"]
    changes = [
        ["write", name, "\n".join(lines) + "\n"]
        for name, lines in (("household-records.txt", records), (TOTALS, totals))
    ]
    asked = {"ops": changes, "thresholds": [[10, 20, 30], [10]], "budgets": "without noise"}
    return write_case(case | asked, WORLDS, folder)


_JUDGES = {
    "paths": _judged_by_paths,
    "plan": _judged_by_plan,
    "accuracy": _judged_by_accuracy,
    "marginals": _judged_by_marginals,
}
