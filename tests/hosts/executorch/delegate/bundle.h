// Bundles whose models are the fake library's.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include "core/bundle/package_writer.h"
#include "tests/hosts/executorch/support.h"

namespace latebind::test {

// What ov_compiled_model_export_model of the fake gives.
inline std::string fake_blob(std::string_view device, std::string_view model) {
  return "fake-blob 2026.4.1-fake " + std::string(device) + "\nfake-model\n" + std::string(model);
}

// For the fake's NPU, in f16.
inline void add_npu_blob(core::PackageWriter& writer, std::string_view blob) {
  core::LatebindInfo info;
  info.target = "npu";
  info.backend = "openvino";
  info.device = "NPU";
  info.runtime_version = "2026.4.1-fake";
  info.precision = "f16";
  info.format = "blob";
  info.model = "model.blob";
  EXPECT_TRUE(writer
                  .add_variant("model", {.name = "npu",
                                         .device = "npu",
                                         .latebind = info,
                                         .files = {{"model.blob", core::SharedBytes::from_string(std::string(blob))}}})
                  .ok());
}

inline std::string zip_of(const core::PackageWriter& writer, const ProgramFolder& folder) {
  const auto file = folder.path() / "toy.lbundle";
  const core::Status written = writer.write(file, core::PackageForm::kZip);
  EXPECT_TRUE(written.ok()) << written.to_string();
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// A ZIP with the portable model, and where `npu_blob` is not empty with that as a variant for the NPU in f16.
inline std::string fake_bundle(const ProgramFolder& folder, std::string_view model, std::string_view npu_blob = {}) {
  core::PackageWriter writer({.name = "toy", .version = "1"});
  core::LatebindInfo portable;
  portable.target = core::kPortableTarget;
  portable.format = "openvino-ir";
  portable.model = "model.xml";
  portable.precision = "f32";
  EXPECT_TRUE(
      writer
          .add_variant("model", {.name = "portable",
                                 .latebind = portable,
                                 .files = {{"model.xml", core::SharedBytes::from_string(fake_ir(model))},
                                           {"model.bin", core::SharedBytes::from_string(std::string(4, '\0'))}}})
          .ok());
  if (!npu_blob.empty()) add_npu_blob(writer, npu_blob);
  return zip_of(writer, folder);
}

}  // namespace latebind::test
