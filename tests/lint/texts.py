"""Texts of the project that are looked at as they lie there."""

from tests.conftest import PROJECT


def text_of(path):
    return (PROJECT / path).read_text()
