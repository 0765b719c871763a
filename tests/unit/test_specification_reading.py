"""A specification is read exactly, and every mistake in it has a sentence that says where it is and what to do."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import SHARED
from tests.inside import (
    Checked,
    FindingsOf,
    KeyColumn,
    Specification,
    is_specification,
    keys_of,
    lists_folder,
    public_file,
    read_specification,
    specification_of_keys,
)
from tests.worlds.specified.small_text import SMALL, write_specification

HEAD, FROM_AREAS = SMALL.split("[areas]")
LENT, REST = FROM_AREAS.split("[[tables]]", 1)
INHERITED = f"census = 1\n[areas]{LENT}"
LINES = SMALL[SMALL.index("lines  = [") : SMALL.index('shapes = [\n  { id = "T1"')]
PRIVACY = "[privacy]" + SMALL.split("[privacy]")[1]
LIKE = HEAD.replace("census = 1", 'census = 1\nlike = "../lender/census.toml"') + "[[tables]]" + REST


def read(folder: Path, text: str = SMALL) -> Checked[Specification]:
    return read_specification(write_specification(folder, text))


def errors(checked: Checked[Specification]) -> list[str]:
    return [str(finding) for finding in checked.errors]


def test_a_right_specification_is_read(tmp_path):
    checked = read(tmp_path)
    assert errors(checked) == []
    spec = checked.require()
    assert spec.about.noise == 15
    assert spec.records.where == {"RESIDENT": ("1",)}
    assert spec.records.missing == ("",)
    assert spec.records.named("AGE").maximum == 99
    assert spec.records.named("SEX").other == "U"
    assert spec.areas.key == (KeyColumn("AREA", "AREA_ID"),)
    assert spec.areas.other == ("X9",)
    assert spec.areas.levels[2].id == ("REGION", "TOWN")
    assert spec.areas.levels[2].nowhere == ("-",)
    assert spec.areas.passes[1].where == {"ISLAND": ("yes", "far")}
    assert spec.classification("origin").residual == ("999",)
    assert spec.groups.any_words == "{name}"
    assert spec.groups.only_words == "only {name}"
    assert spec.groups.lists[0].areas == ("nation", "region")
    assert spec.tables[0].shapes[2].breaks == {"age": (0, 18, 65)}
    assert spec.tables[1].lines[1].values == ("1", "2")
    assert spec.privacy.levels[0].budget == Fraction(30000000000000000000000000001, 10**29)
    assert spec.privacy.levels[1].tables == ("sex and age", "tenure")
    assert spec.privacy.stage_1 == Fraction(1, 10)
    assert spec.privacy.suppress_chance == Fraction(99, 100)


def test_a_field_that_nothing_reads_is_a_warning(tmp_path):
    warnings = [str(finding) for finding in read(tmp_path).warnings]
    assert warnings == ["records.fields[9]: nothing reads the field TONGUES; its values are only checked."]


def test_fields_that_nothing_reads_are_one_warning(tmp_path):
    more = "".join(f'  {{ name = "Q{number}", type = "string" }},\n' for number in range(6))
    text = SMALL.replace('  { name = "FAITH"', f'{more}  {{ name = "FAITH"', 1)
    warnings = [str(finding) for finding in read(tmp_path, text).warnings]
    names = "TONGUES, Q0, Q1, Q2, Q3 and 2 more"
    assert warnings == [f"records.fields: nothing reads 7 fields: {names}; their values are only checked."]


def test_a_list_that_nothing_uses_is_a_warning(tmp_path):
    text = SMALL.replace(
        'lists = { common = { areas = ["nation", "region"] } }', 'lists = { rare = { tables = "total" } }'
    )
    checked = read(tmp_path, text)
    assert "groups.lists.rare: nothing uses this list" in "\n".join(map(str, checked.warnings))
    lists = checked.require().groups.lists
    assert [(each.name, each.areas, each.total_only) for each in lists] == [
        ("common", None, False),
        ("rare", None, True),
    ]


def test_a_column_with_a_list_of_codes_has_the_delimiter_of_its_field(tmp_path):
    text = SMALL.replace('columns = ["ORIGIN1", "ORIGIN2"]', 'column = "TONGUES"').replace(
        "use        = { origin = 1 }", ""
    )
    codes = read(tmp_path, text).require().classification("origin")
    assert (codes.columns, codes.separator) == (("TONGUES",), ";")


def test_a_column_of_text_with_a_separator_is_a_list(tmp_path):
    text = SMALL.replace('columns = ["ORIGIN1", "ORIGIN2"]', 'column = "ORIGIN2"\nseparator = "/"')
    codes = read(tmp_path, text).require().classification("origin")
    assert (codes.columns, codes.separator) == (("ORIGIN2",), "/")


@pytest.mark.parametrize("name", ["hospital-admissions", "nz-ethnicity", "ons-ethnic-group", "safetab-h", "safetab-p"])
@pytest.mark.needs_2020_files
def test_the_designed_specifications_are_read(name):
    folder = SHARED / "census" / name
    if not folder.is_dir():
        pytest.skip("the designed specifications are not there")
    spec = read_specification(folder).require()
    assert specification_of_keys(keys_of(spec), FindingsOf("keys")) == spec


# name: (a text of the right specification, what stands in its place, what a finding says)
BROKEN: dict[str, tuple[str, str, str]] = {
    "syntax": ('name    = "Small census"', 'name    = Small', "line 5, column 11: not valid TOML (invalid value). Texts need quotes."),
    "a text for a whole number": ("census = 1", 'census = "1"', 'census: must be 1, not "1". Write a number without quotes.'),
    "a comma in a number": ("census = 1", "census = 0,1", "after a statement). Write a number with a point, such as 0.1"),
    "an open quote": ('"Small census"', '"Small census', "A text has no closing quote."),
    "twice": ("census = 1", "census = 1\ncensus = 1", "line 3, column 11: not valid TOML (cannot overwrite a value)."),
    "nested": ("census = 1", "census = " + "[" * 5_000, "its brackets are nested too deeply."),
    "digits": ("census = 1", "census = " + "1" * 5_000, "it has an integer with thousands of digits."),
    "version": ("census = 1", "census = 2", "census: must be 1, not 2."),
    "no version": ("census = 1", "", "census: missing. Write it, for example census = 1."),
    "unknown key": ("budget = 2", "budgte = 2", 'privacy.levels[2].budgte: unknown key. Did you mean "budget"?'),
    "far key": ("[about]", "[about]\nqqq = 1", "about.qqq: unknown key. Known: name, title, agency"),
    "unknown section": ("[about]", "[recods]\n[about]", 'recods: unknown key. Did you mean "records"?'),
    "missing key": ("budget = 2\n", "", "privacy.levels[2].budget: missing. Write it, for example budget = 0.02."),
    "a text for a table": ('{ RESIDENT = "1" }', '"RESIDENT"', 'records.where: must be a table, not "RESIDENT".'),
    "a table for a list": ('key    = ["AREA = AREA_ID"]', "key    = { AREA = 1 }", "areas.key: must be a list with at least one value, not a table."),
    "a list for a table": ("{ minimum = 1, maximum = 4 }", "[1, 4]", "records.fields[6].constraints: must be a table, not a list."),
    "an empty text": ('"Origins in three towns"', '""', 'about.title: must be a text of one line, not "".'),
    "two lines": ('"Origins in three towns"', '"one\\ntwo"', 'about.title: must be a text of one line, not "one\\ntwo".'),
    "a number for a text": ('"Origins in three towns"', "7", "about.title: must be a text of one line, not 7."),
    "product name": ('"Small census"', '"a/b"', 'about.name: must be a text of at most 100 letters'),
    "noise of the shipped": ("[about]", "[about]\nnoise = 3", "about.noise: numbers below 8 belong to the shipped products."),
    "reference": ("[about]", '[about]\nreference = { name = "old", epsilon = 2 }', "about.reference: give its rho"),
    "path": ('"origins.csv"', '"../origins.csv"', 'classifications.origin.file: must be the plain name of a file'),
    "parent": ('"origins.csv"', '".."', 'classifications.origin.file: must be the plain name of a file'),
    "hidden": ('"origins.csv"', '".csv"', 'classifications.origin.file: must be the plain name of a file'),
    "absolute": ('"origins.csv"', '"/etc/passwd"', 'classifications.origin.file: must be the plain name of a file'),
    "backslash": ('"origins.csv"', "'a\\b.csv'", "classifications.origin.file: must be the plain name of a file"),
    "ending of records": ('"people"\nwhere', '"people.csv"\nwhere', 'records.file: "people.csv" has an ending. Leave'),
    "ending of areas": ('"areas.csv"', '"areas"', 'areas.file: "areas" does not end in .csv or .parquet. Write'),
    "separator": ("[records]", '[records]\nseparator = ", "', 'records.separator: must be one character'),
    "letter as separator": ("[records]", '[records]\nseparator = "a"', 'records.separator: must be one character'),
    "field twice": ('{ name = "FAITH"', '{ name = "faith", type = "string" },\n{ name = "FAITH"',
                    'records.fields[11].name: "FAITH" is given twice. Names must differ by more than case.'),
    "attribute twice": ('attribute = "sex"', 'attribute = "Age"', 'records.fields[5].attribute: "Age" is given twice.'),
    "type of a field": ('"FAMILY", type = "string"', '"FAMILY", type = "date"',
                        'records.fields[3].type: must be "string", "integer", "boolean" or "list", not "date".'),
    "no delimiter": (', delimiter = ";"', "", "records.fields[9].delimiter: missing. A list needs one"),
    "a delimiter": ('"FAITH", type = "string"', '"FAITH", type = "string", delimiter = ";"',
                    "records.fields[10].delimiter: a field of type string has none. Leave it out."),
    "range": ("minimum = 0, maximum = 99", "minimum = 100, maximum = 99",
              "records.fields[4].constraints.maximum: 99 is below the minimum, 100."),
    "pattern": ("[0-9]{3}", "[0-9", 'records.fields[7].constraints.pattern: must be a regular expression ('),
    "long pattern": ("[0-9]{3}", "0" * 201, "must be a regular expression of at most 200 characters, not "),
    "categories": ('{ value = "M", label = "male" }', '{ value = "F", label = "male" }',
                   'records.fields[5].categories[2].value: "F" is given twice.'),
    "labels": ('{ value = "M", label = "male" }', '{ value = "M", label = "Female" }',
               'records.fields[5].categories[2].label: "Female" is given twice.'),
    "other": ('other = "U"', 'other = "X"', 'records.fields[5].other: "X" is not a value of the field.'),
    "enum of integers": ("{ minimum = 1, maximum = 4 }", "{ enum = [1, 2.5] }",
                         "records.fields[6].constraints.enum[2]: must be a text or a whole number, not 2.5."),
    "a value of the wrong type": ("{ minimum = 1, maximum = 4 }", '{ enum = [1, "two"] }',
                                  'records.fields[6].constraints.enum[2]: "two" breaks the rules of the field'),
    "above a maximum of 0": ("{ minimum = 1, maximum = 4 }", "{ maximum = 0, enum = [0, 1] }",
                             'records.fields[6].constraints.enum[2]: "1" breaks the rules of the field'),
    "where a field": ("{ RESIDENT =", "{ RESIDNET =", 'records.where.RESIDNET: "RESIDNET" is not a field. Did you mean "RESIDENT"?'),
    "where a value": ('RESIDENT = "1" }', 'RESIDENT = ["1", "2"] }',
                      'records.where.RESIDENT: "2" is not a value of the field RESIDENT.'),
    "unit": ('column = "FAMILY"', 'column = "HOME"', 'records.unit.column: "HOME" is not a field.'),
    "type of the unit": ('column = "FAMILY"', 'column = "TONGUES"',
                         "records.unit.column: the field TONGUES is of type list; string is needed."),
    "unit of integers": ('"FAMILY", type = "string"', '"FAMILY", type = "integer"',
                         "records.unit.column: the field FAMILY is of type integer; string is needed."),
    "records of a unit": ("most_records = 4", "most_records = 0", "records.unit.most_records: must be a whole number from 1"),
    "key": ("AREA = AREA_ID", "AERA = AREA_ID", 'areas.key[1]: "AERA" is not a field. Did you mean "AREA"?'),
    "half a key": ("AREA = AREA_ID", "AREA =", 'areas.key[1]: no column after "=".'),
    "type of a key": ("AREA = AREA_ID", "AGE = AREA_ID", "areas.key[1]: the field AGE is of type integer; string is needed."),
    "other area": ('other  = ["X9"]', 'other  = ["X9", "X"]', "areas.other: give one text for each column of areas.key: 1."),
    "neither whole nor id": ('id = ["REGION"], ', "", "areas.levels[2]: give either `whole`"),
    "nowhere of the whole": ('whole = "all"', 'whole = "all", nowhere = "x"', "areas.levels[1].nowhere: the whole has none."),
    "levels with one name": ('name = "town"', 'name = "Region"', 'areas.levels[3].name: "Region" is given twice.'),
    "name of a level": ('name = "town"', 'name = "town/city"', 'areas.levels[3].name: must be a name (a letter or digit'),
    "17 labels": ('{ region = "I-REGION"', "{ " + "".join(f'l{n} = "L{n}", ' for n in range(13)) + 'region = "I-REGION"',
                  "areas.levels: 17 levels of areas, those of all passes together; 16 are the most."),
    "labels twice": ('region = "I-REGION"', 'region = "m-region"', 'areas.passes[2].levels.region: "m-region" is given twice.'),
    "level of a pass": ("{ region = ", "{ regoin = ", 'areas.passes[2].levels.regoin: "regoin" is not a level of areas. Did you'),
    "passes that overlap": ('["yes", "far"]', '["yes", "no"]', 'areas.passes[2].where: it overlaps with that of "main".'),
    "no classification": ("[classifications", "[classification", 'classification: unknown key. Did you mean "classifications"?'),
    "three classifications": ("[groups]", '[classifications.third]\nfile = "c.csv"\ncolumns = ["FAITH"]\n[groups]',
                              "run two specifications on the same records; the spend log adds them up."),
    "nine columns": ('"ORIGIN1", "ORIGIN2"', ", ".join(f'"O{n}"' for n in range(9)),
                     "classifications.origin.columns: 9 are too many; eight are the most: run two specifications on the same"
                     " records; the spend log adds them up."),
    "two with several": ('columns = ["FAITH"]', 'columns = ["FAITH", "AREA"]', "both have several answers"),
    "column of codes": ('columns = ["FAITH"]', 'columns = ["FAIHT"]',
                        'classifications.faith.columns[1]: "FAIHT" is not a field. Did you mean "FAITH"?'),
    "a list among columns": ('columns = ["FAITH"]', 'columns = ["TONGUES"]',
                             "classifications.faith.columns[1]: the field TONGUES is of type list; string is needed."),
    "columns and column": ('columns = ["FAITH"]', 'columns = ["FAITH"]\ncolumn = "FAITH"', "classifications.faith: give either"),
    "other of codes": ('columns = ["FAITH"]', 'columns = ["SEX"]', "the field SEX has `other`, which codes can't have."),
    "gaps": ('"skipped"', '"ignored"', 'classifications.origin.gaps: must be "error" or "skipped", not "ignored".'),
    "first": ("first   = 2", "first   = true", "classifications.faith.first: must be a whole number from 1 to 64, not true."),
    "of": ('of = "faith"', 'of = "fiath"', 'groups.levels[2].of: "fiath" is not a classification. Did you mean "faith"?'),
    "no members": (', members = ["any"]', "", "groups.levels[2].members: missing."),
    "members": ('members = ["any"]', 'members = ["some"]', 'groups.levels[2].members[1]: must be "any" or "only", not "some".'),
    "words": ('"only {name}"', '"only {names}"', 'groups.words.only: must be a text with {name} once'),
    "half of the files": ("words = {", 'file = "groups.csv"\nwords = {', "groups.codes: missing. Groups from files need both"),
    "files and columns": ("words = {", 'file = "g.csv"\ncodes = "c.csv"\nwords = {', "groups.levels[1].of: groups come from"),
    "17 levels of groups": ('  { name = "faith", title', "".join(
        f'{{ name = "g{n}", title = "g", of = "faith", column = "c{n}", members = ["any"] }},' for n in range(15)) +
        '\n{ name = "faith", title', "groups.levels: 17 levels of groups; 16 are the most."),
    "areas of a list": ('areas = ["nation", "region"] }', 'areas = ["nation", "regions"] }',
                        'groups.lists.common.areas: "regions" is not a level of areas. Did you mean "region"?'),
    "first shape": ('title = "Total" },\n  { id = "S2"', 'title = "Total", by = ["sex"] },\n  { id = "S2"',
                    "tables[1].shapes[1]: the first shape is the lone total."),
    "breaks of the first shape": ('title = "Total" },\n  { id = "S2"', 'title = "Total", breaks = {} },\n  { id = "S2"',
                                  "tables[1].shapes[1]: the first shape is the lone total. Leave out `by` and `breaks`."),
    "words of files": ('words = { only = "only {name}" }', 'file = "groups.csv"\ncodes = "codes.csv"\nwords = {}',
                       "groups.words: groups from files have their names there. Leave it out."),
    "shape without by": (', by = ["sex"] }', " }", "tables[1].shapes[2].by: missing. Only the first shape is the total"),
    "attribute": ('by = ["sex"] }', 'by = ["sexx"] }', 'tables[1].shapes[2].by[1]: "sexx" is not an attribute. Did you mean "sex"?'),
    "open attribute": ('by = ["sex"] }', 'by = ["FAITH"] }', 'tables[1].shapes[2].by[1]: the values of "FAITH" are not known.'),
    "labels of shapes": ('label = "tenure_2"', 'label = "SEX"', 'tables[2].shapes[2].label: "SEX" is given twice.'),
    "no breaks": (", breaks = { age = [0, 18, 65] }", "", "tables[1].shapes[3].breaks.age: missing. Give the first value"),
    "breaks that fall": ("[0, 18, 65]", "[0, 65, 18]", "tables[1].shapes[3].breaks.age: the breaks do not rise."),
    "first break": ("[0, 18, 65]", "[1, 18, 65]", "the first break is 1, and the minimum of the field is 0."),
    "last break": ("[0, 18, 65]", "[0, 18, 165]", "165 is above the maximum of the field, 99."),
    "breaks of categories": ("{ age = [0, 18, 65] }", "{ age = [0, 18], sex = [0] }",
                             "tables[1].shapes[3].breaks.sex: only a range of integers has breaks"),
    "too many cells": ("[0, 18, 65]", str(list(range(50))), "tables[1].shapes[3]: 150 cells; 127 are the most."),
    "too many values": ("maximum = 99 }", "maximum = 9999 }", "tables: the attributes of all tables together have 120,000"),
    "stubs": ("stubs  = { age", "stubs  = { aeg", 'tables[1].stubs.aeg: "aeg" is not an attribute of this family. Did you mean "age"?'),
    "line of all": ("values = [1, 2, 3, 4]", "values = [1, 2, 3]", "tables[2].lines[1].values: the first line must be the set"),
    "value of a line": ("values = [3, 4]", "values = [3, 5]", 'tables[2].lines[5].values[2]: "5" is not a value of tenure.'),
    "unknown line": ('"owned", "rented"] }', '"owned", "rent"] }', 'tables[2].shapes[2].lines[3]: "rent" is not a line. Did you mean'),
    "a value in no cell": ('["all", "owned", "rented"]', '["all", "owned"]',
                           'tables[2].shapes[2].lines: the value "3" is in no cell.'),
    "a value in two cells": ("values = [3, 4]", "values = [2, 3, 4]", 'the value "2" is in 2 cells. Every value is in exactly one.'),
    "no run": ('"mortgage", "free", "rented"]', '"mortgage", "rented", "free"]',
               'tables[2].shapes[3].lines: "owned" is not a run of neighbouring cells. Change the order of the lines'),
    "total of lines": ('lines = ["all"]', 'lines = ["owned"]', "tables[2].shapes[1].lines: the first shape is the lone total"),
    "lines without of": ('of     = "tenure"\n', "", "tables[2].of: missing. A family of lines has both `of` and `lines`."),
    "of without lines": (LINES, "", "tables[2].lines: missing. A family of lines has both `of` and `lines`."),
    "no maximum": ("minimum = 0, maximum = 99", "minimum = 0",
                   'tables[1].shapes[3].by[2]: the values of "age" are not known. Give the field categories'),
    "definition": ('"zcdp"', '"epsilon"', 'privacy.definition: must be "zcdp" or "puredp", not "epsilon".'),
    "no stage 1": ("stage_1    = 0.1\n", "", 'privacy.stage_1: missing. Selector "stage 1" needs it'),
    "stage 1": ("stage_1    = 0.1", "stage_1    = 1", "privacy.stage_1: must be a number strictly between 0 and 1, not 1."),
    "selector": ('"stage 1"', '"none"', 'privacy.suppress: only for selector "stage 1". Delete it.'),
    "totals": ("stage_1    = 0.1", 'stage_1    = 0.1\ntotals = "t.csv"', 'privacy.totals: only for selector "published totals". Delete it.'),
    "suppress": ('areas = "town"', 'areas = "towns"', 'privacy.suppress.areas: "towns" is not a level of areas. Did you mean "town"?'),
    "use": ("{ origin = 1 }", "{ origin = 3 }", "privacy.use.origin: 3 is more than its 2 columns."),
    "use of what": ("{ origin = 1 }", "{ orign = 1 }", 'privacy.use.orign: "orign" is not a classification. Did you mean "origin"?'),
    "budget of 0": ("budget = 2\n", "budget = 0\n", "privacy.levels[2].budget: must be a number above 0, not 0. To leave these levels out, delete"),
    "negative budget": ("budget = 2\n", "budget = -1.5\n", "privacy.levels[2].budget: must be a number above 0, not -1.5. To"),
    "inf": ("budget = 2\n", "budget = inf\n", "privacy.levels[2].budget: must be a number above 0, with at most 30 digits, not Infinity"),
    "nan": ("budget = 2\n", "budget = nan\n", "privacy.levels[2].budget: must be a number above 0, with at most 30 digits, not NaN"),
    "true": ("budget = 2\n", "budget = true\n", "privacy.levels[2].budget: must be a number above 0, with at most 30 digits, not true"),
    "a text for a number": ("budget = 2\n", 'budget = "2"\n', 'privacy.levels[2].budget: must be a number above 0, with at most 30 digits, not "2". Write a number without quotes.'),
    "31 digits": ("budget = 2\n", f"budget = 0.{'1' * 31}\n", "must be a number above 0, with at most 30 digits, not 0.1"),
    "exponent": ("budget = 2\n", "budget = 1e-31\n", "privacy.levels[2].budget: must be a number above 0, with at most 30 digits, not 1E-31"),
    "huge exponent": ("budget = 2\n", "budget = 1e999999999999999999999\n", "privacy.levels[2].budget: must be a number above 0, with at most 30 digits, not NaN"),
    "few thresholds": ("[10, 100]", "[10]", "privacy.levels[1].thresholds: 1 threshold given, 2 needed: one for each table of sex and age after the"),
    "no thresholds": ("thresholds = [10, 100]\n", "", "privacy.levels[1].thresholds: 0 thresholds given, 2 needed: one for each table of sex and age"),
    "thresholds that fall": ("[10, 100]", "[100, 10]", "privacy.levels[1].thresholds: 100, 10 are not in rising order."),
    "threshold": ("[10, 100]", "[10, -1]", "privacy.levels[1].thresholds[2]: must be a whole number from 0 to"),
    "high threshold": ("[10, 100]", f"[10, {2**62 + 1}]", "must be a whole number from 0 to 4611686018427387904, not 4611686018427387905."),
    "no tables": ('tables = "sex and age"\n', "", "privacy.levels[1].tables: missing. Name the families: sex and age, tenure."),
    "family": ('tables = "sex and age"\n', 'tables = "age and sex"\n', 'privacy.levels[1].tables: "age and sex" is not a family of'),
    "level of groups": ('groups = "broad"\n', 'groups = "board"\n',
                        'privacy.levels[2].groups: "board" is not a level of groups. Did you mean "broad"?'),
    "label of areas": ('areas = "M-TOWN"', 'areas = "town"', 'privacy.levels[2].areas: "town" is not a label of areas. Did you mean'),
    "triple": ('areas = "M-TOWN"', 'areas = "I-REGION"', "privacy.levels[2]: sex and age, broad, I-REGION is given twice."),
    "pass without a triple": (', "I-REGION"]', "]", 'privacy.levels: nothing is tabulated in the pass "isles".'),
    "no areas": ('areas = "M-TOWN"', "areas = []", "privacy.levels[2].areas: "),
    "hex digits": ("census = 1", "census = 0x" + "f" * 5_000, "census: must be 1, not a huge number."),
    "other of the unit": ('{ name = "FAMILY", type = "string"',
                          '{ name = "FAMILY", type = "string", constraints = { enum = ["0"] }, other = "0"',
                          "records.unit.column: the field FAMILY has `other`, which would make strangers one unit."),
    "missing category": ("[records]", '[records]\nmissing = ["", "M"]',
                         'records.fields[5]: "M" is a value of the field and in records.missing, too. Keep it in one place.'),
    "use of 9": ("{ origin = 1 }", "{ origin = 9 }", "privacy.use.origin: must be a whole number from 1 to 8, not 9."),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_specification_is_refused_with_the_right_sentence(name, tmp_path):
    right, wrong, sentence = BROKEN[name]
    assert SMALL.count(right) >= 1
    checked = read(tmp_path, SMALL.replace(right, wrong, 1))
    assert checked.value is None
    assert [error for error in errors(checked) if sentence in error], errors(checked)


def test_there_are_more_than_sixty_broken_specifications():
    assert len(BROKEN) > 60


def test_all_findings_come_at_once(tmp_path):
    chosen = ("budget of 0", "other", "key", "unit", "of", "breaks that fall", "suppress", "separator", "gaps")
    text = SMALL
    for name in chosen:
        text = text.replace(*BROKEN[name][:2], 1)
    found = "\n".join(errors(read(tmp_path, text)))
    assert [name for name in chosen if BROKEN[name][2] not in found] == []


def test_findings_are_in_the_order_of_the_file(tmp_path):
    text = SMALL
    for name in ("key", "budget of 0", "separator", "of", "first break", "product name", "stage 1"):
        text = text.replace(*BROKEN[name][:2], 1)
    places = [finding.where for finding in read(tmp_path, text).errors]
    order = ["about.name", "records.separator", "areas.key[1]", "groups.levels[2].of", "tables[1].shapes[3].breaks.age"]
    assert list(dict.fromkeys(places)) == [*order, "privacy.stage_1", "privacy.levels[2].budget"]


def test_nothing_is_said_to_be_unread_while_there_are_errors(tmp_path):
    assert read(tmp_path / "right").warnings != ()
    assert read(tmp_path, SMALL.replace('columns = ["FAITH"]', 'columns = ["FAIHT"]')).warnings == ()


@pytest.mark.parametrize("name", ["stage 1", "members"])
def test_what_is_wrong_is_not_said_to_be_missing(name, tmp_path):
    right, wrong, _ = BROKEN[name]
    assert len(errors(read(tmp_path, SMALL.replace(right, wrong, 1)))) == 1


def test_an_unknown_attribute_of_a_table_with_breaks_is_told_once(tmp_path):
    found = errors(read(tmp_path, SMALL.replace('by = ["sex", "age"]', 'by = ["sex", "ages"]')))
    assert [error for error in found if "shapes[3]" in error] == [
        'tables[1].shapes[3].by[2]: "ages" is not an attribute. Did you mean "age"?'
    ]


def test_a_level_of_areas_is_not_called_all_where_a_list_means_every_level(tmp_path):
    text = SMALL.replace('{ name = "town", id', '{ name = "all", id').replace('town = "M-TOWN"', 'all = "M-TOWN"')
    text = text.replace('areas = "town"', 'areas = "all"')
    assert errors(read(tmp_path / "levels", text)) == []
    text = text.replace('{ common = { areas = ["nation", "region"] } }', '{ common = { areas = "all" } }')
    message = 'groups.lists.common.areas: "all" means every level, and a level has this name. Rename the level.'
    assert errors(read(tmp_path / "lists", text)) == [message]


def test_privacy_toml_does_not_follow_a_link_out(tmp_path):
    folder = write_specification(tmp_path / "in", SMALL.replace(PRIVACY, ""))
    (tmp_path / "privacy.toml").write_text(PRIVACY)
    (folder / "privacy.toml").symlink_to(tmp_path / "privacy.toml")
    message = "privacy.toml is a link that leads out of the folder. Copy the file there."
    assert errors(read_specification(folder)) == [message]


def places_of(keys: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value in nested tables and lists."""
    items = keys.items() if isinstance(keys, dict) else enumerate(keys) if isinstance(keys, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from places_of(value, (*path, key))


@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.slow) for part in range(1, 6))])
def test_nothing_that_stands_in_the_place_of_a_value_is_a_traceback(part, tmp_path):
    keys = keys_of(read(tmp_path).require())
    strange = (
        "",
        "x",
        7,
        -1,
        2.5,
        True,
        [],
        {},
        [1],
        ["x"],
        [{}],
        [[]],
        {"x": 1},
        {"x": {}},
        2**62,
        float("nan"),
        None,
    )
    tried = 0
    for number, path in enumerate(places_of(keys)):
        for value in (*strange[(number + part) % 6 :: 6], "leave out"):
            changed: Any = deepcopy(keys)
            inner = changed
            for key in path[:-1]:
                inner = inner[key]
            if value == "leave out":
                del inner[path[-1]]
            else:
                inner[path[-1]] = value
            findings = FindingsOf("keys")
            assert (specification_of_keys(changed, findings) is None) == findings.has_errors
            tried += 1
    assert tried > 500


def test_a_specification_may_lie_in_two_files(tmp_path):
    whole = read(tmp_path / "one").require()
    folder = write_specification(tmp_path / "two", SMALL.replace(PRIVACY, ""))
    assert errors(read_specification(folder)) == ["privacy: missing. Write it, for example [privacy]."]
    (folder / "privacy.toml").write_text(PRIVACY)
    assert read_specification(folder).require() == whole
    (folder / "privacy.toml").write_text(PRIVACY.replace("budget = 2\n", "budget = 0\n") + '[about]\nname = "x"\n')
    found = read_specification(folder).errors
    assert {finding.file for finding in found} == {"privacy.toml"}
    assert [finding.where for finding in found] == ["about", "privacy.levels[2].budget"]
    write_specification(folder)
    assert "privacy: also in privacy.toml. Keep one of them." in errors(read_specification(folder))


def test_like_lends_areas_classifications_and_groups(tmp_path):
    lender = write_specification(tmp_path / "lender", INHERITED)
    borrower = write_specification(tmp_path / "borrower", LIKE)
    assert errors(read_specification(borrower)) == []
    assert read_specification(borrower).require() == read(tmp_path / "whole").require()
    assert lists_folder(borrower).resolve() == lender
    assert lists_folder(tmp_path / "whole") == tmp_path / "whole"
    write_specification(lender, INHERITED.replace('name = "town"', 'name = "Region"'))
    assert {finding.file for finding in read_specification(borrower).errors} >= {"../lender/census.toml"}
    write_specification(lender, 'like = "../other/census.toml"\n' + INHERITED)
    assert any("which is like another" in error for error in errors(read_specification(borrower)))
    write_specification(lender, INHERITED)
    write_specification(borrower, LIKE + SMALL[SMALL.index("[classifications.faith]") : SMALL.index("[groups]")])
    assert errors(read_specification(borrower))[0].startswith("classifications: also taken from ../lender/census.toml.")


@pytest.mark.parametrize(
    "like", ["../../census.toml", "/census.toml", "../a/b/census.toml", "../lender/x.toml", "census.toml"]
)
def test_like_stays_near(like, tmp_path):
    borrower = write_specification(tmp_path / "borrower", LIKE.replace("../lender/census.toml", like))
    found = errors(read_specification(borrower))
    assert len(found) == 1
    assert found[0].startswith("like: ")


def test_like_does_not_follow_a_link_out(tmp_path):
    write_specification(tmp_path / "far" / "lender", INHERITED)
    borrower = write_specification(tmp_path / "near" / "borrower", LIKE)
    (tmp_path / "near" / "lender").symlink_to(tmp_path / "far" / "lender")
    assert errors(read_specification(borrower))[0].startswith("like: ")


def test_a_folder_has_one_configuration(tmp_path):
    assert not is_specification(tmp_path)
    folder = write_specification(tmp_path)
    assert is_specification(folder)
    (folder / "config.json").write_text("{}")
    assert errors(read_specification(folder)) == [
        "config.json lies beside it. A folder has one of them: remove the other."
    ]


@pytest.mark.parametrize("change", [lambda text: "\ufeff" + text, lambda text: text.replace("\n", "\r\n")])
def test_a_byte_order_mark_and_crlf_are_accepted(change, tmp_path):
    folder = write_specification(tmp_path)
    (folder / "census.toml").write_bytes(change(SMALL).encode())
    assert errors(read_specification(folder)) == []


def test_what_is_not_text_has_a_sentence(tmp_path):
    folder = write_specification(tmp_path)
    (folder / "census.toml").write_bytes(b"census = 1\n# \xff\n")
    assert errors(read_specification(folder)) == ["line 2 is not UTF-8 text. Save the file as UTF-8."]
    (folder / "census.toml").unlink()
    assert errors(read_specification(folder)) == [f"{folder / 'census.toml'} does not exist."]


def test_public_files_stay_in_their_folder(tmp_path):
    (tmp_path / "in").mkdir()
    for name in ("in/list.csv", "out.csv"):
        (tmp_path / name).write_text("code,name\n")
    (tmp_path / "in" / "link.csv").symlink_to(tmp_path / "out.csv")
    findings = FindingsOf("census.toml")
    assert public_file(tmp_path / "in", "list.csv", "areas.file", findings) == tmp_path / "in" / "list.csv"
    assert findings.findings == ()
    for name in ("link.csv", "../out.csv", "none.csv", ".."):
        assert public_file(tmp_path / "in", name, "areas.file", findings) is None
    messages = [finding.message for finding in findings.findings]
    assert len(messages) == 4
    assert "leads out of the folder" in messages[0]
    assert messages[2] == f"{tmp_path / 'in' / 'none.csv'} does not exist."
