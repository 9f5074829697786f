# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""Style and script of a page of plots: canvases that share their axis where it has the same name."""

STYLE = """
body { font: 15px sans-serif; margin: 1.2em auto; max-width: 1250px; color: #222; }
h1 { font-size: 1.3em; } h2 { font-size: 1.05em; margin: 1.2em 0 0.2em; }
.panel { display: flex; gap: 10px; } canvas { border: 1px solid #ddd; cursor: crosshair; }
.legend { font-size: 13px; line-height: 1.5; } .legend div { cursor: pointer; }
.legend .off { opacity: 0.3; } .swatch { display: inline-block; width: 1em; height: 0.6em; margin-right: 0.4em; }
"""

SCRIPT = """
const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999933"];
const W = 900, LEFT = 88, RIGHT = 14, TOP = 10, BOTTOM = 44;
const views = {};  // ends of each axis by its name, shared by its panels
const drawn = [];

function ends(panel) {
  let low = Infinity, high = -Infinity;
  const take = v => { if (v !== null) { low = Math.min(low, v); high = Math.max(high, v); } };
  panel.lines.forEach(line => line.x.forEach(take));
  panel.bars.forEach(bar => { take(bar[1]); take(bar[2]); });
  return low < high ? [low, high] : low === Infinity ? [0, 1] : [low - 0.5, low + 0.5];
}

function ticks(low, high, count) {
  const raw = (high - low) / count, power = Math.pow(10, Math.floor(Math.log10(raw)));
  const step = [1, 2, 5, 10].map(s => s * power).find(s => s >= raw);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found;
}

function said(v) {
  const size = Math.abs(v);
  return size >= 1e5 || (v !== 0 && size < 1e-3) ? v.toExponential(3) : String(+v.toPrecision(5));
}

function draw(item) {
  const {panel, canvas, context: c, hidden} = item, H = canvas.height, [x0, x1] = views[panel.x];
  const height = v => panel.log ? Math.log10(v) : v;
  let y0 = Infinity, y1 = -Infinity;
  panel.lines.forEach((line, k) => {
    if (hidden.has(k)) return;
    line.y.forEach((v, i) => {
      if (v === null || line.x[i] < x0 || line.x[i] > x1) return;
      y0 = Math.min(y0, height(v));
      y1 = Math.max(y1, height(v));
    });
  });
  if (!(y0 < y1)) { const m = y0 === Infinity ? 0 : y0; y0 = m - 1; y1 = m + 1; }
  const margin = 0.05 * (y1 - y0); y0 -= margin; y1 += margin;
  if (panel.rows.length) { y0 = panel.rows.length - 0.4; y1 = -0.6; }
  const wide = W - LEFT - RIGHT, tall = H - TOP - BOTTOM;
  const X = v => LEFT + (v - x0) / (x1 - x0) * wide, Y = v => H - BOTTOM - (v - y0) / (y1 - y0) * tall;
  item.inverse = p => x0 + (p - LEFT) / wide * (x1 - x0);
  c.clearRect(0, 0, W, H);
  c.font = "13px sans-serif"; c.fillStyle = "#222"; c.lineWidth = 1; c.strokeStyle = "#e4e4e4";
  const stroke = (ax, ay, bx, by) => { c.beginPath(); c.moveTo(ax, ay); c.lineTo(bx, by); c.stroke(); };
  c.textAlign = "center"; c.textBaseline = "top";
  ticks(x0, x1, 8).forEach(v => { stroke(X(v), TOP, X(v), H - BOTTOM); c.fillText(said(v), X(v), H - BOTTOM + 5); });
  c.fillText(panel.x, (LEFT + W - RIGHT) / 2, H - 18);
  c.textAlign = "right"; c.textBaseline = "middle";
  const rows = panel.rows.length ? panel.rows.map((name, k) => [k, name])
    : ticks(y0, y1, 5).map(v => [v, said(panel.log ? Math.pow(10, v) : v)]);
  rows.forEach(([v, text]) => {
    if (!panel.rows.length) stroke(LEFT, Y(v), W - RIGHT, Y(v));
    c.fillText(text, LEFT - 6, Y(v));
  });
  c.save(); c.translate(14, H / 2 - 10); c.rotate(-Math.PI / 2); c.textAlign = "center";
  c.fillText(panel.y, 0, 0); c.restore();
  c.save(); c.beginPath(); c.rect(LEFT, TOP, wide, tall); c.clip(); c.lineWidth = 1.6;
  panel.lines.forEach((line, k) => { if (hidden.has(k)) return;
    c.strokeStyle = c.fillStyle = COLOURS[k % 8]; c.beginPath(); let on = false;
    line.x.forEach((v, i) => { if (v === null || line.y[i] === null) { on = false; return; }
      const px = X(v), py = Y(height(line.y[i])); on ? c.lineTo(px, py) : c.moveTo(px, py); on = true;
      if (line.x.length <= 40) { c.moveTo(px + 3, py); c.arc(px, py, 3, 0, 7); c.moveTo(px, py); } });
    c.stroke(); });
  panel.bars.forEach(([row, start, end, kind, colour]) => {
    const top = Y(row - 0.36);
    c.fillStyle = colour;
    c.fillRect(X(start), top, Math.max(1, X(end) - X(start)), Y(row + 0.36) - top);
  });
  c.restore();
}

function legend(item, box, at) {
  const {panel, hidden} = item, bars = new Map(panel.bars.map(bar => [bar[3], bar[4]]));
  box.replaceChildren();
  const add = (name, colour, k) => { const row = document.createElement("div"), swatch = document.createElement("span");
    swatch.className = "swatch"; swatch.style.background = colour; row.append(swatch, name);
    if (k !== undefined) { row.className = hidden.has(k) ? "off" : "";
      row.onclick = () => { hidden.has(k) ? hidden.delete(k) : hidden.add(k); legend(item, box); draw(item); }; }
    box.append(row); };
  panel.lines.forEach((line, k) => { let text = line.name;
    if (at !== undefined) {
      let best = -1;
      const nearer = v => best < 0 || Math.abs(v - at) < Math.abs(line.x[best] - at);
      line.x.forEach((v, i) => { if (v !== null && nearer(v)) best = i; });
      if (best >= 0 && line.y[best] !== null) text += ": " + said(line.y[best]);
    }
    add(text, COLOURS[k % 8], k); });
  bars.forEach((colour, kind) => add(kind, colour));
}

PANELS.forEach(panel => {
  const heading = document.createElement("h2"), frame = document.createElement("div");
  const canvas = document.createElement("canvas"), box = document.createElement("div");
  heading.textContent = panel.title; frame.className = "panel"; box.className = "legend";
  canvas.width = W; canvas.height = panel.rows.length ? 70 + 26 * panel.rows.length : 260;
  frame.append(canvas, box); document.getElementById("panels").append(heading, frame);
  const item = {panel, canvas, context: canvas.getContext("2d"), hidden: new Set(), whole: ends(panel)};
  const old = views[panel.x] || item.whole;
  views[panel.x] = [Math.min(old[0], item.whole[0]), Math.max(old[1], item.whole[1])];
  const same = () => drawn.filter(other => other.panel.x === panel.x).forEach(draw);
  let from = null;
  canvas.onmousedown = event => { from = event.offsetX; };
  canvas.onmousemove = event => {
    legend(item, box, item.inverse(event.offsetX));
    draw(item);
    item.context.fillStyle = "rgba(0,0,0,0.08)";
    if (from !== null) item.context.fillRect(from, TOP, event.offsetX - from, canvas.height - TOP - BOTTOM);
    else item.context.fillRect(event.offsetX, TOP, 1, canvas.height - TOP - BOTTOM); };
  canvas.onmouseup = event => { const a = item.inverse(from), b = item.inverse(event.offsetX);
    if (Math.abs(event.offsetX - from) > 4) views[panel.x] = [Math.min(a, b), Math.max(a, b)]; from = null; same(); };
  canvas.onmouseleave = () => { from = null; legend(item, box); draw(item); };
  canvas.ondblclick = () => { const all = drawn.filter(other => other.panel.x === panel.x).map(other => other.whole);
    views[panel.x] = [Math.min(...all.map(e => e[0])), Math.max(...all.map(e => e[1]))]; same(); };
  drawn.push(item); legend(item, box);
});
drawn.forEach(draw);
"""
