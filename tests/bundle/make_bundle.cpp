// lb_make_bundle bundle|folder MODEL.onnx OUT: a bundle as an application would write it, for tests of the program: the
// model as the portable variant, a blob that is none for a device that is nowhere, and an asset that both name.
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "core/bundle/package_writer.h"
#include "core/bundle/path_rules.h"
#include "core/platform/files/mapped_file.h"

namespace {

using latebind::core::folder_name_of;
using latebind::core::kPortableTarget;
using latebind::core::LatebindInfo;
using latebind::core::PackageForm;
using latebind::core::PackageWriter;
using latebind::core::parse_word;
using latebind::core::Result;
using latebind::core::SharedBytes;
using latebind::core::Status;

Result<SharedBytes> map(const char* file) {
  LB_ASSIGN_OR_RETURN(auto mapped, latebind::platform::MappedFile::open(file));
  auto owner = std::make_shared<const latebind::platform::MappedFile>(std::move(mapped));
  const auto bytes = owner->bytes();
  return SharedBytes{std::move(owner), bytes};
}

Status make(const char* form_word, const char* model, const char* out) {
  LB_ASSIGN_OR_RETURN(const auto form, parse_word<PackageForm>(form_word));
  LB_ASSIGN_OR_RETURN(SharedBytes onnx, map(model));
  PackageWriter writer({.name = "toy",
                        .version = "1.0",
                        .description = "made by a test",
                        .additional_metadata = {{"licence", "Apache-2.0"}}});
  LB_ASSIGN_OR_RETURN(const std::string folder,
                      writer.add_asset({{"tokenizer.json", SharedBytes::from_string("{\"a\": 1}")},
                                        {"1_Pooling/config.json", SharedBytes::from_string("{}")}}));
  LatebindInfo portable;
  portable.target = kPortableTarget;
  portable.format = "onnx";
  portable.model = "model.onnx";
  portable.precision = "f32";
  portable.assets = {{"model_folder", folder}};
  LB_RETURN_IF_ERROR(writer.add_variant("model", {.name = "portable",
                                                  .ep = "CPUExecutionProvider",
                                                  .latebind = portable,
                                                  .executor_info = {{"ort", {{"model_file", "model.onnx"}}}},
                                                  .files = {{"model.onnx", std::move(onnx)}}}));
  LatebindInfo blob = portable;
  blob.target = "npu:v73";
  blob.backend = "onnxruntime";
  blob.device = "QNN.v73";
  blob.runtime_version = "2.51.0";
  blob.precision = "f16";
  blob.model = "context.onnx";
  blob.shapes = {{1, 32}};
  LB_RETURN_IF_ERROR(
      writer.add_variant("model", {.name = folder_name_of("npu:v73-1x32"),
                                   .ep = "QNNExecutionProvider",
                                   .device = "npu",
                                   .compatibility_string = "v2:6:2.51.0:5.51.0:73:60:0:0",
                                   .latebind = blob,
                                   .executor_info = {{"ort", {{"model_file", "context.onnx"}}}},
                                   .files = {{"context.onnx", SharedBytes::from_string("not compiled")}}}));
  return writer.write(out, form);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: lb_make_bundle bundle|folder MODEL.onnx OUT\n", stderr);
    return 2;
  }
  const Status status = make(argv[1], argv[2], argv[3]);
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return status.ok() ? 0 : 1;
}
