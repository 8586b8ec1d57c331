"""One request to an API server, for use in a network namespace: request.py KUBECONFIG METHOD PATH < BODY; prints the JSON answer, leaves with 1 for none."""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "lib"))
from kubeclient import ApiError, Kube  # noqa: E402

kube = Kube(sys.argv[1])
body = sys.stdin.read() or None
try:
    connection, response = kube.open(sys.argv[2], sys.argv[3], body, "application/json" if body else None)
    answer = json.loads(response.read())
    connection.close()
except (ApiError, OSError, ValueError) as error:
    sys.exit(f"{sys.argv[2]} {sys.argv[3]}: {error}")
if response.status >= 400:
    sys.exit(f"{response.status}: {answer.get('message')}")
json.dump(answer, sys.stdout)
