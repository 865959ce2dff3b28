#!/bin/bash
set -e
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
cd /testbed
git apply "$here/reference.patch"
