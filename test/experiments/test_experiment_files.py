# Copyright 2026 mbsim_ros maintainers
#
# Licensed under the Apache License, Version 2.0 (the "License"); you may not use this file except in compliance with
# the License. You may obtain a copy of the License at http://www.apache.org/licenses/LICENSE-2.0
#
# Unless required by applicable law or agreed to in writing, software distributed under the License is distributed on
# an "AS IS" BASIS, WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied. See the License for the
# specific language governing permissions and limitations under the License.

"""How experiments are found, written and shown, whatever they compute."""

from __future__ import annotations

import html
import inspect
import io
import json
from dataclasses import replace

import lxml.html
import numpy as np
import pytest
from rich.console import Console

import mbsim_ros
from mbsim_ros.cli.main import main
from mbsim_ros.cli.parts.experiment_table import show
from mbsim_ros.experiments import report
from mbsim_ros.experiments.comparing import deviation, digits_beside, text, verdict
from mbsim_ros.experiments.experiment import NAMES, Experiment, Outcome, available, find
from mbsim_ros.experiments.figures import label, panels
from mbsim_ros.experiments.parameters import ExperimentParameter, SettingError, read_settings
from mbsim_ros.experiments.report import DOCUMENTS, write_report
from mbsim_ros.experiments.timing import is_time
from mbsim_ros.experiments.writing import plain, write


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
    assert list(content) == [
        "experiment", "source", "parameters", "metrics", "printed", "printed_at", "notes", "captions",
    ]  # fmt: skip
    assert content["printed_at"] == {"height [m]": "X 1.2"}
    assert content["captions"] == {"line": "a line: height [m] over time [s]"}
    assert content["metrics"] == {"height [m]": 2.0, "errors": [1.0, "nan"], "stands": True}
    assert files[1].read_bytes()[:4] == b"\x89PNG"


def test_a_printed_value_needs_one_of_ours_beside_it(tmp_path):
    wrong = Outcome({}, {"a": 1.0}, {"b": 2.0})
    with pytest.raises(ValueError, match="printed without a metric of the same name: b"):
        write(tmp_path, Experiment("x", "", "", lambda _: wrong), wrong)


def test_the_report_shows_both_values_and_escapes(tmp_path):
    name = available()[0]
    write(tmp_path, find(name), outcome())
    page = write_report(tmp_path, [name]).read_text()
    assert "&lt;not&gt; &amp; html" in page and f'src="{name}-line.png"' in page
    assert '<td class="number">2</td><td class="number">2.1</td><td class="number off">−4.8 %</td>' in page
    assert f'<td class="off">{html.escape(find(name).source)}</td>' in page
    assert '<td class="met">✓ met</td>' in page and "<td>1 ✓</td>" in page
    assert "<figcaption>a line: height [m] over time [s]</figcaption>" in page
    assert page.index("height [m]") < page.index("Other values (2)") < page.index("<td>stands</td>")
    assert f'href="{name}.json"' in page and mbsim_ros.__version__ in page


@pytest.mark.slow
def test_the_report_is_well_formed_and_every_reference_leads_somewhere(tmp_path):
    for name in available():
        write(tmp_path, find(name), outcome())
    page = write_report(tmp_path, available()).read_text()
    tree = lxml.html.fromstring(page)
    targets = {element.get("id") for element in tree.iter() if element.get("id")}
    links = [element.get("href") for element in tree.iter("a")]
    assert {link[1:] for link in links if link.startswith("#")} == targets == set(available())
    files = [link for link in links if not link.startswith("#")] + [image.get("src") for image in tree.iter("img")]
    assert files and all((tmp_path / file).is_file() for file in files)
    assert {heading.text_content() for heading in tree.iter("h2")} <= set(DOCUMENTS.values())


def test_a_figure_belongs_to_one_experiment_only(tmp_path, monkeypatch):
    monkeypatch.setattr(report, "find", lambda name: Experiment(name, "", "", lambda _: outcome()))
    for name in ("some", "some-more"):
        write(tmp_path, Experiment(name, "", "", lambda _: outcome()), outcome())
    page = write_report(tmp_path, ["some", "some-more"]).read_text()
    assert page.count('<img src="some-more-line.png"') == page.count('<img src="some-line.png"') == 1


def test_how_far_a_value_is_off():
    cases = [
        (1.05, 1.0, "+5 %"),
        (0.95, 1.0, "−5 %"),
        (-2.0, -2.0, "0"),
        (1.000001, 1.0, "below 0.001 %"),
        (3.0, 1.0, "× 3"),
        (0.001, 1.0, "× 1/1,000"),
    ]
    cases += [
        (1.0, 0.0, ""),
        (1.0, -1.0, ""),
        (True, 1.0, ""),
        ("a", "b", ""),
        ([1.0, 2.0], [1.0, 1.9], "up to +5.3 %"),
    ]
    cases += [
        ([1.0, 5.0], [1.1, 0.0], ""),
        ([1.0], [1.0, 2.0], ""),
        ([0.0], [0.0], "0"),
        ([0.0, 1.1], [0.0, 1.0], "up to +10 %"),
        ("nan", 1.0, ""),
    ]
    for computed, printed, expected in cases:
        assert deviation(computed, printed) == expected


def test_whether_a_printed_value_is_met():
    cases = [(1.04, 1.0, "met"), (0.14, 0.1, "met"), (1.6, 1.0, "near"), (2.4, 1.0, "not met"), (-1.0, 1.0, "not met")]
    cases += [(1.304, 1.3, "met"), (0.0004, 0.0, "met"), (1.0, 0.0, "not met"), (6.2e-7, 6.256e-7, "met")]
    cases += [(True, True, "met"), (False, True, "not met"), ("a", "a", "met"), ("a", "b", ""), (1.0, "about 1", "")]
    cases += [([1.0, 3.1], [1.0, 3.0], "met"), ([1.0, 5.0], [1.0, 3.0], "near"), ([1.0], [1.0, 2.0], ""), ([], [], "")]
    for computed, printed, expected in cases:
        assert verdict(computed, printed) == expected, (computed, printed)


def test_long_labels_go_on_in_the_next_line(tmp_path):
    screen = Console(width=60, file=io.StringIO())
    words = "largest error of the momentum from configurations, linear and angular [kg m/s]"
    found = Outcome({}, {words: 3.0, "other": [1.0, 2.0]}, {words: 1.0})
    show(screen, Experiment("name", "a title", "X 1.2", lambda _: found), found, [tmp_path / "name.json"])
    lines = screen.file.getvalue().splitlines()
    shown = " ".join(" ".join(line[:36] for line in lines).split())
    assert words in shown and "…" not in shown
    assert any(line.rstrip().endswith("✗ not met") for line in lines)
    assert max(map(len, lines[:-1])) <= 60


@pytest.mark.slow
def test_a_single_experiment_has_an_index_of_all_that_are_in_the_folder(tmp_path, capsys):
    first, second = available()[:2]
    write(tmp_path, find(second), outcome())
    assert main(["experiment", "goetz-order", "--out", str(tmp_path)]) == 0
    assert f"report: {tmp_path / 'index.html'}" in capsys.readouterr().out
    page = (tmp_path / "index.html").read_text()
    assert f'id="{second}"' in page and 'id="goetz-order"' in page and f'id="{first}"' not in page


def test_values_as_text():
    assert text([1.0, 2.5], 12) == "1, 2.5" and text(list(range(20)), 12) == "0 … 19 (20 values)"
    assert [digits_beside(value) for value in (32.999999349, 0.5, -1.2e-7, [1.0, 2.1234567], "text")] == [
        12,
        6,
        6,
        9,
        6,
    ]
    assert text(32.999999349, digits=12) == "32.999999349"
    assert text({"a": 1.0, "b": False}) == "a: 1, b: no" and text(1.23456789e-7) == "1.23457e-07"


def test_times_are_compared_without_a_mark(tmp_path):
    name = available()[0]
    found = Outcome(
        {}, {"CPU time [s]": 0.01, "error": 1.0}, {"CPU time [s]": 90.0, "error": 1.0}, where={"error": "T 1"}
    )
    write(tmp_path, find(name), found)
    page = write_report(tmp_path, [name]).read_text()
    assert "× 1/9,000" in page and "<td>1 ✓</td>" in page and "✗ not met</td>" not in page
    with pytest.raises(ValueError, match="a place of what is not printed: more"):
        write(tmp_path, find(name), replace(found, where={"more": "T 2"}))


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_the_arguments_of_run(name):
    experiment = find(name)
    arguments = list(inspect.signature(experiment.run).parameters.values())[1:]
    assert experiment.parameters, "a document varies something"
    assert [(each.name, each.default) for each in arguments] == [(p.name, p.default) for p in experiment.parameters]
    for parameter in experiment.parameters:
        values = parameter.default if isinstance(parameter.default, tuple) else (parameter.default,)
        assert parameter.read(",".join(map(repr, values))) == parameter.default and parameter.meaning


def test_settings_are_read_and_refused_with_the_list(capsys):
    parameters = (
        ExperimentParameter("h", (0.1, 0.2), "s", 0.01, 1.0, "steps"),
        ExperimentParameter("number", 3, "", 1, 9, "of them"),
    )
    assert read_settings(parameters, ["h=0.5", "number=4"]) == {"h": (0.5,), "number": 4}
    with pytest.raises(
        SettingError,
        match="no parameter named 'x'; 'h': expected NAME=VALUE.*; number: expected a whole number, got '1.5'",
    ):
        read_settings(parameters, ["x=1", "h", "number=1.5"])
    for value in ("0", "2", "nan", "inf"):
        with pytest.raises(SettingError, match=f"h: expected 0.01 to 1 s, got {value}"):
            read_settings(parameters, [f"h={value}"])
    with pytest.raises(SystemExit):
        main(["experiment", "wendlandt-box-drop", "--set", "step=1"])
    said = capsys.readouterr().err
    assert "no parameter named 'step'" in said and "h=0.001 s  (1e-05 to 0.002 s)  step" in said
    with pytest.raises(SystemExit):
        main(["experiment", "wendlandt-table-2-1", "--set", "h=0.003"])
    assert "h: expected a step that divides 0.1 s, got 0.003" in capsys.readouterr().err
    assert main(["experiment", "list", "kobilarov-chain"]) == 0
    assert "h=0.1 s" in capsys.readouterr().out


def test_what_was_set_is_used_and_written(tmp_path):
    command = ["experiment", "wendlandt-box-drop", "--set", "h=0.0005", "duration=0.2", "--out", str(tmp_path)]
    assert main(command) == 0
    content = json.loads((tmp_path / "wendlandt-box-drop.json").read_text())
    assert content["parameters"]["h [s]"] == 0.0005 and content["parameters"]["duration [s]"] == 0.2
    assert content["printed"] == {} and "h is 0.0005 in place of 0.001" in content["notes"][0]
    assert content["metrics"]["first contact [s]"] == pytest.approx(0.102, abs=1.1e-3)


def test_several_at_a_time_are_those_in_turn(tmp_path, capsys):
    names = ["wendlandt-box-drop", "hemami-2"]
    assert main(["experiment", *names, "--jobs", "2", "--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert all(f"{name}.json" in said.replace("\n", "") for name in names)
    for name in names:
        there = json.loads((tmp_path / f"{name}.json").read_text())
        here = plain(find(name).compute(lambda share, what: None).metrics)
        assert {k: v for k, v in there["metrics"].items() if not is_time(k)} == {
            k: v for k, v in here.items() if not is_time(k)
        }


def test_only_names_of_the_list_are_found():
    assert set(available()) <= set(NAMES)
    with pytest.raises(KeyError, match="no experiment named 'nothing'; there are: "):
        find("nothing")
