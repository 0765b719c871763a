"""A synthetic census of any size: people, blocks and names, state by state, on several threads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from safetab.census.geography_levels import TabulationPass
from safetab.census.public_lists import PublicLists
from safetab.foundation.progress import Progress
from safetab.products.safetab_p.record import PERSON_RECORD
from safetab.synthetic.cef.cef_files import CefStateFiles, write_grf, write_reader_file
from safetab.synthetic.cef.unit_ids import MafIds, mafids_of_states
from safetab.synthetic.files.census_files import (
    GEOGRAPHY_TABLE,
    CensusFormat,
    as_text,
    begin_census,
    person_file,
    write_geography,
    write_names,
)
from safetab.synthetic.files.person_tables import person_table
from safetab.synthetic.files.state_files import PersonAndHouseholdFiles, StateFiles
from safetab.synthetic.geography.census_size import StateShare
from safetab.synthetic.geography.entity_names import Named, names_in, names_of_areas, nation_name
from safetab.synthetic.geography.state_geography import StateGeography, state_geography
from safetab.synthetic.households.household_tables import HOUSEHOLD_TABLE
from safetab.synthetic.households.units import housed, vacant_in_empty_blocks
from safetab.synthetic.households.whole_blocks import whole_blocks
from safetab.synthetic.people.code_mix import CodeMix
from safetab.synthetic.people.demographics import demographics
from safetab.synthetic.people.nonempty_groups import (
    GroupMaps,
    NonEmptyGroups,
    StateGroups,
    StateNonEmpty,
    group_maps_of,
    non_empty_groups,
)
from safetab.synthetic.people.palettes import palettes_of
from safetab.synthetic.people.state_people import CHUNK_PEOPLE, PeopleChunk, StatePeople
from safetab.synthetic.seeded_bits import RandomBits

_SEVERAL_OF_256 = {TabulationPass.US: 26, TabulationPass.PUERTO_RICO: 60}
"""How many of 256 people report several race codes."""
# where in a state's addresses of random bits its households stand, and its blocks with units alone
_HOUSEHOLDS, _EMPTY_BLOCKS = 4, 5


@dataclass(frozen=True, slots=True)
class CensusPlan:
    """What is to be made. The same plan gives the same bytes, with any number of threads.

    People in no order can't be put into households.
    """

    shares: tuple[StateShare, ...]
    lists: PublicLists
    mix: CodeMix
    max_race_codes: int
    seed: int
    form: CensusFormat
    is_shuffled: bool
    threads: int
    has_households: bool = False

    @property
    def tables(self) -> tuple[str, ...]:
        """Those that have a folder of their own; the files of a CEF lie side by side."""
        if self.form is CensusFormat.CEF:
            return ()
        return (GEOGRAPHY_TABLE, PERSON_RECORD.table, *([HOUSEHOLD_TABLE] if self.has_households else []))

    @property
    def us_states(self) -> list[str]:
        return [share.state.code for share in self.shares if share.tabulation_pass is TabulationPass.US]


def write_census_data(folder: Path, plan: CensusPlan, progress: Progress) -> tuple[NonEmptyGroups, ...]:
    """Makes `folder` with people, blocks and names; tells in which population groups somebody is.

    Memory doesn't grow with the number of people.
    """
    begin_census(folder, plan.tables)
    if plan.form is CensusFormat.CEF:
        write_reader_file(folder)
    chunks = sum(-(-share.people // CHUNK_PEOPLE) for share in plan.shares)
    progress.step(f"Making people, {CHUNK_PEOPLE:,} at a time", chunks)
    maps = group_maps_of(plan.lists, plan.mix.codes, plan.max_race_codes)
    written = _StateWriter(folder, plan, maps, progress, mafids_of_states(plan.shares)).write_states()
    of_states = [name for share in plan.shares for name in written[share.state.code].names]
    write_names(folder, [nation_name(), *of_states, *names_of_areas(plan.shares, plan.seed)])
    return non_empty_groups(maps, [state.groups for state in written.values()])


class _Stopped(Exception):  # noqa: N818 - the name is the sentence
    """Another state failed, or somebody pressed Ctrl-C."""


@dataclass(frozen=True, slots=True)
class _WrittenState:
    names: list[Named]
    groups: StateNonEmpty


@dataclass(frozen=True, slots=True)
class _StateWriter:
    folder: Path
    plan: CensusPlan
    maps: GroupMaps
    progress: Progress
    mafids: Mapping[str, MafIds]
    stop: Event = field(default_factory=Event)

    def write_states(self) -> dict[str, _WrittenState]:
        """What is counted of each state; the largest come first, so that threads end together."""
        with ThreadPoolExecutor(self.plan.threads) as threads:
            by_size = sorted(self.plan.shares, key=lambda share: -share.people)
            states = {threads.submit(self._write_state, share): share.state.code for share in by_size}
            try:
                return {states[state]: state.result() for state in as_completed(states)}
            except BaseException:
                self.stop.set()
                threads.shutdown(cancel_futures=True)
                raise

    def _write_state(self, share: StateShare) -> _WrittenState:
        geography = state_geography(share, self.plan.seed)
        if self.plan.form is CensusFormat.CEF:
            write_grf(self.folder, geography)
        else:
            write_geography(self.folder, geography, self.plan.form)
        groups = StateGroups(geography, self.maps)
        if self.plan.has_households:
            self._write_households(geography, groups)
        elif share.people:
            self._write_people(self._people_of(geography), groups)
        return _WrittenState(list(names_in(geography, self.plan.seed)), groups.summary())

    def _people_of(self, geography: StateGeography) -> StatePeople:
        seed, which = self.plan.seed, geography.share.tabulation_pass
        palettes = palettes_of(geography, self.plan.mix, seed)
        several, is_shuffled = _SEVERAL_OF_256[which], self.plan.is_shuffled
        return StatePeople(geography, palettes, demographics(which, seed), several, is_shuffled)

    def _write_people(self, people: StatePeople, groups: StateGroups) -> None:
        chunks = (people.chunk(number, self.plan.seed) for number in range(people.chunks))
        with person_file(self.folder, people.geography.share.state.code, self.plan.form) as file:
            for chunk in self._seen(chunks, groups):
                table = person_table(chunk, people, self.plan.mix)
                file.write(table if self.plan.form is CensusFormat.PARQUET else as_text(table))

    def _write_households(self, geography: StateGeography, groups: StateGroups) -> None:
        seed, state = self.plan.seed, geography.state
        with self._state_files(geography) as files:
            if geography.share.people:
                people = self._people_of(geography)
                for number, chunk in enumerate(self._seen(whole_blocks(people, seed), groups)):
                    bits = RandomBits(seed, state, _HOUSEHOLDS, number)
                    files.write(housed(chunk, people.demographics, bits), people, bits)
            files.write_vacant(vacant_in_empty_blocks(geography, RandomBits(seed, state, _EMPTY_BLOCKS)))

    def _state_files(self, geography: StateGeography) -> StateFiles:
        code, form, mix = geography.share.state.code, self.plan.form, self.plan.mix
        if form is CensusFormat.CEF:
            return CefStateFiles(self.folder, code, mix, self.mafids[code])
        return PersonAndHouseholdFiles(self.folder, code, form, mix)

    def _seen(self, chunks: Iterable[PeopleChunk], groups: StateGroups) -> Iterator[PeopleChunk]:
        """The same chunks, with what they have in common: they can be stopped, and are counted and told."""
        for chunk in chunks:
            if self.stop.is_set():
                raise _Stopped
            groups.see(chunk)
            yield chunk
            self.progress.advance()
