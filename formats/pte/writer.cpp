#include "formats/pte/writer.h"

#include <fmt/format.h>
#include <program_generated.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "formats/pte/layout.h"

namespace latebind::pte {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

namespace fb = executorch_flatbuffer;
using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

// The alignment of planned memory: a cache line, which also suits vector units.
constexpr std::uint64_t kPlanAlignment = 64;
constexpr std::uint64_t kTensorBytesMax = std::uint64_t{1} << 40;
constexpr std::uint64_t kInlineMax = std::uint64_t{1} << 30;
constexpr std::size_t kTextMax = std::size_t{1} << 20;
constexpr std::size_t kAlignmentMax = std::size_t{1} << 21;
// Id 0 is the memory of constants; the method's memory is the next one.
constexpr std::uint32_t kPlanId = 1;

Status misuse(std::string text) {
  return {StatusCode::kInvalidArgument, "cannot write a program: " + std::move(text)};
}

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// A tensor with everything that the flatbuffer stores about it.
struct PlannedTensor {
  const TensorSpec* spec = nullptr;
  std::vector<std::uint8_t> dim_order;
  std::optional<std::uint64_t> offset;  // in the planned memory
};

Result<std::uint64_t> checked_bytes(const TensorSpec& tensor, std::string_view what) {
  const auto refuse = [&](std::string_view text) { return misuse(fmt::format("{} '{}' {}", what, tensor.name, text)); };
  if (size_of(tensor.type) == 0) {
    return refuse(fmt::format("has the unknown element type {}", static_cast<int>(tensor.type)));
  }
  if (tensor.sizes.size() > kRankMax) {
    return refuse(fmt::format("has {} dimensions; the limit is {}", tensor.sizes.size(), kRankMax));
  }
  std::uint64_t bytes = size_of(tensor.type);
  for (const std::int32_t size : tensor.sizes) {
    if (size < 0) return refuse(fmt::format("has the dimension {}: dynamic ones need an upper bound", size));
    if (size != 0 && bytes > kTensorBytesMax / static_cast<std::uint64_t>(size)) {
      return refuse("is larger than a tebibyte");
    }
    bytes *= static_cast<std::uint64_t>(size);
  }
  if (!tensor.dim_order.empty()) {
    std::vector<std::uint8_t> sorted = tensor.dim_order;
    std::ranges::sort(sorted);
    bool whole = sorted.size() == tensor.sizes.size();
    for (std::size_t i = 0; whole && i < sorted.size(); ++i)
      whole = sorted[i] == i;
    if (!whole) return refuse("has an order of dimensions that does not name each of them once");
  }
  return bytes;
}

Status check(const ProgramSpec& spec, const Payload& payload) {
  if (spec.method.empty()) return misuse("the method has no name");
  if (spec.backend.empty()) return misuse("the delegate has no id");
  if (spec.inputs.size() > kTensorsMax || spec.outputs.size() > kTensorsMax) {
    return misuse(fmt::format("it has {} inputs and {} outputs; the limit of each is {}", spec.inputs.size(),
                              spec.outputs.size(), kTensorsMax));
  }
  if (payload.size == 0 || !payload.write) return misuse("the payload of the delegate is missing");
  if (payload.size > kTensorBytesMax || (spec.inline_payload && payload.size > kInlineMax)) {
    return misuse(fmt::format("the payload of {} bytes is too large", payload.size));
  }
  std::size_t text = spec.method.size() + spec.backend.size();
  for (const CompileSpec& one : spec.compile_specs) {
    if (one.key.empty()) return misuse("a compile spec has no key");
    text += one.key.size() + one.value.size();
  }
  for (const auto* tensors : {&spec.inputs, &spec.outputs}) {
    for (const TensorSpec& tensor : *tensors) {
      if (tensor.name.find('\n') != std::string::npos) return misuse("the name of a tensor has more than one line");
      text += tensor.name.size();
    }
  }
  if (text > kTextMax) return misuse(fmt::format("names and compile specs have {} bytes in total", text));
  if (!std::has_single_bit(spec.payload_alignment) || spec.payload_alignment < 16 ||
      spec.payload_alignment > kAlignmentMax) {
    return misuse(fmt::format("the payload's alignment of {} is not a power of two from 16 to {}",
                              spec.payload_alignment, kAlignmentMax));
  }
  return {};
}

// Plans inputs, then outputs; `planned_bytes` receives the size of their memory.
Result<std::vector<PlannedTensor>> plan(const ProgramSpec& spec, std::uint64_t& planned_bytes) {
  std::vector<PlannedTensor> all;
  const auto add = [&](const std::vector<TensorSpec>& tensors, std::string_view what, bool planned) -> Status {
    for (const TensorSpec& tensor : tensors) {
      LB_ASSIGN_OR_RETURN(const std::uint64_t bytes, checked_bytes(tensor, what));
      PlannedTensor one{&tensor, tensor.dim_order, std::nullopt};
      if (one.dim_order.empty()) {
        one.dim_order.resize(tensor.sizes.size());
        std::iota(one.dim_order.begin(), one.dim_order.end(), std::uint8_t{0});
      }
      if (planned) {
        one.offset = planned_bytes;
        // A tensor without elements gets a place as well, since ExecuTorch rejects a tensor in a memory that does not
        // exist.
        planned_bytes += round_up(std::max<std::uint64_t>(bytes, 1), kPlanAlignment);
        if (planned_bytes > kTensorBytesMax) return misuse("its tensors need more than a tebibyte");
      }
      all.push_back(std::move(one));
    }
    return {};
  };
  LB_RETURN_IF_ERROR(add(spec.inputs, "input", spec.plan_inputs));
  LB_RETURN_IF_ERROR(add(spec.outputs, "output", true));
  return all;
}

template <class T>
auto empty_tables(FlatBufferBuilder& builder) {
  return builder.CreateVector(std::vector<Offset<T>>());
}

Offset<fb::EValue> add_value(FlatBufferBuilder& builder, const PlannedTensor& planned) {
  const TensorSpec& tensor = *planned.spec;
  const auto sizes = builder.CreateVector(tensor.sizes);
  const auto dim_order = builder.CreateVector(planned.dim_order);
  Offset<fb::AllocationDetails> allocation = 0;
  if (planned.offset) {
    allocation = fb::CreateAllocationDetails(builder, kPlanId, static_cast<std::uint32_t>(*planned.offset),
                                             static_cast<std::uint32_t>(*planned.offset >> 32U));
  }
  fb::TensorBuilder made(builder);
  made.add_scalar_type(static_cast<fb::ScalarType>(tensor.type));
  made.add_sizes(sizes);
  made.add_dim_order(dim_order);
  if (planned.offset) made.add_allocation_info(allocation);
  made.add_shape_dynamism(tensor.is_dynamic ? fb::TensorShapeDynamism::DYNAMIC_BOUND : fb::TensorShapeDynamism::STATIC);
  const auto value = made.Finish();
  return fb::CreateEValue(builder, fb::KernelTypes::Tensor, value.Union());
}

Offset<fb::BackendDelegate> add_delegate(FlatBufferBuilder& builder, const ProgramSpec& spec) {
  std::vector<Offset<fb::CompileSpec>> specs;
  for (const CompileSpec& one : spec.compile_specs) {
    const auto key = builder.CreateString(one.key);
    const auto value = builder.CreateVector(reinterpret_cast<const std::uint8_t*>(one.value.data()), one.value.size());
    specs.push_back(fb::CreateCompileSpec(builder, key, value));
  }
  const auto id = builder.CreateString(spec.backend);
  const auto where = fb::CreateBackendDelegateDataReference(
      builder, spec.inline_payload ? fb::DataLocation::INLINE : fb::DataLocation::SEGMENT, 0);
  const auto compile_specs = builder.CreateVector(specs);
  return fb::CreateBackendDelegate(builder, id, where, compile_specs);
}

Offset<fb::Chain> add_chain(FlatBufferBuilder& builder, const std::vector<std::int32_t>& inputs,
                            const std::vector<std::int32_t>& outputs) {
  std::vector<std::int32_t> arguments = inputs;
  arguments.insert(arguments.end(), outputs.begin(), outputs.end());
  const auto call = fb::CreateDelegateCall(builder, 0, builder.CreateVector(arguments));
  const auto instruction = fb::CreateInstruction(builder, fb::InstructionArguments::DelegateCall, call.Union());
  const auto instructions = builder.CreateVector(std::vector<Offset<fb::Instruction>>{instruction});
  const auto chain_inputs = builder.CreateVector(inputs);
  const auto chain_outputs = builder.CreateVector(outputs);
  return fb::CreateChain(builder, chain_inputs, chain_outputs, instructions);
}

// The names are stored where exporters describe the flattened inputs and outputs. ExecuTorch would treat a tensor with
// a name as an attribute of the method.
std::string names_of(const std::vector<TensorSpec>& tensors) {
  std::string names(kNamesMark);
  bool any = false;
  for (const TensorSpec& tensor : tensors) {
    any = any || !tensor.name.empty();
    names += tensor.name + "\n";
  }
  return any ? names : std::string();
}

Offset<fb::ExecutionPlan> add_method(FlatBufferBuilder& builder, const ProgramSpec& spec,
                                     const std::vector<PlannedTensor>& tensors, std::uint64_t planned_bytes) {
  std::vector<Offset<fb::EValue>> values;
  for (const PlannedTensor& tensor : tensors)
    values.push_back(add_value(builder, tensor));
  std::vector<std::int32_t> inputs(spec.inputs.size());
  std::iota(inputs.begin(), inputs.end(), 0);
  std::vector<std::int32_t> outputs(spec.outputs.size());
  std::iota(outputs.begin(), outputs.end(), static_cast<std::int32_t>(inputs.size()));
  // Entry 0 stands for the constants and is not read.
  std::vector<std::int64_t> buffers{0};
  if (planned_bytes != 0) buffers.push_back(static_cast<std::int64_t>(planned_bytes));

  const auto name = builder.CreateString(spec.method);
  const auto input_names = builder.CreateString(names_of(spec.inputs));
  const auto output_names = builder.CreateString(names_of(spec.outputs));
  const auto container = fb::CreateContainerMetadata(builder, input_names, output_names);
  const auto all_values = builder.CreateVector(values);
  const auto all_inputs = builder.CreateVector(inputs);
  const auto all_outputs = builder.CreateVector(outputs);
  const auto chains = builder.CreateVector(std::vector{add_chain(builder, inputs, outputs)});
  const auto operators = empty_tables<fb::Operator>(builder);
  const auto delegates = builder.CreateVector(std::vector{add_delegate(builder, spec)});
  const auto sizes = builder.CreateVector(buffers);
  return fb::CreateExecutionPlan(builder, name, container, all_values, all_inputs, all_outputs, chains, operators,
                                 delegates, sizes);
}

Result<std::string> collected(const Payload& payload) {
  std::string bytes;
  LB_RETURN_IF_ERROR(write_payload(payload, [&](std::span<const std::byte> part) -> Status {
    bytes.append(reinterpret_cast<const char*>(part.data()), part.size());
    return {};
  }));
  return bytes;
}

// The flatbuffer without the extended header.
Result<std::string> flatbuffer_of(const ProgramSpec& spec, const Payload& payload) {
  std::uint64_t planned_bytes = 0;
  LB_ASSIGN_OR_RETURN(const auto tensors, plan(spec, planned_bytes));
  FlatBufferBuilder builder;
  const auto methods = builder.CreateVector(std::vector{add_method(builder, spec, tensors, planned_bytes)});
  const auto constants = empty_tables<fb::Buffer>(builder);
  auto data = empty_tables<fb::BackendDelegateInlineData>(builder);
  auto segments = empty_tables<fb::DataSegment>(builder);
  if (spec.inline_payload) {
    LB_ASSIGN_OR_RETURN(const std::string bytes, collected(payload));
    builder.ForceVectorAlignment(bytes.size(), 1, 16);
    const auto stored = builder.CreateVector(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    data = builder.CreateVector(std::vector{fb::CreateBackendDelegateInlineData(builder, stored)});
  } else {
    segments = builder.CreateVector(std::vector{fb::CreateDataSegment(builder, 0, payload.size)});
  }
  const auto constant_offsets = builder.CreateVector(std::vector<std::uint64_t>{0});
  const auto constant_segment = fb::CreateSubsegmentOffsets(builder, 0, constant_offsets);
  builder.Finish(fb::CreateProgram(builder, 0, methods, constants, data, segments, constant_segment),
                 fb::ProgramIdentifier());
  return std::string(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
}

// Everything before the payload. The extended header is inserted after the flatbuffer's first eight bytes, and moves
// the rest by a multiple of every alignment in it.
Result<std::string> head_of(const ProgramSpec& spec, const Payload& payload) {
  LB_ASSIGN_OR_RETURN(const std::string plain, flatbuffer_of(spec, payload));
  Layout layout;
  layout.program_size = plain.size() + kHeaderBytes;
  if (!spec.inline_payload) {
    layout.segment_base = round_up(layout.program_size, spec.payload_alignment);
    layout.segment_size = payload.size;
  }
  const std::uint64_t root = read_number(bytes_of(plain), 0, 4) + kHeaderBytes;
  std::string head = number_bytes(root, 4) + plain.substr(kIdentifierAt, kIdentifier.size()) + header_bytes(layout);
  head.append(plain, kHeaderAt);
  if (layout.segment_base != 0) head.resize(static_cast<std::size_t>(layout.segment_base), '\0');
  return head;
}

}  // namespace

bool is_built_in() {
  return true;
}

Status write_program(const ProgramSpec& spec, const Payload& payload, const Sink& sink) {
  LB_RETURN_IF_ERROR(check(spec, payload));
  LB_ASSIGN_OR_RETURN(const std::string head, head_of(spec, payload));
  LB_RETURN_IF_ERROR(sink(bytes_of(head)));
  return spec.inline_payload ? Status() : write_payload(payload, sink);
}

Result<std::string> program_bytes(const ProgramSpec& spec, std::string_view payload) {
  std::string program;
  LB_RETURN_IF_ERROR(write_program(spec, Payload::of(bytes_of(payload)), [&](std::span<const std::byte> part) {
    program.append(reinterpret_cast<const char*>(part.data()), part.size());
    return Status();
  }));
  return program;
}

}  // namespace latebind::pte
