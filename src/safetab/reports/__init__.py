"""The report: one page that tells people what a release holds. A function of the release folder alone."""
