#include "backends/openvino/read_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "backends/openvino/ir_writer.h"
#include "core/graph/onnx_inline.h"
#include "core/graph/onnx_structure.h"
#include "core/graph/token_packing.h"
#include "core/log.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/files/output_file.h"
#include "core/platform/files/page_release.h"
#include "core/platform/files/temporary_folder.h"
#include "core/text/quote.h"

namespace latebind::openvino {
namespace {

using core::Model;
using core::ModelForm;
using core::ModelFormat;
using core::Result;
using core::Shape;
using core::Status;
using core::StatusCode;

Result<ModelHandle> read_file(const VendorCore& core, const ModelForm& form) {
  const Library& library = *core.library;
  const std::string file = platform::path_to_utf8(form.file);
  // The vendor has a single code for all errors of a file.
  std::error_code gone;
  if (!std::filesystem::exists(form.file, gone)) {
    return Status(StatusCode::kNotFound, fmt::format("{}: the file no longer exists", file));
  }
  abi::Model* network = nullptr;
  abi::Code code = abi::kOk;
#ifdef _WIN32
  // Narrow names pass through the system's code page on Windows.
  if (library.api.ov_core_read_model_unicode != nullptr) {
    code = library.api.ov_core_read_model_unicode(core.core.get(), form.file.c_str(), nullptr, &network);
  } else
#endif
  {
    code = library.api.ov_core_read_model(core.core.get(), file.c_str(), nullptr, &network);
  }
  if (code != abi::kOk) {
    return library.error(StatusCode::kInvalidModel, fmt::format("OpenVINO cannot read the model '{}'", file), code);
  }
  return ModelHandle(library.api, network);
}

Result<ModelHandle> read_bytes(const VendorCore& core, const Model& model, std::span<const std::byte> bytes,
                               const abi::Tensor* weights) {
  abi::Model* network = nullptr;
  if (const auto code = core.library->api.ov_core_read_model_from_memory_buffer(
          core.core.get(), reinterpret_cast<const char*>(bytes.data()), bytes.size(), weights, &network);
      code != abi::kOk) {
    return core.library->error(StatusCode::kInvalidModel, fmt::format("OpenVINO cannot read model '{}'", model.name()),
                               code);
  }
  return ModelHandle(core.library->api, network);
}

// Instead of a file name: the data is in this process's memory, at the address given as the offset, and the vendor
// copies it. Supported since 2025.4, an error before.
constexpr std::string_view kInMemory = "*/_ORT_MEM_ADDR_/*";

// For data that is mapped from files. No file is written or linked, since another name would be a change of the file.
Result<ModelHandle> read_by_addresses(const VendorCore& core, const Model& model, const ModelForm& form) {
  const auto at_its_address = [&form](const graph::ExternalPlace& place) -> Result<graph::ExternalPlace> {
    const auto found = std::ranges::find(form.external, place.location, &core::ExternalData::location);
    if (found == form.external.end() || place.offset > found->data.bytes.size()) {
      return Status(StatusCode::kInvalidModel,
                    fmt::format("the ONNX model has data in {}, which does not exist", core::quoted(place.location)));
    }
    const auto rest = found->data.bytes.subspan(place.offset);
    const bool is_to_the_end = place.length == graph::ExternalPlace::kToTheEnd;
    if (!is_to_the_end && place.length > rest.size()) {
      return Status(StatusCode::kInvalidModel,
                    fmt::format("the ONNX model has data beyond the end of {}", core::quoted(place.location)));
    }
    return graph::ExternalPlace{.location = std::string(kInMemory),
                                .offset = reinterpret_cast<std::uintptr_t>(rest.data()),
                                .length = is_to_the_end ? rest.size() : place.length};
  };
  LB_ASSIGN_OR_RETURN(const std::string graph, graph::with_external_places(form.graph.bytes, at_its_address));
  auto read = read_bytes(core, model, std::as_bytes(std::span(graph)), nullptr);
  for (const core::ExternalData& external : form.external)
    platform::release_pages(external.data.bytes);
  return read;
}

// Puts the data into the folder under the name that the model uses.
Status place(const core::ExternalData& external, const std::filesystem::path& folder) {
  const auto name = platform::path_from_utf8(external.location);
  if (name.empty() || name.has_root_path() || std::ranges::find(name, "..") != name.end()) {
    return {StatusCode::kInvalidModel,
            fmt::format("the data '{}' is outside the model's folder", core::printable(external.location))};
  }
  const auto file = folder / name;
  std::error_code refused;
  std::filesystem::create_directories(file.parent_path(), refused);
  LB_RETURN_IF_ERROR(platform::write_file_unsynced(file, external.data.bytes));
  platform::release_pages(external.data.bytes);
  return {};
}

// The vendor takes external data only from files. It maps them, so their names can be removed afterwards. If a mapped
// file cannot be removed (Windows), a later temporary folder removes this one.
Result<ModelHandle> read_from_folder(const VendorCore& core, const Model& model, const ModelForm& form) {
  LB_ASSIGN_OR_RETURN(const auto folder, platform::TemporaryFolder::create("model"));
  ModelForm written;
  written.format = form.format;
  written.file = folder.path() / "graph.onnx";
  for (const core::ExternalData& external : form.external)
    LB_RETURN_IF_ERROR(place(external, folder.path()).with_context(model.name()));
  std::error_code gone;
  for (int i = 0; std::filesystem::exists(written.file, gone); ++i)
    written.file = folder.path() / fmt::format("graph-{}.onnx", i);
  LB_RETURN_IF_ERROR(platform::write_file_unsynced(written.file, form.graph.bytes).with_context(model.name()));
  return read_file(core, written);
}

Result<ModelHandle> read_memory(const VendorCore& core, const Model& model, const ModelForm& form);

bool is_of_the_folder(const Status& status) {
  return status.code() == StatusCode::kDiskFull || status.code() == StatusCode::kPermissionDenied ||
         status.code() == StatusCode::kIo || status.code() == StatusCode::kNotFound;
}

// For systems where no file can be written for the vendor; `why` is the reason. Copies all data, beyond what the vendor
// copies.
Result<ModelHandle> read_in_one(const VendorCore& core, const Model& model, const ModelForm& form, const Status& why) {
  core::log(core::LogLevel::kInfo, fmt::format("{}: its external data is copied: {}", model.name(), why.to_string()));
  const auto data_of = [&](std::string_view location) -> std::optional<std::span<const std::byte>> {
    const auto found = std::ranges::find(form.external, location, &core::ExternalData::location);
    return found != form.external.end() ? std::optional(found->data.bytes) : std::nullopt;
  };
  auto whole = graph::with_inline_data(form.graph.bytes, data_of);
  if (!whole.ok()) return why;
  ModelForm in_one;
  in_one.format = form.format;
  in_one.graph = core::SharedBytes::from_string(*std::move(whole));
  return read_memory(core, model, in_one);
}

Result<ModelHandle> read_memory(const VendorCore& core, const Model& model, const ModelForm& form) {
  const Library& library = *core.library;
  const abi::Api& api = library.api;
  // Files were checked when they were opened. Versions 2025.4 and 2026.0 crash on truncated models.
  if (form.format == ModelFormat::kOnnx) {
    LB_RETURN_IF_ERROR(graph::check_onnx_structure(form.graph.bytes).with_context(model.name()));
  }
  if (!form.external.empty()) {
    if (std::ranges::none_of(form.external, &std::filesystem::path::empty, &core::ExternalData::file)) {
      auto read = read_by_addresses(core, model, form);
      if (read.ok()) return read;
      core::log(core::LogLevel::kInfo, fmt::format("{}: its external data is written to files for OpenVINO: {}",
                                                   model.name(), read.status().to_string()));
    }
    auto read = read_from_folder(core, model, form);
    if (read.ok() || !is_of_the_folder(read.status())) return read;
    return read_in_one(core, model, form, read.status());
  }
  TensorHandle weights;
  if (!form.weights.bytes.empty()) {
    auto dim = static_cast<std::int64_t>(form.weights.bytes.size());
    abi::Tensor* tensor = nullptr;
    // The data is only read, in spite of the signature: it may be a read-only mapping.
    auto* data = const_cast<std::byte*>(form.weights.bytes.data());
    if (const auto code = api.ov_tensor_create_from_host_ptr(library.element_types.code_of(core::ElementType::kU8),
                                                             abi::Shape{1, &dim}, data, &tensor);
        code != abi::kOk) {
      return library.error(StatusCode::kInvalidModel,
                           fmt::format("OpenVINO refuses the weights of model '{}'", model.name()), code);
    }
    weights = TensorHandle(api, tensor);
  }
  return read_bytes(core, model, form.graph.bytes, weights.get());
}

const ModelForm* form_of(const Model& model) {
  const ModelForm* form = model.find(ModelFormat::kOpenvinoIr);
  return form != nullptr ? form : model.find(ModelFormat::kOnnx);
}

}  // namespace

Result<Model> readable_model(const Model& model, bool may_pack_tokens, bool keeps_types) {
  if (model.graph() == nullptr || model.find(ModelFormat::kOpenvinoIr) != nullptr) return model;
  const graph::Graph& network = *model.graph()->graph;
  const core::FilePart weights = network.weights().empty() ? core::FilePart() : network.weights().front();
  const auto bytes = weights.bytes.bytes;
  Ir ir =
      write_ir(network, platform::MappedFile::tail_offset(bytes.size()),
               {.packs_tokens = may_pack_tokens && graph::can_pack(network).has_value(), .keeps_types = keeps_types});
  LB_ASSIGN_OR_RETURN(auto joined, platform::MappedFile::with_tail(weights.where, weights.identity, bytes,
                                                                   std::as_bytes(std::span(ir.tail))));
  const auto shared = std::make_shared<const platform::MappedFile>(std::move(joined));
  ModelForm form;
  form.format = ModelFormat::kOpenvinoIr;
  form.graph = core::SharedBytes::from_string(std::move(ir.xml));
  form.weights = {shared, shared->bytes()};
  return Model::from_forms(model.name(), {std::move(form)});
}

std::span<const std::byte> weights_in_memory(const Model& model) {
  const ModelForm* form = form_of(model);
  return form != nullptr ? form->weights.bytes : std::span<const std::byte>();
}

Result<ModelHandle> read_model(const VendorCore& core, const Model& model) {
  const ModelForm* form = form_of(model);
  if (form == nullptr) {
    return Status(StatusCode::kUnsupported,
                  fmt::format("model '{}' has no form that OpenVINO reads (onnx, openvino-ir)", model.name()));
  }
  return form->file.empty() ? read_memory(core, model, *form) : read_file(core, *form);
}

Status reshape(const Library& library, const ModelHandle& network, const std::vector<Shape>& shapes) {
  if (shapes.empty()) return {};
  std::size_t count = 0;
  if (const auto code = library.api.ov_model_inputs_size(network.get(), &count); code != abi::kOk) {
    return library.error(StatusCode::kInvalidModel, "OpenVINO does not report the number of the model's inputs", code);
  }
  if (count != shapes.size()) {
    return Status(StatusCode::kCountMismatch,
                  fmt::format("the model has {} inputs, but shapes were given for {}", count, shapes.size()));
  }
  std::vector<std::array<abi::Dimension, core::kRankMax>> dims(count);
  std::vector<abi::PartialShape> wanted(count);
  std::vector<std::size_t> positions(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (!shapes[i].is_static()) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("input {} was given the shape {}, which is not static", i, shapes[i].to_string()));
    }
    const auto rank = static_cast<std::int64_t>(shapes[i].rank());
    for (std::size_t d = 0; d < shapes[i].rank(); ++d)
      dims[i][d] = {shapes[i][d], shapes[i][d]};
    wanted[i] = {.rank = {rank, rank}, .dims = dims[i].data()};
    positions[i] = i;
  }
  if (const auto code =
          library.api.ov_model_reshape_by_port_indexes(network.get(), positions.data(), wanted.data(), count);
      code != abi::kOk) {
    std::string text;
    for (const Shape& shape : shapes)
      text += (text.empty() ? "" : ", ") + shape.to_string();
    return library.error(StatusCode::kShapeMismatch, fmt::format("the model does not accept the input shapes {}", text),
                         code);
  }
  return {};
}

}  // namespace latebind::openvino
