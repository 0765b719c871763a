"""Parameters and what they give; `safetab.tuning` is the door."""
