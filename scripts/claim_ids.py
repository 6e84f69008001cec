"""List the claims of experiments: the workflow gives modules and configs as JSON."""

import json
import sys
from importlib import import_module

from featlearn.core.evidence.claims import declared

found = [
    [one.claim for one in declared(import_module(given["module"]), given["config"])]
    for given in json.load(sys.stdin)
]
print(json.dumps(found))
