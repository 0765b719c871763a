"""The command line.

`main` imports little, so that --help is quick; each command imports what it needs.
"""

HANDED_OUT = {
    "functions.curator": "blocks_with_units check_spend_log convert merge_spend_logs spend",
    "functions.demo": "demo",
    "functions.documentation": "docs",
    "functions.made_up": "MadeUp new synthesize",
    "functions.releases": "new_key official registry report sign site verify",
    "functions.studies": "audit diff explore lists",
    "start": "main",
}
