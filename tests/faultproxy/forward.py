"""A CONNECT and a SOCKS5 proxy on one loopback port each, which say what went through them."""

import asyncio
import base64
import struct

from .background import Background


class ForwardProxy(Background):
    """.url("http") and .url("socks5") for a kubeconfig's proxy-url; .targets lists "host:port" in the order of the connections.

    With credentials ("user:password") those that come without are refused. resolve maps host names to addresses.
    """

    def __init__(self, credentials=None, resolve=None):
        self.credentials, self.resolve = credentials, resolve or {}
        self.targets, self.refused = [], 0
        super().__init__()

    async def serve(self):
        self.servers = [await asyncio.start_server(one, "127.0.0.1", 0) for one in (self._connect, self._socks)]
        self.ports = {kind: server.sockets[0].getsockname()[1] for kind, server in zip(("http", "socks5"), self.servers)}

    async def stop_listening(self):
        for server in self.servers:
            server.close()

    def url(self, kind):
        return f"{kind}://{self.credentials + '@' if self.credentials else ''}127.0.0.1:{self.ports[kind]}"

    async def _connect(self, reader, writer):
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            target = head.split(" ")[1]
            given = next((line.split(" ")[-1] for line in head.split("\r\n") if line.lower().startswith("proxy-authorization:")), None)
            if self.credentials and given != base64.b64encode(self.credentials.encode()).decode():
                self.refused += 1
                writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
                await writer.drain()
            else:
                await self._tunnel(reader, writer, *target.rsplit(":", 1), b"HTTP/1.1 200 Connection established\r\n\r\n")
        except (OSError, asyncio.IncompleteReadError, IndexError):
            pass
        finally:
            writer.close()

    async def _socks(self, reader, writer):
        try:
            _, n = await reader.readexactly(2)
            await reader.readexactly(n)
            writer.write(b"\x05\x00")
            _, _, _, kind = await reader.readexactly(4)
            if kind == 3:
                host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
            elif kind == 1:
                host = ".".join(map(str, await reader.readexactly(4)))
            else:
                host = "::1" if (await reader.readexactly(16))[15] == 1 else "::"
            port, = struct.unpack(">H", await reader.readexactly(2))
            await self._tunnel(reader, writer, host, port, b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x00")
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _tunnel(self, reader, writer, host, port, greeting):
        self.targets.append(f"{host}:{port}")
        there, back = await asyncio.open_connection(self.resolve.get(host, host.strip("[]")), int(port))
        writer.write(greeting)

        async def copy(source, sink):
            try:
                while data := await source.read(65536):
                    sink.write(data)
                    await sink.drain()
            except OSError:
                pass
            finally:
                sink.close()
        await asyncio.gather(copy(reader, back), copy(there, writer))
