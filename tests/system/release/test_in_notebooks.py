"""What notebooks show of results, and their charts: the numbers are those of the release, and names are no markup."""

import re
import sys
from dataclasses import replace
from html import unescape

import pytest

import safetab
from tests.commands import invalid
from tests.inside import US, as_number, tables_module

LEVELS = "nation state county tract place aiannh"
HMONG = {"group": "Hmong", "kind": "alone"}


@pytest.fixture(scope="module")
def pyramid(release):
    return release.table("Providence County", "Dominican")


@pytest.fixture(scope="module")
def two(release):
    return [release.total("Providence County", name) for name in ("Dominican", "Puerto Rican")]


def rows_of(shown):
    """The texts of the table that a notebook shows of a result, row by row."""
    rows = shown._repr_html_().split("<tr")[1:]
    cells = (re.findall(r"(?s)<t[dh]\b[^>]*>(.*?)</t[dh]>", row) for row in rows)
    return [[unescape(re.sub(r"<[^>]+>", "", cell)) for cell in of_row] for of_row in cells]


def drawn(chart):
    """The numbers that a chart draws, by name; Altair checks the chart against its own rules."""
    drawing = chart.to_dict()
    values = [row for rows in drawing.get("datasets", {}).values() for row in rows] or inline(drawing)
    return {row["name"]: (row["value"], row["low"], row["high"]) for row in values}


def inline(part):
    inside = [*part.get("layer", ()), *part.get("hconcat", ())]
    return [*part.get("data", {}).get("values", ()), *(row for one in inside for row in inline(one))]


def ends(one):
    return float(one.value), *map(float, one.interval)


def drawn_of(*results):
    """The numbers and the ends of results, by name."""
    return {one.what: ends(one) for one in results}


def test_a_number_is_a_table_of_its_margins(two):
    a, _ = two
    head, published, combined = rows_of(a)
    assert head == ["", "number", "margin of error", "95 % interval"]
    low, high = a.interval
    assert published == ["as published", f"{a.value:,}", f"± {a.margin_of_error}", f"{low:,} to {high:,}"]
    assert combined[0] == "combined"
    assert a.what in a._repr_html_()


def test_a_table_shows_every_line(pyramid, households):
    for table in (pyramid, household_table(households, "household type"), household_table(households, "tenure")):
        assert [row[1] for row in rows_of(table)[1:]] == [f"{as_number(one.exact_value):,}" for one in table.lines]


def test_a_comparison_says_what_it_means(two):
    a, b = two
    assert "Equal true numbers are ruled out at 95 %." in (a - b)._repr_html_()
    assert [row[1] for row in rows_of(a - b)[1:]] == [f"{a.value:,}", f"{b.value:,}", f"{a.value - b.value:,}"]
    assert "Fieller" in (a / b)._repr_html_()


def test_absent_numbers_are_not_shown_as_numbers(release):
    assert "no number (suppressed)" in release.total("Kent County", **HMONG)._repr_html_()
    counties = release.totals(level="county", **HMONG)
    assert sum(row[1] == "none: suppressed" for row in rows_of(counties)) > 5
    assert "and 4 more" in counties._repr_html_()


def test_lists_are_tables(release):
    assert rows_of(release.areas("county"))[1] == ["COUNTY", "15001", "Hawaii County, Hawaii"]
    assert rows_of(release.find("44007"))[1] == ["area", "44007", "Providence County, Rhode Island"]
    status = release.status(level="county", **HMONG)
    assert len(rows_of(release.groups("ethnicity"))) == len(rows_of(status)) == 21
    assert "and 4 more" in status._repr_html_()


def test_a_name_is_no_markup(two):
    evil = replace(two[0], what="<script>alert(1)</script>", notes=("<b>",))
    for shown in (evil, evil - two[1], evil + two[1], evil / two[1]):
        assert not re.search(r"<script|<b>", shown._repr_html_())


def test_charts_draw_the_numbers(release, two):
    a, b = two
    assert drawn(a.plot()) == {"as published": ends(a), "combined": ends(a.combined)}
    assert drawn((a - b).plot()) == drawn_of(a, b) | {"the difference": ends(a - b)}
    assert drawn((a / b).plot()) == {"ratio": ends(a / b)}
    counties = release.totals(group="Dominican", level="county")
    assert drawn(counties.plot()) == drawn_of(*counties.numbers)
    assert len(drawn(counties.plot(most=3))) == 3
    assert len(drawn((a - a).plot())) == 3


def test_a_pyramid_has_the_ages_of_each_sex_and_one_scale(pyramid):
    drawing, scales = pyramid.plot().to_dict(), []
    for sex, half in zip(("male", "female"), drawing["hconcat"], strict=True):
        assert half["title"] == sex
        _, *cells = (one for one in pyramid.lines if one.counted[0].line.labels[0] == sex)
        data = half.get("data") or half["layer"][0]["data"]
        values = data["values"] if "values" in data else drawing["datasets"][data["name"]]
        assert [row["value"] for row in values] == [float(one.value) for one in cells][::-1]
        scales.append(half["layer"][0]["encoding"]["x"]["scale"])
    assert scales[0]["domain"] == scales[1]["domain"]
    assert [scale["reverse"] for scale in scales] == [True, False]


def household_table(households, family):
    largest = households.totals(area="1", level="nation").largest(1)[0]
    return households.table("1", largest.counted[0].group, level="nation", family=family)


@pytest.mark.parametrize("family", ["household type", "tenure"])
def test_households_are_drawn_by_their_cells(households, family):
    table = household_table(households, family)
    cells = [one for one in table.lines if one.counted[0].line.cells == 1]
    assert len(cells) > 1
    assert drawn(table.plot()) == {one.counted[0].line.stub: ends(one) for one in cells}


def test_without_altair_a_sentence_says_how_to_get_it(two, monkeypatch):
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(ModuleNotFoundError, match="charts need it: `pip install altair vl-convert-python`"):
        two[0].plot()


def test_charts_load_nothing_from_the_web(two, monkeypatch):
    altair = pytest.importorskip("altair")
    a, enabled = two[0], altair.renderers.enable
    with enabled("default"):  # which has a script's address in what it shows
        shown = a.plot()._repr_mimebundle_(include=None, exclude=None)
        assert [*shown] == ["image/svg+xml"]
        assert "<svg" in shown["image/svg+xml"]
    monkeypatch.setattr(tables_module, "find_spec", lambda _: None)
    for before, after in {"default": "mimetype", "json": "json"}.items():
        with enabled(before):
            a.plot()
            assert altair.renderers.active == after


def test_a_ratio_without_an_end_is_not_drawn(two):
    nothing = replace(two[0], exact_value=two[0].exact_value * 0)
    with pytest.raises(ValueError, match="may be 0"):
        (two[1] / nothing).plot()


def test_areas_and_groups_are_listed_and_found(release):
    assert [one.name for one in release.areas("county", within="Rhode Island")] == [
        f"{name} County, Rhode Island" for name in ["Bristol", "Kent", "Newport", "Providence", "Washington"]
    ]
    assert len(release.areas()) == sum(len(release.areas(level)) for level in LEVELS.split())
    found = release.find("DONA county")
    assert [one.region_id for one in found.areas if one.geography.label == "COUNTY"] == ["35013"]
    assert {one.name for one in release.find("hmong").groups} == {"Hmong alone", "Hmong alone or in any combination"}
    assert len(release.find("xyzzy").areas) == len(release.find("  ").groups) == 0
    assert all(one.is_tabulated(US.kind("county")) for one in release.groups(level="county"))
    assert len(release.groups(level="county")) < len(release.groups())
    one = release.areas("county")[0]
    assert release.area(one) is one
    assert release.total(one, release.groups("ethnicity")[3]) is not None
    assert release.areas("county").to_arrow().column_names == ["geography_level", "region_id", "region_name"]


def test_statuses_are_those_of_the_command(release, demo_out):
    asked = HMONG | {"level": "county"}
    status = safetab.status(demo_out, **asked)
    assert status.to_arrow().equals(release.status(**asked).to_arrow())
    suppressed = [one for one in release.totals(**asked).absences if one.status == "suppressed"]
    assert status.to_arrow()["status"].to_pylist().count("suppressed") == len(suppressed)
    assert str(status).startswith("24 groups\n")


def test_export_is_that_of_the_command(both_products, tmp_path):
    rows = safetab.export(both_products / "people", tmp_path / "csv")
    assert (tmp_path / "csv" / "numbers" / "COUNTY.csv").read_text().count("\n") == rows["numbers/COUNTY.csv"] + 1
    assert "csv" in invalid(safetab.export, both_products / "people", tmp_path / "csv")


def test_validate_gives_warnings_or_raises_with_findings(demo_census, tmp_path):
    assert safetab.validate(demo_census / "parameters", demo_census / "data") == ()
    with pytest.raises(safetab.InvalidInput) as refused:
        safetab.validate(tmp_path / "nothing", demo_census / "data")
    assert all(isinstance(one, safetab.Finding) for one in refused.value.findings)
