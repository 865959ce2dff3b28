"""The proof of what was delivered in words: one sentence a fact, and the events that prove it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fourhands.analysis.delivery import DeliveryProof, Offered, Planned, Triggered
from fourhands.report.story.model import Delivery, Fact

__all__ = ["asking_fact", "deliveries"]


def deliveries(proofs: Iterable[DeliveryProof]) -> tuple[Delivery, ...]:
    """What became of each planned intervention; nothing where none was planned."""
    return tuple(
        Delivery(
            proof.intervention,
            _planned(proof),
            proof.shadow_of,
            is_delivered=proof.is_delivered,
            facts=tuple(_facts(proof)),
        )
        for proof in proofs
    )


def asking_fact(proofs: Iterable[DeliveryProof]) -> Fact | None:
    """Whether the model was offered the tool to ask with; ``None`` where it was to be given none."""
    asking = next((proof.asking for proof in proofs), None)
    return None if asking is None else _offered(asking)


def _fact(text: str, *events: int | None) -> Fact:
    return Fact(text, tuple(event for event in events if event is not None))


def _planned(proof: DeliveryProof) -> Fact:
    planned = proof.planned
    if planned is None:
        return _fact("not in the record's list of what was planned")
    text = f"on {planned.event}, {planned.moment}"
    if proof.shadow_of:
        return _fact(f"shadow of {', '.join(proof.shadow_of)}; {text}", planned.seq)
    return _fact(f"{_consists_of(planned)}, {text}", planned.seq)


def _consists_of(planned: Planned) -> str:
    if planned.has_edit:
        return "edit and message" if planned.has_message else "edit alone"
    return "message alone"


def _facts(proof: DeliveryProof) -> Iterator[Fact]:
    if not proof.triggered:
        yield _fact("not triggered")
    for fired in proof.triggered:
        yield from _fired(fired, "a user would have acted" if proof.shadow_of else "triggered")
    if proof.sent:
        yield from _message(proof)
    if first := proof.first_action:
        step = "" if first.step is None else f"step {first.step}, "
        what = f"first action after it: {step}{first.tool}, call {first.call}"
        yield _fact(f"{what} (reply to request {first.request})", first.seq)
    elif proof.is_delivered:
        yield _fact("no action of the agent's main loop after it")
    for said in proof.announced:
        words = f"the agent's client told its model in request {said.request} ({said.thread}): “{said.words}”"
        yield _fact(words, said.seq)
    if proof.edit and not proof.announced:
        yield _fact("the agent's client announced no change")


def _fired(fired: Triggered, how: str) -> Iterator[Fact]:
    calls = ", ".join(fired.calls)
    yield _fact(f"{how} in {fired.thread} by {calls}: {fired.why}", fired.seq)
    if tried := fired.edit:
        how = "edit" if tried.outcome.is_delivered else "edit not made:"
        yield _fact(f"{how} {tried.outcome} ({tried.detail})", tried.seq)


def _message(proof: DeliveryProof) -> Iterator[Fact]:
    assert proof.sent
    sent = proof.sent
    anchor = (
        f"behind the result of {', '.join(sent.anchor)}"
        if sent.anchor
        else "with the main loop's next actions"
    )
    yield _fact(f"message {sent.message} ({sent.source}) sent, to stand {anchor}", sent.seq)
    for moved in proof.displaced:
        where = f" at request {moved.request}" if moved.request is not None else ""
        anchor = f", behind the result of {', '.join(moved.anchor)}" if moved.anchor else ""
        yield _fact(f"message {sent.message} {moved.what}{where}{anchor}", moved.seq)
    if carried := proof.carried:
        text = f"carried from request {carried.first_request}"
        if carried.last_request is not None:
            text += f" to {carried.last_request}, by {carried.requests} in all"
        yield _fact(text, carried.seq, carried.last_seq)
    else:
        yield _fact("carried by no request")
    if answered := proof.answered:
        yield _fact(f"the model answered request {answered.request}, which held it", answered.seq)


def _offered(asking: Offered) -> Fact:
    if asking.request is None:
        return _fact(f"the model was never offered {asking.tool}: such a trial is invalid")
    return _fact(f"the model was offered {asking.tool} from request {asking.request}", asking.seq)
