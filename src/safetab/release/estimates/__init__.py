"""For people who use a release: numbers by name, arithmetic with exact noise, reasons for absences.

Needs only a release: neither confidential records nor an engine.
"""
