"""Files -> values. The files' spellings ("True", "Null", padded codes) end here."""
