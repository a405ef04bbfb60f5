from collections.abc import Iterator

import pytest
from tests.cluster.slurm import Slurm, unusable
from tests.workflow.project import QUICK, ROOT, Copy

# The quick configuration with one system and two cells. A search lasts a second, so that jobs can be met at work.
CONFIG = """\
systems: [S3]
seeds: 5
evaluations: 80000
searches: {upso2d: {criteria: [bic]}}
statistics: {bootstrap_samples: 50}
"""


@pytest.fixture(scope="session")
def local(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    """The small configuration, made on this machine with two cores."""
    copy = Copy.of_checkout(tmp_path_factory.mktemp("local") / "project", (*QUICK, "small.yaml"))
    copy.write("small.yaml", CONFIG)
    copy.take_compiled(ROOT)
    copy.make("--cores", "2")
    return copy


@pytest.fixture(scope="module")
def two_nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """A Slurm that is up as long as the tests of a module."""
    if reason := unusable():
        pytest.skip(reason)
    with Slurm(tmp_path_factory.mktemp("slurm")) as slurm:
        yield slurm


@pytest.fixture
def slurm(two_nodes: Slurm) -> Slurm:
    """Two idle nodes, whatever an earlier test has left of them."""
    two_nodes.renew()
    return two_nodes
