"""The destination of output: a folder on a local, network or object store, where files appear atomically."""

from __future__ import annotations

import errno
import os
import sys
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import fs

from .._library import c_text
from .._locks import in_child
from ..errors import CallerError, MachineError, TransientError

# On these, an object becomes visible when it is complete, and a rename is a copy.
_OBJECT_STORES = ("s3", "gcs", "abfs")
_TEMPORARY = ".part-"
# Following a link would create a lock in a place that another user chose.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def locate(place: str | os.PathLike[str], what: str) -> tuple[Any, str]:
    """Returns the filesystem and the path for a local path or a URI such as s3://bucket/folder.

    Raises:
        CallerError: pyarrow does not know the URI, or a name is not UTF-8.
        CallerTypeError: this is not a path.
    """
    text = c_text(place, what).decode()
    if not text:
        raise CallerError(f"{what} is empty; give a path or a URI")
    if "://" not in text:
        return fs.LocalFileSystem(), Path(text).absolute().as_posix()
    try:
        filesystem, path = fs.FileSystem.from_uri(text)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise CallerError(f"{what} {text!r} cannot be used: {error}") from error
    return filesystem, path.rstrip("/")


@dataclass(frozen=True)
class Store:
    """A folder on a pyarrow filesystem. Can be pickled. If several processes write the same file, one version survives
    intact."""

    filesystem: Any
    root: str

    def _path(self, name: str) -> str:
        return f"{self.root}/{name}" if name else self.root

    def remove_all(self) -> None:
        """Removes all contents except the lock. The caller has checked that everything is Latebind's.

        Raises:
            TransientError: the filesystem rejects it.
        """
        for name in self.names(""):
            self.remove(name)
        try:
            for info in self.filesystem.get_file_info(fs.FileSelector(self.root, allow_not_found=True)):
                if info.type == fs.FileType.Directory:
                    self.filesystem.delete_dir(info.path)
        except OSError as error:
            raise TransientError(f"{self.root} could not be removed: {error}", retryable=True) from error

    def names(self, folder: str) -> list[str]:
        """Returns the files in a subfolder, sorted, without those that begin with a dot.

        Raises:
            MachineError: it cannot be listed, for instance because it is a file.
        """
        return sorted(
            info.base_name for info in self._listed(folder) if info.is_file and not info.base_name.startswith(".")
        )

    def entries(self, folder: str) -> dict[str, str]:
        """Returns the entries of a subfolder, including hidden ones: the name of each with "file", "folder", or "link"
        (which counts as neither).

        Raises:
            MachineError: it cannot be listed.
        """
        is_local = self.filesystem.type_name == "local"
        return {
            info.base_name: "link" if is_local and os.path.islink(info.path) else "file" if info.is_file else "folder"
            for info in self._listed(folder)
        }

    def _listed(self, folder: str) -> list[fs.FileInfo]:
        """Returns the entries of a subfolder; empty if it does not exist."""
        selector = fs.FileSelector(self._path(folder), allow_not_found=True)
        try:
            return list(self.filesystem.get_file_info(selector))
        except (OSError, UnicodeError) as error:
            raise MachineError(f"{self._path(folder)} cannot be listed: {error}") from error

    def has(self, name: str) -> bool:
        is_file: bool = self.filesystem.get_file_info(self._path(name)).is_file
        return is_file

    def read(self, name: str) -> bytes | None:
        """Returns a file's bytes, or None if it does not exist."""
        if not self.has(name):
            return None
        with self.filesystem.open_input_stream(self._path(name)) as stream:
            content: bytes = stream.read()
        return content

    def open(self, name: str) -> Any:
        """Opens a file for random access."""
        return self.filesystem.open_input_file(self._path(name))

    def remove(self, name: str) -> None:
        """Removes a file.

        Raises:
            TransientError: the filesystem rejects it.
        """
        try:
            self.filesystem.delete_file(self._path(name))
        except FileNotFoundError:
            pass  # another process has removed it
        except OSError as error:
            raise TransientError(f"{self._path(name)} could not be removed: {error}", retryable=True) from error

    def remove_root(self) -> None:
        """Removes the folder if only its lock is left."""
        if self.filesystem.type_name != "local":
            return
        with suppress(OSError):
            os.remove(self._path(".lock"))
        with suppress(OSError):
            os.rmdir(self.root)

    def remove_folder(self, folder: str) -> None:
        """Removes a subfolder with all its contents, if it exists.

        Raises:
            TransientError: the filesystem rejects it.
        """
        path = self._path(folder)
        try:
            if self.filesystem.get_file_info(path).type == fs.FileType.Directory:
                self.filesystem.delete_dir(path)
        except OSError as error:
            raise TransientError(f"{path} could not be removed: {error}", retryable=True) from error

    def write(self, name: str, content: Any) -> None:
        """Writes a file atomically, replacing an existing one.

        Raises:
            TransientError: the filesystem rejects it, for instance because it is full.
        """
        self.write_by(name, lambda stream: stream.write(content))

    def write_by(self, name: str, write: Callable[[Any], object]) -> None:
        """Like write(), with the bytes that write(stream) writes.

        Raises:
            TransientError: the filesystem rejects it, for instance because it is full.
        """
        folder, _, file = self._path(name).rpartition("/")
        is_object = self.filesystem.type_name in _OBJECT_STORES
        target = f"{folder}/{file}" if is_object else f"{folder}/{_TEMPORARY}{uuid.uuid4().hex}-{file}"
        try:
            if not is_object:
                self.filesystem.create_dir(folder, recursive=True)
            # Not in a `with` block, which would complete the object even after an error.
            stream = self.filesystem.open_output_stream(target)
            write(stream)
            stream.close()
            if not is_object:
                if self.filesystem.type_name == "local":
                    # Otherwise a power failure may leave the name without its content.
                    _keep(target)
                self.filesystem.move(target, f"{folder}/{file}")
        except OSError as error:
            if not is_object:
                with suppress(OSError):
                    self.filesystem.delete_file(target)
            raise TransientError(f"{self._path(name)} could not be written: {error}", retryable=True) from error

    @staticmethod
    def is_temporary(name: str) -> bool:
        """Whether write_by() may have left a file of this name."""
        return name.startswith(_TEMPORARY)

    def clear(self, folder: str) -> None:
        """Removes what killed writers left in a subfolder, or in the folder itself ("")."""
        selector = fs.FileSelector(self._path(folder), allow_not_found=True)
        try:
            for info in self.filesystem.get_file_info(selector):
                if info.is_file and info.base_name.startswith(_TEMPORARY):
                    self.filesystem.delete_file(info.path)
        except (OSError, UnicodeError) as error:
            raise MachineError(f"{self._path(folder)} cannot be cleared: {error}") from error

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Holds the folder's lock on a local filesystem, one process at a time. It ends with the process.

        An object store has no lock: two runs would do the same work and write the same bytes.

        Raises:
            TransientError: another process holds the lock.
            MachineError: the folder is not writable.
        """
        if self.filesystem.type_name != "local":
            yield
            return
        try:
            os.makedirs(self.root, exist_ok=True)
            file = os.open(self._path(".lock"), os.O_RDWR | os.O_CREAT | _NO_LINK, 0o666)
        except OSError as error:
            raise MachineError(f"{self.root} cannot be written to: {error.strerror}") from error
        _held.add(file)
        try:
            if not _locked(file):
                raise TransientError(f"another run is writing to {self.root}; wait until it ends", retryable=True)
            yield
        finally:
            if file in _held:  # in a child, it is already closed
                _unlock(file)
                _close(file)


# Files of locks. A forked child inherits them and would keep the locks held while it lives.
_held: set[int] = set()


def _close(file: int) -> None:
    _held.remove(file)
    os.close(file)


def _close_all() -> None:
    for file in list(_held):
        _close(file)


in_child(_close_all)


def _keep(file: str) -> None:
    """Flushes a file to the disk."""
    opened = os.open(file, os.O_RDWR)
    try:
        os.fsync(opened)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):  # for filesystems without a disk
            raise
    finally:
        os.close(opened)


def _unlock(file: int) -> None:
    """Releases the lock, even if a child still has the file open."""
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_UN)


def _locked(file: int) -> bool:
    """Whether this process now holds the lock. The system releases it with the file."""
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
