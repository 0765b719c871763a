"""The audit: tools of our own that test whether the program keeps its privacy claims."""

HANDED_OUT = {
    "audit": "audit parts_of_audit",
    "page": "review_page",
    "selftest": "selftest",
    "verdicts": "AuditPart AuditReport CheckResult report_as_json",
}
