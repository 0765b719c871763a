"""A site with an earlier release states the noise of each release from its own budgets, by hand."""

from fractions import Fraction

from tests.inside import open_release_folder, write_site
from tests.releases import numbers_of, totals_of
from tests.site_files import SiteFiles
from tests.worlds.world import World


def earlier_noise_is_of_the_earlier_budgets(both_products, folder):
    """The levels are the same, and each budget is half of the newer one."""
    world = World.of(both_products / "p").copy(folder / "p")
    world.configure(**{key: value / 2 for key, value in world.config().items() if "budget_p_level" in key})
    world.run(folder / "earlier", test_key="77" * 32)
    write_site(both_products / "people", folder / "site", earlier=folder / "earlier")
    site = SiteFiles(folder / "site")
    facts, designs = site.facts, [level.design for level in open_release_folder(folder / "earlier").universe.levels]
    compared = 0
    for newer, earlier, design in zip(facts["noises"], facts["earlier"]["noises"], designs, strict=True):
        assert newer.keys() == earlier.keys()
        for stage, measured in design.stages.items():
            parameter = earlier[stage.name][1]
            assert Fraction(parameter) == 2 * Fraction(newer[stage.name][1])
            assert parameter == float(measured.noise.parameter)
            compared += 1
    assert compared > 10
    rows = totals_of(numbers_of(folder / "earlier"))
    shown = site.totals("earlier")
    assert len(shown) > 10
    for key, (table, value) in shown.items():
        margin = facts["earlier"]["tables"][table]["margin"]
        assert (value, margin) == (rows[key]["unclamped_count"], rows[key]["unclamped_margin_of_error"])


def test_earlier_noise_is_of_the_earlier_budgets(both_products, tmp_path):
    earlier_noise_is_of_the_earlier_budgets(both_products, tmp_path)
