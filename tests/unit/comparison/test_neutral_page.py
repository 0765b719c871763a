"""The page of a comparison takes no side: rules of docs/decisions/0036-compare-is-neutral.md, as tests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from pathlib import Path
from xml.etree import ElementTree

import pyarrow as pa
import pytest

from tests.inside import (
    GROUPS,
    SYNTHETIC_MARKER,
    WORDS,
    Claims,
    Compared,
    ComparedCensus,
    CompareRequest,
    Control,
    Source,
    added,
    checked_protections,
    comes_with,
    committee_rows,
    committee_table,
    compare_page,
    family_of,
    letter_of,
    parse,
    protections_of,
    said_for,
    utility_module,
)
from tests.unit.comparison.sample_comparison import MADE_UP, compared, sample_comparison

JUDGING = re.compile(
    r"\b(safe|unsafe|safer|safest|secure|insecure|weak|weaker|weakest|strong|stronger|strongest|good|bad|better|worse"
    r"|best|worst|poor|excellent|superior|inferior|winner|loser|wins|loses|fails|failed|score|rank|ranks|recommended"
    r"|acceptable|unacceptable|dangerous|reliable|unreliable|robust|vulnerable|broken|outdated|modern|harmless)\b",
    re.IGNORECASE,
)
REQUIRED = (
    "An attack that finds nobody proves nothing: another attacker may do better. People proven are a lower bound. People named"
    " or ranked contain lucky guesses: read them with their precision and the baseline.",
    "A formal guarantee holds for every attacker and every table of the release together; the other columns were measured with"
    " these attacks on these tables. They are not the same kind of statement. A guarantee with a large loss is weak: with rho ="
    " 4.944 (2020, persons) no attacker, even one who knows everybody else, can tell presence from absence with an advantage"
    " above 0.91; it is a limit for somebody counted in as many groups as the lists allow, not a measurement. Without a"
    " guarantee no limit below 1 is stated, for one person or for several. The limit covers one person in this product alone. With both products of 2020 a"
    " person's rho is larger, and for a whole household it is larger still: the limit for several people together grows with"
    " their number. It is not meant to limit what is learned about a large group.",
    "Naming a cell of one is not naming a person. Somebody must know who it is; then sex, age or presence is what is learned."
    " What can be guessed without the tables is in the baseline. What is learned where all members of a group share an"
    " attribute is not measured, for any method.",
    "People, households and places are synthetic. Members of a group live near each other, and ages do not differ by group."
    " All numbers here, of users and of people exposed, belong to this world; noise of a fixed size weighs more in a small census.",
    "Parameters that agencies keep secret were assumed; a stronger secret setting protects better and errs more. A weaker"
    " one does the reverse, and users who don't know the setting know of its errors only what the agency publishes.",
    "All methods were asked for equal tables. Some answer with fewer: what they withhold is lost to users, and usually lowers exposure. In"
    " practice an agency that rounds publishes other tables than one that suppresses. These tables are of the kind for which"
    " SafeTab was designed: small groups down to small areas. An agency that rounds, suppresses or swaps would often publish"
    " coarser tables of small groups, which expose fewer people, and often many more tables of other kinds, which together can"
    " expose more. Neither is measured here.",
)
"""Written out once more, so that a change of the page's sentences is seen."""


@pytest.fixture(scope="module", autouse=True)
def _rows_are_looked_up_once() -> Iterator[None]:
    """The tables of results are the same in all tests, and looking up their rows is most of the work."""
    found = dict[tuple[object, ...], tuple[pa.Table, object]]()
    look_up = utility_module._rows

    def once(table: pa.Table, sort: str | None, *sizes: str) -> object:
        key = (id(table), sort, *sizes)
        if key not in found:
            found[key] = (table, look_up(table, sort, *sizes))  # a table that is kept keeps its id
        return found[key][1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(utility_module, "_rows", once)
        yield


@pytest.fixture(scope="module")
def page() -> str:
    return compare_page(sample_comparison())


def body_of(page: str) -> ElementTree.Element:
    """The page's body; tags without an end are closed for the parser."""
    text = re.sub(r"<(col|wbr)>", r"<\1/>", page[page.index("<body") : page.index("</html>")])
    return ElementTree.fromstring(text)


def text_of(element: ElementTree.Element) -> str:
    return " ".join("".join(element.itertext()).split())


def tables_of(page: str, class_name: str) -> list[list[list[str]]]:
    tables = [
        one for one in body_of(page).iter("div") if one.get("class") == class_name and one.find(".//table") is not None
    ]
    return [[[text_of(cell) for cell in row] for row in table.iter("tr")] for table in tables]


def users_of(page: str) -> list[list[str]]:
    return tables_of(page, "committee")[0]


def exposed_of(page: str) -> list[list[str]]:
    return tables_of(page, "committee")[1]


def names_in(page: str) -> list[str]:
    names = [row[0] for row in users_of(page)[1:]]
    assert names == [row[0] for row in exposed_of(page)[1:-1]]
    return names


def test_rows_keep_the_order_asked_for_whatever_the_results_are():
    specs = list(MADE_UP)
    results = [compared(spec) for spec in specs]
    moved = [
        replace(one, utility=other.utility, exposure=other.exposure, guarantee=other.guarantee)
        for one, other in zip(results, reversed(results), strict=True)
    ]
    for given in (results, moved):
        table = committee_table(sample_comparison(protections=tuple(given)))
        assert table["protection"].to_pylist() == specs
    backwards = compare_page(sample_comparison(protections=tuple(reversed(results))))
    expected = [MADE_UP[spec][0] for spec in reversed(specs)]
    assert all(name in row for name, row in zip(expected, names_in(backwards), strict=True))


def test_no_cell_has_a_colour_and_no_class_depends_on_a_result(page):
    cells = [cell for table in body_of(page).iter("table") for cell in (*table.iter("td"), *table.iter("th"))]
    assert len(cells) > 200
    assert {cell.get("class") for cell in cells} == {None, "text"}
    assert not [cell for cell in cells if cell.get("style")]


def test_no_sentence_judges(page):
    body = body_of(page)
    (limits,) = [one for one in body.iter("section") if one.get("id") == "does-not-say"]
    limits.clear()
    assert [match[0] for match in JUDGING.finditer(text_of(body))] == []


@pytest.mark.parametrize("word", ["safe", "Best", "weak", "stronger", "score"])
def test_a_planted_judgement_is_found(page, word):
    assert JUDGING.search(
        text_of(body_of(page.replace("One draw", f"One {word} draw").replace("as one draw", f"as one {word} draw")))
    )


@pytest.mark.parametrize("number", range(len(REQUIRED)))
def test_what_the_page_does_not_say_is_there_word_for_word(page, number):
    (limits,) = [one for one in body_of(page).iter("section") if one.get("id") == "does-not-say"]
    assert [text_of(item) for item in limits.iter("li")][number] == REQUIRED[number]
    assert len(WORDS["does_not_say"]) == len(REQUIRED)


def test_every_section_of_a_method_begins_with_what_is_said_for_it(page):
    cards = [one for one in body_of(page).iter("div") if one.get("class") == "agency"]
    assert len(cards) == len(MADE_UP)
    for card, spec in zip(cards, MADE_UP, strict=True):
        heading, first, *_ = card
        assert heading.tag == "h3"
        assert text_of(first) == f"What is said for it: {said_for(spec)}"


@pytest.mark.parametrize(
    ("spec", "word"),
    [
        ("swap:rate=0.05", "Additivity"),
        ("cell-key:D=2,V=0.9", "Zero stays zero"),
        ("suppress:below=3,secondary=lp", "exact"),
        ("safetab:DIR", "guarantee"),
        ("round-random:base=3", "no bias"),
        ("round:ladder=drb", "known"),
        ("suppress:rule=1980", "are exact, except"),
    ],
)
def test_what_is_said_for_each_method_is_what_its_agency_names_first(spec, word):
    assert word in said_for(spec)
    both = f"Its steps, each alone: {said_for(spec)} {WORDS['said_for_it']['threshold']}"
    assert said_for(f"{spec}+threshold:people=100") == both


def test_steps_that_change_each_other_have_words_of_their_own():
    both = said_for("swap:rate=0.08,target=unique+cell-key:D=3,V=0.14")
    assert both == WORDS["said_for_it"]["swap+cell-key"]
    assert not [claim for claim in ("all sums agree", "Zero stays zero", "off by more") if claim in both]


def test_measured_membership_and_the_guarantee_stand_in_different_columns(page):
    heads = exposed_of(page)[0]
    measured, promised = (
        next(i for i, head in enumerate(heads) if word in head) for word in ("Membership", "Formal limit")
    )
    assert measured != promised
    (safetab,) = [row for row in exposed_of(page) if row[0].startswith("G ")]
    assert safetab[measured] == "0.10"
    assert safetab[promised].startswith("one person added or removed: rho = 4.944 (epsilon = 25.4 at delta = 1e-10)")
    assert "membership at most 0.91" in safetab[promised]
    assert safetab[promised].endswith("at most twice that rho, membership at most 1.00")
    columns = committee_table(sample_comparison()).column_names
    assert {"membership_measured", "membership_limit_of_guarantee"} <= set(columns)


def test_the_page_says_that_choosing_by_the_true_size_tells_something(page):
    assert "Choosing by the true size tells something itself" in page


def test_there_is_no_total_score(page):
    assert not [
        name for name in committee_table(sample_comparison()).column_names if "score" in name or "rank_" in name
    ]
    assert not [row for row in (*users_of(page), *exposed_of(page)) if "total" in row[0].lower()]


def test_what_was_not_measured_is_said_in_words(page):
    by_letter = {row[0][:1]: row for row in exposed_of(page)[1:-1]}
    assert by_letter["G"][1] == "none can be"  # proven, where noise may give any number
    assert by_letter["G"][2] == "no claims"
    assert by_letter["J"][4] == "not measured"
    nothing = sample_comparison(
        protections=tuple(replace(compared(spec), exposure=None) for spec in MADE_UP), baseline=None, examples=(),
        census=ComparedCensus(10, "households", "groups", "totals", is_stress_test=True), controls=(), shown=(),
    )  # fmt: skip
    without = compare_page(nothing)
    assert {cell for row in exposed_of(without)[1:] for cell in row[1:5]} == {"not attacked"}
    assert "Nothing was attacked in this comparison" in without
    assert "true size chose its table" not in without
    assert ("Error and people exposed </strong>" in page, "Error and people exposed </strong>" in without) == (
        True,
        False,
    )
    assert "A protection has a solid mark" not in without
    assert "None" not in unescape(re.sub("<[^>]*>", " ", without[without.index("<body") :])).replace("“None shown”", "")


def test_nothing_of_a_real_census_is_in_the_page_s_own_words():
    census = ComparedCensus(5_000, "dwellings", "kinds of heating", "a total for every kind", "Region 7", "parishes")
    page = compare_page(sample_comparison(census=census, shown_area="Parish 3", shown=(), examples=(), facts={}))
    body = body_of(page)
    for section in [one for one in body.iter("section") if one.get("id") in {"does-not-say", "agencies"}]:
        section.clear()
    words = text_of(body)
    assert "5,000 synthetic dwellings" in words
    assert "parishes" in words
    assert not re.findall(r"\b(tracts?|county|counties|races?)\b", words)


def test_a_control_that_does_not_hold_is_said_and_what_was_not_finished_too():
    page = compare_page(
        sample_comparison(controls=(Control("Enumeration", "It differed by 0.2.", False),), not_finished=("This.",))
    )
    assert "DOES NOT HOLD" in page
    assert "Not finished" in page
    assert "Not finished" not in compare_page(sample_comparison(not_finished=()))


def test_every_attack_is_explained_with_its_example(page):
    body = body_of(page)
    (section,) = [one for one in body.iter("section") if one.get("id") == "attacks"]
    assert [one.text for one in section.iter("h3")] == [attack.capitalize() for attack in WORDS["attacks"]]
    examples = [text_of(one) for one in section.iter("div") if one.get("class") == "example"]
    assert len(examples) == 3
    assert examples[0].endswith("so both are 1.Truth: 1 woman and 1 man.")
    assert examples[0].count("Tract 12") == 1
    assert "both0" in examples[0]


def test_pictures_have_words_and_no_line_is_known_by_colour_alone(page):
    figures = list(body_of(page).iter("figure"))
    assert [text_of(one.find("figcaption")) for one in figures] == [
        "Error against true size", "Share published against true size", "Error and people exposed",
    ]  # fmt: skip
    for one in figures:
        assert one.find("svg/title") is not None
        assert "D Nothing" in text_of(one.find("svg/desc")) or "D, named" in text_of(one.find("svg/desc"))
    (legend,) = [one for one in body_of(page).iter("ul") if one.get("class") == "legend looks"]
    looks = [(item.find("svg/path[1]").get("stroke-dasharray"), item.find("svg/path[2]").get("d")) for item in legend]
    assert len(set(looks)) == len(looks) == len(MADE_UP)
    letters = {letter for one in figures for text in one.iter("text") for letter in (text.text or "").split()}
    assert {letter_of(number) for number in range(len(MADE_UP))} <= letters


def test_families_of_every_preset_have_marks_of_their_own():
    own = [one.protection for one in sample_comparison().protections]
    for group in GROUPS:
        asked, _ = protections_of(group)
        families = {family_of(one.spec) for one in asked}
        some = sample_comparison(shown=(), protections=tuple(
            replace(compared("none"), protection=replace(own[0], spec=one.spec, name=one.name)) for one in asked
        ))  # fmt: skip
        (legend,) = [one for one in body_of(compare_page(some)).iter("ul") if one.get("class") == "legend looks"]
        assert len({item.find("svg/path[2]").get("d") for item in legend}) == len(families)


def of_few_groups(one: Compared, numbers: int) -> Compared:
    """The same comparison with this many numbers of groups of 10 to 99, over ten draws, at each of two levels."""
    rows = [row | {"mean_absolute_error": 77.0} for row in one.utility.to_pylist()]
    rows = [row | ({"numbers": numbers} if row["size_class"] == "10 to 99" else {}) for row in rows]
    return replace(one, utility=pa.Table.from_pylist(rows))


def test_a_mean_of_few_groups_is_printed_with_their_number_and_used_nowhere_else(page):
    first, *others = sample_comparison().protections
    few = compare_page(sample_comparison(protections=(of_few_groups(first, 20), *others)))
    column = users_of(few)[0].index("Mean error of totals, groups of 10 to 99")
    assert (users_of(few)[1][column], users_of(few)[1][column + 1]) == ("77.0 (4 groups)", "77.0")
    header = few.split("<nav")[0]
    assert (
        "off by 0.00 to 4.50 people on average (not in this range, as means of fewer than 30 groups: A: 77.0)" in header
    )
    assert ("A, named:" in page, "A, named:" in few) == (True, False)
    assert "A: no point, since fewer than 30 groups of 10 to 99 are shown." in few
    many = compare_page(sample_comparison(protections=(of_few_groups(first, 150), *others)))
    assert users_of(many)[1][column] == "77.0"
    assert "off by 0.00 to 77.0 people" in many
    every = compare_page(sample_comparison(protections=(of_few_groups(first, 20),)))
    assert "off by an unknown number of people" in every


def test_an_interval_says_how_often_it_held(page):
    (safetab,) = [row for row in exposed_of(page) if row[0].startswith("G ")]
    assert safetab[-1] == "an interval for 95% (held for 96%)"


def test_strengths_of_one_family_are_joined_by_a_line():
    assert (
        family_of("area:people=40+round-random:base=5") == family_of("round-random:base=3,fixed=yes") == "round-random"
    )
    assert family_of("swap:rate=0.08+cell-key:D=3,V=2") == "swap + cell-key"
    strengths = tuple(compared(spec) for spec in MADE_UP if spec.startswith("cell-key"))
    joined, apart = (compare_page(sample_comparison(protections=strengths, is_sweep=one)) for one in (True, False))
    assert joined.count('class="line') == apart.count('class="line') + 2  # proven and named


def test_the_file_has_numbers_and_nulls():
    row = committee_table(sample_comparison()).to_pylist()[6]
    assert (row["letter"], row["protection"], row["proven"], row["named_claims"]) == ("G", "safetab", None, 0)
    assert (row["ranked_cells"], row["ranked_right"], row["ranked_right_of_baseline"]) == (500, 83, 69)
    assert row["error_10_to_99"] == pytest.approx(4.5)


def test_the_same_comparison_gives_the_same_bytes_without_a_script_or_an_address(page):
    assert page == compare_page(sample_comparison())
    assert len(page.encode()) < 200_000
    assert "<script" not in page
    assert "http" not in page.replace("http-equiv", "")


def test_names_are_escaped():
    census = replace(sample_comparison().census, attacked_area="<b>Area</b>")
    assert "<b>" not in compare_page(sample_comparison(census=census))


def named_nobody(one: Compared) -> Compared:
    return replace(one, exposure=replace(one.exposure, named=Claims(0, 0)))


def test_the_lines_at_the_top_give_ranges_and_no_names():
    some = sample_comparison()
    header = compare_page(some).split("<nav")[0].split("<body")[1]
    assert "9 protections, and no protection, made numbers" in header
    found = "0 to 38 were proven (of G, J none can be), and 0 to 452 rightly named. Of the 500 cells that looked likeliest to hold"
    assert f"Of these, with protection, {found} exactly one of the people, 83 to 490 did (69 without the" in header
    assert "; G also has a limit for every attacker, and the others state none. To name" in header
    assert "To name a cell is not to name a person: " in header
    assert not [name for name, *_ in MADE_UP.values() if f">{name}" in header or f" {name} " in header]
    assert "and 0 rightly named." in compare_page(replace(some, protections=tuple(map(named_nobody, some.protections))))


def test_the_page_says_whether_the_attack_worked():
    some = sample_comparison()
    assert "All 3 checks hold: " in compare_page(some)
    first, *others = some.protections
    apart = replace(first, exposure=replace(first.exposure, unfinished=3))
    late = "All 3 checks hold; the attack on A was not finished: another run may find fewer, a better"
    assert late in unescape(compare_page(replace(some, protections=(apart, *others))))
    broken = (replace(some.controls[0], holds=False), *some.controls[1:])
    assert "No: 1 of 3 checks do not hold in this run: " in compare_page(replace(some, controls=broken))
    assert "No check of the attack ran" in compare_page(replace(some, controls=())).split("<nav")[0]


def test_numbers_of_an_attack_that_was_not_finished_are_marked_and_have_no_point(page):
    first, *others = sample_comparison().protections
    apart = replace(first, exposure=replace(first.exposure, unfinished=3))
    marked = compare_page(sample_comparison(protections=(apart, *others)))
    assert [exposed_of(marked)[1][at] for at in (1, 2, 3)] == [f"{exposed_of(page)[1][at]} †" for at in (1, 2, 3)]
    late = "<strong>† </strong>The attack was not finished in some groups (A: 3; “How it was run” says why): another run may find fewer"
    assert late in unescape(marked)
    assert ("A, named:" in page, "A, named:" in marked, "A, proven:" in marked) == (True, False, False)
    assert "A: no points, since the attack was not finished." in unescape(marked)
    assert "†" not in page


def test_ranges_leave_out_what_an_attack_found_that_was_not_finished_and_say_so():
    some = sample_comparison()
    apart = tuple(
        replace(one, exposure=replace(one.exposure, unfinished=8, small_groups=40))
        if "secondary=" in one.protection.spec
        else one
        for one in some.protections
    )
    all_found = replace(apart[8].exposure, presence=Claims(40, 40))
    apart = (*apart[:8], replace(apart[8], exposure=all_found), *apart[9:])
    said = compare_page(replace(some, protections=apart))
    presence = {row[0][0]: row[1] for row in tables_of(said, "further")[-1][1:]}
    assert presence["H"] == "38, and 2 empty †"
    assert presence["I"] == "40, and 0 empty", "nobody is left to be found"
    header = unescape(said.split("<nav")[0])
    assert "and 0 to 368 rightly named." in header
    assert "exactly one of the people, 83 to 490 did (69 without the tables; not in these two ranges, because" in header
    exposed = [(one.exposure.named.right, one.exposure.likeliest.right) for one in apart if one.exposure.unfinished]
    which = ", ".join(
        f"{letter} with {named} and {ranked}" for letter, (named, ranked) in zip("HI", exposed, strict=True)
    )
    assert f"because the attack was not finished: {which}; the numbers of" in header
    all_late = (replace(one, exposure=replace(one.exposure, unfinished=1)) for one in some.protections)
    header = unescape(compare_page(replace(some, protections=tuple(all_late))).split("<nav")[0])
    assert "and an unknown number rightly named." in header
    assert "exactly one of the people, an unknown number did" in header


def test_false_non_zeros_stand_with_their_number(page):
    heads, *rows = users_of(page)
    place = heads.index("Not zero where the truth is zero: how many")
    found = {row["letter"]: row["false_nonzeros_of_a_draw"] for row in committee_table(sample_comparison()).to_pylist()}
    shown = {row[0][0]: row[place] for row in rows if row[place] != "none shown"}
    assert shown
    assert shown == {letter: f"{found[letter]:,.0f}" for letter in shown}


def test_shares_of_secondary_suppression_are_upper_limits(page):
    heads, *rows = users_of(page)
    (suppressed,) = [row for row in rows if row[0].startswith("H ")]
    marked = {head for head, cell in zip(heads, suppressed, strict=True) if cell.endswith("‡")}
    assert marked == {
        "Groups published", "Groups of 10 to 99 published", "Cells of tables shown", "People in published groups",
    }  # fmt: skip
    assert suppressed[heads.index("Groups published")] == "at most 92% ‡"
    assert suppressed[heads.index("Groups of 1 to 9 published")] == "0%"
    assert sum("‡" in "".join(row) for row in rows) == 2
    assert "H, I: the line is an upper limit ‡." in page
    found = committee_table(sample_comparison()).to_pylist()
    assert [row["letter"] for row in found if row["shares_are_upper_limits"]] == ["H", "I"]


def test_what_linear_programs_checked_is_explained_below_the_table(page):
    checked = "none below 1: nothing is random; by linear programs no withheld count follows"
    one = replace(compared("suppress:below=3,secondary=lp"), guarantee=checked)
    said = compare_page(sample_comparison(protections=(one,)))
    assert exposed_of(said)[1][5] == "none below 1: nothing is random ¶"
    assert (
        "<strong>¶ </strong>By linear programs no withheld count of the attacked area follows from its group&#x27;s published"
        in said
    )
    assert "¶" not in page


def test_a_membership_of_a_method_without_random_bits_is_a_share_of_people():
    some = sample_comparison()
    first = replace(compared("round:rule=10-5"), exposure=replace(compared("round:rule=10-5").exposure, membership=0.3))
    said = "(0.30 of A: certainty for this share of them, nothing for the others)"
    assert said in compare_page(replace(some, protections=(first, *some.protections)))
    assert ": certainty for" not in compare_page(some)


def test_larger_areas_are_attacked_or_left_and_the_page_says_which(page):
    assert "Tables of the nation and the state were not attacked. With them no membership would be lower" in page
    census = replace(sample_comparison().census, larger_attacked="the state", larger_left="")
    both = unescape(compare_page(sample_comparison(census=census)))
    assert "Tables of the state were attacked too, since everybody in them lives in Example County." in both
    assert "were not attacked" not in both
    assert "of its privacy loss there" not in both


def test_small_groups_that_noise_lifts_over_a_threshold_are_said_to_be_too_large(page):
    (own,) = (one for one in sample_comparison().protections if one.protection.is_safetab)
    of_level = {"County": (1.0, 0.5), "Tract": (0.4, 6.0)}
    rows = [
        row | {"numbers": 10} | dict(zip(("published_groups_share", "bias"), of_level[row["level"]], strict=True))
        for row in own.utility.to_pylist()
    ]
    said = compare_page(sample_comparison(protections=(replace(own, utility=pa.Table.from_pylist(rows)),)))
    assert "those of 10 to 19 by 6.0 (A) people on average." in said  # at the level that hides some
    assert "of the groups of 1 to 9, 40% to 100% (A) by level" in said
    assert "of 10 to 19 by" not in page  # nobody of that size is shown


def test_tables_that_a_method_does_not_give_are_counted_and_said(page):
    heads, first = users_of(page)[:2]
    assert first[heads.index("Cells of tables shown")] == "50%"
    assert "SafeTab chose its tables by its noisy totals, as in a release." in page
    assert "stress test" not in page
    census = replace(sample_comparison().census, is_stress_test=True)
    assert "This is a stress test" in compare_page(sample_comparison(census=census))
    without = tuple(one for one in sample_comparison().protections if not one.protection.is_safetab)
    assert "SafeTab chose its tables" not in compare_page(sample_comparison(protections=without))


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        ("swap", "<strong>Swapping </strong>The attack reads the smallest areas alone"),
        ("secondary=", "<strong>Secondary suppression </strong>The attack does not use which numbers must be withheld"),
        ("cell-key|fixed=yes", "Numbers that count the same people have the same error"),
        ("safetab", "SafeTab spends 86% of its privacy loss there"),
    ],
)
def test_what_the_attack_leaves_out_is_said_of_the_methods_compared(page, kinds, said):
    assert said in page
    others = tuple(one for one in sample_comparison().protections if not re.search(kinds, one.protection.spec))
    assert said not in compare_page(sample_comparison(protections=others))


def test_the_table_of_further_measures_has_a_baseline_and_no_averaging_of_safetab(page):
    rows = tables_of(page, "further")[-1]
    (safetab,) = [row for row in rows if row[0].startswith("G ")]
    assert safetab[1:] == [
        "38, and 2 empty", "6% as published; not run with a table builder", "31 people (12 slivers looked at)",
    ]  # fmt: skip
    assert rows[-1][0].startswith("Baseline")
    assert "Presence: of 45 groups of 1 or 2, found;" in rows[0][1]


def test_lines_are_promised_only_in_a_sweep(page):
    swept = compare_page(sample_comparison(is_sweep=True))
    assert ("--preset sweep joins" in page, "--preset sweep joins" in swept) == (True, False)
    assert ("see the lines of the third picture" in page, "see the lines of the third picture" in swept) == (
        False,
        True,
    )


def test_a_preset_stands_in_the_order_of_names_and_a_request_in_its_own(tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    (data / SYNTHETIC_MARKER).touch()
    asked = ("round:base=5", "none", "cell-key:D=2,V=0.9")
    own, preset = (
        [
            one.name if not given else one.spec
            for one in checked_protections(tmp_path / "parameters", data, tmp_path / "out", request)[0]
        ]
        for given, request in ((asked, CompareRequest(asked)), ((), CompareRequest(preset="agencies")))
    )
    assert tuple(own) == asked
    assert preset == sorted(preset, key=str.casefold)
    assert len(preset) > 5


def test_the_largest_error_is_promised_only_where_it_is_known():
    own = parse("cell-key:D=2,V=0.9", Path())
    assert comes_with(own) == "the largest error, 2"
    source = Source("An agency", "2021", "A document", (), ("D and V.",))
    assert comes_with(replace(own, source=source)) == "the largest error, where the agency publishes it"
    assert comes_with(replace(parse("round:base=5", Path()), source=source)) == "the largest error, 2"


@pytest.mark.parametrize(
    ("spec", "given"),
    [
        ("none", "exact"),
        ("suppress:below=3", "exact; a mark where withheld"),
        ("threshold:people=10", "exact; a mark where withheld"),
        ("round:rule=10-5", "the largest error, 2; a mark where withheld"),
        ("round:ladder=drb", "a mark where withheld"),
        ("swap:rate=0.05", "nothing"),
        ("swap:rate=0.05+threshold:people=10", "a mark where withheld"),
    ],
)
def test_what_comes_with_a_number(spec, given):
    assert comes_with(parse(spec, Path())) == given


def test_several_areas_are_ranked_together_and_the_page_says_so():
    one = sample_comparison()
    five = replace(
        one,
        census=replace(one.census, attacked=5),
        baseline=added([one.baseline] * 5),
        protections=tuple(replace(each, exposure=added([each.exposure] * 5)) for each in one.protections),
    )
    page = str(compare_page(five))
    assert "Right of the 2,500 likeliest" in page
    assert "hold one: the first 500 of each area, or" in page
    assert "of each area" not in str(compare_page(one))
    assert committee_rows(five)[0]["ranked_cells"] == 2_500


def test_a_protection_asked_for_by_its_text_has_the_source_of_its_preset(tmp_path):
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / SYNTHETIC_MARKER).touch()
    request = CompareRequest(("cell-key:D=2,V=0.9", "round:base=7"))
    (known, unknown), _ = checked_protections(tmp_path / "parameters", tmp_path / "data", tmp_path / "out", request)
    assert known.source is not None
    assert known.source.assumed
    assert unknown.source is None


def test_an_attack_without_an_example_says_so():
    assert str(compare_page(sample_comparison(examples=()))).count("No example in this run") == 4
