"""A synthetic census of any size: the request, the plan, and the work.

People, blocks and names are made in threads.
"""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event

from safetab.apps.synthetic.cef import record_lines
from safetab.apps.synthetic.cef.cef_files import (
    CefStateFiles,
    cef_state_files,
    write_grf,
    write_reader_file,
)
from safetab.apps.synthetic.cef.record_lines import MafIds
from safetab.apps.synthetic.files import census_files, parameter_files
from safetab.apps.synthetic.files.census_files import CensusFormat, PersonAndHouseholdFiles
from safetab.apps.synthetic.geography.census_size import SizeRequest, StateShare, state_shares
from safetab.apps.synthetic.geography.state_geography import (
    Named,
    StateGeography,
    names_in,
    names_of_areas,
    state_geography,
)
from safetab.apps.synthetic.households.units import (
    housed,
    vacant_in_empty_blocks,
    with_shared_codes,
)
from safetab.apps.synthetic.people import nonempty_groups
from safetab.apps.synthetic.people.code_mix import CodeMix, code_mix_of, palettes_of
from safetab.apps.synthetic.people.nonempty_groups import (
    GroupMaps,
    NonEmptyGroups,
    StateGroups,
    StateNonEmpty,
)
from safetab.apps.synthetic.people.state_people import (
    CHUNK_PEOPLE,
    MOST_RACE_CODES,
    PeopleChunk,
    StatePeople,
    demographics,
)
from safetab.apps.synthetic.seeded_bits import RandomBits
from safetab.foundation.findings import Checked, Finding, FindingsOf, shortened
from safetab.foundation.progress import Progress
from safetab.inputs.bureau.grfc import GEOGRAPHY_TABLE
from safetab.inputs.configuration import product_asked_for
from safetab.model.census.groups import PublicLists
from safetab.model.config.run_config import ReaderKind
from safetab.model.products.safetab_h.safetab_h import HOUSEHOLD_RECORD
from safetab.model.products.safetab_p.safetab_p import PERSON_RECORD, SAFETAB_P
from safetab.model.us.us_census import PR_PASS, US_PASS

_SEVERAL_OF_256 = {US_PASS: 26, PR_PASS: 60}
"""The number of people, of 256, who report several race codes."""
# addresses of random bits below that of a state
_HOUSEHOLDS = 4
_EMPTY_BLOCKS = 5
_SHARED_CODES = 6


@dataclass(frozen=True, slots=True)
class CensusPlan:
    """A census to be made. The same plan gives the same bytes with any number of threads.

    A plan with households must not be shuffled; only such a plan has shared codes.
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
    shared_codes: float | None = (
        None  # the chance that a member has the householder's codes; None: as drawn
    )

    @property
    def us_states(self) -> list[str]:
        """The codes of the states of the US pass."""
        return [share.state.code for share in self.shares if share.tabulation_pass == US_PASS]

    @property
    def reader(self) -> ReaderKind:
        """The reader that can read the census."""
        return ReaderKind.CEF if self.form is CensusFormat.CEF else ReaderKind.CSV


def _write_census_data(
    folder: Path, plan: CensusPlan, progress: Progress
) -> tuple[NonEmptyGroups, ...]:
    """Make `folder` with people, blocks and names. Return how many groups are not empty.

    Memory does not grow with the number of people.
    """
    if plan.form is CensusFormat.CEF:  # all files lie in one folder
        census_files.begin_census(folder, ())
        write_reader_file(folder)
    else:
        households = (
            [HOUSEHOLD_RECORD.table, census_files.PERSON_HOUSEHOLD] if plan.has_households else []
        )
        census_files.begin_census(folder, [GEOGRAPHY_TABLE, PERSON_RECORD.table, *households])
    chunks = sum(-(-share.people // CHUNK_PEOPLE) for share in plan.shares)
    progress.step(f"Making people, {CHUNK_PEOPLE:,} at a time", chunks)
    maps = nonempty_groups.group_maps_of(plan.lists, plan.mix.codes, plan.max_race_codes)
    mafids = record_lines.mafids_of_states(plan.shares)
    written = _StateWriter(folder, plan, maps, progress, mafids).write_states()
    of_states = [name for share in plan.shares for name in written[share.state.code][0]]
    if plan.has_households and plan.form is not CensusFormat.CEF:
        census_files.join_person_households(folder)
    census_files.write_names(folder, [*of_states, *names_of_areas(plan.shares, plan.seed)])
    return nonempty_groups.non_empty_groups(maps, [groups for _, groups in written.values()])


class _Stopped(Exception):  # noqa: N818 - the name is the sentence
    """Another state failed, or somebody pressed Ctrl-C."""


@dataclass(frozen=True, slots=True)
class _StateWriter:
    """Writes the files of all states, several at a time."""

    folder: Path
    plan: CensusPlan
    maps: GroupMaps
    progress: Progress
    mafids: Mapping[str, MafIds]
    stop: Event = field(default_factory=Event)

    def write_states(self) -> dict[str, tuple[list[Named], StateNonEmpty]]:
        """Write all states, the largest first, so that the threads end at about the same time.

        Returns the names and the non-empty groups of each state.
        """
        with ThreadPoolExecutor(self.plan.threads) as threads:
            by_size = sorted(self.plan.shares, key=lambda share: -share.people)
            states = {
                threads.submit(self._write_state, share): share.state.code for share in by_size
            }
            try:
                return {states[state]: state.result() for state in as_completed(states)}
            except BaseException:
                self.stop.set()
                threads.shutdown(cancel_futures=True)
                raise

    def _write_state(self, share: StateShare) -> tuple[list[Named], StateNonEmpty]:
        """Write all files of one state. Raises _Stopped if another state failed."""
        geography = state_geography(share, self.plan.seed)
        if self.plan.form is CensusFormat.CEF:
            write_grf(self.folder, geography)
        else:
            census_files.write_geography(self.folder, geography, self.plan.form)
        groups = StateGroups(geography, self.maps)
        if self.plan.has_households:
            self._write_households(geography, groups)
        elif share.people:
            people = self._people_of(geography)
            chunks = (people.chunk(number, self.plan.seed) for number in range(people.chunks))
            with census_files.person_file(self.folder, share.state.code, self.plan.form) as write:
                for chunk in chunks:
                    self._see(chunk, groups)
                    write(census_files.person_table(chunk, people, self.plan.mix))
        return list(names_in(geography, self.plan.seed)), groups.summary()

    def _people_of(self, geography: StateGeography) -> StatePeople:
        """The people of a state, who are made chunk by chunk."""
        which, seed = geography.share.tabulation_pass, self.plan.seed
        palettes = palettes_of(geography, self.plan.mix, seed)
        several = _SEVERAL_OF_256[which]
        return StatePeople(
            geography, palettes, demographics(which, seed), several, self.plan.is_shuffled
        )

    def _write_households(self, geography: StateGeography, groups: StateGroups) -> None:
        """Write people in their units, then the vacant units of empty blocks."""
        seed, state, code = self.plan.seed, geography.state, geography.share.state.code
        opened: AbstractContextManager[CefStateFiles | PersonAndHouseholdFiles]
        if self.plan.form is CensusFormat.CEF:
            opened = cef_state_files(self.folder, code, self.plan.mix, self.mafids[code])
        else:
            opened = census_files.person_and_household_files(
                self.folder, code, self.plan.form, self.plan.mix
            )
        with opened as files:
            if geography.share.people:
                people = self._people_of(geography)
                for number, chunk in enumerate(people.whole_blocks(seed)):
                    bits = RandomBits(seed, state, _HOUSEHOLDS, number)
                    home = housed(chunk, people.demographics, bits)
                    if self.plan.shared_codes is not None:
                        shared_bits = RandomBits(seed, state, _SHARED_CODES, number)
                        home = with_shared_codes(home, self.plan.shared_codes, shared_bits)
                    self._see(home.people, groups)
                    files.write(home, people, bits)
            bits = RandomBits(seed, state, _EMPTY_BLOCKS)
            files.write_vacant(vacant_in_empty_blocks(geography, bits))

    def _see(self, chunk: PeopleChunk, groups: StateGroups) -> None:
        """Note the groups of a chunk that is to be written, and count progress.

        Raises _Stopped when asked to.
        """
        if self.stop.is_set():
            raise _Stopped
        groups.see(chunk)
        self.progress.advance()


_MOST_THREADS = 1024
_BYTES = {  # of a person, a block and a unit; who lives with whom is part of the units
    CensusFormat.PARQUET: (4.2, 1.0, 8.4),
    CensusFormat.TEXT: (78.0, 30.0, 72.4),
    CensusFormat.CEF: (92.0, 140.0, 77.0),
}


@dataclass(frozen=True, slots=True)
class CensusRequest:
    """A request of `safetab synthesize`.

    Without `parameters` the census gets lists of its own, with this number of `iterations` or as
    many as in 2020. `households` asks for household records; a CEF always has households.
    `shared_codes` is the chance that a member of a household has all codes of the householder.
    """

    size: SizeRequest
    parameters: Path | None = None
    iterations: int | None = None
    seed: int = 2020
    form: CensusFormat = CensusFormat.PARQUET
    is_shuffled: bool = False
    threads: int = 2
    households: bool = False
    shared_codes: float | None = None

    def checked(self) -> Checked[CensusPlan]:
        """The plan of the census, and every finding about the request and the given parameters."""
        found = (*self.size.findings(), *self._refused())
        given: Checked[tuple[PublicLists, int]] = Checked(None, ())
        if self.parameters is not None:
            given = parameter_files.read_given_parameters(self.parameters)
        elif not found:
            lists = parameter_files.own_public_lists(
                self.iterations or parameter_files.ITERATIONS_OF_2020
            )
            given = Checked((lists, MOST_RACE_CODES), ())
        found += given.findings
        if given.value is None or any(finding.is_error for finding in found):
            return Checked(None, found)
        plan = self._plan(*given.value)
        found += _not_for_a_cef(plan) if self.form is CensusFormat.CEF else ()
        return Checked(None if any(finding.is_error for finding in found) else plan, found)

    def _plan(self, lists: PublicLists, max_race_codes: int) -> CensusPlan:
        """The plan of a request without errors.

        A CEF with lists of its own gets codes that it can hold.
        """
        mix = code_mix_of(lists, self.seed)
        has_households = self.households or self.form is CensusFormat.CEF
        how = (
            self.seed,
            self.form,
            self.is_shuffled,
            self.threads,
            has_households,
            self.shared_codes,
        )
        if self.form is CensusFormat.CEF and self.parameters is None:
            lists, mix = record_lines.with_codes_of_a_cef(lists, mix)
        return CensusPlan(state_shares(self.size), lists, mix, max_race_codes, *how)

    def _refused(self) -> tuple[Finding, ...]:
        """Findings about options that are out of range or exclude each other."""
        findings = FindingsOf("the command")
        fewest = parameter_files.FEWEST_ITERATIONS
        most = parameter_files.MOST_ITERATIONS
        if self.iterations is not None and self.parameters is not None:
            findings.error(
                "--iterations", "can't be used together with --parameters. Leave out one of them."
            )
        elif self.iterations is not None and not fewest <= self.iterations <= most:
            findings.error("--iterations", f"must be from {fewest} to {most:,}.")
        if self.seed < 0:
            findings.error("--seed", "must be 0 or above.")
        if not 1 <= self.threads <= _MOST_THREADS:
            findings.error("--threads", f"must be from 1 to {_MOST_THREADS}.")
        if self.households and self.form is CensusFormat.CEF:
            findings.error(
                "--households",
                "is for text and Parquet: a CEF always has households. Leave it out.",
            )
        if self.shared_codes is not None and not 0 <= self.shared_codes <= 1:
            findings.error("--shared-codes", "must be a chance from 0 to 1.")
        elif self.shared_codes is not None and not (
            self.households or self.form is CensusFormat.CEF
        ):
            findings.error(
                "--shared-codes", "is for people in households. Add --households, or leave it out."
            )
        if self.is_shuffled and (self.households or self.form is CensusFormat.CEF):
            findings.error(
                "--shuffle",
                "tears households apart. Leave it out, or leave out --households or the CEF.",
            )
        return findings.findings


def _not_for_a_cef(plan: CensusPlan) -> tuple[Finding, ...]:
    """Findings about a plan that no CEF can hold.

    It has too many units, or codes that QSPAN can't hold.
    """
    findings = FindingsOf("the command")
    if not record_lines.mafids_suffice(plan.shares):
        findings.error(
            "--people",
            "are too many for a CEF: the nine digits of MAFID are not enough for their units.",
        )
    codes = record_lines.codes_no_cef_holds(plan.mix)
    if codes:
        problem = (
            f"no CEF can hold the ethnicity codes {shortened(codes)}: only 1000 to 8999 and 9950."
        )
        findings.error("--parameters", problem, is_of_files=True)
    return findings.findings


def bytes_needed(plan: CensusPlan) -> int:
    """About how many bytes the census will take: sizes that were measured, plus a tenth."""
    people = sum(share.people for share in plan.shares)
    blocks = sum(share.blocks for share in plan.shares)
    units = min(1.15 * people, 0.42 * people + 0.8 * blocks) if plan.has_households else 0
    a_person, a_block, a_unit = _BYTES[plan.form]
    return round(1.1 * (people * a_person + blocks * a_block + units * a_unit)) + 20_000_000


def write_census(
    folder: Path, plan: CensusPlan, progress: Progress, given: Path | None = None
) -> tuple[NonEmptyGroups, ...]:
    """Make `folder/parameters` and `folder/data`. Return how many groups are not empty.

    `given` are the parameters to copy, if the plan was made from such. With households,
    `folder/household-parameters` is made too. The same request gives the same bytes.
    """
    parameters = folder / "parameters"
    if given is None:
        parameters.mkdir()
        parameter_files.write_parameters(parameters, plan.lists, plan.us_states, plan.reader)
    else:
        parameter_files.write_given_parameters(parameters, given, plan.us_states, plan.reader)
    if plan.has_households and product_asked_for(parameters) is SAFETAB_P:
        parameter_files.write_household_parameters(
            folder / parameter_files.HOUSEHOLD_PARAMETERS, parameters
        )
    return _write_census_data(folder / "data", plan, progress)
