"""A proxy that does to operatord what networks and API servers do: cuts, stalls, wrong answers, dead tokens, changed certificates.

It ends TLS with certificates of its own in front of a server (a kubeconfig names it), and passes requests on unless a rule says otherwise:

    with FaultProxy(server.kubeconfig, directory) as proxy:
        proxy.add(Rule(query={"watch": "1"}, nth=2, status=410))
        site.start("nginx", kubeconfig=proxy.kubeconfig())
        proxy.seen(query={"watch": "1"})

As a command: python3 -m faultproxy --help. The modules: rules (which request, what is done), proxy (connections and answers), connection (bytes and TLS
over one socket), forward (a CONNECT and a SOCKS5 proxy beside it), certificates.
"""

from .certificates import Authority
from .forward import ForwardProxy
from .proxy import FaultProxy
from .rules import Rule, event, gone, status_of

__all__ = ["Authority", "FaultProxy", "ForwardProxy", "Rule", "event", "gone", "status_of"]
