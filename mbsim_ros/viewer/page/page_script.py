# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""What our pages do beyond viser's, in the browser alone: a picture and a film of what is seen; a file that is dropped
goes to the upload button; the page that starts a simulation goes on to its view; on a phone the panel is below.
"""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

from mbsim_ros.viewer.page.software_rendering import SCRIPT as SOFTWARE_RENDERING

if TYPE_CHECKING:
    from websockets import Response

VIEW_LINK = "open its view"  # text of the link to the view of a simulation
STYLE = """
#mbsim { position: fixed; left: 8px; bottom: 8px; z-index: 9; display: flex; gap: 6px; }
#mbsim button { font: 12px sans-serif; padding: 4px 10px; border: 1px solid #b8bec8; border-radius: 4px;
  background: #ffffffcc; color: #333; cursor: pointer; }
#mbsim span { font: 12px sans-serif; padding: 5px 4px; color: #8a8f98; }
#mbsim button.on { background: #d73027; color: white; }
@media (max-width: 36em) {  /* where viser has its panel at the bottom */
  #mbsim { left: auto; right: 8px; top: 8px; bottom: auto; }
  div[style*="max-height: 60%"] { width: 100% !important; max-height: 45% !important; }
  div[style*="max-height: 60%"] div[style*="width: 20em"] { width: 100% !important; }
}
"""
SCRIPT = """
const area = (each) => each.width * each.height;
const canvas = () => [...document.querySelectorAll("canvas")].sort((one, other) => area(other) - area(one))[0];
function save(blob, ending) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = "mbsim_" + new Date().toISOString().slice(0, 19).replace(/[:T]/g, "-") + ending;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
let film = null;
function record(button) {
  if (film) return film.stop();
  const parts = [];
  film = new MediaRecorder(canvas().captureStream(30), { mimeType: "video/webm", videoBitsPerSecond: 8e6 });
  film.ondataavailable = (event) => parts.push(event.data);
  film.onstop = () => {
    save(new Blob(parts, { type: "video/webm" }), ".webm");
    film = null;
    button.textContent = "film";
    button.className = "";
  };
  film.start();
  button.textContent = "end film";
  button.className = "on";
}
addEventListener("load", () => {
  const bar = document.createElement("div");
  bar.id = "mbsim";
  for (const [label, about, act] of [
    ["picture", "save what is seen as PNG", () => canvas().toBlob((blob) => save(blob, ".png"))],
    ["film", "film what is seen, until it is pressed again", record],
  ]) {
    const button = document.createElement("button");
    button.textContent = label;
    button.title = about;
    button.onclick = () => { act(button); button.blur(); };  // the space bar is for the simulation
    bar.append(button);
  }
  document.body.append(bar);
});
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
""".replace("VIEW_LINK", VIEW_LINK)
ADDED = f"<style>{STYLE}</style><script>{SCRIPT}{SOFTWARE_RENDERING}</script>".encode()


class PageScript:
    """Adds the script to the pages that a server gives out."""

    def __init__(self) -> None:
        self._made: dict[bytes | bytearray, bytes | bytearray] = {}  # viser gives out the same bytes again and again

    def add_to(self, response: Response) -> None:
        """Change a response of viser that is a page; any other is left as it is."""
        if not response.headers.get("Content-Type", "").startswith("text/html"):
            return
        is_packed = response.headers.get("Content-Encoding") == "gzip"
        if response.body not in self._made:
            page = gzip.decompress(response.body) if is_packed else response.body
            page = page.replace(b"</body>", ADDED + b"</body>")
            self._made[response.body] = gzip.compress(page) if is_packed else page
        response.body = self._made[response.body]
        del response.headers["Content-Length"]
        response.headers["Content-Length"] = str(len(response.body))
