"""Accuracy reports: many runs of the real algorithm compared with the truth. Confidential."""

HANDED_OUT = {
    "accuracy_files": "AccuracyRequest AccuracySummary accuracy_files",
}
