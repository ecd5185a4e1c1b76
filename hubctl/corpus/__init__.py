"""The documents of a bucket and of a Discovery Engine data store, kept in step with a folder.

Files are read by the function docqa's own reader. An installed wheel carries it in a folder of hubctl, so that no top-level
package `functions` is installed.
"""

import sys

from hubctl.project_files import BUNDLED

if BUNDLED.is_dir():
    sys.path.insert(0, str(BUNDLED))
