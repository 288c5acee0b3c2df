// Reads an ExecuTorch program (.pte): its methods, their tensors and delegates, and each delegate's payload.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/json_text.h"
#include "core/bundle/package_files.h"
#include "core/platform/files/mapped_file.h"
#include "core/result.h"
#include "formats/pte/reader.h"

namespace latebind::app {

// A program and the mapped file that it points into.
struct PteFile {
  std::shared_ptr<const platform::MappedFile> file;
  pte::Program program;

  // The first delegate whose payload is a bundle, or null.
  [[nodiscard]] const pte::Delegate* with_bundle() const;
  // Opens that bundle's files. std::nullopt if no delegate has one; kInvalidModel if it is damaged.
  [[nodiscard]] core::Result<std::optional<core::PackageFiles>> bundle() const;
};

// Returns true if the file begins like a program.
[[nodiscard]] bool is_pte(const std::filesystem::path& file);

// Returns the errors of MappedFile::open() and pte::read_program(), with the file's name.
[[nodiscard]] core::Result<PteFile> open_pte(const std::filesystem::path& place);

// Names a payload's kind by its first bytes: "bundle", "onnx", "openvino-ir", "openvino-blob", "elf" or "unknown".
[[nodiscard]] std::string_view payload_kind(std::span<const std::byte> payload);

// A compile spec's value without the zeros that some exporters append, or std::nullopt if it is not a short text.
[[nodiscard]] std::optional<std::string_view> spec_text(std::span<const std::byte> value);
// "static", "bounded", "unbounded".
[[nodiscard]] std::string_view word_of(pte::Dynamism dynamism);

// {form: "pte", …}, as `latebind inspect --help` says.
[[nodiscard]] Json to_json(const PteFile& opened);

}  // namespace latebind::app
