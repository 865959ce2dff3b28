"""A comparison as JUnit's XML, which every CI shows: a suite for the gates, and one for each arm, task by task."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from fourhands.analysis.comparison import ArmChange, Comparison, TaskChange, lacking
from fourhands.analysis.gates import GateResult
from fourhands.report.text import visible

__all__ = ["junit"]


def junit(comparison: Comparison, results: Sequence[GateResult]) -> bytes:
    """The document.

    A gate that fails is a failure. A task that was lost is one too where its arm is a regression: else it may be
    chance, and is told in the test's output alone.
    """
    root = Element("testsuites", name="fourhands compare")
    gates = SubElement(root, "testsuite", name="gates")
    for result in results:
        case = SubElement(
            gates, "testcase", classname="gates", name=_text(f"{result.gate.text} · {result.arm}")
        )
        if result.failed:
            SubElement(case, "failure", message=_text(result.why), type="gate")
        else:
            SubElement(case, "system-out").text = _text(result.why)
    for arm in comparison.changes:
        _suite(root, arm)
    for suite in [root, *root]:
        cases = list(suite.iter("testcase"))
        suite.set("tests", str(len(cases)))
        suite.set("failures", str(sum(case.find("failure") is not None for case in cases)))
        suite.set("skipped", str(sum(case.find("skipped") is not None for case in cases)))
    indent(root)
    document: bytes = tostring(root, encoding="utf-8")
    return b'<?xml version="1.0" encoding="utf-8"?>\n' + document + b"\n"


def _suite(root: Element, arm: ArmChange) -> None:
    suite = SubElement(root, "testsuite", name=_text(arm.name))
    for task in arm.tasks:
        case = SubElement(suite, "testcase", classname=_text(arm.name), name=_text(task.task))
        if arm.is_regression and task.kind == "lost":
            SubElement(case, "failure", message=_told(task), type="lost")
        else:
            SubElement(case, "system-out").text = _told(task)
    for missing in arm.incomplete:
        case = SubElement(suite, "testcase", classname=_text(arm.name), name=_text(missing.task))
        SubElement(case, "skipped", message=_text(lacking(missing)))


def _told(task: TaskChange) -> str:
    before, after = (f"{sum(each)} of {len(each)}" for each in (task.before, task.after))
    return f"{task.kind}: {before} resolved before, {after} after"


def _text(text: str) -> str:
    """Without what XML cannot hold."""
    return visible(text)
