"""The texts of the source tree, which `make check` looks at."""
