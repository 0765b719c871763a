"""Whether what a run spends is in the accounts before it draws, and whether too little noise is refused."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path

from safetab.audit.audited_product import AuditedProduct, FloorWorld
from safetab.audit.recording import before_each_draw
from safetab.audit.verdicts import Verdict, verdict
from safetab.audit.world_config import plain_config
from safetab.foundation.findings import InvalidInput
from safetab.foundation.progress import NoProgress
from safetab.pipeline.options import RunOptions
from safetab.pipeline.run import run_files, validate_files
from safetab.privacy.output_status import SYNTHETIC_MARKER

SPENT, FLOOR = "spent before it is drawn", "no run without protection"
_BESIDE = 0.01  # how far from the floor a budget lies, as a part of it


class _Unheard(NoProgress):
    """What a run would tell of its accounts; they are read from the log here."""

    def tell(self, text: str) -> None:
        pass


def spending_checks(audited: AuditedProduct, folder: Path) -> Iterator[Verdict]:
    yield spent_check(audited, folder / "spent")
    yield floor_check(audited, folder / "floor")


def spent_check(audited: AuditedProduct, folder: Path) -> Verdict:
    """At the first draw the spend log has each pass's whole budget, as often as a person can lose it."""
    world, log = audited.write(folder, audited.population, {}), folder / "spend-log.jsonl"
    plain = plain_config(world.parameters)
    due = {which: audited.times_lost * plain.budget_of_pass(which) for which in ("us", "pr")}
    seen: list[dict[str, Fraction]] = []

    def look() -> None:
        if not seen:
            seen.append(_begun(log, plain.definition))

    with before_each_draw(look):
        run_files(world.parameters, world.data, folder / "out", RunOptions(dataset="audit", spend_log=log), _Unheard())
    faults = [
        f"{which} pass: the spend log held {spent.get(which, 0)} at the first draw; it should hold {amount}"
        for spent in seen or [{}]
        for which, amount in due.items()
        if spent.get(which) != amount
    ]
    return verdict(
        f"{SPENT}: {audited.product.name}", faults, f"{len(due)} passes, {sum(map(len, seen))} lines of accounts"
    )


def _begun(log: Path, definition: str) -> dict[str, Fraction]:
    """What a plain reader finds in the log now, by pass."""
    lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    begun = (line for line in lines if line.get("state") == "begun" and line["definition"] == definition)
    return {line["pass"]: Fraction(line["budget"]) for line in begun}


def floor_check(audited: AuditedProduct, folder: Path) -> Verdict:
    """Real people are refused if the noise of a single stage is 0 with a chance just above 1/2, and not just below."""
    faults, tried = [], 0
    for number, world in enumerate(audited.floor_worlds):
        for definition, chance_of_0 in _FLOORS.items():
            width = _width_at_the_floor(chance_of_0)
            for is_refused, beside in ((True, 1 - _BESIDE), (False, 1 + _BESIDE)):
                tried += 1
                where = folder / f"{number}-{definition}-{is_refused}"
                if _refuses(world, where, definition, width * beside) != is_refused:
                    words = "accepted" if is_refused else "refused"
                    faults.append(f"{world.name}, {definition}: noise {_BESIDE:.0%} beside the floor is {words}")
    return verdict(f"{FLOOR}: {audited.product.name}", faults, f"{tried} configurations beside the floor")


def _refuses(world: FloorWorld, folder: Path, definition: str, width: float) -> bool:
    """Whether the check beforehand refuses it, and then a run too; `width` is that of the narrowest noise.

    That is sigma squared or the scale.
    """
    budget = world.stability / ((2 if definition == "zcdp" else 1) * width * float(world.share))
    written = world.write(folder, round(budget, 9), definition)
    (written.data / SYNTHETIC_MARKER).unlink()
    asked = (
        lambda: validate_files(written.parameters, written.data),
        lambda: run_files(written.parameters, written.data, folder / "out"),
    )
    return all(map(_is_refused_for_its_noise, asked))


def _is_refused_for_its_noise(asked: Callable[[], object]) -> bool:
    try:
        asked()
    except InvalidInput as refused:
        return any("No protection" in str(finding) for finding in refused.findings)
    return False


def _chance_of_0(sigma_squared: float) -> float:
    """Chance that discrete Gaussian noise is 0, in floating point; 40 terms suffice near the floor."""
    return 1 / (1 + 2 * sum(math.exp(-(value**2) / (2 * sigma_squared)) for value in range(1, 40)))


def _chance_of_0_geometric(scale: float) -> float:
    return math.tanh(1 / (2 * scale))


_FLOORS = {"zcdp": _chance_of_0, "puredp": _chance_of_0_geometric}


def _width_at_the_floor(chance_of_0: Callable[[float], float]) -> float:
    low, high = 0.1, 10.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if chance_of_0(middle) > 0.5 else (low, middle)
    return high
