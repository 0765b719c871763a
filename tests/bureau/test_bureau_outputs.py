"""The Census Bureau's checks of an output: each of its four faults is found in t1 of a run, and a right output passes.

A run makes the same checks before it publishes; `safetab verify` makes them for anyone who has the output.
"""

import shutil

import pytest

from tests.bureau.outputs import Output
from tests.bureau.worlds import all_worlds, write_case
from tests.cases import cases_of
from tests.commands import done, refused
from tests.system.release.test_output_checks import field_changed, renewed_manifest
from tests.worlds.people import no_budgets_but

T1 = "t1/pr.csv"
FAULTS = """
a region with nine digits     | kept | PR-STATE  | 0 | 720000000 | REGION_ID is not that of the next published group
an iteration with five digits | kept | PR-STATE  | 2 | 23977     | ITERATION_CODE is not that of the next published
a county of another state     | kept | PR-COUNTY | 0 | 11000     | REGION_ID is not that of the next published group
a negative count              | none | PR-STATE  | 3 | -5        | COUNT is negative, which is not allowed
"""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """An output where counts may be negative, and one where they may not."""
    made, worlds = {}, all_worlds()
    for may_be_negative in (True, False):
        folder = tmp_path_factory.mktemp("output")
        config = {"run_us": False, "run_pr": True, "zero_suppression_chance": 0}
        config |= {"allow_negative_counts": may_be_negative, **no_budgets_but("2_pr_state", "2_pr_county")}
        written = write_case({"world": "toy-p-zcdp", "config": config, "thresholds": [0, 1, 2]}, worlds, folder)
        made[may_be_negative] = Output(written.world.run(folder / "out", test_key="07" * 32), written)
    return made


@pytest.mark.parametrize("may_be_negative", [True, False])
def test_a_valid_output_passes(may_be_negative, outputs):
    output = outputs[may_be_negative]
    assert any(int(row["COUNT"]) < 0 for row in output.tables["t1"]) == may_be_negative
    done("verify", output.folder)


@pytest.mark.parametrize(("fault", "negatives", "kind", "column", "value", "message"), cases_of(FAULTS))
def test_an_invalid_output_is_told(fault, negatives, kind, column, value, message, outputs, tmp_path):
    out = shutil.copytree(outputs[negatives == "kept"].folder, tmp_path / "out")
    lines = (out / T1).read_text().split("\n")
    row = next(number for number, line in enumerate(lines) if f"|{kind}|" in line)
    field_changed(T1, row, int(column), value)(out)
    renewed_manifest(out)
    assert f"{T1}: {message}" in refused("verify", out), fault
