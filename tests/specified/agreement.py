"""Where the local engine and the judge differ on a world: nowhere, if both are right."""

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tests.inside import USUAL_SIZES, EngineSettings, LocalBackend, read_inputs
from tests.specified.judge import Judge


def inputs_of(parameters, data):
    """The inputs of a run, which must be free of errors."""
    return read_inputs(parameters, data).require()


def engine_of(inputs, folder, threads=2, sizes=USUAL_SIZES):
    """The local engine, whose temporary files lie in the folder."""
    settings = EngineSettings(folder, threads=threads, sizes=sizes)
    return LocalBackend(settings, lambda _: None).engine(inputs.records, inputs.files)


def findings(parameters, data, threads=2, sizes=USUAL_SIZES):
    """What the engine says of the records."""
    with (
        TemporaryDirectory() as folder,
        closing(engine_of(inputs_of(parameters, data), Path(folder), threads, sizes)) as engine,
    ):
        return list(engine.check())


def errors(parameters, data, threads=2, sizes=USUAL_SIZES):
    """Where each error is, and its sentence."""
    return [(one.where, one.message) for one in findings(parameters, data, threads, sizes) if one.is_error]


def fingerprint(parameters, data, secret=bytes(32)):
    """Of records that are right."""
    with TemporaryDirectory() as folder, closing(engine_of(inputs_of(parameters, data), Path(folder))) as engine:
        assert not [one for one in engine.check() if one.is_error]
        return dict(engine.fingerprint(secret))


def differences(parameters, data, judge=None):
    """Every wrong row, each as a sentence."""
    judge = judge or Judge(parameters, data)
    checked = read_inputs(parameters, data)
    if checked.value is None:
        return [f"refused: {finding.where} {finding.message}" for finding in checked.findings if finding.is_error]
    with TemporaryDirectory() as folder, closing(engine_of(checked.value, Path(folder))) as engine:
        refused = [f"refused: {found.where} {found.message}" for found in engine.check() if found.is_error]
        return refused or list(_differences(judge, checked.value, engine))


def _differences(judge, inputs, engine):
    counted = {each.name: number for each, number in engine.prepare().items()}
    yield from differing("records of passes", counted, judge.records_of_passes())
    losses = {each.name: inputs.plan.loss_of(each).unbounded for each in inputs.plan.config.passes}
    yield from differing("losses of passes", losses, judge.losses_of_passes())
    plans = {
        (plan.family.name, plan.level.iterations.name, plan.level.geography.label): plan for plan in inputs.plan.levels
    }
    for triple in judge.triples:
        plan = plans.pop((triple.family, triple.groups, triple.label), None)
        has_groups = bool(judge.groups_at(triple.groups, judge.label(triple.label)))
        if plan is not None:
            yield from _of_level(judge, triple, plan, engine)
        elif has_groups:
            yield f"{triple}: not planned"
    yield from (f"{key}: planned without a budget" for key in plans)


def _of_level(judge, triple, plan, engine):
    label = judge.label(triple.label)
    about = f"{triple.family}, {triple.groups}, {triple.label}"
    ids, codes = judge.universe(triple.groups, label)
    spelled = plan.level.geography.kind.ids
    found_ids = [spelled.text(entity) for entity in plan.universe.entities.tolist()]
    found_codes = [iteration.code for iteration in plan.universe.iterations]
    yield from differing(f"universe of {about}", (found_ids, found_codes), (ids, codes))
    design = plan.design
    choices = (design.budget, design.thresholds.totals, design.suppression_threshold is not None)
    yield from differing(
        f"choices of {about}", choices, (triple.budget, triple.thresholds, judge.suppresses(triple.groups, label))
    )
    stability, most = (
        judge.stability(triple.groups, label),
        judge.keys["records"].get("unit", {}).get("most_records", 1),
    )
    found_norms = (design.sensitivity.l1, design.sensitivity.l2_squared)
    # k records of a unit move s counts by k each
    yield from differing(f"sensitivity of {about}", found_norms, (most * stability, most * most * stability))
    groups = [(area, code) for area in found_ids for code in found_codes]
    found = {groups[at]: row[0] for at, row in _rows(engine.totals(plan))}
    yield from differing(f"totals of {about}", found, judge.totals(triple.groups, label))
    every = np.arange(len(groups))
    ids_of_shapes = {shape["label"]: shape["id"] for shape in judge.families[triple.family]["shapes"]}
    for shape in plan.family.finer:  # one at a time: a group has one shape
        (cells,) = engine.cells(plan, {shape: every}).values()
        expected = judge.cells(triple.groups, label, triple.family, ids_of_shapes[shape.label])
        found_cells = {groups[at]: row for at, row in _rows(cells)}
        wanted = {group: list(of_group.values()) for group, of_group in expected.items()}
        yield from differing(f"{shape.label} of {about}", found_cells, wanted)
    yield from differing(
        f"shapes of {about}", {shape.label for shape in plan.family.finer}, set(list(ids_of_shapes)[1:])
    )


def _rows(counts):
    """Of those with a count other than 0."""
    filled = counts.confidential_counts.any(axis=1)
    return zip(counts.indices[filled].tolist(), counts.confidential_counts[filled].tolist(), strict=True)


def differing(about, found, expected):
    """A sentence for every row that differs, or for the whole if it has no rows."""
    if isinstance(found, Mapping) and isinstance(expected, Mapping):
        for key in sorted(found.keys() | expected.keys(), key=repr):
            if found.get(key) != expected.get(key):
                yield f"{about}: {key} is {found.get(key)}, expected {expected.get(key)}"
    elif found != expected:
        yield f"{about}: {found}, expected {expected}"
