"""How experiments are found, written and shown, whatever they compute."""

from __future__ import annotations

import json

import numpy as np
import pytest

from mbsim_ros.experiments.experiment import NAMES, Experiment, Outcome, available, find
from mbsim_ros.experiments.figures import label, panels
from mbsim_ros.experiments.report import write_report
from mbsim_ros.experiments.writing import write


def outcome() -> Outcome:
    figure, axes = panels(1, title="a line")
    axes[0, 0].plot([0, 1], [1, 2], label="ours")
    label(axes[0, 0], "time [s]", "height [m]")
    metrics = {"height [m]": np.float64(2.0), "errors": np.array([1.0, np.nan]), "stands": True}
    return Outcome({"h": 0.1}, metrics, {"height [m]": 2.1}, ["<not> & html"], {"line": figure})


def test_json_has_the_parts_of_the_contract_and_only_plain_values(tmp_path):
    files = write(tmp_path, Experiment("some-name", "a title", "X 1.2", lambda _: outcome()), outcome())
    assert [file.name for file in files] == ["some-name.json", "some-name-line.png"]
    content = json.loads(files[0].read_text())
    assert list(content) == ["experiment", "source", "parameters", "metrics", "printed", "notes"]
    assert content["metrics"] == {"height [m]": 2.0, "errors": [1.0, "nan"], "stands": True}
    assert files[1].read_bytes()[:4] == b"\x89PNG"


def test_a_printed_value_needs_one_of_ours_beside_it(tmp_path):
    wrong = Outcome({}, {"a": 1.0}, {"b": 2.0})
    with pytest.raises(ValueError, match="printed without a metric of the same name: b"):
        write(tmp_path, Experiment("x", "", "", lambda _: wrong), wrong)


def test_the_report_shows_both_values_and_escapes(tmp_path, monkeypatch):
    name = available()[0]
    write(tmp_path, find(name), outcome())
    page = write_report(tmp_path, [name]).read_text()
    assert "&lt;not&gt; &amp; html" in page and f'src="{name}-line.png"' in page
    assert '<td class="number">2</td><td class="number">2.1</td>' in page


def test_only_names_of_the_list_are_found():
    assert set(available()) <= set(NAMES)
    with pytest.raises(KeyError, match="no experiment named 'nothing'; there are: "):
        find("nothing")
