"""The workbook in LibreOffice, which computes every formula anew. `make test-browser` runs these."""

import shutil
import subprocess
from fractions import Fraction

import pytest
from openpyxl import load_workbook

from safetab.tuning import Tuning, tuning_of
from tests.inside import (
    DELTA,
    PrivacyDefinition,
    Stage,
    Thresholds,
    epsilon_of_rho,
    margins,
    parse_config,
    presets,
    write_workbook,
)

pytestmark = pytest.mark.browser

FIRST_LEVEL = 14  # on the sheet of inputs
FIRST_CURVE = 14


@pytest.fixture(scope="module")
def production():
    config = parse_config(presets()["2020 with round-number thresholds"]).require()
    return Tuning(config, tuning_of().require().facts)


def changed(tuning, definition):
    """Other values of everything that the sheet of inputs lets one change."""
    factor = Fraction(7, 10) if definition is PrivacyDefinition.ZCDP else Fraction(25, 10)
    budgets = {level: budget * factor for level, budget in tuning.config.families[0].budgets.items()}
    thresholds = dict.fromkeys(tuning.config.levels, Thresholds((150, 300, 2000)))
    return (
        tuning.with_budgets(budgets)
        .with_thresholds(thresholds)
        .but(
            privacy_definition=definition,
            stage_1_fraction=Fraction(1, 4),
            most_answers=5,
            zero_suppression_chance=Fraction(999, 1000),
        )
    )


def with_inputs_of(book, tuning, path):
    """The workbook with other inputs, and with no number in any cell that has a formula."""
    opened, config = load_workbook(book), tuning.config
    sheet = opened["Inputs"]
    sheet["C6"] = config.privacy_definition.spelling
    sheet["C7"], sheet["C8"] = float(config.stage_1_fraction), config.most_answers
    sheet["C9"] = float(config.zero_suppression_chance)
    for row, level in enumerate(config.levels, start=FIRST_LEVEL):
        sheet.cell(row, 3).value = float(config.budget_of(level))
        for column, threshold in enumerate(config.families[0].thresholds[level].totals, start=4):
            sheet.cell(row, column).value = threshold
    opened.save(path)


def computed(path, tmp_path):
    """The workbook with what LibreOffice makes of its formulas."""
    program = shutil.which("soffice") or shutil.which("libreoffice")
    assert program, "there is no LibreOffice: apt-get install libreoffice-calc-nogui"
    out = tmp_path / "computed"
    profile = f"-env:UserInstallation={(tmp_path / 'profile').as_uri()}"
    words = [program, profile, "--headless", "--convert-to", "xlsx", "--outdir", str(out), str(path)]
    subprocess.run(words, capture_output=True, timeout=180, check=True)
    return load_workbook(out / path.name, data_only=True)


def results_of(book):
    rows = book["Results"].iter_rows(min_row=11, values_only=True)
    return {row[0]: [None if cell == "" else cell for cell in row[1:]] for row in rows if row[0]}


@pytest.mark.parametrize("definition", list(PrivacyDefinition))
def test_libreoffice_computes_what_python_computes_also_for_other_inputs(production, tmp_path, definition):
    write_workbook(production, tmp_path / "as-loaded.xlsx")
    tuning = changed(production, definition)
    with_inputs_of(tmp_path / "as-loaded.xlsx", tuning, tmp_path / "changed.xlsx")
    book = computed(tmp_path / "changed.xlsx", tmp_path)
    rows = results_of(book)
    for level, tuned in tuning.levels.items():
        compare_level(rows[name(level)], tuning, tuned)
    losses = {row[0]: row[1:3] for row in book["Results"].iter_rows(min_row=5, max_row=7, values_only=True)}
    assert losses["anyone"] == pytest.approx((float(tuning.loss.unbounded), float(tuning.loss.bounded)))
    rho = definition is PrivacyDefinition.ZCDP
    epsilons = next(row[3:5] for row in book["Results"].iter_rows(min_row=5, values_only=True) if row[0] == "anyone")
    stated = (tuning.loss.unbounded, tuning.loss.bounded)
    assert epsilons == pytest.approx([float(epsilon_of_rho(loss, DELTA) if rho else loss) for loss in stated])
    assert parse_config(book["Config"]["A4"].value).require() == tuning.config
    compare_curves(book["Curves"], tuning)
    assert no_errors(book)


def compare_level(row, tuning, tuned):
    stages = (Stage.STAGE_1, Stage.STAGE_2, Stage.TOTAL_ONLY)
    design = tuned.design
    parameters = [design.noise(stage).width if stage in design.stages else None for stage in stages]
    assert row[0] == pytest.approx(float(tuning.share(tuned.facts.level)))
    assert row[1:4] == pytest.approx(parameters)
    assert row[4] == design.suppression_threshold
    exact = margins(design)
    if tuned.config.privacy_definition is PrivacyDefinition.ZCDP:
        assert row[5:16] == exact
    else:
        assert row[5:8] + row[14:16] == exact[:3] + exact[9:]
        assert row[8:14] == pytest.approx(exact[3:9], rel=0.04)
    assert row[16] == pytest.approx(tuned.empty_groups_published, rel=2e-4)


def compare_curves(sheet, tuning):
    (design,) = (tuned.design for level, tuned in tuning.levels.items() if name(level) == sheet["B3"].value)
    assert sheet["B7"].value == design.suppression_threshold
    for size, _, suppressed, bias, _ in sheet.iter_rows(FIRST_CURVE, FIRST_CURVE + 40, 1, 5, values_only=True):
        assert suppressed == pytest.approx(float(design.suppression_chance(size).mid()), abs=1e-6)
        assert bias == pytest.approx(float(design.bias(size).mid()), abs=1e-3)
    for size, *chances in sheet.iter_rows(FIRST_CURVE, FIRST_CURVE + 60, 8, 12, values_only=True):
        assert chances == pytest.approx(
            [float(chance.mid()) for chance in design.shape_chances(size).values()], abs=1e-6
        )


def no_errors(book):
    return not any(
        str(cell).startswith("#") for sheet in book for row in sheet.iter_rows(values_only=True) for cell in row
    )


def test_the_numbers_kept_in_the_file_are_those_that_libreoffice_computes(production, tmp_path):
    write_workbook(production, tmp_path / "kept.xlsx")
    with_inputs_of(tmp_path / "kept.xlsx", production, tmp_path / "emptied.xlsx")
    kept = load_workbook(tmp_path / "kept.xlsx", data_only=True)
    assert load_workbook(tmp_path / "emptied.xlsx", data_only=True)["Results"]["C11"].value is None  # we would know
    anew = computed(tmp_path / "emptied.xlsx", tmp_path)
    compared = 0
    for sheet in kept:
        for row, anew_row in zip(sheet.iter_rows(), anew[sheet.title].iter_rows(), strict=False):
            for one, other in zip(row, anew_row, strict=False):
                if isinstance(one.value, int | float):
                    assert other.value == pytest.approx(one.value, rel=1e-9, abs=1e-12), (sheet.title, one.coordinate)
                    compared += 1
    assert compared > 1500


BAD = "bad budget"
REFUSED_ROW = "no: the budget must be 0 or a positive number"


@pytest.mark.parametrize("typed", [-1, "abc", None, "0.5"], ids=["negative", "word", "empty", "a number as text"])
def test_totals_refuse_a_budget_that_is_none(production, tmp_path, typed):
    write_workbook(production, tmp_path / "as-loaded.xlsx")
    opened = load_workbook(tmp_path / "as-loaded.xlsx")
    row = FIRST_LEVEL + 2  # a level of the US pass
    opened["Inputs"].cell(row, 3).value = typed
    opened.save(tmp_path / "typed.xlsx")
    book = computed(tmp_path / "typed.xlsx", tmp_path)
    budgets = production.config.families[0].budgets
    of_puerto_rico = float(sum(budgets[one] for one in budgets if name(one).startswith("Puerto Rico ")))
    for sheet, rows, first in ((book["Results"], range(5, 8), 1), (book["Inputs"], range(6, 9), 9)):
        losses = {
            sheet.cell(one, first).value: [sheet.cell(one, first + k).value for k in (1, 2, 3, 4)] for one in rows
        }
        assert losses["US pass"] == [BAD] * 4
        assert losses["anyone"] == [BAD] * 4
        assert losses["PR pass"][0] == pytest.approx(of_puerto_rico)
    epsilon_rows = [
        [cell for cell in one if cell is not None] for one in book["Epsilon"].iter_rows(7, 12, values_only=True)
    ]
    assert [set(one) == {BAD} for one in epsilon_rows] == [True, True, False, False, True, True]
    results = results_of(book)
    names = list(results)
    assert results[names[2]][-1] == REFUSED_ROW
    assert set(results[names[2]][1:16]) == {None}
    measured = {name(level) for level in production.levels}
    for level, cells in results.items():
        if level in measured - {names[2]} and not level.startswith("Puerto Rico "):
            assert (cells[0], cells[-1]) == (BAD, "yes"), level
    assert isinstance(results["Puerto Rico state, Detailed"][0], float)
    assert book["Inputs"].cell(row, 14).value == REFUSED_ROW
    assert {book["Start"][cell].value for cell in ("B16", "B17", "C16", "C17", "A19")} == {BAD}
    assert book["Config"]["A4"].value == "bad budget: every budget must be 0 or a positive number"
    assert no_errors(book)


def name(level):
    return f"{level.geography.title}, {level.iterations.name}"
