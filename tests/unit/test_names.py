"""The resolver of names: one way to read what people write, for the command line, Python and pages."""

from dataclasses import replace

import pytest

from tests.inside import (
    AIANNH,
    COUNTY,
    PLACE,
    RACE_ALONE,
    STATE_NAMES,
    TRACT,
    US,
    AreaKind,
    AreaNames,
    InvalidInput,
    Lookup,
    NameIndex,
    Spelling,
    forms_of_group,
    group_suggestions,
    names_module,
    plain,
)
from tests.named_world import named_universe


@pytest.fixture(scope="module")
def lookup():
    return Lookup(named_universe(), "the release")


@pytest.mark.parametrize(
    ("written", "region"),
    [
        ("1", "1"), ("nation", "1"), ("Nation", "1"), ("USA", "1"), ("U.S.", "1"), ("US", "1"), ("United States", "1"),
        ("united states of america", "1"),
        ("44", "44"), ("RI", "44"), ("r.i.", "44"), ("Rhode Island", "44"), ("rhode  island", "44"),
        ("Washington", "53"), ("WA", "53"), ("Connecticut, CT", "09"), ("DC", "11"), ("Puerto Rico", "72"), ("PR", "72"),
        ("44007", "44007"), (" 44007 ", "44007"),
        ("Providence County, RI", "44007"), ("Providence County, Rhode Island", "44007"),
        ("PROVIDENCE COUNTY,ri", "44007"), ("Providence County RI", "44007"), ("providence county rhode island", "44007"),
        ("Providence County", "44007"), ("Providence County; Rhode Island", "44007"),
        ("Providence County, Rhode Island (county 44007)", "44007"),
        ("Washington County, RI", "44009"), ("Washington, Rhode Island", "44009"), ("Washington UT", "49053"),
        ("dona ana", "35013"), ("DOÑA ANA COUNTY, NM", "35013"), ("Doña Ana County", "35013"),
        ("Saint Bernard Parish", "22087"), ("St Bernard, LA", "22087"),
        ("San Juan County, UT", "49037"),  # its name has no state, its id has
        ("San Juan, PR", "72127"), ("Mayaguez", "72097"), ("mayagüez municipio", "72097"),
        ("Providence city", "4459000"), ("Salt Lake City", "4967000"), ("Salt Lake City city, UT", "4967000"),
        ("Kailua", "1523150"), ("Kailua CDP, HI", "1523150"), ("Kailua CDP (Honolulu County), Hawaii", "1523150"),
        ("Urban Honolulu, HI", "1571550"), ("urban honolulu cdp, hawaii", "1571550"),
        ("Islamorada, Village of Islands village, Florida", "1235050"), ("Islamorada, Village of Islands", "1235050"),
        ("Navajo Nation", "2430"), ("navajo", "2430"), ("Navajo Nation, AZ", "2430"), ("Navajo, New Mexico", "2430"),
        ("Navajo Nation Reservation and Off-Reservation Trust Land, AZ--NM--UT", "2430"), ("2430", "2430"),
        ("Narragansett", "2415"),
        ("44007000101", "44007000101"), ("Census Tract 101", "44007010100"), ("tract 101", "44007010100"),
        ("Census Tract 1.01, Providence County, Rhode Island", "44007000101"),
        ("tract 1.01, Providence, RI", "44007000101"), ("Tract 1.01, Washington County", "44009000101"),
    ],
)  # fmt: skip
def test_an_area_is_found_by_every_way_of_writing_its_name(written, region, lookup):
    assert lookup.entity(written).region_id == region


@pytest.mark.parametrize(
    ("written", "level", "region"),
    [
        ("Providence", "county", "44007"),
        ("Providence", "place", "4459000"),
        ("San Juan, PR", "Counties", "72127"),
        ("District of Columbia", "COUNTY", "11001"),
        ("United States", "nation", "1"),
        ("1.01", "tract", None),  # a number alone is no name
    ],
)
def test_a_level_narrows_the_search(written, level, region, lookup):
    if region is None:
        with pytest.raises(InvalidInput, match="is not in this release"):
            lookup.entity(written, level)
    else:
        assert lookup.entity(written, level).region_id == region


@pytest.mark.parametrize(
    ("written", "choices"),
    [
        ("Providence", ["Providence County, Rhode Island (county 44007)", "Providence city, Rhode Island (place 4459000)"]),
        ("Washington County", ["Washington County, Rhode Island (county 44009)", "Washington County, Utah (county 49053)"]),
        ("tract 1.01", ["(tract 44007000101)", "(tract 44009000101)"]),
        ("San Juan", ["San Juan County (county 49037)", "San Juan Municipio, Puerto Rico (county 72127)"]),
    ],
)  # fmt: skip
def test_ambiguity_lists_the_choices_and_each_choice_is_found(written, choices, lookup):
    with pytest.raises(InvalidInput) as refused:
        lookup.entity(written)
    message = refused.value.findings[0].message
    assert f"has {len(choices)} matches: " in message
    for choice in choices:
        assert choice in message
        assert str(lookup.entity(choice)).endswith(choice)


@pytest.mark.parametrize(
    "written",
    ["Nation Reservation", "ovidence", "Provid", "Lake", "Honolulu", "Rhode", "Islands", "Off-Reservation Trust Land"],
)
def test_a_part_of_a_name_is_no_name(written, lookup):
    with pytest.raises(InvalidInput, match="is not in this release"):
        lookup.entity(written)


@pytest.mark.parametrize(
    ("written", "suggested"),
    [
        ("Provdence County, RI", "Providence County, Rhode Island"),
        ("Providance County", "Providence County, Rhode Island"),
        ("Conecticut", "Did you mean Connecticut?"),
        ("Washingtn County, Utah", "Did you mean Washington County, Utah?"),
        ("Salt Lake", "Did you mean Salt Lake City city, Utah?"),
        ("Providence County, Utah", "Providence County, Rhode Island"),
        (
            "Providence, Rhode Iland",
            "mean one of these: Providence County, Rhode Island; Providence city, Rhode Island?",
        ),
        ("Washington County, Uta", "Did you mean Washington County, Utah?"),
        ("Salt Lake City, Atlantis", "Did you mean Salt Lake City city, Utah?"),
        ("Census Tract 1.01 Providence County RI", 'written with commas, e.g. "Tract 1.01, Providence County, RI"'),
        ("Trust Land", "Navajo Nation Reservation and Off-Reservation Trust Land, AZ--NM--UT"),
    ],
)
def test_what_may_have_been_meant_is_suggested(written, suggested, lookup):
    with pytest.raises(InvalidInput) as refused:
        lookup.entity(written)
    assert suggested in refused.value.findings[0].message


def test_a_level_is_told_from_an_area(lookup):
    with pytest.raises(InvalidInput, match='"county" is a level, not an area'):
        lookup.entity("county")


@pytest.mark.parametrize(
    ("word", "levels"),
    [
        ("county", ["COUNTY", "PR-COUNTY"]), ("COUNTY", ["COUNTY", "PR-COUNTY"]), ("Counties", ["COUNTY", "PR-COUNTY"]),
        ("PR-COUNTY", ["PR-COUNTY"]), ("pr-county", ["PR-COUNTY"]), ("nation", ["USA"]), ("USA", ["USA"]),
        ("census tract", ["TRACT"]), ("AIANNH area", ["AIANNH"]), ("states", ["STATE", "PR-STATE"]),
    ],
)  # fmt: skip
def test_words_for_levels(word, levels, lookup):
    assert [one.label for one in lookup.geographies_of(word)] == levels


def test_a_misspelt_level_is_suggested(lookup):
    with pytest.raises(InvalidInput, match=r'"conty" is not a level of this release\. Did you mean county'):
        lookup.geographies_of("conty")


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("1048", "1048"), ("Hmong alone", "1048"), ("hmong ALONE", "1048"), ("Hmong (alone)", "1048"),
        ("Hmong alone (1048)", "1048"), ("Hmong alone or in any combination", "1126"), ("Hmong in combination", "1126"),
        ("Hmong, alone or in combination", "1126"), ("hmong combination", "1126"), ("Navajo Nation", "1055"),
        ("White", "1001"), ("Dominican", "4020"), ("dominican ethnicity", "4020"), ("Latino(a)", "4022"),
        ("Latino", "4022"), ("Other Hispanic Latino or Spanish", "4021"),
        ("Crow Tribe of Montana alone", "1060"),
        ("Crow Tribe of Montana alone (Sub-state and AIANNH geographies)", "1061"),
    ],
)  # fmt: skip
def test_a_group_is_found_by_every_way_of_writing_its_name(written, code, lookup):
    assert lookup.group(written, at=US.area_level("STATE")).code == code


def test_a_group_that_is_listed_twice_is_the_one_that_the_level_tabulates(lookup):
    assert lookup.group("Crow Tribe of Montana", at=US.area_level("STATE")).code == "1060"
    assert lookup.group("Crow Tribe of Montana", at=US.area_level("COUNTY")).code == "1061"


def test_a_group_of_two_kinds_is_ambiguous_until_the_kind_is_given(lookup):
    with pytest.raises(
        InvalidInput, match=r"has 2 matches: Hmong alone \(1048\); Hmong alone or in any combination \(1126"
    ):
        lookup.group("Hmong")
    assert lookup.group("Hmong", kind="combination").code == "1126"
    assert [one.code for one in lookup.groups("Hmong")] == ["1048", "1126"]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("nation", "Did you mean Navajo Nation alone?"),
        ("Hmogn", "Did you mean one of these: Hmong alone; Hmong alone or in any combination?"),
        ("Dominicans", "Did you mean Dominican?"),
        ("Crow", "Crow Tribe of Montana alone"),
        ("Klingon", "is not in this release."),
        ("", '"" is not in this release.'),
    ],
)
def test_a_group_that_is_not_there_is_told(written, message, lookup):
    for look in (lookup.group, lookup.groups):
        with pytest.raises(InvalidInput) as refused:
            look(written)
        assert message in refused.value.findings[0].message


PEOPLES = ["Black or African American", "African American", "American Indian", "South American", "Mexican", "Asian",
           "Asian Indian", "East Asian", "Beninese", "Chinese, except Taiwanese", "Hmong", "Zambian", "Zuni Tribe"]  # fmt: skip


@pytest.mark.parametrize(
    ("written", "suggested"),
    [
        ("chinese alone", ["Chinese, except Taiwanese"]),
        ("chines alone", ["Chinese, except Taiwanese"]),  # and not Beninese, which looks like it
        ("Mexican American", ["Mexican"]),  # and not African American
        ("mexcan american", ["Mexican"]),
        ("Indian American", []),  # and not American Indian
        ("Gambian", []),  # and not Zambian
        ("Klingon American", []),
        ("American Klingon", []),
        ("Hmnog", ["Hmong"]), ("Hmog", ["Hmong"]), ("Hmongg", ["Hmong"]), ("Hmang", ["Hmong"]), ("Hmaang", []),
        ("Hmnog tribe", []),
        ("Zuni", ["Zuni Tribe"]),
        ("asain", ["Asian", "East Asian", "Asian Indian"]),
        ("alone", []), ("", []),
    ],
)  # fmt: skip
def test_a_suggested_group_is_never_a_different_people(written, suggested):
    given = [(f"{name} alone", RACE_ALONE) for name in PEOPLES]
    assert group_suggestions(plain(written), given) == [f"{name} alone" for name in suggested]


def test_what_follows_a_colon_names_a_group_unless_another_has_the_name():
    given = ["Black, Black British: Somali", "White: Irish", "Irish", "Sto:lo Nation alone"]
    index = NameIndex(given, lambda position: forms_of_group(given[position], RACE_ALONE))
    assert index.ranked("somali") == [(1, 0)]
    assert index.ranked("irish") == [(0, 2), (1, 1), (1, 2)]
    assert index.ranked("lo nation alone") == []


ODD_NAMES = [
    "Prince George's County, Maryland", "O\N{RIGHT SINGLE QUOTATION MARK}Brien County, Iowa", "St. Mary's County, MD",
    "Saint Mary, LA", "Doña Ana County, New Mexico", "Winston-Salem city, NC", "Lewis & Clark County, MT",
    "Census Tract 1.01; Kent County; RI", "Tract 1.01", "Census Tract 12", "DuPage_County, Illinois", "Kailua CDP (Honolulu)",
    "Islamorada, Village of Islands village, Florida", "Navajo Nation Reservation and Off-Reservation Trust Land, AZ--NM",
    "Chinese, except Taiwanese alone", "Hmong alone or in any combination", "Mexican", "", "St", "Tract", "U.S. Minor",
]  # fmt: skip


@pytest.mark.parametrize("kind", [COUNTY, PLACE, AIANNH, TRACT, *US.group_kinds])
def test_who_asks_seldom_finds_the_same(kind, monkeypatch):
    areas = AreaNames(US.spelling, US.spelling.part_names)
    other_words = (
        US.spelling.starts if isinstance(kind, AreaKind) else [end for one in US.group_kinds for end in one.ends]
    )

    def forms_of(position):
        name = ODD_NAMES[position]
        return areas.heads_of_area(name, kind) if isinstance(kind, AreaKind) else forms_of_group(name, kind)

    monkeypatch.setattr(names_module, "_FEW_NAMES", 0)
    asked_often = NameIndex(ODD_NAMES, forms_of, other_words)
    asked_often._times_asked = names_module._SELDOM
    forms = {form for position in range(len(ODD_NAMES)) for some in forms_of(position) for form in some}
    assert len(forms) > 20
    for form in sorted({*forms, "no such name", "county", "st mary", "tract 1.02", ""}):
        assert NameIndex(ODD_NAMES, forms_of, other_words).ranked(form) == asked_often.ranked(form), form
    assert all(asked_often.ranked(form) for form in forms)


def test_every_state_has_a_name_and_two_letters():
    assert len(STATE_NAMES) == 52
    assert all(len(letters) == 2 and letters.isupper() and name[0].isupper() for name, letters in STATE_NAMES.values())
    assert STATE_NAMES["11"] == ("District of Columbia", "DC")


def test_a_census_without_a_spelling_takes_the_names_of_its_own_areas():
    lookup = Lookup(replace(named_universe(), census=replace(US, spelling=Spelling())), "the release")
    assert lookup.entity("Connecticut").region_id == "09"
    assert lookup.entity("Providence County, Rhode Island").region_id == "44007"
    assert lookup.entity("census tract 1.01, washington county, rhode island").region_id == "44009000101"
    for american in ("CT", "USA", "Providence", "San Juan County, UT", "tract 101"):
        with pytest.raises(InvalidInput, match="is not in this release"):
            lookup.entity(american)
