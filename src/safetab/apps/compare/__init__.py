"""Several protections side by side: one synthetic census, the same measures and attacks."""

HANDED_OUT = {
    "compare": "compare_files",
    "presets": "explanation list_text",
    "world": "CompareRequest PAGE_FILE",
}
