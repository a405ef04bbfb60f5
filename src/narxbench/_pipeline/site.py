"""Pages that are copied with some of the files around them."""

import posixpath
import re
from collections.abc import Collection

_LINK = re.compile(r' href="([^"#]+)(#[^"]*)?"')


def without_dead_links(page: str, name: str, files: Collection[str]) -> str:
    """Return the HTML of a page without the addresses of relative links to other files than some.

    ``name`` is the path of the page, and ``files`` are those that stay, as seen from the same folder.
    """
    folder = posixpath.dirname(name)

    def kept(link: re.Match[str]) -> str:
        address = link[1]
        is_relative = not re.match(r"[a-z]+:|/", address)
        if is_relative and posixpath.normpath(posixpath.join(folder, address)) not in files:
            return ""
        return link[0]

    return _LINK.sub(kept, page)
