"""latebind cache, and what embed keeps: the same vectors, and a start that only gets slower when the cache is broken."""

import json
import os
import struct
import time
import zipfile
import zlib

from support import MODEL, TINY, bad, good, run, with_small_files

TEXT = "A short text to embed.\n"


def embed(folder, *more, **options):
    return good("-v", "embed", "-q", "--model", MODEL, "--device", "openvino:CPU", "--cache-folder", folder, *more,
                input=TEXT, **options)


def listed(folder):
    return json.loads(good("cache", "list", "--json", "--cache-folder", folder).stdout)


def is_from_cache(done):
    return "taken from the cache" in done.stderr


def test_the_second_start_takes_what_the_first_compiled(tmp_path):
    folder = tmp_path / "compiled"
    plain = embed(folder, "--no-cache")
    assert not folder.exists()
    first, second = embed(folder), embed(folder)
    assert not is_from_cache(first) and is_from_cache(second)
    assert plain.stdout == first.stdout == second.stdout
    (entry,) = listed(folder)["entries"]
    assert entry["model"] == MODEL.name and entry["device"] == "openvino:CPU" and entry["precision"] == "f32"
    assert entry["damage"] == "" and entry["bytes"] > 1 << 20
    assert not is_from_cache(embed(folder, "--threads", "1")), "another option is another entry"
    assert len(listed(folder)["entries"]) == 2

    assert "all 2" in good("cache", "verify", "--cache-folder", folder).stdout
    file = folder / entry["file"]
    with open(file, "r+b") as damaged:
        damaged.seek(-100, os.SEEK_END)
        byte = damaged.read(1)
        damaged.seek(-100, os.SEEK_END)
        damaged.write(bytes([byte[0] ^ 1]))
    done = run("cache", "verify", "--cache-folder", folder)
    assert done.returncode == 1 and "1 of 2" in done.stdout and "payload was changed" in done.stdout
    assert not file.exists()
    again = embed(folder)
    assert again.stdout == plain.stdout and not is_from_cache(again)

    freed = json.loads(good("cache", "clear", "--json", "--cache-folder", folder).stdout)
    assert freed["entries"] == 2 and freed["bytes"] > 2 << 20
    assert listed(folder)["entries"] == []


def test_where_nothing_can_be_kept_the_answer_is_the_same(tmp_path):
    (tmp_path / "file").write_text("")
    assert json.loads(embed(tmp_path / "file" / "compiled").stdout)["index"] == 0


def test_a_limit_on_file_sizes_costs_the_cache_and_no_answer(tmp_path):
    plain = embed(tmp_path / "none", "--no-cache")
    limited = embed(tmp_path / "compiled", preexec_fn=with_small_files)
    assert limited.stdout == plain.stdout
    assert listed(tmp_path / "compiled")["entries"] == []
    assert not list((tmp_path / "compiled").glob(".latebind-*"))


def test_an_empty_cache_is_no_error(tmp_path):
    assert "0 compiled models" in good("cache", "list", "--cache-folder", tmp_path / "none").stdout
    assert good("cache", "verify", "--cache-folder", tmp_path / "none").returncode == 0
    assert "removed 0" in good("cache", "clear", "--cache-folder", tmp_path / "none").stdout


def test_wrong_lines_are_answered():
    assert "cache" in bad(2, "cache")
    assert "true or false" in bad(2, "embed", "--model", MODEL, "--cache=maybe")


def repaired(bundle, name, out):
    """A copy of the bundle with another content of one file, and every CRC-32 as it should be."""
    data = bytearray(bundle.read_bytes())
    with zipfile.ZipFile(bundle) as archive:
        (info,) = [info for info in archive.infolist() if info.filename.endswith(name)]
        end_of_header = info.header_offset + 30
        begin = end_of_header + sum(struct.unpack("<HH", data[info.header_offset + 26:end_of_header]))
        for at in range(begin + info.file_size // 2, begin + info.file_size - 3, 4):
            data[at + 2] ^= 0x10
        before = struct.pack("<I", info.CRC)
        after = struct.pack("<I", zlib.crc32(data[begin:begin + info.file_size]))
    assert data.count(before) == 2, "in the local header and in the directory"
    out.write_bytes(bytes(data).replace(before, after))
    return out


def test_a_forged_bundle_does_not_speak_for_the_genuine_one(tmp_path):
    good("compile", TINY, "--target", "cpu", "-o", tmp_path / "genuine.lbundle")
    genuine = tmp_path / "genuine.lbundle"
    forged = repaired(genuine, "model.safetensors", tmp_path / "forged.lbundle")
    # A file that was changed less than two seconds ago is never kept.
    while time.time() - forged.stat().st_ctime < 2.1:
        time.sleep(0.1)

    def vectors(bundle, *more):
        done = good("-v", "embed", "-q", "--model", bundle, "--device", "onnxruntime:CPU", *more, input=TEXT)
        return done, done.stdout

    folder = tmp_path / "compiled"
    _, right = vectors(genuine, "--no-cache")
    for _ in range(2):
        done, wrong = vectors(forged, "--cache-folder", folder)
        assert wrong != right and "was changed" in done.stderr and not is_from_cache(done)
        assert listed(folder)["entries"] == []
    done, answer = vectors(genuine, "--cache-folder", folder)
    assert answer == right and not is_from_cache(done)
    done, answer = vectors(genuine, "--cache-folder", folder)
    assert answer == right and is_from_cache(done)
    # What stands under the digest is what the digest is of.
    done, answer = vectors(forged, "--cache-folder", folder)
    assert answer == right and is_from_cache(done)

    for name in ["model.safetensors", "model.blob", "model.onnx", "tokenizer.json"]:
        done = run("inspect", "--verify", repaired(genuine, name, tmp_path / "changed.lbundle"))
        assert done.returncode == 1 and "was changed" in done.stdout, name
    assert run("inspect", "--verify", genuine).returncode == 0


def test_a_folder_that_others_may_write_to_is_not_used(tmp_path):
    folder = tmp_path / "compiled"
    first = embed(folder)
    folder.chmod(0o777)
    for _ in range(2):
        done = embed(folder)
        assert done.stdout == first.stdout and not is_from_cache(done)
        (line,) = [line for line in done.stderr.splitlines() if "is not used" in line]
        assert str(folder) in line and "every user" in line and "set LATEBIND_CACHE_FOLDER to another folder" in line
    # Also to who did not ask for the log, but not to who asked for silence.
    line = ("embed", "--model", TINY, "--device", "openvino:CPU", "--cache-folder", folder)
    told = good(*line, input=TEXT).stderr.splitlines()
    assert [str(folder) in line for line in told] == [True, False], told
    assert good(*line, "--quiet", input=TEXT).stderr == ""
    said = bad(1, "warm", "--model", TINY, "--cache-folder", folder)
    assert str(folder) in said
    folder.chmod(0o700)
    assert is_from_cache(embed(folder))
