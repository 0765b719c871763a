"""Whether the engine of a run counts an accepted input as the judge does, person by person."""

import contextlib
import gzip
import shutil
import tempfile
from pathlib import Path

import numpy as np

from tests import plain_cef
from tests.inside import EngineSettings, InvalidInput, LocalBackend, find_record_files, read_inputs
from tests.plain_engine import PlainEngine
from tests.worlds.people import PERSON_HEADER

SECRET_OF_FINGERPRINTS = bytes(32)


def difference_of_counts(world):
    """What the engine of a run and the judge differ in, for inputs that were accepted; nothing if they agree."""
    with tempfile.TemporaryDirectory(prefix="judged-") as made:
        folder = Path(made)
        inputs = read_inputs(world.parameters, world.data).require()
        backend = LocalBackend(EngineSettings(folder, threads=1), lambda _: None)
        with contextlib.closing(backend.engine(inputs.records, inputs.files)) as engine:
            return _difference(engine, _judge(world, inputs, folder), inputs)


def _judge(world, inputs, folder):
    data = _as_delimited(world.data, folder / "plain") if world.data.suffix == ".ini" else world.data
    persons = find_record_files(data, inputs.files.config.product.record).require()
    return PlainEngine(persons, inputs.files)


def _difference(engine, judge, inputs):
    for one in (engine, judge):
        errors = [str(finding) for finding in one.check() if finding.is_error]
        if errors:
            return f"{type(one).__name__} refuses what was accepted: {errors[0]}"
    if engine.prepare() != judge.prepare():
        return "different numbers of persons"
    with contextlib.suppress(InvalidInput):  # the database is stricter than Arrow: a run that keeps accounts would stop
        if engine.fingerprint(SECRET_OF_FINGERPRINTS) != judge.fingerprint(SECRET_OF_FINGERPRINTS):
            return "different records"
    for level in inputs.plan.levels:
        counts, judged = engine.totals(level), judge.totals(level)
        if not all(np.array_equal(getattr(counts, name), getattr(judged, name)) for name in _ARRAYS):
            return f"different totals of {level.level}"
    return None


_ARRAYS = ("indices", "confidential_counts")


def _as_delimited(ini, folder):
    """The persons of a CEF as a delimited file, read by a reader with nothing of the package's own."""
    copy = folder / "cef"
    shutil.copytree(ini.parent, copy, symlinks=False)
    for path in [*copy.glob("records/*.txt"), *copy.glob("geography/*.txt")]:
        content = path.read_bytes()
        content = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
        content = content.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").rstrip(b"\n")
        path.write_bytes(content + b"\n" if content else b"")
    rows = ["|".join(row) for row in plain_cef.Cef(copy / ini.name).person_records()]
    (folder / "person-records.txt").write_text("\n".join([PERSON_HEADER, *rows]) + "\n")
    return folder
