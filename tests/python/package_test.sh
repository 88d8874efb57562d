#!/bin/bash
# The Python package: builds the wheel, installs it into an environment of its own, and runs its
# tests. The last line counts them.
set -euo pipefail
cd "$(dirname "$0")/../.."
exec "${TEST_MAKE:-make}" test-python
