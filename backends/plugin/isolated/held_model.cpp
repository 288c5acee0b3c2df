#include "backends/plugin/isolated/held_model.h"

#include <utility>

#include "core/platform/files/folders.h"

namespace latebind::plugin {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;

}  // namespace

Result<std::unique_ptr<HeldModel>> HeldModel::read(std::shared_ptr<Reader> from, platform::SharedMemory memory) {
  std::unique_ptr<HeldModel> held(new HeldModel(std::move(from)));
  held->memory_ = std::move(memory);
  held->read_model();
  LB_RETURN_IF_ERROR(held->status_);
  if (!held->from_->good()) return breach("the message with a model is damaged");
  return held;
}

const HeldModel& HeldModel::of(const lbb_graph* graph) {
  static_assert(offsetof(Shared, graph) == 0);
  return *reinterpret_cast<const Shared*>(graph)->of;
}

std::span<const std::byte> HeldModel::weight(std::uint32_t number) const {
  const lbb_graph& graph = *model_->graph;
  if (number >= graph.weight_count) return {};
  const lbb_weight& weight = *graph.weights[number];
  return {bytes_of_parts_[weight.part] + weight.offset, weight.bytes};
}

// The next block of the memory that came with the model.
const std::byte* HeldModel::next_bytes(std::uint64_t size) {
  const auto bytes = memory_.bytes();
  if (size > bytes.size() - at_) {
    status_ = breach("the memory of a model is too small");
    return nullptr;
  }
  const std::byte* const from = bytes.data() + at_;
  at_ += stepped(size);
  return from;
}

const std::byte* HeldModel::bytes_of(const char* file, std::uint64_t offset, std::uint64_t size) {
  if (file == nullptr) return next_bytes(size);
  auto mapped = platform::MappedFile::open(platform::path_from_utf8(file));
  if (!mapped.ok()) {
    status_ = mapped.status();
    return nullptr;
  }
  const auto bytes = files_.emplace_back(*std::move(mapped)).bytes();
  if (offset <= bytes.size() && size <= bytes.size() - offset) return bytes.data() + offset;
  status_ = Status(StatusCode::kIo, std::string(file) + " is shorter than it was");
  return nullptr;
}

void HeldModel::read_model() {
  lbb_model& model = *model_;
  for (const char** const text : {&model.name, &model.onnx_file, &model.ir_file})
    *text = from_->text();
  const auto bytes = [this](std::uint64_t& size) -> const void* {
    const std::uint64_t given = from_->number();
    if (given == 0) return nullptr;
    size = given - 1;
    return next_bytes(size);
  };
  model.onnx = bytes(model.onnx_size);
  lbb_piece** const pieces = from_->structs<lbb_piece>(model.piece_count);
  for (std::size_t i = 0; i < model.piece_count; ++i) {
    lbb_piece& piece = *pieces[i];
    piece.location = from_->text();
    piece.file = from_->text();
    piece.file_offset = from_->number();
    const std::uint64_t given = from_->number();
    piece.size = given > 0 ? given - 1 : 0;
    if (given > 0) piece.data = bytes_of(piece.file, piece.file_offset, piece.size);
  }
  model.pieces = pieces;
  model.ir = bytes(model.ir_size);
  model.ir_weights = bytes(model.ir_weights_size);
  if (from_->number() == 0) return;
  auto& shared = *static_cast<Shared*>(from_->room(sizeof(Shared), sizeof(lbb_graph)));
  shared.of = this;
  read_graph(shared.graph);
  model.graph = &shared.graph;
}

void HeldModel::read_graph(lbb_graph& graph) {
  graph.operators = from_->small();
  lbb_part** const parts = from_->structs<lbb_part>(graph.part_count);
  graph.parts = parts;
  bytes_of_parts_ = static_cast<const std::byte**>(from_->room(graph.part_count * sizeof(void*)));
  for (std::size_t i = 0; i < graph.part_count; ++i) {
    lbb_part& part = *parts[i];
    part.name = from_->text();
    part.file = from_->text();
    part.file_offset = from_->number();
    part.size = from_->number();
    bytes_of_parts_[i] = bytes_of(part.file, part.file_offset, part.size);
  }
  lbb_weight** const weights = from_->structs<lbb_weight>(graph.weight_count);
  graph.weights = weights;
  for (std::size_t i = 0; i < graph.weight_count; ++i) {
    lbb_weight& weight = *weights[i];
    weight.name = from_->text();
    weight.type = from_->code();
    weight.part = from_->small();
    weight.dims = from_->list<std::int64_t>(weight.rank);
    weight.offset = from_->number();
    weight.bytes = from_->number();
    if (weight.part >= graph.part_count || weight.offset > parts[weight.part]->size ||
        weight.bytes > parts[weight.part]->size - weight.offset)
      return from_->spoil();
  }
  lbb_node** const nodes = from_->structs<lbb_node>(graph.node_count);
  graph.nodes = nodes;
  for (std::size_t i = 0; i < graph.node_count; ++i) {
    lbb_node& node = *nodes[i];
    node.op = from_->text();
    node.type = from_->code();
    node.dims = from_->list<std::int64_t>(node.rank);
    lbb_argument** const arguments = from_->structs<lbb_argument>(node.argument_count);
    node.arguments = arguments;
    for (std::size_t k = 0; k < node.argument_count; ++k) {
      lbb_argument& argument = *arguments[k];
      argument.name = from_->text();
      argument.kind = from_->code();
      argument.index = from_->small();
      argument.integer = from_->integer();
      std::size_t one = 0;
      const auto* const number = from_->list<double>(one);
      if (one == 1) argument.number = *number;
      argument.numbers = from_->list<float>(argument.number_count);
      argument.text = from_->text();
    }
  }
  lbb_graph_output** const outputs = from_->structs<lbb_graph_output>(graph.output_count);
  graph.outputs = outputs;
  for (std::size_t i = 0; i < graph.output_count; ++i) {
    outputs[i]->name = from_->text();
    outputs[i]->node = from_->number();
  }
}

}  // namespace latebind::plugin
