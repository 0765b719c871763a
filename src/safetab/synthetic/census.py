"""A synthetic census of any size: people, blocks and names, state by state, on several threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from safetab.census.geography_levels import TabulationPass
from safetab.census.public_lists import PublicLists
from safetab.foundation.progress import Progress
from safetab.synthetic.files.census_files import (
    CensusFormat,
    as_text,
    begin_census,
    person_file,
    write_geography,
    write_names,
)
from safetab.synthetic.files.person_tables import person_table
from safetab.synthetic.geography.census_size import StateShare
from safetab.synthetic.geography.entity_names import Named, names_in, names_of_areas, nation_name
from safetab.synthetic.geography.state_geography import StateGeography, state_geography
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
from safetab.synthetic.people.state_people import CHUNK_PEOPLE, StatePeople

_SEVERAL_OF_256 = {TabulationPass.US: 26, TabulationPass.PUERTO_RICO: 60}
"""How many of 256 people report several race codes."""


@dataclass(frozen=True, slots=True)
class CensusPlan:
    """What is to be made. The same plan gives the same bytes, with any number of threads."""

    shares: tuple[StateShare, ...]
    lists: PublicLists
    mix: CodeMix
    max_race_codes: int
    seed: int
    form: CensusFormat
    is_shuffled: bool
    threads: int

    @property
    def us_states(self) -> list[str]:
        return [share.state.code for share in self.shares if share.tabulation_pass is TabulationPass.US]


def write_census_data(folder: Path, plan: CensusPlan, progress: Progress) -> tuple[NonEmptyGroups, ...]:
    """Makes `folder` with people, blocks and names; tells in which population groups somebody is.

    Memory doesn't grow with the number of people.
    """
    begin_census(folder)
    chunks = sum(-(-share.people // CHUNK_PEOPLE) for share in plan.shares)
    progress.step(f"Making people, {CHUNK_PEOPLE:,} at a time", chunks)
    maps = group_maps_of(plan.lists, plan.mix.codes, plan.max_race_codes)
    written = _StateWriter(folder, plan, maps, progress).write_states()
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
        write_geography(self.folder, geography, self.plan.form)
        groups = StateGroups(geography, self.maps)
        if share.people:
            self._write_people(geography, groups)
        return _WrittenState(list(names_in(geography, self.plan.seed)), groups.summary())

    def _write_people(self, geography: StateGeography, groups: StateGroups) -> None:
        seed, which = self.plan.seed, geography.share.tabulation_pass
        palettes = palettes_of(geography, self.plan.mix, seed)
        several, is_shuffled = _SEVERAL_OF_256[which], self.plan.is_shuffled
        people = StatePeople(geography, palettes, demographics(which, seed), several, is_shuffled)
        with person_file(self.folder, geography.share.state.code, self.plan.form) as file:
            for number in range(people.chunks):
                if self.stop.is_set():
                    raise _Stopped
                chunk = people.chunk(number, seed)
                groups.see(chunk)
                table = person_table(chunk, people, self.plan.mix)
                file.write(table if self.plan.form is CensusFormat.PARQUET else as_text(table))
                self.progress.advance()
