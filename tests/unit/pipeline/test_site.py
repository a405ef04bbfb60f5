"""Pages that are copied without some of the files that they link to."""

from narxbench._pipeline.site import without_dead_links

PAGE = """<a class="x" href="tables/a.csv">a</a> <a href="../report.html#end">up</a> <a href="#main">here</a>
<a href="https://a.org/b">b</a> <a href="gone.html">gone</a> <link href="data:,"> <a href="../../away.html">away</a>
"""


def test_only_links_that_lead_nowhere_lose_their_address() -> None:
    copied = without_dead_links(PAGE, "paper/page.html", {"paper/tables/a.csv", "report.html", "paper/page.html"})
    assert copied == PAGE.replace(' href="gone.html"', "").replace(' href="../../away.html"', "")
