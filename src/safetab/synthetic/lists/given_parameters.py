"""Parameters that somebody else wrote, made fit for a synthetic census: the same lists, other states and reader."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from safetab.census.public_lists import PublicLists, is_race_code
from safetab.config.config_file import CONFIG_FILE, read_config
from safetab.config.run_config import ReaderKind
from safetab.foundation.findings import Checked, FindingsOf
from safetab.foundation.text_files import read_text
from safetab.readers.public_lists import CODES_FILE, list_paths, read_public_lists
from safetab.synthetic.lists.parameter_files import write_lines

_NUMBER_MARK = "\ue000"  # of no use in a configuration
_MARKED_NUMBER = re.compile(f'"{_NUMBER_MARK}([^"]*)"')


@dataclass(frozen=True, slots=True)
class GivenParameters:
    lists: PublicLists
    max_race_codes: int


def read_given_parameters(parameters: Path) -> Checked[GivenParameters]:
    """The lists, if a run could use them and the configuration beside them; every finding about both."""
    config, lists = read_config(parameters), read_public_lists(parameters)
    findings = FindingsOf(CODES_FILE)
    if lists.value is not None and not any(map(is_race_code, lists.value.code_names)):
        findings.error("RACE_ETH_CODE", "lists no code from 1000 to 8999, so nobody could report a race.")
    found = config.findings + lists.findings + findings.findings
    if config.value is None or lists.value is None or findings.has_errors:
        return Checked(None, found)
    return Checked(GivenParameters(lists.value, config.value.max_race_codes), found)


def write_given_parameters(folder: Path, parameters: Path, us_states: Iterable[str], reader: ReaderKind) -> None:
    """The lists as they are, byte for byte; the configuration for this reader and these states.

    Which passes run stays as it is: people are made for both.
    """
    folder.mkdir()
    for path in list_paths(parameters):
        shutil.copyfile(path, folder / path.name)
    # numbers stay as they are spelled: a budget is an exact decimal
    config = json.loads(read_text(parameters / CONFIG_FILE), parse_float=lambda text: _NUMBER_MARK + text)
    config |= {"reader": reader.value, "state_filter_us": list(us_states)}
    spelled = json.dumps(config, indent=2, ensure_ascii=False)
    write_lines(folder / CONFIG_FILE, [_MARKED_NUMBER.sub(r"\1", spelled)])
