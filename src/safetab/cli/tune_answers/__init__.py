"""What `safetab tune` answers: for people as sentences and tables, for programs as JSON."""
