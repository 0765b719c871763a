"""The page of an audit, for reviewers.

It has the verdict, how strong the attack was, and every check.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from safetab.apps.audit.verdicts import AuditPart, AuditReport, CheckResult, Verdict
from safetab.foundation.findings import VERSION
from safetab.foundation.templates import template_texts
from safetab.model.census.census import capitalized
from safetab.release.report.page_parts import (
    NOTHING,
    Markup,
    contents_and_sections,
    document,
    element,
    figure_list,
    five_lines,
    joined,
    link,
    paragraphs,
    plain_table,
    verdict_line,
    whole_table,
)

_Found = Sequence[tuple[AuditPart, Verdict]]
_THIS_INSTALLATION = "this installation"
_TEXTS = template_texts("audit/texts.toml")
ATTACKS, EXPLAINED = _TEXTS["attacks"], _TEXTS["explained"]


def review_page(report: AuditReport) -> str:
    """The whole page as HTML in one file: a section for each claim, with a row for each check."""
    claims = list(dict.fromkeys(part.claim for part, _ in report.found))
    keys = {claim: f"claim-{number}" for number, claim in enumerate(claims, start=1)}
    by_claim = {claim: [one for one in report.found if one[0].claim == claim] for claim in claims}
    sections = [
        ("attacked", "What was attacked", _attacked(by_claim, keys)),
        ("strength", "How strong the attack was", _strength(report)),
        ("not-shown", "What no check can see", _not_shown(report, keys)),
        *((keys[claim], claim, _claim(claim, found)) for claim, found in by_claim.items()),
    ]
    footer = element("footer", paragraphs(f"Made by safetab {VERSION}: safetab audit --page."))
    body = element("body", _header(report, keys), contents_and_sections(sections), footer)
    return document(f"Audit of safetab {VERSION}, {report.date.isoformat()}", body)


def _header(report: AuditReport, keys: Mapping[str, str]) -> Markup:
    """The verdict, five lines, and the counts."""
    has_failed = report.count(CheckResult.FAILED) > 0
    day = report.date
    what = (
        f"safetab {VERSION}, as installed, ran on made-up census records,"
        " and each of its privacy claims was attacked."
        f" {report.form.capitalize()} audit of {day.day} {day:%B} {day.year}."
    )
    figures = [(f"{report.count(result)}", f"checks {result.value}") for result in _ORDER]
    lost = [verdict.loss.share for _, verdict in report.found if verdict.loss is not None]
    figures.append(
        (
            f"{max(lost):.1%}" if lost else NOTHING,
            "of a budget seen at most; more than 100% is a fault",
        )
    )
    return element(
        "header",
        element("p", report.conclusion, class_="forbidden") if has_failed else "",
        element("p", "Audit", class_="kicker"),
        element("h1", "Does the program keep its privacy claims?"),
        verdict_line(_verdict(report), report.counts, is_bad=has_failed),
        five_lines(
            what,
            _may_it(report),
            _how_strong(report),
            _loss(report),
            _to_check(report, keys),
            leads=_TEXTS["leads"],
        ),
        figure_list(figures),
    )


_ORDER = (CheckResult.PASSED, CheckResult.NOT_SHOWN, CheckResult.FAILED)


def _verdict(report: AuditReport) -> str:
    if report.count(CheckResult.FAILED):
        return "No: the audit found a fault."
    if report.count(CheckResult.NOT_SHOWN):
        return "No fault was found, but not every claim was shown."
    return "Yes, as far as the audit can see."


def _may_it(report: AuditReport) -> str:
    """The meaning of the verdict for releases."""
    if report.count(CheckResult.FAILED):
        return "No. Do not release anything with this installation."
    if report.count(CheckResult.NOT_SHOWN):
        return f"Nothing here rules it out. {report.conclusion}"
    return (
        "Yes: no check found a fault."
        " This page may be shown to anyone, since all records in it are made up."
    )


def _how_strong(report: AuditReport) -> Markup:
    """The number of exact checks, and the power of the others to find overspending."""
    exact = sum(not verdict.power and verdict.could_find for _, verdict in report.found)
    words = f"{exact} of {len(report.found)} checks are exact: a single difference fails them. "
    overspent = [
        verdict.loss.overspending - 1 for _, verdict in report.found if verdict.loss is not None
    ]
    if overspent:
        words += f"Overspending by {max(overspent):.1%} or more is found 99 times out of 100. "
    return joined([words, "See ", link("strength", "how strong"), "."])


def _loss(report: AuditReport) -> str:
    """The share of each budget that was seen to be lost."""
    lost = [verdict.loss.share for _, verdict in report.found if verdict.loss is not None]
    claim = "The program claims that nobody loses more than the budget."
    if not lost:
        return f"{claim} No loss was seen."
    seen = f"{min(lost):.1%}" if len(lost) == 1 else f"{min(lost):.1%} to {max(lost):.1%}"
    attacks = "1 attack" if len(lost) == 1 else f"{len(lost)} attacks"
    end = "more than it claims." if max(lost) > 1 else "never more than it claims."
    return f"{claim} In {attacks}, {seen} of the budget was seen to be lost: {end}"


def _to_check(report: AuditReport, keys: Mapping[str, str]) -> Markup:
    """Whatever failed or is not shown, with links, and what a reviewer must look up elsewhere."""
    parts: list[str] = []
    for result, words in ((CheckResult.FAILED, "Failed: "), (CheckResult.NOT_SHOWN, "Not shown: ")):
        claims = dict.fromkeys(
            part.claim for part, verdict in report.found if verdict.result is result
        )
        if claims:
            parts += [words, joined([link(keys[claim], claim) for claim in claims], "; "), ". "]
    parts += [
        f"Is safetab {VERSION} the version in use? Read ",
        link("not-shown", "what no check can see"),
        ".",
    ]
    return joined(parts)


def _attacked(by_claim: Mapping[str, _Found], keys: Mapping[str, str]) -> Markup:
    """Each claim, how it was attacked, and with what result."""
    rows = []
    for claim, found in by_claim.items():
        results = [verdict.result for _, verdict in found]
        counted = ", ".join(f"{results.count(one)} {one.value}" for one in _ORDER if one in results)
        worst = next(
            one
            for one in (CheckResult.FAILED, CheckResult.NOT_SHOWN, CheckResult.PASSED)
            if one in results
        )
        cells = (ATTACKS.get(claim, ""), element("td", counted, class_=_class(worst)))
        rows.append((link(keys[claim], claim), cells))
    products = list(
        dict.fromkeys(
            part.product for found in by_claim.values() for part, _ in found if part.product
        )
    )
    text = "Every record is made up. " + (
        f"These products were run: {', '.join(products)}." if products else ""
    )
    table = plain_table("Claims and attacks", ("Claim", "Attack", "Checks"), rows)
    return joined([paragraphs(text), element("div", table, class_="words claims")])


def _strength(report: AuditReport) -> Markup:
    """The power of exact and statistical checks, and of each attack on a budget."""
    text = paragraphs(_TEXTS["strength"])
    rows = []
    for part, verdict in report.found:
        if verdict.loss is not None:
            found = f"overspending by {verdict.loss.overspending - 1:.1%}"
            rows.append((_case(part, verdict), (f"{verdict.loss.share:.1%} of the budget", found)))
    if not rows:
        return text
    headings = ("Attack on a budget", "Loss seen, at least", "Would have found")
    more = paragraphs("In each attack below, the second column holds with a confidence of 99.99%.")
    return joined(
        [
            text,
            more,
            element("div", plain_table("Attacks on budgets", headings, rows), class_="words"),
        ]
    )


def _not_shown(report: AuditReport, keys: Mapping[str, str]) -> Markup:
    """Checks with too little data, and what no check can see."""
    missing = [
        (part, verdict) for part, verdict in report.found if verdict.result is CheckResult.NOT_SHOWN
    ]
    items = []
    for part, verdict in missing:
        check, _ = _check_and_case(verdict.check)
        about = joined([link(keys[part.claim], check), f", {_case(part, verdict)}: {verdict.seen}"])
        items.append(element("li", about))
    advice = " Run the full audit, without --quick." if report.is_quick else ""
    listed = paragraphs("Every check had enough data to find a fault.")
    if items:
        listed = joined(
            [
                paragraphs(f"These checks had too little data to find a fault.{advice}"),
                element("ul", *items),
            ]
        )
    unseen = element("ul", *(element("li", text) for text in _TEXTS["unseen"]))
    return joined([listed, paragraphs("No check can see:"), unseen])


def _check_and_case(name: str) -> tuple[str, str]:
    """The name of a check, and the case that it tries, which may be empty."""
    check, _, case = name.partition(": ")
    return check, case


def _claim(claim: str, found: _Found) -> Markup:
    """The checks of a claim: rows of cases, below the name of their check.

    A sentence about the check stands beside its name.
    """
    checks = list(dict.fromkeys(_check_and_case(verdict.check)[0] for _, verdict in found))
    bodies = []
    for check in checks:
        named = element("strong", f"{check if '.' in check else capitalized(check)}. ")
        title = element("th", named, EXPLAINED.get(check, ""), scope="rowgroup", colspan="3")
        rows = [
            _row(part, verdict)
            for part, verdict in found
            if _check_and_case(verdict.check)[0] == check
        ]
        bodies.append(element("tbody", element("tr", title, class_="check"), *rows))
    titles = ("Tried on", "Result", "What was seen, and what would have been found")
    head = element("thead", element("tr", *(element("th", text, scope="col") for text in titles)))
    table = whole_table(f"Checks: {claim}", head, bodies)
    return joined(
        [
            paragraphs(*filter(None, [ATTACKS.get(claim, "")])),
            element("div", table, class_="words checks"),
        ]
    )


def _row(part: AuditPart, verdict: Verdict) -> Markup:
    word = "FAILED" if verdict.result is CheckResult.FAILED else verdict.result.value
    return element(
        "tr",
        element("th", _case(part, verdict), scope="row"),
        element("td", word, class_=_class(verdict.result)),
        element("td", *_seen(verdict)),
    )


def _seen(verdict: Verdict) -> Iterator[Markup]:
    """The faults, what was seen, and the smallest fault that would have been found."""
    for fault in verdict.faults:
        yield element("p", fault, class_=_class(CheckResult.FAILED))
    yield element("p", verdict.seen)
    yield element("p", f"Would have found: {verdict.would_have_found}", class_="iterations")


def _case(part: AuditPart, verdict: Verdict) -> str:
    """The case that a check was tried on: the product and the case's name."""
    _, case = _check_and_case(verdict.check)
    return ": ".join(dict.fromkeys(filter(None, [part.product, case]))) or _THIS_INSTALLATION


def _class(result: CheckResult) -> str:
    return f"result-{result.name.lower().replace('_', '-')}"
