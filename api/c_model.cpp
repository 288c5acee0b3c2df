// Outputs, attestations and models of the C interface.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/c_objects.h"
#include "api/c_support.h"
#include "app/model_source.h"
#include "app/payload.h"
#include "core/platform/files/folders.h"
#include "core/threads/background_work.h"
#include "core/threads/thread_object.h"

namespace core = latebind::core;
namespace api = latebind::api;
namespace app = latebind::app;
namespace platform = latebind::platform;

static_assert(LB_RANK_MAX == core::kRankMax);
static_assert(sizeof(lb_tensor) == 24 + 2 * 8 * LB_RANK_MAX, "lb_tensor is frozen");

namespace {

// A call has few inputs and outputs; a larger number is a mistake.
constexpr size_t kTensorsMax = 4096;

lb_tensor to_c(const core::TensorView& view) {
  lb_tensor tensor{};
  tensor.data = view.data;
  tensor.type = static_cast<int32_t>(view.type);
  tensor.rank = static_cast<int32_t>(view.shape.rank());
  for (size_t i = 0; i < view.shape.rank(); ++i)
    tensor.shape[i] = view.shape[i];
  return tensor;
}

core::Result<core::TensorView> from_c(const lb_tensor& tensor, size_t index) {
  LB_RETURN_IF_ERROR(api::check_reserved(tensor.reserved_, "lb_tensor", "input", index));
  const auto type = static_cast<core::ElementType>(tensor.type);
  if (core::size_of(type) == 0) {
    return api::misuse(fmt::format("input {} has the unknown element type {}", index, tensor.type));
  }
  if (tensor.rank < 0 || tensor.rank > LB_RANK_MAX) {
    return api::misuse(fmt::format("input {} has rank {}; it must be from 0 to {}", index, tensor.rank, LB_RANK_MAX));
  }
  core::TensorView view;
  view.data = tensor.data;
  view.type = type;
  LB_ASSIGN_OR_RETURN(view.shape, core::Shape::make({tensor.shape, static_cast<size_t>(tensor.rank)}));
  if (tensor.strided != 0) {
    view.strides.emplace();
    std::copy(std::begin(tensor.strides), std::end(tensor.strides), view.strides->begin());
  }
  return view;
}

core::Status write_info(std::span<const core::TensorInfo> infos, size_t index, std::string_view what,
                        lb_tensor_info* out) {
  if (index >= infos.size()) {
    return api::misuse(fmt::format("the model has {} {}s, so there is no index {}", infos.size(), what, index));
  }
  const core::TensorInfo& info = infos[index];
  lb_tensor_info value{};
  value.name = info.name.c_str();
  value.type = static_cast<int32_t>(info.type);
  value.rank = static_cast<int32_t>(info.shape.rank());
  for (size_t i = 0; i < info.shape.rank(); ++i) {
    value.shape[i] = info.shape[i];
    value.upper[i] = i < info.upper.size() ? info.upper[i] : LB_DYNAMIC;
  }
  return api::write_struct(value, out, "lb_tensor_info");
}

struct RunVectors {
  std::vector<core::TensorView> inputs;
  std::vector<core::OutputTensor> outputs;
};

// Memory that a thread keeps between calls, so that repeated runs allocate nothing. A run owns it exclusively: the log
// may call a function of the user in the middle of the run, and that function may run another model on this thread. A
// thread that is ending keeps no memory.
class RunScratch : public RunVectors {
 public:
  RunScratch() {
    if (auto* const kept = core::ThreadObject<RunVectors>::get()) static_cast<RunVectors&>(*this) = std::move(*kept);
  }
  RunScratch(const RunScratch&) = delete;
  RunScratch& operator=(const RunScratch&) = delete;
  ~RunScratch() {
    inputs.clear();
    outputs.clear();
    if (auto* const kept = core::ThreadObject<RunVectors>::get()) *kept = std::move(*this);
  }
};

// Moves the tensors of the caller's lb_outputs side by side, as executables expect them, and moves them back on
// destruction. The return must happen on every path: nothing else knows the memory that callers bound to them.
class LentOutputs {
 public:
  LentOutputs(std::span<lb_output* const> from, std::vector<core::OutputTensor>& to) : from_(from), to_(to) {
    to.resize(from.size());
    for (size_t i = 0; i < from.size(); ++i)
      to[i] = std::move(from[i]->tensor);
  }
  LentOutputs(const LentOutputs&) = delete;
  LentOutputs& operator=(const LentOutputs&) = delete;
  ~LentOutputs() {
    for (size_t i = 0; i < from_.size(); ++i)
      from_[i]->tensor = std::move(to_[i]);
  }

 private:
  const std::span<lb_output* const> from_;
  std::vector<core::OutputTensor>& to_;
};

// A model has few files of external data; a larger number is a mistake.
constexpr size_t kExternalMax = 65'536;

core::Result<std::vector<core::ExternalData>> external_data(const lb_model_memory& memory,
                                                            const std::shared_ptr<const void>& owner) {
  if (memory.external_count > 0 && memory.external == nullptr) {
    return api::misuse("lb_model_load_memory: external_count without external");
  }
  if (memory.external_count > kExternalMax)
    return api::misuse("lb_model_load_memory: too many pieces of external data");
  std::vector<core::ExternalData> all;
  for (size_t i = 0; i < memory.external_count; ++i) {
    const lb_external_data& one = memory.external[i];
    const char* const file = memory.external_files != nullptr ? memory.external_files[i] : nullptr;
    if (file != nullptr) {
      if (one.location == nullptr || one.data != nullptr || one.size > 0) {
        return api::misuse(fmt::format("lb_model_load_memory: external data {} has both a file and data", i));
      }
      LB_ASSIGN_OR_RETURN(all.emplace_back(),
                          core::ExternalData::in_file(one.location, platform::path_from_utf8(file)));
      continue;
    }
    if (one.location == nullptr || (one.data == nullptr && one.size > 0)) {
      return api::misuse(fmt::format("lb_model_load_memory: NULL in external data {}", i));
    }
    // An empty piece still needs a pointer that is not null.
    const void* const data = one.size > 0 ? one.data : memory.graph;
    all.push_back({.location = one.location, .data = {owner, {static_cast<const std::byte*>(data), one.size}}});
  }
  return all;
}

core::Status load(const lb_runtime* runtime, const core::Model& model, const lb_options* options, const api::Call& call,
                  lb_model** out) {
  LB_RETURN_IF_ERROR(api::check_made_here(runtime->shared->made, "runtime"));
  LB_ASSIGN_OR_RETURN(auto request, api::load_request(*runtime, options, call));
  // A blob computes in the precision it was compiled for, whatever Latebind's default is.
  if (model.has_blobs_only() && !request.precision_given) {
    request.set_precisions({core::Precision::kF32, core::Precision::kF16});
  }
  auto made = std::make_unique<lb_model>();
  made->runtime = runtime->shared;
  LB_ASSIGN_OR_RETURN(made->placed, runtime->shared->engine.load(model, request.placement, request.load));
  if (call.answered_by != nullptr) {
    LB_RETURN_IF_ERROR(api::give_attestation(made->placed->attestation(), call.answered_by));
  }
  *out = made.release();
  return {};
}

}  // namespace

lb_code lb_output_create(void* data, size_t capacity, lb_output** output) {
  return api::guarded([&]() -> core::Status {
    if (output == nullptr) return api::misuse("lb_output_create: the pointer to the output is NULL");
    auto made = std::make_unique<lb_output>();
    if (data != nullptr) made->tensor = core::OutputTensor::bound(data, capacity);
    *output = made.release();
    return {};
  });
}

lb_code lb_output_bind(lb_output* output, void* data, size_t capacity) {
  return api::guarded([&]() -> core::Status {
    if (output == nullptr) return api::misuse("lb_output_bind: NULL was given");
    if (data == nullptr) {
      if (output->tensor.is_bound()) output->tensor = core::OutputTensor();
    } else {
      output->tensor = core::OutputTensor::bound(data, capacity);
    }
    return {};
  });
}

void lb_output_destroy(lb_output* output) {
  delete output;
}

lb_code lb_output_get(const lb_output* output, lb_tensor* tensor) {
  return api::guarded([&]() -> core::Status {
    if (output == nullptr || tensor == nullptr) return api::misuse("lb_output_get: NULL was given");
    *tensor = to_c(output->tensor.view());
    return {};
  });
}

void lb_attestation_destroy(lb_attestation* attestation) {
  delete attestation;
}

lb_code lb_attestation_get(const lb_attestation* attestation, lb_active* active) {
  return api::guarded([&]() -> core::Status {
    if (attestation == nullptr) return api::misuse("lb_attestation_get: NULL was given");
    const core::Attestation& from = *attestation->attestation;
    lb_active value{};
    value.backend = from.active.backend.c_str();
    value.device = from.active.device.c_str();
    value.device_full_name = from.active.device_full_name.c_str();
    value.runtime_version = from.active.runtime_version.c_str();
    value.library_file = from.active.library_file.c_str();
    value.precision = core::word_of(from.active.precision).data();  // a literal, NUL-terminated
    value.threads = from.active.threads;
    value.requests = from.active.requests;
    value.fallback = from.fallback ? 1 : 0;
    value.reason = from.reason.c_str();
    value.static_lengths = from.active.static_lengths.empty() ? nullptr : from.active.static_lengths.data();
    value.static_length_count = from.active.static_lengths.size();
    value.static_rows = from.active.static_rows;
    value.hung_runs = attestation->hung_runs;
    value.emulated = from.active.emulated ? 1 : 0;
    value.nodes = from.active.nodes;
    value.host_nodes = from.active.host_nodes;
    value.verification = from.verification.c_str();
    return api::write_struct(value, active, "lb_active");
  });
}

size_t lb_attestation_step_count(const lb_attestation* attestation) {
  return attestation != nullptr ? attestation->attestation->steps.size() : 0;
}

lb_code lb_attestation_step(const lb_attestation* attestation, size_t index, lb_placement_step* step) {
  return api::guarded([&]() -> core::Status {
    if (index >= lb_attestation_step_count(attestation)) {
      return api::misuse("lb_attestation_step: no step of this index");
    }
    const core::PlacementStep& from = attestation->attestation->steps[index];
    lb_placement_step value{};
    value.device = from.device.c_str();
    value.taken = from.taken ? 1 : 0;
    value.reason = from.reason.c_str();
    value.details = from.details.c_str();
    return api::write_struct(value, step, "lb_placement_step");
  });
}

lb_code lb_model_load_file(const lb_runtime* runtime, const char* file, const lb_options* options,
                           const lb_call_options* call, lb_model** model) {
  return api::guarded_work([&]() -> core::Status {
    if (runtime == nullptr || file == nullptr || model == nullptr) {
      return api::misuse("lb_model_load_file: NULL was given");
    }
    *model = nullptr;
    LB_ASSIGN_OR_RETURN(const api::Call of_call, api::read_call(call));
    LB_ASSIGN_OR_RETURN(const core::Model read, app::open_model(platform::path_from_utf8(file)));
    return load(runtime, read, options, of_call, model);
  });
}

lb_code lb_model_load_memory(const lb_runtime* runtime, const lb_model_memory* memory, const lb_options* options,
                             const lb_call_options* call, lb_model** model) {
  return api::guarded([&]() -> core::Status {
    LB_ASSIGN_OR_RETURN(const lb_model_memory read, api::read_struct(memory, "lb_model_memory"));
    // From here on, every path releases the memory exactly once.
    const std::shared_ptr<const void> owner(read.graph, [read](const void*) {
      if (read.release != nullptr) read.release(read.context);
    });
    const core::ForegroundWork work;
    if (!work.may_begin()) return core::ending_error();
    if (runtime == nullptr || model == nullptr || read.graph == nullptr) {
      return api::misuse("lb_model_load_memory: NULL was given");
    }
    *model = nullptr;
    if (read.weights == nullptr && read.weights_size > 0) {
      return api::misuse("lb_model_load_memory: weights_size without weights");
    }
    if (read.format < LB_FORMAT_ONNX || read.format > LB_FORMAT_BY_FIRST_BYTES) {
      return api::misuse(fmt::format("lb_model_load_memory: {} is not a format", read.format));
    }
    LB_ASSIGN_OR_RETURN(const api::Call of_call, api::read_call(call));
    core::SharedBytes weights;
    if (read.weights_size > 0) {
      weights = {owner, {static_cast<const std::byte*>(read.weights), read.weights_size}};
    }
    app::Payload payload{.format = static_cast<app::PayloadFormat>(read.format),
                         .bytes = {owner, {static_cast<const std::byte*>(read.graph), read.graph_size}},
                         .weights = std::move(weights),
                         .name = api::text_or(read.name, "a model in memory")};
    LB_ASSIGN_OR_RETURN(payload.external, external_data(read, owner));
    LB_ASSIGN_OR_RETURN(const core::Model opened, app::model_of_payload(std::move(payload)));
    return load(runtime, opened, options, of_call, model);
  });
}

void lb_model_destroy(lb_model* model) {
  if (model != nullptr) api::destroy(model, model->made);
}

size_t lb_model_input_count(const lb_model* model) {
  return model != nullptr ? model->placed->inputs().size() : 0;
}

size_t lb_model_output_count(const lb_model* model) {
  return model != nullptr ? model->placed->outputs().size() : 0;
}

lb_code lb_model_input(const lb_model* model, size_t index, lb_tensor_info* info) {
  return api::guarded([&]() -> core::Status {
    if (model == nullptr) return api::misuse("lb_model_input: NULL was given");
    return write_info(model->placed->inputs(), index, "input", info);
  });
}

lb_code lb_model_output(const lb_model* model, size_t index, lb_tensor_info* info) {
  return api::guarded([&]() -> core::Status {
    if (model == nullptr) return api::misuse("lb_model_output: NULL was given");
    return write_info(model->placed->outputs(), index, "output", info);
  });
}

lb_code lb_model_run(lb_model* model, const lb_tensor* inputs, size_t input_count, lb_output* const* outputs,
                     size_t output_count, const lb_call_options* call) {
  return api::guarded([&]() -> core::Status {
    if (model == nullptr || (inputs == nullptr && input_count > 0) || (outputs == nullptr && output_count > 0)) {
      return api::misuse("lb_model_run: NULL was given");
    }
    LB_RETURN_IF_ERROR(api::check_made_here(model->made, "model"));
    LB_RETURN_IF_ERROR(core::check_not_ending());
    if (input_count > kTensorsMax) return api::misuse(fmt::format("lb_model_run: {} inputs", input_count));
    const size_t expected = model->placed->outputs().size();
    if (output_count != expected) {
      return core::Status(core::StatusCode::kCountMismatch,
                          fmt::format("the model has {} outputs, but {} were given", expected, output_count));
    }
    LB_ASSIGN_OR_RETURN(const api::Call of_call, api::read_call(call));
    RunScratch scratch;
    auto& [views, tensors] = static_cast<RunVectors&>(scratch);
    for (size_t i = 0; i < input_count; ++i) {
      LB_ASSIGN_OR_RETURN(views.emplace_back(), from_c(inputs[i], i));
    }
    for (size_t i = 0; i < output_count; ++i) {
      if (outputs[i] == nullptr) return api::misuse(fmt::format("lb_model_run: output {} is NULL", i));
      if (const auto* const same = std::find(outputs, outputs + i, outputs[i]); same != outputs + i) {
        return api::misuse(fmt::format("lb_model_run: outputs {} and {} are the same lb_output", same - outputs, i));
      }
    }
    const LentOutputs lent({outputs, output_count}, tensors);
    std::shared_ptr<const core::Attestation> who;
    core::Status status =
        model->placed->execute(views, tensors, of_call.limits, of_call.answered_by != nullptr ? &who : nullptr);
    if (status.ok() && who) return api::give_attestation(std::move(who), of_call.answered_by);
    return status;
  });
}

lb_code lb_model_attestation(const lb_model* model, lb_attestation** attestation) {
  return api::guarded([&]() -> core::Status {
    if (model == nullptr) return api::misuse("lb_model_attestation: NULL was given");
    LB_RETURN_IF_ERROR(api::check_made_here(model->made, "model"));
    return api::give_attestation(model->placed->attestation(), attestation, model->placed->hung_runs());
  });
}
