#include "hosts/onnxruntime/provider.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <string_view>

#include "hosts/onnxruntime/host_log.h"
#include "hosts/onnxruntime/onnx_part.h"

namespace latebind::provider {
namespace {

constexpr const char* kTimeoutKey = "latebind.timeout_ms";
constexpr std::size_t kLinesMax = 20;

// The time limit of the run on this thread: nodes cannot see the options of their run.
thread_local std::uint64_t g_timeout_ms = 0;

// One fused node, and its state, which has no further data.
struct FusedNode final : abi::NodeComputeInfo {
  FusedNode(const Host& its_host, const abi::Logger* its_logger, std::shared_ptr<LoadedPart> its_part)
      : abi::NodeComputeInfo{}, host(its_host), logger(its_logger), part(std::move(its_part)) {
    ort_version_supported = abi::kVersion;
    CreateState = [](abi::NodeComputeInfo* self, abi::NodeComputeContext*, void** state) -> abi::Status* {
      *state = self;
      return nullptr;
    };
    Compute = [](abi::NodeComputeInfo* self, void*, abi::KernelContext* context) -> abi::Status* {
      auto* node = static_cast<FusedNode*>(self);
      const SessionLog log(node->host, node->logger);
      return node->host.guarded([&] { node->run(context); });
    };
    ReleaseState = [](abi::NodeComputeInfo*, void*) {};
  }
  void run(abi::KernelContext* context) const {
    if (part == nullptr) {
      throw Failure(abi::kEpFail,
                    "Latebind: this session can only compile, because its device is not in this machine. Load the "
                    "model that it wrote in a session for a device of this machine");
    }
    part->run(host, context, g_timeout_ms);
  }
  const Host& host;
  const abi::Logger* const logger;
  const std::shared_ptr<LoadedPart> part;
};

Provider& of(abi::Ep* self) {
  return *static_cast<Provider*>(self);
}

void fill(abi::Ep& ep) {
  ep.ort_version_supported = abi::kVersion;
  ep.GetName = [](const abi::Ep*) -> const char* { return kProviderName; };
  ep.GetCapability = [](abi::Ep* self, const abi::Graph* graph, abi::GraphSupportInfo* support) -> abi::Status* {
    const SessionLog log(of(self).host(), of(self).logger());
    return of(self).host().guarded([&] { of(self).get_capability(graph, support); });
  };
  ep.ReleaseNodeComputeInfos = [](abi::Ep*, abi::NodeComputeInfo** infos, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      delete static_cast<FusedNode*>(infos[i]);
  };
  ep.Compile = [](abi::Ep* self, const abi::Graph** graphs, const abi::Node** fused, std::size_t count,
                  abi::NodeComputeInfo** infos, abi::Node** contexts) -> abi::Status* {
    std::fill_n(infos, count, nullptr);
    const SessionLog log(of(self).host(), of(self).logger());
    abi::Status* failed = of(self).host().guarded([&] {
      for (std::size_t i = 0; i < count; ++i)
        of(self).compile(graphs[i], fused[i], &infos[i], contexts != nullptr ? &contexts[i] : nullptr);
    });
    of(self).end_compile(failed == nullptr);
    if (failed != nullptr) {
      for (std::size_t i = 0; i < count; ++i) {
        delete static_cast<FusedNode*>(infos[i]);
        infos[i] = nullptr;
      }
    }
    return failed;
  };
  ep.OnRunStart = [](abi::Ep* self, const abi::RunOptions* options) -> abi::Status* {
    return of(self).host().guarded([&] { of(self).begin_run(options); });
  };
  ep.OnRunEnd = [](abi::Ep*, const abi::RunOptions*, bool) -> abi::Status* {
    Provider::end_run();
    return nullptr;
  };
  ep.GetCompiledModelCompatibilityInfo = [](abi::Ep* self, const abi::Graph*) -> const char* {
    return of(self).compatibility();
  };
  ep.IsConcurrentRunSupported = [](abi::Ep*, bool* is_supported) -> abi::Status* {
    *is_supported = true;
    return nullptr;
  };
}

Devices found_by(const Runtime& runtime) {
  auto found = devices_of(runtime);
  if (!found.ok()) throw failure_of("Latebind: devices", found.status());
  return *std::move(found);
}

// The known errors of every available backend.
onnx::KnownErrors known_errors_of(const Devices& found) {
  std::vector<std::string> versions;
  std::string table;
  for (const Backend& backend : found.backends) {
    if (!backend.available || backend.known_errors.empty()) continue;
    versions.push_back(backend.name + " " + backend.runtime_version);
    table += backend.known_errors + "\n";
  }
  auto errors = onnx::KnownErrors::read(table, "the table of known errors", versions);
  if (!errors.ok()) throw Failure(abi::kInvalidArgument, "Latebind: " + std::string(errors.status().message()));
  return *std::move(errors);
}

NestedLibrary nested_library(const SessionSettings& settings, const SessionDevice& device) {
  if (settings.nested) return NestedLibrary::kHosts;
  const auto is_nested = [](std::string_view name) {
    return !name.starts_with("openvino") && name != "cpu" && name != "gpu" && !name.empty();
  };
  const bool is_searched =
      std::ranges::any_of(device.virtual_ids, is_nested) || std::ranges::any_of(settings.targets, is_nested);
  return is_searched ? NestedLibrary::kSearched : NestedLibrary::kNone;
}

// All sessions share one runtime, except those whose options name libraries or allow ONNX Runtime to answer. A compiler
// uses the settings of its runtime.
std::shared_ptr<const Runtime> runtime_for(const Host& host, const SessionSettings& settings,
                                           const SessionDevice& device, std::shared_ptr<const Runtime> shared) {
  const NestedLibrary nested = nested_library(settings, device);
  const bool is_shared = nested == NestedLibrary::kNone && !settings.writes_contexts &&
                         lb_runtime_check_options(shared->get(), settings.options.get()) == LB_OK;
  if (is_shared) return shared;
  return std::make_shared<const Runtime>(make_runtime(host, settings.options, nested));
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : ",") + word;
  return text;
}

}  // namespace

Provider::Provider(const Host& host, const abi::Logger* logger, const abi::SessionOptions* options,
                   SessionDevice device, std::shared_ptr<const Runtime> shared)
    : abi::Ep{},
      host_(host),
      logger_(logger),
      settings_(read_session_settings(host, options)),
      given_(host, options),
      device_(std::move(device)),
      runtime_(runtime_for(host, settings_, device_, std::move(shared))),
      found_(found_by(*runtime_)),
      errors_(known_errors_of(found_)),
      fallback_(settings_.nested ? nullptr : std::make_shared<HostFallback>(host_, settings_.options)),
      options_(settings_.options) {
  fill(*this);
  if (!device_.virtual_ids.empty() && !settings_.writes_contexts && !settings_.emulate) {
    throw Failure(
        abi::kInvalidArgument,
        "Latebind: " + device_.virtual_ids.front() +
            " is a virtual device: it is not in this machine, and models can only be compiled for it. Compile "
            "with ep.context_enable=1 or OrtCompileApi, or choose a device whose metadata has no is_virtual=1");
  }
  const std::string devices = placement();
  options_.set("device", devices);
  if (!options_.status().ok()) throw failure_of("Latebind: device", options_.status());
  if (const Status status = Status::of(lb_runtime_check_options(runtime_->get(), options_.get())); !status.ok()) {
    throw failure_of("Latebind: device", status);
  }
  choose_targets();
}

void Provider::choose_targets() {
  targets_ = settings_.targets;
  if (targets_.empty() && !settings_.writes_contexts) return;
  if (targets_.empty()) {
    targets_ = device_.virtual_ids;
    const std::string devices = placement();
    if (device_.is_here) targets_.insert(targets_.begin(), devices.substr(0, devices.find(',')));
  }
  const auto meant = runtime_->targets(targets_);
  if (!meant.ok()) throw failure_of("Latebind: provider option targets", meant.status());
  for (const Device& device : *meant) {
    if (!device.metadata.contains("GraphsOnly")) continue;
    throw Failure(abi::kInvalidArgument,
                  "Latebind: provider option targets: there is nothing to compile for " + device.id);
  }
  if (settings_.writes_contexts) compatibility_ = compatibility_text(*meant);
}

std::string Provider::placement() const {
  if (!device_.is_here) return joined(device_.virtual_ids);
  std::string devices = placement_for(found_, settings_, device_.kind);
  // With emulation, the virtual devices were requested.
  return settings_.emulate && !device_.virtual_ids.empty() ? joined(device_.virtual_ids) + "," + devices : devices;
}

void Provider::begin_run(const abi::RunOptions* options) const {
  g_timeout_ms = 0;
  const char* text = options != nullptr ? host_->GetRunConfigEntry(options, kTimeoutKey) : nullptr;
  if (text == nullptr) return;
  const std::string_view digits = text;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    throw Failure(abi::kInvalidArgument, std::string("Latebind: ") + kTimeoutKey + " must be a number of milliseconds");
  }
  g_timeout_ms = value;
}

void Provider::end_run() {
  g_timeout_ms = 0;
}

std::string Provider::try_part(const GraphView& graph, const std::vector<std::size_t>& nodes) {
  if (!graph.makes_anything(nodes)) return "has no output that is used";
  if (wrong_options_) return {};
  const std::string key = graph.key(nodes);
  if (loaded_.contains(key)) return {};
  try {
    auto part = std::make_shared<LoadedPart>(*runtime_, graph.nodes()[nodes.front()].text(),
                                             graph.part(nodes, WeightsPlace::kBesideWhenMany), options_);
    // A node that is tried alone is not kept, since it will not run alone.
    if (nodes.size() > 1 || graph.nodes().size() == 1) loaded_[key] = std::move(part);
    return {};
  } catch (const Failure& failure) {
    check_options();
    // The host would treat an error here as a graph without nodes for Latebind, so compile() reports it.
    return wrong_options_ ? std::string() : failure.what();
  }
}

// Detects options with which a device does not load even a single operator. It refuses all nodes then, for a reason
// that is unrelated to them, and leaving them to the host would hide it.
void Provider::check_options() {
  if (options_checked_) return;
  options_checked_ = true;
  try {
    const LoadedPart smallest(*runtime_, "a model of one operator with this session's options", smallest_part(),
                              options_);
  } catch (const Failure& failure) {
    for (const lb_code code : {LB_INVALID_ARGUMENT, LB_UNSUPPORTED, LB_STRICT_FALLBACK})
      if (failure.cause() == code) wrong_options_ = failure;
  }
}

void Provider::get_capability(const abi::Graph* graph, abi::GraphSupportInfo* support) {
  const GraphView view(host_, graph, given_);
  // A node that keeps its constants has the values that the application gives.
  const abi::NodeFusionOptions without_constants{abi::kVersion, true};
  const abi::NodeFusionOptions with_constants{abi::kVersion, false};
  bool has_contexts = false;
  for (const NodeView& node : view.nodes()) {
    if (!is_our_context(host_, node)) continue;
    has_contexts = true;
    host_.check(host_->EpGraphSupportInfo_AddNodesToFuse(support, &node.raw, 1, &with_constants));
  }
  if (has_contexts || view.nodes().empty()) return;
  if (!view.is_within_a_node()) loaded_.clear();
  Trial trial;
  if (!settings_.writes_contexts) {
    trial = [&](const std::vector<std::size_t>& nodes) { return try_part(view, nodes); };
  }
  const Capability capability = capability_of(view, errors_, trial);
  std::size_t taken = 0;
  for (const std::vector<std::size_t>& part : capability.parts) {
    std::vector<const abi::Node*> raw;
    for (const std::size_t i : part)
      raw.push_back(view.nodes()[i].raw);
    host_.check(host_->EpGraphSupportInfo_AddNodesToFuse(support, raw.data(), raw.size(),
                                                         view.has_given(part) ? &with_constants : &without_constants));
    taken += raw.size();
  }
  if (view.is_within_a_node()) return;
  host_.log(abi::kInfo,
            "Latebind takes " + std::to_string(taken) + " of " + std::to_string(view.nodes().size()) + " nodes in " +
                std::to_string(capability.parts.size()) + " parts",
            logger_);
  for (std::size_t i = 0; i < std::min(capability.left.size(), kLinesMax); ++i)
    host_.log(abi::kInfo, "Latebind leaves to the host: " + capability.left[i], logger_);
  if (capability.left.size() > kLinesMax) {
    host_.log(abi::kInfo, "Latebind leaves " + std::to_string(capability.left.size() - kLinesMax) + " more", logger_);
  }
}

void Provider::compile(const abi::Graph* graph, const abi::Node* fused, abi::NodeComputeInfo** info,
                       abi::Node** context) {
  if (wrong_options_) throw Failure(*wrong_options_);
  const GraphView view(host_, graph, given_);
  const std::vector<ValueView> inputs = node_inputs(host_, fused);
  const std::vector<ValueView> outputs = node_outputs(host_, fused);
  std::vector<std::size_t> all(view.nodes().size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  std::shared_ptr<LoadedPart> loaded;
  const bool is_context = all.size() == 1 && is_our_context(host_, view.nodes()[0]);
  const char* name = nullptr;
  host_.check(host_->Node_GetName(fused, &name));
  Host::need(name, "name of a node");
  if (is_context) {
    const bool is_passed_on = settings_.writes_contexts && context != nullptr;
    if (is_passed_on) pass_context_on(view.nodes()[0], graph, name, context);
    if (!is_passed_on || device_.is_here) loaded = load_context(view.nodes()[0], graph);
  } else if (const auto found = loaded_.find(view.key(all)); found != loaded_.end()) {
    loaded = found->second;
    loaded_.erase(found);
  } else if (settings_.writes_contexts) {
    const OnnxPart whole = view.part(all, WeightsPlace::kInModel);
    loaded = write_context(graph, name, whole, context);
  } else {
    loaded = std::make_shared<LoadedPart>(*runtime_, name, view.part(all, WeightsPlace::kBesideWhenMany), options_);
  }
  if (loaded != nullptr) {
    loaded->bind(inputs, outputs);
    loaded->fall_back_to(fallback_);
    const Attestation active = loaded->attestation();
    host_.log(abi::kInfo,
              std::string("Latebind: ") + name + " on " + active.backend + ":" + active.device + " in " +
                  active.precision + ", runtime " + active.runtime_version + (active.fallback ? "; " : "") +
                  active.reason,
              logger_);
  }
  *info = new FusedNode(host_, logger_, std::move(loaded));
}

}  // namespace latebind::provider
