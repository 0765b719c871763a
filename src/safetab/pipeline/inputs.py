"""What a run is given: public files, the plan they make, and the records, found and checked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from safetab.census.geography import Geography
from safetab.census.geography_levels import TabulationPass
from safetab.config.config_file import product_asked_for, read_config, reader_asked_for
from safetab.config.run_config import ReaderKind
from safetab.engines.backend import Backend, Persons
from safetab.engines.contract import CountingEngine, EngineSettings
from safetab.engines.known_lists import KnownLists
from safetab.engines.local.local_backend import LocalBackend
from safetab.foundation.findings import Checked, Finding, InvalidInput
from safetab.foundation.progress import Progress
from safetab.pipeline.options import RunOptions, refused_plan
from safetab.pipeline.rerelease import populated_geography
from safetab.pipeline.totals_of_release import given_totals
from safetab.planning.given_geography import states_asked_for
from safetab.planning.planner import PublicFiles, plan_of, read_public_files
from safetab.planning.run_plan import RunPlan


@dataclass(frozen=True, slots=True)
class RunInputs:
    """Everything that was given, checked but for the rows of the person records."""

    files: PublicFiles
    plan: RunPlan
    persons: Persons
    populated: Mapping[TabulationPass, Geography]  # the blocks that may hold people
    hashes: Mapping[str, str] = field(default_factory=dict)  # of the public files, once a run has taken them


def read_inputs(
    parameters: Path,
    data: Path,
    empty_blocks: Path | None = None,
    backend: Backend | None = None,
    totals: Path | None = None,
) -> Checked[RunInputs]:
    """Without a backend, what is given lies in the two directories; `totals` is a release that chooses tables."""
    backend = backend or LocalBackend(EngineSettings(data), lambda _: None)
    config = read_config(parameters)
    if reader_asked_for(parameters, data) is ReaderKind.CEF:
        folder = Checked(data, ())
        persons = backend.cef_persons(data, () if config.value is None else states_asked_for(config.value))
    else:
        folder = backend.geography_folder(data)
        persons = backend.persons(data, product_asked_for(parameters).record)
    if folder.value is None:
        return Checked(None, config.findings + folder.findings + persons.findings)
    public = read_public_files(parameters, data, folder.value, given_totals(totals, data))
    findings = tuple(dict.fromkeys(public.findings + persons.findings))  # both read the .ini file of a CEF
    if public.value is None:
        return Checked(None, findings)
    planned = plan_of(public.value)
    populated = populated_geography(public.value.geography_of_pass, empty_blocks)
    findings += planned.findings + populated.findings
    if (
        planned.value is None
        or persons.value is None
        or populated.value is None
        or any(one.is_error for one in findings)
    ):
        return Checked(None, findings)
    return Checked(RunInputs(public.value, planned.value, persons.value, populated.value), findings)


def required_inputs(
    parameters: Path, data: Path, options: RunOptions, progress: Progress, backend: Backend
) -> Checked[RunInputs]:
    """Has a value; raises InvalidInput if there is none, with what can still be judged of the person records."""
    progress.step("Reading the public files", 1)
    checked = read_inputs(parameters, data, options.empty_blocks, backend, options.totals)
    progress.advance()
    if checked.value is None:
        noun = product_asked_for(parameters).record.noun
        progress.step(f"Checking what can be checked of the {noun} records", 0)
        known = _known_lists(parameters, data, backend)
        raise InvalidInput((*checked.findings, *backend.judge(data, known, progress.advance)))
    refused = refused_plan(checked.value.plan, data, options)
    if refused:
        known = _known_lists(parameters, data, backend)
        raise InvalidInput((*checked.findings, *refused, *backend.judge(data, known, progress.advance)))
    return checked


def _known_lists(parameters: Path, data: Path, backend: Backend) -> KnownLists:
    is_cef = reader_asked_for(parameters, data) is ReaderKind.CEF
    return KnownLists.readable(parameters, data, data if is_cef else backend.geography_folder(data).value)


@contextmanager
def checked_engine(
    checked: Checked[RunInputs], backend: Backend, progress: Progress
) -> Iterator[tuple[tuple[Finding, ...], CountingEngine]]:
    """An engine whose persons all keep to the rules."""
    inputs = checked.require()
    if backend.remark is not None:
        progress.note(backend.remark)
    with closing(backend.engine(inputs.persons, inputs.files)) as engine:
        noun = inputs.plan.config.product.record.noun
        progress.step(f"Checking the {noun} records", backend.number_of_persons(inputs.persons))
        findings = engine.check(progress.advance)
        if any(finding.is_error for finding in findings):
            raise InvalidInput((*checked.findings, *findings))
        yield (*checked.warnings, *findings), engine
