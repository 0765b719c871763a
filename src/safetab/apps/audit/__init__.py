"""The audit: tools of our own that test whether the program keeps its privacy claims."""

HANDED_OUT = {
    "audit": "audit parts_of_audit",
    "page": "review_page",
    "selftest": "selftest",
    "verdicts": "AuditReport Part Result report_as_json",
}
