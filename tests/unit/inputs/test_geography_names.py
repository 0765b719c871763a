"""geography-names.txt: optional, public, and written by anybody."""

import pytest

import safetab
from tests.inside import US, InvalidInput, read_area_names

HEADER = "REGION_TYPE|REGION_ID|NAME\n"


def test_without_the_file_there_are_no_names(tmp_path):
    assert read_area_names(tmp_path, US).require() == {}


def test_names_are_read_as_they_are(tmp_path):
    (tmp_path / "geography-names.txt").write_text(
        HEADER + 'STATE|44|Rhode Island\r\nPR-COUNTY|72031|Añasco, "Puerto Rico" <b>\nCOUNTY|44007|=1+1\n\n'
    )
    assert read_area_names(tmp_path, US).require() == {
        (US.area_level("STATE"), "44"): "Rhode Island",
        (US.area_level("PR-COUNTY"), "72031"): 'Añasco, "Puerto Rico" <b>',
        (US.area_level("COUNTY"), "44007"): "=1+1",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it is empty. Its first line must be REGION_TYPE|REGION_ID|NAME"),
        ("NAME\n", "the header is"),
        (HEADER + "TOWN|44|x\n", "REGION_TYPE: must be one of USA, STATE, COUNTY, TRACT, PLACE, AIANNH, PR-STATE"),
        (HEADER + "STATE|4|x\n", 'REGION_ID: must be 2 digits for STATE: line 2 ("4")'),
        (HEADER + "STATE|४४|x\n", "REGION_ID: must be 2 digits for STATE"),
        (HEADER + "STATE|44|x\nSTATE|44|y\n", 'named more than once; keep one row per entity: line 3 ("STATE 44")'),
        (HEADER + "STATE|44| \nSTATE|01|bell\a\n", "NAME: must be text with only printable characters and plain spaces: line 2"),
        (HEADER + "STATE|44\n", "a row must have 3 fields"),
    ],
)  # fmt: skip
def test_malformed_names_are_findings(text, message, world):
    (world.data / "geography-names.txt").write_text(text)
    with pytest.raises(InvalidInput) as refusal:
        safetab.plan(*world)
    told = str(refusal.value)
    assert "geography-names.txt has" in told
    assert message in told
    assert "\a" not in told
