"""The proxy: connections in, requests past the rules, answers of the server or of a rule out, and a log of what came."""

import asyncio
import base64
import dataclasses
import json
import os
import socket
import ssl
import time
import typing
import urllib.parse

import yaml

from .background import Background
from .certificates import Authority, text_of
from .connection import Closed, Connection
from .rules import Lines, Rule, line_of, status_of

HOP = ("connection", "transfer-encoding", "content-length", "keep-alive")


@dataclasses.dataclass
class Request:
    """One line of the log."""

    method: str
    target: str
    path: str
    query: dict
    headers: dict
    body: bytes
    connection: int
    time: float
    status: typing.Optional[int] = None  # of the answer that went out
    ruled: bool = False                  # a rule acted on it
    open: bool = True
    wire: typing.Any = dataclasses.field(default=None, repr=False)


async def read_head(reader):
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    return int(head[0].split(" ", 2)[1]), [tuple(line.split(": ", 1)) for line in head[1:] if ": " in line]


async def read_body(reader, headers):
    """Blocks of the body, as they come, without their framing."""
    named = {key.lower(): value for key, value in headers}
    if named.get("transfer-encoding") == "chunked":
        while size := int((await reader.readline()).split(b";")[0] or b"0", 16):
            yield await reader.readexactly(size)
            await reader.readexactly(2)
        return
    left = int(named.get("content-length", 1 << 62))
    while left and (data := await reader.read(min(left, 65536))):
        left -= len(data)
        yield data


class Cut(Exception):
    """A rule ends the connection here."""


class Stalled(Exception):
    """A rule stays silent from here on."""


class Answer:
    """What goes out for one request: head, then body, under the rule's faults of bytes."""

    def __init__(self, request, rule):
        self.request, self.rule, self.sent, self.chunked = request, rule, 0, False

    async def head(self, status, headers, length=None):
        self.chunked = length is None
        self.request.status = status
        lines = [f"HTTP/1.1 {status} Status"] + [f"{key}: {value}" for key, value in headers]
        lines.append("Transfer-Encoding: chunked" if length is None else f"Content-Length: {length}")
        text = "\r\n".join(lines + ["", ""]).encode("latin-1")
        if self.rule and self.rule.stall == "headers":
            await self.request.wire.send(text[:len(text) // 2])
            raise Stalled
        await self.request.wire.send(text)
        if self.rule and self.rule.stall == "body":
            raise Stalled
        await self._edges()

    async def _edges(self):
        if self.rule and self.rule.cut_at is not None and self.sent >= self.rule.cut_at:
            raise Cut
        if self.rule and self.rule.stall_at is not None and self.sent >= self.rule.stall_at:
            raise Stalled

    async def body(self, data):
        edges = [n - self.sent for n in ((self.rule.cut_at, self.rule.stall_at) if self.rule else ()) if n is not None]
        data = data[:max(min(edges), 0)] if edges and min(edges) < len(data) else data
        size = self.rule.chunk if self.rule and self.rule.chunk else len(data)
        for start in range(0, len(data), size or 1):
            piece = data[start:start + size]
            await self.request.wire.send(b"%x\r\n%b\r\n" % (len(piece), piece) if self.chunked else piece)
        self.sent += len(data)
        await self._edges()

    async def finish(self):
        if self.chunked:
            await self.request.wire.send(b"0\r\n\r\n")


class FaultProxy(Background):
    """In front of the server of a kubeconfig. .port, .url; .requests is the log, .handshakes the failed ones, .connections how many came."""

    def __init__(self, kubeconfig, directory):
        self.directory = str(directory)
        with open(kubeconfig, encoding="utf-8") as file:
            self._document = yaml.safe_load(file)
        self._base = os.path.dirname(os.path.abspath(kubeconfig))
        self._cluster = self._document["clusters"][0]["cluster"]
        self._user = self._document["users"][0]["user"]
        url = urllib.parse.urlsplit(self._cluster["server"])
        self._upstream = (url.hostname, url.port)
        self._upstream_tls = ssl.create_default_context(cadata=self._pem("certificate-authority"))
        self.authority = Authority(directory)
        self.rules, self.requests, self.handshakes, self.seen_names = [], [], [], []
        self.accept = None   # {"Bearer TOKEN" or "CN=NAME" or "": Authorization of the server}: who may, all others get 401
        self.prefix = ""     # of the paths that are served; all others get 404
        self.by_name = {}    # SNI: TLS context
        self.connections = 0
        self._faults = []    # [what, how often] of new connections
        self._live, self._tasks, self._held = set(), set(), False
        self.use(*self.authority.server())
        self._listener = None
        self.port = 0
        super().__init__()

    # What tests call

    @property
    def url(self):
        return f"https://127.0.0.1:{self.port}"

    def token(self):
        """The Authorization of the server's kubeconfig."""
        return "Bearer " + self._user["token"]

    def add(self, rule):
        self.rules = self.rules + [rule]
        return rule

    def clear(self):
        self.rules = []
        self._faults = []

    def seen(self, method=None, path=None, query=None, since=0.0):
        """Requests of the log that a rule of these would match."""
        like = Rule(method=method, path=path, query=query)
        return [request for request in list(self.requests) if request.time >= since and like.fits(request)]

    def watches(self, path=None):
        return self.seen(path=path, query={"watch": "1"})

    def lists(self, path):
        """First pages of lists of that path (a regular expression, for its end)."""
        return self.seen("GET", path + "$", {"watch": None, "limit": ".+", "continue": None})

    def use(self, certificate, key, client_authority=None, maximum=None, names=None):
        """New connections get this certificate; with names only those that ask for one of them by SNI."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        if maximum is not None:
            context.set_ciphers("ALL:@SECLEVEL=0")
            context.minimum_version = ssl.TLSVersion.TLSv1
            context.maximum_version = maximum
        if client_authority:
            context.load_verify_locations(client_authority)
            context.verify_mode = ssl.CERT_REQUIRED
        context.sni_callback = self._named
        if names:
            self.by_name.update({name: context for name in names})
        else:
            self.context = context

    def _named(self, tls, name, context):
        tls.connection.names = name
        self.seen_names.append(name)
        if name in self.by_name:
            tls.context = self.by_name[name]

    def fault_connections(self, what, times=1 << 30):
        """New connections: "reset", "close", "silent" (no handshake), "garbage" (no TLS), "half" (a handshake that stops in the middle)."""
        self._faults = self._faults + [[what, times]]

    def cut(self, reset=False, **match):
        """Cuts the connections of the requests that run and match, as for seen(); without a match all connections. Returns how many."""
        async def cut():
            chosen = {request.wire for request in self.seen(**match) if request.open} if match else set(self._live)
            for wire in chosen:
                self._end(wire, reset)
            return len(chosen)
        return self.do(cut())

    def _idle(self):
        return {wire for wire in self._live if wire.served} - {request.wire for request in self.requests if request.open}

    def cut_idle(self, reset=False):
        """Cuts the connections that carry no request at the moment. Returns how many."""
        async def cut():
            chosen = self._idle()
            for wire in chosen:
                self._end(wire, reset)
            return len(chosen)
        return self.do(cut())

    def hold_idle(self):
        """Nothing goes through the connections that carry no request at the moment, and they stay open. Returns how many."""
        async def hold():
            chosen = self._idle()
            for wire in chosen:
                wire.held.clear()
            return len(chosen)
        return self.do(hold())

    def hold(self, new=True):
        """What is open stays open, and no byte goes through any more; with new the same for connections that come."""
        async def hold():
            self._held = new
            for wire in self._live:
                wire.held.clear()
        self.do(hold())

    def release(self):
        async def release():
            self._held = False
            for wire in self._live:
                wire.held.set()
        self.do(release())

    def down(self):
        """Connections are refused, those that are open end by RST."""
        async def down():
            if self._listener is not None:
                self._listener.close()
            self._listener = None
            for wire in list(self._live):
                self._end(wire, reset=True)
        self.do(down())

    def up(self):
        self.do(self.serve())

    def open_connections(self):
        return len(self._live)

    def kubeconfig(self, name="proxy.kubeconfig", cluster=None, user=None, directory=None):
        """Writes one for this proxy: the server's user and the proxy's CA, unless these say otherwise (a key with None: left out)."""
        entry = {"server": self.url, "certificate-authority-data": base64.b64encode(text_of(self.authority.certificate).encode()).decode()}
        entry.update(cluster or {})
        entry = {key: value for key, value in entry.items() if value is not None}
        document = {"apiVersion": "v1", "kind": "Config", "current-context": "proxy", "clusters": [{"name": "proxy", "cluster": entry}],
                    "contexts": [{"name": "proxy", "context": {"cluster": "proxy", "user": "proxy"}}],
                    "users": [{"name": "proxy", "user": self._user if user is None else user}]}
        path = os.path.join(directory or self.directory, name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(document, file)
        os.chmod(path + ".new", 0o600)
        os.rename(path + ".new", path)
        return path

    def _pem(self, key):
        if self._cluster.get(key + "-data"):
            return base64.b64decode(self._cluster[key + "-data"]).decode()
        return text_of(os.path.join(self._base, self._cluster[key]))

    # What runs in the loop

    def close(self):
        if not self.loop.is_closed() and self._listener is not None:
            self.down()
        super().close()

    async def serve(self):
        sock = socket.create_server(("127.0.0.1", self.port), backlog=128)
        sock.setblocking(False)
        self.port = sock.getsockname()[1]
        self._listener = _Listener(self.loop, sock, self._arrived)

    def _arrived(self, sock):
        self.connections += 1
        wire = Connection(self.loop, sock, self.connections)
        if self._held:
            wire.held.clear()
        self._live.add(wire)
        task = wire.task = self.loop.create_task(self._converse(wire))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @staticmethod
    def _end(wire, reset):
        """Also for a connection that waits for bytes, which a closed socket never gives."""
        wire.cut(reset)
        wire.task.cancel()

    def _fault(self):
        for entry in self._faults:
            if entry[1] > 0:
                entry[1] -= 1
                return entry[0]
        return None

    async def _converse(self, wire):
        pump = None
        try:
            if await self._begin(wire, self._fault()):
                pump = self.loop.create_task(wire.pump())
                while True:
                    await self._request(wire)
        except (Closed, Cut, asyncio.IncompleteReadError) as error:
            if wire.version is None:
                self.handshakes.append(str(error))
        finally:
            if pump is not None:
                pump.cancel()
            wire.cut()
            self._live.discard(wire)

    async def _begin(self, wire, fault):
        await wire.held.wait()
        if fault in ("reset", "close"):
            wire.cut(reset=fault == "reset")
        elif fault == "garbage":
            await wire.raw(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
        elif fault == "half":
            await self.loop.sock_recv(wire.sock, 65536)
            await wire.raw(b"\x16\x03\x03\x00\x7a\x02\x00\x00\x76\x03\x03")
            await wire.drained()
        elif fault == "silent":
            await wire.drained()
        else:
            await wire.handshake(self.context)
            return True
        return False

    async def _request(self, wire):
        head = (await wire.until(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ")
        headers = {key.lower(): value.strip() for key, value in (line.split(":", 1) for line in head[1:] if ":" in line)}
        body = await wire.exactly(int(headers.get("content-length", 0)))
        path, _, query = target.partition("?")
        request = Request(method, target, path, dict(urllib.parse.parse_qsl(query, keep_blank_values=True)), headers, body,
                          wire.number, time.monotonic(), wire=wire)
        rule = None
        for one in self.rules:  # each counts what it is for; the first that acts is it
            if one.takes(request) and rule is None:
                rule = one
        request.ruled = rule is not None
        self.requests.append(request)
        try:
            await self._answer(request, rule)
        except Stalled:
            await wire.left.wait()
            raise Closed("stalled") from None
        except Cut:
            wire.cut(rule.reset)
            raise
        finally:
            wire.served = True
            request.open = False
            request.wire = None

    async def _answer(self, request, rule):
        if rule and rule.delay:
            await asyncio.sleep(rule.delay)
        if rule and rule.stall == "request":
            raise Stalled
        if rule and rule.cut:
            raise Cut
        answer = Answer(request, rule)
        if rule and (rule.status is not None or rule.stream is not None):
            await self._made(answer, rule)
            return
        if not request.path.startswith(self.prefix + "/"):
            await self._say(answer, 404, status_of(404, "NotFound", f"no {request.path} here"))
            return
        authorization = request.headers.get("authorization", "")
        if self.accept is not None:
            name = authorization or (f"CN={request.wire.subject}" if request.wire.subject else "")
            if name not in self.accept:
                await self._say(answer, 401, status_of(401, "Unauthorized", "Unauthorized"))
                return
            authorization = self.accept[name]
        if rule and rule.authorization is not None:
            authorization = rule.authorization
        await self._pass(answer, request, rule, authorization)

    async def _say(self, answer, status, body, headers=()):
        if not isinstance(body, (bytes, str)) and body is not None:
            headers = [("Content-Type", "application/json"), *headers]
            body = json.dumps(body)
        body = body.encode() if isinstance(body, str) else body or b""
        await answer.head(status, headers, None if answer.rule and answer.rule.chunk else len(body))
        if body:
            await answer.body(body)
        await answer.finish()

    async def _made(self, answer, rule):
        if rule.stream is None:
            await self._say(answer, rule.status, rule.body, list(rule.headers.items()))
            return
        await answer.head(rule.status or 200, [("Content-Type", "application/json"), *rule.headers.items()])
        for line in rule.stream:
            await answer.body(line_of(line))
        if rule.end is None:
            raise Stalled
        await answer.finish()

    async def _pass(self, answer, request, rule, authorization):
        """To the server and back; the client's leaving ends it at once."""
        try:
            reader, writer = await asyncio.open_connection(*self._upstream, ssl=self._upstream_tls, limit=1 << 20)
        except OSError:
            raise Closed("no server") from None
        back = self.loop.create_task(self._back(answer, reader, rule))
        left = self.loop.create_task(request.wire.left.wait())
        try:
            writer.write(self._passed_head(request, rule, authorization) + request.body)
            await asyncio.wait((back, left), return_when=asyncio.FIRST_COMPLETED)
            if not back.done():
                raise Closed("the client left")
            back.result()
        except (OSError, asyncio.IncompleteReadError, ValueError):
            request.wire.cut(reset=True)
            raise Closed("the server left") from None
        finally:
            for task in (back, left):
                task.cancel()
            await asyncio.gather(back, left, return_exceptions=True)
            writer.transport.abort()

    def _passed_head(self, request, rule, authorization):
        target = request.target[len(self.prefix):]
        if rule and rule.upstream_query:
            query = {key: value for key, value in {**request.query, **rule.upstream_query}.items() if value is not None}
            target = target.partition("?")[0] + "?" + urllib.parse.urlencode(query)
        lines = [f"{request.method} {target} HTTP/1.1", "Connection: close"]
        lines += [f"{key}: {value}" for key, value in request.headers.items() if key not in ("connection", "authorization")]
        if authorization:
            lines.append(f"Authorization: {authorization}")
        return "\r\n".join(lines + ["", ""]).encode("latin-1")

    async def _back(self, answer, reader, rule):
        status, headers = await read_head(reader)
        kept = [(key, value) for key, value in headers if key.lower() not in HOP]
        kept += list(rule.headers.items()) if rule else []
        length = next((int(value) for key, value in headers if key.lower() == "content-length"), None)
        lines = Lines(rule) if rule and rule.edits_lines() and status == 200 else None
        await answer.head(status, kept, None if lines or (rule and rule.chunk) else 0 if status == 204 else length)
        if lines and lines.before():
            await answer.body(lines.before())
        async for data in read_body(reader, headers):
            data = lines.feed(data) if lines else data
            if data:
                await answer.body(data)
            if lines and lines.ended:
                break
        await answer.finish()


class _Listener:
    """Accepts, and hands the sockets on as they are."""

    def __init__(self, loop, sock, arrived):
        self.loop, self.sock, self.arrived = loop, sock, arrived
        loop.add_reader(sock, self._accept)

    def _accept(self):
        try:
            sock, _ = self.sock.accept()
        except OSError:
            return
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.arrived(sock)

    def close(self):
        self.loop.remove_reader(self.sock)
        self.sock.close()
