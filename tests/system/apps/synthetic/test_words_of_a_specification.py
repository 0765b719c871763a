"""Every output of a specified census speaks of that census: no word of the U.S. census stands in it."""

import gzip
import re
import shlex
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cases import cases_of
from tests.commands import done, refused
from tests.inside import NoProgress, columns_of_package, documents_module, write_example, write_new_census
from tests.worlds.world import KEY

AMERICAN = (
    r"races?|alone or in (?:any )?combination|alone groups?|race alone|(?<!history\.)states?|count(?:y|ies)|tracts?|AIANNH|Puerto Rico"
    r"|Census Bureau|Bureau|2020|FIPS|Hispanic|data\.census\.gov|DHC-[AB]|SafeTab-[PH]"
)
NAMES = {"Aldbridge District": "Cordale Region", "Aldbridge 1": "Ōtāhuhu, North 1"}
"""A district with the name of a region, and an area with a comma and macrons."""
ITERATIONS = r"(?<=\w )iterations?|iterations?(?= \w)"
"""The paper's word for groups inside a sentence. Names of columns, files and keys may have it."""
STEPS = ["--rule", "clamp-negatives", "--rule", "withhold-alone-above-partner", "--csv"]


@dataclass(frozen=True)
class Output:
    """A run, its exports, its site and what commands said: all below one folder."""

    folder: Path
    parameters: Path

    @cached_property
    def texts(self):
        return {str(path.relative_to(self.folder)): text_of(path) for path in self.folder.rglob("*") if path.is_file()}

    @cached_property
    def lines(self):
        """The same, each in one line."""
        return {name: " ".join(text.split()) for name, text in self.texts.items()}

    @cached_property
    def given(self):
        return "\n".join(map(text_of, self.parameters.iterdir()))


def text_of(path):
    """Everything that a file says; of Parquet, names, metadata and texts."""
    if path.suffix == ".parquet":
        return "\n".join(_texts_of_table(pq.read_table(path, partitioning=None)))
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes()).decode()
    return path.read_text(encoding="utf-8")


def _texts_of_table(table):
    for field in table.schema:
        yield field.name
        yield from (str(value) for value in (field.metadata or {}).values())
    yield from (value.decode(errors="replace") for value in (table.schema.metadata or {}).values())
    for column in table.columns:
        texts = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        if pa.types.is_string(texts.type):
            yield from filter(None, texts.unique().to_pylist())


def found(pattern, texts, allowed=""):
    """The places with such a word, unless the specification or a list has that word."""
    whole = re.compile(rf"(?<![\w-])(?:{pattern})(?![\w-])", re.IGNORECASE)
    own = {word.casefold() for word in whole.findall(allowed)}
    return [
        f"{name}: ...{text[max(one.start() - 60, 0) : one.end() + 60]!r}"
        for name, text in texts.items()
        for one in whole.finditer(text)
        if one[0].casefold() not in own
    ]


def said(*arguments):
    return done(*arguments, terminal_width=200)


def made(folder, name, people, names=None, text=""):
    """A run of a shipped census; `names` are areas with other names, and `text` of its specification goes."""
    parameters, data = folder / "parameters", folder / "data"
    folder.mkdir(exist_ok=True)
    write_example(name, people, folder, NoProgress())
    specification = parameters / "census.toml"
    assert text in specification.read_text(encoding="utf-8")
    specification.write_text(specification.read_text(encoding="utf-8").replace(text, ""), encoding="utf-8")
    (areas,) = (path for path in parameters.glob("*.csv") if path.name in {"areas.csv", "oa-lookup.csv"})
    for old, new in (names or {}).items():
        areas.write_text(areas.read_text(encoding="utf-8").replace(f",{old},", f',"{new}",'), encoding="utf-8")
    return spoken(folder, parameters, data)


def spoken(folder, parameters, data):
    """A run, its exports and pages, and what the commands said of them."""
    out = folder / "made" / "out"
    out.parent.mkdir(parents=True)
    log, given = folder / "spend.log", (parameters, data)
    commands = {
        "validate": given,
        "plan": given,
        "plan-json": (*given, "--json"),
        "run": (*given, out, "--csv", "--test-key", KEY, "--dataset", "people", "--spend-log", log),
        "spend": (log,),
        "rerelease": (out, folder / "made" / "again", *STEPS),
        "status": (out,),
        "report": (out, "--output", folder / "made" / "report.html"),
        "export": (out, folder / "made" / "tidy"),
        "site": (out, folder / "made" / "site"),
    }
    for name, arguments in commands.items():
        keep(folder, name, said(name.partition("-")[0], *arguments))
    return Output(folder / "made", parameters)


def keep(folder, name, output):
    (folder / "made" / f"{name}.terminal").write_text(output, encoding="utf-8")


@pytest.fixture(scope="module")
def nz(tmp_path_factory):
    return made(tmp_path_factory.mktemp("nz"), "nz", people=3_000, names=NAMES)


@pytest.fixture(scope="module")
def hospital(tmp_path_factory):
    """Admissions, of which a patient may have three."""
    folder = tmp_path_factory.mktemp("hospital")
    parameters = folder / "parameters"
    parameters.mkdir()
    write_new_census(parameters, columns_of_package(None), "parameters")
    specification = parameters / "census.toml"
    text = specification.read_text(encoding="utf-8")
    for before, after in (
        ('"person" ', '"admission" '),
        ('"people" ', '"admissions" '),
        ("fields = [", 'fields = [\n  { name = "ID", type = "string" },'),
        ("# where =", 'unit = { name = "patient", column = "ID", most_records = 3 }\n# where ='),
    ):
        assert text.count(before) == 1
        text = text.replace(before, after)
    specification.write_text(text, encoding="utf-8")
    said("synthesize", parameters, "--people", "2000")
    output = spoken(folder, parameters, folder / "parameters-data")
    said("explore", "--parameters", parameters, "-o", folder / "made" / "explorer.html")
    for question in ("levels", "noise"):
        keep(folder, f"tune-{question}", said("tune", question, "--parameters", parameters))
    return output


def shown(output, *arguments):
    """What `show` answers, in one line, without the status."""
    return " ".join(said("show", output.folder / "out", *arguments).split("do.", 1)[1].split())


def refusal(output, *arguments, exit_code=1):
    """Why `show` refuses a question, in one line."""
    answer = refused("show", output.folder / "out", *arguments, code=exit_code)
    return answer.split("problem: ", 1)[1]


def test_no_output_speaks_of_the_united_states(nz):
    assert found(AMERICAN, nz.texts, nz.given) == []
    assert found(ITERATIONS, nz.texts, nz.given) == []


def test_every_kind_of_file_is_read(nz):
    names = set(nz.texts)
    kinds = {".csv", ".css", ".html", ".js", ".json", ".log", ".parquet", ".terminal", ".txt"}
    assert {Path(name).suffix for name in names} >= kinds
    assert "Samoan" in nz.texts["out/release/universe/iterations.parquet"]
    assert len(found("ethnic groups?|regions?|territorial authorit(?:y|ies)", nz.texts)) > 100


def test_a_planted_word_is_found(nz, tmp_path, monkeypatch):
    monkeypatch.setattr(documents_module, "_ASK", "Ask the Census Bureau, or your county.")
    said("rerelease", nz.folder / "out", tmp_path / "again")
    again = Output(tmp_path, nz.parameters).texts
    planted = found(AMERICAN, again, nz.given)
    assert len(planted) == 2
    assert all(one.startswith("again/release/README.txt: ") for one in planted)
    readme = {"README.txt": again["again/release/README.txt"]}
    assert len(found(AMERICAN, readme, f"{nz.given} County")) == 1


def test_sentences_are_about_this_census(nz):
    readme, report, facts = map(nz.lines.get, ("out/release/README.txt", "out/report.html", "site/data/facts.js"))
    of_readme = cases_of("""
        For many geographic areas and ethnic groups: how many people there are, in all,
        Small totals for territorial authorities and statistical areas 2 are shown only if
        Ethnic groups overlap: a person can be in several of them, so their sum counts some people
        What is protected is one person: one record.
        region_id is the id of an area of any level, and iteration_code the code of a group.
        It says nothing about what the census missed or counted twice.
        (too small to be shown, perhaps no people, perhaps some)
        To protect privacy, random noise was added to every number
    """)
    of_report = cases_of("""
        A population group is an area crossed with an ethnic group.
        Ethnic groups overlap: one person can be in several.
        For territorial authorities and statistical areas 2, a group with a small noisy total is
        Pairs in which “X only” is above “X”:
        <th scope="row">Statistical area 2, <span class="iterations">level 1</span></th>
    """)
    of_facts = cases_of("""
        What is protected is one person: one record.
        a territorial authority with one statistical area 2
        Region, territorial authority, …
    """)
    for text, sentences in ((readme, of_readme), (report, of_report), (facts, of_facts)):
        assert [one for (one,) in sentences if one not in text] == []
    assert re.search(r"<bdi>(.+) only</bdi> [\d,]+, <bdi>\1</bdi> -?[\d,]+</li>", report)
    assert "Region level:" not in report
    assert re.search(r"<span>Ethnic groups, only answer</span>", report)


def test_columns_of_copied_and_withheld_groups_are_shown_if_there_are_any(nz):
    columns = {
        name: re.findall(r'<th scope="col">(copied|withheld|suppressed)</th>', nz.texts[f"{name}/report.html"])
        for name in ("out", "again")
    }
    assert columns == {"out": ["suppressed"], "again": ["withheld", "suppressed"]}


UNPROTECTED = (
    r"(?:loss|privacy) (?:of|per) (?:an? |one |every |each )?admissions?|(?:every|each) admission(?: in the records)? is"
    r" protected|protects? (?:every|each|one|an?) admission|admission's (?:privacy|loss)"
    r"|about (?:an?|one) admission|any admission in this run|(?:an?|one) admission loses|an? patient loses"
)
"""Sentences that would name the record where the unit is what is protected."""


def test_with_a_unit_no_output_says_that_the_record_is_protected(hospital):
    texts = hospital.lines
    assert found(UNPROTECTED, texts) == []
    assert found("a admissions?|an patients?", texts) == []
    for command, words in cases_of("""
        run | Privacy loss per patient: rho
        plan | any patient in this run
        tune-levels | any patient in this run
        tune-noise | What one patient loses, as (epsilon, delta)
        spend | a protected unit with all its records
    """):
        assert words in texts[f"{command}.terminal"]
    for page in ("explorer.html", "site/data/facts.js"):
        assert re.search(r'"protected"\s*:\s*"patient"', texts[page])
    for (words,) in cases_of("""
        privacy loss per patient, at most
        Every patient in the records is protected.
        What is protected is one patient, with up to 3 admissions.
        if all records of one patient are added or removed
        believed about one patient
    """):
        assert words in texts["out/report.html"]
    assert "What is protected is one patient, with up to 3 admissions." in texts["out/release/README.txt"]


def test_the_only_pass_of_a_census_is_not_shown_as_a_pass(nz):
    said_of_passes = found(r"ALL pass|\w+ pass|each pass", {**nz.texts, "spend.terminal": ""}, nz.given)
    assert [one for one in said_of_passes if ".terminal" in one or "README" in one or "report" in one] == []
    assert "any person in this run" in nz.texts["plan.terminal"]


def test_show_answers_in_the_words_of_the_census(nz):
    assert shown(nz, "Fenbridge Region", "Māori").startswith("Māori, Fenbridge Region: ")
    assert "note: this is 211 (level 3). Groups with the same name: 2 (level 1), 21 (level 2)." in shown(
        nz, "fenbridge region", "maori"
    )
    assert "note" not in shown(nz, "Fenbridge Region", "Māori", "--groups", "level 2")
    assert shown(nz, "otahuhu, north 1", "European").startswith("European, Ōtāhuhu, North 1: ")
    assert shown(nz, "Cordale Region", "European", "--level", "region").startswith("European, Cordale Region: ")
    part = shown(nz, "nation", "European", "--groups", "level 1", "--where", "age=15-29")
    assert part.startswith("European, The whole country, 15 to 29 years: ")
    assert part == shown(nz, "nation", "European", "--groups", "level 1", "--where", "ages=15-29")
    assert "county" in refusal(nz, "--county", "Aldbridge", "Samoan").partition("Say one of nation, region")[0]
    for level in ("level 2", "level 3"):
        assert f" New Zealand European ({level}), The whole country: " in shown(nz, "nation")
    assert "--groups LEVEL shows one level." in shown(nz, "Fenbridge Region")
    assert "--groups LEVEL" not in shown(nz, "Fenbridge Region", "--groups", "level 1")


@pytest.mark.parametrize(
    ("exit_code", "asked", "answer"),
    cases_of("""
        1 | Atlantis Samoan | area: "Atlantis" is not in this release.
        1 | 'Dunwick Region' Samon | Did you mean one of these: Samoan; Samoan only?
        2 | 'Dunwick Region' Samoan --where sex=female | --where: "sex" is not one of gender, age.
        2 | 'Dunwick Region' Samoan --sex female | Use --where gender=VALUE or --where age=VALUE.
        1 | nation European --where age=15-22 | 15 to 22 is not a range of this table
        2 | 'Dunwick Region' Samoan --where age=old | --where age: must be like 0-17 or 65+.
        2 | nation European --where age=0-14 --where ages=15-29 | --where: "age" is given twice.
        2 | 'Dunwick Region' Samoan --where age | must be an attribute and a value, such as gender=VALUE.
        1 | 'Cordale Region' Samoan | "Cordale Region" has 2 matches: Cordale Region (region 01); Cordale Region
        1 | 'Dunwick Region' Samoan --level county | Say one of nation, region, ta, sa2.
        1 | 'Dunwick Region' Samoan --groups 'level 9' | Say one of level 1, level 2, level 3.
        1 | 'Dunwick Region' Samoan --groups 'level 1' | group: "Samoan" is not in level 1. There is: Samoan
        1 | 'Dunwick Region' Samoan --kind alone | Say any or only.
        2 | nation European --where gender=femal | --where gender: must be all, male, female or another
        1 |  | AREA: name one area, or a level and a GROUP.
    """),
)
def test_a_mistake_is_answered_in_the_words_of_the_census(nz, exit_code, asked, answer):
    told = refusal(nz, *shlex.split(asked), exit_code=int(exit_code))
    assert answer in told
    assert found(AMERICAN, {"refused": told}, f"{nz.given} {asked}") == []


@pytest.mark.slow
def test_no_output_of_another_census_does_either(tmp_path):
    ons = made(tmp_path / "ons", "ons", people=3_000)
    assert found(AMERICAN, ons.texts, ons.given) == []
    assert found(ITERATIONS, ons.texts, ons.given) == []
    report = ons.texts["out/report.html"]
    assert "Availability by level and kind of group" in report
    assert "<span>Ethnic groups</span>" not in report, "a heading row of one kind says nothing"


@pytest.mark.slow
def test_a_census_without_suppression_speaks_of_none(tmp_path):
    shown_all = made(tmp_path / "nz", "nz", 500, text='suppress   = { chance = 0.9999, areas = ["ta", "sa2"] }')
    assert found(AMERICAN, shown_all.texts, shown_all.given) == []
    sentences = {name: text for name, text in shown_all.texts.items() if name.endswith((".txt", ".html", ".terminal"))}
    assert found("nowhere|no area", sentences) == []
