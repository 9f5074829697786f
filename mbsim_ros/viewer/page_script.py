# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""What our pages do beyond viser's: a file that is dropped on one is given to its upload button, and the page that
starts a simulation goes on to its view.
"""

from __future__ import annotations

import gzip
from typing import Any

VIEW_LINK = "open its view"  # text of the link to the view of a simulation
SCRIPT = (
    """<script>
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
  event.preventDefault();
  const input = document.querySelector("input[type=file]");
  if (!input || !event.dataTransfer.files.length) return;
  const files = new DataTransfer();
  files.items.add(event.dataTransfer.files[0]);
  input.files = files.files;
  input.dispatchEvent(new Event("change", { bubbles: true }));
});
setInterval(() => {
  const link = [...document.querySelectorAll("a")].find((each) => each.textContent === "VIEW_LINK");
  if (!link) return;
  const view = new URL(link.href);
  view.hostname = location.hostname;  // however this page was reached
  link.href = view.href;
  if (sessionStorage.getItem(view.href)) return;  // who came back wants to be here
  sessionStorage.setItem(view.href, "seen");
  location.href = view.href;
}, 500);
</script>
""".replace("VIEW_LINK", VIEW_LINK)
).encode()


class PageScript:
    """Adds the script to the pages that a server gives out."""

    def __init__(self) -> None:
        self._made: dict[bytes, bytes] = {}  # viser gives out the same bytes again and again

    def add_to(self, response: Any) -> None:
        """Change a response of viser that is a page; any other is left as it is."""
        if not response.headers.get("Content-Type", "").startswith("text/html"):
            return
        is_packed = response.headers.get("Content-Encoding") == "gzip"
        if response.body not in self._made:
            page = gzip.decompress(response.body) if is_packed else response.body
            page = page.replace(b"</body>", SCRIPT + b"</body>")
            self._made[response.body] = gzip.compress(page) if is_packed else page
        response.body = self._made[response.body]
        del response.headers["Content-Length"]
        response.headers["Content-Length"] = str(len(response.body))
