"""Gains and losses of one configuration beside another: what chance makes is none."""

import numpy as np
import pyarrow as pa

from tests.cases import values_of
from tests.inside import SAFETAB_H, SAFETAB_P, comparison_table

NAMES = "given", "other"
COUNTY = "COUNTY", "Detailed", SAFETAB_P.families[0].name


def row(configuration, size_from=20, **figures):
    """A class of counties, one of 100 groups in one run unless told otherwise."""
    keys = {"configuration": configuration, "pass": "US", "geography_level": "COUNTY", "iteration_level": "Detailed"}
    kinds = {"measured": "adaptive", "iteration_kind": "all", "size_class": f"from {size_from}", "size_from": size_from}
    usual = {"groups": 100, "runs": 1, "numbers": 100, "published_share": 1.0, "coverage_95": 0.95}
    errors = {"mean_absolute_error": 4.0, "root_mean_square_error": 5.0}
    return keys | kinds | {"number": "total", "table": "all"} | usual | errors | figures


def verdicts(rows, product=SAFETAB_P, alike=frozenset()):
    return comparison_table(pa.Table.from_pylist(rows), NAMES, product, alike)["verdict"].to_pylist()


def verdict(given, other, **options):
    [found] = verdicts([row("given", **given), row("other", **other)], **options)
    return found


def errors(absolute, root_mean_square):
    return {"mean_absolute_error": absolute, "root_mean_square_error": root_mean_square}


def test_a_single_number_shows_no_difference():
    """Its spread is 0 whatever the noise is."""
    one = {"groups": 1, "numbers": 1}
    assert verdict(*(one | errors(each, each) for each in (1.0, 3.0))) == "same"
    assert verdict(one | {"published_share": 0.0, "numbers": 0}, one) == "same"


def many_classes(name, seed, sigma, classes=800):
    """Classes of 100 groups, of which half are published on average."""
    random = np.random.default_rng(seed)
    noise = random.normal(0, sigma, (classes, 100))
    published = random.binomial(100, 0.5, classes) / 100
    found = zip(published.tolist(), np.abs(noise).mean(axis=1), np.sqrt((noise**2).mean(axis=1)), strict=True)
    return [
        row(name, size, published_share=share, **errors(float(absolute), float(square)))
        for size, (share, absolute, square) in enumerate(found, start=1)
    ]


def test_many_classes_of_the_same_noise_neither_gain_nor_lose():
    given = many_classes("given", 20, 5.0)
    assert set(verdicts(given + many_classes("other", 21, 5.0))) == {"same"}
    assert set(verdicts(given + many_classes("other", 22, 1.0))) == {"gain"}


def test_a_real_difference_shows_unless_the_level_is_measured_alike():
    far = errors(1.0, 1.2)
    for given, other, expected in values_of(
        """
        {} | {"mean_absolute_error": 1.0, "root_mean_square_error": 1.2} | "gain"
        {"mean_absolute_error": 1.0, "root_mean_square_error": 1.2} | {} | "lose"
        {"published_share": 0.2} | {"published_share": 0.9} | "gain"
        {"published_share": 0.2} | {"mean_absolute_error": 40.0, "root_mean_square_error": 50.0} | "mixed"
        {} | {"mean_absolute_error": 4.5} | "same"
        """
    ):
        assert verdict(given, other) == expected
    assert verdict({}, far, alike={COUNTY}) == "same"
    assert verdict({}, far, alike={("TRACT", *COUNTY[1:])}) == "gain"


def test_where_published_totals_choose_tables_one_group_is_enough():
    """Every run has the same tables: nothing of it is chance."""
    family = SAFETAB_H.families[0]
    of_family = {"table_family": family.name, "groups": 1, "numbers": 1}
    lone = row("given", table=family.total.label, **of_family)
    found = verdicts([row("given", **of_family), lone, row("other", **of_family)], SAFETAB_H)
    assert found == ["gain"]  # the lone total became a table
