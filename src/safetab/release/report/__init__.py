"""The report: one page that describes a release. It is a function of the release folder alone."""
