// The group "buffer": memory of a plug-in's device.
#include <fmt/format.h>

#include <cstring>
#include <span>
#include <vector>

#include "backends/plugin/backend.h"
#include "backends/plugin/executable.h"
#include "kit/checks/all.h"
#include "kit/checks/common.h"
#include "kit/compare.h"
#include "kit/reference/evaluator.h"

namespace latebind::kit {
namespace {

using core::Result;
using core::Status;

constexpr const char* kNoBuffers = "it has no memory of its own";

// Null if the plug-in has no buffers.
Result<plugin::PluginBackend*> backend_with_buffers(Context& context) {
  LB_ASSIGN_OR_RETURN(core::Backend* const backend, context.backend());
  LB_ASSIGN_OR_RETURN(const plugin::PluginPointer plugin, context.plugin());
  if (plugin->slots.create_buffer == nullptr) return static_cast<plugin::PluginBackend*>(nullptr);
  return dynamic_cast<plugin::PluginBackend*>(backend);
}

Result<Finding> copy_what_was_written(Context& context) {
  LB_ASSIGN_OR_RETURN(plugin::PluginBackend* const backend, backend_with_buffers(context));
  if (backend == nullptr) return absent(kNoBuffers);
  std::mt19937 chance(context.options().seed);
  std::vector<std::pair<std::shared_ptr<plugin::DeviceBuffer>, std::vector<std::byte>>> all;
  for (const std::size_t size : {1U, 7U, 64U, 4096U, 1U << 20U}) {
    context.step(fmt::format("create_buffer() of {} bytes", size));
    LB_ASSIGN_OR_RETURN(auto buffer, backend->create_buffer(context.options().device, size));
    std::vector<std::byte> bytes(size);
    for (std::byte& byte : bytes)
      byte = static_cast<std::byte>(chance());
    // In two pieces, the second one first.
    const std::size_t half = size / 2;
    context.step("write_buffer()");
    LB_RETURN_IF_ERROR(buffer->write(half, std::span(bytes).subspan(half)));
    LB_RETURN_IF_ERROR(buffer->write(0, std::span(bytes).first(half)));
    all.emplace_back(std::move(buffer), std::move(bytes));
  }
  for (const auto& [buffer, bytes] : all) {
    std::vector<std::byte> found(bytes.size());
    context.step("read_buffer()");
    LB_RETURN_IF_ERROR(buffer->read(0, found));
    if (found != bytes)
      return wrong(fmt::format("a buffer of {} bytes has other bytes than were written", bytes.size()));
  }
  return passed(fmt::format("{} buffers", all.size()));
}

std::vector<std::byte> bytes_of(const core::TensorInfo& info, const Array& array) {
  std::vector<std::byte> bytes(array.values.size() * core::size_of(info.type));
  for (std::size_t i = 0; i < array.values.size(); ++i) {
    const auto number = static_cast<float>(array.values[i]);
    const auto whole = static_cast<std::int64_t>(array.values[i]);
    const bool is_whole = info.type == core::ElementType::kI64;
    std::memcpy(bytes.data() + i * core::size_of(info.type), is_whole ? static_cast<const void*>(&whole) : &number,
                core::size_of(info.type));
  }
  return bytes;
}

Result<Finding> run_from_and_to_buffers(Context& context) {
  LB_ASSIGN_OR_RETURN(plugin::PluginBackend* const backend, backend_with_buffers(context));
  if (backend == nullptr) return absent(kNoBuffers);
  LB_ASSIGN_OR_RETURN(const LoadedSample loaded, load_sample(context));
  auto* const executable = dynamic_cast<plugin::PluginExecutable*>(loaded.executable.get());
  std::mt19937 chance(context.options().seed);
  const Inputs inputs = loaded.sample.batch(chance, 3);
  std::vector<plugin::PlacedTensor> placed;
  constexpr std::uint64_t kOffset = 64;
  for (const core::TensorInfo& info : executable->inputs()) {
    const Array& array = inputs.at(info.name);
    const std::vector<std::byte> bytes = bytes_of(info, array);
    LB_ASSIGN_OR_RETURN(auto buffer, backend->create_buffer(context.options().device, bytes.size() + kOffset));
    LB_RETURN_IF_ERROR(buffer->write(kOffset, bytes));
    placed.push_back({.view = {nullptr, info.type, *core::Shape::make(array.shape), std::nullopt},
                      .buffer = std::move(buffer),
                      .offset = kOffset});
  }
  const Array wanted = evaluate(loaded.sample.graph, inputs);
  const std::size_t bytes = wanted.values.size() * sizeof(float);
  const core::Shape shape = *core::Shape::make(wanted.shape);
  LB_ASSIGN_OR_RETURN(auto output, backend->create_buffer(context.options().device, bytes));
  const plugin::PlacedTensor result{.view = {nullptr, core::ElementType::kF32, shape, std::nullopt}, .buffer = output};
  context.step("execute_to_buffers()");
  LB_RETURN_IF_ERROR(executable->execute_to_buffers(placed, {&result, 1}, {}));
  std::vector<std::byte> found(bytes);
  context.step("read_buffer()");
  LB_RETURN_IF_ERROR(output->read(0, found));
  LB_RETURN_IF_ERROR(compare(loaded.sample.graph, inputs, {read_array(core::ElementType::kF32, shape, found)},
                             executable->active().precision));
  return passed(loaded.sample.name);
}

constexpr Check kBufferChecks[] = {{.name = "buffer.copy",
                                    .what = "A buffer has the bytes that were written to it.",
                                    .scope = Scope::kPlugin,
                                    .run = copy_what_was_written},
                                   {.name = "buffer.run",
                                    .what = "A run reads its inputs from buffers and writes its output to one.",
                                    .scope = Scope::kPlugin,
                                    .run = run_from_and_to_buffers}};

}  // namespace

std::span<const Check> buffer_checks() {
  return kBufferChecks;
}

}  // namespace latebind::kit
