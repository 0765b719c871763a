"""Censuses of made-up people for demonstrations, tests and benchmarks."""

HANDED_OUT = {
    "cef.cef_files": "READER_FILE",
    "census": "CensusPlan CensusRequest bytes_needed write_census",
    "demo_census": "write_demo_census",
    "files.census_files": "CensusFormat",
    "files.parameter_files": "HOUSEHOLD_PARAMETERS write_new_parameters",
    "geography.census_size": "SizeRequest",
    "people.nonempty_groups": "NonEmptyGroups",
    "specified.new_census": "UNKNOWN columns_of_file columns_of_package write_new_census",
    "specified.people": "PEOPLE_OF PeopleRequest write_example write_people",
}
