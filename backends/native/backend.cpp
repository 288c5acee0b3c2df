#include "backends/native/backend.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <ranges>
#include <string>
#include <utility>
#include <vector>

#include "backends/native/executable.h"
#include "backends/native/kernels/kernels.h"
#include "backends/native/order.h"
#include "backends/native/plan/plan.h"
#include "backends/native/probe.h"
#include "core/platform/environment.h"
#include "core/platform/system_info.h"
#include "core/text/quote.h"

namespace latebind::native {
namespace {

using core::CompileOptions;
using core::Executable;
using core::Model;
using core::Precision;
using core::Result;
using core::Status;
using core::StatusCode;

constexpr const char* kDeviceName = "CPU";

// The kernels' product in this precision; null if they do not support it.
const Product* product_of(const Kernels& kernels, Precision precision) {
  const Product* product = nullptr;
  if (precision == Precision::kF32) product = &kernels.f32;
  if (precision == Precision::kBF16) product = &kernels.bf16;
  if (precision == Precision::kF16) product = &kernels.f16;
  if (precision == Precision::kInt8) product = &kernels.int8;
  return product != nullptr && product->is_there() ? product : nullptr;
}

// The precisions for which `which` holds, in the order of their words.
template <class Which>
std::vector<Precision> precisions_where(const Which& which) {
  std::vector<Precision> precisions;
  for (const auto& [word, precision] : core::Words<Precision>::kWords) {
    if (which(precision)) precisions.push_back(precision);
  }
  return precisions;
}

std::vector<Precision> precisions_of(const Kernels& kernels) {
  return precisions_where([&](Precision precision) { return product_of(kernels, precision) != nullptr; });
}

const Kernels* fastest_kernels() {
  return *std::ranges::find_if(all_kernels(), [](const Kernels* set) { return can_run(*set); });
}

// Chooses among the precisions whose vectors keep a cosine of at least 0.999 to those in f32. docs/native.md has the
// figures.
Precision fastest(const Kernels& kernels) {
  // On Intel processors without AMX, a product in bf16 takes longer than one in f32. There are no figures yet for f16
  // on aarch64.
  if (kernels.name == "avx512_fp16") return Precision::kF16;
  const bool is_amd = platform::cpu_name().starts_with("AMD");
  return is_amd && product_of(kernels, Precision::kBF16) != nullptr ? Precision::kBF16 : Precision::kF32;
}

class NativeBackend final : public core::Backend, public core::PrecisionProbe {
 public:
  explicit NativeBackend(BackendOptions options) : options_(std::move(options)) {}

  [[nodiscard]] std::string_view name() const override { return kBackendName; }
  [[nodiscard]] Status available() override { return kernels().status(); }
  [[nodiscard]] Result<std::string> runtime_version() override { return std::string(LATEBIND_VERSION); }

  [[nodiscard]] Result<std::vector<core::Device>> devices() override {
    LB_ASSIGN_OR_RETURN(const Kernels* const kernels, this->kernels());
    return std::vector{device_with(*kernels)};
  }

  [[nodiscard]] Result<std::unique_ptr<Executable>> load(const Model& model, std::string_view device,
                                                         const CompileOptions& options) override {
    LB_ASSIGN_OR_RETURN(const Kernels* const kernels, this->kernels());
    if (device != kDeviceName) {
      return Status(StatusCode::kDeviceNotFound,
                    fmt::format("native has no device {}; it has {}", core::quoted(device), kDeviceName));
    }
    LB_RETURN_IF_ERROR(check(options, *kernels));
    if (model.graph() == nullptr) {
      return Status(
          StatusCode::kUnsupported,
          fmt::format("native runs only models that Latebind builds from model.safetensors, and {} is not one of them",
                      core::quoted(model.name())));
    }
    LB_RETURN_IF_ERROR(model.check_forms());
    LB_RETURN_IF_ERROR(model.check_bytes());
    const Precision precision = options.precision == Precision::kFast ? fastest(*kernels) : options.precision;
    const WeightFiles files(*model.graph()->graph);
    LB_ASSIGN_OR_RETURN(Plan plan, make_plan(model.graph()->graph, files, *kernels, *product_of(*kernels, precision)));
    core::ActiveConfig active;
    active.backend = kBackendName;
    active.device = kDeviceName;
    active.device_full_name = processor();
    active.runtime_version = LATEBIND_VERSION;
    active.precision = precision;
    // More threads than processors would only wait for each other.
    const unsigned processors = options_.processors != 0 ? options_.processors : platform::usable_processors();
    active.threads = options.threads != 0 ? std::min(options.threads, processors) : processors;
    active.leaves_padding_out = true;
    active.compiles_nothing = true;
    active.requests = options.requests != 0 ? options.requests : active.threads;
    try {
      auto executable = std::make_unique<NativeExecutable>(*kernels, std::move(plan), std::move(active));
      LB_RETURN_IF_ERROR(executable->pack(files));
      return std::unique_ptr<Executable>(std::move(executable));
    } catch (const std::bad_alloc&) {
      return Status(StatusCode::kOutOfMemory, "not enough memory for the packed weights of native:CPU");
    }
  }

  [[nodiscard]] core::PrecisionSpeeds measure_precisions(std::chrono::milliseconds time) override {
    const auto kernels = this->kernels();
    if (!kernels.ok()) return {};
    std::vector<ProbedProduct> products;
    for (const Precision precision : precisions_of(**kernels))
      products.push_back({precision, product_of(**kernels, precision)});
    return {std::string((*kernels)->name), probe_products(**kernels, products, time)};
  }

  [[nodiscard]] core::BackendDiagnosis diagnosis(const Result<std::vector<core::Device>>* /*devices*/) override {
    core::BackendDiagnosis diagnosis{.install_hint = "nothing: native is built in", .is_built_in = true};
    // Only the setting native.isa can make the device unavailable: without it, every processor runs some set.
    if (!kernels().ok()) diagnosis.withheld_by_setting = device_with(*fastest_kernels());
    return diagnosis;
  }

  [[nodiscard]] core::Capabilities capabilities() override {
    return {.no_blobs_because =
                "native:CPU does not compile: when it loads a model, it packs the weights in milliseconds for the "
                "processor's instructions; it runs every bundle and program of an embedding model without compilation",
            .precision_probe = this};
  }

 private:
  static std::string processor() {
    const std::string name = platform::cpu_name();
    return name.empty() ? "a processor that the system does not name" : name;
  }

  static core::Device device_with(const Kernels& kernels) {
    core::Device device;
    device.backend = kBackendName;
    device.name = kDeviceName;
    device.kind = core::DeviceKind::kCpu;
    device.full_name = processor();
    device.runtime_version = LATEBIND_VERSION;
    device.traits.graphs_only = true;
    device.traits.precisions = precisions_of(kernels);
    const OrderRule& rule = order_rule({platform::cpu_name(), kernels.name});
    const auto is_preferred = [&](Precision precision) {
      // kFast itself, and precisions that no other backend has.
      return precision == Precision::kFast ||
             (product_of(kernels, precision) != nullptr &&
              (precision == Precision::kInt8 || (precision == Precision::kF32 && rule.is_first_in_f32) ||
               (precision == Precision::kBF16 && rule.is_first_in_bf16)));
    };
    device.traits.preferred_in = precisions_where(is_preferred);
    device.traits.preferred_because = rule.because;
    device.metadata["InstructionSet"] = kernels.name;
    device.metadata["PreferredInF32"] = order_table(&OrderRule::is_first_in_f32);
    device.metadata["PreferredInBF16"] = order_table(&OrderRule::is_first_in_bf16);
    return device;
  }

  // An option that is silently ignored would go unnoticed, so it is refused.
  static Status check(const CompileOptions& options, const Kernels& kernels) {
    LB_RETURN_IF_ERROR(core::check_counts(options));
    if (options.precision != Precision::kFast && product_of(kernels, options.precision) == nullptr) {
      return {StatusCode::kUnsupported,
              fmt::format("native:CPU supports {} with {}, but {} was requested",
                          fmt::join(precisions_of(kernels) | std::views::transform(core::word_of<Precision>), ", "),
                          kernels.name, core::word_of(options.precision))};
    }
    if (!options.input_shapes.empty()) {
      return {StatusCode::kUnsupported,
              "native:CPU takes any number of texts of any length, and does not support static shapes"};
    }
    if (!options.properties.empty()) {
      return {StatusCode::kUnsupported, fmt::format("native:CPU has no property {}; it has no properties",
                                                    core::quoted(options.properties.begin()->first))};
    }
    return {};
  }

  // The set of the settings; otherwise the current value of the environment variable, as for a vendor's library.
  [[nodiscard]] std::string isa() const {
    return !options_.isa.empty() ? options_.isa
                                 : platform::trusted_environment(kSettings[0].environment.data()).value_or("");
  }

  [[nodiscard]] Result<const Kernels*> kernels() const {
    const std::string isa = this->isa();
    if (isa.empty()) return fastest_kernels();
    std::string known;
    for (const Kernels* const set : all_kernels()) {
      known += fmt::format("{}{}", known.empty() ? "" : ", ", set->name);
      if (set->name != isa) continue;
      if (can_run(*set)) return set;
      return Status(StatusCode::kUnsupported,
                    fmt::format("native.isa is {}, which this processor does not support", isa));
    }
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("native.isa is {}; this build supports {}", core::quoted(isa), known));
  }

  const BackendOptions options_;
};

}  // namespace

std::shared_ptr<core::Backend> make_backend(BackendOptions options) {
  return std::make_shared<NativeBackend>(std::move(options));
}

std::shared_ptr<core::Backend> configured_backend(const core::BackendSettingTexts& texts) {
  return make_backend({.isa = core::text_of(texts, "native.isa")});
}

}  // namespace latebind::native
