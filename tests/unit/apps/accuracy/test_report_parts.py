"""The parts of a report: escaping, wording, pairs across batches."""

import re

import numpy as np
import pyarrow as pa
import pytest

from tests.cases import cases_of, values_of
from tests.conftest import SMALL_EXAMPLE
from tests.inside import (
    CLASS_NAMES,
    DETAILED,
    NOTHING,
    US,
    MarginShares,
    Markup,
    NumberBatch,
    PairAbove,
    PairTally,
    bar,
    element,
    five_lines,
    joined,
    link,
    margins_line,
    name,
    partner_codes,
    percent,
    plan_of,
    precision_classes,
    read_public_files,
    rounded_up,
    universe_of_run,
    verdict_module,
    void,
)


def test_text_is_escaped_once_and_markup_never_again():
    assert element("p", 'a < b & "c"') == "<p>a &lt; b &amp; &quot;c&quot;</p>"
    assert element("p", element("b", "<"), ">") == "<p><b>&lt;</b>&gt;</p>"
    assert joined(["<", element("i", "x")], ", ") == "&lt;, <i>x</i>"
    assert name("<b>") == "<bdi>&lt;b&gt;</bdi>"


def test_attributes_are_escaped_and_named_as_html_names_them():
    assert element("td", class_="x", data_level='"><script>') == (
        '<td class="x" data-level="&quot;&gt;&lt;script&gt;"></td>'
    )
    assert void("meta", charset="utf-8") == '<meta charset="utf-8">'


def test_what_is_made_from_markup_by_other_means_is_text_again():
    assert not isinstance(Markup("<b>") + "x", Markup)
    assert element("p", Markup("<b>") + "<i>") == "<p>&lt;b&gt;&lt;i&gt;</p>"
    assert element("p", f"{Markup('<b>')}") == "<p>&lt;b&gt;</p>"


def test_five_lines_have_five_answers():
    made = five_lines("a < b", "no", "yes", "1", link("eye", "2"))
    assert made.startswith('<ul class="lines"><li><strong>What is this? </strong><span>a &lt; b</span></li>')
    assert made.endswith('<span><a href="#eye">2</a></span></li></ul>')
    with pytest.raises(ValueError, match="shorter"):
        five_lines("only one")


def share(column, count, value, number=10_000):
    return {column: value, count: number}


def test_the_verdict_on_margins_has_the_shares_that_were_seen():
    intervals = [share("interval_coverage_95", "numbers", value) for value in (0.949, 0.953)]
    draws = [share("all_draws_coverage_95", "draws", 0.96)]
    told = re.sub("<[^>]*>", "", margins_line(MarginShares(intervals, draws, ())))
    assert told.startswith(
        "Margins hold: yes. 95.1% of published totals have the truth in their 95% interval, and 96.0%"
    )
    assert "94.9% to 95.3%, nowhere below 95% by more than chance explains." in told
    assert "Margins hold: no. " in margins_line(MarginShares(intervals, draws, ("County, Detailed (90.0%)",)))
    assert "Margins hold: not shown. " in margins_line(MarginShares([], [], ()))


@pytest.mark.parametrize(
    ("number", "is_short"),
    values_of("""
        400 | False
        40_000 | True
    """),
)
def test_a_share_is_short_if_chance_does_not_explain_it(number, is_short):
    row = share("interval_coverage_95", "numbers", 0.93, number)
    assert bool(verdict_module._if_short("County", row, "interval_coverage_95", "numbers")) == is_short


def test_a_share_is_never_shown_as_none_or_all_when_it_is_not():
    assert percent(0, 0) == NOTHING
    for part, whole, shown in cases_of("""
        0 | 9 | 0%
        9 | 9 | 100%
        1 | 1_000_000 | <0.1%
        999_999 | 1_000_000 | >99.9%
        1 | 4 | 25%
        1 | 30 | 3.3%
        1 | 20 | 5%
        29 | 30 | 96.7%
        1 | 3 | 33%
    """):
        assert percent(int(part), int(whole)) == shown


@pytest.mark.parametrize(
    "bound_and_shown",
    ["0 0", "1234.2 1,235", "100 100", "26 26", "26.04 26.1", "1.501 1.51", "0.05012 0.0502", "1e-9 0.0001"],
)
def test_a_bound_is_rounded_up(bound_and_shown):
    bound, shown = bound_and_shown.split()
    assert rounded_up(float(bound)) == shown


def test_a_bar_is_told_in_words():
    drawn = bar([3, 0, 1000], ["few", "none", "many"], "t")
    assert 'aria-label="few 3, many 1,000"' in drawn
    assert drawn.count("<rect") == 2
    assert "<svg" not in bar([0, 0], ["a", "b"], "t")


@pytest.mark.parametrize(
    "case",
    cases_of("""
        200 | 10 | | | within 5%
        200 | 11 | | | within 10%
        30 | 11 | | | within 50%
        30 | 11 | 0 | 41 | may be zero
        30 | 11 | 1 | 41 | wider, but above zero
        40 | 11 | 28 | 51 | within 50%
        40 | 11 | 31 | 51 | within 50%
        10 | 9 | | | wider, but above zero
        10 | 10 | | | may be zero
        -3 | 2 | | | may be zero
    """),
)
def test_how_near_the_truth_is_goes_by_the_interval_where_a_number_has_one(county, case):
    """Where it passed suppression, the margin alone would say within 50 %; of an interval the farther end counts."""
    *numbers, shown = case
    values = [pa.array([int(text) if text else None], pa.int64()) for text in numbers]
    rows = pa.table(values, ["unclamped_count", "unclamped_margin_of_error", "interval_low", "interval_high"])
    assert [CLASS_NAMES[one] for one in precision_classes(NumberBatch(rows, *county))] == [shown]


@pytest.fixture(scope="module")
def county():
    files = read_public_files(SMALL_EXAMPLE / "parameters", SMALL_EXAMPLE / "data").require()
    universe = universe_of_run(plan_of(files).require(), files.geography_of_pass, files.names)
    return universe, universe.level_of(US.area_level("COUNTY"), DETAILED)


@pytest.mark.parametrize("cut", range(5))
def test_pairs_are_found_wherever_a_batch_ends(county, cut):
    universe, facts = county
    own = {one.code for one in facts.iterations}
    pair = next(pair for pair in partner_codes(universe.lists, US.kind("county")).items() if pair[0] in own)
    first, second = (facts.position_of_code[code] for code in pair)
    entities, iterations = np.array([7, 7, 8, 8]), np.array([first, second, first, second])
    counts = np.array([50, 20, 5, 5])
    order = np.lexsort((iterations, entities))
    tally = PairTally(universe, facts)
    for part in order[:cut], order[cut:]:
        tally.add(entities[part], iterations[part], counts[part])
    pairs = tally.finish()
    assert pairs.compared == 2
    assert pairs.above == 1
    assert pairs.widest == [PairAbove(7, first, second, 50, 20)]
