"""A page for reviewers: each claim, what was done to refute it, what was seen, and what would have been found."""

from __future__ import annotations

from collections.abc import Iterable

from safetab.audit.audit_report import AuditReport
from safetab.audit.verdicts import Result, Verdict
from safetab.foundation.version import VERSION
from safetab.reports.document import contents_and_sections, document
from safetab.reports.markup import Markup, element
from safetab.reports.page_tables import paragraphs, whole_table

_HEADINGS = ("Check", "Result", "What was seen", "What it would have found")
_WHAT_THIS_IS = (
    "safetab audit ran the installed program on made-up census records and tried to break each of its privacy claims."
)
_WHAT_TO_CHECK = (
    'Is this the version in use? Did any check fail, or end as "not shown"? The audit section of docs/privacy.md lists'
    " what no check can see."
)
_NOT_SHOWN = (
    '"Not shown": the check had too little data to find a fault. "Any difference": the check is exact, and a single'
    " difference fails it. Where a check is statistical, it would have found this with 99 % probability."
)


def review_page(report: AuditReport) -> str:
    """HTML in one file; a table for each part of the audit, below its claim."""
    parts = dict.fromkeys(part for part, _ in report.found)
    sections = [
        (f"part-{number}", part.claim, _table(f"Checks of {part.what}", (v for p, v in report.found if p is part)))
        for number, part in enumerate(parts, start=1)
    ]
    has_failed = report.count(Result.FAILED) > 0
    lines = (
        ("What this is", _WHAT_THIS_IS),
        ("Verdict", report.conclusion),
        ("Counts", report.counts),
        ("Version and date", f"safetab {VERSION}, {report.date.isoformat()}, {report.form} form."),
        ("What to check", _WHAT_TO_CHECK),
    )
    items = [element("li", element("strong", f"{name}: "), text) for name, text in lines]
    header = element(
        "header",
        element("p", report.conclusion, class_="forbidden") if has_failed else "",
        element("p", "Audit", class_="kicker"),
        element("h1", "Does the program keep its privacy claims?"),
        element("ul", *items, class_="lines"),
        paragraphs(_NOT_SHOWN),
    )
    footer = element("footer", paragraphs(f"Made by safetab {VERSION}: safetab audit --page."))
    title = f"Audit of safetab {VERSION}, {report.date.isoformat()}"
    return document(title, element("body", header, contents_and_sections(sections), footer))


def _table(caption: str, verdicts: Iterable[Verdict]) -> Markup:
    head = element("thead", element("tr", *(element("th", text, scope="col") for text in _HEADINGS)))
    body = element("tbody", *(_row(one) for one in verdicts))
    return element("div", whole_table(caption, head, [body]), class_="words")


def _row(one: Verdict) -> Markup:
    result = f"FAILED: {'; '.join(one.faults)}" if one.faults else one.result.value
    return element(
        "tr",
        element("th", one.check, scope="row"),
        element("td", result, class_=f"result-{one.result.name.lower().replace('_', '-')}"),
        element("td", one.seen),
        element("td", one.would_have_found),
    )
