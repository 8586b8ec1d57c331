"""One accepted TCP connection: bytes through TLS, or none. What is sent is in the kernel when send() returns, so a cut falls where it should."""

import asyncio
import socket
import ssl
import struct

BLOCK = 65536


class Closed(Exception):
    """The other side has gone, or the proxy cut the connection."""


class Connection:
    """.number counts the proxy's connections from 1; .names what the client asked for by SNI; .subject the CN of its certificate."""

    def __init__(self, loop, sock, number):
        self.loop, self.sock, self.number = loop, sock, number
        self.names = self.subject = self.version = self.task = None
        self.held = asyncio.Event()  # set: bytes flow
        self.held.set()
        self.left = asyncio.Event()  # the client has gone
        self._news = asyncio.Event()
        self._tls = None
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._buffer = b""
        self.closed = False
        self.served = False  # a request was answered
        self._writing = asyncio.Lock()

    async def handshake(self, context):
        self._tls = context.wrap_bio(self._in, self._out, server_side=True)
        self._tls.connection = self  # for the SNI callback
        while True:
            try:
                self._tls.do_handshake()
                break
            except ssl.SSLWantReadError:
                await self._flush()
                await self._fill()
            except ssl.SSLError as error:
                await self._flush()
                raise Closed(f"handshake: {error}") from None
        await self._flush()
        self.version = self._tls.version()
        peer = self._tls.getpeercert()
        if peer:
            self.subject = next((value for part in peer["subject"] for key, value in part if key == "commonName"), None)

    async def _fill(self):
        try:
            data = await self.loop.sock_recv(self.sock, BLOCK)
        except OSError as error:
            raise Closed(str(error)) from None
        await self.held.wait()
        if not data:
            raise Closed("end of file")
        self._in.write(data)

    async def _flush(self):
        async with self._writing:
            data = self._out.read()
            if data:
                await self.raw(data)

    async def raw(self, data):
        """Bytes as they are, beside TLS."""
        await self.held.wait()
        try:
            await self.loop.sock_sendall(self.sock, data)
        except OSError as error:
            raise Closed(str(error)) from None

    async def _receive(self):
        while True:
            try:
                data = self._tls.read(BLOCK)
                if not data:
                    raise Closed("end of TLS")
                return data
            except ssl.SSLWantReadError:
                await self._flush()
                await self._fill()
            except ssl.SSLError as error:
                raise Closed(f"TLS: {error}") from None

    async def pump(self):
        """Reads for ever, beside what is sent: the only reader behind the handshake."""
        try:
            while True:
                data = await self._receive()
                self._buffer += data
                self._news.set()
        except Closed:
            self.left.set()
            self._news.set()

    async def _more(self):
        if self.left.is_set():
            raise Closed("end of file")
        self._news.clear()
        await self._news.wait()

    async def until(self, mark, limit=1 << 20):
        """Bytes up to the mark, with it."""
        while mark not in self._buffer:
            if len(self._buffer) > limit:
                raise Closed("too much without an end")
            await self._more()
        end = self._buffer.index(mark) + len(mark)
        out, self._buffer = self._buffer[:end], self._buffer[end:]
        return out

    async def exactly(self, n):
        while len(self._buffer) < n:
            await self._more()
        out, self._buffer = self._buffer[:n], self._buffer[n:]
        return out

    async def drained(self):
        """Takes what comes from a client without TLS, until it leaves."""
        try:
            while await self.loop.sock_recv(self.sock, BLOCK):
                pass
        except OSError:
            pass

    async def send(self, data):
        if self.closed:
            raise Closed("cut")
        if self._tls is None:
            await self.raw(data)
            return
        self._tls.write(data)
        await self._flush()

    def cut(self, reset=False):
        """Ends it without a TLS good-bye: by RST, or by FIN."""
        if self.closed:
            return
        self.closed = True
        self.held.set()
        try:
            if reset:
                self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            else:
                self.sock.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        self.loop.remove_reader(self.sock)
        self.loop.remove_writer(self.sock)
        self.sock.close()
