// Reads a pickle as data: numbers, texts, tuples, lists, dictionaries, and calls of a few known functions, which are
// kept as calls. Nothing is imported, called or executed.
//
// Source: Python's pickle protocols 0 to 5 (pickletools), of which torch.save() writes a small part. An opcode, class
// or function that is not in the lists of pickle.cpp is an error that names it. Pure function; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"

namespace latebind::embedding {

// A value of a pickle, by its number in Pickle::values. A value may contain itself.
using PickleId = std::uint32_t;

// The classes and functions that a pickle may name.
enum class PickleClass : std::uint8_t {
  kOrderedDict,
  kSize,
  kStorage,  // PickleValue::text is its type in safetensors
  kRebuildTensor,
  kRebuildTensorV2,
  kRebuildParameter,
  kRebuildParameterWithState,
};

struct PickleValue {
  enum class Kind : std::uint8_t {
    kNone,
    kBool,
    kInt,   // `number`
    kLong,  // `text` has its bytes, little-endian, because it has more than 64 bits
    kFloat,
    kText,   // `text`
    kTuple,  // `items`
    kList,   // `items`
    kDict,   // `items`: a key, its value, a key …
    kClass,
    kCall,        // of `of` with the tuple items[0]
    kPersistent,  // an object outside the pickle, which items[0] names
  };
  Kind kind = Kind::kNone;
  PickleClass of{};
  std::int64_t number = 0;
  std::string_view text{};  // in the bytes that were read, or a literal
  std::vector<PickleId> items{};
};

struct Pickle {
  std::vector<PickleValue> values;
  PickleId root = 0;
  std::size_t size = 0;  // the bytes of the pickle; others may follow it

  [[nodiscard]] const PickleValue& operator[](PickleId id) const { return values[id]; }
};

// The most bytes of a pickle and values in it. A large network's has some 100,000 bytes and 20,000 values.
inline constexpr std::size_t kPickleBytesMax = std::size_t{16} << 20;
inline constexpr std::size_t kPickleValuesMax = std::size_t{1} << 20;

// Reads the pickle with which `bytes` begins; they must outlive it. Returns kInvalidModel for a damaged one, and
// kUnsupported for what is not in the lists.
[[nodiscard]] core::Result<Pickle> read_pickle(std::string_view bytes);

}  // namespace latebind::embedding
