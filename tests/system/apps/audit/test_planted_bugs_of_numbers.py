"""Bugs that the audit does not look for, planted one by one: a test of every run catches each.

They are wrong counts, intervals and accounts, and inputs that a proof rules out. docs/privacy.md has the list.
"""

import re
from importlib import import_module
from inspect import signature

import pytest

from tests.cases import cases_of
from tests.conftest import PROJECT
from tests.system.release.test_noise_by_hand import written

BUGS = cases_of("""
engine | a crowd counted one too many | crowds | small crowds are counted
engine | the first area of sparse totals is empty | crowds | sparse and dense totals are right in every area
engine | the eighth answer is forgotten where gaps are skipped | crowds | all eight answers count
engine | units counted by thread | bounds | the records of a unit are added up
engine | units of earlier batches forgotten | bounds | the records of a unit are added up
engine | a unit may have one record more | bounds | a unit with more records is refused
engine | units are not counted | bounds | a unit with more records is refused
engine | units with too many records are a warning | bounds | a unit with more records is refused
engine | areas in two passes accepted | lists | areas of two passes are refused
engine | a code in two groups of a kind accepted | lists | codes of two groups are refused
engine | ids sorted without case | lists | ids are in the order of their bytes
assumption | a test key for real people | assumed | test a key is chosen for made up people alone
assumption | a recorder for real people | assumed | test a recorder is for made up people alone
assumption | two ledgers with the same bits | assumed | test bits have one ledger
assumption | whatever is asked is charged | assumed | test a stage is charged once and within its budget
assumption | noise is read again that was never charged | assumed | test only what was charged is read again
assumption | files may change during a run | assumed | test a file that changed is seen
assumption | records encoded twice accepted | assumed | test a record that is encoded twice is seen
assumption | statistics of all columns | assumed | test searched columns alone have statistics
marker | a marker above data counts | markers | a marker beside data does not count
marker | compare asks for the marker of folders alone | markers | people of a file of settings may be real
marker | a limit of the second log lost in a merge | merged | a limit of either log holds in a merge
marker | a release made again forgets the status | statuses | a release made again keeps the status
estimate | total only groups with the noise of stage 2 | by hand | every number has the noise of its budget
estimate | a copy with the interval of its receiver | by hand | copies have the intervals of their donors
estimate | what a rule left of a family is combined | combined | a family with a withheld number is not combined
estimate | totals combined with clamped numbers | combined | clamped numbers are not combined
estimate | the error of sizes not divided by the draws | steps | intervals follow their steps
estimate | totals half as far above are far above | steps | totals are far above where their definition says
estimate | earlier totals with the noise of the newer | earlier | earlier noise is of the earlier budgets
estimate | earlier totals with the margins of the newer | earlier | earlier noise is of the earlier budgets
""")
"""Each bug, and the body of the test that fails, each behind its module."""
FIXTURES = {"folder": "tmp_path", "patch": "monkeypatch", "made": "household_run"}
"""What a body takes; by other names it takes fixtures."""
AT_NIGHT = "earlier totals with the margins of the newer"  # by day another is caught by the same test


MODULES = dict(
    cases_of("""
        engine | tests.planted.engine_bugs
        assumption | tests.planted.assumption_bugs
        marker | tests.planted.marker_bugs
        estimate | tests.planted.estimate_bugs
        bounds | tests.engines.test_bounds_of_units
        crowds | tests.engines.test_crowds
        steps | tests.statistical.test_steps_of_an_interval
        combined | tests.system.release.test_combined_totals
        earlier | tests.system.apps.website.test_earlier_noise
        by hand | tests.system.release.test_noise_by_hand
        statuses | tests.system.runs.test_statuses_stay
        assumed | tests.system.runs.test_what_proofs_assume
        markers | tests.unit.tools.test_markers
        merged | tests.unit.runs.test_merged_logs
        lists | tests.unit.inputs.test_specified_lists
    """)
)


def named(module, words):
    return getattr(import_module(MODULES[module]), words.replace(" ", "_"))


@pytest.mark.parametrize(
    ("plant", "body"),
    [
        pytest.param(named(*bug[:2]), named(*bug[2:]), id=bug[1], marks=pytest.mark.slow if AT_NIGHT in bug else ())
        for bug in BUGS
    ],
)
def test_a_planted_bug_is_caught(plant, body, tmp_path, monkeypatch, request):
    names = signature(body).parameters
    given = [request.getfixturevalue(FIXTURES.get(name, name)) for name in names if name != "out"]
    plant(monkeypatch)
    refuses = body.__name__ == "ids_are_in_the_order_of_their_bytes"
    with pytest.raises(ValueError if refuses else (AssertionError, pytest.fail.Exception)):
        body(*given, *(written(tmp_path) for name in names if name == "out"))  # a run once the bug is planted


def test_the_list_in_the_documentation_is_this_one():
    text = (PROJECT / "docs" / "privacy.md").read_text()
    section = text[text.index("| planted bug | caught by the test |") : text.index("| planted bug | caught by |")]
    rows = re.findall(r"^\| ([a-z][^|]*?) \| ([^|]*?) \|$", section, re.MULTILINE)[1:]  # below the header
    assert rows == [(bug, body.removeprefix("test ")) for _, bug, _, body in BUGS]
