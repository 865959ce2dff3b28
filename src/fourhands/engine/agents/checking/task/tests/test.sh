#!/bin/bash
# Runs the task's tests in a container and leaves 1 or 0 for Harbor.
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
mkdir -p /logs/verifier
echo 0 > /logs/verifier/reward.txt
cd /testbed || exit 1
git apply "$here/test.patch" || exit 1
if python -m unittest tests.test_shares; then
    echo 1 > /logs/verifier/reward.txt
fi
