"""Below everything: findings, failures, progress, files and locks. Knows nothing of a census."""

HANDED_OUT = {
    "argument_types": (
        "checks_arguments meant path_or_none python_function python_words require_type "
        "warn_of_older_name"
    ),
    "arrays": (
        "Columns Integers MIXING_STEP Rows Truths begins_run find_sorted is_in_sorted mixed "
        "run_starts"
    ),
    "batch_sizes": "BatchSizes USUAL_SIZES",
    "compiled": "compiled compiled_if_worthwhile compiling_pays load_compiler",
    "failures": (
        "NOTHING_RELEASED NOTHING_SPENT NOTHING_WRITTEN OF_THE_MACHINE OF_THE_PATH OUT_OF_MEMORY "
        "RunFailed closing_without_masking is_out_of_memory machine_refused "
        "raise_if_refused_in_words raise_if_the_machine_failed refusal_of refusals_as_run_failed "
        "why_refused"
    ),
    "files": (
        "FileIdentity NOT_UTF_8_PATH UnreadableFile identity_of is_utf8_path package_data "
        "printable read_bytes read_text resolved sha256_of whole_path why_unreadable"
    ),
    "findings": (
        "Checked FORMAT Finding FindingsOf InvalidInput OUTPUT_FORMAT SPEND_LOG_FORMAT Severity "
        "VERSION described format_of newer_format readable_format require_none shortened"
    ),
    "in_threads": "SecondThread Workers results_in_threads",
    "interrupts": (
        "Publishing if_interrupted interrupts_held publishing publishing_for_itself stop_signals "
        "until_published"
    ),
    "locked_folder": (
        "LeftBehind clear_abandoned locked_file locked_folder scratch_folder why_no_folder"
    ),
    "new_files": (
        "CantBeDone SIGNATURE_FILES Write exchange is_output_of_run new_file_findings "
        "output_around refusals_as_warnings sync_directory write_new_file write_new_files"
    ),
    "parquet_facts": (
        "chunk_facts opened_parquet rows_of_group rows_of_parquet schema_of text_range"
    ),
    "parquet_layout": "all_bytes_are_read",
    "progress": "ConfidentialLog NoProgress Progress",
    "result_tables": (
        "Findings HtmlTable MOST_SHOWN Result Tabular WrittenFiles library listed more_than_shown"
    ),
    "safe_csv": "plain_texts safe_text safe_texts",
    "start_up": (
        "address_space_limit control_group_limit end_interrupted reserve_little why_too_little"
    ),
    "templates": "is_template page_script template template_texts",
}
