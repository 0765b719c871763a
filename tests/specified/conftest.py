from functools import cache

import pytest

from tests.worlds.specified.random_world import write_foreign_world


@pytest.fixture(scope="session")
def foreign(tmp_path_factory):
    """The random world of a seed, made once, not to be changed."""
    folder = tmp_path_factory.mktemp("worlds")
    return cache(lambda seed: write_foreign_world(folder / str(seed), seed))
