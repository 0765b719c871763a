"""Spend logs as versions before the chain wrote them, and the lines of those that have one."""

import json
import re


def earlier_header(secret):
    """The first line of a log of format 1: its lines state no head."""
    header = {"safetab_spend_log": 1, "format": 1, "keep": "confidential: for the curator alone, mode 0600"}
    return json.dumps(header | {"secret": secret.hex()}) + "\n"


def without_chain(text):
    """The text of a log without the heads that its lines state."""
    return re.sub(r', "chain": "[0-9a-f]{32}"\}', "}", text)
