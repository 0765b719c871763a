"""The paper: noise, privacy, mechanisms and the algorithm."""
