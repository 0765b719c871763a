"""The resolver of names: one way to read what people write, for the command line, Python and pages."""

from dataclasses import replace

import pytest

from tests.cases import cases_of, lines_in
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
    "area",
    lines_in(
        """
        1 = 1|nation|Nation|USA|U.S.|US|United States|united states of america
        44 = 44|RI|r.i.|Rhode Island|rhode  island
        53 = Washington|WA
        09 = Connecticut, CT
        11 = DC
        72 = Puerto Rico|PR
        44007 = 44007| 44007 |Providence County, RI|Providence County, Rhode Island|PROVIDENCE COUNTY,ri
        44007 = Providence County RI|providence county rhode island|Providence County|Providence County; Rhode Island
        44007 = Providence County, Rhode Island (county 44007)
        44009 = Washington County, RI|Washington, Rhode Island
        49053 = Washington UT
        35013 = dona ana|DOÑA ANA COUNTY, NM|Doña Ana County
        22087 = Saint Bernard Parish|St Bernard, LA
        49037 = San Juan County, UT
        72127 = San Juan, PR
        72097 = Mayaguez|mayagüez municipio
        4459000 = Providence city
        4967000 = Salt Lake City|Salt Lake City city, UT
        1523150 = Kailua|Kailua CDP, HI|Kailua CDP (Honolulu County), Hawaii
        1571550 = Urban Honolulu, HI|urban honolulu cdp, hawaii
        1235050 = Islamorada, Village of Islands village, Florida|Islamorada, Village of Islands
        2430 = 2430|Navajo Nation|navajo|Navajo Nation, AZ|Navajo, New Mexico
        2430 = Navajo Nation Reservation and Off-Reservation Trust Land, AZ--NM--UT
        2415 = Narragansett
        44007010100 = Census Tract 101|tract 101
        44007000101 = 44007000101|Census Tract 1.01, Providence County, Rhode Island|tract 1.01, Providence, RI
        44009000101 = Tract 1.01, Washington County
        """
    ),  # the name of San Juan County has no state, its id has
)
def test_an_area_is_found_by_every_way_of_writing_its_name(area, lookup):
    region, ways = area.split(" = ")
    for written in ways.split("|"):
        assert lookup.entity(written).region_id == region


@pytest.mark.parametrize(
    "case",
    cases_of(
        """
        Providence | county | 44007
        Providence | place | 4459000
        San Juan, PR | Counties | 72127
        District of Columbia | COUNTY | 11001
        United States | nation | 1
        """
    ),
)
def test_a_level_narrows_the_search(case, lookup):
    *written, region = case
    assert lookup.entity(*written).region_id == region


def message_about(look, *written):
    """Of a name that is refused."""
    with pytest.raises(InvalidInput) as refused:
        look(*written)
    return refused.value.findings[0].message


@pytest.mark.parametrize(
    "case",
    cases_of(
        """
        Providence | Providence County, Rhode Island (county 44007) | Providence city, Rhode Island (place 4459000)
        Washington County | Washington County, Rhode Island (county 44009) | Washington County, Utah (county 49053)
        tract 1.01 | (tract 44007000101) | (tract 44009000101)
        San Juan | San Juan County (county 49037) | San Juan Municipio, Puerto Rico (county 72127)
        """
    ),
)
def test_ambiguity_lists_the_choices_and_each_choice_is_found(case, lookup):
    written, *choices = case
    message = message_about(lookup.entity, written)
    assert f"has {len(choices)} matches: " in message
    for choice in choices:
        assert choice in message
        assert str(lookup.entity(choice)).endswith(choice)


def test_a_part_of_a_name_is_no_name(lookup):
    """Nor is a number alone."""
    for written in cases_of(
        """
        Nation Reservation
        ovidence
        Provid
        Lake
        Honolulu
        Rhode
        Islands
        Off-Reservation Trust Land
        1.01 | tract
        """
    ):
        assert "is not in this release" in message_about(lookup.entity, *written)
    assert '"county" is a level, not an area' in message_about(lookup.entity, "county")


def test_what_may_have_been_meant_is_suggested(lookup):
    for written, suggested in cases_of(
        """
        Provdence County, RI | Providence County, Rhode Island
        Providance County | Providence County, Rhode Island
        Conecticut | Did you mean Connecticut?
        Washingtn County, Utah | Did you mean Washington County, Utah?
        Salt Lake | Did you mean Salt Lake City city, Utah?
        Providence County, Utah | Providence County, Rhode Island
        Providence, Rhode Iland | mean one of these: Providence County, Rhode Island; Providence city, Rhode Island?
        Washington County, Uta | Did you mean Washington County, Utah?
        Salt Lake City, Atlantis | Did you mean Salt Lake City city, Utah?
        Census Tract 1.01 Providence County RI | written with commas, e.g. "Tract 1.01, Providence County, RI"
        Trust Land | Navajo Nation Reservation and Off-Reservation Trust Land, AZ--NM--UT
        """
    ):
        assert suggested in message_about(lookup.entity, written)


def test_words_for_levels(lookup):
    for levels, *words in cases_of(
        """
        COUNTY PR-COUNTY | county | COUNTY | Counties
        PR-COUNTY | PR-COUNTY | pr-county
        USA | nation | USA
        TRACT | census tract
        AIANNH | AIANNH area
        STATE PR-STATE | states
        """
    ):
        for word in words:
            assert " ".join(one.label for one in lookup.geographies_of(word)) == levels
    told = message_about(lookup.geographies_of, "conty")
    assert '"conty" is not a level of this release. Did you mean county' in told


@pytest.mark.parametrize(
    "case",
    cases_of(
        """
        1048 | 1048 | Hmong alone | hmong ALONE | Hmong (alone) | Hmong alone (1048)
        1126 | Hmong alone or in any combination | Hmong in combination | Hmong, alone or in combination | hmong combination
        1055 | Navajo Nation
        1001 | White
        4020 | Dominican | dominican ethnicity
        4022 | Latino(a) | Latino
        4021 | Other Hispanic Latino or Spanish
        1060 | Crow Tribe of Montana alone | Crow Tribe of Montana
        1061 | Crow Tribe of Montana alone (Sub-state and AIANNH geographies)
        """
    ),
)
def test_a_group_is_found_by_every_way_of_writing_its_name(case, lookup):
    code, *ways = case
    for written in ways:
        assert lookup.group(written, at=US.area_level("STATE")).code == code


def test_a_group_that_is_listed_twice_is_the_one_that_the_level_tabulates(lookup):
    assert lookup.group("Crow Tribe of Montana", at=US.area_level("COUNTY")).code == "1061"


def test_a_group_of_two_kinds_is_ambiguous_until_the_kind_is_given(lookup):
    told = message_about(lookup.group, "Hmong")
    assert "has 2 matches: Hmong alone (1048); Hmong alone or in any combination (1126" in told
    assert lookup.group("Hmong", kind="combination").code == "1126"
    assert [one.code for one in lookup.groups("Hmong")] == ["1048", "1126"]


def test_a_group_that_is_not_there_is_told(lookup):
    for written, message in cases_of(
        """
        nation | Did you mean Navajo Nation alone?
        Hmogn | Did you mean one of these: Hmong alone; Hmong alone or in any combination?
        Dominicans | Did you mean Dominican?
        Crow | Crow Tribe of Montana alone
        Klingon | is not in this release.
        | "" is not in this release.
        """
    ):
        for look in lookup.group, lookup.groups:
            assert message in message_about(look, written)


PEOPLES = (
    "Black or African American|African American|American Indian|South American|Mexican|Asian|Asian Indian|East Asian"
    "|Beninese|Chinese, except Taiwanese|Hmong|Zambian|Zuni Tribe"
)


def test_a_suggested_group_is_never_a_different_people():
    given = [(f"{name} alone", RACE_ALONE) for name in PEOPLES.split("|")]
    # not Beninese, which looks like Chinese; not African American; not American Indian or Zambian
    for suggested, *ways in cases_of(
        """
        Chinese, except Taiwanese | chinese alone | chines alone
        Mexican | Mexican American | mexcan american
        | Indian American | Gambian | Klingon American | American Klingon | Hmaang | Hmnog tribe | alone |
        Hmong | Hmnog | Hmog | Hmongg | Hmang
        Zuni Tribe | Zuni
        Asian; East Asian; Asian Indian | asain
        """
    ):
        for written in ways:
            found = group_suggestions(plain(written), given)
            assert found == [f"{name} alone" for name in suggested.split("; ") if name], written


def test_what_follows_a_colon_names_a_group_unless_another_has_the_name():
    given = ["Black, Black British: Somali", "White: Irish", "Irish", "Sto:lo Nation alone"]
    index = NameIndex(given, lambda position: forms_of_group(given[position], RACE_ALONE))
    assert index.ranked("somali") == [(1, 0)]
    assert index.ranked("irish") == [(0, 2), (1, 1), (1, 2)]
    assert index.ranked("lo nation alone") == []


ODD_NAMES = (
    "Prince George's County, Maryland|O\N{RIGHT SINGLE QUOTATION MARK}Brien County, Iowa|St. Mary's County, MD"
    "|Saint Mary, LA|Doña Ana County, New Mexico|Winston-Salem city, NC|Lewis & Clark County, MT"
    "|Census Tract 1.01; Kent County; RI|Tract 1.01|Census Tract 12|DuPage_County, Illinois|Kailua CDP (Honolulu)"
    "|Islamorada, Village of Islands village, Florida|Navajo Nation Reservation and Off-Reservation Trust Land, AZ--NM"
    "|Chinese, except Taiwanese alone|Hmong alone or in any combination|Mexican||St|Tract|U.S. Minor"
)


@pytest.mark.parametrize("kind", [COUNTY, PLACE, AIANNH, TRACT, *US.group_kinds])
def test_who_asks_seldom_finds_the_same(kind, monkeypatch):
    areas, names = AreaNames(US.spelling, US.spelling.part_names), ODD_NAMES.split("|")
    is_area = isinstance(kind, AreaKind)
    other_words = US.spelling.starts if is_area else [end for one in US.group_kinds for end in one.ends]

    def forms_of(position):
        return (areas.heads_of_area if is_area else forms_of_group)(names[position], kind)

    monkeypatch.setattr(names_module, "_FEW_NAMES", 0)
    asked_often = NameIndex(names, forms_of, other_words)
    asked_often._times_asked = names_module._SELDOM
    forms = {form for position in range(len(names)) for some in forms_of(position) for form in some}
    assert len(forms) > 20
    for form in sorted({*forms, "no such name", "county", "st mary", "tract 1.02", ""}):
        assert NameIndex(names, forms_of, other_words).ranked(form) == asked_often.ranked(form), form
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
    for american in "CT", "USA", "Providence", "San Juan County, UT", "tract 101":
        assert "is not in this release" in message_about(lookup.entity, american)
