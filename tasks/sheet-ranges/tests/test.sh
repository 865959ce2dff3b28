#!/bin/bash
# Runs the task's tests in a container and leaves 1 or 0 for Harbor.
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
mkdir -p /logs/verifier
echo 0 > /logs/verifier/reward.txt
cd /testbed || exit 1
# The tests are the task's own: what the agent did to them does not count.
git checkout --quiet e9066062de15385528ba8defbf1504483f258c47 -- tests pyproject.toml || exit 1
git clean --quiet -fdx -- tests
rm -f conftest.py pytest.ini tox.ini setup.cfg
git apply "$here/test.patch" || exit 1
if python -m pytest -p no:cacheprovider tests/test_address.py tests/test_files.py tests/test_functions.py tests/test_sheet.py; then
    echo 1 > /logs/verifier/reward.txt
fi
