// What a load is asked for: compile specs of a program, options of the backend, and options of one load, which all have
// the same keys and words.
//
// A value type. Everything here comes from outside: unknown keys, values of the wrong kind and texts that are too long
// are errors that name them. What the words themselves may be is Latebind's to say when they are used.
#pragma once

#include <executorch/runtime/backend/options.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hosts/executorch/load_keys.h"
#include "latebind/latebind.h"

namespace latebind::delegate {

// What is wrong, in one line; nothing when all is right.
using OptionError = std::optional<std::string>;

// "unknown option 'divice' (did you mean device?); known: device, precision …"
[[nodiscard]] std::string unknown_key(std::string_view what, std::string_view key,
                                      std::span<const std::string_view> known);

// A text in a buffer of fixed size, up to its first NUL.
[[nodiscard]] std::string_view text_in(std::span<const char> buffer);

class LoadOptions {
 public:
  // A compile spec: text, perhaps padded with NULs. An empty text takes back what was set.
  [[nodiscard]] OptionError set_text(std::string_view key, std::string_view value);
  // One of ExecuTorch's options: `strict` may be a bool, `threads` an int, everything may be a string.
  [[nodiscard]] OptionError set(const ::executorch::runtime::BackendOption& option);

  // What `other` says, and where it says nothing what this says.
  void apply(const LoadOptions& other);

  // As set, "" when it is not.
  [[nodiscard]] std::string text(std::string_view key) const;

  // As Latebind's own options, which refer to this object.
  [[nodiscard]] lb_load_options to_c() const;

 private:
  // In the order of kLoadKeys; empty: not set.
  std::array<std::string, kLoadKeys.size()> texts_;
  // What the texts above say.
  int strict_word_ = 0;
  unsigned thread_count_ = 0;
  std::vector<lb_shape> input_shapes_;
};

}  // namespace latebind::delegate
