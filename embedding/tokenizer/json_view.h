// JsonView: a named object of a tokenizer.json, read key by key, with errors that name the place.
//
// A view: the tree must outlive it. One thread.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include "core/json/value.h"
#include "core/result.h"

namespace latebind::embedding {

class JsonView {
 public:
  // Returns kInvalidModel if `value` is not an object. `name` is for example "normalizer" or "added_tokens[3]".
  static core::Result<JsonView> object(const core::Json& value, std::string name);

  [[nodiscard]] const std::string& name() const { return name_; }

  // Null if the key is missing.
  [[nodiscard]] const core::Json* find(std::string_view key) const;
  // The following functions return kInvalidModel if the key is missing or the value is of another kind.
  [[nodiscard]] core::Result<bool> boolean(std::string_view key) const;
  [[nodiscard]] core::Result<std::string> string(std::string_view key) const;
  [[nodiscard]] core::Result<std::string> character(std::string_view key) const;  // a string of one code point
  [[nodiscard]] core::Result<std::uint64_t> whole_number(std::string_view key) const;
  [[nodiscard]] core::Result<const core::Json*> array(std::string_view key) const;
  [[nodiscard]] core::Result<JsonView> object(std::string_view key) const;

  // Returns kUnsupported, naming the key, if a key outside of the list has a value other than null.
  [[nodiscard]] core::Status only_keys(std::initializer_list<std::string_view> known) const;

 private:
  JsonView(const core::Json& value, std::string name) : value_(&value), name_(std::move(name)) {}
  [[nodiscard]] core::Status wrong_kind(std::string_view key, std::string_view expected) const;

  const core::Json* value_;
  std::string name_;
};

// Returns kInvalidModel, naming the place, unless `value` is an integer from 0 to below `id_end`.
[[nodiscard]] core::Result<std::int32_t> token_id(const core::Json& value, std::size_t id_end, std::string_view place);

}  // namespace latebind::embedding
