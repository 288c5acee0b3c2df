"""What pip is to install for a part of the package that needs more than NumPy: the extras of pyproject.toml, by name."""

from __future__ import annotations

# Latebind itself is in no registry, so that "latebind[bulk]" works for those alone who have its wheel.
REQUIREMENTS = {
    "bulk": ("pyarrow>=16",),
    "ray": ("pyarrow>=16", "ray[data]>=2.60,<3"),
    "spark": ("pyarrow>=16", "pyspark>=3.5,<5", "pandas>=2.2,<3"),
    "daft": ("pyarrow>=16", "daft>=0.6.14"),
    "langchain": ("langchain-core>=1.8,<2",),
    "llama-index": ("llama-index-core>=0.14.25,<0.15",),
    "haystack": ("haystack-ai>=3.4,<4",),
    "chroma": ("chromadb>=1.5.9,<2",),
}


def install_line(extra: str) -> str:
    """What to type for an extra, or for a package of that name."""
    return "pip install " + " ".join(f'"{each}"' for each in REQUIREMENTS.get(extra, (extra,)))
