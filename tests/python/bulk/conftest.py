"""Objects that the tests of latebind.bulk share; those of tests/python/conftest.py beside them."""

import os

import pyarrow.parquet as pq
import pytest
from tables import table

# What is set on the machine must not decide where something is computed.
for name in ("RAY_ADDRESS", "SPARK_HOME", "PYSPARK_PYTHON"):
    os.environ.pop(name, None)


@pytest.fixture
def parquet(tmp_path):
    """1,000 rows in row groups of 130."""
    file = tmp_path / "in.parquet"
    pq.write_table(table(1000), file, row_group_size=130)
    return file
