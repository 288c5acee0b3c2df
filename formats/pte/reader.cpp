#include "formats/pte/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "core/text/quote.h"
#include "formats/pte/layout.h"
#include "formats/pte/values.h"
#include "formats/pte/verified.h"

namespace latebind::pte {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

namespace fb = executorch_flatbuffer;

// Reads an element that may be unaligned: flatbuffers' verifier does not check the alignment of a list's numbers.
std::int64_t number_at(const flatbuffers::Vector<std::int64_t>& list, std::size_t index) {
  std::int64_t number = 0;
  std::memcpy(&number, list.Data() + index * sizeof number, sizeof number);
  return flatbuffers::EndianScalar(number);
}

std::string_view view_of(const flatbuffers::String* text) {
  return text == nullptr ? std::string_view() : std::string_view(text->c_str(), text->size());
}

Result<std::string_view> name_from(const flatbuffers::String* text, std::string_view what) {
  const std::string_view name = view_of(text);
  if (name.size() > kNameMax) return damaged(fmt::format("the name of a {} has {} bytes", what, name.size()));
  return name;
}

// Reads the names that Latebind's writer stores.
void name_values(std::vector<Value>& values, const flatbuffers::String* names) {
  std::string_view rest = view_of(names);
  if (!rest.starts_with(kNamesMark)) return;
  rest.remove_prefix(kNamesMark.size());
  for (Value& value : values) {
    const auto end = rest.find('\n');
    if (end == std::string_view::npos) return;
    value.name = rest.substr(0, std::min(end, kNameMax));
    rest.remove_prefix(end + 1);
  }
}

Result<std::vector<Segment>> segments_from(const VerifiedProgram& program) {
  std::vector<Segment> segments;
  const auto* list = program.root->segments();
  if (count_of(list) > kSegmentsMax) return too_many("segments", count_of(list), kSegmentsMax);
  for (std::size_t i = 0; i < count_of(list); ++i) {
    const fb::DataSegment* stored = list->Get(static_cast<flatbuffers::uoffset_t>(i));
    const std::uint64_t all = program.layout.segment_size;
    if (stored->offset() > all || stored->size() > all - stored->offset()) {
      return damaged(fmt::format("segment {} has {} bytes at {}, but all segments together have {}", i, stored->size(),
                                 stored->offset(), all));
    }
    segments.push_back({program.layout.segment_base + stored->offset(), stored->size()});
  }
  return segments;
}

// Finds the delegate's payload.
Status find_payload(const VerifiedProgram& program, const std::vector<Segment>& segments,
                    const fb::BackendDelegateDataReference* place, Delegate& delegate) {
  if (place == nullptr) return damaged(fmt::format("the delegate {} has no payload", core::quoted(delegate.id)));
  delegate.index = place->index();
  delegate.is_inline = place->location() == fb::DataLocation::INLINE;
  if (!delegate.is_inline && place->location() != fb::DataLocation::SEGMENT) {
    return damaged(fmt::format("the payload of the delegate {} has no place", core::quoted(delegate.id)));
  }
  if (!delegate.is_inline) {
    if (delegate.index >= segments.size()) {
      return damaged(fmt::format("the payload of the delegate {} is segment {} of {}", core::quoted(delegate.id),
                                 delegate.index, segments.size()));
    }
    const Segment& segment = segments[delegate.index];
    delegate.payload_offset = segment.offset;
    delegate.payload =
        program.file.subspan(static_cast<std::size_t>(segment.offset), static_cast<std::size_t>(segment.size));
    return {};
  }
  const auto* list = program.root->backend_delegate_data();
  if (delegate.index >= count_of(list)) {
    return damaged(fmt::format("the payload of the delegate {} is entry {} of {}", core::quoted(delegate.id),
                               delegate.index, count_of(list)));
  }
  const auto* data = list->Get(static_cast<flatbuffers::uoffset_t>(delegate.index))->data();
  if (data == nullptr)
    return damaged(fmt::format("the payload of the delegate {} is missing", core::quoted(delegate.id)));
  delegate.payload = std::as_bytes(std::span(data->data(), data->size()));
  delegate.payload_offset = static_cast<std::uint64_t>(delegate.payload.data() - program.file.data());
  return {};
}

Result<Delegate> delegate_from(const VerifiedProgram& program, const std::vector<Segment>& segments,
                               const fb::BackendDelegate& stored) {
  Delegate delegate;
  LB_ASSIGN_OR_RETURN(delegate.id, name_from(stored.id(), "delegate"));
  LB_RETURN_IF_ERROR(find_payload(program, segments, stored.processed(), delegate));
  if (count_of(stored.compile_specs()) > kSpecsMax) {
    return too_many("compile specs for a delegate", count_of(stored.compile_specs()), kSpecsMax);
  }
  for (std::size_t i = 0; i < count_of(stored.compile_specs()); ++i) {
    const fb::CompileSpec* spec = stored.compile_specs()->Get(static_cast<flatbuffers::uoffset_t>(i));
    DelegateSpec one;
    LB_ASSIGN_OR_RETURN(one.key, name_from(spec->key(), "compile spec"));
    if (spec->value() != nullptr) one.value = std::as_bytes(std::span(spec->value()->data(), spec->value()->size()));
    delegate.compile_specs.push_back(one);
  }
  return delegate;
}

// Checks that a call names one of the method's delegates, and existing values.
Status check_call(const fb::ExecutionPlan& plan, const fb::DelegateCall* call) {
  if (call == nullptr) return damaged("a call of a delegate is missing");
  if (call->delegate_index() < 0 || static_cast<std::size_t>(call->delegate_index()) >= count_of(plan.delegates())) {
    return damaged(
        fmt::format("a call names the delegate {} of {}", call->delegate_index(), count_of(plan.delegates())));
  }
  if (count_of(call->args()) > 2 * kValuesMax) {
    return too_many("arguments for a delegate", count_of(call->args()), 2 * kValuesMax);
  }
  for (std::size_t i = 0; i < count_of(call->args()); ++i) {
    const std::int32_t at = call->args()->Get(static_cast<flatbuffers::uoffset_t>(i));
    if (at < 0 || static_cast<std::size_t>(at) >= count_of(plan.values())) {
      return damaged(fmt::format("a delegate is called with value {} of {}", at, count_of(plan.values())));
    }
  }
  return {};
}

Status count_instructions(const fb::ExecutionPlan& plan, Method& method) {
  for (std::size_t c = 0; c < count_of(plan.chains()); ++c) {
    const auto* instructions = plan.chains()->Get(static_cast<flatbuffers::uoffset_t>(c))->instructions();
    for (std::size_t i = 0; i < count_of(instructions); ++i) {
      const auto* instruction = instructions->Get(static_cast<flatbuffers::uoffset_t>(i));
      if (instruction->instr_args_type() == fb::InstructionArguments::DelegateCall) {
        LB_RETURN_IF_ERROR(check_call(plan, instruction->instr_args_as_DelegateCall()));
        ++method.delegate_calls;
      } else if (instruction->instr_args_type() == fb::InstructionArguments::KernelCall) {
        ++method.kernel_calls;
      } else {
        ++method.other_instructions;
      }
    }
  }
  return {};
}

Result<Method> method_from(const VerifiedProgram& program, const std::vector<Segment>& segments,
                           const fb::ExecutionPlan& plan) {
  Method method;
  LB_ASSIGN_OR_RETURN(method.name, name_from(plan.name(), "method"));
  method.values = count_of(plan.values());
  LB_ASSIGN_OR_RETURN(method.inputs, values_from(plan, plan.inputs(), "inputs", kValuesMax));
  LB_ASSIGN_OR_RETURN(method.outputs, values_from(plan, plan.outputs(), "outputs", kValuesMax));
  if (plan.container_meta_type() != nullptr) {
    name_values(method.inputs, plan.container_meta_type()->encoded_inp_str());
    name_values(method.outputs, plan.container_meta_type()->encoded_out_str());
  }
  if (count_of(plan.delegates()) > kDelegatesMax) {
    return too_many("delegates in a method", count_of(plan.delegates()), kDelegatesMax);
  }
  for (std::size_t i = 0; i < count_of(plan.delegates()); ++i) {
    const fb::BackendDelegate& stored = *plan.delegates()->Get(static_cast<flatbuffers::uoffset_t>(i));
    LB_ASSIGN_OR_RETURN(method.delegates.emplace_back(), delegate_from(program, segments, stored));
  }
  if (count_of(plan.non_const_buffer_sizes()) > kValuesMax) {
    return too_many("planned memories in a method", count_of(plan.non_const_buffer_sizes()), kValuesMax);
  }
  for (std::size_t i = 1; i < count_of(plan.non_const_buffer_sizes()); ++i)
    method.planned_bytes.push_back(number_at(*plan.non_const_buffer_sizes(), i));
  LB_RETURN_IF_ERROR(count_instructions(plan, method));
  return method;
}

}  // namespace

Result<Program> read_program(std::span<const std::byte> file) {
  LB_ASSIGN_OR_RETURN(const VerifiedProgram verified, verify_program(file));
  const fb::Program& root = *verified.root;
  Program program;
  program.version = root.version();
  program.flatbuffer_bytes = verified.layout.program_size;
  LB_ASSIGN_OR_RETURN(program.segments, segments_from(verified));
  if (root.constant_segment() != nullptr && count_of(root.constant_segment()->offsets()) > 1) {
    program.constants = count_of(root.constant_segment()->offsets()) - 1;
  } else if (count_of(root.constant_buffer()) > 1) {
    program.constants = count_of(root.constant_buffer()) - 1;
  }
  if (count_of(root.named_data()) > kSegmentsMax) {
    return too_many("named data", count_of(root.named_data()), kSegmentsMax);
  }
  for (std::size_t i = 0; i < count_of(root.named_data()); ++i) {
    const auto* key = root.named_data()->Get(static_cast<flatbuffers::uoffset_t>(i))->key();
    LB_ASSIGN_OR_RETURN(program.named_data.emplace_back(), name_from(key, "datum"));
  }
  if (count_of(root.execution_plan()) > kMethodsMax) {
    return too_many("methods", count_of(root.execution_plan()), kMethodsMax);
  }
  for (std::size_t i = 0; i < count_of(root.execution_plan()); ++i) {
    const fb::ExecutionPlan& plan = *root.execution_plan()->Get(static_cast<flatbuffers::uoffset_t>(i));
    LB_ASSIGN_OR_RETURN(program.methods.emplace_back(), method_from(verified, program.segments, plan));
  }
  if (program.methods.empty()) return damaged("it has no method");
  return program;
}

}  // namespace latebind::pte
