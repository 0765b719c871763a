from functools import partial

import pytest

from tests.engine_inputs import SPARK_MARKS, local_engine, plain_engine, spark_engine
from tests.inside import compiled_module


@pytest.fixture(scope="module")
def session():
    """Gone after a module: whole runs start a session of their own, and a process can have only one."""
    from tests.spark_sessions import quick_session  # noqa: PLC0415 - PySpark is optional

    with quick_session() as session:
        yield session


@pytest.fixture(scope="session", params=["plain", "local", "compiled", pytest.param("spark", marks=SPARK_MARKS)])
def engine_name(request):
    return request.param


@pytest.fixture
def engine_of(request, engine_name, tmp_path, monkeypatch):
    """Makes engines of one kind, and closes them at the end; `compiled` compiles loops in small jobs too."""
    made = []
    make = {"plain": partial(plain_engine, _=tmp_path), "local": partial(local_engine, folder=tmp_path)}
    if engine_name == "compiled":
        make["compiled"] = make["local"]
        monkeypatch.setattr(compiled_module, "_LEAST_WORK_TO_COMPILE", 0)
    if engine_name == "spark":
        make["spark"] = partial(spark_engine, request.getfixturevalue("session"))

    def of(inputs):
        made.append(make[engine_name](inputs))
        return made[-1]

    yield of
    for engine in made:
        engine.close()
