"""A release as a web site: pages without a server or network, and numbers in small files."""

HANDED_OUT = {
    "linked_site": "LinkedSite",
    "made_again": "SiteInputs verify_made",
    "write_site": "SiteSummary write_site",
}
