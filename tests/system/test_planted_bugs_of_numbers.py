"""Bugs that the audit does not look for, planted one by one: a test of every run catches each.

They are wrong counts, intervals and accounts, and inputs that a proof rules out. docs/privacy.md has the list.
"""

import re
from importlib import import_module
from inspect import signature

import pytest

from tests.cases import cases_of
from tests.conftest import PROJECT
from tests.system.test_noise_by_hand import written

BUGS = cases_of("""
planted.engine_bugs | a crowd counted one too many | engines.test_crowds | small crowds are counted
planted.engine_bugs | the first area of sparse totals is empty | engines.test_crowds | sparse and dense totals are right in every area
planted.engine_bugs | the eighth answer is forgotten where gaps are skipped | engines.test_crowds | all eight answers count
planted.engine_bugs | units counted by thread | engines.test_bounds_of_units | the records of a unit are added up
planted.engine_bugs | units of earlier batches forgotten | engines.test_bounds_of_units | the records of a unit are added up
planted.engine_bugs | a unit may have one record more | engines.test_bounds_of_units | a unit with more records is refused
planted.engine_bugs | units are not counted | engines.test_bounds_of_units | a unit with more records is refused
planted.engine_bugs | units with too many records are a warning | engines.test_bounds_of_units | a unit with more records is refused
planted.engine_bugs | areas in two passes accepted | unit.test_specified_lists | areas of two passes are refused
planted.engine_bugs | a code in two groups of a kind accepted | unit.test_specified_lists | codes of two groups are refused
planted.engine_bugs | ids sorted without case | unit.test_specified_lists | ids are in the order of their bytes
planted.assumption_bugs | a test key for real people | system.test_what_proofs_assume | test a key is chosen for made up people alone
planted.assumption_bugs | two ledgers with the same bits | system.test_what_proofs_assume | test bits have one ledger
planted.assumption_bugs | whatever is asked is charged | system.test_what_proofs_assume | test a stage is charged once and within its budget
planted.assumption_bugs | noise is read again that was never charged | system.test_what_proofs_assume | test only what was charged is read again
planted.assumption_bugs | files may change during a run | system.test_what_proofs_assume | test a file that changed is seen
planted.assumption_bugs | records encoded twice accepted | system.test_what_proofs_assume | test a record that is encoded twice is seen
planted.assumption_bugs | statistics of all columns | system.test_what_proofs_assume | test searched columns alone have statistics
planted.marker_bugs | a marker above data counts | unit.test_markers | a marker beside data does not count
planted.marker_bugs | compare asks for the marker of folders alone | unit.test_markers | people of a file of settings may be real
planted.marker_bugs | a limit of the second log lost in a merge | unit.test_merged_logs | a limit of either log holds in a merge
planted.marker_bugs | a release made again forgets the status | system.test_statuses_stay | a release made again keeps the status
planted.estimate_bugs | total only groups with the noise of stage 2 | system.test_noise_by_hand | every number has the noise of its budget
planted.estimate_bugs | a copy with the interval of its receiver | system.test_noise_by_hand | copies have the intervals of their donors
planted.estimate_bugs | what a rule left of a family is combined | system.test_combined_totals | a family with a withheld number is not combined
planted.estimate_bugs | totals combined with clamped numbers | system.test_combined_totals | clamped numbers are not combined
planted.estimate_bugs | the error of sizes not divided by the draws | statistical.test_steps_of_an_interval | intervals follow their steps
planted.estimate_bugs | totals half as far above are far above | statistical.test_steps_of_an_interval | totals are far above where their definition says
planted.estimate_bugs | earlier totals with the noise of the newer | system.test_earlier_noise | earlier noise is of the earlier budgets
planted.estimate_bugs | earlier totals with the margins of the newer | system.test_earlier_noise | earlier noise is of the earlier budgets
""")
"""Each bug, and the body of the test that fails, below their modules."""
FIXTURES = {"folder": "tmp_path", "patch": "monkeypatch", "made": "household_run"}
"""What a body takes; by other names it takes fixtures."""
AT_NIGHT = "earlier totals with the margins of the newer"  # by day another is caught by the same test


def named(module, words):
    return getattr(import_module(f"tests.{module}"), words.replace(" ", "_"))


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
