"""The page of a comparison takes no side: rules of docs/decisions/0036-compare-is-neutral.md, as tests."""

import re
from dataclasses import replace
from html import unescape
from xml.etree import ElementTree

import pyarrow as pa
import pytest

from tests.cases import cases_of, lines_in
from tests.counted_census import parsed
from tests.inside import (
    GROUPS,
    SAID,
    SYNTHETIC_MARKER,
    WORDS,
    Claims,
    ComparedCensus,
    CompareRequest,
    Control,
    Source,
    added,
    checked_protections,
    comes_with,
    committee_rows,
    committee_table,
    committee_table_module,
    compare_page,
    letter_of,
    protections_of,
    said_for,
    utility_module,
)
from tests.unit.apps.compare.sample_comparison import MADE_UP, compared, sample_comparison

JUDGING = re.compile(
    r"\b(safe|unsafe|safer|safest|secure|insecure|weak|weaker|weakest|strong|stronger|strongest|good|bad|better|worse"
    r"|best|worst|poor|excellent|superior|inferior|winner|loser|wins|loses|fails|failed|score|rank|ranks|recommended"
    r"|acceptable|unacceptable|dangerous|reliable|unreliable|robust|vulnerable|broken|outdated|modern|harmless)\b",
    re.IGNORECASE,
)
REQUIRED = cases_of(
    """
    An attack that finds nobody proves nothing: another attacker may do better. People proven are a lower bound. People named or ranked contain lucky guesses: read them with their precision and the baseline.
    A formal guarantee holds for every attacker and every table of the release together; the other columns were measured with these attacks on these tables. They are not the same kind of statement. A guarantee with a large loss is weak: with rho = 4.944 (2020, persons) no attacker, even one who knows everybody else, can tell presence from absence with an advantage above 0.91; it is a limit for somebody counted in as many groups as the lists allow, not a measurement. Without a guarantee no limit below 1 is stated, for one person or for several. The limit covers one person in this product alone. With both products of 2020 a person's rho is larger, and for a whole household it is larger still: the limit for several people together grows with their number. It is not meant to limit what is learned about a large group.
    Naming a cell of one is not naming a person. Somebody must know who it is; then sex, age or presence is what is learned. What can be guessed without the tables is in the baseline. What is learned where all members of a group share an attribute is not measured, for any method.
    People, households and places are synthetic. Members of a group live near each other, and ages do not differ by group. All numbers here, of users and of people exposed, belong to this world; noise of a fixed size weighs more in a small census.
    Parameters that agencies keep secret were assumed; a stronger secret setting protects better and errs more. A weaker one does the reverse, and users who don't know the setting know of its errors only what the agency publishes.
    All methods were asked for equal tables. Some answer with fewer: what they withhold is lost to users, and usually lowers exposure. In practice an agency that rounds publishes other tables than one that suppresses. These tables are of the kind for which SafeTab was designed: small groups down to small areas. An agency that rounds, suppresses or swaps would often publish coarser tables of small groups, which expose fewer people, and often many more tables of other kinds, which together can expose more. Neither is measured here.
    """
)
"""Written out once more, so that a change of the page's sentences is seen."""


@pytest.fixture(scope="module", autouse=True)
def _tables_are_looked_into_once():
    """The tables of results are the same in all tests, and looking into them is most of the work."""
    found = {}

    def once(look):
        def looked(table, *given):
            key = look, id(table), *given
            if key not in found:
                found[key] = table, look(table, *given)  # a table that is kept keeps its id
            return found[key][1]

        return looked

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(utility_module, "_rows", once(utility_module._rows))
        patch.setattr(committee_table_module, "summary", once(committee_table_module.summary))
        yield


SOME = sample_comparison()
FIRST, *OTHERS = SOME.protections
(SAFETAB,) = (one for one in SOME.protections if one.protection.is_safetab)


def page_of(*protections, **changes):
    """Of the sample, with these protections if some are given."""
    return compare_page(replace(SOME, **({"protections": protections} if protections else {}), **changes))


@pytest.fixture(scope="module")
def page():
    return page_of()


def body_of(page):
    """The page's body; tags without an end are closed for the parser."""
    text = re.sub(r"<(col|wbr)>", r"<\1/>", page[page.index("<body") : page.index("</html>")])
    return ElementTree.fromstring(text)


def text_of(element):
    return " ".join("".join(element.itertext()).split())


def header_of(page):
    return unescape(page.split("<nav")[0].split("<body")[1])


def tables_of(page, class_name):
    tables = body_of(page).findall(f".//div[@class='{class_name}']//table/..")
    return [[[text_of(cell) for cell in row] for row in table.iter("tr")] for table in tables]


def users_of(page):
    return tables_of(page, "committee")[0]


def exposed_of(page):
    return tables_of(page, "committee")[1]


def row_of(rows, letter):
    (found,) = (row for row in rows if row[0].startswith(f"{letter} "))
    return found


def list_of_looks(page):
    return [*body_of(page).find(".//ul[@class='legend looks']")]


def test_rows_keep_the_order_asked_for_whatever_the_results_are():
    moved = tuple(
        replace(one, utility=other.utility, exposure=other.exposure, guarantee=other.guarantee)
        for one, other in zip(SOME.protections, reversed(SOME.protections), strict=True)
    )
    for given in SOME.protections, moved:
        assert committee_table(replace(SOME, protections=given))["protection"].to_pylist() == [*MADE_UP]
    backwards = page_of(*reversed(SOME.protections))
    _, *users = users_of(backwards)
    assert [row[0] for row in users] == [row[0] for row in exposed_of(backwards)[1:-1]]
    assert all(MADE_UP[spec][0] in row[0] for spec, row in zip(reversed(MADE_UP), users, strict=True))


def test_no_cell_has_a_colour_and_no_class_depends_on_a_result(page):
    cells = body_of(page).findall(".//table//td") + body_of(page).findall(".//table//th")
    assert len(cells) > 200
    assert {cell.get("class") for cell in cells} == {None, "text"}
    assert not [cell for cell in cells if cell.get("style")]


def test_no_sentence_judges(page):
    body = body_of(page)
    body.find(".//section[@id='does-not-say']").clear()
    assert [match[0] for match in JUDGING.finditer(text_of(body))] == []


@pytest.mark.parametrize(
    "word",
    lines_in(
        """
        safe
        Best
        weak
        stronger
        score
        """
    ),
)
def test_a_planted_judgement_is_found(page, word):
    assert JUDGING.search(text_of(body_of(page.replace("</main>", f"<p>One {word} draw</p></main>"))))


def test_what_the_page_does_not_say_is_there_word_for_word(page):
    limits = body_of(page).findall(".//section[@id='does-not-say']//li")
    assert [[text_of(one)] for one in limits] == REQUIRED
    assert len(WORDS["does_not_say"]) == len(limits)


def test_every_section_of_a_method_begins_with_what_is_said_for_it(page):
    cards = body_of(page).findall(".//div[@class='agency']")
    for (heading, first, *_), spec in zip(cards, MADE_UP, strict=True):
        assert heading.tag == "h3"
        assert text_of(first) == f"What is said for it: {said_for(parsed(spec))}"


@pytest.mark.parametrize(
    ("spec", "word"),
    cases_of(
        """
        swap:rate=0.05 | Additivity
        cell-key:D=2,V=0.9 | Zero stays zero
        suppress:below=3,secondary=lp | exact
        safetab | guarantee
        round-random:base=3 | no bias
        round:ladder=drb | known
        suppress:rule=1980 | are exact, except
        """
    ),
)
def test_what_is_said_for_each_method_is_what_its_agency_names_first(spec, word):
    assert word in said_for(parsed(spec))


@pytest.mark.parametrize(
    "steps",
    [
        ("swap:rate=0.05", "threshold:people=100"),
        ("threshold:people=100", "cell-key:D=2,V=0.9"),
        ("threshold:people=100", "suppress:rule=1980"),
    ],
)
def test_of_steps_that_leave_each_other_alone_the_words_of_each_are_said(steps):
    each = " ".join(said_for(parsed(step)) for step in steps)
    assert said_for(parsed("+".join(steps))) == f"Its steps, each alone: {each}"


def test_steps_that_change_each_other_have_words_of_their_own():
    both = said_for(parsed("swap:rate=0.08,target=unique+cell-key:D=3,V=0.14"))
    assert both == SAID["swap+cell-key"]
    assert not [claim for claim in ("all sums agree", "Zero stays zero", "off by more") if claim in both]


def test_measured_membership_and_the_guarantee_stand_in_different_columns(page):
    heads, *rows = exposed_of(page)
    cells = dict(zip(heads, row_of(rows, "G"), strict=True))
    (measured,) = (cell for head, cell in cells.items() if "Membership" in head)
    (promised,) = (cell for head, cell in cells.items() if "Formal limit" in head)
    assert measured == "0.10"
    assert all(words in promised for words in ("rho = 4.944", "at most 0.91", "at most 1.00"))
    columns = committee_table(SOME).column_names
    assert {"membership_measured", "membership_limit_of_guarantee"} <= {*columns}
    assert not [name for name in columns if "score" in name or "rank_" in name], "there is no total score"
    assert not [row for row in (*users_of(page), heads, *rows) if "total" in row[0].lower()]


def test_what_was_not_measured_is_said_in_words(page):
    rows = exposed_of(page)
    assert row_of(rows, "G")[1:3] == ["none can be", "no claims"]  # proven, where noise may give any number
    assert row_of(rows, "J")[4] == "not measured"
    without = page_of(
        *(replace(one, exposure=None) for one in SOME.protections), baseline=None, examples=(), controls=(), shown=(),
        census=ComparedCensus(10, "households", "groups", "totals", is_stress_test=True),
    )  # fmt: skip
    assert {cell for row in exposed_of(without)[1:] for cell in row[1:5]} == {"not attacked"}
    assert "Nothing was attacked" in without
    for words in "true size chose its table", "Error and people exposed </strong>", "A protection has a solid mark":
        assert words not in without
    assert "Error and people exposed </strong>" in page
    assert "Choosing by the true size tells something itself" in page
    assert "None" not in text_of(body_of(without)).replace("“None shown”", "")


def test_nothing_of_a_real_census_is_in_the_page_s_own_words():
    census = ComparedCensus(5_000, "dwellings", "kinds of heating", "a total for every kind", "Region 7", "parishes")
    body = body_of(page_of(census=census, shown_area="Parish 3", shown=(), examples=(), facts={}))
    for section in "does-not-say", "agencies":
        body.find(f".//section[@id='{section}']").clear()
    words = text_of(body)
    assert "5,000 synthetic dwellings" in words
    assert "parishes" in words
    assert not re.findall(r"\b(tracts?|county|counties|races?)\b", words)


def test_a_control_that_does_not_hold_is_said_and_what_was_not_finished_too():
    page = page_of(FIRST, controls=(Control("Enumeration", "It differed by 0.2.", False),), not_finished=("This.",))
    assert "DOES NOT HOLD" in page
    assert "Not finished" in page
    assert "Not finished" not in page_of(FIRST, not_finished=())


def test_every_attack_is_explained_with_its_example(page):
    section = body_of(page).find(".//section[@id='attacks']")
    assert [one.text for one in section.iter("h3")] == [attack.capitalize() for attack in WORDS["attacks"]]
    first, _, _ = map(text_of, section.findall(".//div[@class='example']"))
    assert first.endswith("so both are 1.Truth: 1 woman and 1 man.")
    assert first.count("Tract 12") == 1
    assert "both0" in first
    assert page_of(FIRST, examples=()).count("No example in this run") == 4


def test_pictures_have_words_and_no_line_is_known_by_colour_alone(page):
    figures = [*body_of(page).iter("figure")]
    assert [text_of(one.find("figcaption")) for one in figures] == [
        "Error against true size", "Share published against true size", "Error and people exposed",
    ]  # fmt: skip
    for one in figures:
        assert one.find("svg/title") is not None
        assert re.search("D Nothing|D, named", text_of(one.find("svg/desc")))
    looks = {(item.find("svg/path[1]").get("stroke-dasharray"), mark_of(item)) for item in list_of_looks(page)}
    assert len(looks) == len(list_of_looks(page)) == len(MADE_UP)
    letters = {letter for one in figures for text in one.iter("text") for letter in (text.text or "").split()}
    assert {letter_of(number) for number in range(len(MADE_UP))} <= letters


def mark_of(item):
    return item.find("svg/path[2]").get("d")


def test_families_of_every_preset_have_marks_of_their_own():
    nothing = compared("none")
    for group in GROUPS:
        asked, _ = protections_of(group)
        some = (replace(nothing, protection=one) for one in asked)
        marks = {mark_of(item) for item in list_of_looks(page_of(*some, shown=()))}
        assert len(marks) == len({one.family for one in asked})


def of_few_groups(numbers):
    """The first protection with so many numbers of groups of 10 to 99, over ten draws, at each of two levels."""
    rows = [row | {"mean_absolute_error": 77.0} for row in FIRST.utility.to_pylist()]
    rows = [row | ({"numbers": numbers} if row["size_class"] == "10 to 99" else {}) for row in rows]
    return replace(FIRST, utility=pa.Table.from_pylist(rows))


def test_a_mean_of_few_groups_is_printed_with_their_number_and_used_nowhere_else(page):
    few = page_of(of_few_groups(20), *OTHERS)
    heads, first, *_ = users_of(few)
    column = heads.index("Mean error of totals, groups of 10 to 99")
    assert first[column : column + 2] == ["77.0 (4 groups)", "77.0"]
    assert "off by 0.00 to 4.50 people" in header_of(few)
    assert "fewer than 30 groups: A: 77.0" in header_of(few)
    assert "A, named:" in page
    assert "A, named:" not in few
    assert "A: no point, since fewer than 30 groups" in few
    many = page_of(of_few_groups(150), *OTHERS)
    assert users_of(many)[1][column] == "77.0"
    assert "off by 0.00 to 77.0 people" in many
    assert "off by an unknown number of people" in page_of(of_few_groups(20))


def test_an_interval_says_how_often_it_held(page):
    assert row_of(exposed_of(page), "G")[-1] == "an interval for 95% (held for 96%)"


def test_strengths_of_one_family_are_joined_by_a_line_and_promised_only_in_a_sweep():
    specs = ("area:people=40+round-random:base=5", "round-random:base=3,fixed=yes", "swap:rate=0.08+cell-key:D=3,V=2")
    assert [parsed(spec).family for spec in specs] == ["round-random", "round-random", "swap + cell-key"]
    strengths = tuple(compared(spec) for spec in MADE_UP if spec.startswith("cell-key"))
    joined, apart = (page_of(*strengths, is_sweep=one) for one in (True, False))
    assert joined.count('class="line') == apart.count('class="line') + 2  # proven and named
    assert ("--preset sweep joins" in apart, "--preset sweep joins" in joined) == (True, False)
    assert ("lines of the third picture" in apart, "lines of the third picture" in joined) == (False, True)


def test_the_file_has_numbers_and_nulls():
    row = committee_table(SOME).to_pylist()[6]
    assert (row["letter"], row["protection"], row["proven"], row["named_claims"]) == ("G", "safetab", None, 0)
    assert (row["ranked_cells"], row["ranked_right"], row["ranked_right_of_baseline"]) == (500, 83, 69)
    assert row["error_10_to_99"] == pytest.approx(4.5)


def test_the_same_comparison_gives_the_same_bytes_without_a_script_or_an_address(page):
    assert page == page_of()
    assert len(page.encode()) < 200_000
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_names_are_escaped():
    assert "<b>" not in page_of(FIRST, census=replace(SOME.census, attacked_area="<b>Area</b>"))


def exposing(one, **changes):
    return replace(one, exposure=replace(one.exposure, **changes))


def test_the_lines_at_the_top_give_ranges_and_no_names(page):
    header = header_of(page)
    for (words,) in cases_of(
        """
        9 protections, and no protection, made numbers
        0 to 38 were proven (of G, J none can be)
        0 to 452 rightly named
        the 500 cells
        83 to 490 did (69 without the
        G also has a limit for every attacker
        To name a cell is not to name a person:
        """
    ):
        assert words in header
    assert not [name for name, *_ in MADE_UP.values() if f">{name}" in header or f" {name} " in header]
    assert "and 0 rightly named." in page_of(*(exposing(one, named=Claims(0, 0)) for one in SOME.protections))


def test_the_page_says_whether_the_attack_worked(page):
    assert "All 3 checks hold: " in page
    assert "All 3 checks hold; the attack on A was not finished" in page_of(exposing(FIRST, unfinished=3), *OTHERS)
    broken = replace(SOME.controls[0], holds=False), *SOME.controls[1:]
    assert "No: 1 of 3 checks do not hold" in page_of(FIRST, controls=broken)
    assert "No check of the attack ran" in header_of(page_of(FIRST, controls=()))


def test_numbers_of_an_attack_that_was_not_finished_are_marked_and_have_no_point(page):
    marked = page_of(exposing(FIRST, unfinished=3), *OTHERS)
    assert exposed_of(marked)[1][1:4] == [f"{cell} †" for cell in exposed_of(page)[1][1:4]]
    assert "<strong>† </strong>The attack was not finished in some groups (A: 3; " in marked
    assert "A, named:" in page
    assert not re.search("A, (named|proven):", marked)
    assert "A: no points, since the attack was not finished." in marked
    assert "†" not in page


def test_ranges_leave_out_what_an_attack_found_that_was_not_finished_and_say_so():
    late = [
        exposing(one, unfinished=8, small_groups=40) if "secondary=" in one.protection.spec else one
        for one in SOME.protections
    ]
    late[8] = exposing(late[8], presence=Claims(40, 40))
    said = page_of(*late)
    presence = tables_of(said, "further")[-1]
    assert row_of(presence, "H")[1] == "38, and 2 empty †"
    assert row_of(presence, "I")[1] == "40, and 0 empty", "nobody is left to be found"
    header = header_of(said)
    assert "0 to 368 rightly named" in header
    assert "83 to 490 did (69 without the tables; not in these two ranges, because" in header
    exposed = [(one.exposure.named.right, one.exposure.likeliest.right) for one in late if one.exposure.unfinished]
    which = [f"{letter} with {named} and {ranked}" for letter, (named, ranked) in zip("HI", exposed, strict=True)]
    assert f"not finished: {', '.join(which)};" in header
    header = header_of(page_of(*(exposing(one, unfinished=1) for one in SOME.protections)))
    assert "and an unknown number rightly named." in header
    assert "an unknown number did" in header


def test_false_non_zeros_stand_with_their_number(page):
    heads, *rows = users_of(page)
    place = heads.index("Not zero where the truth is zero: how many")
    found = {row["letter"]: row["false_nonzeros_of_a_draw"] for row in committee_rows(SOME)}
    shown = {row[0][0]: row[place] for row in rows if row[place] != "none shown"}
    assert shown
    assert shown == {letter: f"{found[letter]:,.0f}" for letter in shown}


def test_shares_of_secondary_suppression_are_upper_limits(page):
    heads, *rows = users_of(page)
    suppressed = dict(zip(heads, row_of(rows, "H"), strict=True))
    assert {head for head, cell in suppressed.items() if cell.endswith("‡")} == {
        "Groups published", "Groups of 10 to 99 published", "Cells of tables shown", "People in published groups",
    }  # fmt: skip
    assert suppressed["Groups published"] == "at most 92% ‡"
    assert suppressed["Groups of 1 to 9 published"] == "0%"
    assert sum("‡" in "".join(row) for row in rows) == 2
    assert "H, I: the line is an upper limit ‡." in page
    assert [row["letter"] for row in committee_rows(SOME) if row["shares_are_upper_limits"]] == ["H", "I"]


def test_what_linear_programs_checked_is_explained_below_the_table(page):
    suppressed = compared("suppress:below=3,secondary=lp")
    checked = replace(suppressed.exposure, is_checked=True)
    said = page_of(replace(suppressed, guarantee="none below 1: nothing is random", exposure=checked))
    assert exposed_of(said)[1][5] == "none below 1: nothing is random ¶"
    assert "<strong>¶ </strong>By linear programs no withheld count" in said
    assert "¶" not in page


def test_a_membership_of_a_method_without_random_bits_is_a_share_of_people(page):
    said = page_of(exposing(compared("round:rule=10-5"), membership=0.3), *SOME.protections)
    assert "(0.30 of A: certainty for this share of them, nothing for the others)" in said
    assert ": certainty for" not in page


def test_larger_areas_are_attacked_or_left_and_the_page_says_which(page):
    assert "Tables of the nation and the state were not attacked." in page
    both = page_of(census=replace(SOME.census, larger_attacked="the state", larger_left=""))
    assert "Tables of the state were attacked too" in both
    assert "were not attacked" not in both
    assert "of its privacy loss there" not in both


def test_small_groups_that_noise_lifts_over_a_threshold_are_said_to_be_too_large(page):
    shares = {"County": 1.0, "Tract": 0.4}
    rows = SAFETAB.utility.to_pylist()
    rows = [row | {"numbers": 10, "published_groups_share": shares[row["level"]]} for row in rows]
    said = page_of(replace(SAFETAB, utility=pa.Table.from_pylist(rows)))
    assert "those of 10 to 19 by 6.0 (A) people" in said  # at the level that hides some
    assert "of the groups of 1 to 9, 40% to 100% (A) by level" in said
    assert "of 10 to 19 by" not in page  # nobody of that size is shown


def test_tables_that_a_method_does_not_give_are_counted_and_said(page):
    heads, first, *_ = users_of(page)
    assert first[heads.index("Cells of tables shown")] == "50%"
    assert "SafeTab chose its tables by its noisy totals" in page
    assert "SafeTab chose its tables" not in page_of(FIRST)
    assert "stress test" not in page
    assert "This is a stress test" in page_of(FIRST, census=replace(SOME.census, is_stress_test=True))


@pytest.mark.parametrize(
    "case",
    cases_of(
        """
        <strong>Swapping </strong> | swap
        <strong>Secondary suppression </strong> | secondary=
        Numbers that count the same people have the same error | cell-key | fixed=yes
        SafeTab spends 86% of its privacy loss there | safetab
        """
    ),
)
def test_what_the_attack_leaves_out_is_said_of_the_methods_compared(page, case):
    said, *kinds = case
    assert said in page
    others = (one for one in SOME.protections if not any(kind in one.protection.spec for kind in kinds))
    assert said not in page_of(*others)


def test_the_table_of_further_measures_has_a_baseline_and_no_averaging_of_safetab(page):
    rows = tables_of(page, "further")[-1]
    assert row_of(rows, "G")[1:] == [
        "38, and 2 empty", "6% as published; not run with a table builder", "31 people (12 slivers looked at)",
    ]  # fmt: skip
    assert rows[-1][0].startswith("Baseline")
    assert "of 45 groups of 1 or 2" in rows[0][1]


@pytest.fixture
def asked(tmp_path):
    """The protections that a comparison of made-up people is asked for."""
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / SYNTHETIC_MARKER).touch()
    given = tmp_path / "parameters", tmp_path / "data", tmp_path / "out"
    return lambda request: checked_protections(*given, request)[0]


def test_a_preset_stands_in_the_order_of_names_and_a_request_in_its_own(asked):
    specs = "round:base=5", "none", "cell-key:D=2,V=0.9"
    assert tuple(one.spec for one in asked(CompareRequest(specs))) == specs
    names = [one.name for one in asked(CompareRequest(preset="agencies"))]
    assert names == sorted(names, key=str.casefold)
    assert len(names) > 5


def test_a_protection_asked_for_by_its_text_has_the_source_of_its_preset(asked):
    known, unknown = asked(CompareRequest(("cell-key:D=2,V=0.9", "round:base=7")))
    assert known.source.assumed
    assert unknown.source is None


def test_the_largest_error_is_promised_only_where_it_is_known():
    own = parsed("cell-key:D=2,V=0.9")
    assert comes_with(own) == ("the largest error, 2",)
    source = Source("An agency", "2021", "A document", (), ("D and V.",))
    assert comes_with(replace(own, source=source)) == ("the largest error, where the agency publishes it",)
    assert comes_with(replace(parsed("round:base=5"), source=source)) == ("the largest error, 2",)


@pytest.mark.parametrize(
    ("spec", "given"),
    cases_of(
        """
        none | exact
        suppress:below=3 | exact; a mark where withheld
        threshold:people=10 | exact; a mark where withheld
        round:rule=10-5 | the largest error, 2; a mark where withheld
        round:ladder=drb | a mark where withheld
        swap:rate=0.05 | nothing
        swap:rate=0.05+threshold:people=10 | a mark where withheld
        """
    ),
)
def test_what_comes_with_a_number(spec, given):
    assert "; ".join(comes_with(parsed(spec))) == given


def test_several_areas_are_ranked_together_and_the_page_says_so(page):
    five = replace(
        SOME,
        census=replace(SOME.census, attacked=5),
        baseline=added([SOME.baseline] * 5),
        protections=tuple(replace(one, exposure=added([one.exposure] * 5)) for one in SOME.protections),
    )
    together = compare_page(five)
    assert "Right of the 2,500 likeliest" in together
    assert "the first 500 of each area" in together
    assert "of each area" not in page
    assert committee_rows(five)[0]["ranked_cells"] == 2_500
