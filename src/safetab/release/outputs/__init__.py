"""Files that are released: tables, measurements, the manifest.

Writers accept measurements and plans, and nothing confidential.
"""
