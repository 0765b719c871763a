"""The engine for clusters. No other package imports PySpark, and `import safetab` does not."""

import warnings

# PySpark warns about pandas 3, whose data frames are not used here.
warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
