"""Objects that many tests share. Imported first, so that the package is found."""

import pytest
from support import MODEL, TINY


@pytest.fixture(scope="session")
def embedder():
    import latebind

    with latebind.Embedder(MODEL) as opened:
        yield opened


@pytest.fixture(scope="session")
def tiny():
    import latebind

    with latebind.Embedder(TINY) as opened:
        yield opened
