"""Which race and ethnicity codes each POPGROUP of a published table stands for, as a CSV file."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from safetab.census.iterations import CharacteristicIteration
from safetab.census.public_lists import PublicLists
from safetab.foundation.safe_csv import safe_text

POPGROUPS_FILE = "popgroups.csv"


class Popgroup(NamedTuple):
    """A group of published tables: its label there, and the iteration of the lists with that code, if there is one."""

    code: str
    label: str
    iteration: CharacteristicIteration | None


def write_popgroups(folder: Path, popgroups: Iterable[Popgroup], lists: PublicLists) -> None:
    with (folder / POPGROUPS_FILE).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL)
        writer.writerow(
            ["POPGROUP", "POPGROUP_LABEL", "ITERATION_NAME", "ITERATION_LEVEL", "ITERATION_KIND", "LIST", "CODES"]
        )
        writer.writerows(_row(one, lists) for one in popgroups)


def _row(popgroup: Popgroup, lists: PublicLists) -> list[str]:
    one = popgroup.iteration
    if one is None:
        return [popgroup.code, safe_text(popgroup.label), "", "", "", "", ""]
    codes = " ".join(sorted(lists.codes_of_iteration.get(one.code, ())))
    listed = "" if one.listed is None else one.listed.value
    names = (safe_text(popgroup.label), safe_text(one.name))
    return [popgroup.code, *names, one.level.label, one.kind.value, listed, codes]
