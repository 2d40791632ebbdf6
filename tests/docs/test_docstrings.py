"""Every exported class and function shows an example; doctest runs it."""

import importlib
import inspect

import pytest

PACKAGES = (
    "featsieve",
    "featsieve.datasets",
    "featsieve.discretize",
    "featsieve.evaluation",
    "featsieve.inference",
    "featsieve.measures",
    "featsieve.plots",
    "featsieve.quadratic",
    "featsieve.searches",
)


def exports(package):
    module = importlib.import_module(package)
    for name in module.__all__:
        exported = getattr(module, name)
        is_error = inspect.isclass(exported) and issubclass(exported, BaseException)
        if (inspect.isclass(exported) or inspect.isfunction(exported)) and not is_error:
            yield name, exported


@pytest.mark.parametrize("package", PACKAGES)
def test_exports_show_an_example(package):
    documented = dict(exports(package))
    assert documented, f"{package} exports nothing"
    bare = [name for name, exported in documented.items() if ">>>" not in (exported.__doc__ or "")]
    assert not bare, f"{package}: no example in the docstring of {', '.join(bare)}"
