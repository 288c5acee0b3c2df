#include "app/payload.h"

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "backends/openvino/blob_format.h"
#include "backends/openvino/devices.h"
#include "core/backend/blob_source.h"
#include "core/bundle/package.h"
#include "core/bundle/package_files.h"
#include "core/bundle/zip_reader.h"
#include "core/graph/onnx_structure.h"
#include "embedding/build_model.h"

namespace latebind::app {
namespace {

using core::Model;
using core::Result;
using core::SharedBytes;
using core::Status;
using core::StatusCode;

// A blob without a label. Only the vendor can say whether it fits the device, version and precision. The requested
// precision is set before the import and read back afterwards.
class OneBlob final : public core::BlobSource {
 public:
  explicit OneBlob(SharedBytes bytes) : bytes_(std::move(bytes)) {}

  [[nodiscard]] std::vector<core::ReadyBlob> blobs_for(const core::Device& device,
                                                       const core::CompileOptions& options) const override {
    if (device.backend != openvino::kBackendName) return {};
    const core::BlobLabel label{.backend = device.backend,
                                .device = device.name,
                                .runtime_version = device.runtime_version,
                                .precision = options.precision};
    return {{"blob", label, [blob = core::Blob{label, bytes_}]() -> Result<core::Blob> { return blob; }}};
  }

  [[nodiscard]] std::vector<std::size_t> static_lengths(const core::Device& /*device*/,
                                                        const core::CompileOptions& /*options*/,
                                                        std::size_t /*rows*/) const override {
    return {};
  }

 private:
  const SharedBytes bytes_;
};

core::ModelForm split_ir(const SharedBytes& bytes) {
  core::ModelForm form;
  form.format = core::ModelFormat::kOpenvinoIr;
  form.graph = bytes;
  const void* end = std::memchr(bytes.bytes.data(), 0, bytes.bytes.size());
  if (end == nullptr) return form;
  const auto text = static_cast<std::size_t>(static_cast<const std::byte*>(end) - bytes.bytes.data());
  const std::size_t weights = (text / kWeightsAlignment + 1) * kWeightsAlignment;
  form.graph = {bytes.owner, bytes.bytes.first(text)};
  if (weights < bytes.bytes.size()) form.weights = {bytes.owner, bytes.bytes.subspan(weights)};
  return form;
}

Status check_names(const std::vector<core::ExternalData>& external) {
  std::set<std::string_view> names;
  for (const core::ExternalData& one : external) {
    if (one.location.empty()) return {StatusCode::kInvalidModel, "external data has no name"};
    if (!names.insert(one.location).second) {
      return {StatusCode::kInvalidModel, fmt::format("external data '{}' was given twice", one.location)};
    }
  }
  return {};
}

Result<Model> bundle_of(SharedBytes bytes, const std::string& name) {
  LB_ASSIGN_OR_RETURN(auto files, core::PackageFiles::from_zip(std::move(bytes), name));
  LB_ASSIGN_OR_RETURN(const auto package, core::Package::from_files(std::move(files)));
  return embedding::model_of_bundle(package);
}

}  // namespace

Result<PayloadFormat> payload_format(std::span<const std::byte> bytes) {
  if (core::looks_like_zip(bytes)) return PayloadFormat::kBundle;
  if (openvino::looks_like_blob(bytes)) return PayloadFormat::kOpenvinoBlob;
  if (const auto format = core::format_of(bytes)) {
    return *format == core::ModelFormat::kOnnx ? PayloadFormat::kOnnx : PayloadFormat::kOpenvinoIr;
  }
  std::string head;
  for (const std::byte byte : bytes.first(std::min<std::size_t>(bytes.size(), 8)))
    head += fmt::format(" {:02x}", static_cast<unsigned>(byte));
  return Status(
      StatusCode::kInvalidModel,
      fmt::format("{} bytes that begin with{} are not a bundle, an ONNX model, an OpenVINO IR or an OpenVINO blob",
                  bytes.size(), head.empty() ? " nothing" : head));
}

Result<Model> model_of_payload(Payload payload) {
  const std::string& name = payload.name;
  if (payload.format == PayloadFormat::kByFirstBytes) {
    LB_ASSIGN_OR_RETURN(payload.format, payload_format(payload.bytes.bytes));
  }
  if (payload.format != PayloadFormat::kOpenvinoIr && !payload.weights.bytes.empty()) {
    return Status(StatusCode::kInvalidModel, fmt::format("{}: only an OpenVINO IR takes separate weights", name));
  }
  if (payload.format != PayloadFormat::kOnnx && !payload.external.empty()) {
    return Status(StatusCode::kInvalidModel, fmt::format("{}: only an ONNX model takes external data", name));
  }
  core::ModelForm form;
  switch (payload.format) {
    case PayloadFormat::kBundle:
      return bundle_of(std::move(payload.bytes), name);
    case PayloadFormat::kOpenvinoBlob:
      LB_RETURN_IF_ERROR(openvino::check_blob(payload.bytes.bytes).with_context(name));
      return Model::from_forms(name, {}).with_blobs(std::make_shared<const OneBlob>(std::move(payload.bytes)));
    case PayloadFormat::kOpenvinoIr:
      if (payload.weights.bytes.empty()) return Model::from_forms(name, {split_ir(payload.bytes)});
      form.format = core::ModelFormat::kOpenvinoIr;
      form.weights = std::move(payload.weights);
      break;
    case PayloadFormat::kOnnx:
    case PayloadFormat::kByFirstBytes:
      LB_RETURN_IF_ERROR(graph::check_onnx_structure(payload.bytes.bytes).with_context(name));
      LB_RETURN_IF_ERROR(check_names(payload.external).with_context(name));
      form.format = core::ModelFormat::kOnnx;
      form.external = std::move(payload.external);
      break;
  }
  form.graph = std::move(payload.bytes);
  return Model::from_forms(name, {std::move(form)});
}

}  // namespace latebind::app
