"""A run from files to files, and what surrounds it: options, guards, disk, accounts."""

HANDED_OUT = {
    "declared_options": (
        "ASSESS COMPARE COMPARED_WITH CONFIDENCE CONFIG COPYING COTERMINOUS CSV DEFAULTS "
        "DeclaredOption EngineKind FINDINGS_LOG GEOGRAPHY MARGIN_CONFIDENCE OVERWRITE PARAMETERS "
        "RULES RUN SETTINGS TOGETHER_WITH TOTALS VALIDATE with_defaults"
    ),
    "disk_space": "size_in_words",
    "guards": (
        "backend_of errors_reported findings_logged forbid_memory_dumps log_passed "
        "os_errors_as_run_failed own_errors_logged pyarrow_threads"
    ),
    "inputs": "RunInputs WatchedFiles checked_engine given_totals read_inputs validate_files",
    "observed.assess": "AssessedLevel Assessment Observer Observers SeenNumbers assess bits_of_run",
    "observed.level_statistics": "Floats LEAST_NUMBERS LevelStatistics Statistics ratio",
    "observed.tally": (
        "COMBINED CONFIDENCES Histograms MeasuredAs NumberSort PARTS_OF_ONE SIZE_STARTS TOTAL "
        "USUAL quantiles size_class_name size_class_of sorts_of without_empty_end"
    ),
    "observed.theory": "LevelTheory sum_of_draws",
    "observed.truth": "KnownCounts LevelTruth",
    "options": "RunOptions TEMPORARY_PREFIX refused_log refused_options status_of_run",
    "rerelease": "RereleaseRequest RereleaseSummary coterminous_files rerelease_files",
    "run": "RunSummary bits_of_run run_files",
    "spend_log.accounts": "about_units",
    "spend_log.accounts_shown": "AccountsOfLog accounts_of_log change_limit content_of_log",
    "spend_log.log_checks": "check_log",
    "spend_log.merged_logs": "merge_logs",
    "spend_log.people_accounts": "PeopleAccounts amount_text read_log set_limit",
    "spend_log.statement": "statement write_statement",
}
