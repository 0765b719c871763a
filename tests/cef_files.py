"""A small CEF of the people of a small world: written from the records of its delimited file, by the layout's facts.

Fields are written by names and widths of this module's own, so that the reader's table has something to be wrong about.
"""

import gzip
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from tests.worlds.people import PERSON_HEADER


def widths(text):
    return {name: int(width) for name, width in map(str.split, text.split(","))}


PERSON_WIDTHS = widths("""
RTYPE 1, MAFID 9, CUF_PNC 5, BCUSTATEFP 2, VERSION 5, QSEX 1, QAGE 3, QDB 8, QDOB_MONTH 2, QDOB_DAY 2,
QDOB_YEAR 4, QSPAN 4, QSPANX 1, CENHISP 1, QRACE1 4, QRACE2 4, QRACE3 4, QRACE4 4, QRACE5 4, QRACE6 4,
QRACE7 4, QRACE8 4, QRACEX 1, CENRACE 2, RACE2010 2, RELSHIP 2, QGQTYP 3, LIVE_ALONE 1
""")
UNIT_WIDTHS = widths("""
RTYPE 1, MAFID 9, BCUSTATEFP 2, VERSION 5, FINAL_POP 5, HHLDRAGE 3, HHSPAN 1, HHLDRACE 1, HHRACE 2, TEN 1,
TEN_A 1, TEN_R 1, VACS 1, QGQTYP 3, GQSEX 1, OIDTB 22, HHT 1, HHT2 2, CPLT 1, UPART 1, MULTG 1, PAOC 1,
P18 2, P60 2, P65 2, P75 2, PAC 1, HHSEX 1
""")
COUNT_WIDTHS = {"BCUSTATEFP": 2, "VERSION": 5} | {
    f"COUNT_{kind}{ending}": 10 for kind in ("UNIT", "PER") for ending in ("", "_HU", "_GQ")
}
WIDTHS = {"PER": PERSON_WIDTHS, "UNIT": UNIT_WIDTHS, "CNT": COUNT_WIDTHS}
STATES = ("01", "44", "72")
INI = """[paths]
per_dir = records
unit_dir = records/
per_dir_pr = records
unit_dir_pr = records/
grfc_dir = ./geography
cef_year = 2020
per_file_format = CEF20_PER_%%s.txt
unit_file_format = CEF20_UNIT_%%s.txt
geo_file_format = grfc_tab20_%%s.txt
"""

Record = dict[str, str]


@dataclass
class Cef:
    """The records of each file, by state, to be changed and written."""

    folder: Path
    records: dict[str, dict[str, list[Record]]] = field(default_factory=lambda: defaultdict(dict))
    geography: dict[str, list[str]] = field(default_factory=dict)

    @property
    def ini(self):
        return self.folder / "reader.ini"

    def path(self, kind, state):
        return self.folder / "records" / f"CEF20_{kind}_{state}.txt"

    def count(self):
        """Makes the counts those of the records."""
        for state in self.geography:
            rows = {kind: [one["RTYPE"] for one in self.records[kind][state]] for kind in ("UNIT", "PER")}
            counts = {
                f"COUNT_{kind}{ending}": str(sum(one in types for one in rows[kind]))
                for kind in rows
                for ending, types in (("", "2345"), ("_HU", "23"), ("_GQ", "45"))
            }
            self.records["CNT"][state] = [{"BCUSTATEFP": state, "VERSION": "00001", **counts}]

    def write(self, lines=None):
        as_lines = lines or fixed_lines
        for folder in ("records", "geography"):
            (self.folder / folder).mkdir(parents=True, exist_ok=True)
        self.ini.write_text(INI)
        (self.folder / "SYNTHETIC").write_text("made up\n")
        for kind, of_states in self.records.items():
            for state, records in of_states.items():
                self.path(kind, state).write_bytes(as_lines(records, WIDTHS[kind]))
        for state, rows in self.geography.items():
            text = "\n".join([GRFC_HEADER, *rows]) + "\n"
            (self.folder / "geography" / f"grfc_tab20_{state}.txt").write_text(text)


GRFC_HEADER = "TABBLKST|TABBLKCOU|TABTRACTCE|TABBLK|TABBLKSUFX1|POPDEC|PLACEFP|PLACENS|AIANNHFP|AIANNHCE|UR|OIDTABBLK"


def fixed_lines(records, widths, end="\n"):
    return "".join("".join(one[name].rjust(width) for name, width in widths.items()) + end for one in records).encode()


def windows_lines(records, widths):
    return fixed_lines(records, widths, "\r\n")


def zeros_in_front(records, widths):
    padded = [{name: value and value.rjust(widths[name], "0") for name, value in one.items()} for one in records]
    return fixed_lines(padded, widths)


def blanks_behind(records, widths):
    return fixed_lines([{name: value.ljust(widths[name]) for name, value in one.items()} for one in records], widths)


def piped_lines(records, widths):
    return "".join("|".join(one[name] for name in widths) + "\n" for one in records).encode()


def gzipped_lines(records, widths):
    return gzip.compress(fixed_lines(records, widths))


def write_cef(world, folder):
    """The CEF of the people of a delimited file, and the config.json of the world changed to read it."""
    cef = cef_of(world, folder)
    cef.write()
    world.configure(reader="cef")
    return cef


def cef_of(world, folder):
    """Householders have a household, in which the others of their block live; where there is none, a group quarters.

    The first block of a state has a vacant unit too.
    """
    cef = Cef(folder)
    oids = {}
    for number, row in enumerate((world.data / "GRF-C.txt").read_text().splitlines()[1:]):
        *block, place, aiannh = row.split("|")
        oids["|".join(block)] = str(OID_BASE + 7919 * number)
        full = [*block, "", "", place, "", "", aiannh, "U", oids["|".join(block)]]
        if block[0] in STATES:
            cef.geography.setdefault(block[0], []).append("|".join(full))
    mafids = iter(range(100_000_001, 899_999_999, 31))
    for state in cef.geography:
        people = _people_by_block(world, state)
        cef.records["UNIT"][state], cef.records["PER"][state] = [], []
        blocks = [block for block in oids if block.startswith(state)]
        for block in blocks:
            _add_block(cef, state, people.get(block, []), oids[block], mafids)
            if block == blocks[0]:
                cef.records["UNIT"][state].append(unit(state, str(next(mafids)), oids[block], VACS="1"))
    cef.count()
    return cef


OID_BASE = 3_000_000_000_000_000_000_000  # 22 digits: more than a machine's integer holds


def _people_by_block(world, state):
    people = defaultdict(list)
    for row in (world.data / "person-records.txt").read_text().splitlines()[1:]:
        person = dict(zip(PERSON_HEADER.split("|"), row.split("|"), strict=True))
        if person["TABBLKST"] == state:
            people["|".join(person[column] for column in PERSON_HEADER.split("|")[3:7])].append(person)
    return people


def _add_block(cef, state, people, oid, mafids):
    householders = [one for one in people if one["HOUSEHOLDER"] == "True"]
    others = [one for one in people if one["HOUSEHOLDER"] == "False"]
    for number, householder in enumerate(householders):
        members = [householder, *(others if number == 0 else [])]
        alone = {"HHT": "4" if len(members) == 1 else "7", "TEN": str(1 + number % 4), "HHRACE": householder["CENRACE"]}
        home = unit(state, str(next(mafids)), oid, FINAL_POP=str(len(members)), **alone)
        cef.records["UNIT"][state].append(home)
        cef.records["PER"][state] += [person(one, home, n) for n, one in enumerate(reversed(members), 1)]
    if others and not householders:
        quarters = unit(state, str(next(mafids)), oid, RTYPE="4", FINAL_POP=str(len(others)), QGQTYP="501", GQSEX="3")
        cef.records["UNIT"][state].append(quarters)
        cef.records["PER"][state] += [person(one, quarters, n) for n, one in enumerate(others, 1)]


def unit(state, mafid, oid, **given):
    blanks = dict.fromkeys(("HHLDRAGE", "HHSPAN", "HHLDRACE", "HHRACE", "QGQTYP", "GQSEX"), "")
    return dict.fromkeys(UNIT_WIDTHS, "0") | blanks | {
        "RTYPE": "2", "MAFID": mafid, "BCUSTATEFP": state, "VERSION": "00001", "OIDTB": oid, "HHT2": "00", **given
    }  # fmt: skip


def person(one, home, number):
    is_householder = one["HOUSEHOLDER"] == "True"
    in_quarters = home["RTYPE"] == "4"
    codes = {name: "" if one[name] == "Null" else one[name] for name in (f"QRACE{n}" for n in range(1, 9))}
    return {
        "RTYPE": "5" if in_quarters else "3", "MAFID": home["MAFID"], "CUF_PNC": str(number),
        "BCUSTATEFP": home["BCUSTATEFP"], "VERSION": "00001", "QSEX": one["QSEX"], "QAGE": str(int(one["QAGE"])),
        "QDB": "19870105", "QDOB_MONTH": "1", "QDOB_DAY": "5", "QDOB_YEAR": "1987", "QSPAN": one["QSPAN"],
        "QSPANX": "1", "CENHISP": "2", **codes, "QRACEX": "1", "CENRACE": one["CENRACE"], "RACE2010": "01",
        "RELSHIP": "20" if is_householder else "38" if in_quarters else "36", "QGQTYP": home["QGQTYP"],
        "LIVE_ALONE": "0",
    }  # fmt: skip
