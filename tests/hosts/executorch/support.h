// What the tests of the delegate share: the real libexecutorch.so with its log captured, programs in a folder of the
// test's own, and tensors.
//
// The delegate keeps one runtime for the life of the process, and that keeps the libraries that it found first: each
// test is a process of its own, as ctest runs them.
#pragma once

#include <executorch/extension/module/module.h>
#include <executorch/runtime/backend/interface.h>
#include <executorch/runtime/backend/options.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/pte/writer.h"

namespace latebind::test {

namespace et = ::executorch::runtime;
using ::executorch::aten::ScalarType;
using ::executorch::extension::Module;

// Every line that ExecuTorch logged since the last clear_log(), as it came out: cut at 256 bytes.
[[nodiscard]] std::vector<std::string> logged();
// Those of the delegate, joined to one text again.
[[nodiscard]] std::string said();
void clear_log();

// Sets an option of the delegate to `text`, or with `read` gets it.
et::Error option(const char* key, const char* text, std::string* read);
// The value of an option that the delegate has.
[[nodiscard]] std::string option_of(const char* key);

// Opens the delegate as a host does (dlopen) and gives the backend that it registered.
et::BackendInterface* load_delegate();
// The stock backend of the wheel.
et::BackendInterface* load_stock();

// A tensor with memory of its own, exactly as told.
class HostTensor {
 public:
  HostTensor(ScalarType type, std::vector<std::int32_t> sizes, std::vector<std::uint8_t> order = {},
             et::TensorShapeDynamism dynamism = et::TensorShapeDynamism::STATIC);
  HostTensor(const HostTensor&) = delete;
  HostTensor& operator=(const HostTensor&) = delete;

  [[nodiscard]] et::EValue value() { return et::EValue(::executorch::aten::Tensor(&impl_)); }
  [[nodiscard]] ::executorch::aten::Tensor tensor() { return ::executorch::aten::Tensor(&impl_); }
  [[nodiscard]] std::vector<std::byte>& bytes() { return bytes_; }
  template <class T>
  T* data() {
    return reinterpret_cast<T*>(bytes_.data());
  }
  template <class T>
  HostTensor& fill(const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    std::copy_n(bytes.begin(), std::min(bytes_.size(), bytes.size()), bytes_.begin());
    return *this;
  }

 private:
  std::vector<std::int32_t> sizes_;
  std::vector<std::uint8_t> order_;
  std::vector<std::int32_t> strides_;
  std::vector<std::byte> bytes_;
  ::executorch::aten::TensorImpl impl_;
};

// The inputs of an embedding model for one text.
class TextInputs {
 public:
  explicit TextInputs(const std::vector<std::int32_t>& ids)
      : ids_(ScalarType::Long, {1, static_cast<std::int32_t>(ids.size())}),
        mask_(ScalarType::Long, {1, static_cast<std::int32_t>(ids.size())}) {
    std::ranges::copy(ids, ids_.data<std::int64_t>());
    std::fill_n(mask_.data<std::int64_t>(), ids.size(), std::int64_t{1});
  }
  [[nodiscard]] std::vector<et::EValue> values() { return {ids_.value(), mask_.value()}; }
  [[nodiscard]] std::int64_t* ids() { return ids_.data<std::int64_t>(); }
  [[nodiscard]] std::int64_t* mask() { return mask_.data<std::int64_t>(); }

 private:
  HostTensor ids_;
  HostTensor mask_;
};

// A folder for one test, gone afterwards.
class ProgramFolder {
 public:
  ProgramFolder();
  ~ProgramFolder();
  ProgramFolder(const ProgramFolder&) = delete;
  ProgramFolder& operator=(const ProgramFolder&) = delete;

  // Writes a program and gives its path.
  [[nodiscard]] std::string write(const pte::ProgramSpec& spec, std::span<const std::byte> payload,
                                  const std::string& name = "program.pte") const;
  [[nodiscard]] std::string write(const pte::ProgramSpec& spec, std::string_view payload,
                                  const std::string& name = "program.pte") const {
    return write(spec, std::as_bytes(std::span(payload.data(), payload.size())), name);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// An IR for the fake OpenVINO library, in its own language.
[[nodiscard]] std::string fake_ir(std::string_view lines);

// "name f32 2,3" for a tensor of a program; "?" before a size that is an upper bound: "x f32 ?8,4", "-" for rank 0.
[[nodiscard]] pte::TensorSpec spec_of(std::string_view text);
[[nodiscard]] pte::ProgramSpec program_of(const std::vector<std::string_view>& inputs,
                                          const std::vector<std::string_view>& outputs);

[[nodiscard]] std::vector<float> floats(const et::EValue& value);

}  // namespace latebind::test
