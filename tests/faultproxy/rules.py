"""Which requests a rule is for, and what is done to them. A rule is data, so that the command can read it from JSON; `lines.edit` alone is code."""

import dataclasses
import json
import re
import typing


def status_of(code, reason="", message="a fault of the test's", **more):
    """A Status object as the API server answers it."""
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "reason": reason, "code": code, **more}


def event(kind, content):
    """A watch event's line."""
    return {"type": kind, "object": content}


def gone(reason="Expired"):
    """The ERROR event of a version that is too old: reason Expired, or Gone."""
    return event("ERROR", status_of(410, reason, "too old resource version: 1 (2)"))


@dataclasses.dataclass
class Rule:
    """Matches by method, path (a regular expression that is searched for), query (each a regular expression for the whole value, None: absent), and
    nth: the how manieth of those that match so far, a number or a list of them (None: all); times: at most so often.

    What is done, in this order; without any of it the request passes:
    """

    method: typing.Optional[str] = None
    path: typing.Optional[str] = None
    query: typing.Optional[dict] = None
    nth: typing.Any = None
    times: typing.Optional[int] = None

    delay: float = 0.0                    # seconds before anything
    stall: typing.Optional[str] = None    # "request": never answered; "headers": half of the head, "body": the head alone, then nothing
    cut: bool = False                     # the connection ends before any answer
    reset: bool = False                   # cuts are by RST, not FIN
    authorization: typing.Optional[str] = None  # what the server sees instead of the client's ("" for none)
    upstream_query: typing.Optional[dict] = None  # parameters of the query that are set before it passes (None: removed)

    status: typing.Optional[int] = None   # answered here, not by the server
    headers: dict = dataclasses.field(default_factory=dict)  # of that answer, or added to the server's
    body: typing.Any = None               # bytes, text, or what becomes JSON
    stream: typing.Optional[list] = None  # lines of a watch answered here with 200; it stays open unless `end` is given

    cut_at: typing.Optional[int] = None   # after so many bytes of the answer's body
    stall_at: typing.Optional[int] = None  # nothing more after so many bytes of it
    chunk: typing.Optional[int] = None    # the body in chunks of so many bytes, each in a TLS record of its own
    drop: typing.Any = ()                 # numbers of lines of a watch that are left out, from 0; "all"
    repeat: dict = dataclasses.field(default_factory=dict)   # number of a line: how often it comes
    inject: dict = dataclasses.field(default_factory=dict)   # number of a line (or "first", "now"): what comes before it
    edit: typing.Any = None               # edit(bytes of a line) -> bytes, or None to leave it out
    end: typing.Optional[int] = None      # the watch ends cleanly after so many lines

    matched: int = 0                      # requests that it was for so far
    used: int = 0                         # those of them that it acted on

    @classmethod
    def of(cls, document):
        """From JSON, whose keys of objects are texts."""
        known = {field.name for field in dataclasses.fields(cls)} - {"edit", "matched", "used"}
        for key in document:
            if key not in known:
                raise ValueError(f"a rule has no key {key!r}; it has {', '.join(sorted(known))}")
        rule = cls(**document)
        for name in ("repeat", "inject"):
            setattr(rule, name, {int(key) if key.isdigit() else key: value for key, value in getattr(rule, name).items()})
        return rule

    def fits(self, request):
        if self.method is not None and request.method != self.method:
            return False
        if self.path is not None and re.search(self.path, request.path) is None:
            return False
        for key, pattern in (self.query or {}).items():
            value = request.query.get(key)
            if (value is None) != (pattern is None) or (value is not None and re.fullmatch(pattern, value) is None):
                return False
        return True

    def takes(self, request):
        """Counts the request, and says whether the rule acts on it."""
        if not self.fits(request):
            return False
        self.matched += 1
        if self.nth is not None and self.matched not in ([self.nth] if isinstance(self.nth, int) else self.nth):
            return False
        if self.times is not None and self.used >= self.times:
            return False
        self.used += 1
        return True

    def edits_lines(self):
        return bool(self.drop or self.repeat or self.inject or self.edit or self.end is not None)


def line_of(content):
    """What goes over the wire for a line that a rule names: bytes and text as they are, all else as JSON."""
    if isinstance(content, bytes):
        return content if content.endswith(b"\n") else content + b"\n"
    if isinstance(content, str):
        return line_of(content.encode())
    return json.dumps(content, separators=(",", ":")).encode() + b"\n"


class Lines:
    """The lines of one watch through a rule. feed() gives the bytes to send; .ended says that the watch is over."""

    def __init__(self, rule):
        self.rule, self.rest, self.number, self.ended = rule, b"", 0, rule.end == 0

    def before(self):
        return b"".join(map(line_of, self.rule.inject.get("now", ())))

    def feed(self, data):
        out, rule = b"", self.rule
        self.rest += data
        while b"\n" in self.rest and not self.ended:
            line, self.rest = self.rest.split(b"\n", 1)
            line += b"\n"
            number = self.number
            self.number += 1
            if number == 0:
                out += b"".join(map(line_of, rule.inject.get("first", ())))
            out += b"".join(map(line_of, rule.inject.get(number, ())))
            if rule.drop != "all" and number not in rule.drop:
                line = rule.edit(line) if rule.edit else line
                out += (line or b"") * rule.repeat.get(number, 1)
            self.ended = rule.end is not None and self.number >= rule.end
        return out
