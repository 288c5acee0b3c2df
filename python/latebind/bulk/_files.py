"""Embeds files of rows into shards with vectors, on an engine of the caller's choice: embed_files()."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from .._arguments import positive
from .._call import Work
from ..errors import CallerError
from ._batches import EmbedBatches
from ._columns import names_of
from ._engine import Engine
from ._inputs import InputFile, find, scan
from ._manifest import BEGUN, SKIPPED, VECTORS, agree, manifest_of
from ._report import Interrupted, Progress, Report, report_of
from ._shards import Job, ShardResult, check_columns, name_of
from ._single import SingleOutput, check_part, check_single, has_no_columns, is_single
from ._store import Store, locate

# About 25 MB of vectors with 384 numbers, or a few seconds of computation, which is the loss when a run is killed.
SHARD_ROWS = 16384
# Finished shards that are verified concurrently.
_LOOKS = 16


def _engine(name: str, options: dict[str, Any]) -> Engine:
    if name == "local":
        if options:
            raise CallerError(f"the local engine has no option '{next(iter(options))}'")
        return Engine()
    if name == "ray":
        from ._ray import RayEngine

        return RayEngine(**options)
    if name == "spark":
        from ._spark import SparkEngine

        return SparkEngine(**options)
    raise CallerError(f"there is no engine {name!r}; give 'local', 'ray' or 'spark'")


def embed_files(
    inputs: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    model: str | os.PathLike[str],
    text_column: str,
    *,
    id_column: str | None = None,
    engine: str = "local",
    engine_options: dict[str, Any] | None = None,
    shard_rows: int | None = None,
    allow_other_devices: bool = False,
    filesystem: Any = None,
    show_progress: bool = False,
    input_format: str | None = None,
    restart: bool = False,
    **arguments: Any,
) -> Report:
    """Embeds the rows of files into a folder.

    Writes OUTPUT/vectors/part-000000.parquet and so on, and skipped rows to OUTPUT/skipped. Another call does only what
    is missing. The bytes of the files do not depend on interruptions.

    Args:
        inputs: files (Parquet, Arrow IPC, CSV, TSV, JSON lines, lines) or folders of such files, as paths or URIs
            (s3://…, gs://…).
        output: a folder, as a path or URI; empty, missing, or from an earlier run with the same arguments. Or one file,
            OUTPUT.parquet, OUTPUT.npy (with ids in OUTPUT.npy.ids.jsonl) or OUTPUT.jsonl, which replaces an existing
            file once complete; until then the folder is OUTPUT.part.
        model, text_column: see EmbedBatches.
        id_column: the only column to keep beside the vectors; None keeps all.
        engine: "local", "ray" or "spark".
        engine_options: for "ray" see RayEngine (concurrency, num_cpus, resources), for "spark" see SparkEngine
            (session, tasks).
        shard_rows: rows of a shard, which is one file; 16,384 if None.
        allow_other_devices: permits shards computed by another device, precision or release.
        filesystem: the pyarrow.fs filesystem of the output; `output` is then a path in it.
        input_format: "csv", "tsv", "jsonl" or "txt", for files whose names do not determine the format.
        restart: discards what an interrupted run left, if the output is one file.
        show_progress: shows a progress line on the error stream, if that is a terminal.
        **arguments: see EmbedBatches: on_error, prompt_name, prompt, role, normalize, dimensions, vector_column,
            settings.

    Returns:
        a report on the whole output.

    Raises:
        DifferentRunError: the output was made with another input, model, device or setting; the message has the
            differences.
        RowError: with on_error="fail", a row has no usable text.
        CallerError: an input or a column does not exist.
        TransientError: another run uses the output; the output cannot be written; or another device answers.
        KeyboardInterrupt: the completed part was kept; the message says how much.
    """
    shard_rows = positive(shard_rows, "shard_rows") or SHARD_ROWS
    embed = EmbedBatches(model, text_column, **arguments)
    runs = _engine(engine, engine_options or {})
    store = Store(*locate(output, "the output")) if filesystem is None else Store(filesystem, os.fspath(output))
    single = store.root if is_single(store.filesystem, store.root) else None
    if single is not None:
        store = Store(store.filesystem, f"{single}.part")
    if isinstance(inputs, (str, bytes, os.PathLike)) or not isinstance(inputs, Iterable):
        inputs = [inputs]
    places = list(inputs)
    for place in places:
        of, path = locate(place, "the input")
        if of != store.filesystem:
            continue
        of_input, of_output = _real(of, path), _real(of, store.root)
        if single is not None and of_input == _real(of, single):
            raise CallerError(f"the output {os.fspath(output)} is the input; give another file")
        if f"{of_output}/".startswith(f"{of_input}/"):
            raise CallerError(f"the output {os.fspath(output)} is in the input {os.fspath(place)}; give another folder")
        if f"{of_input}/".startswith(f"{of_output}/"):
            raise CallerError(f"the input {os.fspath(place)} is in the output {os.fspath(output)}; give another folder")
    if store.filesystem.type_name == "local" and f"{_real(store.filesystem, store.root)}/".startswith(
        f"{os.path.realpath(embed.model)}/"
    ):
        raise CallerError(
            f"the output {os.fspath(output)} is in the folder of the model {embed.model}, which would change the model "
            "with each shard; give another folder"
        )
    if restart and single is None:
        raise CallerError(f"restart is for an output that is one file; remove the folder {os.fspath(output)} yourself")
    # These formats cannot hold other columns.
    is_alone = single is not None and has_no_columns(single)
    kept = text_column if is_alone and id_column is None else id_column
    files = _files(places, embed, kept, shard_rows, input_format)
    ids = _ids_of(files, id_column) if is_alone else None
    if is_alone:
        id_column = ids or text_column
    if single is not None:
        check_single(single, files, None if id_column is None else [id_column])
        check_part(store)
    with store.lock(), runs:
        if restart:
            store.remove_all()
        answers = runs.answers(embed)
        agree(store, manifest_of(files, embed, id_column, shard_rows, answers), allow_other_devices)
        for folder in ("", VECTORS, SKIPPED, BEGUN):
            store.clear(folder)
        job = Job(files, embed, id_column, shard_rows, store, None if allow_other_devices else answers)
        report = _run(job, runs, os.fspath(output), show_progress)
        if single is None:
            return report
        SingleOutput(job, single, job.empty(files[0].schema), ids).make()
        store.remove_all()
    store.remove_root()
    return report


def _ids_of(files: Sequence[InputFile], id_column: str | None) -> str | None:
    """Returns the column of ids; by default "id" if all files have it."""
    if id_column is not None:
        return id_column
    if not all(file.schema.names.count("id") == 1 for file in files):
        return None
    for file in files:
        check_columns(file.schema, ["id"])
    return "id"


def _real(filesystem: Any, path: str) -> str:
    """Returns the path without links and `..` on a local filesystem."""
    return os.path.realpath(path) if filesystem.type_name == "local" else path


def _files(
    inputs: Sequence[str | os.PathLike[str]],
    embed: EmbedBatches,
    id_column: str | None,
    shard_rows: int,
    input_format: str | None,
) -> list[InputFile]:
    files = []
    for place in find(inputs, input_format):
        file = scan(*place, embed.text_column, shard_rows)
        try:
            kept = None
            if id_column is not None:
                kept = [name for name in names_of(file.schema) if name in (id_column, embed.text_column)]
            embed.check(file.schema, kept)
            if id_column is not None and file.schema.names.count(id_column) != 1:
                raise CallerError(f"there is no column '{id_column}', or more than one")
            check_columns(file.schema, kept)
        except CallerError as error:
            error.message = f"{file.name}: {error.message}"
            raise
        files.append(file)
    return files


def _run(job: Job, engine: Engine, output: str, show_progress: bool) -> Report:
    there = set(job.store.names(VECTORS))
    present = [shard for shard in range(len(job)) if name_of(shard) in there]
    looked = _looked(job, present)
    finished = {result.shard for result in looked}
    missing = [shard for shard in range(len(job)) if shard not in finished]
    damaged = sum(name_of(shard) in there for shard in missing)

    total = sum(job.rows(shard) for shard in range(len(job)))
    start = time.monotonic()
    now: list[ShardResult] = []
    if missing:
        try:
            with Progress(total, total - sum(map(job.rows, missing)), show_progress) as progress:
                now.extend(engine.run(job, missing, progress.add))
        except KeyboardInterrupt as error:
            written = finished | job.written | {result.shard for result in now}
            kept = sum(map(job.rows, written)) + sum(job.begun_rows.values())
            raise Interrupted(f"{kept} of {total} rows are kept in {job.store.root}") from error
        # Files that a killed worker left incomplete.
        for folder in (VECTORS, SKIPPED):
            job.store.clear(folder)
    job.store.remove_folder(BEGUN)
    return report_of(output, looked, now, damaged, time.monotonic() - start)


def _looked(job: Job, shards: Sequence[int]) -> list[ShardResult]:
    """Returns the results of finished shards. Reads them concurrently, because an object store is slow and there may be
    tens of thousands."""

    def look(first: int) -> list[ShardResult]:
        found = (job.finished(shard) for shard in shards[first::_LOOKS])
        return [result for result in found if result is not None]

    works = [Work(partial(look, first)) for first in range(min(_LOOKS, len(shards)))]
    try:
        for work in works:
            work.start()
        return [result for work in works for result in work.result()]
    finally:
        for work in works:
            work.end()
