"""A site with an earlier release states the noise of each release from its own budgets, by hand."""

from __future__ import annotations

import shutil
from fractions import Fraction
from pathlib import Path

import safetab
from tests.inside import open_release_folder, write_site
from tests.releases import numbers_of, totals_of
from tests.site_files import SiteFiles
from tests.worlds.world import World


def earlier_noise_is_of_the_earlier_budgets(both_products: Path, folder: Path) -> None:
    """The levels are the same, and each budget is half of the newer one."""
    world = World(shutil.copytree(both_products / "p" / "parameters", folder / "p"), both_products / "p" / "data")
    halves = {key: value / 2 for key, value in world.config().items() if "budget_p_level" in key}
    world.configure(**halves)
    safetab.run(*world, folder / "earlier", test_key="77" * 32)
    write_site(both_products / "people", folder / "site", earlier=folder / "earlier")
    site = SiteFiles(folder / "site")
    facts = site.facts
    designs = [level.design for level in open_release_folder(folder / "earlier").universe.levels]
    assert len(facts["noises"]) == len(facts["earlier"]["noises"]) == len(designs)
    compared = 0
    for newer, earlier, design in zip(facts["noises"], facts["earlier"]["noises"], designs, strict=True):
        assert newer.keys() == earlier.keys()
        for stage, measured in design.stages.items():
            assert Fraction(earlier[stage.name][1]) == 2 * Fraction(newer[stage.name][1])
            assert earlier[stage.name][1] == float(measured.noise.parameter)
            compared += 1
    assert compared > 10
    rows = totals_of(numbers_of(folder / "earlier"))
    shown = site.totals("earlier")
    assert len(shown) > 10
    for key, (table, value) in shown.items():
        assert (value, facts["earlier"]["tables"][table]["margin"]) == (
            rows[key]["unclamped_count"],
            rows[key]["unclamped_margin_of_error"],
        )


def test_earlier_noise_is_of_the_earlier_budgets(both_products, tmp_path):
    earlier_noise_is_of_the_earlier_budgets(both_products, tmp_path)
