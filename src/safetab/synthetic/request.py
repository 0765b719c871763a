"""What `safetab synthesize` was asked for, what of it is refused, and how it is done."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from safetab.config.config_file import product_asked_for
from safetab.config.run_config import ReaderKind
from safetab.foundation.findings import Checked, Finding, FindingsOf, shortened
from safetab.foundation.progress import Progress
from safetab.products.safetab_p.safetab_p import SAFETAB_P
from safetab.synthetic.cef.cef_codes import codes_no_cef_holds, lists_for_a_cef, mix_for_a_cef
from safetab.synthetic.cef.unit_ids import are_enough
from safetab.synthetic.census import CensusPlan, write_census_data
from safetab.synthetic.files.census_files import CensusFormat
from safetab.synthetic.geography.census_size import SizeRequest, state_shares
from safetab.synthetic.households.household_parameters import HOUSEHOLD_PARAMETERS, write_household_parameters
from safetab.synthetic.lists.given_parameters import GivenParameters, read_given_parameters, write_given_parameters
from safetab.synthetic.lists.own_lists import FEWEST_ITERATIONS, ITERATIONS_OF_2020, MOST_ITERATIONS, own_public_lists
from safetab.synthetic.lists.parameter_files import write_parameters
from safetab.synthetic.people.code_mix import code_mix_of
from safetab.synthetic.people.nonempty_groups import NonEmptyGroups
from safetab.synthetic.people.state_people import MOST_RACE_CODES

_MOST_THREADS = 1024


@dataclass(frozen=True, slots=True)
class CensusRequest:
    """`parameters` None: lists of its own, with so many iterations, or as many as in 2020.

    `households` asks for household records beside the persons; a CEF has households anyway.
    """

    size: SizeRequest
    parameters: Path | None = None
    iterations: int | None = None
    seed: int = 2020
    form: CensusFormat = CensusFormat.PARQUET
    is_shuffled: bool = False
    threads: int = 2
    households: bool = False

    @property
    def reader(self) -> ReaderKind:
        return ReaderKind.CEF if self.form is CensusFormat.CEF else ReaderKind.CSV

    def checked(self) -> Checked[CensusPlan]:
        """What is to be made, or every finding about the request and the given parameters."""
        findings = (*self.size.findings(), *self._refused())
        given: Checked[GivenParameters] = Checked(None, ())
        if self.parameters is not None:
            given = read_given_parameters(self.parameters)
        elif not findings:
            own = own_public_lists(self.iterations or ITERATIONS_OF_2020)
            given = Checked(GivenParameters(own, MOST_RACE_CODES), ())
        found = findings + given.findings
        if given.value is None or any(finding.is_error for finding in found):
            return Checked(None, found)
        plan = self._plan(given.value)
        if self.form is not CensusFormat.CEF:
            return Checked(plan, found)
        found += _not_for_a_cef(plan)
        return Checked(None if any(finding.is_error for finding in found) else plan, found)

    def _plan(self, given: GivenParameters) -> CensusPlan:
        plan = CensusPlan(
            shares=state_shares(self.size),
            lists=given.lists,
            mix=code_mix_of(given.lists, self.seed),
            max_race_codes=given.max_race_codes,
            seed=self.seed,
            form=self.form,
            is_shuffled=self.is_shuffled,
            threads=self.threads,
            has_households=self.households or self.form is CensusFormat.CEF,
        )
        if self.form is CensusFormat.CEF and self.parameters is None:
            return replace(plan, lists=lists_for_a_cef(plan.lists), mix=mix_for_a_cef(plan.mix))
        return plan

    def _refused(self) -> tuple[Finding, ...]:
        findings = FindingsOf("the command")
        if self.iterations is not None and self.parameters is not None:
            findings.error("--iterations", "is for lists of the census's own. Leave it out, or leave out --parameters.")
        elif self.iterations is not None and not FEWEST_ITERATIONS <= self.iterations <= MOST_ITERATIONS:
            findings.error("--iterations", f"must be from {FEWEST_ITERATIONS} to {MOST_ITERATIONS:,}.")
        if self.seed < 0:
            findings.error("--seed", "must be 0 or above.")
        if not 1 <= self.threads <= _MOST_THREADS:
            findings.error("--threads", f"must be from 1 to {_MOST_THREADS}.")
        if self.households and self.form is CensusFormat.CEF:
            findings.error("--households", "is for text and Parquet: a CEF has households as it is. Leave it out.")
        if self.is_shuffled and (self.households or self.form is CensusFormat.CEF):
            findings.error("--shuffle", "tears households apart. Leave it out, or leave out --households or the CEF.")
        return findings.findings


def _not_for_a_cef(plan: CensusPlan) -> tuple[Finding, ...]:
    findings = FindingsOf("the command")
    if not are_enough(plan.shares):
        findings.error("--people", "are too many for a CEF: the nine digits of MAFID don't number so many units.")
    codes = codes_no_cef_holds(plan.mix)
    if codes:
        findings.error(
            "--parameters", f"no CEF can hold the ethnicity codes {shortened(codes)}: only 1000 to 8999 and 9950."
        )
    return findings.findings


def bytes_needed(plan: CensusPlan) -> int:
    """About how much room the census will take."""
    people, blocks = (sum(getattr(share, what) for share in plan.shares) for what in ("people", "blocks"))
    return plan.form.bytes_needed(people, blocks, has_households=plan.has_households)


def write_census(
    folder: Path, request: CensusRequest, plan: CensusPlan, progress: Progress
) -> tuple[NonEmptyGroups, ...]:
    """Makes `folder/parameters` and `folder/data`, and with households the parameters of their tables too.

    The same request gives the same bytes.
    """
    parameters = folder / "parameters"
    if request.parameters is None:
        parameters.mkdir()
        write_parameters(parameters, plan.lists, plan.us_states, request.reader)
    else:
        write_given_parameters(parameters, request.parameters, plan.us_states, request.reader)
    if plan.has_households and product_asked_for(parameters) is SAFETAB_P:
        write_household_parameters(folder / HOUSEHOLD_PARAMETERS, parameters)
    return write_census_data(folder / "data", plan, progress)
