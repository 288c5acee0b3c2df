"""The files of a model: their names, their identity without reading them, and the digest of their bytes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import CallerError, MachineError
from ._identity import settled_stat

# The limit of files and folders. No model has that many, but a folder with a link to the whole disk does.
_ENTRIES_MAX = 100_000
# The files that list the folders of a model's parts.
_LISTS = ("modules.json", "router_config.json")

# Name, device, inode, size, and the times of the last change of content and entry.
Identity = tuple[str, int, int, int, int, int]


class ModelFiles:
    """The state of a model's files at construction, before the model is opened. One thread at a time.

    Args:
        place: the file or the folder.
        named: the name of a file below the folder that a setting selects; "" for none.

    Raises:
        CallerError: there are more files than a model can have.
        MachineError: the folder cannot be listed.
    """

    def __init__(self, place: str, named: str = "") -> None:
        self._place = place
        self._named = named
        self._digest: str | None = None
        with _readable(place):
            self._identities = self._look(settled_stat)

    @property
    def digest(self) -> str:
        """Returns "sha256:…" of the files. The first call reads them, after the model was opened.

        Raises:
            MachineError: the files have changed since construction, or one cannot be read.
        """
        if self._digest is None:
            with _readable(self._place):
                digest = digest_of(self._place, self._named)
                if self._look(os.stat) != self._identities:
                    raise MachineError(
                        f"the model {self._place} changed while it was opened; try again when it is complete"
                    )
            self._digest = digest
        return self._digest

    def changed(self) -> str:
        """Returns the name of a file that has changed since construction; "" if none has. Files are read only if their
        identity differs, since their bytes may still be the same."""
        with _readable(self._place):
            now = self._look(os.stat)
            if now != self._identities:
                if digest_of(self._place, self._named) != self.digest or self._look(os.stat) != now:
                    name = min({*now} ^ {*self._identities}, default=("",))[0]
                    return name or os.path.basename(self._place)
                self._identities = now
        return ""

    def _look(self, stat: Callable[[str], os.stat_result]) -> list[Identity]:
        found = []
        for name, file in _files(self._place, self._named):
            info = stat(file)
            found.append((name, info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns, info.st_ctime_ns))
        return found


def digest_of(place: str, named: str = "") -> str:
    """Returns "sha256:…" of a model: of its file, or of the names and bytes of all files in its folder, following
    links."""
    if os.path.isfile(place):
        return f"sha256:{_sha256(place)}"
    listing = "".join(f"{_sha256(file)}  {name}\n" for name, file in _files(place, named))
    return f"sha256:{hashlib.sha256(listing.encode(errors='surrogateescape')).hexdigest()}"


@contextmanager
def _readable(place: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise MachineError(f"the model {place} cannot be read: {error}") from error


def _files(place: str, named: str) -> list[tuple[str, str]]:
    """Returns (name below the place, path) of all files that a model may load, sorted by name; empty if there are none."""
    if os.path.isfile(place):
        return [("", place)]
    found = _below(place) if os.path.isdir(place) else []
    # Hidden files are skipped: the hub's loader and other tools keep notes there.
    if any(name.startswith(".") for name, _ in found):
        lists = [
            Path(file).read_text(encoding="utf-8", errors="replace")
            for name, file in found
            if os.path.basename(name) in _LISTS
        ]
        loaded = [f'"{named}', *lists]
        found = [each for each in found if not each[0].startswith(".") or _is_named(each[0].split("/")[0], loaded)]
    return sorted(found)


def _is_named(hidden: str, texts: list[str]) -> bool:
    return any(f'"{hidden}' in text or f"/{hidden}" in text for text in texts)


def _below(place: str) -> list[tuple[str, str]]:
    """Returns the files in a folder and its subfolders, following links as a model's loader does."""
    found = []
    count = 0
    # A folder, the prefix of its files' names, and its ancestors, which are not entered again.
    pending: list[tuple[str, str, tuple[tuple[int, int], ...]]] = [(place, "", ())]
    while pending:
        folder, prefix, above = pending.pop()
        info = os.stat(folder)
        this = (info.st_dev, info.st_ino)
        if this in above:
            continue
        for name in os.listdir(folder):
            count += 1
            if count > _ENTRIES_MAX:
                raise CallerError(
                    f"the model {place} has more than {_ENTRIES_MAX} files; give a folder that contains only the model"
                )
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                found.append((prefix + name, path))
            elif os.path.isdir(path):
                pending.append((path, f"{prefix}{name}/", (*above, this)))
    return found


def _sha256(file: str) -> str:
    digest = hashlib.sha256()
    with open(file, "rb") as stream:
        while block := stream.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
