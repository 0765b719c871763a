"""A Census Edited File read in plain Python, with nothing of the package's own, and what its records must keep to."""

import configparser
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

Record = dict[str, str]

STATES = "01-02 04-06 08-13 15-42 44-51 53-56 72"
QUARTERS = "101-106 201-203 301 401-405 501 601-602 701-702 704 706 801-802 900-901 903-904"


def layout(text):
    """Name, width, legal values with ? in front if it may be blank."""
    fields = {}
    for one in text.strip().split(";"):
        name, width, legal = one.split(maxsplit=2)
        legal = legal.replace("STATES", STATES).replace("QUARTERS", QUARTERS)
        fields[name] = int(width), legal.removeprefix("?"), legal.startswith("?")
    return fields


PERSON = layout("""
RTYPE 1 3 5; MAFID 9 100000001-899999999; CUF_PNC 5 1-99999; BCUSTATEFP 2 STATES; VERSION 5 0-99999;
QSEX 1 1-2; QAGE 3 0-115; QDB 8 19040402-20200401; QDOB_MONTH 2 1-12; QDOB_DAY 2 1-31; QDOB_YEAR 4 1904-2020;
QSPAN 4 1000-8999 9950; QSPANX 1 1-7; CENHISP 1 1-2; QRACE1 4 1000-8999; QRACE2 4 ?1000-8999;
QRACE3 4 ?1000-8999; QRACE4 4 ?1000-8999; QRACE5 4 ?1000-8999; QRACE6 4 ?1000-8999; QRACE7 4 ?1000-8999;
QRACE8 4 ?1000-8999; QRACEX 1 1-6; CENRACE 2 1-63; RACE2010 2 1-31; RELSHIP 2 20-38; QGQTYP 3 ?QUARTERS;
LIVE_ALONE 1 0-2
""")
UNIT = layout("""
RTYPE 1 2 4; MAFID 9 100000001-899999999; BCUSTATEFP 2 STATES; VERSION 5 0-99999; FINAL_POP 5 0-99999;
HHLDRAGE 3 ?15-115; HHSPAN 1 ?1-2; HHLDRACE 1 ?1-6; HHRACE 2 ?1-63; TEN 1 0-4; TEN_A 1 0-4; TEN_R 1 0-4;
VACS 1 0-7; QGQTYP 3 ?QUARTERS; GQSEX 1 ?1-3; OIDTB 22 0-10000000000000000000000; HHT 1 0-7; HHT2 2 0-12;
CPLT 1 0-5; UPART 1 0-5; MULTG 1 0-2; PAOC 1 0-4; P18 2 0-99; P60 2 0-99; P65 2 0-99; P75 2 0-99; PAC 1 0-4;
HHSEX 1 0-2
""")
COUNTS = {"BCUSTATEFP": 2, "VERSION": 5, "COUNT_UNIT": 10, "COUNT_UNIT_HU": 10, "COUNT_UNIT_GQ": 10,
          "COUNT_PER": 10, "COUNT_PER_HU": 10, "COUNT_PER_GQ": 10}  # fmt: skip
SPOUSES, PARTNERS, OWN_CHILDREN = {"21", "23"}, {"22", "24"}, {"25", "26", "27"}
RELATIVES = {"21", "23", *map(str, range(25, 34))}


@dataclass(frozen=True)
class Cef:
    """The files that a reader.ini names, all of them in one folder."""

    reader: Path

    @cached_property
    def _paths(self):
        settings = configparser.ConfigParser()
        settings.read(self.reader)
        return dict(settings["paths"])

    @cached_property
    def states(self):
        ends = self._paths["unit_file_format"].split("%s")
        return sorted(path.name[len(ends[0]) : -len(ends[1])] for path in self._folder("unit_dir").glob("CEF20_UNIT_*"))

    def _folder(self, key):
        return self.reader.parent / (self._paths.get(key) or self._paths[key.removesuffix("_pr")])

    def _lines(self, key, state):
        form = {"per_dir": "per_file_format", "unit_dir": "unit_file_format", "grfc_dir": "geo_file_format"}[key]
        folder = self._folder(f"{key}_pr" if state == "72" and key != "grfc_dir" else key)
        content = (folder / (self._paths[form] % state)).read_bytes()
        text = content.decode("ascii", errors="replace")  # a geography may have names
        assert text == "" or text.endswith("\n")
        return text.split("\n")[:-1]

    @cached_property
    def persons(self):
        return [one for state in self.states for one in _records(self._lines("per_dir", state), PERSON, state)]

    @cached_property
    def units(self):
        return [one for state in self.states for one in _records(self._lines("unit_dir", state), UNIT, state)]

    @cached_property
    def blocks(self):
        """The rows of GRF-C."""
        rows = []
        for state in self.states:
            header, *lines = (line.split("|") for line in self._lines("grfc_dir", state))
            rows += [dict(zip(header, line, strict=True)) for line in lines]
        return rows

    def counts(self, state):
        (line,) = (self._folder("unit_dir") / f"CEF20_CNT_{state}.txt").read_text().splitlines()
        (record,) = _records([line], {name: (width, "", True) for name, width in COUNTS.items()}, state)
        return record

    @cached_property
    def block_of_oid(self):
        return {block["OIDTABBLK"].strip(): block for block in self.blocks}

    @cached_property
    def unit_of_mafid(self):
        return {unit["MAFID"]: unit for unit in self.units}

    @cached_property
    def members(self):
        """The persons of each unit, by its MAFID; of vacant units nobody."""
        members = {unit["MAFID"]: [] for unit in self.units}
        for person in self.persons:
            members[person["MAFID"]].append(person)
        return members

    def block_of(self, mafid):
        return self.block_of_oid[self.unit_of_mafid[mafid]["OIDTB"].strip()]

    def person_records(self):
        """The rows of person-records.txt, in the order of the file."""
        for person in self.persons:
            yield [
                str(int(person["QAGE"])),
                person["QSEX"],
                str(person["RELSHIP"] == "20"),
                *_block(self.block_of(person["MAFID"])),
                person["CENRACE"],
                *_codes(person),
            ]

    def household_records(self):
        """The rows of household-records.txt, in the order of the householders."""
        for person in self.persons:
            unit = self.unit_of_mafid[person["MAFID"]]
            if person["RELSHIP"] == "20" and unit["RTYPE"] == "2" and unit["HHT"] != "0":
                kind = {"6": "4", "7": "5"}.get(unit["HHT"], unit["HHT"])
                block = _block(self.block_of(person["MAFID"]))
                yield [*block, unit["HHRACE"], *_codes(person), kind, unit["TEN"]]


def _records(lines, layout, state):
    width = sum(one for one, *_ in layout.values())
    for line in lines:
        assert len(line) == width
        record, first = {}, 0
        for name, (length, *_) in layout.items():
            record[name] = line[first : first + length]
            first += length
        yield record | {"file's state": state}


def _block(row):
    return [row[name] for name in ("TABBLKST", "TABBLKCOU", "TABTRACTCE", "TABBLK")]


def _codes(person):
    races = (person[f"QRACE{number}"] for number in range(1, 9))
    return [*("Null" if race == " " * 4 else race for race in races), person["QSPAN"]]


def broken_fields(records, layout):
    """How many records have a value outside the legal ones, by field."""
    broken = Counter()
    for name, (_, legal, may_be_blank) in layout.items():
        ranges = [tuple(map(int, (span.split("-") * 2)[:2])) for span in legal.split()]
        for value, count in Counter(record[name] for record in records).items():
            if not value.strip():
                is_legal = may_be_blank
            else:
                is_legal = value.strip().isdigit() and any(low <= int(value) <= high for low, high in ranges)
            if not is_legal:
                broken[name] += count
    return broken


def household_type(members):
    """HHT from the members, one of whom is the householder."""
    relationships = {person["RELSHIP"] for person in members}
    (sex,) = (person["QSEX"] for person in members if person["RELSHIP"] == "20")
    if relationships & SPOUSES:
        return "1"
    if relationships & RELATIVES:
        return {"1": "2", "2": "3"}[sex]
    if len(members) == 1:
        return {"1": "4", "2": "6"}[sex]
    return {"1": "5", "2": "7"}[sex]


def ages_of_children(ages):
    """PAOC and PAC."""
    return {(True, False): "1", (False, True): "2", (True, True): "3", (False, False): "4"}[
        any(age < 6 for age in ages), any(6 <= age < 18 for age in ages)
    ]
