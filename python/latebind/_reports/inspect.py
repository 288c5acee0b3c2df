"""What a bundle or an ExecuTorch program contains."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .._jobs import Watch
from .common import Path, path_text, report_from, run

__all__ = ["Inspection", "inspect"]


@dataclass(frozen=True)
class Inspection:
    """The contents of a bundle or an ExecuTorch program; `raw` has the details.

    Attributes:
        form: "zip" or "folder" for a bundle, or "pte".
        bytes: the total size.
        intact: the result of `verify`; None if it was not requested.
        damages: what has changed since it was written.
        decisions: with `explain`, which variants every device loads, and why not the others; otherwise None.
    """

    form: str
    bytes: int
    intact: bool | None
    damages: tuple[Any, ...]
    decisions: tuple[dict[str, Any], ...] | None
    raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)


def inspect(
    bundle: Path,
    *,
    verify: bool = False,
    explain: bool = False,
    installed: bool = False,
    progress: Watch | None = None,
    **settings: Any,
) -> Inspection:
    """Shows the contents of a bundle or of an ExecuTorch program (.pte).

    Args:
        verify: compares every file with its recorded checksum.
        explain: tries to load the variants on every device of `device=`.
        installed: also accepts a package with the installed layout, which may refer to any file of this machine.
    """
    arguments = {"bundle": path_text(bundle, "bundle"), "verify": verify, "explain": explain, "installed": installed}
    raw = run("inspect", arguments, settings, progress)
    verification = raw.get("verification")
    damages = tuple(verification["damages"]) if verification else ()
    decisions = raw.get("decisions")
    return report_from(
        Inspection,
        raw,
        intact=None if verification is None else not damages,
        damages=damages,
        decisions=None if decisions is None else tuple(decisions),
    )
