"""The object files of native's kernels hold nothing that other files share, and their inner loops stay in registers."""

import re
import subprocess
import unittest

from support import BINARY

# Instructions of an inner loop by set: the multiplications of its tallest tile.
MULTIPLICATIONS = {"avx512": 28, "avx2": 12}


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
    """The texts of each loop: from where a jump goes back to, up to the jump."""
    index = {address: i for i, (address, _) in enumerate(instructions)}
    for i, (_, text) in enumerate(instructions):
        match = re.match(r"j\w+\s+([0-9a-f]+)", text)
        begin = index.get(int(match[1], 16)) if match else None
        if begin is not None and begin < i:
            yield [text for _, text in instructions[begin : i + 1]]


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
            multiplications = MULTIPLICATIONS.get(file.name.split(".")[0])
            if multiplications is None:
                continue
            with self.subTest(file.name):
                inner = [
                    loop
                    for name, instructions in functions(file).items()
                    if "multiply_tile<" in name
                    for loop in loops(instructions)
                    if sum("vfmadd" in text for text in loop) == multiplications
                ]
                self.assertTrue(inner)
                for loop in inner:
                    # The distance between rows may come from there, at no cost.
                    spilled = [text for text in loop if re.search(r"%[re][sb]p", text) and re.search(r"[xyz]mm", text)]
                    self.assertEqual(spilled, [])


if __name__ == "__main__":
    unittest.main()
