"""Several protections side by side: one synthetic census, the same tables, the same measures and attacks."""

HANDED_OUT = {
    "compare": "ComparisonSummary compare_files",
    "presets": "explanation list_text",
    "world": "CompareRequest PAGE_FILE",
    "written_tables": "OpenedComparison open_comparison",
}
