"""Agents with a planted fault under the user's hands: is each failure found to be of the type it was planted as?

Real trials of bundled tasks with the thin agent and scripted models, ablated and typed as `fourhands ablate` does it.
Prints, per trial, what was found; then the confusion matrix, planted × found. An agent's fault is written into a
playbook of a copy of its task; nothing of it is known to what finds the type.

    python benchmarks/planted_types.py [TASK …] [--planted AGENT,AGENT] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from shutil import copytree

from fourhands.analysis.findings.arms import trials_of
from fourhands.edits.records.files import load_record
from fourhands.engine.scripted import shell
from fourhands.engine.scripted.playbooks import playbook_of, reference_of
from fourhands.engine.scripted.reference import FilePatch, Reference
from fourhands.gateway.playbook import Move, Playbook
from fourhands.model.failure import FailureType
from fourhands.report.loading import load_study
from fourhands.tasks.find import bundled_tasks
from fourhands.tasks.folder import load_task

CONDITION = "counter-edit[k=1,trigger=step:2]"
JS_TASKS = {"hours-overnight"}
# What is written over the place of the user's edit: lines of the base or the reference, and lines that are wrong.
WRONG = {
    "cache-inflight": (
        "src/larder/cache.py",
        "            self._entries.drop(key)\n            self.stats.invalidations += 1\n            # A load",
        (
            "            if key in self._flights.keys():\n                return\n"
            "            self._entries.drop(key)\n            self.stats.invalidations += 1\n            # A load"
        ),
    ),
    "calendar-monthly": (
        "src/almanac/expand.py",
        "    anchor = rule.start\n",
        "    anchor = rule.start.replace(day=min(rule.start.day, 30))\n",
    ),
    "config-layers": (
        "src/strata/merge.py",
        "            result[key] = merge(current, value)\n",
        (
            "            result[key] = merge(current, value)\n        elif isinstance(value, list):\n"
            "            result[key] = sorted({*value, *(current or ())}, key=str)\n"
        ),
    ),
    "hours-overnight": (
        "src/hours.js",
        "  return spans;\n",
        "  return spans.filter(([from, to]) => to <= MINUTES_PER_DAY);\n",
    ),
    "ledger-rounding": (
        "src/tally/allocation.py",
        "    sign = -1 if total.minor < 0 else 1\n",
        "    sign = -1 if total.minor < 0 else 1\n    minors = [round_up(minor) for minor in reversed(minors)]\n",
    ),
    "recipe-fractions": (
        "src/küche/maße.py",
        "    return menge\n",
        "    menge = Fraction(round(menge * 2), 2)\n\n    return menge\n",
    ),
    "sheet-ranges": ("src/cellar/sheet.py", "            return None\n", '            return ""\n'),
    "version-ranges": (
        "src/pinpoint/version.py",
        "        return (release, rank, parts)\n",
        "        return (release, rank, len(parts))\n",
    ),
}
# A file of each task that neither its reference nor its user's edit is about.
ELSEWHERE = {
    "cache-inflight": "src/larder/stats.py",
    "calendar-monthly": "src/almanac/rule.py",
    "config-layers": "src/strata/errors.py",
    "hours-overnight": "README.md",
    "ledger-rounding": "src/tally/money.py",
    "recipe-fractions": "README.md",
    "sheet-ranges": "src/cellar/errors.py",
    "version-ranges": "README.md",
}


@dataclass(frozen=True)
class Scene:
    """A bundled task, its reference, and the files that the user's edit is in."""

    name: str
    reference: Reference
    edited: tuple[str, ...]

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.reference.paths, *self.edited)))

    @property
    def tests(self) -> str:
        return "node --test" if self.name in JS_TASKS else "python -m pytest -q -p no:cacheprovider"

    @property
    def here(self) -> tuple[FilePatch, ...]:
        """The reference's part in the edit's files, where it has others; in one task half of it hangs the tests."""
        files = self.reference.files
        here = tuple(file for file in files if set(file.paths) & set(self.edited))
        return () if len(here) == len(files) or self.name == "cache-inflight" else here

    def all_right(self) -> str:
        return shell.write_whole(self.reference, self.paths)


Plan = list[tuple[str, str | None, bool]]
"""Thought, command, and whether the command comes with the hand-over."""


def replaces(scene: Scene) -> Plan:
    path, old, new = WRONG[scene.name]
    script = (
        "import pathlib, sys\n"
        f"path = pathlib.Path({path!r})\ntext = path.read_text()\nold, new = {old!r}, {new!r}\n"
        "assert text.count(old) >= 1, text\npath.write_text(text.replace(old, new, 1))\n"
    )
    if scene.name in JS_TASKS:
        script = (
            "const fs = require('node:fs');\n"
            f"const text = fs.readFileSync({json.dumps(path)}, 'utf8');\n"
            f"fs.writeFileSync({json.dumps(path)}, text.replace({json.dumps(old)}, {json.dumps(new)}));\n"
        )
    run = "node -" if scene.name in JS_TASKS else "python -"
    return [
        ("All as it should be.", scene.all_right(), False),
        ("And what the user wanted there, in another way.", f"{run} <<'END'\n{script}END", False),
        ("The tests.", scene.tests, False),
    ]


def replaces_alone(scene: Scene) -> Plan | None:
    """The same, and nothing in the reference's other files: two faults, of which the place has the first."""
    if not scene.here:
        return None
    others = [path for path in scene.paths if path not in scene.edited]
    back = ("The rest is not for now.", shell.write_whole(Reference(()), others), False)
    *work, tests = replaces(scene)
    return [*work, back, tests]


def keeps_alone(scene: Scene) -> Plan | None:
    """Its own work around the user's lines, and nothing in the reference's other files: two faults as well."""
    if not scene.here:
        return None
    command = shell.merge(Reference(scene.here), favour="ours")
    return [("Around what you wrote.", command, False), ("The tests.", scene.tests, False)]


def patches_locally(scene: Scene) -> Plan | None:
    """The reference in the edit's file alone."""
    if not scene.here:
        return None
    command = shell.write_whole(Reference(scene.here), scene.paths)
    return [("It is right here, where you were.", command, False), ("The tests.", scene.tests, False)]


def wanders(scene: Scene) -> Plan:
    """Leaves the user's work, has done none of its own, and writes where nothing depends on it."""
    path = ELSEWHERE[scene.name]
    line = "\\n// reviewed\\n" if scene.name in JS_TASKS else "\\n# reviewed\\n"
    return [
        (f"{path} could do with a word.", f"printf {quote(line)} >> {quote(path)}", False),
    ]


def spoils(scene: Scene) -> Plan:
    lost = [path for path in scene.edited if path in scene.reference.paths] or scene.reference.paths
    return [
        ("All as it should be.", scene.all_right(), False),
        ("The tests.", scene.tests, False),
        ("Tidy up, and hand over.", shell.write_whole(Reference(()), lost), True),
    ]


def spoils_untested(scene: Scene) -> Plan:
    """Never tests, and in the end there is nothing left of its work."""
    return [
        ("All as it should be.", scene.all_right(), False),
        ("Tidy up, and hand over.", shell.write_whole(Reference(()), scene.paths), True),
    ]


def breaks_elsewhere(scene: Scene) -> Plan:
    """All right where reference and user were, and a file broken that is neither's."""
    path = {"hours-overnight": "src/parse.js", "recipe-fractions": "src/küche/__init__.py"}.get(scene.name)
    path = path or {"version-ranges": "src/pinpoint/__init__.py"}.get(scene.name, ELSEWHERE[scene.name])
    broken = "throw new Error('planted');" if scene.name in JS_TASKS else "raise ImportError('planted')"
    return [
        ("All as it should be.", scene.all_right(), False),
        ("One more thing, in another file.", f"printf '%s\\n' {quote(broken)} >> {quote(path)}", False),
        ("The tests.", scene.tests, False),
    ]


PLANTED: Mapping[str, tuple[FailureType, Callable[[Scene], Plan | None] | None]] = {
    "keeps": (FailureType.RETAINED_CONFLICT, None),
    "replaces": (FailureType.INCORRECT_REPLACEMENT, replaces),
    "keeps-alone": (FailureType.RETAINED_CONFLICT, keeps_alone),
    "replaces-alone": (FailureType.INCORRECT_REPLACEMENT, replaces_alone),
    "patches-locally": (FailureType.INCOMPLETE_RECONCILIATION, patches_locally),
    "wanders": (FailureType.OFF_TARGET, wanders),
    "spoils": (FailureType.VERIFICATION_BREAKDOWN, spoils),
    "spoils-untested": (FailureType.VERIFICATION_BREAKDOWN, spoils_untested),
    "breaks-elsewhere": (FailureType.OTHER_DEFECT, breaks_elsewhere),
}


def toml_of(moves: Iterable[Move], table: str) -> str:
    parts = []
    for move in moves:
        lines = [f"[[{table}]]", f"thought = {text(move.thought)}"]
        lines += [f"command = {text(move.command)}"] if move.command is not None else []
        lines += ["submit = true"] if move.submit else []
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n\n"


def text(value: str) -> str:
    """A TOML string: JSON's are, but for characters beyond 16 bits, of which there are none here."""
    return json.dumps(value, ensure_ascii=False)


def prepared(folder: Path, name: str) -> tuple[Path, list[str]]:
    """A copy of a task with the planted agents in its playbook, and which of them it can have."""
    copy = folder / name
    copytree(bundled_tasks()[name], copy)
    (copy / "user" / "playbook.toml").unlink()
    task = load_task(copy)
    assert task.record
    patch = load_record(task.record).counter_edit.interventions[0].patch
    assert patch
    edited = tuple(
        line.removeprefix("+++ b/") for line in patch.diff.splitlines() if line.startswith("+++ b/")
    )
    scene = Scene(name, reference_of(task), edited)
    book: Playbook = playbook_of(task)
    look = Move(thought="What the task is about.", command="cat -- " + " ".join(map(quote, scene.edited)))
    document = "schema = 1\n\n" + toml_of((look, *book.moves), "moves")
    possible = ["keeps"]
    for planted, (_, plan) in PLANTED.items():
        steps = plan(scene) if plan else None
        if steps is None:
            continue
        possible.append(planted)
        moves = [Move(thought=thought, command=command, submit=last) for thought, command, last in steps]
        if not moves[-1].submit:
            moves.append(Move(thought="Done.", submit=True))
        document += f'[temperaments.{planted}]\nthen = "submit"\n\n'
        document += toml_of(moves, f"temperaments.{planted}.on_message")
    document += '[temperaments.keeps]\nthen = "continue"\n\n'
    document += toml_of(book.temperaments["keeps"].on_message, "temperaments.keeps.on_message")
    (copy / "user" / "playbook.toml").write_text(document)
    return copy, possible


def fourhands(*arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", "from fourhands.cli.main import main; main()", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return done.stdout


def typed(run: Path) -> dict[str, tuple[str | None, str | None, str]]:
    """Model to type, by what, and why."""
    found = {}
    for trial in trials_of(load_study([run])):
        why = json.loads(trial.failure_typing)["why"] if trial.failure_typing else str(trial.verdict)
        found[trial.model.removeprefix("scripted/")] = trial.failure_type, trial.failure_type_by, why
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tasks", nargs="*", default=sorted(WRONG))
    parser.add_argument("--planted", default=",".join(PLANTED), help="these agents alone")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    out = given.out or Path(tempfile.mkdtemp(prefix="planted-types-"))
    matrix: Counter[tuple[str, str]] = Counter()
    by: Counter[str] = Counter()
    for name in given.tasks:
        task, there = prepared(out / "tasks", name)
        possible = [planted for planted in there if planted in given.planted.split(",")]
        if not possible:
            continue
        run = out / "runs" / name
        models = ",".join(f"scripted/{each}" for each in possible)
        arguments = ["--condition", CONDITION, "--step-limit", "24", "--ablate", "--out", str(run)]
        fourhands("run", "--tasks", str(task), "--agent", "thin", "--model", models, *arguments)
        found = typed(run)
        for planted in possible:
            type_, evidence, why = found[planted]
            is_right = type_ == PLANTED[planted][0]
            matrix[planted, type_ or "open"] += 1
            by[evidence or "nothing"] += 1
            print(
                f"{'  ' if is_right else '≠ '}{name:18} {planted:17} {type_ or 'open'} ({evidence}): {why}",
                flush=True,
            )
    columns = [*FailureType, "open"]
    print(f"\n{'':18}" + "".join(f"{column[:13]:>15}" for column in columns))
    for planted in PLANTED:
        print(f"{planted:18}" + "".join(f"{matrix[planted, column] or '·':>15}" for column in columns))
    right = sum(count for (planted, type_), count in matrix.items() if type_ == PLANTED[planted][0])
    print(
        f"\n{right} of {matrix.total()} as planted; found by " + ", ".join(f"{k}: {v}" for k, v in by.items())
    )


if __name__ == "__main__":
    main()
