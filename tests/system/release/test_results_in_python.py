"""Results as Python objects: copied, pickled, and refusing what noise forbids with a reason."""

import copy
import pickle

import pytest

import safetab
from tests.commands import ran
from tests.inside import Finding, InvalidInput, Severity

AREA, GROUP = "Providence County, RI", "Dominican"


@pytest.fixture(scope="module")
def release(demo_out):
    return safetab.open_release(demo_out)


@pytest.fixture(scope="module")
def table(release):
    return release.table(AREA, GROUP)


@pytest.fixture(scope="module")
def total(release):
    return release.total(AREA, GROUP)


RESULTS = {
    "number": lambda release: release.total(AREA, GROUP),
    "difference": lambda release: release.total("Rhode Island", GROUP) - release.total(AREA, GROUP),
    "ratio": lambda release: release.total(AREA, GROUP) / release.total("Rhode Island", GROUP),
    "table": lambda release: release.table(AREA, GROUP),
    "totals": lambda release: release.totals(area=AREA),
    "absence": lambda release: release.totals(group=GROUP, level="tract").absences[0],
    "areas": lambda release: release.areas("county"),
    "found": lambda release: release.find("prov"),
    "statuses": lambda release: release.status(area=AREA),
    "release": lambda release: release,
}


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_a_result_can_be_copied_and_pickled(result, release):
    made = result(release)
    for again in (copy.deepcopy(made), copy.copy(made), pickle.loads(pickle.dumps(made))):
        assert type(again) is type(made)
        assert repr(again) == repr(made)


@pytest.mark.slow
def test_another_process_reads_a_pickled_number_and_knows_what_noise_it_shares(total, demo_out, tmp_path):
    """By day another release does, which is pickled too."""
    (tmp_path / "total").write_bytes(pickle.dumps(total))
    code = (
        "import pathlib, pickle, sys, safetab; total = pickle.loads(pathlib.Path(sys.argv[1]).read_bytes());"
        f" print((total - safetab.open_release(sys.argv[2]).total({AREA!r}, {GROUP!r})).margin_of_error)"
    )
    assert ran(code, tmp_path / "total", demo_out).stdout == "0\n"


def test_a_release_with_a_relative_path_is_found_from_another_folder(demo_out, total, tmp_path, monkeypatch):
    monkeypatch.chdir(demo_out.parent)
    release = safetab.open_release(demo_out.name)
    assert f" in {demo_out.name}/release: " in repr(release)
    pickled = pickle.dumps(release)
    monkeypatch.chdir(tmp_path)
    found, pickled_total = pickle.loads(pickled).total(AREA, GROUP), pickle.loads(pickle.dumps(total))
    assert found.value == safetab.open_release(demo_out).total(AREA, GROUP).value
    assert (pickled_total - found).margin_of_error == 0


def test_what_an_absence_lacks_is_answered_with_its_reason(release):
    absence = release.totals(group="Hmong alone", level="county").absences[0]
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


def test_what_noise_forbids_is_refused_with_a_reason(total):
    for words, *questions in [
        ("one side is of type int. For plain arithmetic take `value`", lambda a: a * 2, lambda a: 2 * a),
        ("compared by their difference", lambda a: a < 5, lambda a: sorted([a, a])),
        ("Take `value`, a plain number", round, float),
        ("Format `value` or `margin_of_error`", "{:.1f}".format, lambda a: f"{a / a:.1f}"),
    ]:
        for asked in questions:
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


FUNCTIONS = "validate plan run open_release status accuracy compare"


def test_help_speaks_of_any_census():
    words = ["race", "ethnicity", "nation, state"]
    functions = [getattr(safetab, name) for name in FUNCTIONS.split()]
    methods = [getattr(safetab.Release, name) for name in dir(safetab.Release) if not name.startswith("_")]
    assert len(methods) > 10
    for asked, forbidden in (([safetab, *functions], words), (methods, [*words, "aiannh", "people"])):
        assert not [one for one in asked for word in forbidden if word in (one.__doc__ or "")]
