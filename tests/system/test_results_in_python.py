"""Results as Python objects: copied, pickled, and refusing what noise forbids with a reason."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import safetab
from tests.inside import Estimate, Finding, GroupTable, InvalidInput, Severity

AREA, GROUP = "Providence County, RI", "Dominican"


@pytest.fixture(scope="module")
def release(demo_out: Path) -> safetab.Release:
    return safetab.open_release(demo_out)


@pytest.fixture(scope="module")
def table(release: safetab.Release) -> GroupTable:
    table = release.table(AREA, GROUP)
    assert isinstance(table, GroupTable)
    return table


@pytest.fixture(scope="module")
def total(release: safetab.Release) -> Estimate:
    total = release.total(AREA, GROUP)
    assert isinstance(total, Estimate)
    return total


RESULTS: dict[str, Callable[[safetab.Release], Any]] = {
    "number": lambda release: release.total(AREA, GROUP),
    "difference": lambda release: release.total("Rhode Island", GROUP) - release.total(AREA, GROUP),  # type: ignore[operator]
    "ratio": lambda release: release.total(AREA, GROUP) / release.total("Rhode Island", GROUP),  # type: ignore[operator]
    "table": lambda release: release.table(AREA, GROUP),
    "totals": lambda release: release.totals(area=AREA),
    "absence": lambda release: release.totals(group=GROUP, level="tract").absences[0],
    "areas": lambda release: release.areas("county"),
    "found": lambda release: release.find("prov"),
    "statuses": lambda release: release.status(area=AREA),
    "release": lambda release: release,
}


@pytest.mark.parametrize("copied", [copy.deepcopy, copy.copy, lambda result: pickle.loads(pickle.dumps(result))])
@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_a_result_can_be_copied_and_pickled(result, copied, release):
    made = result(release)
    again = copied(made)
    assert type(again) is type(made)
    assert repr(again) == repr(made)


def test_another_process_reads_a_pickled_number_and_knows_what_noise_it_shares(total, demo_out, tmp_path):
    (tmp_path / "total").write_bytes(pickle.dumps(total))
    code = (
        "import pathlib, pickle, sys, safetab; total = pickle.loads(pathlib.Path(sys.argv[1]).read_bytes());"
        f" print((total - safetab.open_release(sys.argv[2]).total({AREA!r}, {GROUP!r})).margin_of_error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "total", demo_out], capture_output=True, text=True, check=True
    )
    assert done.stdout == "0\n"


def test_a_release_with_a_relative_path_is_found_from_another_folder(demo_out, tmp_path, monkeypatch):
    monkeypatch.chdir(demo_out.parent)
    release = safetab.open_release(demo_out.name)
    assert f" in {demo_out.name}/release: " in repr(release)
    pickled = pickle.dumps(release)
    monkeypatch.chdir(tmp_path)
    assert pickle.loads(pickled).total(AREA, GROUP).value == safetab.open_release(demo_out).total(AREA, GROUP).value


def test_what_an_absence_lacks_is_answered_with_its_reason(release):
    absence: Any = release.totals(group="Hmong alone", level="county").absences[0]
    for name in ("count", "plot", "margin_of_error", "interval", "lines", "numbers"):
        with pytest.raises(
            AttributeError, match=rf"^no {name}: Hmong alone, .*no number \(suppressed\)\. .*not mean zero"
        ):
            getattr(absence, name)
    assert not hasattr(absence, "plot")
    assert absence._repr_html_().startswith("<div")


def test_errors_can_be_pickled():
    error = InvalidInput([Finding(Severity.ERROR, "a file", "a place", "is wrong.")], "Read more.")
    again = pickle.loads(pickle.dumps(error))
    assert (again.findings, again.advice, str(again)) == (error.findings, error.advice, str(error))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (lambda a: a * 2, "one side is of type int. For plain arithmetic take `value`"),
        (lambda a: 2 * a, "one side is of type int. For plain arithmetic take `value`"),
        (lambda a: a < 5, "compared by their difference"),
        (lambda a: sorted([a, a]), "compared by their difference"),
        (round, "Take `value`, a plain number"),
        (float, "Take `value`, a plain number"),
        (lambda a: f"{a:.1f}", "Format `value` or `margin_of_error`"),
        (lambda a: f"{a / a:.1f}", "Format `value` or `margin_of_error`"),
    ],
)
def test_what_noise_forbids_is_refused_with_a_reason(asked, words, total):
    with pytest.raises(TypeError, match=words):
        asked(total)
    assert f"{total}" == str(total)


def test_a_table_is_a_sequence_of_its_numbers(table):
    assert list(table) == list(table.lines)
    assert len(table.lines) > 2


def test_a_table_says_what_it_can_be_asked_by(table):
    for asked in ({"years": (0, 14)}, {"tenure": "owned"}):
        with pytest.raises(
            TypeError, match=rf"no argument {next(iter(asked))}. Its arguments are, in this order: .*age"
        ):
            table.count(**asked)
    with pytest.raises(TypeError, match="was given 9 values"):
        table.count(*"123456789")
    with pytest.raises(TypeError, match="was given sex twice"):
        table.count("female", sex="female")


@pytest.mark.parametrize("name", ["validate", "plan", "run", "open_release", "status", "accuracy", "compare"])
def test_help_speaks_of_any_census(name):
    text = getattr(safetab, name).__doc__ + (safetab.__doc__ or "")
    assert not [word for word in ("race", "ethnicity", "nation, state") if word in text]


def test_help_on_releases_speaks_of_any_census():
    methods = [
        getattr(safetab.Release, name).__doc__ or "" for name in dir(safetab.Release) if not name.startswith("_")
    ]
    assert len(methods) > 10
    assert not [
        text for text in methods for word in ("race", "ethnicity", "aiannh", "nation, state", "people") if word in text
    ]
