# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""The process of ``mbsim soak --chaos``: many runs of soak_chaos, some at a time, each in a DDS domain of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from rich.console import Console

from mbsim_ros.cli.parts.plain_table import print_table

DOMAINS = 100  # that Fast DDS has ports for on every system


def run_many(runs: int, seed: int, folder: Path, at_once: int, load: int) -> list[dict[str, Any]]:
    """The results of runs with the seeds seed, seed + 1, …, while `load` processes compute for nothing."""
    first = int(os.environ.get("ROS_DOMAIN_ID", "0"))
    domains: SimpleQueue[int] = SimpleQueue()
    for k in range(at_once):
        domains.put((first + k) % DOMAINS)
    burners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(load)]
    try:
        with ThreadPoolExecutor(at_once) as pool:
            return list(pool.map(lambda number: _one(number, folder, domains), range(seed, seed + runs)))
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


def _one(seed: int, folder: Path, domains: SimpleQueue[int]) -> dict[str, Any]:
    domain = domains.get()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "mbsim_ros.nodes.checks.soak_chaos", str(seed), str(folder)], capture_output=True,
            text=True, env={**os.environ, "ROS_DOMAIN_ID": str(domain)}, check=False,
        )  # fmt: skip
        result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        words = done.stderr.strip().splitlines()[-1:] or ["no word"]
        result = {"seed": seed, "problems": [f"ended with {done.returncode}: {words[0]}"]}
    finally:
        domains.put(domain)
    print(f"run {seed}: {result.get('seconds', 0)} s, {', '.join(result.get('disturbances', []))}", flush=True)
    for problem in result["problems"]:
        print(f"  {problem}", flush=True)
    return result


def main() -> int:
    """Arguments as JSON: runs, seed, folder, at_once, load. The exit code is 0 if every bag replays whole."""
    runs, seed, folder, at_once, load = (json.loads(word) for word in sys.argv[1:])
    results = run_many(runs, seed, Path(folder), at_once, load)
    total = {
        name: sum(result.get(name, 0) for result in results)
        for name in ("bags", "empty", "states", "untold", "missing", "seconds")
    }
    bad = [result for result in results if result["problems"]]
    rows = (
        ("runs", str(len(results))),
        ("disturbances", str(sum(len(result.get("disturbances", ())) for result in results))),
        ("bags", str(total["bags"])),
        ("recorders that were killed before they had a state", str(total["empty"])),
        ("states compared, bit for bit", str(total["states"])),
        ("states from before their recorder came (not compared)", str(total["untold"])),
        ("states missing in a bag", str(total["missing"])),
        ("seconds per run", f"{total['seconds'] / len(results):.1f}"),
        ("runs with problems", str(len(bad))),
    )
    console = Console(highlight=False)
    print_table(console, "soak --chaos", ("", ">"), [(row, "") for row in rows])
    if bad:
        console.print(f"[red]Not well: seeds {', '.join(str(result['seed']) for result in bad)}; see {folder}.[/]")
        return 1
    console.print("[green]Every bag replays bit for bit.[/]")
    return 0


if __name__ == "__main__":
    sys.exit(main())
