"""`safetab audit`: what it says beforehand, its exit codes, its page, its JSON."""

import datetime
import json
import re

import pytest

from tests.cases import cases_of
from tests.commands import cli, done, refused
from tests.inside import (
    ATTACKS,
    AUDITED_PRODUCTS,
    EXPLAINED,
    PRODUCTS,
    SYNTHETIC_MARKER,
    VERSION,
    AuditPart,
    AuditReport,
    LossSeen,
    Verdict,
    audit_module,
    noise_checks_module,
    parts_of_audit,
    publication_checks_module,
    random_bits_checks_module,
    replay_checks_module,
    review_page,
    spending_checks_module,
    unit_checks_module,
    verdict,
)
from tests.report_pages import ReportPage


class AuditPage(ReportPage):
    """`lines` are those at the top, `rows` the cells of each table, by caption; those of checks have names first."""

    def __init__(self, page):
        self.lines, self.rows = [], {}
        super().__init__(page)

    def handle_starttag(self, tag, attrs):
        super().handle_starttag(tag, attrs)
        if tag == "li" and "header" in self._open:
            self.lines.append("")
        if tag == "tr" and "tbody" in self._open:
            self.rows.setdefault(self._caption, []).append([])
        if tag in {"th", "td"} and "tbody" in self._open:
            self.rows[self._caption][-1].append("")

    def handle_data(self, data):
        super().handle_data(data)
        if "li" in self._open and "header" in self._open:
            self.lines[-1] += data
        if "tbody" in self._open:
            self.rows[self._caption][-1][-1] += data


FEW = verdict("third", [], "4 samples are too few", "nothing below fourfold spending", could_find=False)
NAMES = "part claim check result seen would_have_found"
NO_FAULT = "The audit found no fault"
FAILED = "1 audit check failed. Do not release anything with this installation."


def planted_parts(monkeypatch, *faults, more=()):
    second = verdict("second", faults, "two worlds", "a budget overspent by 4.7%")
    found = [verdict("first", [], "three worlds"), second]
    parts = [AuditPart("Nothing is lost", "worlds", 61, 2, lambda *_: iter(found))]
    if more:
        parts.append(AuditPart("Noise < data & noise", "samples", 1, 1, lambda *_: iter(more)))
    monkeypatch.setattr(audit_module, "parts_of_audit", lambda *_, **__: tuple(parts))


def test_it_says_what_it_will_do_and_how_long_it_takes(monkeypatch):
    planted_parts(monkeypatch)
    said = cli("audit", "--quick").stdout
    assert said.startswith("worlds: about 61 CPU seconds\nIn all, about 2 minutes on one core.\n")
    assert said.endswith(f"{NO_FAULT}.\n")


def test_a_fault_is_shown_and_ends_with_3(monkeypatch, tmp_path):
    planted_parts(monkeypatch, "x differs")
    told = refused("audit", "--page", tmp_path / "page.html", code=3)
    assert "FAILED second: two worlds" in told
    assert FAILED in told
    page = AuditPage((tmp_path / "page.html").read_text())
    assert page.rows["Checks: Nothing is lost"] == [
        ["First. "],
        ["this installation", "passed", "three worldsWould have found: any difference"],
        ["Second. "],
        ["this installation", "FAILED", "x differstwo worldsWould have found: a budget overspent by 4.7%"],
    ]
    assert page.lines[1] == "May it be used? No. Do not release anything with this installation."
    assert page.lines[4].startswith("What should you check? Failed: Nothing is lost. ")


@pytest.mark.parametrize(
    ("words", "advice"), [(["--quick"], " Run the full audit, not the quick one."), ([], "")], ids=["quick", "full"]
)
def test_a_check_that_could_not_find_anything_is_not_counted_as_passed(monkeypatch, words, advice):
    planted_parts(monkeypatch, more=(FEW,))
    said = " ".join(done("audit", *words).split())
    assert "not shown third: 4 samples are too few" in said
    end = f"{NO_FAULT}, but 1 of 3 checks had too little data to find one: its claim is not shown.{advice}"
    assert said.endswith(f"3 checks: 2 passed, 0 failed, 1 not shown. {end}")


VERDICTS = """
worlds | Nothing is lost | first | passed | three worlds | any difference
worlds | Nothing is lost | second | failed | two worlds | a budget overspent by 4.7%
samples | Noise < data & noise | third | not shown | 4 samples are too few | nothing below fourfold spending
"""


def test_json_has_every_verdict_the_counts_and_the_last_sentence(monkeypatch):
    planted_parts(monkeypatch, "x differs", more=(FEW,))
    result = cli("audit", "--json", "--quick")
    told = json.loads(result.stdout)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", told["date"])
    assert FAILED in " ".join(result.stderr.split())
    assert told["failure"] == told["conclusion"] == FAILED
    assert (result.exit_code, told["exit_code"], told["form"], told["version"]) == (3, 3, "quick", VERSION)
    assert told["summary"] == {"checks": 3, "passed": 1, "failed": 1, "not_shown": 1}
    names = NAMES.split()
    assert [[one[name] for name in names] for one in told["verdicts"]] == cases_of(VERDICTS)
    assert [one["faults"] for one in told["verdicts"]] == [[], ["x differs"], []]


def test_json_of_an_audit_that_found_nothing_ends_with_0(monkeypatch):
    planted_parts(monkeypatch)
    result = cli("audit", "--json")
    told = json.loads(result.stdout)
    seen = (result.exit_code, told["exit_code"], told["form"], told["conclusion"])
    assert seen == (0, 0, "full", f"{NO_FAULT}.")


LINES = rf"""What is this\? safetab {VERSION}, .* Quick audit of \d+ [A-Z][a-z]+ \d{{4}}\.
May it be used\? Nothing here rules it out\. {NO_FAULT}, but 1 of 4 checks.*
How strong was the attack\? 2 of 4 checks are exact: a single difference fails them\. See how strong\.
.*No loss was seen\.
What should you check\? Not shown: Noise < data & noise\. .*"""


def test_the_page_is_html_with_the_counts_at_the_top(monkeypatch, tmp_path):
    planted_parts(monkeypatch, more=(FEW, verdict("<fourth>", [], "a & b")))
    done("audit", "--quick", "--page", tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert text.startswith('<!doctype html>\n<html lang="en">')
    page = AuditPage(text)  # every element is closed
    assert page.tags.count(("h1", {})) == 1
    [policy] = [attributes for _, attributes in page.tags if attributes.get("http-equiv") == "Content-Security-Policy"]
    assert policy["content"].startswith("default-src 'none';")
    assert re.fullmatch(LINES, "\n".join(page.lines))
    assert "not every claim was shown. 4 checks: 3 passed, 0 failed, 1 not shown." in page.text
    assert page.rows["Checks: Noise < data & noise"] == [
        ["Third. "],
        ["this installation", "not shown", "4 samples are too fewWould have found: nothing below fourfold spending"],
        ["<fourth>. "],
        ["this installation", "passed", "a & bWould have found: any difference"],
    ]
    titles = (
        "What was attacked; How strong the attack was; What no check can see; Nothing is lost; Noise < data & noise"
    )
    assert [text for tag, text in page.headings if tag == "h2"] == titles.split("; ")


@pytest.mark.parametrize(("share", "end"), [(0.96, "never more than it claims."), (1.2, "more than it claims.")])
def test_the_page_says_how_much_of_the_budget_was_seen(share, end):
    part = AuditPart("Nobody loses more", "worlds", 1, 1, lambda *_: iter(()), "SafeTab-P")
    losses = (LossSeen(0.9, 1.15), LossSeen(share, 1.05))
    found = [(part, Verdict(f"loss: {number}", (), "seen", "power", loss=one)) for number, one in enumerate(losses)]
    page = AuditPage(review_page(AuditReport(tuple(found), False, datetime.date(2026, 1, 2))))
    assert page.lines[3].endswith(f"In 2 attacks, 90.0% to {share:.1%} of the budget was seen to be lost: {end}")
    assert "Overspending by 15.0% or more is found 99 times out of 100." in page.lines[2]
    assert page.rows["Attacks on budgets"][0] == ["SafeTab-P: 0", "90.0% of the budget", "overspending by 15.0%"]


def test_every_claim_and_every_check_has_a_plain_sentence():
    assert {part.claim for part in parts_of_audit()} == set(ATTACKS)
    rooms = (
        noise_checks_module,
        publication_checks_module,
        random_bits_checks_module,
        replay_checks_module,
        spending_checks_module,
        unit_checks_module,
    )
    named = {value for room in rooms for name, value in vars(room).items() if name.isupper() and name[0] != "_"}
    texts = {value for value in named if isinstance(value, str)} - {SYNTHETIC_MARKER}
    assert len(texts) >= 20
    assert texts <= set(EXPLAINED)


def test_a_page_that_is_there_is_refused_before_anything_is_done(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("mine")
    assert "already exists" in refused("audit", "--page", page)
    assert page.read_text() == "mine"


@pytest.mark.parametrize(("is_quick", "most"), [(True, 60), (False, 1_000)])
def test_no_form_is_planned_to_take_longer_than_it_may(is_quick, most):
    assert sum(part.cpu_seconds for part in parts_of_audit(is_quick=is_quick)) <= most


def test_every_product_is_audited():
    *shipped, foreign = (audited.product for audited in AUDITED_PRODUCTS)
    assert set(shipped) == set(PRODUCTS)
    assert foreign.record.unit is not None
    assert foreign.has_several_families
