"""`safetab audit`: what it says beforehand, its exit codes, its page."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from safetab.audit import audit
from safetab.audit.audit import AUDITED_PRODUCTS, Part, parts_of_audit
from safetab.audit.verdicts import verdict
from safetab.cli.main import app
from safetab.products.all_products import PRODUCTS


def planted_parts(monkeypatch: pytest.MonkeyPatch, *faults: str) -> None:
    found = [
        verdict("first", [], "three worlds"),
        verdict("second", faults, "two worlds", "a budget overspent by 4.7%"),
    ]
    part = Part("Nothing is lost", "worlds", 61, 2, lambda *_: iter(found))
    monkeypatch.setattr(audit, "parts_of_audit", lambda *_, **__: (part,))


def test_it_says_what_it_will_do_and_how_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    planted_parts(monkeypatch)
    result = CliRunner().invoke(app, ["audit", "--quick"])
    assert result.exit_code == 0
    assert result.stdout.startswith("worlds: about 61 CPU seconds\nTogether about 2 minutes of one core.\n")
    assert result.stdout.endswith("The audit found nothing.\n")


def test_a_fault_is_shown_and_ends_with_3(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    planted_parts(monkeypatch, "x differs")
    result = CliRunner().invoke(app, ["audit", "--page", str(tmp_path / "page.md")])
    assert result.exit_code == 3
    assert "FAILED  second: two worlds" in result.output
    page = (tmp_path / "page.md").read_text()
    assert "Full form: 2 checks, 1 failed." in page
    assert "## Nothing is lost" in page
    assert "| first | three worlds | any difference | passed |" in page
    assert "| second | two worlds | a budget overspent by 4.7% | FAILED: x differs |" in page


def test_a_page_that_is_there_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("mine")
    result = CliRunner().invoke(app, ["audit", "--page", str(tmp_path / "page.md")])
    assert result.exit_code == 1
    assert "is there already" in result.output
    assert (tmp_path / "page.md").read_text() == "mine"


@pytest.mark.parametrize(("is_quick", "most"), [(True, 60), (False, 900)])
def test_no_form_is_planned_to_take_longer_than_it_may(is_quick: bool, most: int) -> None:
    assert sum(part.cpu_seconds for part in parts_of_audit(is_quick=is_quick)) <= most


def test_every_product_is_audited() -> None:
    assert {audited.product for audited in AUDITED_PRODUCTS} == set(PRODUCTS)
