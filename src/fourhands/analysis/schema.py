"""The tidy tables, column by column: name, type, unit, definition. Everything that is reported derives from them.

``docs/tables.md`` is written from this file. ``null`` is what the record does not tell, which is never zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

__all__ = ["EVENTS", "INTERVENTIONS", "LINES", "TABLES", "TABLES_SCHEMA", "TRIALS", "WHOLE", "Column", "Type"]

TABLES_SCHEMA: Final = 2
"""The version of these columns, in every file that holds such a table."""
WHOLE: Final = "*"
"""Stands in a list of requirements for the trial as a whole."""


class Type(StrEnum):
    """What a column holds."""

    TEXT = "text"
    TEXTS = "list of text"
    INTEGER = "integer"
    NUMBER = "number"
    BOOLEAN = "boolean"


@dataclass(frozen=True, slots=True)
class Column:
    """One column. ``unit`` is empty where there is none."""

    name: str
    type: Type
    unit: str
    definition: str


def _text(name: str, definition: str) -> Column:
    return Column(name, Type.TEXT, "", definition)


def _texts(name: str, definition: str) -> Column:
    return Column(name, Type.TEXTS, "", definition)


def _count(name: str, unit: str, definition: str) -> Column:
    return Column(name, Type.INTEGER, unit, definition)


def _number(name: str, unit: str, definition: str) -> Column:
    return Column(name, Type.NUMBER, unit, definition)


def _whether(name: str, definition: str) -> Column:
    return Column(name, Type.BOOLEAN, "", definition)


_KEY: Final = (
    _text("run", "id of the run; of a Harbor job, its name"),
    _text("trial", "folder name of the trial, unique in its run"),
)

_CONVERSATION: Final = (
    _text("simulator", "of a talking user: the model that plays it, or `grounded`; null: nobody talks"),
    _text("persona", "how the talking user speaks and discloses"),
    _text("disclosure", "who decides what is said: `ledger` (our code) or `prompt` (the model alone)"),
    _text("coverage", "`full`: what was held is said once the agent wants to end; `at-will`: it is not"),
    _text("at_will", "verdict on the state in which the agent first wanted to end, or was cut before it did"),
    _whether("resolved_at_will", "whether the verifier was satisfied with it; null unless scored"),
    _number("reward_at_will", "0 to 1", "the verifier's number for it"),
    _texts("requirements", "ids of the ledger, in its order"),
    _texts("held_at_will", "those that the user had not said by then"),
    _texts("held", "those that the user never said"),
    _texts("missing", "requirements that were never said and do not hold in the end"),
    _texts("forgotten", "said, never met at any checkpoint, never taken up in the agent's words or lines"),
    _texts("regressed", "met at a checkpoint, and not in the end"),
    _texts("misread", "said, never met, and the agent's last words about it say it otherwise"),
    _texts("buggy", "said and taken up, and the code is wrong; `*`: the trial as a whole, no requirement"),
    _texts("undecided", "not met, and neither execution nor events tell why; `*` as in `buggy`"),
    _text(
        "failure_labels",
        "of a failed conversation: all that was found of why, with the events that show it, as JSON; else null",
    ),
    _texts("missing_at_will", "not said when the agent first wanted to end, and not met there"),
    _text("fates", "each requirement in the final state: told, turn, met, state, label, as JSON"),
    _text("fates_at_will", "the same in the state in which the agent first wanted to end, as JSON"),
    _texts("slips", "of the working agreement, by kind; any makes the trial a `protocol_failure`"),
    _count("questions", "questions", "that the agent put to its user"),
    _count("said", "messages", "of the talking user: answers, and what they said unasked"),
    _count(
        "said_at_will",
        "messages",
        "of these, those before the agent first wanted to end; all, where it never did",
    ),
    _count(
        "steps_at_will",
        "replies",
        "of `steps`, those before the agent first wanted to end; as `said_at_will`",
    ),
    _count("tokens_at_will", "tokens", "of `tokens`, those of the replies until then"),
    _count("uncounted_at_will", "replies", "of `uncounted_replies`, those until then"),
    _number(
        "cost_at_will", "US dollars", "of `cost`, the part until then; null where a part of that is unknown"
    ),
    _number("cost_at_will_at_least", "US dollars", "the part of it that is known"),
    _count("corrections", "messages", "of them that say that something told before is not met"),
    _count("corrections_at_will", "messages", "of these, said before the agent first wanted to end"),
    _count(
        "blocked", "wordings", "refused before they went out: they leaked, or did not say what they should"
    ),
    _count("fallbacks", "messages", "of the talking user in fixed words in place of a model's"),
    _text(
        "objected",
        "what checks had against the talking user's words, by kind: `blocked` wordings, messages that went `out`; and"
        " requests that brought none (`unheard`); as JSON",
    ),
    _count("out_of_order", "requirements", "said in an earlier turn than one that they depend on"),
    _count("looks", "looks", "of the talking user, of their own choice"),
    _count(
        "looks_at_will", "looks", "of these, those before the agent first wanted to end; as `said_at_will`"
    ),
    _count("shown", "times", "the talking user was shown what had changed"),
    _number("plan_score", "0 to 100", "of the last plan before the agent's first changed line, by its words"),
    _number("final_score", "0 to 100", "weighted share of the goals that hold in the last state"),
    _text(
        "scores",
        "each checkpoint: kind, score, source, the user's messages by then (`turn`), and whether its code differs "
        "from that of the one before in more than tests (`is_new`), as JSON",
    ),
    _text(
        "states",
        "how many requirements are in which state (`held`, `revealed`, `acknowledged`, `satisfied`, `violated`, "
        "`forgotten`), as JSON: entry n once the user has said n messages, from 0; the last: the final state",
    ),
    _whether("verifier_informed", "whether some score was made with hidden tests"),
    _text("revisions", "lines written and taken out by each revision, in order, as JSON"),
    _count("final_lines", "lines", "of the difference from the first commit to the end, tests left out"),
    _number(
        "churn_overhead", "", "(Σ lines of revisions − final lines) / final lines; null where nothing is left"
    ),
    _number("late_change_share", "", "of all lines of revisions, the share after the first"),
)

TRIALS: Final = (
    *_KEY,
    _text("task", "name of the task"),
    _text("benchmark", "the benchmark that the task is of, where the plan tells"),
    _text("record_status", "how far the task's record of edits was validated by whoever released it"),
    _text("agent", "name of the agent"),
    _text(
        "agent_version",
        "its version, as installed; all versions, of a run that was gone on with after an upgrade",
    ),
    _text("model", "name of the model"),
    _text("condition", "label: the condition and every parameter that is not its default"),
    _text("condition_name", "the condition without parameters"),
    _count("k", "interventions", "the most that the user may make; null where they do not touch the code"),
    _count(
        "repeat", "", "from 1, unique per task, agent, model and condition over all runs that are combined"
    ),
    _count("attempt", "", "the attempt that counts, from 1; 0 if none has ended"),
    _whether(
        "applicable", "whether the task has what the condition needs (an edit); if not, it is not scored"
    ),
    _whether(
        "scored", "whether the trial enters rates: it has a verdict, and neither set-up nor machine failed"
    ),
    _text("verdict", "`resolved`, `unresolved` or `none`; null if no attempt has ended"),
    _text("termination", "how the agent came to its end: `finished`, `agent_timeout`, `step_limit`, …"),
    _whether("resolved", "whether the verifier was satisfied; null unless scored"),
    _number("reward", "0 to 1", "the verifier's number"),
    _text("why", "what is known of why there is no outcome that counts"),
    _count("steps", "replies", "accepted main-loop replies of the model"),
    _count("sub_agent_calls", "replies", "of sub-agents"),
    _count("side_calls", "replies", "to requests outside of the conversation: titles, summaries"),
    _count("retries", "replies", "that the agent did not accept"),
    _count("tokens", "tokens", "input (uncached, read from and written to a cache) and output"),
    _count("tokens_input", "tokens", "uncached input"),
    _count("tokens_cache_read", "tokens", "input read from a cache"),
    _count("tokens_cache_write", "tokens", "input written to a cache"),
    _count("tokens_output", "tokens", "output, reasoning included"),
    _count("tokens_reasoning", "tokens", "the part of the output that is reasoning"),
    _count(
        "uncounted_replies",
        "replies",
        "whose tokens the provider did not tell: then `tokens` is a lower bound",
    ),
    _text("started", "time of the first event, ISO 8601, UTC"),
    _number("seconds", "seconds", "from the first event to the last, the verifier's time included"),
    _number("cost", "US dollars", "of the agent's model by the price table; null where a part is unknown"),
    _number("cost_at_least", "US dollars", "the part of it that is known"),
    _number("user_cost", "US dollars", "of the user's own model; in no other cost"),
    _number("user_cost_at_least", "US dollars", "the part of it that is known"),
    _count("intended", "interventions", "that the user planned"),
    _count("triggered", "times", "the user acted, whether or not anything came of it"),
    _texts("shadowed", "under `vanilla`: labels of the conditions whose user was watched for"),
    _texts("would_trigger", "those of them whose user would have acted at least once; null: nobody watched"),
    _count("delivered", "interventions", "whose edit the user wrote, or whose words alone were said"),
    _count("edits_applied", "edits", "that the workspace took"),
    _count("announced", "interventions", "of which the agent's own client told its model"),
    _count("messages", "messages", "of interventions; what a talking user says is counted in `said`"),
    _count("fallback_messages", "messages", "said in the fixed words though a model was to word them"),
    _count("never_carried", "messages", "that no request ever carried"),
    _count("already_present", "times", "the edit was there already when its trigger fired"),
    _count("not_applied", "times", "the edit did not fit what the agent had made of its place"),
    _count("user_lines_at_end", "lines", "in the final state that the user wrote"),
    _whether("failed_touched", "whether it is scored and unresolved, and an edit was delivered"),
    _text(
        "ablation",
        "of such a trial: `edit_caused`, `also_broken_without`, `cannot_compose`; null: not ablated",
    ),
    _text("ablation_by", "how it was shown that the edit caused the failure: `removal` or `replacement`"),
    _whether("ablation_stood", "whether anything of the edit stood in the final state"),
    _whether("ablation_final", "whether no probe ran out of time"),
    _whether("ablation_typed", "whether the states that tell the type of failure were executed as well"),
    _text(
        "failure_type",
        "of a scored failure where the user's edit conflicts: one of seven; null: execution and events do not tell",
    ),
    _text("failure_type_by", "by what it was found: `execution` or `events`"),
    _text(
        "failure_typing",
        "the type, by what, the events that show it, and why (or why there is none), as JSON",
    ),
    *_CONVERSATION,
    _text(
        "judged",
        "scores by judge models, also of each state, each marked with its judge, as JSON; null: none. Unaudited, but "
        "for judges of whom the table `agreement` tells a κ with people",
    ),
    _text(
        "audits",
        "what judge models said of why it failed, each with its audit and judge, as JSON; null: none. Unaudited as "
        "`judged`",
    ),
    _text("threads", "costs by thread, as JSON"),
    _texts("models", "names of the models that were asked, the user's included"),
    _texts("record_problems", "what of its record could not be read, and why"),
)

INTERVENTIONS: Final = (
    *_KEY,
    _text("intervention", "its id, unique in the trial"),
    _texts(
        "shadow_of", "under `vanilla`: labels of the conditions whose user this is a shadow of; else empty"
    ),
    _text("event", "what its trigger waits for"),
    _text("moment", "`before_action` or `after_action`"),
    _whether("has_edit", "whether an edit was planned"),
    _whether("has_message", "whether a message was planned"),
    _count("triggers", "times", "its trigger fired; of a shadow, would have"),
    _text("edit_outcome", "what became of its edit the last time it was tried"),
    _whether("delivered", "whether its edit was written, or its words alone were said"),
    _count("delivered_seq", "", "the event that delivered it"),
    _count("delivered_step", "step", "the agent's last before it; null before the first"),
    _text("message_source", "`fixed`, `live`, or `fallback`: the fixed words in place of a model's"),
    _count("first_request", "request", "the first that carried the message"),
    _count("last_request", "request", "the last that carried it"),
    _count("answered_request", "request", "the first with the message that the model answered"),
    _count(
        "first_action_step", "step", "the first that came after the model was told, or after a silent edit"
    ),
    _whether("announced", "whether the agent's own client told its model of the edit"),
    _count("re_reads", "actions", "after it that read a place of the edit"),
    _count("first_re_read_step", "step", "of the first of them"),
    _count("changes", "changes", "of the agent at a place of the edit"),
    _count("first_change_step", "step", "of the first of them"),
    _count("reads_after", "actions", "after it that read a file"),
    _count("edits_after", "changes", "of files after it"),
    _count("tests_after", "actions", "after it that ran tests"),
    _whether("asked", "whether the agent asked the user something after it"),
    _whether("mentioned", "whether its words spoke of the user's change"),
    _text("mode", "the first response: `ignores`, `notices_only`, `re_reads`, `reverts`, `adapts`, `asks`"),
    _count("written", "lines", "that the edit wrote"),
    _count("kept", "lines", "of them that stand as they were, where they were"),
    _count("moved", "lines", "that stand elsewhere"),
    _count("changed", "lines", "in whose place something alike stands"),
    _count("removed", "lines", "in whose place nothing alike stands"),
    _count("ever_revised", "lines", "that the agent changed or removed at some time"),
    _count("absent_at_end", "lines", "that no line of the final state is any more"),
    _count("taken_out", "lines", "that the edit took out"),
    _count("put_back", "lines", "of them that the agent has put back, and that stand in the end"),
    _count("ever_put_back", "lines", "of them that the agent put back at some time"),
    _text("proof", "each step of its delivery with the event that proves it, as JSON"),
)

LINES: Final = (
    *_KEY,
    _text("intervention", "whose line it is"),
    _text("kind", "`written` by the user, or `taken_out`"),
    _count("line", "", "its number in the edit, from 1, counted apart for each kind"),
    _text("path", "the file it is in, or was in last"),
    _text("fate", "`kept`, `moved`, `changed`, `removed`; of one taken out `put_back`, `out`"),
    _text("by", "`agent` or `user`: who did the last thing that happened to it"),
    _count("step", "step", "the agent's last before that; null before the first"),
    _count("seq", "", "the event of that"),
    _count("written_step", "step", "the agent's last before the user wrote it, or took it out"),
    _count("first_revised_step", "step", "at which the agent first changed or removed it, or put it back"),
    _count("gone_step", "step", "from which on it is absent; null unless `absent_at_end`"),
    _whether("ever_revised", "whether the agent changed or removed it; of one taken out, put it back"),
    _whether("absent_at_end", "whether no line of the final state is it any more; null of one taken out"),
    _whether(
        "whitespace_only", "whether it was revised, and in nothing but white space; null of one taken out"
    ),
)

EVENTS: Final = (
    *_KEY,
    _count("seq", "", "order, from 0"),
    _text("time", "ISO 8601, UTC; for people"),
    _text("thread", "`main`, or `sub-1`, `sub-2`, … for sub-agents"),
    _text("actor", "`agent`, `user`, `harness` or `verifier`"),
    _text("kind", "what happened, as in the record of a trial"),
    _count("step", "step", "of this event, or the agent's last before it"),
    _count("request", "request", "to the model, numbered in the trial"),
    _number("elapsed", "seconds", "since the agent's first request"),
    _text("intervention", "that it is about"),
    _text("call", "id of the tool call that it is about"),
    _text("tool", "that the action uses"),
    _texts("reads", "files that an action's result shows to have been read"),
    _texts("changed", "files that changed in the workspace"),
    _count("lines_added", "lines", "by that change"),
    _count("lines_removed", "lines", "by that change"),
    _count("tokens", "tokens", "of a reply"),
    _count("user_lines", "lines", "of the user standing in the files of a change"),
)

TABLES: Final = {"trials": TRIALS, "interventions": INTERVENTIONS, "lines": LINES, "events": EVENTS}
"""By name."""
