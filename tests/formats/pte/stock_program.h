// Programs as ExecuTorch's own exporter makes them, built as trees: several methods, delegates of several backends,
// kernels, constants, named data.
#pragma once

#include <program_generated.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "formats/pte/layout.h"
#include "tests/formats/pte/support.h"

namespace latebind::pte::test {

namespace fb = executorch_flatbuffer;

// The file of a tree: its segments are these, aligned.
inline std::string file_of(fb::ProgramT& tree, const std::vector<std::string>& segments, std::uint64_t alignment = 128,
                           bool with_header = true) {
  std::string data;
  tree.segments.clear();
  for (const std::string& segment : segments) {
    data.resize(round_up(data.size(), alignment), '\0');
    tree.segments.push_back(std::make_unique<fb::DataSegmentT>());
    tree.segments.back()->offset = data.size();
    tree.segments.back()->size = segment.size();
    data += segment;
  }
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(fb::Program::Pack(builder, &tree), fb::ProgramIdentifier());
  const std::string plain(reinterpret_cast<const char*>(builder.GetBufferPointer()), builder.GetSize());
  if (!with_header) return plain;
  Layout layout;
  layout.program_size = plain.size() + kHeaderBytes;
  if (!segments.empty()) {
    layout.segment_base = round_up(layout.program_size, alignment);
    layout.segment_size = data.size();
  }
  const AlignedBytes aligned(plain);
  std::string bytes = number_bytes(read_number(aligned.span(), 0, 4) + kHeaderBytes, 4) + "ET12" +
                      header_bytes(layout) + plain.substr(8);
  if (!segments.empty()) bytes.resize(layout.segment_base, '\0');
  return bytes + data;
}

inline std::unique_ptr<fb::BackendDelegateT> stock_delegate(const std::string& id, fb::DataLocation where,
                                                            std::uint32_t index) {
  auto delegate = std::make_unique<fb::BackendDelegateT>();
  delegate->id = id;
  delegate->processed = std::make_unique<fb::BackendDelegateDataReferenceT>();
  delegate->processed->location = where;
  delegate->processed->index = index;
  delegate->compile_specs.push_back(std::make_unique<fb::CompileSpecT>());
  delegate->compile_specs[0]->key = "device";
  delegate->compile_specs[0]->value = {'C', 'P', 'U', 0};
  return delegate;
}

// One method: x through the delegates one after the other, and a kernel at the end.
inline std::unique_ptr<fb::ExecutionPlanT> stock_method(const std::string& name,
                                                        std::vector<std::unique_ptr<fb::BackendDelegateT>> delegates) {
  auto plan = std::make_unique<fb::ExecutionPlanT>();
  plan->name = name;
  plan->container_meta_type = std::make_unique<fb::ContainerMetadataT>();
  plan->container_meta_type->encoded_inp_str = "T2#1#0($,D0())";
  plan->container_meta_type->encoded_out_str = "$";
  const auto values = static_cast<std::int32_t>(delegates.size()) + 1;
  for (std::int32_t i = 0; i < values; ++i) {
    fb::TensorT tensor;
    tensor.scalar_type = fb::ScalarType::FLOAT;
    tensor.sizes = {4, 3};
    tensor.dim_order = {0, 1};
    if (i != 0) {
      tensor.allocation_info = std::make_unique<fb::AllocationDetailsT>();
      tensor.allocation_info->memory_id = 1;
      tensor.allocation_info->memory_offset_low = static_cast<std::uint32_t>(48 * (i - 1));
    }
    plan->values.push_back(std::make_unique<fb::EValueT>());
    plan->values.back()->val.Set(std::move(tensor));
  }
  plan->inputs = {0};
  plan->outputs = {values - 1};
  plan->chains.push_back(std::make_unique<fb::ChainT>());
  for (std::int32_t i = 0; i + 1 < values; ++i) {
    fb::DelegateCallT call;
    call.delegate_index = i;
    call.args = {i, i + 1};
    plan->chains[0]->instructions.push_back(std::make_unique<fb::InstructionT>());
    plan->chains[0]->instructions.back()->instr_args.Set(std::move(call));
  }
  plan->delegates = std::move(delegates);
  plan->operators.push_back(std::make_unique<fb::OperatorT>());
  plan->operators[0]->name = "aten::add";
  plan->operators[0]->overload = "out";
  plan->non_const_buffer_sizes = {0, 48 * (values - 1)};
  return plan;
}

// Two methods; "forward" has a delegate of the stock backend between two of XNNPACK, "encode" the stock one alone. With
// segments those are: constants, XNNPACK's, the stock payload, XNNPACK's, named data.
inline fb::ProgramT stock_tree(bool is_inline) {
  const auto where = is_inline ? fb::DataLocation::INLINE : fb::DataLocation::SEGMENT;
  fb::ProgramT tree;
  std::vector<std::unique_ptr<fb::BackendDelegateT>> mixed;
  mixed.push_back(stock_delegate("XnnpackBackend", where, is_inline ? 0 : 1));
  mixed.push_back(stock_delegate("OpenvinoBackend", where, is_inline ? 1 : 2));
  mixed.push_back(stock_delegate("XnnpackBackend", where, is_inline ? 2 : 3));
  tree.execution_plan.push_back(stock_method("forward", std::move(mixed)));
  std::vector<std::unique_ptr<fb::BackendDelegateT>> alone;
  alone.push_back(stock_delegate("OpenvinoBackend", where, is_inline ? 1 : 2));
  tree.execution_plan.push_back(stock_method("encode", std::move(alone)));
  tree.constant_segment = std::make_unique<fb::SubsegmentOffsetsT>();
  tree.constant_segment->segment_index = 0;
  tree.constant_segment->offsets = {0, 16, 64};
  tree.named_data.push_back(std::make_unique<fb::NamedDataT>());
  tree.named_data[0]->key = "weights of XNNPACK";
  tree.named_data[0]->segment_index = is_inline ? 1 : 4;
  return tree;
}

inline std::vector<std::string> stock_segments(bool is_inline, const std::string& payload) {
  const std::string constants(100, 'c');
  const std::string named(77, 'n');
  if (is_inline) return {constants, named};
  return {constants, std::string(300, 'x'), payload, std::string(5, 'y'), named};
}

inline std::string stock_file(bool is_inline, const std::string& payload) {
  fb::ProgramT tree = stock_tree(is_inline);
  if (is_inline) {
    for (const std::string& data : {std::string(300, 'x'), payload, std::string(5, 'y')}) {
      tree.backend_delegate_data.push_back(std::make_unique<fb::BackendDelegateInlineDataT>());
      tree.backend_delegate_data.back()->data.assign(data.begin(), data.end());
    }
  }
  return file_of(tree, stock_segments(is_inline, payload));
}

}  // namespace latebind::pte::test
