"""The engine for clusters. The only package that imports pyspark; `import safetab` doesn't load it."""

import warnings

warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)  # not used here
