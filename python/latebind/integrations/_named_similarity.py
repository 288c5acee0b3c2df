"""The named similarity of the sentence-transformers replacements."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

from ..errors import CallerError


class NamedSimilarity:
    """Selects a similarity by name. Subclasses compute it."""

    _similarities: ClassVar[Iterable[str]]
    _similarity: str

    @property
    def similarity_fn_name(self) -> str:
        """The similarity that similarity() computes; the class lists the names."""
        return self._similarity

    @similarity_fn_name.setter
    def similarity_fn_name(self, value: Any) -> None:
        name: str = getattr(value, "value", value)  # an enum of sentence-transformers
        if name not in self._similarities:
            raise CallerError(f"similarity_fn_name is {name!r}; known: {', '.join(self._similarities)}")
        self._similarity = name
