"""Files that are made from declarations in the program: JSON Schemas, and the page about specifications."""
