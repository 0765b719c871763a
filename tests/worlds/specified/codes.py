"""Random classifications and groups of codes."""

import re
from dataclasses import dataclass
from typing import Any

_NAMES = ["Samoan", "Tongan", "Māori", "Other, not further defined", 'So-called "other"', "日本", "Niuean"]
_MEMBERS = [["any"], ["only"], ["any", "only"], ["any", "only"]]
_LETTER = "A"


@dataclass
class WorldCodes:
    """A classification: its keys, the rows of its file, and what records may say."""

    name: str
    keys: dict[str, Any]
    rows: list[dict[str, str]]
    is_list: bool
    said: list[str]  # codes that count
    not_stated: list[str]  # residual ones

    @property
    def columns(self):
        return [self.keys["column"]] if "column" in self.keys else self.keys["columns"]


def make_classifications(choose):
    """One classification or two, of which at most one has several answers."""
    several = choose.one([0, 1, 1, 2])
    answers = 0 if several == 0 else choose.between(2, 8)
    first = _classification(choose, "ethnicity", _columns("ETH", answers or 1), is_list=several == 2)
    if choose.chance("two classifications", 0.5):
        if not first.is_list and choose.chance("shared column", 0.3):
            return choose.shuffled([first, _of_first_column(first)])
        second = _classification(choose, "main-language", ["Sprache"], is_list=False)
        if set(first.said) & set(second.said):
            choose.features.add("same codes in two lists")
        return choose.shuffled([first, second])
    return [first]


def _columns(stem, number):
    return [f"{stem}{place}" for place in range(1, number + 1)]


def _classification(choose, name, columns, *, is_list):
    style = choose.one(["{:03d}", "{:03d}", "J{:02d}", "c {}", "é{:02d}x", "{}"])
    codes = [style.format(number) for number in sorted(choose.random.sample(range(1, 40), choose.between(4, 10)))]
    rows = _hierarchy(choose, codes)
    keys = {"file": f"{name}.csv"}
    if is_list:
        choose.features.add("list column")
        keys["column"] = f"{columns[0]} all"
    else:
        keys["columns"] = columns
        choose.features.add("one answer" if len(columns) == 1 else "several answers")
    residual = [*choose.some(codes, 1, 2), "not said"[: len(codes[0])]] if choose.chance("residual", 0.4) else []
    if choose.quietly(0.4):
        residual, codes = _with_pattern(choose, keys, residual, codes)
    if residual:
        keys["residual"] = residual
    longest = max(map(len, [row["code"] for row in rows] + residual))
    if choose.chance("first", 0.3):
        keys["first"] = longest
    if choose.chance("not required", 0.4):
        keys["required"] = False
    if choose.chance("gaps skipped", 0.4):
        keys["gaps"] = "skipped"
    return WorldCodes(name, keys, rows, is_list, [code for code in codes if code not in residual], residual)


def _with_pattern(choose, keys, residual, codes):
    """The residual codes and the codes that a pattern leaves, if it leaves some."""
    pattern = f".*[{''.join(choose.some('0123456789', 5))}]x?"
    kept = [code for code in codes if re.fullmatch(pattern, code)]
    if len(set(kept) - set(residual)) < 2:
        return residual, codes
    choose.features.add("pattern")
    keys["pattern"] = pattern
    return [code for code in residual if re.fullmatch(pattern, code)], kept


def _of_first_column(first):
    """A second classification that reads the first column of another one, by the same list."""
    keys = first.keys | {"columns": first.columns[:1]}
    return WorldCodes("first answer", keys, first.rows, False, first.said, first.not_stated)


def _hierarchy(choose, codes):
    """Two levels above the codes; some codes are in none, and names repeat."""
    rows = []
    tops = {}
    for code in codes:
        mid = choose.one(["", *(f"m{number}" for number in range(1, 6))])
        top = tops.setdefault(mid, choose.one(["", "t1", "t2", "t3"]))
        names = {"top_name": f"{choose.one(_NAMES)}", "mid_name": choose.one(_NAMES)}
        rows.append({"code": code, "name": choose.one(_NAMES), "top": top, "mid": mid, **names})
    for column in ("top", "mid"):  # one name for each group
        named = {row[column]: row[f"{column}_name"] for row in rows}
        for row in rows:
            row[f"{column}_name"] = named[row[column]]
    return rows


def make_groups(choose, classifications, areas):
    """The keys of `groups`, and the rows of its files by name."""
    if choose.chance("groups by files", 0.45):
        return _by_files(choose, classifications, areas)
    choose.features.add("groups by columns")
    levels = []
    for number in range(choose.between(1, 4)):
        of = choose.one(classifications)
        of = of if number else classifications[0]
        column = choose.one([each for each in ("top", "mid", "code") if _has_groups(of, each)])
        level = {"name": f"Level {number}", "title": f"The level {number}", "of": of.name, "column": column}
        names = "name" if column == "code" else f"{column}_name"
        level |= {"names": names, "members": choose.one(_MEMBERS)}
        if number or choose.quietly(0.3):
            choose.features.add("code_prefix")
            level["code_prefix"] = f"{chr(ord(_LETTER) + number)}-"
        levels.append(level)
    keys = {"levels": levels}
    if choose.quietly(0.5):
        keys["words"] = {"any": "{name}", "only": "just {name}"}
    if len(levels) > 1:
        choose.features.add("names repeat across levels")
    if any(level["members"] == ["any", "only"] for level in levels):
        choose.features.add("any and only")
    return keys, {}


def _has_groups(of, column):
    return any(row[column] for row in of.rows if row["code"] in of.said)


def _by_files(choose, classifications, areas):
    keys = {"file": "groups.csv", "codes": "group-codes.csv", "levels": []}
    lists = {"common": {"areas": "all"}}
    if len(areas) > 1 and choose.chance("lists", 0.7):
        some = choose.some(areas, 1, len(areas) - 1)
        lists["few"] = {"areas": some}
        if choose.chance("totals only", 0.6):
            lists["few"]["tables"] = "total"
        lists["rest"] = {"areas": [area for area in areas if area not in some]}
        keys["lists"] = lists
    groups, codes = [], []
    for number in range(choose.between(1, 4)):
        keys["levels"].append({"name": f"L{number}", "title": f"Level {number}"})
        for of in classifications if number == 0 else choose.some(classifications):
            for members in choose.one(_MEMBERS):
                _add_groups(choose, (f"L{number}", of, members), list(lists), groups, codes)
    if not keys.get("lists") and choose.quietly(0.5):
        for group in groups:
            group["list"] = ""
    return keys, {"groups.csv": choose.shuffled(groups), "group-codes.csv": choose.shuffled(codes)}


def _add_groups(choose, kind, lists, groups, codes):
    """Groups that share no code where both are tabulated: a code is in one common group, or in one of each other list."""
    level, of, members = kind
    taken = {}
    size = choose.between(1, 5)
    for code in of.said:
        if choose.quietly(0.15):
            continue  # in no group
        others = [name for name in lists if name != "common"]
        for listed in ["common"] if not others or choose.quietly(0.5) else choose.some(others):
            number = taken.setdefault((listed, str(choose.between(1, size))), len(groups))
            if number == len(groups):
                row = {"group": f"{level}{members[0]}{number:03d}", "name": choose.one(_NAMES), "level": level}
                groups.append(row | {"classification": of.name, "members": members, "list": listed})
            codes.append({"group": groups[number]["group"], "code": code})
    if not any(group["level"] == level for group in groups):
        groups.append(
            {
                "group": f"{level}all",
                "name": "All",
                "level": level,
                "classification": of.name,
                "members": members,
                "list": "common",
            }
        )
        codes.append({"group": f"{level}all", "code": of.said[0]})
