"""The disk that a run needs, before it needs it."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest

from tests.inside import PARQUET, TEXT, DiskNeed, RunFailed, TableFiles, number_of_records, require_room, size_in_words


def test_needs_on_one_disk_are_added_up(tmp_path):
    needs = [DiskNeed("--temp", tmp_path, 3 * 10**9), DiskNeed("OUT", tmp_path, 2 * 10**9)]
    require_room(needs, lambda _: 5 * 10**9)
    with pytest.raises(RunFailed) as failed:
        require_room(needs, lambda _: 5 * 10**9 - 1)
    both = f"the disk of --temp ({tmp_path}) and OUT ({tmp_path}) has 5.0 GB free, but about 5.0 GB are needed."
    assert str(failed.value).startswith(f"{both} Nothing was written.")
    assert "give another --temp or OUT" in str(failed.value)


@pytest.mark.skipif(not Path("/dev/shm").is_dir(), reason="needs a second file system")
def test_disks_are_checked_one_by_one(tmp_path):
    other = Path("/dev/shm")
    if other.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("needs a second file system")
    needs = [DiskNeed("--temp", tmp_path, 10**9), DiskNeed("OUT", other, 2 * 10**9)]
    with pytest.raises(RunFailed, match=r"^the disk of OUT \(/dev/shm\) has 1\.0 GB free, but about 2\.0 GB"):
        require_room(needs, lambda _: 10**9)


def test_the_number_of_persons_is_exact_in_parquet_and_close_in_text(tmp_path):
    line = "30|1|True|01|001|000100|1000|01|1000" + "|Null" * 7 + "|2000\n"
    parts = [tmp_path / f"{rows}.parquet" for rows in (1000, 500)]
    for part in parts:
        pa.parquet.write_table(pa.table({"QAGE": ["30"] * int(part.stem)}), part)
    (tmp_path / "persons.txt").write_text(line * 1500)
    assert number_of_records(TableFiles(PARQUET, tuple(parts))) == 1500
    assert number_of_records(TableFiles(TEXT, (tmp_path / "persons.txt",))) == pytest.approx(1500, rel=0.1)


def test_sizes_are_told_in_words():
    assert [size_in_words(size) for size in (1, 999_999_999, 5_360_000_000)] == ["1 MB", "999 MB", "5.4 GB"]
