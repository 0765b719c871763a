"""For people who use a release: numbers by name, sums and differences with their exact noise, reasons for absences.

Needs a release and nothing else: neither confidential records nor an engine.
"""
