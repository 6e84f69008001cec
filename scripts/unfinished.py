"""Write the report of a run that failed; run by the workflow, which gives what it knows as JSON."""

import json
import sys

from featlearn.core.unfinished import write

print(write(**json.load(sys.stdin)))
