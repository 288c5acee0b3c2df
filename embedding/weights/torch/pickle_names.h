// The opcodes and names that pickles of weights contain. Pure functions; any thread.
//
// Source: Python's pickletools, torch/serialization.py.
#pragma once

#include <string_view>

#include "embedding/weights/torch/pickle.h"

namespace latebind::embedding {

struct NamedClass {
  std::string_view name;  // module and name
  PickleClass of;
  std::string_view type{};  // of a storage, in safetensors
};
// Returns null for any other class or function. `name` has its module: "torch.FloatStorage".
[[nodiscard]] const NamedClass* find_pickle_class(std::string_view name);

// The opcodes that are read, by their names in pickletools.
enum PickleOpcode : unsigned char {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kBinFloat = 'G',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinPersId = 'Q',
  kReduce = 'R',
  kBinString = 'T',
  kShortBinString = 'U',
  kBinUnicode = 'X',
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kAppends = 'e',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kSetItems = 'u',
  kEmptyDict = '}',
  kEmptyList = ']',
  kEmptyTuple = ')',
  kProto = 0x80,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8A,
  kShortBinUnicode = 0x8C,
  kBinUnicode8 = 0x8D,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
};

// Returns the name of an opcode of pickle that is not read; empty if it is none.
[[nodiscard]] std::string_view name_of_refused_opcode(unsigned char code);

}  // namespace latebind::embedding
