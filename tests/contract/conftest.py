"""Fixtures of the contract suite; what they stand on is in contract.py."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from contract import kube, crds, ns  # noqa: E402, F401
