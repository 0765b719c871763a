"""Whether a run records what it spends before it draws.

It is also checked that too little noise is refused.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from itertools import product as crossed
from pathlib import Path
from typing import NoReturn

from safetab.apps.audit.audited_product import AuditedProduct, AuditWorld, FloorWorld
from safetab.apps.audit.verdicts import Verdict, verdict
from safetab.apps.audit.worlds.configuration import plain_config
from safetab.core.privacy.output_status import SYNTHETIC_MARKER
from safetab.foundation.failures import RunFailed
from safetab.foundation.findings import InvalidInput
from safetab.foundation.progress import NoProgress
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.model.specification.values import Unit
from safetab.runs.inputs import validate_files
from safetab.runs.options import RunOptions
from safetab.runs.run import run_files
from safetab.runs.spend_log.merged_logs import merge_logs
from safetab.runs.spend_log.people_accounts import set_limit

SPENT = "spent before it is drawn"
SUMS = "sums over runs and logs"
FLOOR = "no run without protection"
_DATASET = "audit"
_LEAST = Fraction(1, 10**9)  # of a budget
_TIMES_FOR_LARGER = {PrivacyDefinition.ZCDP: 4, PrivacyDefinition.PURE_DP: 2}
"""The number of times that a larger unit loses what a run spends.

Such a unit has twice as many records as the run protects.
"""
_DISTANCE = 0.01  # from the floor, relative to the width of the noise there
_STEPS = 1 << 30  # in which a width of 1 is divided


class _Silent(NoProgress):
    """Drops what a run says about its accounts; the check reads them from the log."""

    def tell(self, text: str) -> None:
        pass


def spending_checks(audited: AuditedProduct, folder: Path) -> Iterator[Verdict]:
    """Check the spend log, sums over runs, and the floor below which real data are refused."""
    yield _spent_check(audited, folder / "spent")
    if audited.product.record.unit is not None:
        yield _sums_check(audited, audited.product.record.unit, folder / "sums")
    yield _floor_check(audited, folder / "floor")


def _spent_check(audited: AuditedProduct, folder: Path) -> Verdict:
    """At the first draw the spend log has each pass's whole budget.

    It is there as often as it can be lost.
    """
    world = audited.write(folder, audited.population, {})
    log = folder / "spend-log.jsonl"
    plain = plain_config(world.parameters)
    due = {which: audited.times_lost * plain.budget_of_pass(which) for which in plain.passes}
    spent: dict[str, Fraction] = {}

    def look() -> None:
        spent.update(_begun(log, plain.definition))

    _comes_to_draw(world, folder / "out", log, look)
    faults = [
        f"{which} pass: the spend log held {spent.get(which, 0)} at the first draw;"
        f" it should hold {amount}"
        for which, amount in due.items()
        if spent.get(which) != amount
    ]
    seen = f"{len(due)} passes, {len(spent)} lines of accounts"
    return verdict(f"{SPENT}: {audited.product.name}", faults, seen)


def _comes_to_draw(
    world: AuditWorld, out: Path, log: Path, look: Callable[[], None] = lambda: None
) -> bool:
    """Whether a run with these accounts comes to its first draw.

    There it looks and is stopped.
    """
    has_come = False

    def stop(*_: object) -> NoReturn:
        nonlocal has_come
        has_come = True
        look()
        raise RunFailed("seen enough")

    options = RunOptions(dataset=_DATASET, spend_log=log)
    with suppress(RunFailed, InvalidInput):
        run_files(world.parameters, world.data, out, options, _Silent(), stop)
    return has_come


def _sums_check(audited: AuditedProduct, unit: Unit, folder: Path) -> Verdict:
    """A third run must fit into a limit that leaves enough, and not into the next lower one.

    The limit leaves just enough. The first two runs are in two logs, which are merged. Only the
    second log has the limit, and a run that protects units of twice the size. The other runs are
    charged for these too.
    """
    faults = []
    cases = crossed(_TIMES_FOR_LARGER.items(), (Fraction(0), _LEAST))
    for (definition, times), lacking in cases:
        which = f"{definition.spelling}, {float(lacking)} too little"
        changes = {"definition": definition.spelling}
        world, of_larger = (
            audited.write(folder / which / name, audited.population, changes) for name in ("1", "2")
        )
        census = of_larger.parameters / "census.toml"
        most = "most_records = {}".format
        census.write_text(
            census.read_text().replace(most(unit.most_records), most(2 * unit.most_records))
        )
        first, second, merged = (
            folder / which / name for name in ("first.log", "second.log", "merged.log")
        )
        _comes_to_draw(world, folder / which / "out", first)
        _comes_to_draw(of_larger, folder / which / "out", second)
        plain = plain_config(world.parameters)
        due = (times + 1 + times) * max(plain.budget_of_pass(each) for each in plain.passes)
        set_limit(second, _DATASET, f"{float(due - lacking):.9f}", definition)
        merge_logs([first, second], merged)
        if _comes_to_draw(world, folder / which / "out", merged) == bool(lacking):
            faults.append(f"{which}: the third run is {'accepted' if lacking else 'refused'}")
    seen = "two merged logs, units of two sizes, and limits just at the sum and just below"
    return verdict(f"{SUMS}: {audited.product.name}", faults, seen)


def _begun(log: Path, definition: str) -> dict[str, Fraction]:
    """The budgets of the begun runs in the log now, by pass.

    They are read without the program's reader.
    """
    lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return {
        line["pass"]: Fraction(line["budget"])
        for line in lines
        if line.get("state") == "begun" and line["definition"] == definition
    }


def _floor_check(audited: AuditedProduct, folder: Path) -> Verdict:
    """Real data are refused if noise of any stage is 0 with a chance above 1/2, and only then."""
    faults = []
    tried = 0
    for number, world in enumerate(audited.floor_worlds):
        for definition, chance_of_0 in _CHANCES_OF_0.items():
            floor = _width_at_the_floor(chance_of_0)
            for must_refuse, factor in ((True, 1 - _DISTANCE), (False, 1 + _DISTANCE)):
                tried += 1
                subfolder = folder / f"{number}-{definition}-{must_refuse}"
                if _refuses(world, subfolder, definition, floor * factor) != must_refuse:
                    side = (
                        "below the floor is accepted"
                        if must_refuse
                        else "above the floor is refused"
                    )
                    faults.append(f"{world.name}, {definition}: noise {_DISTANCE:.0%} {side}")
    seen = f"{tried} configurations beside the floor"
    return verdict(f"{FLOOR}: {audited.product.name}", faults, seen)


def _refuses(world: FloorWorld, folder: Path, definition: str, width: float) -> bool:
    """Whether both `validate` and a run refuse the world.

    `width` is that of its narrowest noise: sigma squared, or the scale of geometric noise.
    """
    divisor = (2 if definition == "zcdp" else 1) * width * float(world.share)
    most = world.most_records
    budget = world.stability * (most * most if definition == "zcdp" else most) / divisor
    written = world.write(folder, round(budget, 9), definition)
    (written.data / SYNTHETIC_MARKER).unlink()
    for command, out in ((validate_files, ()), (run_files, (folder / "out",))):
        try:
            command(written.parameters, written.data, *out)
        except InvalidInput as refused:
            if not any("No protection" in str(finding) for finding in refused.findings):
                return False
        else:
            return False
    return True


def _chance_of_0_gaussian(sigma_squared: float) -> float:
    """Chance that discrete Gaussian noise is 0; 40 terms suffice near the floor."""
    terms = [math.exp(-(value**2) / (2 * sigma_squared)) for value in range(1, 40)]
    return 1 / (1 + 2 * sum(terms))


_CHANCES_OF_0 = {"zcdp": _chance_of_0_gaussian, "puredp": lambda scale: math.tanh(1 / (2 * scale))}


def _width_at_the_floor(chance_of_0: Callable[[float], float]) -> float:
    """The width at which noise is 0 with a chance of 1/2, by bisection."""
    return (
        bisect_left(
            range(10 * _STEPS), True, lo=1, key=lambda step: chance_of_0(step / _STEPS) <= 0.5
        )
        / _STEPS
    )
