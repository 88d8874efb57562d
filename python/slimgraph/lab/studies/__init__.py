"""The studies, in the order in which the page shows them."""
import importlib
import importlib.util
import os
import sys

from slimgraph.lab.failure import ENVIRONMENT, INPUT, USAGE, Failure
from slimgraph.lab.study import Study

STUDIES = ["overall", "elasticity", "scalability", "caches", "memory-sides", "volume", "protocols",
           "stages", "coroutines", "contention", "computation", "rcc", "locks", "queue-pairs",
           "updates", "elastic-updates", "pool"]
IN_FILE = {"coroutines": "sweeps", "contention": "sweeps", "computation": "sweeps"}


def load_file(path):
    """The module of a Python file, which may import other files of its folder."""
    spec = importlib.util.spec_from_file_location("slimgraph_file", path)
    if spec is None or not os.path.exists(path):
        raise Failure(INPUT, f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    try:
        spec.loader.exec_module(module)
    except Exception as reason:
        raise Failure(INPUT, f"{path}: {type(reason).__name__}: {reason}") from None
    return module


def _from_file(path):
    module = load_file(path)
    if not callable(getattr(module, "study", None)):
        raise Failure(INPUT, f"{path} has no function study(settings) that returns a Study")
    return module.study


def makers(name):
    """The functions that make the studies from their Settings: of one study, of "all", or of a
    Python file that defines study(settings)."""
    if name.endswith(".py"):
        return [_from_file(name)]
    if name not in ("all", *STUDIES):
        raise Failure(USAGE, f"there is no experiment '{name}'; there are {', '.join(STUDIES)} and "
                      "all, and a file NAME.py may define one")

    def maker(one):
        module = importlib.import_module(f"{__name__}.{IN_FILE.get(one, one.replace('-', '_'))}")
        return getattr(module, one if one in IN_FILE else "study")
    return [maker(one) for one in (STUDIES if name == "all" else [name])]


def make(name, settings):
    made = [maker(settings) for maker in makers(name)]
    if not all(isinstance(one, Study) for one in made):
        raise Failure(ENVIRONMENT, f"{name}: study(settings) must return a Study")
    return made
