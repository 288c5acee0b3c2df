#include "kit/raw/copied_model.h"

#include <cstring>
#include <type_traits>

#include "backends/plugin/host.h"
#include "backends/plugin/model_form.h"

namespace latebind::kit {
namespace {

// What memory holds that nobody may read: large numbers, pointers to nowhere, and letters without an end.
constexpr auto kGarbage = std::byte{0xA5};

}  // namespace

// Copies structs, which lead to further ones.
class CopiedModel::Copier {
 public:
  Copier(CopiedModel& to, const CopyOptions& how) : to_(to), how_(how) {}

  lbb_model* copy(const lbb_model& from) {
    lbb_model* const made = copy_struct(from);
    made->name = copy_text(from.name);
    made->onnx_file = copy_text(from.onnx_file);
    made->onnx = copy_bytes(to_.byte_blocks_, from.onnx, from.onnx_size);
    made->ir_file = copy_text(from.ir_file);
    made->ir = copy_bytes(to_.byte_blocks_, from.ir, from.ir_size);
    made->ir_weights = copy_bytes(to_.byte_blocks_, from.ir_weights, from.ir_weights_size);
    made->pieces = copy_list(from.pieces, from.piece_count, [this](lbb_piece& piece) {
      piece.location = copy_text(piece.location);
      piece.data = copy_bytes(to_.byte_blocks_, piece.data, piece.size);
      piece.file = copy_text(piece.file);
    });
    if (from.graph != nullptr) made->graph = copy(*from.graph);
    return made;
  }

  lbb_options* copy(const lbb_options& from) {
    lbb_options* const made = copy_struct(from);
    made->input_shapes = copy_list(from.input_shapes, from.input_shape_count,
                                   [this](lbb_shape& shape) { shape.dims = copy_array(shape.dims, shape.rank); });
    made->properties = copy_list(from.properties, from.property_count, [this](lbb_pair& pair) {
      pair.key = copy_text(pair.key);
      pair.text = copy_text(pair.text);
    });
    return made;
  }

  const char* copy_text(const char* text) {
    return text == nullptr ? nullptr : copy_array(text, std::strlen(text) + 1);
  }

  // Returns memory for `size` bytes, aligned for any struct.
  std::byte* block(std::deque<Block>& blocks, std::size_t size) {
    Block& made = blocks.emplace_back();
    made.size = size;
    made.bytes = std::make_unique<std::byte[]>(size);
    return made.bytes.get();
  }

 private:
  lbb_graph* copy(const lbb_graph& from) {
    lbb_graph* const made = copy_struct(from);
    made->nodes = copy_list(from.nodes, from.node_count, [this](lbb_node& node) {
      if (std::strcmp(node.op, "input") != 0) to_.last_node_ = &node;
      node.op = copy_text(node.op);
      node.dims = copy_array(node.dims, node.rank);
      node.arguments = copy_list(node.arguments, node.argument_count, [this](lbb_argument& argument) {
        argument.name = copy_text(argument.name);
        argument.numbers = copy_array(argument.numbers, argument.number_count);
        argument.text = copy_text(argument.text);
      });
    });
    std::uint32_t number = 0;
    made->weights = copy_list(from.weights, from.weight_count, [&](lbb_weight& weight) {
      weight.name = copy_text(weight.name);
      weight.dims = copy_array(weight.dims, weight.rank);
      const auto* const bytes = static_cast<const std::byte*>(plugin::own_host().weight(&from, number++));
      const std::size_t before = how_.odd_addresses ? 1 : 0;
      std::byte* const copied = block(to_.byte_blocks_, weight.bytes + before) + before;
      if (weight.bytes > 0) std::memcpy(copied, bytes, weight.bytes);
      to_.weights_.push_back(copied);
      to_.weight_sizes_.push_back(weight.bytes);
    });
    made->parts = copy_list(from.parts, from.part_count, [this](lbb_part& part) {
      part.name = copy_text(part.name);
      part.file = copy_text(part.file);
    });
    made->outputs = copy_list(from.outputs, from.output_count,
                              [this](lbb_graph_output& output) { output.name = copy_text(output.name); });
    to_.copied_graph_ = made;
    return made;
  }

  // Copies the struct itself; it still points to the memory of the original.
  template <class T>
  T* copy_struct(const T& from) {
    static_assert(std::is_trivially_copyable_v<T>);
    std::byte* const memory = block(to_.call_blocks_, sizeof(T) + how_.growth);
    std::memcpy(memory, &from, sizeof(T));
    std::memset(memory + sizeof(T), static_cast<int>(kGarbage), how_.growth);
    auto* const made = reinterpret_cast<T*>(memory);
    made->struct_size = sizeof(T) + how_.growth;
    return made;
  }

  template <class T>
  const T* copy_array(const T* from, std::size_t count) {
    if (from == nullptr || count == 0) return from == nullptr ? nullptr : kNothing<T>;
    std::byte* const memory = block(to_.call_blocks_, count * sizeof(T));
    std::memcpy(memory, from, count * sizeof(T));
    return reinterpret_cast<const T*>(memory);
  }
  template <class T>
  static constexpr const T kNothing[1] = {};

  const void* copy_bytes(std::deque<Block>& blocks, const void* from, std::uint64_t size) {
    if (from == nullptr) return nullptr;
    return std::memcpy(block(blocks, static_cast<std::size_t>(size) + 1), from, static_cast<std::size_t>(size));
  }

  template <class T, class Deepen>
  const T* const* copy_list(const T* const* from, std::size_t count, const Deepen& deepen) {
    if (from == nullptr) return nullptr;
    std::vector<const T*> made;
    for (std::size_t i = 0; i < count; ++i) {
      T* const element = copy_struct(*from[i]);
      deepen(*element);
      made.push_back(element);
    }
    return copy_array(made.data(), made.size());
  }

  CopiedModel& to_;
  const CopyOptions& how_;
};

core::Result<std::unique_ptr<CopiedModel>> CopiedModel::make(const core::Model& model,
                                                             const core::CompileOptions& options,
                                                             std::string_view device, std::uint32_t reads,
                                                             const CopyOptions& how) {
  LB_ASSIGN_OR_RETURN(const auto given, plugin::GivenModel::make(model, reads));
  const plugin::GivenOptions given_options(options);
  std::unique_ptr<CopiedModel> copied(new CopiedModel);
  copied->no_weights_ = how.no_weights;
  Copier copier(*copied, how);
  copied->model_ = copier.copy(*given->get());
  copied->options_ = copier.copy(*given_options.get());
  copied->device_ = copier.copy_text(std::string(device).c_str());
  if (copied->copied_graph_ != nullptr) set_weight_source(copied->copied_graph_, copied.get());
  return copied;
}

CopiedModel::~CopiedModel() {
  if (copied_graph_ != nullptr) set_weight_source(copied_graph_, nullptr);
}

void CopiedModel::rename_operator(const char* op) {
  const CopyOptions plain;
  Copier copier(*this, plain);
  last_node_->op = copier.copy_text(op);
}

void CopiedModel::add_argument(const char* name) {
  const CopyOptions plain;
  Copier copier(*this, plain);
  auto* const argument = reinterpret_cast<lbb_argument*>(copier.block(call_blocks_, sizeof(lbb_argument)));
  argument->struct_size = sizeof(lbb_argument);
  argument->name = copier.copy_text(name);
  argument->kind = LBB_INTEGER;
  argument->integer = 1;
  std::vector<const lbb_argument*> all(last_node_->arguments, last_node_->arguments + last_node_->argument_count);
  all.push_back(argument);
  std::byte* const list = copier.block(call_blocks_, all.size() * sizeof(all[0]));
  std::memcpy(list, all.data(), all.size() * sizeof(all[0]));
  last_node_->arguments = reinterpret_cast<const lbb_argument* const*>(list);
  last_node_->argument_count = all.size();
}

void CopiedModel::end_call() {
  if (copied_graph_ != nullptr) set_weight_source(copied_graph_, nullptr);
  for (Block& block : call_blocks_)
    std::memset(block.bytes.get(), static_cast<int>(kGarbage), block.size);
}

void CopiedModel::end_bytes() {
  for (Block& block : byte_blocks_)
    std::memset(block.bytes.get(), static_cast<int>(kGarbage), block.size);
}

const void* CopiedModel::weight(std::uint32_t number) {
  if (number >= weights_.size()) note_breach("weight() gets the number of a weight that the graph does not have");
  return no_weights_ || number >= weights_.size() ? nullptr : weights_[number];
}

bool CopiedModel::read(std::uint32_t number, std::uint64_t offset, void* to, std::uint64_t size) {
  const bool fits =
      number < weights_.size() && offset <= weight_sizes_[number] && size <= weight_sizes_[number] - offset;
  if (!fits) note_breach("read_weight() gets a range that is not in the graph");
  if (no_weights_ || !fits || to == nullptr) return false;
  std::memcpy(to, weights_[number] + offset, static_cast<std::size_t>(size));
  return true;
}

}  // namespace latebind::kit
