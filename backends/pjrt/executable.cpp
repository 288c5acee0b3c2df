#include "backends/pjrt/executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/graph/operators.h"
#include "core/text/quote.h"

namespace latebind::pjrt {

using core::OutputTensor;
using core::Result;
using core::RunOptions;
using core::Status;
using core::StatusCode;
using core::TensorView;

namespace {

Status check_wanted(const RunOptions& options) {
  LB_RETURN_IF_ERROR(core::check_time(options));
  if (options.nobody_waits.is_requested()) return Status(StatusCode::kCancelled, "nobody waits for the run");
  return {};
}

// An input in row-major order, at an aligned place.
struct Numbers {
  OutputTensor copy;
  const void* data = nullptr;
};

Status place(const TensorView& view, Numbers& numbers) {
  numbers.data = view.data;
  if (view.is_contiguous() && core::is_aligned(view.data, view.type)) return {};
  LB_ASSIGN_OR_RETURN(void* const to, numbers.copy.prepare(view.type, view.shape));
  numbers.data = to;
  return view.copy_to_contiguous(to);
}

}  // namespace

Result<std::vector<std::int32_t>> checked_numbers(const NetworkInput& input, std::span<const std::int64_t> numbers,
                                                  const std::int64_t* mask) {
  std::vector<std::int32_t> checked(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::int64_t number = numbers[i];
    const bool is_padding = mask != nullptr && mask[i] == 0;
    const bool is_id = input.ids_end == 0 || is_padding || (number >= 0 && number < input.ids_end);
    const bool is_of_mask =
        !input.is_mask || number == 0 || number == 1 || (input.may_be_unattended && number == graph::kUnattended);
    if (!is_id || !is_of_mask) {
      return Status(StatusCode::kInvalidArgument,
                    fmt::format("the input {} has {} at place {}; it must be {}", core::quoted(input.info.name), number,
                                i, is_id ? "0 or 1, as in a mask" : fmt::format("from 0 to {}", input.ids_end - 1)));
    }
    checked[i] = static_cast<std::int32_t>(std::clamp<std::int64_t>(number, std::numeric_limits<std::int32_t>::min(),
                                                                    std::numeric_limits<std::int32_t>::max()));
  }
  return checked;
}

PjrtExecutable::PjrtExecutable(std::shared_ptr<const LoadedProgram> loaded, core::ActiveConfig active)
    : loaded_(std::move(loaded)), active_(std::move(active)) {
  for (const NetworkInput& input : loaded_->inputs)
    inputs_.push_back(input.info);
}

Status PjrtExecutable::run(std::span<const TensorView> inputs, std::span<OutputTensor> outputs,
                           const RunOptions& options) {
  LB_RETURN_IF_ERROR(check_wanted(options));
  const Client& client = *loaded_->client;
  const Client::Device& device = client.devices()[loaded_->device];
  std::vector<Numbers> numbers(inputs.size());
  const std::int64_t* mask = nullptr;
  core::Shape mask_shape;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    LB_RETURN_IF_ERROR(place(inputs[i], numbers[i]));
    if (!loaded_->inputs[i].is_mask) continue;
    mask = static_cast<const std::int64_t*>(numbers[i].data);
    mask_shape = inputs[i].shape;
  }

  std::vector<OwnedBuffer> uploaded;
  std::vector<abi::Buffer*> arguments;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorView& view = inputs[i];
    const Dims dims(view.shape.dims().begin(), view.shape.dims().end());
    const void* data = numbers[i].data;
    Element element = Element::kF32;
    std::vector<std::int32_t> checked;
    if (view.type == core::ElementType::kI64) {
      LB_ASSIGN_OR_RETURN(const std::size_t count, view.shape.element_count());
      const bool has_mask = mask != nullptr && view.shape == mask_shape;
      LB_ASSIGN_OR_RETURN(checked, checked_numbers(loaded_->inputs[i], {static_cast<const std::int64_t*>(data), count},
                                                   has_mask ? mask : nullptr));
      data = checked.data();
      element = Element::kI32;
    }
    LB_ASSIGN_OR_RETURN(OwnedBuffer buffer, client.upload(device, data, element, dims, Doing::kRunning));
    arguments.push_back(buffer.get());
    uploaded.push_back(std::move(buffer));
  }
  for (const SharedBuffer& constant : loaded_->constants)
    arguments.push_back(constant->get());

  LB_RETURN_IF_ERROR(check_wanted(options));
  LB_ASSIGN_OR_RETURN(const std::vector<OwnedBuffer> results,
                      client.execute(loaded_->program, device, arguments, outputs.size()));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const core::TensorInfo& info = loaded_->outputs[i];
    LB_ASSIGN_OR_RETURN(const std::size_t bytes, core::byte_size_of(info.type, info.shape));
    LB_ASSIGN_OR_RETURN(void* const to, outputs[i].prepare(info.type, info.shape));
    LB_RETURN_IF_ERROR(client.download(results[i], to, bytes));
  }
  return {};
}

}  // namespace latebind::pjrt
