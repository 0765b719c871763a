"""The census that is meant where no file names another.

It comes with what is known of it without any file.
"""

from safetab.model.us import examples, facts_of_2020
from safetab.model.us.us_census import US

__all__ = ["DEFAULT_CENSUS", "DISJOINT_PASSES", "examples", "facts_of_2020"]

DEFAULT_CENSUS = US
"""The census of parameters and of releases that name none.

Options that are declared before any file is read have it, too.
"""

DISJOINT_PASSES = frozenset(each.name for each in DEFAULT_CENSUS.passes)
"""Passes that share nobody in any run of any census: no other census may use these names."""
