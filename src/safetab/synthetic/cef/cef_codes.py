"""Codes that a CEF can hold: races from 1000 to 8999, Hispanic origins of the same numbers, and 9950."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

from safetab.census.public_lists import PublicLists, is_race_code
from safetab.synthetic.people.code_mix import CodeMix

_NOT_HISPANIC = "9950"
_OWN_HISPANIC_CODES = range(9_000, 9_900)
_IN_A_CEF = -2_000  # what is added to them: the lists of a census's own have no code from 7000 to 7899


def codes_no_cef_holds(mix: CodeMix) -> Sequence[str]:
    """Those that QSPAN would have to hold; race codes always fit."""
    of_ethnicities = {mix.codes[position] for position in (*mix.hispanic.tolist(), mix.not_hispanic)}
    return sorted(code for code in of_ethnicities if not (is_race_code(code) or code == _NOT_HISPANIC))


def lists_for_a_cef(lists: PublicLists) -> PublicLists:
    """Lists of a census's own with their Hispanic codes where a CEF can hold them."""
    codes = {iteration: frozenset(map(_moved, of)) for iteration, of in lists.codes_of_iteration.items()}
    names = {_moved(code): name for code, name in lists.code_names.items()}
    return replace(lists, code_names=MappingProxyType(names), codes_of_iteration=MappingProxyType(codes))


def mix_for_a_cef(mix: CodeMix) -> CodeMix:
    """The same people, with the codes of `lists_for_a_cef`."""
    return replace(mix, codes=tuple(map(_moved, mix.codes)))


def _moved(code: str) -> str:
    return str(int(code) + _IN_A_CEF) if int(code) in _OWN_HISPANIC_CODES else code
