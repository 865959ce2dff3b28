"""What a trial of a conversation has beyond any other: a ledger, a user who talks, checkpoints, and a view."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from fourhands.engine.briefing import briefing
from fourhands.engine.checks import TreeChecks
from fourhands.engine.looking import looker_of
from fourhands.engine.simulators import client_of
from fourhands.gateway.checkpoints import Checkpoints
from fourhands.gateway.conversation_checkpoints import ConversationCheckpoints
from fourhands.gateway.shared_workspace import SharedWorkspace
from fourhands.gateway.state_checks import StateChecks
from fourhands.gateway.users import Emit
from fourhands.gateway.view import RecordedView
from fourhands.language.taking_up import takes_up
from fourhands.model.ledger import Ledger
from fourhands.model.ledger_state import LedgerState
from fourhands.model.persona import Persona
from fourhands.model.sandbox import Sandbox, SandboxSpec
from fourhands.model.trial import TrialKey
from fourhands.model.user import User
from fourhands.model.view import WorkspaceView
from fourhands.tasks.folder import Task
from fourhands.tasks.ledger_file import load_ledger
from fourhands.trajectories.blobs import BlobStore
from fourhands.trajectories.run_folder import Plan
from fourhands.user.talking.hidden import canaries, words_of
from fourhands.user.talking.leaks import LeakGround
from fourhands.user.talking.personas_file import draw_persona, persona_of
from fourhands.user.talking.prompted import PromptedUser
from fourhands.user.talking.simulated import simulated_user
from fourhands.user.talking.talking import grounded_user
from fourhands.workspace.commits import CommitReader
from fourhands.workspace.store import ObjectStore

__all__ = ["Talk", "talk_of"]


@dataclass(frozen=True, slots=True)
class Talk:
    """``opening`` is what the agent is told in the instruction's place; ``None``, and no user, under `single-turn`.

    ``brief`` is what of it is the user's own, and ``persona`` the name of who says it. ``ledger`` is the task's.

    ``state`` is folded from the trial's events by whoever holds it. ``commits`` are read from the start of the trial.
    """

    ledger: Ledger
    state: LedgerState
    commits: CommitReader
    checkpoints: Callable[[Emit], Checkpoints]
    user: User | None = None
    view: Callable[[Emit], WorkspaceView] | None = None
    opening: str | None = None
    brief: str | None = None
    persona: str | None = None


def talk_of(
    task: Task,
    key: TrialKey,
    plan: Plan,
    *,
    place: tuple[Sandbox, SandboxSpec],
    workspace: SharedWorkspace,
    store: ObjectStore,
    base_objects: Path,
    blobs: BlobStore,
    asks_by_command: bool,
) -> Talk:
    """What a trial of a task that was made a conversation has.

    Args:
        task: with a ledger.
        key: of the trial.
        plan: of the run.
        place: where the agent works, and what that was made of.
        workspace: follows its repository.
        store: the trial's objects.
        base_objects: the store of the task's base, which many trials share.
        blobs: the trial's large payloads.
        asks_by_command: the agent asks by a command, for want of a tool.

    Raises:
        InputError: the ledger is not one; names the file and the field. Or the user's model cannot be asked.
    """
    assert task.ledger is not None
    ledger = load_ledger(task.ledger, task.instruction)
    commits = CommitReader(place[0], store, workspace.base_tree)

    def checkpoints(emit: Emit) -> Checkpoints:
        return ConversationCheckpoints(
            workspace=workspace,
            commits=commits,
            store=store,
            blobs=blobs,
            emit=emit,
            ledger=ledger,
            checks=StateChecks(
                TreeChecks(task, ledger, store, workspace.base_tree), task.verifier.timeout_sec
            ),
            words=lambda text: _taken_up(ledger, text),
        )

    state = LedgerState.of(ledger.ids)
    if not key.condition.talks:
        return Talk(ledger, state, commits, checkpoints)
    looker = looker_of(*place, workspace, store)
    persona = _persona(key, plan)
    return Talk(
        ledger,
        state,
        commits,
        checkpoints,
        user=_user(
            task,
            ledger,
            key,
            plan,
            persona=persona,
            base_words=_base_words(base_objects, workspace.base_tree),
        ),
        view=lambda emit: RecordedView(emit, workspace=workspace, store=store, blobs=blobs, looker=looker),
        opening=briefing(ledger, asks_by_command=asks_by_command),
        brief=ledger.brief,
        persona=persona.name,
    )


def _user(
    task: Task, ledger: Ledger, key: TrialKey, plan: Plan, *, persona: Persona, base_words: frozenset[str]
) -> User:
    ground = LeakGround.of(
        ledger,
        task.instruction,
        task.test_patch,
        task.reference,
        base_words,
        canaries(task.test_patch, task.reference, elsewhere=task.instruction),
    )
    coverage = key.condition.coverage
    seed = f"{plan.settings.seed}:{key.slug}"
    client = client_of(key, plan)
    if client is None:
        return grounded_user(ledger, persona, ground=ground, coverage=coverage, seed=seed)
    if key.condition.disclosure == "prompt":
        return PromptedUser(
            ledger,
            persona,
            goal=task.instruction,
            client=client,
            ground=ground,
            coverage=coverage,
            seed=seed,
        )
    return simulated_user(ledger, persona, client=client, ground=ground, coverage=coverage, seed=seed)


def _persona(key: TrialKey, plan: Plan) -> Persona:
    (planned,) = plan.users_of(key.task, key.condition.label)
    # Not by the condition, nor by the agent: trials that are compared have the same person.
    return draw_persona(persona_of(planned.persona), plan.settings.seed, f"{key.task}:{key.repeat}")


def _taken_up(ledger: Ledger, text: str) -> Mapping[str, bool]:
    return {each.id: takes_up(each, text) for each in ledger.requirements}


@cache
def _base_words(objects: Path, tree: str) -> frozenset[str]:
    """Of the base repository: once in a run for each."""
    store = ObjectStore(objects)
    files = store.read_tree(tree)
    return words_of(store.get_blob(entry.blob) for path in files if (entry := files.get(path)) is not None)
