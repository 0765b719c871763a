"""What users lose: the same measures for every protection."""
