"""Classifications and groups of a specification, as sets of texts."""

from dataclasses import dataclass
from itertools import combinations

from tests.specified.judged_files import read_table
from tests.specified.judged_values import is_match

CODE, GAP, MOST = "code", "gap", "most"
"""The rules of codes that a record can break."""
MOST_ANSWERS = 8
"""The limit of the language, which is all that bounds a list without `use`."""


@dataclass(frozen=True)
class Group:
    code: str
    name: str
    level: str
    classification: str
    members: str
    listed: str
    codes: frozenset[str]

    def holds(self, codes):
        """Whether a record with these codes of the classification is in the group."""
        if self.members == "any":
            return bool(codes & self.codes)
        return bool(codes) and codes <= self.codes


class Classification:
    """A code list and what it makes of a record."""

    def __init__(self, name, keys, folder, fields, use):
        self.name = name
        self.columns = list(keys.get("columns") or [keys["column"]])
        field = fields[self.columns[0]]
        self.separator = keys.get("separator") or (field.get("delimiter", ",") if field["type"] == "list" else None)
        self.pattern, self.first = keys.get("pattern"), keys.get("first")
        self.residual = frozenset(keys.get("residual", ()))
        self.required, self.gaps = keys.get("required", True), keys.get("gaps", "error")
        rows = read_table(folder / keys["file"])
        self.rows = [row for row in rows if self._matches(row["code"]) and row["code"] not in self.residual]
        self.codes = frozenset(row["code"] for row in self.rows)
        self.is_list = "column" in keys or self.separator is not None
        self.use = use or (MOST_ANSWERS if self.is_list else len(self.columns))
        self.most = MOST_ANSWERS if self.is_list and not use else None

    def _matches(self, code):
        return self.pattern is None or is_match(self.pattern, code)

    def answers(self, record, missing):
        """What a record answers, in order and cut to what counts; None where it says nothing."""
        if not self.is_list:
            said = [record[column] for column in self.columns]
        else:
            text = record[self.columns[0]]
            said = [] if text is None or text in missing else text
            said = said.split(self.separator) if isinstance(said, str) else list(said)
        found = [None if text is None or text in missing else text[: self.first] for text in said]
        while self.is_list and found and found[-1] is None:
            found.pop()
        return [answer for answer in found if answer is not None] if self.is_list and self.gaps == "skipped" else found

    def counted(self, answers):
        """The codes that groups look at."""
        return frozenset(answer for answer in answers[: self.use] if answer in self.codes)

    def broken(self, answers):
        """The columns and rules that a record breaks."""
        columns = self.columns if not self.is_list else self.columns * max(1, len(answers))
        lacks_first = self.required and (not answers or (answers[0] is None and not self.is_list))
        if lacks_first:
            yield columns[0], CODE
        known = [
            answer in self.codes or (answer in self.residual and self._matches(answer or "")) for answer in answers
        ]
        for column, answer, is_known in zip(columns, answers, known, strict=False):
            if answer is not None and not is_known:
                yield column, CODE
        asked = answers[lacks_first:]
        if self.gaps == "error" and None in asked and (self.is_list or any(known[lacks_first + asked.index(None) :])):
            yield spanned(columns), GAP
        if self.most and len(answers) > self.most:
            yield columns[0], MOST


def spanned(columns):
    """As a finding names them."""
    return "..".join(dict.fromkeys((columns[0], columns[-1])))


def stability(each, groups):
    """The greatest number of these groups that answers to one classification can reach, by the formula."""
    of_any = [group for group in groups if group.members == "any"]
    most = [min(each.use, len(of_any))]
    for only in groups:
        if only.members == "only":
            most.append(1 + min(each.use, sum(1 for group in of_any if group.codes & only.codes)))
    return max(most)


def stability_by_brute_force(each, groups):
    """The same, by trying every set of codes that a record may have."""
    sizes = range(min(each.use, len(each.codes)) + 1)
    tried = (frozenset(codes) for size in sizes for codes in combinations(sorted(each.codes), size))
    return max(sum(1 for group in groups if group.holds(codes)) for codes in tried)
