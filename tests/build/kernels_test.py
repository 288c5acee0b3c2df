"""The object files of native's kernels hold nothing that other files share, and their inner loops stay in registers."""

import re
import subprocess
import unittest

from support import BINARY

# Instructions of an inner loop by file: the multiplications of its tallest tile, in each of its arithmetics.
MULTIPLICATIONS = {
    "avx512_bf16": {"vdpbf16ps": 28},
    "avx512_fp16": {"vfmadd231ph": 28},
    "avx512_vnni": {"vpdpbusd": 28},
    "avx512": {"vfmadd": 28},
    "avx2": {"vfmadd": 12},
    "avx2_vnni": {"vpdpbusd": 12},
}


def objects():
    return sorted((BINARY / "backends/native/CMakeFiles/lb_native.dir/kernels").glob("*.o"))


def functions(file):
    """The instructions of each function: [(address, text)]."""
    out = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "-C", file], capture_output=True, text=True, check=True)
    found = {}
    name = None
    for line in out.stdout.splitlines():
        if match := re.match(r"^[0-9a-f]+ <(.*)>:$", line):
            name = match[1]
            found[name] = []
        elif (match := re.match(r"^\s+([0-9a-f]+):\s+(.*)$", line)) and name:
            found[name].append((int(match[1], 16), match[2]))
    return found


def loops(instructions):
    """The texts of each innermost loop: from where a jump goes back to, up to the jump."""
    index = {address: i for i, (address, _) in enumerate(instructions)}
    found = []
    for i, (_, text) in enumerate(instructions):
        match = re.match(r"j\w+\s+([0-9a-f]+)", text)
        begin = index.get(int(match[1], 16)) if match else None
        if begin is not None and begin < i:
            found.append((begin, i))
    for begin, end in found:
        if not any(begin <= other < end and (begin, end) != (first, other) for first, other in found):
            yield [text for _, text in instructions[begin : end + 1]]


class KernelsTest(unittest.TestCase):
    def test_every_set_has_an_object_of_its_own(self):
        names = {file.name.split(".")[0] for file in objects()}
        self.assertLessEqual({"portable", *MULTIPLICATIONS}, names)

    def test_no_function_is_one_that_other_files_may_get(self):
        for file in objects():
            if file.name.startswith("kernels."):
                continue
            with self.subTest(file.name):
                out = subprocess.run(["nm", "-C", file], capture_output=True, text=True, check=True)
                shared = [line for line in out.stdout.splitlines() if re.search(r" [WVuT] ", line)]
                self.assertEqual(shared, [])

    def test_inner_loops_keep_their_sums_in_registers(self):
        for file in objects():
            code = functions(file)
            for instruction, count in MULTIPLICATIONS.get(file.name.split(".")[0], {}).items():
                with self.subTest(file.name, instruction=instruction):
                    inner = [
                        loop
                        for name, instructions in code.items()
                        if "multiply_tile<" in name
                        for loop in loops(instructions)
                        if sum(instruction in text for text in loop) == count
                    ]
                    self.assertTrue(inner)
                    for loop in inner:
                        # The distance between rows may come from there, at no cost.
                        spilled = [text for text in loop if re.search(r"%[re][sb]p", text) and re.search(r"[xyz]mm", text)]
                        self.assertEqual(spilled, [])


if __name__ == "__main__":
    unittest.main()
