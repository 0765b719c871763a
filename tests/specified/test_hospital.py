"""A hospital's admissions: a patient is protected with up to three of them, from the file to the release."""

import json
import shutil
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.commands import cli
from tests.conftest import SHARED
from tests.inside import InvalidInput, Stage, open_release, plan_of_files, run_files, validate_files

GIVEN = SHARED / "census" / "hospital-admissions"
pytestmark = pytest.mark.skipif(not GIVEN.exists(), reason="the hospital's specification is not here")
MUNICIPALITIES = """MUNICIPALITY,MUNICIPALITY_NAME,DISTRICT,DISTRICT_NAME
0101,Ash,01,North
0102,Birch,01,North
0201,Cedar,02,South
9999,Elsewhere,,
"""
OF_A_PATIENT = "What is protected is one patient, with up to 3 admissions."
OF_AN_ADMISSION = "What is protected is one admission: one record. Somebody with several records is protected less."


@pytest.fixture
def parameters(tmp_path):
    folder = tmp_path / "hospital"
    shutil.copytree(GIVEN, folder)
    (folder / "municipalities.csv").write_text(MUNICIPALITIES)
    return folder


def without_unit(parameters):
    specification = parameters / "census.toml"
    lines = specification.read_text().splitlines(keepends=True)
    assert sum(line.startswith("unit = ") for line in lines) == 1
    specification.write_text("".join(line for line in lines if not line.startswith("unit = ")))


def made_up(parameters):
    result = cli("synthesize", parameters, "--people", "1500")
    assert result.exit_code == 0, result.output
    return parameters.with_name(f"{parameters.name}-data")


def sentences_of(parameters, data, out):
    """What the plan, the README and the manifest say, with single spaces."""
    run_files(parameters, data, out)
    plan = cli("plan", parameters, data)
    assert plan.exit_code == 0
    texts = {"plan": plan.output, "README": (out / "release" / "README.txt").read_text()}
    texts["manifest"] = (out / "manifest.json").read_text()
    return {name: " ".join(text.split()) for name, text in texts.items()}


@pytest.mark.parametrize("has_unit", [True, False], ids=["patient", "admission"])
def test_made_up_admissions_run_and_every_output_says_what_is_protected(has_unit, parameters, tmp_path):
    if not has_unit:
        without_unit(parameters)
    texts = sentences_of(parameters, made_up(parameters), tmp_path / "out")
    said, unsaid = (OF_A_PATIENT, OF_AN_ADMISSION) if has_unit else (OF_AN_ADMISSION, OF_A_PATIENT)
    assert [name for name, text in texts.items() if said not in text or unsaid in text] == []
    assert open_release(tmp_path / "out").total("all", "II").value > 0
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["protected"] == said


def test_a_patient_with_more_records_is_an_error_that_shows_no_value(parameters):
    data = made_up(parameters)
    path = data / "admissions.parquet"
    rows = pq.read_table(path)
    first = rows.slice(0, 1)
    secret = "patient-4711"
    place = rows.schema.get_field_index("PATIENT")
    of_patient = first.set_column(place, "PATIENT", pa.array([secret], rows.schema.field(place).type))
    pq.write_table(pa.concat_tables([rows, *[of_patient] * 3]), path)
    validate_files(parameters, data)  # three are allowed
    pq.write_table(pa.concat_tables([rows, *[of_patient] * 4]), path)
    with pytest.raises(InvalidInput) as refused:
        validate_files(parameters, data)
    (finding,) = refused.value.findings
    assert str(finding) == "PATIENT: a patient may have at most 3 records. 1 patient has more."
    assert secret not in str(refused.value)


def noise(plan):
    return {
        (level.family.name, level.level.iterations.name, level.level.geography.label, stage): planned.noise.parameter
        for level in plan.levels
        for stage, planned in level.design.stages.items()
    }


def test_gaussian_noise_is_made_for_k_squared_times_s(parameters):
    """k = 3; s = 1 for the main diagnosis and 4 for those mentioned. Stage 1 spends a tenth."""
    found = noise(plan_of_files(parameters, parameters).require())
    assert found["age and sex", "chapter", "country", Stage.STAGE_1] == Fraction(9) / (2 * Fraction(3, 100))
    assert found["age and sex", "block", "district", Stage.STAGE_2] == Fraction(9) / (2 * Fraction(27, 100))
    assert found["mode", "mentioned", "country", Stage.STAGE_1] == Fraction(36) / (2 * Fraction(1, 100))
    assert found["mode", "mentioned", "district", Stage.STAGE_2] == Fraction(36) / (2 * Fraction(9, 100))


def test_geometric_noise_is_made_for_k_times_s(parameters):
    specification = parameters / "census.toml"
    specification.write_text(specification.read_text().replace('definition = "zcdp"', 'definition = "puredp"'))
    found = noise(plan_of_files(parameters, parameters).require())
    assert found["age and sex", "chapter", "country", Stage.STAGE_2] == 3 / Fraction(27, 100)
    assert found["mode", "mentioned", "country", Stage.STAGE_1] == 12 / Fraction(1, 100)
