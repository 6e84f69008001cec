"""Write the report of a run that failed; run by the workflow, which gives what it knows as JSON."""

import json
import sys

from featlearn.core.publishing.report import write_unfinished

print(write_unfinished(**json.load(sys.stdin)))
