"""python3 -m faultproxy: runs the proxy until SIGINT or SIGTERM, with rules from a JSON file.

    cd tests && python3 -m faultproxy --kubeconfig ~/.kube/config --out /tmp/kubeconfig --rules rules.json

The rules are a list of objects, whose keys are the fields of Rule in rules.py: [{"query": {"watch": "1"}, "nth": 2, "status": 410}]. The file is read anew when it
changes. Each request is printed as a line of JSON.
"""

import argparse
import json
import os
import signal
import sys
import tempfile
import threading

from . import FaultProxy, Rule


def read_rules(path):
    with open(path, encoding="utf-8") as file:
        return [Rule.of(document) for document in json.load(file)]


def tell(request):
    print(json.dumps({"time": round(request.time, 3), "connection": request.connection, "method": request.method, "target": request.target,
                      "status": request.status, "ruled": request.ruled}), flush=True)


def main():
    parser = argparse.ArgumentParser(prog="faultproxy", description="A proxy before an API server that makes faults.")
    parser.add_argument("--kubeconfig", required=True, help="of the server, with a token or no user")
    parser.add_argument("--out", required=True, help="the kubeconfig for the clients, written here")
    parser.add_argument("--rules", help="a JSON file with a list of rules")
    arguments = parser.parse_args()
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with tempfile.TemporaryDirectory(prefix="faultproxy-") as directory, FaultProxy(arguments.kubeconfig, directory) as proxy:
        out = os.path.abspath(arguments.out)
        proxy.kubeconfig(os.path.basename(out), directory=os.path.dirname(out))
        print(json.dumps({"server": proxy.url, "kubeconfig": out}), flush=True)
        read, shown = 0.0, 0
        while not stop.wait(0.1):
            if arguments.rules and os.stat(arguments.rules).st_mtime != read:
                read = os.stat(arguments.rules).st_mtime
                try:
                    proxy.rules = read_rules(arguments.rules)
                except (ValueError, TypeError) as error:
                    print(f"faultproxy: {arguments.rules}: {error}; the rules before it stay", file=sys.stderr)
            while shown < len(proxy.requests):
                tell(proxy.requests[shown])
                shown += 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
