"""Columns are found by their names: in whatever order a file has them, the run writes the same tables."""


def test_households_lists_geography_and_totals_are_read_by_their_headers(releases, tmp_path):
    made, expected = releases.households(21, budget=0.3, people=60)
    world = made.copy(tmp_path)
    tables = sorted({*tmp_path.glob("*/*.txt")} - {world.data / "person-records.txt"})
    assert " ".join(table.stem for table in tables) == (
        "GRF-C household-records pop-group-totals ethnicity-characteristic-iterations "
        "race-and-ethnicity-code-to-iteration race-and-ethnicity-codes race-characteristic-iterations"
    )
    for table in tables:
        lines = table.read_text(encoding="utf-8").splitlines()
        table.write_text("".join("|".join(reversed(line.split("|"))) + "\n" for line in lines), encoding="utf-8")
    out = world.run(tmp_path / "out")
    written = sorted(path.relative_to(expected) for path in expected.glob("t*/**/*.csv"))
    assert written
    for name in (*written, "measurements/us.parquet"):
        assert (out / name).read_bytes() == (expected / name).read_bytes()
