"""Records of conversations of a task whose ledger is on record, with the agent's words and lines in blobs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from fourhands.model.event import Actor, Event, EventKind
from fourhands.model.ledger import Goal, Ledger, Requirement

from .talks import TREE, Talk

LEDGER: Final = Ledger(
    "Our upload service has a few rough edges. Could you look into them?",
    (
        Requirement(
            "R1",
            "Uploads larger than 25 MB must be rejected with status 413.",
            (0, 1),
            values=("25 MB", "413"),
            checks=("c1a", "c1b"),
            tests=("t1",),
        ),
        Requirement(
            "R2",
            "Deleted users must not be able to log in.",
            (1, 2),
            negations=("must not be able",),
            checks=("c2",),
            tests=("t2", "t23"),
        ),
        Requirement("R3", "List the invoices by date, newest first.", (2, 3), checks=("c3",), tests=("t23",)),
        Requirement(
            "R4",
            "`export_csv` writes the header line once, also when it appends to a file.",
            (3, 4),
            identifiers=("export_csv",),
            checks=("c4",),
        ),
        Requirement(
            "R5",
            "A download that fails is tried again `MAX_TRIES` times before anybody hears of it.",
            (4, 5),
            identifiers=("MAX_TRIES",),
            checks=("c5",),
        ),
        Requirement(
            "R6", "Two names are the same if only their capital letters differ.", (5, 6), checks=("c6",)
        ),
        Requirement("R7", "The audit trail keeps each change for `90 days`.", (6, 7), values=("90 days",)),
    ),
    (Goal("G1", "all", 100.0, "src", tuple(f"R{n}" for n in range(1, 8))),),
)
FINE: Final = dict.fromkeys(LEDGER.ids, True)
OTHERS_SAID: Final = "Invoices are listed by date now, the newest first."
"""Words about R3."""
ALSO_SAID: Final = "Deleted users are not able to log in any more."
"""Words about R2."""


class LedgerTalk(Talk):
    """All that is said goes into blobs, as a gateway would put it."""

    def __init__(self, *, ledger: Ledger | None = LEDGER, condition: str = "interactive") -> None:
        super().__init__(condition=condition)
        self.blobs: dict[str, bytes] = {hashlib.sha256(b"").hexdigest(): b""}
        if ledger is not None:
            self.events[0].body["ledger"] = self.put(msgspec.json.encode(ledger))
        self._step = 0
        self.tree = TREE

    def put(self, data: bytes) -> str:
        digest = hashlib.sha256(data).hexdigest()
        self.blobs[digest] = data
        return digest

    def read(self, digest: str) -> bytes:
        return self.blobs.get(digest, b"")

    def tell(self, *requirements: str) -> None:
        self.answer(self.ask("What should I know?"), "reveal", *requirements)

    def correct(self, *requirements: str) -> None:
        self.answer(self.ask("Please review."), "correct", *requirements)

    def reply(self, text: str) -> None:
        """A step of the agent's, with words beside its actions."""
        self._step += 1
        body = {
            "request": self._step,
            "step": self._step,
            "side": False,
            "model": "m",
            "status": 200,
            "complete": True,
            "usage": None,
            "tools": [],
            "text": self.put(text.encode()),
            "milliseconds": 1.0,
        }
        self.log(Actor.AGENT, EventKind.MODEL_CALLED, body)

    def change(self, added: str, *, actor: Actor = Actor.AGENT, path: str = "src/a.py") -> None:
        """Lines of the agent's, or of the user's, in a file: another tree."""
        self.tree = hashlib.sha1(f"{self.tree} {actor} {added}".encode(), usedforsecurity=False).hexdigest()
        file: dict[str, Any] = {"path": path, "old": None, "new": None, "binary": False, "hunks": []}
        body = {"by": actor.value, "intervention": None, "tree": self.tree, "files": [file], "lines": {}}
        self.log(actor, EventKind.WORKSPACE_CHANGED, {**body, "user_lines": []})
        self._diff = (
            f"diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,1 +1,2 @@\n around\n"
            + "".join(f"+{line}\n" for line in added.splitlines())
        )

    def state(self, of: str, *unmet: str, **more: Any) -> None:
        """A state of the code in which these are not met: the one that stands, unless another ``tree`` is given."""
        diff = getattr(self, "_diff", "")
        met: Mapping[str, bool | None] = {name: name not in unmet for name in LEDGER.ids}
        self.checkpoint(of, met, **{"diff": self.put(diff.encode()), "tree": self.tree, **more})

    def close(
        self, *unmet: str, failing: tuple[str, ...] = (), broken: tuple[str, ...] = (), **more: Any
    ) -> list[Event]:
        """The final state, its verdict, and the end."""
        self.state("end", *unmet, **more)
        tests = {test: "failed" if test in failing else "passed" for test in ("t1", "t2", "t23")}
        failed = dict.fromkeys(broken, "failed")
        self.verify("unresolved", fail_to_pass=tests, pass_to_pass_failed=failed, tree=self.tree)
        return self.end("unresolved")
