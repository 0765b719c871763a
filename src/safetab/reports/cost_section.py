"""What a release cost in privacy, in words that need no mathematics, and then exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from safetab.planning.losses import epsilons_by_delta, reference_words
from safetab.privacy.composition import PrivacyLoss
from safetab.privacy.definitions import PrivacyDefinition
from safetab.privacy.loss_text import loss_text
from safetab.privacy.reference import loss_of_2020
from safetab.privacy.stages import Stage
from safetab.reports.level_summary import LevelSummary, margin_of
from safetab.reports.markup import Markup, element, joined
from safetab.reports.page_tables import bar, level_table, paragraphs, whole_table
from safetab.reports.release_summary import ReleaseSummary
from safetab.reports.wording import NOTHING, PASS_NAMES, percent

SYMBOLS = {PrivacyDefinition.ZCDP: "\N{GREEK SMALL LETTER RHO}", PrivacyDefinition.PURE_DP: "ε"}
_DELTAS = ("1e-05", "1e-10", "1e-15")
SHOWN_DELTA = "1e-10"
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def cost_section(release: ReleaseSummary) -> Markup:
    budgets = [_level_budgets(one) for one in release.by_family()]
    return joined([paragraphs(*_in_words(release)), _loss_table(release), *budgets])


def _in_words(release: ReleaseSummary) -> list[str]:
    definition = release.universe.definition
    symbol, loss = SYMBOLS[definition], release.loss
    unprotected = [level for level in release.levels if not level.design.is_protected]
    words = [
        "Nobody is protected at levels whose noise is 0 more often than not: the loss below is so large that it bounds"
        " nothing."
        if unprotected
        else f"Who is protected: every single {release.record.noun} in the records. The release would look almost the"
        " same with or without any one record, and the privacy loss bounds how far from the same. The bound holds"
        " whatever else somebody knows, unless they can break the cipher AES-256. It adds up over releases about"
        " the same people.",
        f"The loss is measured in {definition.full_name}: {symbol} = {loss_text(loss.unbounded)} for a"
        f" {release.record.noun} whose record is there or not (unbounded neighbours), {symbol} ="
        f" {loss_text(loss.bounded)} for a {release.record.noun} whose"
        " record could have said something else (bounded neighbours).",
    ]
    if definition is PrivacyDefinition.ZCDP:
        epsilon = epsilons_by_delta(loss.unbounded)[SHOWN_DELTA]
        words.append(
            f"Said another way: ε = {loss_text(epsilon)} at δ = {power(SHOWN_DELTA)}. Whatever somebody believed about"
            f" a {release.record.noun} before seeing the release, the odds change at most by the factor e to the power"
            " ε, but for a chance of about δ. This is the worst case, about somebody who knows all other records;"
            " losses are rounded up, and smaller is safer."
        )
    else:
        words.append(reference_words(release.universe.product, definition))
    if len(release.universe.passes) > 1:
        words.append(f"Each {release.record.noun} is in one of the two passes, and loses what that pass costs.")
    return words


def _loss_table(release: ReleaseSummary) -> Markup:
    definition = release.universe.definition
    symbol = SYMBOLS[definition]
    deltas = _DELTAS if definition is PrivacyDefinition.ZCDP else ()
    head = element(
        "tr",
        element("th", f"Privacy loss of a {release.record.noun}", scope="col"),
        element("th", symbol, scope="col"),
        *(element("th", f"ε at δ = {power(delta)}", scope="col") for delta in deltas),
    )
    people = [(PASS_NAMES[one], release.loss_of(one)) for one in release.universe.passes]
    if len(people) > 1:
        people.append(("Anybody in this release", release.loss))
    if definition is PrivacyDefinition.ZCDP:
        product = release.universe.product
        people.append((f"For comparison, the {product.reference.name}", loss_of_2020(product)))
    rows = [row for who, loss in people for row in _loss_rows(who, loss, deltas)]
    return whole_table("What the release cost", element("thead", head), [element("tbody", *rows)])


def _loss_rows(who: str, loss: PrivacyLoss, deltas: Sequence[str]) -> list[Markup]:
    kinds = {"added or removed (unbounded)": loss.unbounded, "changed (bounded)": loss.bounded}
    return [
        element("tr", element("th", f"{who}: record {kind}", scope="row"), *_loss_cells(amount, deltas))
        for kind, amount in kinds.items()
    ]


def _loss_cells(amount: Fraction, deltas: Sequence[str]) -> list[Markup]:
    epsilons = epsilons_by_delta(amount) if deltas else {}
    return [element("td", loss_text(amount)), *(element("td", loss_text(epsilons[delta])) for delta in deltas)]


def power(delta: str) -> str:
    """1e-10 as people write it."""
    return "10⁻" + str(int(delta.removeprefix("1e-"))).translate(_SUPERSCRIPTS)


def _level_budgets(release: ReleaseSummary) -> Markup:
    symbol = SYMBOLS[release.universe.definition]

    def cells(level: LevelSummary) -> Sequence[str]:
        design = level.design
        if not design.budget:
            return ["no budget: not tabulated"]
        whole = release.loss_of(level.facts.geography.tabulation_pass).unbounded
        share = int(10_000 * design.budget / whole)
        return [
            loss_text(design.budget),
            percent(share, 10_000),
            bar([share, 10_000 - share], ["share of the pass", "the rest"], "s"),
            f"{design.stability}",
            _margin(level, Stage.STAGE_2, 1, release.confidence),
            element("td", _table_margins(level, release.confidence), class_="tight"),
            _margin(level, Stage.TOTAL_ONLY, 1, release.confidence),
        ]

    headings = (
        f"{symbol}, the budget",
        "share",
        "of its pass",
        f"groups a {release.record.noun} can be in",
        "± of a lone total or a cell",
        f"± of a total of {release.family.grains}",
        "± of a total-only group",
    )
    return joined(
        [
            paragraphs(
                f"Where the budget goes, and what it buys: the margins of error (±) at {release.confidence_text}. A"
                " level with more budget has less noise; so has one where a"
                f" {release.record.noun} can be in fewer groups."
            ),
            level_table(release, _caption(release), headings, cells),
        ]
    )


def _caption(release: ReleaseSummary) -> str:
    families = release.universe.product.families
    return "Budget and noise by level" + (f": {release.family.name}" if len(families) > 1 else "")


def _table_margins(level: LevelSummary, confidence: Fraction) -> str:
    if Stage.STAGE_2 not in level.design.stages:
        return NOTHING
    return " / ".join(_margin(level, Stage.STAGE_2, shape.cells, confidence) for shape in level.design.family.finer)


def _margin(level: LevelSummary, stage: Stage, draws: int, confidence: Fraction) -> str:
    margin = margin_of(level.design, stage, draws, confidence)
    return NOTHING if margin is None else f"{margin:,}"
