"""The report of a release in one file.

It has its sections in the order in which people ask, and what the release cost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import chain

from safetab.core.algorithm.level_design import LevelDesign, margin_of
from safetab.core.guarantees.guarantee import neighbours_in_words, protected_sentence
from safetab.core.guarantees.losses import epsilons_by_delta, reference_words
from safetab.core.privacy.calibration import Stage
from safetab.core.privacy.composition import PrivacyLoss
from safetab.core.privacy.output_status import OutputStatus
from safetab.core.privacy.reference import loss_text, reference_losses
from safetab.foundation.templates import template_texts
from safetab.model.census.area_levels import Pass
from safetab.model.privacy_definition import PrivacyDefinition
from safetab.release.files import allowed_files
from safetab.release.files.citation import (
    NOT_NAMED,
    about_lines,
    agency_and_year,
    citation_with_address,
    title_of,
)
from safetab.release.files.documents import Origin
from safetab.release.files.release_folder import ReleaseFolder
from safetab.release.report import content_sections
from safetab.release.report import page_parts as page
from safetab.release.report.concerns import Concern, concern_list, concerns_of
from safetab.release.report.release_summary import LevelSummary, ReleaseSummary, release_summary

_TEXTS: Mapping[str, str] = template_texts("report/texts.toml")
_DELTAS = ("1e-05", "1e-10", "1e-15")
_SHOWN_DELTA = "1e-10"
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def _cost_section(release: ReleaseSummary) -> page.Markup:
    """The privacy loss in words and as a table, and the budget of each level."""
    budgets = [_level_budgets(part) for part in release.by_family()]
    return page.joined([page.paragraphs(*_in_words(release)), _loss_table(release), *budgets])


def _in_words(release: ReleaseSummary) -> list[str]:
    """The meaning of the loss, in sentences."""
    definition, loss, protected = (
        release.universe.definition,
        release.loss,
        release.record.protected,
    )
    added, changed = neighbours_in_words(release.universe.product)
    symbol = definition.unit.letter
    unprotected = [level for level in release.levels if not level.design.is_protected]
    words = [
        "Nobody is protected at levels whose noise is 0 more than half the time:"
        " the loss below is too large to limit anything."
        if unprotected
        else f"Every {protected} in the records is protected."
        f" The release would look almost the same with or without any one {protected}, and the"
        " privacy loss limits how different it can look. The limit holds whatever else anyone"
        " knows, unless they can break the AES-256 cipher."
        " Losses add up over releases about the same people.",
        *(
            []
            if release.universe.specification is None
            else [protected_sentence(release.universe.product)]
        ),
        f"The loss is measured in {definition.full_name}: {symbol} = {loss_text(loss.unbounded)}"
        f" if {added} (unbounded neighbours),"
        f" and {symbol} = {loss_text(loss.bounded)} if {changed} (bounded neighbours).",
    ]
    if not definition.is_pure:
        epsilon, delta = (
            loss_text(epsilons_by_delta(loss.unbounded)[_SHOWN_DELTA]),
            _power_of_ten(_SHOWN_DELTA),
        )
        words.append(_TEXTS["epsilon"].format(epsilon=epsilon, delta=delta, protected=protected))
    else:
        words += reference_words(release.universe.product, definition)
    if len(release.universe.passes) > 1:
        number = " two" if len(release.universe.passes) == 2 else ""
        of_unit = f"so one {protected} loses at most what the costliest costs"
        loses = "and loses what that pass costs" if release.record.unit is None else of_unit
        words.append(f"Each {release.record.noun} is in only one of the{number} passes, {loses}.")
    return words


def _loss_table(release: ReleaseSummary) -> page.Markup:
    """The losses of each pass, of anyone, and under zCDP of the release to compare with."""
    definition, product = release.universe.definition, release.universe.product
    deltas = () if definition.is_pure else _DELTAS
    epsilons = [f"ε at δ = {_power_of_ten(delta)}" for delta in deltas]
    headings = (f"Privacy loss per {release.record.protected}", definition.unit.letter, *epsilons)
    losses = {one_pass.title: release.loss_of(one_pass) for one_pass in release.universe.passes}
    if len(losses) > 1:
        losses["Anyone in this release"] = release.loss
    if deltas:
        losses |= {
            f"For comparison, the {name}": loss for name, loss in reference_losses(product).items()
        }
    rows = [row for who, loss in losses.items() for row in _loss_rows(who, loss, deltas)]
    head = page.element("tr", *(page.element("th", heading, scope="col") for heading in headings))
    return page.whole_table(
        "What the release cost", page.element("thead", head), [page.element("tbody", *rows)]
    )


def _loss_rows(who: str, loss: PrivacyLoss, deltas: Sequence[str]) -> list[page.Markup]:
    """Two rows: the loss if somebody is added or removed, and if their records change."""
    kinds = {"added or removed (unbounded)": loss.unbounded, "changed (bounded)": loss.bounded}
    rows = []
    for kind, amount in kinds.items():
        epsilons = epsilons_by_delta(amount) if deltas else {}
        amounts = [amount, *(epsilons[delta] for delta in deltas)]
        cells = [page.element("td", loss_text(one_loss)) for one_loss in amounts]
        rows.append(page.element("tr", page.element("th", f"{who}: {kind}", scope="row"), *cells))
    return rows


def _power_of_ten(delta: str) -> str:
    """A delta such as 1e-10 as people write it: 10⁻¹⁰."""
    return "10⁻" + str(int(delta.removeprefix("1e-"))).translate(_SUPERSCRIPTS)


def _level_budgets(release: ReleaseSummary) -> page.Markup:
    """The budget of each level of a table family, and its margins of error."""
    noun = release.record.noun
    is_one = len(release.universe.census.passes) == 1
    of_pass, whose = ("of the whole", "share") if is_one else ("of its pass", "share of the pass")

    def margin(design: LevelDesign, stage: Stage, draws: int) -> str:
        is_there = stage in design.stages
        return (
            f"{margin_of(design.noise(stage), draws, release.confidence):,}"
            if is_there
            else page.NOTHING
        )

    def cells(level: LevelSummary) -> Sequence[str]:
        design = level.design
        if not design.budget:
            return ["no budget: not tabulated"]
        whole = release.loss_of(level.facts.geography.tabulation_pass).unbounded
        share = int(10_000 * design.budget / whole)
        finer = design.family.finer if Stage.STAGE_2 in design.stages else ()
        of_tables = [margin(design, Stage.STAGE_2, shape.cells) for shape in finer]
        return [
            loss_text(design.budget),
            page.percent(share, 10_000),
            page.bar([share, 10_000 - share], [whose, "the rest"], "s"),
            f"{design.stability}",
            margin(design, Stage.STAGE_2, 1),
            page.element(
                "td", " / ".join(of_tables) if of_tables else page.NOTHING, class_="tight"
            ),
            margin(design, Stage.TOTAL_ONLY, 1),
        ]

    budget = f"{release.universe.definition.unit.letter}, the budget"
    margins = (
        "± of a lone total or a cell",
        f"± of a total of {release.family.grains}",
        "± of a total-only group",
    )
    headings = (budget, "share", of_pass, f"groups of one {noun}", *margins)
    explanation = _TEXTS["budgets"].format(confidence=release.confidence_text, noun=noun)
    family = f": {release.family.name}" if release.universe.product.has_several_families else ""
    caption = f"Budget and noise by level{family}"
    return page.joined(
        [page.paragraphs(explanation), page.level_table(release, caption, headings, cells)]
    )


REPORT_FILE = allowed_files.REPORT_FILE


def report_page(release: ReleaseFolder) -> str:
    """The report as HTML. Raises InvalidInput if a file of the release is damaged."""
    return _page(release_summary(release))


def _page(release: ReleaseSummary) -> str:
    """The whole page. The same release gives the same bytes."""
    concerns = concerns_of(release)
    sections = (
        (
            "eye",
            "Points to check",
            concern_list(concerns) if concerns else page.paragraphs("Nothing stands out."),
        ),
        ("groups", "What was released", _by_family(release, content_sections.groups_section)),
        (
            "availability",
            "What is available",
            _by_family(release, content_sections.availability_section),
        ),
        ("precision", "How precise it is", _by_family(release, content_sections.precision_section)),
        ("empty", "Published groups that may be empty", content_sections.empty_section(release)),
        ("cost", "What it cost in privacy", _cost_section(release)),
        ("about", "About this release", _about(release)),
        (
            "appendix",
            "Appendix: precision in numbers",
            _by_family(release, content_sections.precision_appendix),
        ),
    )
    footer = page.element(
        "footer",
        page.paragraphs(f"Made by safetab {release.facts.version} from the release alone."),
    )
    body = page.element(
        "body", _header(release, concerns), page.contents_and_sections(sections), footer
    )
    facts = release.facts
    what = (
        "release of"
        if facts.status.is_for_release
        else f"{facts.status.value}, not a release, made on"
    )
    title = title_of(facts.publication, release.universe.census, release.record)
    return page.document(f"{title}: {what} {facts.date.isoformat()}", body)


def _by_family(
    release: ReleaseSummary, section: Callable[[ReleaseSummary], page.Markup]
) -> page.Markup:
    """The section once for each table family, below the family's name if there are several."""
    parts = release.by_family()
    if len(parts) == 1:
        return section(release)
    titled = [(page.element("h3", part.family.name.capitalize()), section(part)) for part in parts]
    return page.joined(chain.from_iterable(titled))


def _header(release: ReleaseSummary, concerns: tuple[Concern, ...]) -> page.Markup:
    """The status, the title, five lines for readers in a hurry, and the key figures."""
    status, origin = release.facts.status, release.facts.origin
    kicker = "Report" if origin is None else "Report on numbers read from files"
    if origin is None and status.is_for_release:
        kicker = "Release report"
    lines = (
        _what_it_is(release),
        _may_it(status),
        _how_precise(release),
        _what_it_cost(release),
        _to_check(concerns),
    )
    return page.element(
        "header",
        page.element("p", status.line, class_="status" if status.is_for_release else "forbidden"),
        page.element("p", kicker, class_="kicker"),
        page.element(
            "h1", title_of(release.facts.publication, release.universe.census, release.record)
        ),
        page.element("p", agency_and_year(release.facts.publication), class_="agency"),
        page.five_lines(*lines),
        page.paragraphs(*_origin_notes(origin)),
        _key_figures(release, concerns),
    )


def _what_it_is(release: ReleaseSummary) -> page.Markup:
    """Words on what is counted, and when the numbers were made, released or read."""
    day, nouns = release.facts.date, release.record.nouns
    groups = f"in {release.universe.census.words.some_groups}, by area"
    what = f"Counts of synthetic {nouns} {groups}. Made on "
    if release.facts.origin is not None:
        what = f"Counts of {nouns} {groups}, read from files, and how noisy they are. Read on "
    elif release.facts.status.is_for_release:
        what = (
            f"Counts of {nouns} {groups},"
            f" with noise that protects every {release.record.protected}. Released "
        )
    return page.joined(
        [
            what,
            page.element("time", f"{day.day} {day:%B} {day.year}", datetime=day.isoformat()),
            ".",
        ]
    )


def _may_it(status: OutputStatus) -> str:
    """Whether the numbers may be released, and why not."""
    if status is OutputStatus.OFFICIAL:
        return f"{status.sentence} safetab can't check that."
    if status.is_for_release:
        return f"Yes. {status.sentence}"
    return f"No: {status.sentence.removeprefix('STOP. ').removeprefix('Not for release: ')}"


def _how_precise(release: ReleaseSummary) -> page.Markup:
    """Words on how many totals are known well, and how many may be zero."""
    near, may_be_zero, totals = content_sections.totals_by_precision(release)
    if not totals:
        return page.joined(["No total was published."])
    within, zero = page.percent(near, totals), page.percent(may_be_zero, totals)
    sentence = (
        f"For {within} of the published totals,"
        f" the range at {release.confidence_text} is within 10% of the number."
    )
    see = page.link("precision", "how precise each level is")
    return page.joined([f"{sentence} {zero} may be zero. See ", see, "."])


def _what_it_cost(release: ReleaseSummary) -> page.Markup:
    """The largest privacy loss of anyone, rounded up, and that of the release to compare with."""
    definition, protected = release.universe.definition, release.record.protected
    words = [
        f"A privacy loss of at most {loss_words(definition, release.loss.unbounded, protected)}"
    ]
    if not definition.is_pure:
        references = reference_losses(release.universe.product).items()
        words += [
            f"; the {name} cost {definition.unit.letter} = {loss_text(one.unbounded)}"
            for name, one in references
        ]
    words.append(
        f". It limits how different the release can look with or without any one {protected}. See "
    )
    if not all(level.design.is_protected for level in release.levels):
        words[-1] = ". At some levels nobody is protected. See "
    return page.joined([*words, page.link("cost", "what it cost in privacy"), "."])


def loss_words(definition: PrivacyDefinition, loss: Fraction, protected: str) -> str:
    """A loss per person in its own unit and, under zCDP, as an epsilon."""
    words = f"{definition.unit.letter} = {loss_text(loss)} per {protected}"
    if definition.is_pure:
        return words
    return f"{words}, or {_as_epsilon(loss)}"


def _as_epsilon(rho: Fraction) -> str:
    epsilon = loss_text(epsilons_by_delta(rho)[_SHOWN_DELTA])
    return f"ε = {epsilon} at δ = {_power_of_ten(_SHOWN_DELTA)}"


def _to_check(concerns: tuple[Concern, ...]) -> page.Markup:
    """The number of points, by their badges."""
    if not concerns:
        return page.joined(["Nothing stands out."])
    badges = Counter(concern.urgency.value for concern in concerns)
    counted = ", ".join(f"{number} marked “{badge}”" for badge, number in badges.items())
    points = "point" if len(concerns) == 1 else "points"
    return page.joined([page.link("eye", f"{len(concerns)} {points}"), f": {counted}."])


def _origin_notes(origin: Origin | None) -> list[str]:
    """Notes on numbers that were not made here but read from published files."""
    if origin is None:
        return []
    return (
        [_TEXTS["from_files"]]
        if origin.is_complete
        else [_TEXTS["from_files"], _TEXTS["from_some_files"]]
    )


def _key_figures(release: ReleaseSummary, concerns: tuple[Concern, ...]) -> page.Markup:
    """Four figures: groups, numbers, privacy loss, points to check."""
    shown = sum(level.shown_groups for level in release.levels)
    possible = sum(level.possible_groups for level in release.levels)
    what = (
        "totals of groups"
        if release.universe.product.has_several_families
        else "groups with a total"
    )
    loss = release.loss.unbounded
    as_epsilon = ""
    if not release.universe.definition.is_pure:
        as_epsilon = f" ({_as_epsilon(loss)})"
    symbol = release.universe.definition.unit.letter
    figures = [
        (f"{shown:,}", f"{what}, {page.percent(shown, possible)} of {possible:,} possible ones"),
        (
            f"{sum(level.rows for level in release.levels):,}",
            "numbers, each with its margin of error",
        ),
        (
            f"{symbol} = {loss_text(loss)}",
            f"privacy loss per {release.record.protected}, at most{as_epsilon}",
        ),
        (f"{len(concerns)}", "points to check"),
    ]
    return page.figure_list(figures)


def _about(release: ReleaseSummary) -> page.Markup:
    """The parts of each pass, copied areas and release rules, and where to read more."""
    options, words = release.facts.options, release.universe.census.words
    meanings = {rule.value: rule.explained(words) for rule in options.rules}
    rules = [
        page.element("li", page.element("code", name), f": {meaning}")
        for name, meaning in meanings.items()
    ]
    census = release.universe.census
    same = f"the same {words.smallest_areas}"
    coterminous = f"Each area has its own numbers, even where two areas have {same}."
    if options.coterminous:
        coterminous = f"Areas with {same} have the same numbers."
    applied = "Applied to the numbers:" if rules else "None were applied."
    if release.facts.origin is not None:
        applied = (
            "The files don't say which rules were applied."
            " Numbers that they withhold are shown as withheld."
        )
    listed = release.universe.passes if release.universe.specification is None else ()
    parts = [_areas_of_pass(release, tabulation_pass) for tabulation_pass in listed]
    parts.append(page.element("p", page.element("strong", "Coterminous areas. "), coterminous))
    parts.append(page.element("p", page.element("strong", "Rules. "), applied))
    parts += [page.element("ul", *rules)] if rules else []
    overlapping = [f"Groups {any_.ends[0]}" for _, any_ in census.only_and_any if any_.ends] or [
        words.overlapping
    ]
    overlap = f"{' and '.join(overlapping)} overlap: one {release.record.noun} can be in several. "
    parts += _publication(release)
    return page.joined(
        [*parts, page.paragraphs(f"{overlap if words.overlapping else ''}{_TEXTS['read_more']}")]
    )


def _publication(release: ReleaseSummary) -> list[page.Markup]:
    """Whose numbers these are, and how to cite them."""
    facts = release.facts
    if facts.publication is None:
        return [page.paragraphs(NOT_NAMED)]
    lines = [page.element("li", line) for line in about_lines(facts.publication)]
    title = title_of(facts.publication, release.universe.census, release.record)
    cited = citation_with_address(facts.publication, title, facts.status, facts.date)
    return [
        page.element("p", page.element("strong", "Whose numbers these are.")),
        page.element("ul", *lines),
        page.element("p", page.element("strong", "How to cite. "), cited),
    ]


def _areas_of_pass(release: ReleaseSummary, tabulation_pass: Pass) -> page.Markup:
    """The names of the parts of one pass, such as states, if it has any."""
    heading, universe = page.element("strong", f"{tabulation_pass.title}. "), release.universe
    levels = [level for level in universe.entities if level.tabulation_pass == tabulation_pass]
    of_parts = next((level for level in levels if level.kind == universe.census.part), None)
    if of_parts is None:
        return page.element("p", heading)
    names = [page.name(area) for area in sorted(universe.entities[of_parts].names)]
    return page.element(
        "p", heading, f"{of_parts.kind.title} level: ", page.joined(names, ", "), "."
    )
