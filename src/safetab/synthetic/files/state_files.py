"""The files of one state with households: of text or Parquet, persons and households beside each other."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import numpy as np

from safetab.synthetic.files.census_files import CensusFormat, CensusTableFile, as_text, person_file
from safetab.synthetic.files.person_tables import person_table
from safetab.synthetic.households.household_tables import HOUSEHOLD_SCHEMA, HOUSEHOLD_TABLE, household_table
from safetab.synthetic.households.units import HousedChunk, VacantUnits
from safetab.synthetic.people.code_mix import CodeMix
from safetab.synthetic.people.state_people import StatePeople
from safetab.synthetic.seeded_bits import RandomBits


class StateFiles(Protocol):
    """Takes the people of a state in their units, chunk by chunk, then the units of blocks where nobody lives."""

    def write(self, chunk: HousedChunk, people: StatePeople, bits: RandomBits) -> None: ...

    def write_vacant(self, vacant: VacantUnits) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...


class PersonAndHouseholdFiles:
    """HOUSEHOLDER of a person follows from the households here."""

    def __init__(self, folder: Path, state: str, form: CensusFormat, mix: CodeMix) -> None:
        path = folder / HOUSEHOLD_TABLE / f"{state}{form.ending}"
        self._form, self._mix, self._open = form, mix, ExitStack()
        self._persons = self._open.enter_context(person_file(folder, state, form))
        self._households = self._open.enter_context(CensusTableFile(path, HOUSEHOLD_SCHEMA, form))

    def write(self, chunk: HousedChunk, people: StatePeople, bits: RandomBits) -> None:  # noqa: ARG002 - for CEFs
        is_householder = chunk.homes.householder == np.arange(len(chunk.unit))
        persons = person_table(chunk.people, people, self._mix, is_householder)
        for file, table in ((self._persons, persons), (self._households, household_table(chunk, people, self._mix))):
            file.write(table if self._form is CensusFormat.PARQUET else as_text(table))

    def write_vacant(self, vacant: VacantUnits) -> None:
        """Units where nobody lives are no households."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._open.close()
