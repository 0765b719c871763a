"""How long the explorer's page takes to answer a change: CPU of its main thread, for every control.

Wall times lie on a shared machine, so Chromium counts the thread's ticks in scripts, styles and layout until every
section is drawn, those out of sight too; the answer in sight comes first. Last stands the slowest single answer by the
clock.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import CDPSession, Page, sync_playwright

from safetab.explorer.explore import ExplorerRequest, write_explorer

CHANGES = {
    "Budget of County, Detailed": ("0.2", "0.3", "0.0171", "1.5", "0.159"),
    "Target margin of error of County, Detailed, persons; sets the budget": ("5", "40", "7", "300", "11"),
    "Threshold for sex by 4 ages, County, Detailed, persons": ("500", "900", "50", "600", "971"),
    "Share of each budget for stage 1, gamma": ("0.2", "0.3", "0.05", "0.5", "0.1"),
    "Chance that an empty group is suppressed": ("0.99", "0.999999", "0.5", "0.9", "0.9999"),
    "Most race codes counted for a person": ("3", "1", "5", "2", "8"),
}
LIMIT_MILLISECONDS = 50


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "explorer.html"
        write_explorer(ExplorerRequest(file))
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto(file.as_uri())
        ticks = page.context.new_cdp_session(page)
        ticks.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.wait_for_timeout(1000)
        for label, values in CHANGES.items():
            costs = [_cost(ticks, _typing(page, label, value), page) for value in values]
            print(f"{label:70} {min(costs):6.1f} to {max(costs):6.1f} ms CPU, everything drawn")
        slowest = page.evaluate("window.explorer.slowestAnswer()")
        print(f"{'slowest single answer, by the clock':70} {slowest:6.1f} ms (wanted: at most {LIMIT_MILLISECONDS})")
        browser.close()


def _typing(page: Page, label: str, value: str) -> Callable[[], object]:
    field = page.get_by_label(label, exact=True).first
    return lambda: field.fill(value)


def _cost(ticks: CDPSession, act: Callable[[], object], page: Page) -> float:
    """Milliseconds of the main thread until all sections, in sight or not, are drawn."""
    before = _busy_seconds(ticks)
    act()
    page.wait_for_timeout(400)
    return 1000 * (_busy_seconds(ticks) - before)


def _busy_seconds(ticks: CDPSession) -> float:
    metrics = {metric["name"]: metric["value"] for metric in ticks.send("Performance.getMetrics")["metrics"]}
    return sum(metrics[name] for name in ("ScriptDuration", "LayoutDuration", "RecalcStyleDuration"))


if __name__ == "__main__":
    main()
