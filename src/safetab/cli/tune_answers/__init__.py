"""The answers of `safetab tune`: sentences and tables for people, JSON for programs."""
