"""The paper: noise, privacy, mechanisms, the algorithm, and what a plan guarantees. Start with algorithm/safetab.py."""
