"""What a user who edits nothing may say of themselves: what they think and want.

Words for a deed have no end, so they are not listed: after "I" or "we" only a verb of thinking or wishing is let
through, after "my" only a noun of that kind.
"""

from __future__ import annotations

from typing import Final

from fourhands.user.message_words import CHANGED, I_OR_WE

__all__ = ["DEEDS"]


def _any(words: str) -> str:
    """A pattern for any of ``words``, which blanks separate; a tilde stands for a blank."""
    return rf"(?:{'|'.join(words.split()).replace('~', ' ')})\b"


_ADVERBS: Final = "(?: {}){{0,3}}".format(
    _any("""
        also always certainly clearly completely definitely deeply do don't even firmly fully
        generally genuinely honestly just long mainly mostly much never not only often particularly
        personally pretty probably quite rather really simply so specifically still strongly sure
        surely thoroughly truly usually very well
    """)
)
_THINK: Final = _any("""
    agree agreed appreciate appreciated ask(?!~it) asked(?!~it) assume assumed assuming beg believe
    believed bet care cared consider considered count~on demand disagree disagreed doubt doubted
    expect expected expecting favou?r favou?red fear feel felt figure figured find
    found(?!~time|~a~way) guess had~in~mind hate have~in~mind have~no
    have~to~(?:admit|ask|insist|say) hear heard hope hoped hoping imagine imagined insist insisted
    know knew known like liked look~forward love loved mean meant mention mentioned mind need
    needed(?!~to) notice noticed object prefer preferred presume presumed propose proposed
    reali[sz]e reali[sz]ed reckon reckoned recommend recommended rely relied remember remembered
    request requested require required (?:ran|run|came|come)~(?:into|across) said say saw(?!~to)
    see(?!~to) seen sense stand~by suggest suggested suppose supposed suspect suspected tell think
    thinking thought told(?!~it) trust trusted understand understood value want wanted wanting wish
    wished wonder wondered wondering worry worried
""")
_MINDED: Final = _any("""
    afraid after against asking assuming aware certain concerned confident convinced counting~on
    dealing~with expecting fine fond glad happy hoping in~favou?r interested keen looking~for
    of~the~(?:opinion|view) positive relying saying sure talking telling thinking tired
    under~the~impression used~to wanting wondering worried
""")
_MILD: Final = _any("be~(?:fine|glad|grateful|happy) go~with keep leave~it live~with rather say wait")
_THOUGHTS: Final = _any("""
    advice assumptions? beliefs? concerns? convictions? expectations? experience feeling guess
    hopes? ideas? impression intent intentions? mind opinions? points? position preferences?
    priority priorities reading reasons? reasoning requests? requirements? sense suggestions?
    thinking thoughts? understanding views? wish wishes
""")

_HAS: Final = r"(?:'ve|'d| have| had)"
_IS: Final = r"(?:'m|'re| am| are| was| were|(?:'ve| have) been)"
_MAY: Final = (
    r"(?: (?:should|shouldn't|must|mustn't|would|wouldn't|might|may|have to|need to|needn't|ought to)"
    r"|(?<=we) (?:can|cannot|can't|could|couldn't|do not|don't))\b(?! \w* ?have\b)"
)
_CAN: Final = r"(?:'d|'ll| will| can| can't| cannot| could| couldn't)"
# The subject of a clause: not "i.e.", not the index i, nor what stands behind "should" in a question.
_SUBJECT: Final = (
    r"(?<!should )(?<!could )(?<!can )(?<!shall )(?<!may )\b(?:i|we)\b(?![.)\]]|$)(?:,[^,.!?]{1,40},)?"
)
_OF_MINDS: Final = "|".join(
    (
        rf"{_ADVERBS}{_MAY}",
        rf"{_CAN}{_ADVERBS} (?:{_THINK}|{_MILD})",
        rf"{_HAS}?{_ADVERBS} {_THINK}",
        rf" (?:do|did|don't|didn't){_ADVERBS} {_THINK}",
        rf"{_IS}{_ADVERBS} {_MINDED}",
        r"'ve no\b",
    )
)
_PAST: Final = r"(?:\w+ed|did|got|made|put|set|took|wrote|rewrote|went|had|ran)"
_OBJECT: Final = _any("the it this that them these those an? all both each every everything up down")
_WISH: Final = _any("want would need like should prefer expect hope must be can could think believe")
_STARTS: Final = r"(?:^|[.!?;:]\s*)(?:and |so |ok |okay |also |just |already |quickly )?"

DEEDS: Final = (
    rf"{_SUBJECT}(?!{_OF_MINDS})(?:'\w+)?(?: [\w']+){{0,4}}",
    rf"\bmy(?! (?:\w+ ){{0,2}}?{_THOUGHTS})(?: \w+){{0,2}}|\bmine\b",
    # "I think so, and changed it": a deed behind a thought.
    rf"{I_OR_WE}\b(?:(?!\b{_WISH})[^.!?]){{0,80}}?\band (?:just |also |then )?{CHANGED}",
    rf"{I_OR_WE}\b[^.!?]{{0,120}}?\b(?:and|but|then|so) (?:just |also |then |already )*{_PAST} {_OBJECT}",
    # "Changed it": a deed without its subject.
    rf"{_STARTS}{CHANGED}",
    rf"{_STARTS}(?!based|need|nested|put|set){_PAST} {_OBJECT}",
    rf"{_STARTS}(?:(?:all )?done\b|(?:got|have|had) )",
    r"\b(?:by|from|of|via|was) me\b(?! (?:as|it|like|that|what)\b)",
)
"""Patterns, for text as `fold` leaves it, of what is not a thought or a wish. Each finds a few words."""
