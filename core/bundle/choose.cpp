#include "core/bundle/choose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "core/backend/questions.h"
#include "core/platform/digest.h"
#include "core/text/quote.h"

namespace latebind::core {
namespace {

using Dims = std::vector<std::int64_t>;

std::string text_of(const std::vector<Dims>& shapes) {
  if (shapes.empty()) return "any shape";
  std::vector<std::string> texts;
  for (const Dims& dims : shapes)
    texts.push_back(fmt::format("[{}]", fmt::join(dims, ",")));
  return fmt::format("{}", fmt::join(texts, " "));
}

// Judges everything except the shapes.
Status judge_but_shapes(const LatebindInfo& info, const Device& device, const CompileOptions& options) {
  const auto refuse = [](std::string why) { return Status(StatusCode::kIncompatibleBlob, std::move(why)); };
  if (info.backend != device.backend) return refuse(fmt::format("made for the backend {}", printable(info.backend)));
  if (info.target != device.target()) {
    return refuse(fmt::format("made for {}, but this device is {}", printable(info.target), device.target()));
  }
  if (info.precision != word_of(options.precision)) {
    return refuse(fmt::format("computes in {}, but the request is for {}", printable(info.precision),
                              word_of(options.precision)));
  }
  return {};
}

// Returns the label of a blob for `device` in this precision, which is the blob's. The blob was made for a target, and
// the device of that architecture may have another name here.
BlobLabel label_of(const Variant& variant, const std::string& device, Precision precision) {
  const LatebindInfo& info = *variant.latebind;
  return {.backend = info.backend,
          .device = device,
          .runtime_version = info.runtime_version,
          .precision = precision,
          .compatibility = variant.compatibility_string};
}

Result<Blob> open_blob(const Package& package, const Variant& variant, const BlobLabel& label) {
  LB_ASSIGN_OR_RETURN(SharedBytes bytes, package.open_checked_file(variant, variant.latebind->model));
  return Blob{label, std::move(bytes)};
}

// Decides by Latebind's slot, or else by whether it is plain ONNX according to ONNX Runtime's slot.
bool is_portable(const Variant& variant) {
  if (variant.latebind) return variant.latebind->is_portable();
  return (variant.ep.empty() || variant.ep == kHostCpuProvider) && variant.compatibility_string.empty() &&
         !model_file_of(variant).empty();
}

}  // namespace

std::vector<std::vector<std::int64_t>> dims_of(const std::vector<Shape>& shapes) {
  std::vector<Dims> all;
  for (const Shape& shape : shapes)
    all.emplace_back(shape.dims().begin(), shape.dims().end());
  return all;
}

Result<const Component*> model_component(const Package& package) {
  const auto& components = package.manifest().components;
  if (components.size() == 1) return &components.front();
  if (const Component* model = package.find_component(kModelComponent)) return model;
  std::vector<std::string> names;
  for (const Component& component : components)
    names.push_back(printable(component.name));
  return Status(
      StatusCode::kInvalidModel,
      fmt::format("{}: if a bundle has several components, one must be called '{}'; it has: {}", package.files().name(),
                  kModelComponent, names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
}

const Variant* portable_variant(const Component& component) {
  const auto& variants = component.variants;
  const auto ours =
      std::ranges::find_if(variants, [](const Variant& v) { return v.latebind && v.latebind->is_portable(); });
  if (ours != variants.end()) return &*ours;
  const auto plain = std::ranges::find_if(variants, is_portable);
  return plain == variants.end() ? nullptr : &*plain;
}

std::string model_file_of(const Variant& variant) {
  if (variant.latebind) return variant.latebind->model;
  const auto slot = variant.executor_info.find(kHostSlot);
  if (slot == variant.executor_info.end()) return {};
  const auto file = slot->second.find(kHostModelFile);
  return file != slot->second.end() && file->is_string() ? file->get<std::string>() : std::string();
}

Status judge(const Variant& variant, const Device& device, const CompileOptions& options) {
  const auto refuse = [](const char* why) { return Status(StatusCode::kIncompatibleBlob, why); };
  if (is_portable(variant)) return refuse("the portable model: it is compiled if no blob fits");
  if (!variant.latebind) return refuse("made by another tool, which does not record the precision");
  LB_RETURN_IF_ERROR(judge_but_shapes(*variant.latebind, device, options));
  const auto wanted = dims_of(options.input_shapes);
  if (variant.latebind->shapes == wanted) return {};
  return Status(StatusCode::kIncompatibleBlob,
                fmt::format("takes {}, but the request is for {}", text_of(variant.latebind->shapes), text_of(wanted)));
}

Status try_variant(const Package& package, const Variant& variant, Backend& backend, const Device& device,
                   const CompileOptions& options) {
  CompileOptions as_compiled = options;
  as_compiled.input_shapes.clear();
  if (variant.latebind) {
    for (const Dims& dims : variant.latebind->shapes) {
      LB_ASSIGN_OR_RETURN(as_compiled.input_shapes.emplace_back(), Shape::make(dims));
    }
  }
  LB_RETURN_IF_ERROR(judge(variant, device, as_compiled));
  as_compiled.input_shapes.clear();
  const BlobLabel label = label_of(variant, device.name, options.precision);
  LB_RETURN_IF_ERROR(check_blob(backend, label, device.name, as_compiled));
  LB_ASSIGN_OR_RETURN(const Blob blob, open_blob(package, variant, label));
  return load_blob(backend, blob, device.name, as_compiled).status();
}

Result<std::shared_ptr<const BundleBlobs>> BundleBlobs::of(Package package) {
  LB_ASSIGN_OR_RETURN(const Component* component, model_component(package));
  const auto is_blob = [](const Variant& variant) { return variant.latebind && !variant.latebind->is_portable(); };
  if (std::ranges::none_of(component->variants, is_blob)) return std::shared_ptr<const BundleBlobs>();
  return std::shared_ptr<const BundleBlobs>(new BundleBlobs(std::move(package), *component));
}

std::vector<ReadyBlob> BundleBlobs::blobs_for(const Device& device, const CompileOptions& options) const {
  std::vector<const Variant*> fitting;
  for (const Variant& variant : component_.variants) {
    if (judge(variant, device, options).ok()) fitting.push_back(&variant);
  }
  // Blobs made by the present version of the runtime come first.
  std::stable_partition(fitting.begin(), fitting.end(), [&](const Variant* variant) {
    return variant->latebind->runtime_version == device.runtime_version;
  });
  std::vector<ReadyBlob> ready;
  for (const Variant* variant : fitting) {
    const BlobLabel label = label_of(*variant, device.name, options.precision);
    ready.push_back(
        {variant->name, label, [package = package_, variant, label] { return open_blob(package, *variant, label); }});
  }
  return ready;
}

namespace {

// Returns the length for which a blob with this many rows was compiled, if all its inputs are [rows, length].
std::optional<std::size_t> static_length(const Variant& variant, std::size_t rows) {
  if (!variant.latebind || is_portable(variant)) return std::nullopt;
  const auto& shapes = variant.latebind->shapes;
  const bool same = !shapes.empty() && std::ranges::all_of(shapes, [&](const Dims& d) { return d == shapes.front(); });
  if (!same || shapes.front().size() != 2 || shapes.front()[1] <= 0) return std::nullopt;
  if (std::cmp_not_equal(shapes.front()[0], rows)) return std::nullopt;
  return static_cast<std::size_t>(shapes.front()[1]);
}

bool is_blob_for(const Variant& variant, const Device& device, const CompileOptions& options) {
  return variant.latebind && !is_portable(variant) && judge_but_shapes(*variant.latebind, device, options).ok();
}

std::vector<std::size_t> rising(std::vector<std::size_t> lengths) {
  std::ranges::sort(lengths);
  lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
  return lengths;
}

}  // namespace

std::string BundleBlobs::digest_for(const Device& device, const CompileOptions& options) const {
  std::string text = "blobs";
  for (const Variant& variant : component_.variants) {
    if (!is_blob_for(variant, device, options)) continue;
    const auto recorded = package_.recorded_sum(variant, variant.latebind->model);
    if (!recorded) return {};
    text += fmt::format(" {}:{} {}", variant.name.size(), variant.name, *recorded);
  }
  return platform::sha256_hex(std::as_bytes(std::span(text)));
}

Status BundleBlobs::prove_for(const Device& device, const CompileOptions& options) const {
  for (const Variant& variant : component_.variants) {
    if (!is_blob_for(variant, device, options)) continue;
    LB_RETURN_IF_ERROR(package_.prove_file(variant, variant.latebind->model));
  }
  return {};
}

BlobSource::Padded BundleBlobs::padded() const {
  const Variant* portable = portable_variant(component_);
  if (portable == nullptr || !portable->latebind || !portable->latebind->assets.contains(kModelFolderRole)) return {};
  Padded found;
  for (const Variant& variant : component_.variants) {
    const auto length = static_length(variant, 1);
    if (!length) continue;
    found.lengths.push_back(*length);
    found.inputs = variant.latebind->shapes.size();
  }
  found.lengths = rising(std::move(found.lengths));
  return found;
}

std::vector<std::size_t> BundleBlobs::static_lengths(const Device& device, const CompileOptions& options,
                                                     std::size_t rows) const {
  std::vector<std::size_t> lengths;
  for (const Variant& variant : component_.variants) {
    const auto length = static_length(variant, rows);
    if (length && judge_but_shapes(*variant.latebind, device, options).ok()) lengths.push_back(*length);
  }
  return rising(std::move(lengths));
}

}  // namespace latebind::core
