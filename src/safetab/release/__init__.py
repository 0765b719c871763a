"""Published files, and what they can tell. No record is reached from here.

The parts are outputs, files, checks, estimates and the report.
"""

HANDED_OUT = {
    "estimates.estimate": "Absence Estimate",
    "estimates.noise": "far_threshold share_of_first",
    "estimates.noisy_number": "NoisyNumber most_if_suppressed reason_of withheld_because",
    "estimates.open_release": "Release open_release",
    "estimates.overlaps": "groups_with_shared_codes wider_groups",
    "estimates.reading.lookup": "Entity Lookup names_of_parts words_for_many_areas",
    "estimates.reading.names": "SAME_WORDS",
    "estimates.readme_examples": "readme_examples",
    "estimates.results": "Answers GroupTable",
    "estimates.tables": "percent",
    "files.allowed_files": "measured_files not_files",
    "files.census_file": "ReleasedCensus",
    "files.census_form": "COLUMNS_FILE check_not_clamped statuses_beside",
    "files.checks.output_checks": "OutputChecks",
    "files.checks.recomputed_numbers": "SCRATCH",
    "files.checks.signatures": "checked_signature write_new_key",
    "files.checks.verification": "Verification sign_release verify_release",
    "files.checksums": "damage_as_invalid_input invalid names_with_checksums write_checksums",
    "files.citation": "agency_and_year citation known_facts title_of",
    "files.coterminous": "Copies SetsOfPasses sets_of_passes without_blocks",
    "files.data_dictionary": "geo_id with_ids",
    "files.documents": (
        "DATAPACKAGE_FILE PRIVACY_FILE ReleaseFacts steps_as_json write_privacy write_readme"
    ),
    "files.export": "ExportForm export_csv",
    "files.group_statuses": (
        "NOT_IN_FILES NOT_SELECTED NOT_TABULATED SUPPRESSED Slice absent_status statuses"
    ),
    "files.made_of": "MADE_BY MADE_FILES MADE_OF_FILE THIS_PROGRAM write_made_of",
    "files.numbers.level_numbers": (
        "NO_INTERVAL NumberKinds Numbers NumbersOfLevel RULES SelectionAwareIntervals "
        "interval_around intervals_of"
    ),
    "files.numbers.number_files": "COPIED PUBLISHED RELEASE_FOLDER STATUSES WITHHELD",
    "files.numbers.published_groups": "NO_DONOR PublishedGroups joined merged",
    "files.numbers.read_numbers": "NumberBatch UNKNOWN",
    "files.official.groups": (
        "FamilyTables OfficialGroups areas_not_in known_tables official_universe passes_of"
    ),
    "files.official.numbers": "sets_by_numbers",
    "files.official.write_official": "ORIGIN_FILE OfficialRelease OfficialSummary write_official",
    "files.release_folder": "EXPORTED_ENTITIES ReleaseFolder open_release_folder",
    "files.release_options": (
        "CoterminousOptions ReleaseOptions ReleaseRequest ReleaseRule confidence_of"
    ),
    "files.release_universe": "ReleaseLevel Universe universe_of_run",
    "files.universe_files": "FAMILY read_universe",
    "files.write_release": "write_release",
    "outputs.manifest": (
        "LOG_FILE MANIFEST_FILE MEASURED_BY NOT_FOR_RELEASE_FILE RunFacts configuration_as_json "
        "hashes_by_name hashes_of outputs_as_json write_json write_manifest write_not_for_release "
        "write_release_log"
    ),
    "outputs.output_folder": (
        "EarlierOutput NamesLike always_named names_in only_writer output_findings whole_output"
    ),
    "outputs.pass_files": "PassFiles stated_format",
    "report.charts": "Axis MARKS Plot Point Series figure figures log_axis on_one_scale share_axis",
    "report.page_parts": (
        "Markup NOTHING contents_and_sections document element figure_list five_lines joined "
        "legend level_name link name paragraphs plain_table shape_name verdict_line void "
        "whole_table"
    ),
    "report.pages": "PAGES ReleasePage",
    "report.registry": "registry_entry",
    "report.report": "REPORT_FILE loss_words report_page",
    "report.shares": "finer_table number share",
}
