"""What a plan keeps of transfers for the next one, and how that is switched on."""

import os
import shutil

# Lines of a target in zonewright.toml that make a plan keep transfers; none if it does so by default.
SETTING = ""
# Where it keeps them, relative to the workspace: next to the state.
FOLDER = ".zonewright/cache"


def forget(workspace):
    """Removes what plans kept, so that the next one is cold."""
    shutil.rmtree(os.path.join(workspace, FOLDER), ignore_errors=True)
