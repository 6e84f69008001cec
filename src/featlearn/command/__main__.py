"""``python -m featlearn.command``, where the command is not on the path."""

import sys

from featlearn.command import main

sys.exit(main())
