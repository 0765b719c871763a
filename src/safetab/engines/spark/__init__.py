"""The engine for clusters. The only package that imports pyspark; `import safetab` doesn't load it."""
