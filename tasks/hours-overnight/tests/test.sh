#!/bin/bash
# Runs the task's tests in a container and leaves 1 or 0 for Harbor.
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
mkdir -p /logs/verifier
echo 0 > /logs/verifier/reward.txt
cd /testbed || exit 1
# The tests are the task's own: what the agent did to them does not count.
git checkout --quiet 80246fa6a69975ed1a9861b5f1e4db4337d32aa6 -- test package.json || exit 1
git clean --quiet -fdx -- test
git apply "$here/test.patch" || exit 1
if node --test test/format.test.js test/hours.test.js test/parse.test.js test/week.test.js; then
    echo 1 > /logs/verifier/reward.txt
fi
