"""Made-up texts that match a regular expression."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from string import ascii_letters, digits

from safetab.apps.synthetic.seeded_bits import RandomBits

_TRIES = 50
_CHARACTERS = f"{ascii_letters}{digits} !#%&'()*+-./:;<=>?@[]^_{{}}~"
_SET, _BRACKET = r"\[\^?\]?(?:\\.|[^\]\\])*\]", r"\((?:\?(?:[aiLmsux]+\)|:|P<\w+>|<?[=!]))?"
_SIGN = re.compile(rf"\\.|{_SET}|{_BRACKET}|\{{\d*,?\d*\}}\??|[*+?]\??|.", re.DOTALL)
_REPEATS = {"*": (0, 3), "+": (1, 4), "?": (0, 1)}


def matching(pattern: str, bits: RandomBits, count: int) -> Iterator[str]:
    """Up to `count` different texts that match a regular expression.

    There are fewer if they are hard to find.
    """
    made_up = _maker_of(iter(_SIGN.findall(pattern)), lambda limit: int(bits.below(limit, 1)[0]))
    seen = {""}
    for _ in range(_TRIES * count):
        text = made_up()
        if text not in seen and re.fullmatch(pattern, text):
            seen.add(text)
            yield text
        if len(seen) > count:
            return


def _maker_of(signs: Iterator[str], below: Callable[[int], int]) -> Callable[[], str]:
    """A function that makes up texts of an expression, or of one in brackets up to its end.

    A branch is a list of parts, each with how often it comes at least and at most. Flags and
    lookarounds are skipped, so a text need not match: the caller checks.
    """
    branches: list[list[tuple[Callable[[], str], int, int]]] = [[]]
    for sign in signs:
        if sign == ")":
            break
        if sign == "|":
            branches.append([])
        elif sign[0] == "(" and sign[-1] != ")":
            inner = _maker_of(signs, below)
            branches[-1] += [] if sign[-1] in "=!" else [(inner, 1, 1)]
        elif sign[0] in "*+?{" and branches[-1]:
            part, _, _ = branches[-1].pop()
            branches[-1].append((part, *(_REPEATS.get(sign[0]) or _limits(sign))))
        elif sign[0] not in "^$(":
            branches[-1].append((_one_of(sign, below), 1, 1))

    def made_up() -> str:
        chosen = branches[below(len(branches))]
        return "".join(
            part() for part, least, most in chosen for _ in range(least + below(most - least + 1))
        )

    return made_up


def _one_of(sign: str, below: Callable[[int], int]) -> Callable[[], str]:
    """Makes up one of the characters that a sign, such as `[a-z]`, stands for.

    It makes no text if there are none.
    """
    of_sign = sign if len(sign) == 1 and sign.isalnum() else _CHARACTERS
    characters = [each for each in of_sign if re.fullmatch(sign, each)] or [""]
    return lambda: characters[below(len(characters))]


def _limits(sign: str) -> tuple[int, int]:
    """The least and the largest number of repeats by `{2}`, `{2,}` or `{2,5}`.

    Without an end, the largest is three more.
    """
    least, comma, most = sign.strip("{}?").partition(",")
    return int(least or 0), int(most or least or 0) + (3 if comma and not most else 0)
