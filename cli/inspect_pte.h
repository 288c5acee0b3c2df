// What `latebind inspect` shows of a program of ExecuTorch: its methods, their tensors and delegates, and what each
// delegate is given.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "cli/json_text.h"
#include "core/bundle/package_files.h"
#include "core/platform/mapped_file.h"
#include "core/result.h"
#include "hosts/executorch/pte/reader.h"

namespace latebind::cli {

// A program and the mapped file that it refers to.
struct OpenedPte {
  std::shared_ptr<const platform::MappedFile> file;
  pte::Program program;

  // The files of the first bundle in it. Nothing when no delegate has one; kInvalidModel for one that is damaged.
  [[nodiscard]] core::Result<std::optional<core::PackageFiles>> bundle() const;
};

// The errors of MappedFile::open() and pte::read_program(), with the file's name.
[[nodiscard]] core::Result<OpenedPte> open_pte(const std::filesystem::path& place);

// What a payload is, by its first bytes: "bundle", "onnx", "openvino-ir", "openvino-blob", "elf" or "unknown".
[[nodiscard]] std::string_view payload_kind(std::span<const std::byte> payload);

[[nodiscard]] std::string text_of(const OpenedPte& opened);
// {form: "pte", …}, as `latebind inspect --help` says.
[[nodiscard]] Json to_json(const OpenedPte& opened);

}  // namespace latebind::cli
