#!/usr/bin/env python3
"""Writes embedding/tokenizer/unicode_reference.inc.h: where the reference's Unicode data differ from utf8proc's.

The reference (the `tokenizers` package) takes categories, decompositions, lower case and the boundaries of graphemes from
tables of different Unicode versions. Every code point is asked of both; what differs is written down. Run with the Python that has `tokenizers`:

    build/runtime/oracle/bin/python tests/embedding/tokenizer/make_unicode_exceptions.py

The utf8proc that is asked is the shared library that the build links (libutf8proc.so.2, or the first argument).
"""
import ctypes
import pathlib
import struct
import sys

import tokenizers
from tokenizers import Tokenizer, AddedToken, models, normalizers, pre_tokenizers

OUTPUT = pathlib.Path(__file__).resolve().parents[3] / "embedding/tokenizer/unicode_reference.inc.h"
CODE_POINTS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]

# Bits of unicode.cpp's Property.
OTHER, WHITESPACE, PUNCTUATION, NONSPACING, WORD, LETTER, NUMBER, MARK = 1, 2, 4, 8, 16, 32, 64, 128

# unicode.h's GraphemeClass, in its order, and what utf8proc's boundclasses are of these. Regional indicators are left out:
# the tokenizer cannot tell where two of them stand together.
(PLAIN, CR, LF, CONTROL, EXTEND, LINKER, EXTEND_APART, ZWJ, SPACING_MARK, PREPEND, L, V, T, LV, LVT, PICTOGRAPHIC,
 CONSONANT) = range(17)
CLASS_NAMES = ["kPlain", "kCr", "kLf", "kControl", "kExtend", "kLinker", "kExtendApart", "kZwj", "kSpacingMark", "kPrepend",
               "kL", "kV", "kT", "kLv", "kLvt", "kPictographic", "kConsonant"]
OF_BOUNDCLASS = {1: PLAIN, 2: CR, 3: LF, 4: CONTROL, 5: EXTEND, 6: L, 7: V, 8: T, 9: LV, 10: LVT, 11: PLAIN,
                 12: SPACING_MARK, 13: PREPEND, 14: ZWJ, 19: PICTOGRAPHIC, 20: PICTOGRAPHIC}


class Utf8proc:
    """The few calls of utf8proc.h that unicode.cpp makes."""

    CN, LU, LO, MN, ME, ND, NL, NO, PC, PO, ZS, ZP, CC, CO = 0, 1, 5, 6, 8, 9, 10, 11, 12, 18, 23, 25, 26, 29

    class Property(ctypes.Structure):
        _fields_ = [("category", ctypes.c_int16), ("combining_class", ctypes.c_int16), ("bidi_class", ctypes.c_int16),
                    ("decomp_type", ctypes.c_int16), ("indices", ctypes.c_uint16 * 6), ("flags", ctypes.c_uint8),
                    ("boundclass", ctypes.c_uint8)]

    def __init__(self, name):
        self.library = ctypes.CDLL(name)
        self.library.utf8proc_version.restype = ctypes.c_char_p
        self.library.utf8proc_unicode_version.restype = ctypes.c_char_p
        self.library.utf8proc_get_property.restype = ctypes.POINTER(self.Property)
        self.library.utf8proc_decompose_char.restype = ctypes.c_ssize_t
        self.buffer = (ctypes.c_int32 * 32)()
        self.last_class = ctypes.c_int(0)

    def category(self, c):
        return self.library.utf8proc_category(c)

    def combining_class(self, c):
        return self.library.utf8proc_get_property(c).contents.combining_class

    def grapheme_class(self, c):
        return OF_BOUNDCLASS[self.library.utf8proc_get_property(c).contents.boundclass]

    def decompose(self, c, compat=False):
        n = self.library.utf8proc_decompose_char(
            c, self.buffer, ctypes.c_ssize_t(32), 1 << 4 | compat << 2, ctypes.byref(self.last_class))
        return list(self.buffer[:n])

    def lower(self, c):
        return [0x69, 0x307] if c == 0x130 else [self.library.utf8proc_tolower(c)]

    def properties(self, c):
        category = self.category(c)
        bits = 0
        if category >= self.CC:
            bits |= OTHER
        if self.ZS <= category <= self.ZP or 9 <= c <= 13 or c == 0x85:
            bits |= WHITESPACE
        if self.PC <= category <= self.PO or c < 128 and chr(c) in "$+<=>^`|~":
            bits |= PUNCTUATION
        if category == self.MN:
            bits |= NONSPACING
        if (self.LU <= category <= self.ME or category in (self.ND, self.NL, self.PC) or c in (0x200C, 0x200D)
                or 0x24B6 <= c <= 0x24E9 or 0x1F130 <= c <= 0x1F149 or 0x1F150 <= c <= 0x1F169
                or 0x1F170 <= c <= 0x1F189):
            bits |= WORD
        if self.MN <= category <= self.ME:
            bits |= MARK
        if self.LU <= category <= self.LO:
            bits |= LETTER
        if self.ND <= category <= self.NO:
            bits |= NUMBER
        return bits


class Graphemes:
    """Where the reference sees graphemes: its Precompiled looks one of fewer than six bytes up as a whole, else each of
    its characters, and takes the shortest key that fits. With every byte as a key, that gives one letter for each."""

    def __init__(self):
        units = [0] * 1024  # of a double array: node 0, its children from 256, and one value
        units[0] = 256 << 10
        for byte in range(1, 256):
            units[256 ^ byte] = byte | 1 << 8 | (256 ^ byte ^ 512) << 10
        units[512] = 1 << 31
        self.normalizer = normalizers.Precompiled(struct.pack("<1025I", 4 * len(units), *units) + b"x\0")

    def is_joined(self, text, joined, apart):
        """Whether as many letters come out as where the character is joined with those around it."""
        letters = len(self.normalizer.normalize_str(text))
        assert letters in (joined, apart), (text, letters)
        return letters == joined

    def grapheme_class(self, c):
        if c in (0, 10, 13):  # NUL ends a key
            return {0: CONTROL, 10: LF, 13: CR}[c]
        char = chr(c)
        size = len(char.encode())
        if self.is_joined("a" + char, 1, 2):
            if self.is_joined(f"\u00a9{char}\u00a9\u0300", 4, 2 if size < 4 else 3):
                return ZWJ
            if not self.is_joined(f"\u00a9{char}\u200d\u00a9\u0300", 5, 4):
                return SPACING_MARK
            if self.is_joined(f"\u0915{char}\u0915\u0300", 4, 2 if size < 3 else 3):
                return LINKER
            return EXTEND if self.is_joined(f"\u0915\u094d{char}\u0915\u0300", 5, 4) else EXTEND_APART
        if not self.is_joined(char + "\u0300\u0301", 1 if size < 2 else 3, 2):
            return CONTROL
        if self.is_joined(char + "a", 1, 2):
            return PREPEND
        if self.is_joined(f"\u00a9\u200d{char}\u0300", 4, 2 if size < 4 else 3):
            return PICTOGRAPHIC
        if self.is_joined(f"{char}\u094d\u0915\u0300", 4, 2 if size < 3 else 3):
            return CONSONANT
        before_v, before_t = (self.is_joined(f"{char}{other}\u0300", 3, 2) for other in "\u1161\u11a8")
        behind = (self.is_joined(f"\u0600{other}{char}", 3, 2) for other in "\u1100\u1161\u11a8")
        kinds = {(True, False, True, False, False): L, (True, True, True, True, False): V,
                 (False, True, False, True, True): T, (True, True, True, False, False): LV,
                 (False, True, True, False, False): LVT, (False,) * 5: PLAIN}
        return kinds[(before_v, before_t, *behind)]


class Reference:
    def __init__(self):
        self.clean = normalizers.BertNormalizer(
            clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=False)
        self.strip = normalizers.BertNormalizer(
            clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)
        self.nfd = normalizers.NFD()
        self.nfkd = normalizers.NFKD()
        self.strip_marks = normalizers.StripAccents()
        self.lowercase = normalizers.Lowercase()
        self.split = pre_tokenizers.BertPreTokenizer()
        self.byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False)
        self.single_word = Tokenizer(models.WordLevel({"?": 0, "TOKEN": 1}, unk_token="?"))
        self.single_word.add_tokens([AddedToken("TOKEN", single_word=True, normalized=False)])

    def decompose(self, c, compat=False):
        return [ord(x) for x in (self.nfkd if compat else self.nfd).normalize_str(chr(c))]

    def lower(self, c):
        return [ord(x) for x in self.lowercase.normalize_str(chr(c))]

    def properties(self, c):
        bits = 0
        # A letter on either side, so that nothing is lost at an end.
        cleaned = self.clean.normalize_str("a" + chr(c) + "a")
        # NUL, U+FFFD and white space are handled apart, before the category is asked.
        if cleaned == "aa" and c not in (0, 0xFFFD):
            bits |= OTHER
        pieces = len(self.split.pre_tokenize_str("a" + chr(c) + "a"))
        if pieces == 2:
            bits |= WHITESPACE
        elif pieces == 3:
            bits |= PUNCTUATION
        if self.decompose(c) == [c] and self.strip.normalize_str("a" + chr(c) + "a") == "aa":
            bits |= NONSPACING
        if 1 not in self.single_word.encode(chr(c) + "TOKEN").ids:
            bits |= WORD
        if self.strip_marks.normalize_str("a" + chr(c)) == "a":
            bits |= MARK
        # ByteLevel keeps letters, numbers and all else but white space together with their like.
        alike = [len(self.byte_level.pre_tokenize_str(x + chr(c) + x)) == 1 for x in "a1!"]
        assert sum(alike) == (0 if bits & WHITESPACE else 1), hex(c)
        bits |= alike[0] * LETTER | alike[1] * NUMBER
        return bits

    def order(self, a, b):
        """-1, 0 or 1: whether mark a goes before b, stays where it is, or goes after it, in canonical order."""
        swapped_ab = self.nfd.normalize_str("a" + chr(a) + chr(b)) != "a" + chr(a) + chr(b)
        swapped_ba = self.nfd.normalize_str("a" + chr(b) + chr(a)) != "a" + chr(b) + chr(a)
        return swapped_ab - swapped_ba

    def combining_class(self, c, witnesses, expected):
        """The class of c, found by sorting it against one character of every class: `expected`, if that explains it."""
        orders = {k: self.order(c, w) for k, w in witnesses.items() if w != c}
        if not any(orders.values()):
            return 0
        for k in [expected, *witnesses]:
            if all(o == (j < k) - (j > k) for j, o in orders.items()):
                return k
        raise AssertionError((hex(c), orders))


def main():
    ours = Utf8proc(sys.argv[1] if len(sys.argv) > 1 else "libutf8proc.so.2")
    reference = Reference()

    flips, lowers, decompositions, compat_decompositions = [], [], [], []
    for c in CODE_POINTS:
        theirs = reference.properties(c)
        base = ours.properties(c)
        if c in (9, 10, 13):  # never removed, whatever their category
            base &= ~OTHER
        decomposed = reference.decompose(c)
        if decomposed != ours.decompose(c):
            decompositions.append((c, decomposed))
        compat = reference.decompose(c, compat=True)
        if compat != ours.decompose(c, compat=True):
            assert compat == decomposed, (hex(c), compat)
            if compat_decompositions and compat_decompositions[-1][1] == c - 1:
                compat_decompositions[-1][1] = c
            else:
                compat_decompositions.append([c, c])
        if decomposed != [c]:  # whether it is nonspacing is never asked
            base &= ~NONSPACING
        if c in (0, 0xFFFD):
            base &= ~OTHER
        flip = theirs ^ base
        if flip:
            if flips and flips[-1][1] == c - 1 and flips[-1][2] == flip:
                flips[-1][1] = c
            else:
                flips.append([c, c, flip])
        lower = reference.lower(c)
        if lower != ours.lower(c):
            assert len(lower) == 1, (hex(c), lower)
            lowers.append((c, lower[0]))

    witnesses = {}
    for c in CODE_POINTS:
        k = ours.combining_class(c)
        if k and k not in witnesses and c < 0x10000 and reference.order(c, 0x334) | reference.order(c, 0x345):
            witnesses[k] = c
    classes = []
    low, high = 0x334, 0x345  # classes 1 and 240, the least and the greatest
    for c in CODE_POINTS:
        k = ours.combining_class(c)
        if reference.decompose(c) != [c]:
            continue
        if k or reference.order(c, low) or reference.order(c, high):
            theirs = reference.combining_class(c, witnesses, k)
            if theirs != k:
                if classes and classes[-1][1] == c - 1 and classes[-1][2] == theirs:
                    classes[-1][1] = c
                else:
                    classes.append([c, c, theirs])

    graphemes = Graphemes()
    classes_of_graphemes = []
    for c in CODE_POINTS:
        theirs = graphemes.grapheme_class(c)
        if theirs != ours.grapheme_class(c):
            if classes_of_graphemes and classes_of_graphemes[-1][1:] == [c - 1, theirs]:
                classes_of_graphemes[-1][1] = c
            else:
                classes_of_graphemes.append([c, c, theirs])

    print(f"{len(classes_of_graphemes)} ranges of grapheme classes, {len(flips)} ranges of properties, {len(lowers)} lower-case mappings, "
          f"{len(decompositions)} decompositions, {len(classes)} ranges of combining classes")

    lines = [
        "// Generated by tests/embedding/tokenizer/make_unicode_exceptions.py: do not edit.",
        "// clang-format off",
        f"// Where tokenizers {tokenizers.__version__} differs from utf8proc "
        f"{ours.library.utf8proc_version().decode()} (Unicode {ours.library.utf8proc_unicode_version().decode()}).",
        "",
        "// Code points first to last have these properties the other way round.",
        "constexpr PropertyFlip kPropertyFlips[] = {",
    ]
    lines += [f"    {{{hex(a)}, {hex(b)}, {flip}}}," for a, b, flip in flips]
    lines += ["};", "", "// Lower case.", "constexpr LowerCase kLowerCases[] = {"]
    lines += [f"    {{{hex(c)}, {hex(l)}}}," for c, l in lowers]
    lines += ["};", "", "// Has no canonical decomposition.", "constexpr char32_t kUndecomposed[] = {"]
    for c, decomposed in decompositions:
        assert decomposed == [c], (hex(c), decomposed)
        lines.append(f"    {hex(c)},")
    lines += ["};", "", "// First to last have no decomposition for compatibility beside the canonical one.",
              "constexpr CodePointRange kNotCompatible[] = {"]
    lines += [f"    {{{hex(a)}, {hex(b)}}}," for a, b in compat_decompositions]
    lines += ["};", "", "// Canonical combining class of first to last.", "constexpr CombiningClass kCombiningClasses[] = {"]
    lines += [f"    {{{hex(a)}, {hex(b)}, {k}}}," for a, b, k in classes]
    lines += ["};", "", "// Grapheme class of first to last.", "constexpr GraphemeRange kGraphemeClasses[] = {"]
    lines += [f"    {{{hex(a)}, {hex(b)}, GraphemeClass::{CLASS_NAMES[k]}}}," for a, b, k in classes_of_graphemes]
    lines += ["};", ""]
    OUTPUT.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
