"""The objects that are counted: the census, its areas, groups and tables.

They are values alone; nothing here opens a record file.
"""

HANDED_OUT = {
    "census.area_levels": "AreaKind AreaLevel DigitIds Ids Pass TextIds",
    "census.areas": "Areas Atoms NO_ENTITY",
    "census.census": "Census PopulationGroupLevel Spelling Words a_or_an capitalized",
    "census.groups": (
        "CharacteristicIteration Classification GroupKind GroupLevel GroupList IterationMap "
        "MOST_ANSWERS Members PublicLists iteration_map_of numbers_of_codes"
    ),
    "census.population_groups": (
        "GroupGrid GroupUniverse PublishedTotals ReleaseIndex TotalsOfLevel universe_of"
    ),
    "census.sensitivity": "CodeMaps Sensitivity groups_reached reaching_record sensitivity",
    "census_value": "PublicFacts WHOLE_TERRITORY census_of config_of passes_of privacy_of slots_of",
    "config.config_keys": "ConfigKeys NotJson is_integer parse_exact_json shown",
    "config.run_config": (
        "CONFIG_FILE ConfigSpelling FamilyConfig ReaderKind RunConfig budget_key measured_levels "
        "threshold_key"
    ),
    "known_census": "DEFAULT_CENSUS DISJOINT_PASSES",
    "option_words": "AREAS_FILE DONORS",
    "privacy_definition": "LossUnit PrivacyDefinition SPELLINGS",
    "products.all_products": (
        "PRODUCTS annotation_of as_shipped budget_keys_of line_named lines_of_tables "
        "margin_variable_of product_named product_of_keys variable_of"
    ),
    "products.bureau_columns": "BLOCK_DIGITS CODE_COLUMNS RACE RACE_CODES RACE_COLUMNS",
    "products.product": (
        "FileRow Line LineKind Product Refusal Selector Shape TOTAL_LINE TableFamily "
        "TableFileLayout Thresholds"
    ),
    "products.record": (
        "AreaColumns CodeColumns ListedAreas NO_CODE RESIDUAL RecordLayout SHORT_VALUE WRONG "
        "record_layout_of"
    ),
    "products.record_field": "RuledColumn",
    "products.record_integers": "AREA_DIGITS_END RecordIntegers",
    "products.safetab_h.safetab_h": (
        "HOUSEHOLD_RECORD HOUSEHOLD_TYPE HOUSEHOLD_TYPES SAFETAB_H TENURE TENURES"
    ),
    "products.safetab_p.safetab_p": (
        "OLDEST_AGE PERSONS PERSON_RECORD SAFETAB_P SEX_BY_AGE SEX_MARGINAL TOTAL"
    ),
    "products.shipped_product": "Production",
    "products.specified": "product_of",
    "products.tables": "TOTAL_KIND",
    "specification.exact_numbers": "decimal_text",
    "specification.keys": "TEXT",
    "specification.kinds": "in_sentence nearest shown",
    "specification.reading": (
        "ABOUT_FILE Publication is_specification lists_folder public_file publication_as_json "
        "publication_of publication_of_json read_publication read_sound_parts read_specification "
        "specification_of_keys"
    ),
    "specification.values": (
        "COMMON CodeList Groups LevelOfAreas LevelOfGroups MOST_CODE_BYTES PRIVACY_FILE "
        "RecordField SPECIFICATION_FILE Specification Unit"
    ),
    "specification.writing": "keys_of privacy_text",
    "us.block_areas": "Blocks NATION_ID areas_of_blocks states_of_blocks",
    "us.examples": (
        "AREA AREA_NAME AREA_OPTIONS DATA FORMS GEOGRAPHY_FILE GROUP GROUP_NAME HEADING INPUTS "
        "KINDS_OF_GROUPS KIND_OF_AREA LEVEL LEVELS PASSES WHOLE_OPTION"
    ),
    "us.facts_of_2020": (
        "ENTITIES FIRST_KEYS GROUPS LAST_KEYS PRODUCTION ROUNDED STABILITY group_sizes"
    ),
    "us.geo_ids": "Area area_of area_of_geo_id geo_id is_geo_id",
    "us.official_tables": "CODES Cell LEVELS OfficialFile OfficialTable OfficialTables distinct",
    "us.states": "PUERTO_RICO_STATE US_STATES",
    "us.us_census": (
        "AIANNH COMMON COUNTY DETAILED ETHNICITY_KIND MAJOR NATION NO_AIANNH NO_PLACE PLACE "
        "PR_PASS RACE_ALONE RACE_IN_COMBINATION REGIONAL STATE SUBSTATE_ONLY TOTAL_ONLY TRACT US "
        "US_PASS"
    ),
}
