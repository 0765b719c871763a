"""Files that leave: tables, measurements, the manifest. Writers accept measurements and plans, nothing confidential."""
