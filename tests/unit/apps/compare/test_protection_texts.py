"""Texts of protections, presets with their sources, and explanations with their examples."""

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.random import default_rng

from tests.cases import cases_of, digits_in, values_of
from tests.commands import invalid
from tests.counted_census import parsed
from tests.inside import (
    GROUPS,
    GROUPS_OF,
    METHODS,
    PRESETS,
    REVIEW_BOARD,
    ROUNDING_EXACT,
    SWEEP,
    ExactTables,
    InvalidInput,
    Rounding,
    Rows,
    Swapping,
    Threshold,
    checked,
    explanation,
    list_text,
    parse,
    presets_module,
    protections_of,
    publish,
    rounding_module,
    with_source,
)


@pytest.mark.parametrize(
    ("text", "canonical"),
    cases_of(
        """
        none | none
        safetab | safetab
        safetab:scale=.250 | safetab:scale=0.25
        safetab:scale=04 | safetab:scale=4
        round:base=5 | round:base=5
        round: base = 5 | round:base=5
        round:rule=10-5,zeros=shown | round:rule=10-5
        round-random:fixed=yes,base=3 | round-random:base=3,fixed=yes
        round-random:base=3,fixed=no | round-random:base=3
        suppress:zeros=withheld,below=3,range=1 | suppress:below=3,zeros=withheld
        cell-key:V=0.90,D=2,js=0,pstay=0 | cell-key:D=2,V=0.9
        cell-key:D=5,V=3,js=2,pstay=.5 | cell-key:D=5,V=3,js=2,pstay=0.5
        area:people=40 + round-random:base=5 | area:people=40+round-random:base=5
        swap:rate=.05,size-noise=0/1/0 | swap:rate=0.05
        swap:rate=0.5,size-noise=.25/.5/.25,geography=.3/.4/.3,target=unique | swap:rate=0.5,size-noise=0.25/0.5/0.25,geography=0.3/0.4/0.3,target=unique
        """
    ),
)
def test_a_text_has_one_canonical_form_which_gives_the_same_protection(text, canonical):
    protection = parsed(f" {text} ")
    assert protection.spec == canonical
    again = parsed(canonical)
    assert (again.spec, again.name) == (protection.spec, protection.name)


def test_steps_go_to_their_places():
    protection = parsed("swap:rate=0.1+area:people=40+threshold:people=10+suppress:below=3,zeros=withheld")
    assert protection.records == Swapping(0.1)
    assert protection.selections == (Threshold(40, is_of_areas=True), Threshold(10, is_of_areas=False))
    assert protection.numbers == Rounding(ROUNDING_EXACT, 3, zeros_shown=False)
    assert parsed("round:ladder=drb").numbers == Rounding(REVIEW_BOARD, withheld_below=15)
    assert parsed("none").numbers is None


def test_safetab_takes_a_directory_of_parameters(tmp_path):
    (tmp_path / "other").mkdir()
    protection = parse("safetab:other", tmp_path)
    assert protection.is_safetab
    assert protection.parameters == tmp_path / "other"
    assert "is not a directory" in str(checked("safetab:missing", tmp_path).errors[0])


@pytest.mark.parametrize(
    "case",
    cases_of(
        """
         | There is no such protection. Known: none, safetab, swap, area
        rond:base=5 | rond: There is no such protection. Did you mean "round"?
        round:bas=5,ladder=x | round bas: There is no such key. Did you mean "base"? | round ladder: "x": Give drb.
        round | round: Give base, ladder or rule.
        round:base=5,ladder=drb | round: Give base, ladder or rule.
        round:base=5,zeros=withheld | round zeros: It can't be given with base.
        round:base=0 | round base: "0": Give a whole number from 1 to 1000000.
        round:base=² | round base: "²": Give a whole number
        round:base | round base: It has no value. Write key=value.
        round:base=5,base=5 | round base: It is given twice.
        round-random:fixed=yes | round-random: Give base.
        round-random:base=3,fixed=maybe | round-random fixed: "maybe": Give no or yes.
        area:people=0 | area people: "0"
        suppress:rule=1980,zeros=withheld | suppress zeros: It can't be given with rule.
        suppress:below=3,range=5 | suppress range: It can only be given with secondary=lp.
        cell-key:D=2 | cell-key: Give D and V or ptable.
        cell-key:D=2,V=nan,pstay=2 | cell-key V: "nan": Give a number from 0 to 900. | cell-key pstay: "2"
        cell-key:D=5,V=1.5,js=2 | cell-key V: With js=2 it can't be below 2.
        cell-key:D=2,V=9,js=3 | cell-key js: 3 is larger than D
        cell-key:ptable=missing.csv,D=2 | cell-key D: It can't be given with ptable.
        cell-key:ptable=missing.csv | cell-key ptable: missing.csv does not exist.
        swap:rate=2,size-noise=1/2 | swap rate: "2": Give a number from 0 to 1. | Give three chances that sum to 1
        round:base=5+area:people=3 | steps: round and area can't be joined so. Give swap first
        round:base=5+round-random:base=3 | steps: round and round-random can't be joined so.
        area:people=4+area:people=5 | steps: area and area can't be joined so.
        none+round:base=5 | none: It can't be joined with other steps.
        safetab:scale=0 | safetab scale: "0": Give a number above 0, such as 0.25.
        safetab:scale=-1 | safetab scale: "-1": Give a number above 0
        safetab:scale=half | safetab scale: "half": Give a number above 0
        safetab:scale=nan | safetab scale: "nan": Give a number above 0
        safetab:scale=1e999 | safetab scale: "1e999": Give a number above 0
        safetab:scale= | safetab scale: "": Give a number above 0
        safetab:scal=2 | scal=2 is not a directory. Give the directory of its parameters, 2020, or scale=F.
        safetab:scale=2+round:base=5 | safetab: It can't be joined with other steps.
        safetab+round:base=5 | safetab: It can't be joined with other steps.
        rund:base=5+cell-key:D=x,V=1 | rund: There is no such protection. | cell-key D: "x"
        """
    ),
)
def test_every_mistake_in_a_text_is_found_at_once(case):
    text, *messages = case
    with pytest.raises(InvalidInput) as refusal:
        parsed(text)
    assert len(refusal.value.findings) == len(messages)
    assert not [message for message in messages if message not in str(refusal.value)]


def test_a_table_that_does_not_sum_to_1_is_refused_with_its_row(tmp_path):
    (tmp_path / "ptable.csv").write_text("i,j,p\n0,0,1\n1,1,0.9\n")
    given = "cell-key:ptable=ptable.csv", tmp_path
    assert "cell-key ptable: i = 1: the probabilities sum to 0.9, not to 1." in invalid(parse, *given)
    (tmp_path / "ptable.csv").write_text("i,j,p\n0,0,1\n1,1,0.5\n1,2,0.25\n1,0,0.25\n")
    assert parse(*given).spec == given[0]


def test_secondary_suppression_without_or_tools_is_refused(monkeypatch):
    monkeypatch.setattr(rounding_module, "is_available", lambda: False)
    assert "Install it: pip install ortools." in invalid(parsed, "suppress:below=3,secondary=lp")
    assert parsed("suppress:below=3").numbers == Rounding(ROUNDING_EXACT, 3)


# Presets

_NOTHING_ASSUMED = "none", "safetab"  # SafeTab takes the parameters that it is given


def test_every_preset_is_canonical_and_has_a_source():
    assert len({preset.spec for preset in PRESETS}) == len(PRESETS)
    for preset in PRESETS:
        assert parsed(preset.spec).spec == preset.spec
        assert set(GROUPS_OF[preset.spec]) <= set(GROUPS)
        assert preset.source.published
        assert bool(preset.source.document) == (preset.spec != "none")
        assert bool(preset.source.assumed) == (preset.spec not in _NOTHING_ASSUMED)


def test_groups_hold_what_they_promise():
    for group in set(GROUPS) - {"sweep"}:
        protections, left_out = protections_of(group)
        assert not left_out
        assert {"none", "safetab"} <= {protection.spec for protection in protections}
        assert all(protection.source is not None for protection in protections)
    assert any("swap" in each.spec and "cell-key" in each.spec for each in protections_of("agencies")[0])
    order = " ".join(protection.spec for protection in protections_of("order-2026")[0])
    assert "swap" not in order
    assert "cell-key" not in order


@pytest.mark.parametrize("group", sorted(set(GROUPS) - {"sweep"}))
def test_the_protections_of_a_group_are_in_order_of_their_names(group):
    names = [protection.name.casefold() for protection in protections_of(group)[0]]
    assert names == sorted(names)


def test_the_sweep_has_every_family_at_five_strengths_by_name():
    assert {len(set(specs)) for specs in SWEEP.values()} == {5}
    assert list(SWEEP) == sorted(SWEEP, key=str.casefold)
    protections, left_out = protections_of("sweep")
    assert [protection.spec for protection in protections] == [spec for specs in SWEEP.values() for spec in specs]
    assert not left_out
    scales = [protection.scale for protection in protections if protection.is_safetab]
    assert scales == [16, 4, 1, Fraction(1, 4), Fraction(1, 16)]


def test_without_or_tools_a_group_has_all_others_and_says_what_was_left_out(monkeypatch):
    every, _ = protections_of("agencies")
    monkeypatch.setattr(rounding_module, "is_available", lambda: False)
    some, left_out = protections_of("agencies")
    missing = [each.spec for each in every if "secondary=lp" in each.spec]
    assert missing
    assert [each.spec for each in some] == [each.spec for each in every if each.spec not in missing]
    assert [*left_out] == missing
    assert all(reason.startswith("lp needs OR-Tools") for reason in left_out.values())


def test_a_protection_that_equals_a_preset_gets_its_name_and_source():
    assert with_source(parsed("round-random:fixed=yes,base=3")).source.agency == "Stats NZ"
    own = with_source(parsed("round-random:base=7"))
    assert (own.name, own.source) == ("random rounding to base 7", None)


def test_the_like_of_ons_changes_about_14_percent_of_the_counts_above_0():
    stays = parsed("cell-key:D=3,V=0.14").numbers.chances[1:, 3]
    assert ((stays > 0.85) & (stays < 0.87)).all()


# Texts


def test_the_list_names_every_preset_with_published_and_assumed():
    text = list_text()
    assert max(map(len, text.splitlines())) <= 100
    unfolded = " ".join(text.split())
    for preset in PRESETS:
        assert unfolded.count(f" {preset.name}: {preset.spec} ") == len(GROUPS_OF[preset.spec]) + 1
    assert text.count("Published: ") == len(PRESETS)
    assert text.count("Assumed: ") == len(PRESETS) - len(_NOTHING_ASSUMED)
    assert all(sentence in unfolded for preset in PRESETS for sentence in preset.source.assumed)


@pytest.mark.parametrize(
    ("name", "strength", "line"),
    values_of(
        """
        "none" | "exact" | ["area 1, cell 1", "1", "1"]
        "rounding" | "easy to explain" | ["area 3", "41", "40", "40", "40"]
        "random-rounding" | "keeps the mean" | ["area 1, cell 1", "1"]
        "cell-key" | "zero stays zero" | ["area 1, cell 1", "1"]
        "thresholds" | "published is exact" | ["area 2", "7", "7", "withheld"]
        "swapping" | "adds up" | ["area 1, cell 1", "1", "0"]
        "safetab" | "formal guarantee" | ["area 2", "7", "withheld"]
        """
    ),
)
def test_an_explanation_begins_with_what_the_method_is_good_at_and_ends_with_ten_numbers(name, strength, line):
    text = explanation(name)
    assert strength in text.split("\n\n")[1].split(".")[0]
    assert line in [re.split("  +", each)[: len(line)] for each in text.splitlines()]
    assert sum(each.startswith(("area ", "all areas")) for each in text.splitlines() if "  " in each) == 10
    assert text == explanation(name)


def example_tables():
    """Ten numbers of one group: two cells and the total of each of three areas, and all areas."""
    parts = Rows.of_lists(digits_in("0 1 01 2 3 23 4 5 45 012345"))
    counts = np.array([1, 3, 2, 5, 17, 24])
    keys = default_rng(10).integers(0, 2**64, len(counts), dtype=np.uint64)
    group, people = np.repeat([[4, 7, 41], [30, 900, 2000]], 3, axis=1)
    return ExactTables(parts.sums(counts), parts.sums(keys), np.append(group, 52), np.append(people, 2930), parts)


def example_of(name):
    """The columns of the ten numbers by their headings, as they are printed."""
    after = explanation(name).split("Ten numbers of one group\n\n")[1]
    rows = [re.split("  +", line) for line in after.split("\n\n")[0].splitlines()]
    return {heading: printed for heading, *printed in zip(*rows, strict=True)}


@pytest.mark.parametrize(
    ("name", "examples"),
    values_of(
        """
        "none" | 1
        "rounding" | 3
        "random-rounding" | 2
        "suppression" | 2
        "cell-key" | 2
        "thresholds" | 2
        """
    ),
)
def test_the_examples_are_what_the_protections_publish(name, examples):
    columns, tables = example_of(name), example_tables()
    assert columns.pop("true") == [str(count) for count in tables.counts]
    assert len(columns.pop("")) == 10
    assert len(columns) == examples
    for spec, printed in columns.items():
        numbers = publish(parsed(spec), tables, default_rng(10)).numbers.tolist()
        assert printed == ["withheld" if number is None else f"{number:,}" for number in numbers]


def test_the_example_of_swapping_adds_up():
    cells = [int(number) for number in example_of("swapping")["after one swap"]]
    assert example_tables().parts.sums(np.array([cells[place] for place in (0, 1, 3, 4, 6, 7)])).tolist() == cells


@pytest.mark.parametrize(
    ("spelled", "name"),
    cases_of(
        """
        round | rounding
        suppress | suppression
        swap | swapping
        area | thresholds
        threshold | thresholds
        round-random | random-rounding
        """
    ),
)  # fmt: skip
def test_names_of_steps_are_explained_too(spelled, name):
    assert explanation(spelled) == explanation(name)


def test_an_unknown_method_is_refused_with_the_nearest_name():
    assert 'Did you mean "swapping"' in invalid(explanation, "swaping")


def test_no_text_ranks_a_method():
    """Explanations and sources use no word that praises or blames."""
    folder = Path(presets_module.__file__).parent
    files = [folder / "presets.toml", *(folder / "protections").glob("*.toml")]
    assert len(files) == 1 + len(METHODS)
    texts = [file.read_text().lower() for file in files]
    for (word,) in cases_of(
        """
        best
        worst
        outdated
        superior
        inferior
        unfortunately
        fails
        gold standard
        """
    ):
        assert all(f" {word} " not in text for text in texts)
