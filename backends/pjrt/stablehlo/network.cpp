#include "backends/pjrt/stablehlo/network.h"

#include <fmt/format.h>

#include <utility>

#include "backends/pjrt/stablehlo/writer.h"
#include "core/graph/operator_members.h"
#include "core/text/quote.h"

namespace latebind::pjrt {

using core::Result;
using core::Status;
using core::StatusCode;

NetworkWriter::NetworkWriter(const graph::Graph& graph, std::span<const core::Shape> input_shapes, Element narrow)
    : graph_(graph), input_shapes_(input_shapes), narrow_(narrow), hlo_(narrow == Element::kF32) {}

void NetworkWriter::fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
}

Tensor NetworkWriter::add_constant(const std::string& key, NetworkConstant constant) {
  const auto [at, is_new] = known_constants_.emplace(key, constants_.size());
  if (is_new) {
    constant_values_.push_back(hlo_.argument(constant.dims, constant.element));
    constants_.push_back(std::move(constant));
  }
  return constant_values_[at->second];
}

Tensor NetworkWriter::weight(const graph::Weight& of, Element element) {
  return add_constant(fmt::format("{} {} {}", of.file, of.offset, word_of(element)) + of.shape.to_string(),
                      {.dims = {of.shape.dims().begin(), of.shape.dims().end()}, .element = element, .from = of});
}

Tensor NetworkWriter::table(const std::string& key, Dims dims, std::vector<float> numbers) {
  return add_constant(key, {.dims = std::move(dims), .element = Element::kF32, .from = std::move(numbers)});
}

Tensor NetworkWriter::table(const std::string& key, Dims dims, std::vector<std::int32_t> numbers) {
  return add_constant(key, {.dims = std::move(dims), .element = Element::kI32, .from = std::move(numbers)});
}

NetworkInput* NetworkWriter::input_of(graph::Value value, std::string_view what) {
  const auto found = input_numbers_.find(value.node);
  if (found != input_numbers_.end() && inputs_[found->second].info.type == core::ElementType::kI64)
    return &inputs_[found->second];
  fail(Status(StatusCode::kUnsupported, fmt::format("pjrt takes {} only from an input of type i64", what)));
  return nullptr;
}

void NetworkWriter::expect_ids(graph::Value ids, std::int64_t end) {
  NetworkInput* const input = input_of(ids, "ids");
  if (input != nullptr && (input->ids_end == 0 || end < input->ids_end)) input->ids_end = end;
}

void NetworkWriter::expect_mask(graph::Value mask, bool may_be_unattended) {
  NetworkInput* const input = input_of(mask, "a mask");
  if (input == nullptr) return;
  input->is_mask = true;
  input->may_be_unattended = input->may_be_unattended || may_be_unattended;
}

Tensor NetworkWriter::attended(graph::Value mask) {
  return hlo_.compare(value(mask), 1, "EQ");
}

Result<Network> NetworkWriter::write() && {
  // Inputs are the first arguments.
  std::size_t input_count = 0;
  for (const graph::Node& node : graph_.nodes())
    if (std::holds_alternative<graph::Input>(node.op)) ++input_count;
  if (!input_shapes_.empty() && input_shapes_.size() != input_count) {
    return Status(StatusCode::kCountMismatch,
                  fmt::format("there are {} shapes for {} inputs", input_shapes_.size(), input_count));
  }
  values_.resize(graph_.nodes().size());
  for (const bool is_input : {true, false}) {
    for (std::size_t i = 0; i < graph_.nodes().size() && status_.ok(); ++i) {
      const graph::Node& node = graph_.nodes()[i];
      if (const auto* const input = std::get_if<graph::Input>(&node.op)) {
        if (!is_input) continue;
        input_numbers_.emplace(static_cast<std::uint32_t>(i), inputs_.size());
        inputs_.push_back({.info = {.name = input->name, .type = node.type, .shape = node.shape}});
        values_[i] = write(*input);
      } else if (!is_input) {
        values_[i] = std::visit([this](const auto& op) { return write(op); }, node.op);
      }
    }
  }
  LB_RETURN_IF_ERROR(status_);
  Network network;
  std::vector<Tensor> results;
  for (const graph::GraphOutput& output : graph_.outputs()) {
    results.push_back(value(output.value));
    LB_ASSIGN_OR_RETURN(const core::Shape shape, core::Shape::make(results.back().dims));
    network.outputs.push_back({.name = output.name, .type = core::ElementType::kF32, .shape = shape});
    if (results.back().element != Element::kF32) {
      return Status(StatusCode::kUnsupported, fmt::format("pjrt gives no output in {}: {}",
                                                          word_of(results.back().element), core::quoted(output.name)));
    }
  }
  network.text = hlo_.finish(results);
  network.inputs = std::move(inputs_);
  network.constants = std::move(constants_);
  return network;
}

Result<Element> element_for(core::Precision precision) {
  switch (precision) {
    case core::Precision::kF32:
      return Element::kF32;
    case core::Precision::kBF16:
      return Element::kBF16;
    case core::Precision::kF16:
      return Element::kF16;
    default:
      return Status(StatusCode::kUnsupported,
                    fmt::format("pjrt computes in f32, bf16 and f16, but {} was requested", core::word_of(precision)));
  }
}

Result<Network> write_network(const graph::Graph& graph, std::span<const core::Shape> input_shapes,
                              core::Precision precision) {
  LB_ASSIGN_OR_RETURN(const Element narrow, element_for(precision));
  return NetworkWriter(graph, input_shapes, narrow).write();
}

}  // namespace latebind::pjrt
