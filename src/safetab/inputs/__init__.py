"""Files become values: public lists and areas, configurations and records.

From public files the plan is made.
"""

HANDED_OUT = {
    "area_files": (
        "AREAS_TABLE SMALLEST_AREA_COLUMN area_paths_at lists_areas_by_units "
        "parts_of_smallest_areas read_areas_at read_smallest_areas_at spelled_smallest_area"
    ),
    "bureau.cef.layout": "COUNTS PERSON UNIT",
    "bureau.cef.reader_file": "CefFiles ReaderFile read_reader_file",
    "bureau.grfc": "GEOGRAPHY_DIGITS GEOGRAPHY_TABLE UNIT_COLUMN block_columns read_geography_at",
    "bureau.public_lists": (
        "ASSIGNMENTS_FILE CODES_FILE ETHNICITY_ITERATIONS_FILE LISTS RACE_ITERATIONS_FILE "
        "SHORT_FORM_FILE paths_of_lists read_lists"
    ),
    "configuration": (
        "joint_loss product_asked_for read_config reader_asked_for records_of_another_product "
        "require_parameters"
    ),
    "found_records": "RecordFinder RecordLocation Records record_files",
    "known_lists": "KnownLists",
    "own_records": "OwnRecords find_own_records is_synthetic leads_marker_nowhere paths_read",
    "parameter_difference": "ParameterDifference difference",
    "planner": "PublicFiles plan_of",
    "public_files": (
        "GivenTotals about_path list_paths plan_of_files read_public_files read_public_lists "
        "write_short_form"
    ),
    "readers.area_names": "NAMES_FILE",
    "readers.delimited": "NAME_RULE RowProblems SEPARATOR",
    "readers.digit_columns": "NOT_DIGITS digits_of is_text",
    "readers.forms.all_forms": "GZIPPED_TEXT PARQUET TABLE_FORMS TEXT form_of",
    "readers.forms.table_form": "DamagedPart MOST_ROWS_LISTED MisshapenRows TableForm damage_named",
    "readers.forms.text": (
        "HEADER_RULE UTF8_RULE report_blank_lines report_overlong_line report_stray_return "
        "shape_rule"
    ),
    "readers.table_files": "TableFiles table_paths_at why_damaged",
    "readers.text_tables": "LONGEST_HEADER LONGEST_LINE header_in",
    "records.cef.geography": "BlockOids CefGeography read_cef_geography",
    "records.cef.state_records": "CefRecords CefRules StateReader TYPE_OF_HHT records_of",
    "records.record_files": (
        "DATES FRACTIONS INTEGERS LISTS OTHER_VALUES PATTERN_CHARACTERS PERSON_HOUSEHOLD_FILE "
        "REASON_IS_LOGGED TEXT TRUTH_VALUES TypedColumns check_header check_same_kinds "
        "check_typed_columns find_record_files kind_of number_of_records readable_record_files "
        "record_file_names unreadable"
    ),
    "records.record_rules": (
        "BrokenRules Rule after_no_code_rule area_form_rule area_listed_rule code_rule "
        "most_answers_rule part_rule report_passes report_units rule_of text_of_value "
        "without_blanks"
    ),
    "specification.area_tables": "read_area_table",
    "specified_files": "Compiled compile_folder",
    "tuning.concerns": "NO_PROTECTION ParameterConcern concerns",
    "tuning.paper": "GAMMA STABILITY SUPPRESSION_CHANCE margin_table threshold_table",
    "tuning.questions": (
        "PAPER_CONSTANT compare_noises least_budget multiplicities smallest_margins threshold_for"
    ),
    "tuning.tuned_level": "Facts LevelSizes TunedLevel",
    "tuning.tuning": (
        "PRODUCTION Tuning config_path presets production_of_2020 text_of_keys tuning_of"
    ),
}
