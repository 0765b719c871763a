"""A plan that publishes every empty group is warned, whether the chance is 0 or `suppress` is missing."""

from decimal import Decimal

import pytest

import safetab
from tests.commands import cli
from tests.worlds.specified.small_world import nz_keys, write_specification

LEFT_OUT = "Without `suppress` every empty group is published."
CHANCE_OF_0 = "A suppression chance of 0 publishes every empty group."
ALL = ["nation", "region", "ta", "sa2"]


def with_suppression(suppress, areas):
    keys = nz_keys()
    del keys["privacy"]["suppress"]
    if suppress is not None:
        keys["privacy"]["suppress"] = suppress
    keys["privacy"]["levels"][0]["areas"] = areas
    return keys


@pytest.mark.parametrize("command", ["validate", "plan", "run"])
@pytest.mark.parametrize(
    ("suppress", "warning"), [(None, LEFT_OUT), ({"chance": 0, "areas": ["ta", "sa2"]}, CHANCE_OF_0)]
)
def test_every_command_warns_if_nothing_is_suppressed(tmp_path, command, suppress, warning):
    parameters, data = write_specification(tmp_path, with_suppression(suppress, ALL))
    out = [str(tmp_path / "out")] if command == "run" else []
    told = cli(command, parameters, data, *out)
    assert told.exit_code == 0
    assert warning in " ".join(told.output.split())


@pytest.mark.parametrize(
    ("suppress", "areas"),
    [({"chance": Decimal("0.9999"), "areas": ["ta", "sa2"]}, ALL), (None, ["nation"])],
    ids=["what is usual", "one area that holds everybody"],
)
def test_nothing_is_said_where_few_empty_groups_can_be_published(tmp_path, suppress, areas):
    parameters, data = write_specification(tmp_path, with_suppression(suppress, areas))
    assert not any("empty group" in finding.message for finding in safetab.validate(parameters, data))
