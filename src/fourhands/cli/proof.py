"""The proof of what was delivered as lines of a terminal: one line a fact, and the event that proves it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rich.text import Text

from fourhands.analysis.delivery import DeliveryProof, Offered, Planned, Triggered

__all__ = ["tell_proofs"]

_Fact = tuple[str, tuple[int | None, ...]]
"""What is so, and the events that prove it; none where it is the lack of one."""


def tell_proofs(proofs: Iterable[DeliveryProof]) -> Iterator[Text]:
    """What became of each planned intervention; nothing where none was planned."""
    told = list(proofs)
    if not told:
        return
    yield Text("\nDelivery of the user's interventions (in brackets: the events that prove it)", style="bold")
    for proof in told:
        yield from _line(f"  {proof.intervention}: ", _planned(proof))
        for fact in _facts(proof):
            yield from _line("    ", fact)
    if asking := told[0].asking:
        yield from _line("  ", _offered(asking))


def _line(before: str, fact: _Fact) -> Iterator[Text]:
    text, events = fact
    known = [str(seq) for seq in events if seq is not None]
    yield Text(f"{before}{text}").append(f" [{', '.join(known)}]" if known else "", style="bright_black")


def _planned(proof: DeliveryProof) -> _Fact:
    planned = proof.planned
    if planned is None:
        return "not in the record's list of what was planned", ()
    text = f"on {planned.event}, {planned.moment}"
    if proof.shadow_of:
        return f"shadow of {', '.join(proof.shadow_of)}; {text}", (planned.seq,)
    return f"{_consists_of(planned)}, {text}", (planned.seq,)


def _consists_of(planned: Planned) -> str:
    if planned.has_edit:
        return "edit and message" if planned.has_message else "edit alone"
    return "message alone"


def _facts(proof: DeliveryProof) -> Iterator[_Fact]:
    if not proof.triggered:
        yield "not triggered", ()
    for fired in proof.triggered:
        yield from _fired(fired, "a user would have acted" if proof.shadow_of else "triggered")
    if proof.sent:
        yield from _message(proof)
    if first := proof.first_action:
        step = "" if first.step is None else f"step {first.step}, "
        what = f"first action after it: {step}{first.tool}, call {first.call}"
        yield f"{what} (reply to request {first.request})", (first.seq,)
    elif proof.is_delivered:
        yield "no action of the agent's main loop after it", ()
    for said in proof.announced:
        words = f"the agent's client told its model in request {said.request} ({said.thread}): “{said.words}”"
        yield words, (said.seq,)
    if proof.edit and not proof.announced:
        yield "the agent's client announced no change", ()


def _fired(fired: Triggered, how: str) -> Iterator[_Fact]:
    calls = ", ".join(fired.calls)
    yield f"{how} in {fired.thread} by {calls}: {fired.why}", (fired.seq,)
    if tried := fired.edit:
        how = "edit" if tried.outcome.is_delivered else "edit not made:"
        yield f"{how} {tried.outcome} ({tried.detail})", (tried.seq,)


def _message(proof: DeliveryProof) -> Iterator[_Fact]:
    assert proof.sent
    sent = proof.sent
    anchor = (
        f"behind the result of {', '.join(sent.anchor)}"
        if sent.anchor
        else "with the main loop's next actions"
    )
    yield f"message {sent.message} ({sent.source}) sent, to stand {anchor}", (sent.seq,)
    for moved in proof.displaced:
        where = f" at request {moved.request}" if moved.request is not None else ""
        anchor = f", behind the result of {', '.join(moved.anchor)}" if moved.anchor else ""
        yield f"message {sent.message} {moved.what}{where}{anchor}", (moved.seq,)
    if carried := proof.carried:
        text = f"carried from request {carried.first_request}"
        if carried.last_request is not None:
            text += f" to {carried.last_request}, by {carried.requests} in all"
        yield text, (carried.seq, carried.last_seq)
    else:
        yield "carried by no request", ()
    if answered := proof.answered:
        yield f"the model answered request {answered.request}, which held it", (answered.seq,)


def _offered(asking: Offered) -> _Fact:
    if asking.request is None:
        return f"the model was never offered {asking.tool}: such a trial is invalid", ()
    return f"the model was offered {asking.tool} from request {asking.request}", (asking.seq,)
