import json
import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, takewhile

import pytest
import xlsxwriter
from openpyxl import load_workbook

from safetab.tuning import least_budget, threshold_for, tuning_of
from tests.cases import cases_of, values_of
from tests.inside import (
    DELTA,
    SEX_BY_AGE,
    TOTAL,
    US_PASS,
    DiscreteGaussian,
    DiscreteLaplace,
    ExplorerRequest,
    InvalidInput,
    LiveNoise,
    PrivacyDefinition,
    Sheet,
    Styles,
    Thresholds,
    epsilon_of_rho,
    least_rho,
    level_name,
    live_rounded_up,
    of,
    one_of,
    parse_config,
    presets,
    when,
    write_explorer,
    write_workbook,
)

pytestmark = pytest.mark.slow

GAUSSIAN, GEOMETRIC = of(1).is_above(0), of(0).is_above(1)
FUNCTIONS = (
    "SQRT|SUMSQ|LN|EXP|INT|MAX|NORMSDIST|NORMSINV|IF|AND|COUNT|MIN|ISNUMBER|SUM|INDEX|MATCH|IFERROR|ROUND|ROUNDUP"
    "|SUBSTITUTE"
)


@pytest.fixture(scope="module")
def production():
    return tuning_of().require()


def written(tuning, path, **more):
    write_workbook(tuning, path, **more)
    return path


@pytest.fixture(scope="module")
def workbook(production, tmp_path_factory):
    """That of the production of 2020."""
    return written(production, tmp_path_factory.mktemp("workbook") / "w.xlsx")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "w.xlsx"


def budgets_of(tuning, factor=1):
    return {level: factor * budget for level, budget in tuning.config.families[0].budgets.items()}


def under_pure_dp(tuning):
    """The same levels with budgets that are epsilons."""
    return tuning.with_budgets(budgets_of(tuning, 3)).but(privacy_definition=PrivacyDefinition.PURE_DP)


def rows_of(path, sheet="Results", first_row=11):
    """By their first cell, until an empty line."""
    rows = load_workbook(path, data_only=True)[sheet].iter_rows(min_row=first_row, values_only=True)
    return {cells[0]: [*cells[1:]] for cells in takewhile(lambda cells: cells[0] is not None, rows)}


@pytest.mark.parametrize("is_zcdp", [True, False])
def test_the_numbers_kept_in_the_file_are_those_of_python(production, path, is_zcdp):
    written(production if is_zcdp else under_pure_dp(production), path)
    live, exact = (rows_of(path, sheet) for sheet in ("Results", "Exact"))
    assert set(live) - set(exact) == {"AIANNH area, Regional"}  # it has no budget
    for level, numbers in exact.items():
        *static, empty_groups = numbers[:17]
        for column, (shown, true) in enumerate(zip(live[level], static, strict=False)):
            is_sum_of_geometrics = not is_zcdp and 8 <= column <= 13
            nearly = {"rel": 0.04, "abs": 1} if is_sum_of_geometrics else {"rel": 1e-12}
            assert (None if shown in {None, ""} else shown) == (true if true is None else pytest.approx(true, **nearly))
        assert live[level][16] == pytest.approx(empty_groups, rel=2e-4)
    live, exact = (rows_of(path, sheet, 5) for sheet in ("Results", "Exact"))
    for people in "US pass", "PR pass", "anyone":
        assert live[people][:4] == [float(text.replace(",", "")) for text in exact[people][:4]]


def test_losses_are_never_shown_too_small(production, path):
    tuning = production.with_budgets(budgets_of(production, Fraction(10_000_001, 10**7)))
    written(tuning, path)
    live, exact = (rows_of(path, sheet, 5)["anyone"][:2] for sheet in ("Results", "Exact"))
    assert tuning.loss.unbounded == Fraction("4.9440004944")
    assert exact == ["4.944000495", "9.888000989"]
    assert live == [4.944001, 9.888002]


def test_the_paper_is_in_the_file(workbook):
    live = rows_of(workbook)
    assert live["County, Detailed"][4:8] == [21, 9, 11, 14]
    assert live["Place, Regional"][4:8] == [93, 41, 49, 64]
    assert live["Nation, Detailed"][18] == pytest.approx(2.1342, abs=1e-4)  # the paper's formula


def test_sizes_reach_the_target_error_as_in_python(production, workbook):
    live = {level: numbers[-5:-1] for level, numbers in rows_of(workbook).items()}
    assert live["County, Detailed"] == [110, 880, 1980, 5060]
    kinds = [TOTAL.kind("total"), *(shape.kind("cell") for shape in SEX_BY_AGE)]
    for tuned in production.levels.values():
        needed = [threshold_for(tuned, kind, Fraction(1, 10)).size for kind in kinds]
        assert live[level_name(tuned.facts.level)] == needed
    assert set(live["AIANNH area, Regional"]) <= {None, ""}  # it has no budget


def test_formulas_are_made_of_known_functions_cells_and_numbers_alone(workbook):
    book = load_workbook(workbook)
    formulas = [cell.value for sheet in book for row in sheet.iter_rows() for cell in row if cell.data_type == "f"]
    assert len(formulas) > 800
    for formula in formulas:
        ours = (
            r"zcdp|yes|no: sigma is below 0\.7|bad budget(: [a-z 0]*)?|no: the budget must be 0 or a positive number"
            r"|zcdp only|US|PR|1|This level is not published with these budgets\.|: counts are within "
            r"| persons of the true count 95 of 100 times\.|All tables together cost (at most )?|about as much privacy as 2020\."
            r"| times as much privacy as 2020\."
        )
        without_words = re.sub(rf'"(|{ours}|,|\.|, | )"', "", formula[1:])
        cell = r"((Start|Inputs|Facts|Epsilon|Config|Results|Curves)!)?\$[A-Z]{1,2}\$[0-9]+"
        without_cells = re.sub(cell, "", without_words)
        assert set(re.findall("[A-Z]{2,}", without_cells)) <= {*FUNCTIONS.split("|")}
        assert re.fullmatch(r"[A-Z0-9.+\-*/^(),:>= &]*", without_cells), formula
    titles = " | ".join(sorted(sheet.title for sheet in book))
    assert titles == "Config | Curves | Epsilon | Exact | Facts | Inputs | Results | Start | What is exact"
    assert {cell.data_type for row in book["Exact"].iter_rows() for cell in row if cell.value is not None} == {"s", "n"}


def shown_in(sheet, *cells):
    return [sheet[cell].value for cell in cells]


def test_the_first_sheet_bounds_pure_dp_level_by_level(production, path):
    pure = under_pure_dp(production)
    sheet = load_workbook(written(pure, path), data_only=True)["Start"]
    squares = [budget**2 for level, budget in budgets_of(pure).items() if level.geography.tabulation_pass == US_PASS]
    assert sheet["C16"].value == pytest.approx(float(sum(squares) / 2 / Fraction("4.944")))
    assert sheet["A19"].value == "All tables together cost at most 8.38 times as much privacy as 2020."


def test_the_first_sheet_answers_both_questions_in_words(production, path):
    county = next(level for level in budgets_of(production) if str(level) == "(COUNTY, Detailed)")
    book = load_workbook(written(production.with_budgets({county: Fraction("0.5")}), path), data_only=True)
    sheet = book["Start"]
    assert book.sheetnames[0] == "Start"
    assert shown_in(sheet, "B7", "B8", "B9", "B10") == ["County, Detailed", 6, 6, 0.5]
    assert shown_in(sheet, "A12", "B16", "B18", "A19") == [
        "County, Detailed: counts are within 6 persons of the true count 95 of 100 times.",
        *(5.285, 4.944, "All tables together cost 1.07 times as much privacy as 2020."),
    ]
    enough, total = shown_in(sheet, "B11", "B17")
    assert enough == pytest.approx(float(least_budget(production.level(county), 6).budget), rel=1e-3)
    assert total == pytest.approx(5.285 - 0.5 + enough)
    margins = {row[0]: row[1:3] for row in sheet.iter_rows(min_row=34, max_row=53, max_col=3, values_only=True)}
    assert margins["Tract, Regional"] == (49, 49)
    assert set(margins["AIANNH area, Regional"]) <= {None, ""}  # it has no budget


@pytest.mark.parametrize("factor", [Fraction(1, 1000), Fraction(1, 7), Fraction(50)])
def test_the_workbooks_epsilon_is_the_pages(production, path, factor):
    tuning = production.but(passes=production.config.passes[1:]).with_budgets(budgets_of(production, factor))
    live = rows_of(written(tuning, path), first_row=5)["anyone"]
    assert live[2:4] == [float(epsilon_of_rho(loss, DELTA)) for loss in (tuning.loss.unbounded, tuning.loss.bounded)]


def test_a_cell_holds_the_config_of_the_inputs(production, path):
    text, changed = presets()["2020 production"], production.but(most_answers=5)
    text = text.replace('"reader"', '"mine": ["=1+1", {"a": "\\"x\\""}],\n"reader"')
    book = load_workbook(written(changed, path, loaded_config=text), data_only=True)
    copied = book["Config"]["A4"].value
    assert "\n" not in copied  # a spreadsheet would put it into quotes
    assert json.loads(copied) == json.loads(text) | {"max_race_codes": 5}
    assert parse_config(copied).require() == changed.config
    beside = next(row for row in book["Inputs"].iter_rows(min_row=14, values_only=True) if row[0] == "County, Detailed")
    assert beside[7:11] == (pytest.approx(0.159 / 4.944), 9, 61, 17)  # with 5 codes
    assert [cell.value for cell in book["Inputs"][8][8:13]] == ["anyone", 4.944, 9.888, 25.3629, 38.9488]


def test_on_paper_a_repeated_column_cuts_no_text_and_helper_rows_stay_away(workbook):
    book = load_workbook(workbook)
    for sheet in book["Results"], book["Exact"]:
        assert sheet.print_title_cols == "$A:$A"
        assert sheet.page_setup.pageOrder == "overThenDown"
        texts = [one for (one,) in sheet.iter_rows(max_row=29, max_col=1) if one.value is not None]
        assert len(texts) > 20
        assert max(len(one.value) * one.font.size / 11 for one in texts) <= sheet.column_dimensions["A"].width
    assert book["Exact"].print_area == "'Exact'!$A$1:$S$29"  # 19 levels, without the curve below
    assert book["Config"].print_area == "'Config'!$A$1:$C$4"  # down to the framed cell


def test_a_text_that_looks_like_a_formula_stays_a_text(path):
    text = '=HYPERLINK("http://example.org","x")'
    with xlsxwriter.Workbook(str(path)) as book:
        Sheet(book, "Inputs", ()).put(0, 0, text, Styles(book).text)
    cell = load_workbook(path)["Inputs"]["A1"]
    assert cell.value == text
    assert cell.data_type == "s"
    for given in text, '"', "a\nb", "x!y":
        with pytest.raises(ValueError, match="plain words"):
            of(given)


@pytest.mark.parametrize(
    ("name", "told"),
    cases_of("""
        there.xlsx | already exists
        nowhere/w.xlsx | can't be written: there is no folder
        there.xlsx/w.xlsx | can't be written: Not a directory
    """),
)
def test_a_workbook_is_never_overwritten_and_never_half_written(name, told, tmp_path):
    there = tmp_path / "there.xlsx"
    there.write_text("mine")
    with pytest.raises(InvalidInput, match=told):
        write_explorer(ExplorerRequest(tmp_path / "page.html", workbook=tmp_path / name))
    assert there.read_text() == "mine"
    assert [*tmp_path.iterdir()] == [there]


def test_strange_configurations_have_workbooks_too(production, tmp_path):
    puerto_rico = production.but(passes=production.config.passes[1:])
    rows = {
        name: rows_of(written(tuning, tmp_path / f"{name}.xlsx"))
        for name, tuning in {
            "no suppression": puerto_rico.but(zero_suppression_chance=Fraction(0)),
            "little suppression": puerto_rico.but(zero_suppression_chance=Fraction(1, 10)),
            "one code": puerto_rico.but(most_answers=1, stage_1_fraction=Fraction(999, 1000)),
            "narrow": puerto_rico.with_budgets(budgets_of(puerto_rico, 10**6)),
            "no thresholds": puerto_rico.with_thresholds(
                dict.fromkeys(puerto_rico.config.levels, Thresholds((0, 0, 0)))
            ),
            "pure": under_pure_dp(puerto_rico).but(zero_suppression_chance=Fraction(1, 10)),
        }.items()
    }
    assert rows["narrow"]["Puerto Rico state, Detailed"][-1] == "no: sigma is below 0.7"
    areas = ("state", "county", "tract", "place")
    assert {*rows["one code"]} == {f"Puerto Rico {area}, {of}" for area in areas for of in ("Regional", "Detailed")}


def steps(low, high, number):
    return [Fraction(low * (high / low) ** (k / number)).limit_denominator(1000) for k in range(number + 1)]


def gaussian(sigma):
    """The noise, and that of the sheets."""
    return DiscreteGaussian(sigma**2), LiveNoise(GAUSSIAN, of(float(sigma)))


def geometric(scale):
    return DiscreteLaplace(scale), LiveNoise(GEOMETRIC, of(float(scale)))


CONFIDENCES = [Fraction(percent, 100) for percent in (90, 95, 99)]
CHANCES = [1 - Fraction(1, 10**digits) for digits in (1, 3, 4, 6)]


@pytest.mark.parametrize(
    ("low", "high", "most_off", "one_in"),
    values_of("""
        0.7 | 3 | 1 | 100
        3 | 1000 | 0 | 1
    """),
)
def test_gaussian_margins_are_as_near_as_the_sheet_says(low, high, most_off, one_in):
    distances = []
    for noise, live in map(gaussian, steps(low, high, 80)):
        distances += [abs(noise.margin_of_error(c) - live.margin(of(float(c))).value) for c in CONFIDENCES]
    for noise, live in map(gaussian, steps(low, high, 8)):
        for draws in 4, 9, 46:
            margin = noise.sum_of(draws).margin_of_error(CONFIDENCES[1])
            distances.append(abs(margin - live.margin(of(0.95), draws).value))
    assert max(distances) <= most_off
    assert sum(distances) * one_in <= len(distances)


@pytest.mark.parametrize(
    ("low", "high", "most_off", "one_in"),
    values_of("""
        0.7 | 3 | 1 | 30
        3 | 1000 | 0 | 1
    """),
)
def test_gaussian_thresholds_are_as_near_as_the_sheet_says(low, high, most_off, one_in):
    distances = [
        abs(noise.quantile(chance) - live.quantile(of(float(chance))).value)
        for noise, live in map(gaussian, steps(low, high, 50))
        for chance in CHANCES
    ]
    assert max(distances) <= most_off
    assert sum(distances) * one_in <= len(distances)


@pytest.mark.parametrize(
    ("sigma", "of_chance", "of_bias", "of_tail"),
    values_of("""
        "1.5" | 1e-4 | 0.05 | 0.02
        "2.2" | 1e-4 | 0.05 | 0.02
        "5" | 1e-6 | 0.001 | 2e-4
        "25" | 1e-6 | 0.001 | 2e-4
    """),
)
def test_gaussian_curves_are_as_near_as_the_sheet_says(sigma, of_chance, of_bias, of_tail):
    noise, live = gaussian(Fraction(sigma))
    threshold = noise.quantile(CHANCES[2])
    for least in range(1 - threshold, threshold + 2):
        chance, bias = (float(ball.mid()) for ball in (noise.tail(least), noise.mean_given_at_least(least)))
        assert live.at_least(of(least)).value == pytest.approx(chance, abs=of_chance)
        assert live.mean_given_at_least(of(least)).value == pytest.approx(bias, abs=of_bias)
    assert live.at_least(of(threshold + 1)).value == pytest.approx(chance, rel=of_tail)


def test_geometric_formulas_of_one_draw_are_exact():
    for noise, live in map(geometric, steps(0.3, 1000, 100)):
        assert [noise.margin_of_error(c) for c in CONFIDENCES] == [live.margin(of(float(c))).value for c in CONFIDENCES]
        for chance in (Fraction(3, 10), *CHANCES):
            assert noise.quantile(chance) == live.quantile(of(float(chance))).value
        for least in -7, 0, 1, 9:
            chance, mean = (float(ball.mid()) for ball in (noise.tail(least), noise.mean_given_at_least(least)))
            assert live.at_least(of(least)).value == pytest.approx(chance, rel=1e-12)
            assert live.mean_given_at_least(of(least)).value == pytest.approx(mean, rel=1e-9, abs=1e-12)


def test_margins_of_sums_of_geometrics_are_as_near_as_the_sheet_says():
    for noise, live in map(geometric, steps(1, 300, 10)):
        for draws in 4, 8, 18, 46:
            exact = noise.sum_of(draws).margin_of_error(CONFIDENCES[1])
            assert abs(exact - live.margin(of(0.95), draws).value) <= max(1, 0.04 * exact)


@pytest.mark.parametrize("margin", [*range(1, 21), 50, 200, 1000])
def test_the_least_rho_keeps_its_margin_and_is_hardly_more(margin):
    shown = Fraction(live_rounded_up(least_rho(of(margin), of(0.95), of(9), of(0.9)), 9).value)
    noises = (DiscreteGaussian(5 / rho) for rho in (shown, shown * Fraction("0.999")))  # 9 / (2 * 0.9)
    assert [noise.covers(margin, CONFIDENCES[1]) for noise in noises] == [True, False]


def test_a_formula_knows_its_value():
    formula = when(of(3).is_above(2), of(7) - 2 * of(3), "")
    assert formula.text == 'IF((3>2),(7-(2*3)),"")'
    assert formula.value == 1
    broken = of(1) / 0
    assert broken.value != broken.value  # nan, as a spreadsheet would show an error
    cells = [replace(of(value), text=f"Inputs!$A${value}") for value in (1, 2, 3)]
    assert one_of(cells, of(2)) == replace(cells[1], text="INDEX(Inputs!$A$1:$A$3,2)")
    assert all(one.value < other.value for one, other in pairwise(cells))
