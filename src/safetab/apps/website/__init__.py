"""A release as a web site: pages that need no server and no network, and the numbers in small files."""

HANDED_OUT = {
    "linked_site": "LinkedSite",
    "made_again": "SiteInputs verify_made",
    "write_site": "SiteSummary write_site",
}
