"""The command line itself: help, version, and what is said about wrong lines. Nothing here loads a vendor library."""

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import termios
import time

import pytest
from support import BOTH_GONE, PROGRAM, TINY, bad, good

COMMANDS = ["devices", "doctor", "serve", "embed", "search", "rerank", "run", "export", "tokens", "models", "models rm", "pull", "warm",
            "config", "cache", "cache list", "compile", "completion", "inspect", "unpack", "verify", "bench", "bench embed"]


def test_version_is_one_line_on_stdout():
    done = good("--version")
    assert re.fullmatch(r"latebind \d+\.\d+\.\d+\n", done.stdout)
    assert done.stderr == ""


def test_capital_v_is_version_as_well():
    assert good("-V").stdout == good("--version").stdout
    assert "-V, --version" in good("--help").stdout


def test_a_variable_names_the_model_for_every_command_that_takes_one(tmp_path):
    texts = tmp_path / "notes.txt"
    texts.write_text("a cat\na dog\n")
    env = {"LATEBIND_MODEL": str(TINY)}
    by_line = good("embed", TINY, texts, "--device", "native").stdout
    assert good("embed", "--device", "native", input="a cat\na dog\n", env=env).stdout == by_line
    assert good("search", texts, "--query", "a cat", "-k", "1", "--device", "native", env=env).stdout.split()[-2:] == ["a", "cat"]
    assert good("tokens", "--text", "a cat", env=env).stdout == good("tokens", TINY, "--text", "a cat").stdout
    # As for serve, with a name for requests.
    assert good("tokens", "--text", "a cat", env={"LATEBIND_MODEL": f"tiny={TINY}"}).stdout
    assert "several models" in bad(2, "tokens", "--text", "x", env={"LATEBIND_MODEL": f"{TINY},{TINY}"})
    for command in ["embed", "search", "rerank", "run", "export", "tokens", "pull", "warm", "compile", "verify", "bench embed"]:
        assert "or LATEBIND_MODEL" in bad(2, *command.split(), *(["--query=x"] if command in ("search", "rerank") else [])), command
    # An argument comes first, and of a file that is no model the line says what is missing.
    line = bad(1, "embed", texts, env=env)
    assert f"if it is a FILE, the MODEL is missing before it: MODEL {texts}" in line
    assert "the MODEL is missing" in bad(1, "tokens", texts)
    # With a name, it was meant to be the model.
    for by_name in (["-m", texts], [f"--model={texts}"]):
        assert "is missing" not in bad(1, "embed", *by_name, input="a\n")
        assert "is missing" not in bad(1, "tokens", *by_name, input="a\n")
    assert "is missing" not in bad(1, "embed", env={"LATEBIND_MODEL": str(texts)}, input="a\n")


def test_help_lists_every_command():
    text = good("--help").stdout
    for command in [c for c in COMMANDS if " " not in c]:
        assert re.search(rf"^  {command} +\w", text, re.MULTILINE), text
    assert "Exit status" in text


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_command_has_help_that_fits_a_terminal(command):
    done = good(*command.split(), "--help")
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert any(line.startswith(f"Usage: latebind {command}".strip()) for line in lines), done.stdout
    assert max(map(len, lines)) < 80, max(lines, key=len)
    # Each option says more than its name, and each heading stands once.
    for at, line in enumerate(lines):
        if re.match(r"  -", line):
            assert lines[at + 1].startswith("        "), line
    headings = [line for line in lines if re.match(r"[A-Z].*:$", line)]
    assert len(set(headings)) == len(headings), headings


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_h_is_one_screen(command):
    done = good(*command.split(), "-h")
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[0].startswith("Usage: latebind " + command)
    assert f"latebind {command}".strip() + " --help" in lines[-1]
    assert len(lines) <= 24
    assert max(map(len, lines)) < 80, done.stdout


def test_the_model_is_the_first_argument_of_every_command_that_takes_one():
    for command in ["embed", "search", "rerank", "run", "export", "tokens", "pull", "warm", "compile", "verify", "bench embed"]:
        lines = good(*command.split(), "-h").stdout.splitlines()
        assert lines[0].startswith(f"Usage: latebind {command} MODEL"), lines[0]
        assert "-m, --model" in good(*command.split(), "--help").stdout
    assert "[MODEL...]" in good("serve", "-h").stdout


@pytest.mark.parametrize("help", ["-h", "--help"])
def test_a_command_of_an_example_that_is_too_long_goes_on_behind_a_backslash(help):
    text = good("search", help).stdout
    assert "\\\n" in text.partition("Examples:")[2]
    joined = re.sub(r" \\\n +", " ", text)
    assert "--rerank cross-encoder/ms-marco-MiniLM-L6-v2 --query 'how do I open a file' --type md notes\n" in joined


def test_help_is_as_wide_as_the_terminal():
    widths = {}
    for columns in (50, 90):
        main, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([str(PROGRAM), "devices", "--help"], stdout=terminal, stderr=terminal, stdin=subprocess.DEVNULL)
        os.close(terminal)
        text = b""
        try:
            while piece := os.read(main, 65536):
                text += piece
        except OSError:  # the other end is closed
            pass
        assert process.wait() == 0
        os.close(main)
        widths[columns] = max(map(len, text.decode().splitlines()))
    assert 40 < widths[50] < 50 and 80 < widths[90] < 90, widths


@pytest.mark.parametrize("command", ["embed", "search", "bench embed", "run"])
def test_options_with_a_value_tell_their_default(command):
    text = good(*command.split(), "--help").stdout
    options = re.findall(r"^  (-[^\n]* [A-Z][^\n]*)\n((?:        [^\n]*\n)+)", text, re.MULTILINE)
    assert len(options) > 8
    for option, words in options:
        repeated = "several times" in words.replace("\n        ", " ")
        assert "default" in words or "(required)" in option or repeated, option


@pytest.mark.parametrize(
    "line, words",
    [
        ([], ["no command"]),
        (["emebd"], ["unknown command 'emebd'", "did you mean embed?", "devices"]),
        (["embed"], ["embed: ", "MODEL", "--model", "required", "latebind embed --help"]),
        (["embed", "--modle", "x"], ["embed: ", "unknown option '--modle'", "did you mean --model?"]),
        (["--device", "cpu", "embed", "x"], ["latebind: '--device' is an option of embed: write it after that word"]),
        (["-q", "embed", "x"], ["latebind: '-q' is an option of embed: write it after that word"]),
        (["help", "embed"], ["latebind: unknown command 'help' (did you mean --help?)", "for help, run `latebind --help`"]),
        (["version"], ["unknown command 'version' (did you mean --version?)"]),
        (["embed", "x", "--device", "cuda"], ["unknown device 'cuda' (did you mean gpu?)", "openvino"]),
        (["embed", "x", "--device", "mps"], ["unknown device 'mps' (did you mean gpu?)"]),
        (["embed", "x", "--device", "gpu:0"], ["'gpu:0'", "`latebind devices`"]),
        (["embed", "x", "--device", "cuda:0"], ["'cuda:0'", "`latebind devices`"]),
        (["embed", "--model", "x", "--nonsense"], ["unknown option '--nonsense'"]),
        (["search", "--model", "x", "--query", "x", "a.txt", "--top-k", "3"], ["unknown option '--top-k'", "did you mean -k?"]),
        (["serve", "--prot", "8080"], ["unknown option '--prot'", "did you mean --port?"]),
        (["serve", "--tls-certificate", "x"], ["unknown option '--tls-certificate'", "did you mean --tls-cert?"]),
        (["embed", "--out", "x"], ["unknown option '--out'", "did you mean --output?"]),
        (["embed", "-model", "x"], ["unknown option '-model'", "did you mean --model?"]),
        (["search", "--query", "x", "a.txt"], ["FILE is required", "'a.txt' is taken for MODEL"]),
        (["warm", "--model", "x", "y"], ["unexpected argument 'y'"]),
        (["embed", "--model", "x", "--precision", "f33"], ["unknown precision 'f33'", "f32", "bf16"]),
        (["embed", "--model", "x", "--device", "nup"], ["unknown device 'nup'", "did you mean npu?", "openvino"]),
        (["embed", "--model", "x", "--device", "openvnio:CPU"], ["did you mean openvino?"]),
        (["embed", "--model", "x", "--output-format", "np"], ["unknown output format 'np'", "did you mean npy?"]),
        (["embed", "--model", "x", "--input-format", "xml"], ["unknown input format 'xml'", "jsonl", "csv"]),
        (["embed", "--model", "x", "--threads", "-1"], ["--threads", "whole number from 0"]),
        (["embed", "--model", "x", "--threads", "two"], ["--threads", "'two'"]),
        (["embed", "--model", "x", "--batch-tokens", "-1"], ["--batch-tokens", "from 0"]),
        (["embed", "--model", "x", "--batch-tokens", "99999999999999999999"], ["--batch-tokens"]),
        (["embed", "--model", "x", "--property", "KEY"], ["KEY=VALUE"]),
        (["embed", "--model", "x", "--model", "y"], ["--model is given 2 times, but takes one value"]),
        (["embed", "--model", "x", "--device", "a", "--device", "b", "--device", "c"],
         ["--device is given 3 times, but takes one value; several devices to try are one list: --device FIRST,SECOND"]),
        (["search", "--model", "x", "FILE"], ["--query"]),
        (["search", "--model", "x", "--query", "q"], ["FILE"]),
        (["search", "--model", "x", "--query", "q", "-k", "0", "FILE"], ["-k", "from 1"]),
        (["embed", "--model", "x", "-o", ""], ["-o is empty"]),
        (["embed", "--model", "x", "--config", ""], ["--config is empty"]),
        (["run", "--model", "x", "--input", "x=a", "--input", "x=b"], ["--input", "'x' is given twice"]),
        (["run", "--model", "x", "--shape", "x=1", "--shape", "x=2"], ["--shape", "'x' is given twice"]),
        (["run"], ["run: ", "--model"]),
        (["run", "--model", "x", "--input", "x.npy"], ["NAME="]),
        (["run", "--model", "x", "--shape", "x=-1x64"], ["--shape", "'-1'"]),
        (["run", "--model", "x", "--shape", "a=b=1xtwo"], ["--shape", "'two'"]),
        (["export", "--model", "x"], ["--output"]),
        (["bench"], ["bench: "]),
        (["bench", "embed", "--model", "x"], ["bench embed: ", "FILE"]),
        (["devices", "more"], ["devices: ", "more"]),
    ],
)
def test_a_wrong_line_is_answered_with_one_line_and_code_2(line, words):
    said = bad(2, *line, env=BOTH_GONE)
    for word in words:
        assert word in said, said


@pytest.mark.parametrize("command", ["list", "clear", "verify"])
def test_a_wrong_setting_is_a_wrong_line_for_the_cache_as_well(command, tmp_path):
    assert "LATEBIND_DEVISE" in bad(2, "cache", command, env={"LATEBIND_DEVISE": "1"})
    (tmp_path / "config.toml").write_text("devise = 1\n")
    assert "devise" in bad(2, "cache", command, "--config", tmp_path / "config.toml")


def test_the_program_is_there():
    assert PROGRAM.is_file()


def test_bash_offers_what_the_program_knows(tmp_path):
    script = tmp_path / "latebind"
    script.write_text(good("completion", "bash").stdout)

    def offered(*words, options=":"):
        line = f"source {script}; {options}; COMP_WORDS=({PROGRAM} {' '.join(map(repr, words))}); COMP_CWORD={len(words)}; _latebind; " \
               'printf "%s\\n" "${COMPREPLY[@]}"'
        return subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True, timeout=60).stdout.split()

    assert offered("emb") == ["embed"]
    assert "--dimensions" in offered("embed", "--d") and "--device" in offered("embed", "--d")
    assert offered("embed", "m", "--output-format", "n") == ["npy"]
    assert offered("embed", "m", "--device", "") == ["auto", "npu", "gpu", "cpu", "openvino", "onnxruntime", "native"]
    assert offered("embed", "m", "--device", "npu,c") == ["npu,cpu"]
    assert offered("embed", "m", "--precision", "b") == ["bf16"]
    assert offered("serve", "m", "--log-level", "w") == ["warning"]
    assert offered("embed", "") == []
    # Descriptions have what the shell takes for patterns of file names.
    assert offered("serve", "--", options="shopt -s failglob") == offered("serve", "--") != []
    assert "--listen" in offered("serve", "--", options="shopt -s nullglob")
    assert "did you mean bash?" in bad(2, "completion", "bsh")


def test_completion_opens_no_vendors_library():
    # Where tracing shows every file that is opened.
    if not shutil.which("strace"):
        pytest.skip("strace is not installed")
    line = ["strace", "-f", "-e", "trace=openat,open", str(PROGRAM), "complete", "--", "embed", "m", "--device", ""]
    done = subprocess.run(line, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and "openvino" in done.stdout
    assert "libopenvino" not in done.stderr and "libonnxruntime" not in done.stderr


def test_zsh_offers_what_the_program_knows(tmp_path):
    """At a terminal, as a user has it, with zsh's own completion."""
    if not shutil.which("zsh"):
        pytest.skip("zsh is not installed")
    (tmp_path / "_latebind").write_text(good("completion", "zsh").stdout)
    (tmp_path / "latebind").symlink_to(PROGRAM)
    (tmp_path / ".zshrc").write_text(
        f"""PS1=; unset zle_bracketed_paste; path=({tmp_path} $path); fpath=({tmp_path} $fpath)
autoload -Uz compinit && compinit -u -D
zstyle ':completion:*' list-prompt ''; LISTMAX=1000; print ready
""")
    env = os.environ | {"ZDOTDIR": str(tmp_path), "HOME": str(tmp_path), "TERM": "dumb", "COLUMNS": "200"}

    def shown(line, words):
        """What the terminal shows of the line and two tabs, up to all of the words or for 30 seconds."""
        main, terminal = pty.openpty()
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 60, 200, 0, 0))
        shell = subprocess.Popen(["zsh", "-i"], stdin=terminal, stdout=terminal, stderr=terminal, env=env, start_new_session=True)
        os.close(terminal)
        text, sent, end = "", False, time.monotonic() + 30
        while time.monotonic() < end and not (sent and all(word in text for word in words)):
            if select.select([main], [], [], 0.1)[0]:
                text += os.read(main, 65536).decode(errors="replace")
            if not sent and "ready" in text:
                os.write(main, line.encode() + b"\t\t")
                sent, text = True, ""
        shell.kill()
        shell.wait()
        os.close(main)
        missing = [word for word in words if word not in text]
        assert not missing, text

    shown("latebind emb", ["latebind embed "])
    shown("latebind embed m --device ", ["npu", "openvino", "native"])
    shown("latebind embed m --dim", ["--dimensions"])
    # Descriptions have colons, which separate word and description for zsh.
    shown("latebind s", ["Serves models over HTTP", "Finds the lines"])


def test_fish_offers_what_the_program_knows(tmp_path):
    if not shutil.which("fish"):
        pytest.skip("fish is not installed")
    (tmp_path / "latebind.fish").write_text(good("completion", "fish").stdout)
    (tmp_path / "latebind").symlink_to(PROGRAM)

    def offered(line):
        command = f"set -x PATH {tmp_path} $PATH; source {tmp_path}/latebind.fish; complete -C {line!r}"
        done = subprocess.run(["fish", "--no-config", "-c", command], capture_output=True, text=True, check=True, timeout=60,
                              cwd=tmp_path, env=os.environ | {"HOME": str(tmp_path)})
        return [one.split("\t") for one in done.stdout.splitlines()]

    assert [one[0] for one in offered("latebind emb")] == ["embed"]
    assert {"auto", "npu", "gpu", "cpu"} <= {one[0] for one in offered("latebind embed m --device ")}
    assert {"npu,cpu"} == {one[0] for one in offered("latebind embed m --device npu,c")}
    words = dict(one for one in offered("latebind serve --l"))
    assert "Addresses to listen at" in words["--listen"]


def test_every_command_has_a_manual_page(tmp_path):
    good("manual-pages", tmp_path)
    for command in COMMANDS:
        page = (tmp_path / f"latebind-{command.replace(' ', '-')}.1").read_text()
        # Requests are the few that are meant.
        assert set(re.findall(r"^[.'](\w*)", page, re.MULTILINE)) <= {"TH", "SH", "TP", "PP", "nf", "fi"}
        assert page.isascii(), "groff takes it as it is"
    assert "latebind\\-embed" in (tmp_path / "latebind-embed.1").read_text()
    assert not (tmp_path / "latebind-complete.1").exists()


@pytest.mark.parametrize("command", ["search", "rerank"])
def test_an_empty_query_is_refused(command, tmp_path):
    texts = tmp_path / "notes.txt"
    texts.write_text("a cat\n")
    assert "--query is empty: give the text" in bad(2, command, TINY, "--query", "", texts)


def test_members_of_reports_are_not_listed_in_help():
    """They stand in docs/reports.md, which app/reports/ determines; a list in the help would be a second one."""
    assert "schema_version" not in good("inspect", "--help").stdout
