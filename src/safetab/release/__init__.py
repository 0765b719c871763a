"""What is published, and what it can tell: outputs, files, checks, estimates, the report. It reaches no record."""
