from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.user.message_checks import objections
from fourhands.user.message_claims import claims_change

TASK = "`split` in `ledger.py` rounds shares half down; the pennies must add up. See docs/money.rst."


@pytest.mark.parametrize(
    "text",
    [
        "I've got `split` rounding up in the working copy.",
        "With my version of `split` the shares come out higher, so go from there.",
        "Please keep `split` as I left it.",
        "You'll find my rounding in `ledger.py`.",
        "I rounded the shares up in `split`.",
        "I took the floor division out of `split`.",
        "I had `split` round up instead.",
        "I swapped in a ceiling for the shares.",
        "I gave `split` a ceiling, please keep it.",
        "I went with a ceiling in `split`.",
        "We made it round up in `split`.",
        "I think rounding up is best and rounded it up in `split`.",
        "I believe in rounding up, so I did that.",
        "Rounded it up in `split`, please go on.",
        "Got `split` rounding up, please go on.",
        "Done, `split` rounds up, go on from there.",
        "The rounding in `split` is mine, keep it.",
        "My rounding stays as it is in `ledger.py`.",
        "The ceiling was put there by me, please keep it.",
        "I, for one, rounded the shares up.",
        "I've been rounding the shares up in `split`.",
        "I'm rounding the shares up in `split` as we speak.",
        "I am done with the ceiling in `split`.",
        "I fiddled with `split` so that it rounds up.",
        "I would like the ceiling that I dropped into `split` to stay.",
        "I want you to keep what I did in `split`.",
        "Look at how I do the rounding in `split`.",
        "I have the rounding in `split` sorted out.",
        "I use a ceiling in `split`, please keep it.",
        "I'll round the shares up in `split` myself.",
        "Someone rounded up in `split`: that was me.",
        "Please leave the rounding I chose alone.",
        "I must have rounded it up in `split` there.",
        "Up goes the rounding in `split`, courtesy of me.",
        "Should you wonder: I set the ceiling in `split`.",
        "I hope it is fine that I rounded up in `split`.",
        "I also cleaned up the callers of `split`.",
        "I decided on a ceiling, see `ledger.py` for it.",
        "Please pull in my work on `split` first.",
        "Our shares are rounded up since my last pass over `split`.",
        "I can show you the ceiling I wrote in `split`.",
        "Have a look at `ledger.py`: the ceiling is new.",
        "We ended up rounding the shares up in `split`.",
        "I switched to a ceiling in `split`.",
        "What I put into `split` should stay.",
        "I'd already rounded it up in `split`.",
        "I needed pennies to add up, hence the ceiling in `split`, which I typed in.",
        "I felt like rounding up, so up it goes; I rewrote `split`.",
        "I thought I'd round up, and I have.",
        "I found time to round up in `split`.",
        "I needed to round up in `split`, so there.",
        "I had to round up in `split`, please keep it.",
        "I saw to it that `split` rounds up.",
        "Don't undo my ceiling in `split`.",
        "I know that I replaced it, and I want it kept.",
        "I told `split` to round up.",
        "I asked `split` to round up and it does.",
    ],
)
def test_a_deed_of_a_user_who_edits_nothing_is_refused(text: str) -> None:
    assert claims_change(text)
    reasons = objections(text, task=TASK, patch=None)
    assert any(reason.startswith(("claims", "promises")) for reason in reasons)


@pytest.mark.parametrize(
    "text",
    [
        "I want the shares to be rounded up. Please go by that.",
        "I think `split` should round up, since nobody likes to lose a penny.",
        "I'd like `split` to round up, please. That is what people expect from a ledger.",
        "I'd rather have the shares rounded up.",
        "I'm sure that rounding up is right here; please go on from that.",
        "I really do prefer rounding up in `split`.",
        "We need the shares to be rounded up, so please see to that in `ledger.py`.",
        "Shares should always round up. I don't want pennies to get lost.",
        "As I said, I expect `split` to round up. Please do that now.",
        "In my view the ceiling belongs in `split`. Please go by that.",
        "I've always thought that shares are best rounded up.",
        "I've said it before: shares round up. I mean it.",
        "What I care about is that no penny is lost, so round up.",
        "My understanding is that a ceiling is all that is needed in `split`.",
        "I know it looks odd, but I do believe rounding up is the way to go.",
        "We should round up in `split`, and we can skip the remainder then.",
        "I still think that shares must round up, i.e. nobody gets less. Keep that in mind.",
        "I'm convinced this belongs in `split`. Please carry on with that in mind.",
        "Please make `split` round up, and make sure that it stays simple.",
        "I have no doubt that rounding up is what we need here.",
        "I was hoping for `split` to round up.",
        "I would round up here, as the docs in docs/money.rst hint.",
        "I'm not asking for much: round up, for now, in `split`.",
        "Could you have `split` round up? I need that for the books.",
        "I understand that the pennies must add up, but I see no reason to round down.",
        "From what I know of ledgers, rounding up is the safe way.",
        "My strong preference is to round up, and I trust you to see it through.",
        "It seems to me that the invalid IDs need no check at all, so please leave that out.",
        "The remainder goes to the first share, as far as I am concerned.",
        "I'll keep it short: shares round up.",
        "I can live with a slower `split`, as long as it rounds up.",
        "Nobody should get less than their share, I feel, so go for the ceiling.",
        "What we want is simple: shares that round up and never down.",
        "My view: pennies add up only if shares round up.",
        "I was thinking of rounding up. It is what our accountants expect.",
        "To me, rounding up is what makes sense in `split`.",
        "Please go for the ceiling. I realise that it costs a penny, but that is fine.",
        "I believe we have to round up here. Nobody wants to lose money.",
        "My concern is the pennies; they must not get lost. So please round up.",
        "I would really appreciate it if `split` rounded up.",
        "Honestly, I just want `split` to round up.",
        "I am of the opinion that the ceiling is best. Please carry on on that basis.",
        "I'd say that a share may be a penny higher; go with that.",
        "I've no doubt that `split` should round up.",
        "Let me be clear: I want shares to round up.",
        "I don't think the remainder matters, so please ignore it.",
        "We don't need the remainder. Just round up in `split`.",
        "Let's have `split` round up, that's the way I want it.",
        "For me it matters that nobody is short of a penny. Could you see to that?",
        "I said it once and I will say it again: round up, please.",
        "Our users expect shares to be rounded up, so that is how `split` ought to behave.",
    ],
)
def test_what_a_user_thinks_or_wants_may_be_said(text: str) -> None:
    assert not claims_change(text)
    assert not objections(text, task=TASK, patch=None)


@given(
    subject=st.sampled_from(["I", "We", "I've", "We have", "I just", "I, for one,", "As you know, I"]),
    stem=st.text("bcdfghklmnprstvw", min_size=2, max_size=4).map(lambda text: f"{text[0]}u{text[1:]}"),
)
def test_no_list_of_deeds_is_needed(subject: str, stem: str) -> None:
    """A verb that nobody has thought of is refused like any other; words of thinking are let through."""
    assert claims_change(f"{subject} {stem}ed the shares in `split` on Monday.")


@pytest.mark.parametrize(
    "text", ["Lazy IDs stay as they are.", "An IPv4 address is best.", "It is best, i.e. the ceiling."]
)
def test_an_i_that_is_no_pronoun_does_nothing(text: str) -> None:
    assert not claims_change(text)
