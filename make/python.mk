# The Python package: its wheel, its tests, and NetworkX's own tests with SlimGraph as a backend.
# `pip install ./python` needs none of this; it calls make for the library.

.PHONY: python wheel-installed test-python test-networkx

PYTHON     ?= python3
PYTHON_ENV := build/python/env
WHEELS     := build/python/wheels
PIP         = $(PYTHON_ENV)/bin/pip -q --disable-pip-version-check
# What the package, its tests and the lab need, as pyproject.toml says.
NEEDED      = $(PYTHON) -c "import tomllib; read = tomllib.load(open('python/pyproject.toml', 'rb')); \
  extras = read['project']['optional-dependencies']; print(*{word.replace(' ', '') for word in \
  read['build-system']['requires'] + read['project']['dependencies'] + extras['test'] + extras['lab']})"

build/.python-deps: make/toolchain.mk | build/.deps
	@mkdir -p build && $(PACKAGES) $(APT_PYTHON_PACKAGES) && touch $@

# A clean environment, made anew when pyproject.toml has changed.
$(PYTHON_ENV)/.made: python/pyproject.toml | build/.python-deps
	@rm -rf $(PYTHON_ENV) && $(PYTHON) -m venv $(PYTHON_ENV)
	@set -f; $(PIP) install $$($(NEEDED)) ninja cmake && touch $@

python: $(LIBRARY) $(COMMAND) | $(PYTHON_ENV)/.made
	@rm -rf $(WHEELS) && $(PIP) wheel --no-build-isolation --no-deps -w $(WHEELS) ./python
	@ls $(WHEELS)/*.whl

wheel-installed: python
	@$(PIP) install --force-reinstall --no-deps $(WHEELS)/*.whl

# Also the examples of docstrings, and the notebook of docs/.
test-python: wheel-installed
	@$(PYTHON_ENV)/bin/python -m pytest -c python/pyproject.toml --ignore=python/tests/nx --ignore=python/tests/lab \
	  python/tests --doctest-modules --pyargs slimgraph

test-networkx: wheel-installed
	@$(PYTHON_ENV)/bin/python python/tests/nx/run.py
