from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourhands.touch.testing import runs_tests

TESTS = """
pytest
pytest -x tests/test_a.py::test_b | tail -20
cd /testbed && python -m pytest -q 2>&1 | head
python3.9 -m unittest discover -v
PYTHONPATH=. python -W ignore -m pytest tests
timeout 60 pytest tests
env A=1 nice -n 5 pytest
sudo -u agent pytest
time pytest
bash -c "cd tests; pytest -k name"
bash -lc 'python -m pytest'
for f in a b; do pytest tests/$f; done
if ! pytest; then echo bad; fi
echo $(pytest -q)
find tests -name 'test_*.py' -exec pytest {} +
ls tests | xargs -n 1 pytest
tox -e py312
nox -s tests
./tests/runtests.py --parallel 1 utils_tests
cd tests && python runtests.py auth
python tests/runtests.py
bin/test sympy/core
python bin/doctest sympy
python manage.py test app
./manage.py test
django-admin test
python -m django test
python setup.py test
python test_fix.py
bash run_tests.sh
sh ./scripts/test.sh
make test
make -C build -j 4 check
make unit-tests
ninja test
npm test
npm t
npm run test:unit
npm --prefix web run test
yarn test
yarn jest src
pnpm test
pnpm exec vitest run
npx jest --ci
npx -y vitest
bun test
node --test
node --test test/a.mjs
node src/a.test.js
deno test
go test ./...
cargo test --release
cargo nextest run
./gradlew :app:test
mvn -q test
bundle exec rspec
rspec spec
uv run pytest
uv run --with pytest-cov pytest
uv run -m pytest
poetry run pytest -q
hatch test
hatch run test
conda run -n env pytest
coverage run -m pytest
python -m coverage run --source src -m pytest
coverage run tests/runtests.py
python -c "import pytest; pytest.main(['-q'])"
python -c "import sympy; sympy.test('core')"
ctest --output-on-failure
dotnet test
""".strip().splitlines()
NO_TESTS = """
cat tests/test_a.py
grep -rn pytest setup.cfg
sed -n 1,20p tests/runtests.py
vim test_a.py
test -f setup.py && echo yes
/usr/bin/test -d src
[ -e tests ] || mkdir tests
pip install pytest
python -m pip install pytest tox
uv pip install pytest
npm install jest
yarn add --dev jest
npm run lint
npm run build
make
make -C tests
make install
make -n test
make check-format
python fix.py
python -c "print('pytest')"
python manage.py migrate
go build ./...
go vet ./test
cargo build
git add tests && git commit -m 'pytest'
pytest --version
pytest --collect-only -q
pytest -h
coverage report
echo pytest
echo 'pytest' > run_tests.sh
node server.js
$RUNNER tests
""".strip().splitlines()


@pytest.mark.parametrize("command", TESTS)
def test_a_command_that_runs_tests_is_known(command: str) -> None:
    assert runs_tests("bash", {"command": command})


@pytest.mark.parametrize("command", NO_TESTS)
def test_a_command_that_only_speaks_of_tests_runs_none(command: str) -> None:
    assert not runs_tests("bash", {"command": command})


def test_source_on_standard_input_is_looked_into() -> None:
    assert runs_tests("bash", {"command": "python - <<'EOF'\nimport pytest\npytest.main(['tests'])\nEOF"})
    assert not runs_tests("bash", {"command": "cat > test_a.py <<'EOF'\nimport pytest\npytest.main()\nEOF"})


def test_a_command_may_be_a_list_and_a_tool_without_one_runs_nothing() -> None:
    assert runs_tests("shell", {"command": ["bash", "-lc", "cd /app && npm test"]})
    assert not runs_tests("edit", {"path": "tests/test_a.py"})
    assert not runs_tests("bash", "pytest")
    assert not runs_tests("bash", {"command": ["pytest", 3]})


@given(st.text())
def test_no_text_is_too_strange(command: str) -> None:
    assert runs_tests("bash", {"command": command}) in {True, False}
