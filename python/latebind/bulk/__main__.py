"""Runs embed_files() as a command: python -m latebind.bulk."""

from __future__ import annotations

import argparse
import inspect
import json
import os
import sys
from collections.abc import Iterable
from typing import Any

from .. import __version__
from ..errors import CallerError, LatebindError

_DESCRIPTION = """\
Embeds the rows of files. The output is OUT/vectors/part-000000.parquet and so on, or one file, with the columns of
the input and a column of vectors.
Running it again computes only what is missing. The report goes to standard output.
"""
_EPILOG = """\
IN and OUT are paths or URIs of object stores (s3://BUCKET/FOLDER, gs://BUCKET/FOLDER). The extension of IN is its
format: .parquet, .arrow, .feather, .csv and .tsv (all columns are strings), .jsonl, .txt (one row per line, in the
column of texts); the last four may be followed by .gz. Exit status: 0 success; 1 failure, run again to continue;
2 the arguments or files are invalid, or OUT belongs to other arguments; 130 interrupted (Ctrl-C), run again to
continue.
"""


def _pair(text: str) -> tuple[str, str]:
    name, is_there, value = text.partition("=")
    if not is_there:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=VALUE")
    return name, value


def _resource(text: str) -> tuple[str, float]:
    name, value = _pair(text)
    try:
        return name, float(value)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=NUMBER") from None


def _pool(text: str) -> int | tuple[int, int]:
    least, is_range, most = text.partition(",")
    try:
        return (int(least), int(most)) if is_range else int(least)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is neither a number of actors nor MIN,MAX") from None


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m latebind.bulk",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("inputs", metavar="IN", nargs="+", help="a file, or a folder with all files below it")
    add(
        "-o",
        "--output",
        metavar="OUT",
        required=True,
        help="a folder, or one file: FILE.parquet, FILE.npy or FILE.jsonl",
    )
    add("--model", required=True, help="a folder, a bundle, or a name on the hub")
    add("--text-column", metavar="NAME", default="text", help="(%(default)s)")
    add("--id-column", metavar="NAME", help="keep only this column and the vectors (default: all columns)")
    add("--vector-column", metavar="NAME", default="vector")
    add(
        "--on-error",
        choices=["fail", "skip"],
        default="fail",
        help="for a row without a usable text: fail, or write it to OUT/skipped with the reason",
    )
    add("--shard-rows", metavar="N", type=int, help="rows of a shard (default: 16384)")
    add("--prompt-name", metavar="NAME", help="name of the model's prompt to put before each text")
    add("--prompt", metavar="TEXT", help="text to put before each text instead; '' for none")
    add(
        "--role",
        choices=["query", "document"],
        help="whether the texts are queries or documents, for a model that treats them differently",
    )
    add("--task", metavar="NAME", help="the model's task for the texts, for a model that has several")
    add("--normalize", action="store_true", help="scale vectors to length 1, even if the model does not normalise")
    add("--dimensions", metavar="N", type=int, help="keep only the first N numbers of each vector")
    add("--device", help="devices to try in this order, such as 'npu,cpu'")
    add("--precision", help="f32, bf16, f16, int8 or fast")
    add(
        "--set",
        metavar="NAME=VALUE",
        type=_pair,
        action="append",
        default=[],
        dest="settings",
        help="any other setting of docs/configuration.md, such as threads=4; may be repeated",
    )
    add(
        "--allow-other-devices",
        action="store_true",
        help="allow different devices, precisions or releases for different shards",
    )
    add("--engine", choices=["local", "ray", "spark"], default="local")
    add("--ray-actors", metavar="N|MIN,MAX", type=_pool, help="size of the pool of actors (ray)")
    add("--ray-cpus", metavar="N", type=float, help="of an actor (ray)")
    add(
        "--ray-resource",
        metavar="NAME=N",
        type=_resource,
        action="append",
        help="resources of a node that an actor takes, such as intel_npu=1; may be repeated (ray)",
    )
    add("--input-format", choices=["csv", "tsv", "jsonl", "txt"], help="format of IN, if its name does not show it")
    add("--restart", action="store_true", help="for an output that is one file: discard what an interrupted run left")
    add("-q", "--quiet", action="store_true", help="hide progress and report")
    add("--json", action="store_true", help="print the report as JSON")
    add("--version", action="version", version=f"latebind {__version__}")
    return parser


def _engine_options(given: argparse.Namespace) -> dict[str, Any]:
    options = {
        "concurrency": given.ray_actors,
        "num_cpus": given.ray_cpus,
        "resources": dict(given.ray_resource) if given.ray_resource else None,
    }
    return {name: value for name, value in options.items() if value is not None}


def _check_settings(names: Iterable[str], *functions: Any) -> None:
    """Rejects names that are arguments of these functions, because they have separate options.

    Raises:
        CallerError: a name is such an argument.
    """
    taken = {
        name
        for function in functions
        for name, each in inspect.signature(function).parameters.items()
        if each.kind is not inspect.Parameter.VAR_KEYWORD
    }
    for name in names:
        if name in taken:
            raise CallerError(f"--set {name}: '{name}' is not a setting of the model")


def _embed(given: argparse.Namespace) -> Any:
    # Imported late, because help does not need it.
    from . import EmbedBatches, embed_files

    _check_settings(dict(given.settings), embed_files, EmbedBatches.__init__)
    settings = {"device": given.device, "precision": given.precision, **dict(given.settings)}
    return embed_files(
        given.inputs,
        given.output,
        given.model,
        given.text_column,
        id_column=given.id_column,
        engine=given.engine,
        engine_options=_engine_options(given),
        shard_rows=given.shard_rows,
        allow_other_devices=given.allow_other_devices,
        show_progress=not given.quiet,
        input_format=given.input_format,
        restart=given.restart,
        vector_column=given.vector_column,
        on_error=given.on_error,
        prompt_name=given.prompt_name,
        prompt=given.prompt,
        role=given.role,
        task=given.task,
        normalize=given.normalize,
        dimensions=given.dimensions,
        **{name: value for name, value in settings.items() if value is not None},
    )


def _code_of(error: LatebindError) -> int:
    if not isinstance(error, CallerError):
        return 1
    from . import RowError

    return 1 if isinstance(error, RowError) else 2


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    try:
        report = _embed(given)
    except LatebindError as error:
        print(f"latebind.bulk: {error}", file=sys.stderr)
        return _code_of(error)
    except KeyboardInterrupt as error:
        kept = str(error) or "nothing was embedded"
        print(f"latebind.bulk: interrupted: {kept}; run the same command again to continue", file=sys.stderr)
        return 130
    if given.quiet:
        return 0
    try:
        print(json.dumps(report.as_dict(), indent=2) if given.json else report, flush=True)
    except OSError as error:
        print(f"latebind.bulk: finished, but cannot write the report: {error}", file=sys.stderr)
        # The rest of the buffer would fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
