"""Engines count exactly. They know records and population groups, and nothing of noise."""

HANDED_OUT = {
    "backend": "Backend",
    "contract": "CountingEngine EngineSettings MiscountedRecords records_intact",
    "encoding": "Encoding",
    "fingerprint": "of_nobody",
    "local.backend": "LocalBackend",
    "local.cef": "whole_columns",
    "local.counter": "RecordCounter",
    "local.listed_areas": "area_numbers_of",
    "local.records": "ValueBatch ValueColumn batches_of rows_of",
    "patterns": "IterationLists",
    "spark.backend": "SparkBackend",
    "spark.options": "SparkOptions check_spark_options",
}
