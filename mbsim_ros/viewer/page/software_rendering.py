# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.
"""What a page does where its browser has no graphics card and draws on the processor, which the simulation needs too.

A picture of viser's costs such a machine 0.4 s of processor time. Here the robot is seen first, and its shadow later:
- edges are not smoothed, and what moves is drawn with fewer pixels, more where the machine can; what rests, with all;
- one light casts a shadow instead of three, and none before the robot has been drawn.
A page that is opened with `?full` is drawn as with a graphics card, however long that takes. What is used of viser is
what its own tests use; where that is missing its page stays as it is.
"""

from __future__ import annotations

FULL = "full"  # in the address of a page
SCRIPT = """
(() => {
  const COARSE = 0.5, STEP = 1.25;  // least pixels drawn per pixel shown, along each side
  const FEW = 12, MANY = 24;  // pictures in a second: with fewer it is drawn coarser, with more finer
  const VISER_SAYS = "Software WebGL rendering";
  const RESTS = 1000;  // ms without anything new
  if (new URLSearchParams(location.search).has("FULL")) return;
  const probe = document.createElement("canvas").getContext("webgl2");
  if (!probe) return;
  const about = probe.getExtension("WEBGL_debug_renderer_info");
  const renderer = probe.getParameter(about ? about.UNMASKED_RENDERER_WEBGL : probe.RENDERER);
  probe.getExtension("WEBGL_lose_context")?.loseContext();
  if (!/swiftshader|llvmpipe|softpipe|software|basic render/i.test(renderer)) return;

  const getContext = HTMLCanvasElement.prototype.getContext;
  HTMLCanvasElement.prototype.getContext = function (kind, options) {
    return getContext.call(this, kind, kind === "webgl2" ? { ...options, antialias: false } : options);
  };

  function begin(viewer, settings) {
    const suns = [];
    let context = null, drawn = null, since = 0, inSecond = 0, asked = performance.now(), fineness = COARSE, set = 0;
    const draw = (value) => { if (value !== set) settings.set({ fixedDpr: (set = value) * devicePixelRatio }); };
    draw(fineness);
    const { scene, requestRender } = viewer;
    viewer.requestRender = () => { asked = performance.now(); requestRender(); };
    const add = scene.add;
    scene.add = function (...objects) {
      for (const each of objects)
        if (each.isDirectionalLight && each.castShadow) {
          each.castShadow = false;
          suns.push(each);
          each.userData.share = each.intensity;
        }
      return add.apply(this, objects);
    };
    scene.onBeforeRender = (renderer) => {
      inSecond += 1;
      context = renderer.getContext();
    };
    function isDrawn() {  // and not only on its way to be: commands wait for the shaders that they need
      if (context && suns.length) drawn ??= context.fenceSync(context.SYNC_GPU_COMMANDS_COMPLETE, 0);
      return drawn && context.getSyncParameter(drawn, context.SYNC_STATUS) === context.SIGNALED;
    }
    function cast() {
      const target = viewer.cameraControl?.getTarget(viewer.camera.position.clone());
      const distance = target ? viewer.camera.position.distanceTo(target) : 0;
      const here = suns.filter((each) => each.parent);  // others were replaced by these
      const light = here.reduce((sum, each) => sum + each.userData.share, 0);
      const sun = here.find((each) => each.shadow.camera.right > distance) ?? here.at(-1);
      for (const each of here) {  // each is for another distance from the camera
        each.castShadow = each === sun;
        each.intensity = each === sun ? light : 0;
      }
    }
    function tell() {  // in the corner: viser's own words about it lie over the robot
      const said = [...document.querySelectorAll("[role=alert]")].find((each) => each.innerText.includes(VISER_SAYS));
      if (!said) return;
      said.querySelector("button")?.click();
      if (document.querySelector("#mbsim span")) return;
      const words = document.createElement("span");
      words.textContent = "no graphics card";
      words.title = "drawn by " + renderer + ": coarser while it moves";
      document.getElementById("mbsim")?.append(words);
    }
    setInterval(() => {
      tell();
      if (isDrawn() && since++) cast();  // a second later: then it has been seen, too
      const moves = performance.now() - asked < RESTS;
      if (moves && inSecond > MANY) fineness = Math.min(1, STEP * fineness);
      if (moves && inSecond < FEW) fineness = Math.max(COARSE, fineness / STEP);
      draw(moves ? fineness : 1);
      inSecond = 0;
    }, 1000);
  }
  Object.defineProperty(window, "__viserTestpoints", {
    configurable: true,
    set(points) {
      Object.defineProperty(window, "__viserTestpoints", { configurable: true, writable: true, value: points });
      if (window.__viserMutable?.scene && points.devSettings?.set) begin(window.__viserMutable, points.devSettings);
    },
  });
})();
""".replace("FULL", FULL)
