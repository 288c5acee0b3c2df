"""Where output goes: a folder here, on a network or in an object store, in which files appear whole or not at all."""

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

# There an object is seen once it is complete, and a rename is a copy.
_OBJECT_STORES = ("s3", "gcs", "abfs")
_TEMPORARY = ".part-"
# A link would make a lock in a place that another user chose.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def locate(place: str | os.PathLike[str], what: str) -> tuple[Any, str]:
    """The filesystem and the path in it, of a path here or a URI such as s3://bucket/folder.

    Raises:
        CallerError: a URI that pyarrow does not know, or a name that is not UTF-8. CallerTypeError: no path.
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
    """A folder of a filesystem of pyarrow. Picklable. Any number of processes may write the same file: one is whole."""

    filesystem: Any
    root: str

    def _path(self, name: str) -> str:
        return f"{self.root}/{name}" if name else self.root

    def remove_all(self) -> None:
        """Removes everything in it, but for its lock. Whoever calls it knows that all of it is Latebind's.

        Raises:
            TransientError: the filesystem refuses.
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
        """The files in a folder of it, without those that begin with a dot, sorted.

        Raises:
            MachineError: it cannot be looked through, for instance because it is a file.
        """
        return sorted(
            info.base_name for info in self._listed(folder) if info.is_file and not info.base_name.startswith(".")
        )

    def entries(self, folder: str) -> dict[str, str]:
        """What is in a folder of it, also what begins with a dot: each name with "file", "folder", or "link", which is
        none of the two here.

        Raises:
            MachineError: it cannot be looked through.
        """
        is_local = self.filesystem.type_name == "local"
        return {
            info.base_name: "link" if is_local and os.path.islink(info.path) else "file" if info.is_file else "folder"
            for info in self._listed(folder)
        }

    def _listed(self, folder: str) -> list[fs.FileInfo]:
        """What is in a folder of it; nothing where there is no such folder."""
        selector = fs.FileSelector(self._path(folder), allow_not_found=True)
        try:
            return list(self.filesystem.get_file_info(selector))
        except (OSError, UnicodeError) as error:
            raise MachineError(f"{self._path(folder)} cannot be listed: {error}") from error

    def has(self, name: str) -> bool:
        is_file: bool = self.filesystem.get_file_info(self._path(name)).is_file
        return is_file

    def read(self, name: str) -> bytes | None:
        """The file's bytes; None if there is none."""
        if not self.has(name):
            return None
        with self.filesystem.open_input_stream(self._path(name)) as stream:
            content: bytes = stream.read()
        return content

    def open(self, name: str) -> Any:
        """The file, to be read at any place."""
        return self.filesystem.open_input_file(self._path(name))

    def remove(self, name: str) -> None:
        """Removes a file.

        Raises:
            TransientError: the filesystem refuses.
        """
        try:
            self.filesystem.delete_file(self._path(name))
        except FileNotFoundError:
            pass  # another one has
        except OSError as error:
            raise TransientError(f"{self._path(name)} could not be removed: {error}", retryable=True) from error

    def remove_root(self) -> None:
        """Removes the folder, where only its lock is left in it."""
        if self.filesystem.type_name != "local":
            return
        with suppress(OSError):
            os.remove(self._path(".lock"))
        with suppress(OSError):
            os.rmdir(self.root)

    def remove_folder(self, folder: str) -> None:
        """Removes a folder of it with all that is in it, where there is one.

        Raises:
            TransientError: the filesystem refuses.
        """
        path = self._path(folder)
        try:
            if self.filesystem.get_file_info(path).type == fs.FileType.Directory:
                self.filesystem.delete_dir(path)
        except OSError as error:
            raise TransientError(f"{path} could not be removed: {error}", retryable=True) from error

    def write(self, name: str, content: Any) -> None:
        """Puts a file there, whole or not at all, in the place of what was there.

        Raises:
            TransientError: the filesystem refuses, as when it is full.
        """
        self.write_by(name, lambda stream: stream.write(content))

    def write_by(self, name: str, write: Callable[[Any], object]) -> None:
        """The same for what write(stream) writes.

        Raises:
            TransientError: the filesystem refuses, as when it is full.
        """
        folder, _, file = self._path(name).rpartition("/")
        is_object = self.filesystem.type_name in _OBJECT_STORES
        target = f"{folder}/{file}" if is_object else f"{folder}/{_TEMPORARY}{uuid.uuid4().hex}-{file}"
        try:
            if not is_object:
                self.filesystem.create_dir(folder, recursive=True)
            # Not by `with`: after an error it would complete an object that is not.
            stream = self.filesystem.open_output_stream(target)
            write(stream)
            stream.close()
            if not is_object:
                if self.filesystem.type_name == "local":
                    # Else the name may be there after a power cut, and not what it stands for.
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
        """Removes what writers that were ended have left in a folder of it, or in itself ("")."""
        selector = fs.FileSelector(self._path(folder), allow_not_found=True)
        try:
            for info in self.filesystem.get_file_info(selector):
                if info.is_file and info.base_name.startswith(_TEMPORARY):
                    self.filesystem.delete_file(info.path)
        except (OSError, UnicodeError) as error:
            raise MachineError(f"{self._path(folder)} cannot be cleared: {error}") from error

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Held by one process at a time, where the folder is one of this system's; it ends with the process.

        In an object store there is none: two runs there do the same work, and write the same bytes.

        Raises:
            TransientError: another process has it. MachineError: the folder cannot be written to.
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
            if file in _held:  # in a child it is closed already
                _unlock(file)
                _close(file)


# Files of locks. A process that fork() makes has them as well, and would hold the locks for as long as it lives.
_held: set[int] = set()


def _close(file: int) -> None:
    _held.remove(file)
    os.close(file)


def _close_all() -> None:
    for file in list(_held):
        _close(file)


in_child(_close_all)


def _keep(file: str) -> None:
    """Has the system write a file to its disk."""
    opened = os.open(file, os.O_RDWR)
    try:
        os.fsync(opened)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):  # of what has no disk
            raise
    finally:
        os.close(opened)


def _unlock(file: int) -> None:
    """Gives the lock back, also where a child has the file and has not closed it yet."""
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(file, fcntl.LOCK_UN)


def _locked(file: int) -> bool:
    """Whether this process has the lock now; the system gives it back with the file."""
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
