// Provider's compiled models: loading, writing, and passing on in another form.
#include <span>
#include <string>
#include <system_error>
#include <utility>

#include "core/bundle/package_identity.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/files/output_file.h"
#include "hosts/onnxruntime/onnx_part.h"
#include "hosts/onnxruntime/payload.h"
#include "hosts/onnxruntime/provider.h"

namespace latebind::provider {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPayload = "ep_cache_context";

fs::path path_of(const Host& host, const abi::Graph* graph) {
  const abi::PathChar* path = nullptr;
  host.check(host->Graph_GetModelPath(graph, &path));
  return path != nullptr ? fs::path(path) : fs::path();
}

std::shared_ptr<const Payload> payload_of(const Host& host, const NodeView& node) {
  auto payload = Payload::read(host, node.raw, kPayload);
  if (!payload->text().empty()) return payload;
  throw Failure(abi::kInvalidGraph, "Latebind: " + node.text() + " has no ep_cache_context; it must be compiled again");
}

// Replaces the name of the draft in a failure by the name that the bundle would have got.
Failure about_bundle(const Failure& failure, const fs::path& draft, const fs::path& model) {
  std::string text = failure.what();
  const std::string name = platform::path_to_utf8(draft);
  const std::string meant =
      platform::path_to_utf8(model.parent_path() / model.stem()) + std::string("_latebind_….lbundle");
  if (const auto at = text.find(name); at != std::string::npos) text.replace(at, name.size(), meant);
  return {failure.code(), std::move(text), failure.cause()};
}

}  // namespace

std::vector<fs::path> Provider::models(const abi::Graph* graph) const {
  const fs::path own = path_of(host_, graph);
  // With session.model_external_initializers_file_folder_path, it is an artificial name in the folder of the weights.
  std::error_code error;
  const bool is_file = fs::is_regular_file(own, error);
  std::vector<fs::path> all;
  if (is_file) all.push_back(own);
  if (!settings_.context_file.empty()) all.push_back(platform::path_from_utf8(settings_.context_file));
  if (!is_file && !own.empty()) all.push_back(own);
  if (all.empty()) all.emplace_back();
  return all;
}

fs::path Provider::written_model(const abi::Graph* graph) const {
  if (!settings_.context_file.empty()) return platform::path_from_utf8(settings_.context_file);
  const fs::path model = path_of(host_, graph);
  fs::path name = model.empty() ? fs::path("model") : model.stem();
  return model.parent_path() / (name += "_ctx.onnx");
}

std::shared_ptr<LoadedPart> Provider::load_context(const NodeView& node, const abi::Graph* graph) const {
  const auto payload = payload_of(host_, node);
  const ContextNode described = read_context_node(host_, node);
  // It computes as it was compiled, unless the application requests otherwise.
  Options options = options_;
  if (!is_set(settings_.options, "precision")) options.set("precision", "f32,f16");
  std::shared_ptr<LoadedPart> loaded;
  if (described.is_embedded) {
    loaded = std::make_shared<LoadedPart>(*runtime_, node.name, payload, payload->text(), options);
  } else {
    const BundleFile bundle = find_bundle(models(graph), std::string(payload->text()), described.identity);
    loaded = std::make_shared<LoadedPart>(*runtime_, node.name, bundle.file, options);
    check_unchanged(bundle);
  }
  loaded->name_ports(described.inputs, described.outputs);
  return loaded;
}

BundleFile Provider::place(const fs::path& model, const fs::path& draft, ContextNode& node) {
  BundleFile bundle = place_bundle(model, draft);
  placed_.push_back(bundle);
  node.is_embedded = false;
  node.identity = bundle.identity;
  return bundle;
}

std::shared_ptr<LoadedPart> Provider::write_context(const abi::Graph* graph, const char* name, const OnnxPart& whole,
                                                    abi::Node** context) {
  std::shared_ptr<LoadedPart> loaded;
  ContextNode node{name, name, whole.inputs, whole.outputs, own_sdk_version(), {}, true, {}};
  if (settings_.embeds_contexts || context == nullptr) {
    const auto bytes = std::make_shared<const std::string>(compile_bundle(*runtime_, name, whole, targets_));
    node.payload = *bytes;
    if (context != nullptr) *context = make_context_node(host_, node);
    if (device_.is_here) loaded = std::make_shared<LoadedPart>(*runtime_, name, bytes, *bytes, options_);
  } else {
    const fs::path model = written_model(graph);
    const fs::path draft = draft_beside(model);
    try {
      compile_bundle(*runtime_, name, whole, targets_, draft);
    } catch (const Failure& failure) {
      throw about_bundle(failure, draft, model);
    }
    const BundleFile bundle = place(model, draft, node);
    node.payload = bundle.name;
    *context = make_context_node(host_, node);
    if (device_.is_here) {
      loaded = std::make_shared<LoadedPart>(*runtime_, name, bundle.file, options_);
      check_unchanged(bundle);
    }
  }
  if (loaded != nullptr) loaded->name_ports(whole.inputs, whole.outputs);
  return loaded;
}

void Provider::pass_context_on(const NodeView& node, const abi::Graph* graph, const char* name, abi::Node** context) {
  if (!settings_.targets.empty()) {
    throw Failure(abi::kInvalidArgument,
                  "Latebind: the model is already compiled, and provider option targets cannot add to it: leave the "
                  "option out, compile the original model, or add to its bundle with 'latebind compile --add'");
  }
  const auto payload = payload_of(host_, node);
  ContextNode passed = read_context_node(host_, node);
  passed.name = name;
  std::span<const std::byte> bytes = std::as_bytes(std::span(payload->text()));
  std::shared_ptr<const platform::MappedFile> mapped;
  if (!passed.is_embedded) {
    const BundleFile bundle = find_bundle(models(graph), std::string(payload->text()), passed.identity);
    auto opened = platform::MappedFile::open(bundle.file);
    require(opened.status());
    mapped = std::make_shared<const platform::MappedFile>(*std::move(opened));
    check_unchanged(bundle);
    bytes = mapped->bytes();
  } else {
    require(core::content_of_bundle(bytes, name).status());
  }
  if (settings_.embeds_contexts) {
    passed.is_embedded = true;
    passed.payload = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
    *context = make_context_node(host_, passed);
  } else {
    const fs::path model = written_model(graph);
    const fs::path draft = draft_beside(model);
    require(platform::write_file_unsynced(draft, bytes));
    const BundleFile bundle = place(model, draft, passed);
    passed.payload = bundle.name;
    *context = make_context_node(host_, passed);
  }
  // The model's own text about compatibility remains valid.
  compatibility_.clear();
}

void Provider::end_compile(bool is_taken) noexcept {
  if (!is_taken) {
    for (const BundleFile& bundle : placed_)
      remove_bundle(bundle);
  }
  placed_.clear();
  given_.release();
}

}  // namespace latebind::provider
