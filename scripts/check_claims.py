"""Check the claims of a run before it computes; the workflow gives what it knows as JSON."""

import json
import sys

from featlearn.core.claims import check
from featlearn.core.errors import FeatlearnError

try:
    check(json.load(sys.stdin))
except FeatlearnError as error:
    sys.exit(str(error))
