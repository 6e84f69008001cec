"""Check the claims of a run before it computes; the workflow gives what it knows as JSON."""

import json
import sys

from featlearn.core.errors import FeatlearnError
from featlearn.core.evidence.claims import check

try:
    check(json.load(sys.stdin))
except FeatlearnError as error:
    sys.exit(str(error))
