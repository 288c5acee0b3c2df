#include "backends/plugin/isolated/forms.h"

namespace latebind::plugin {
namespace {

void write_pairs(Writer& to, const lbb_pair* const* pairs, std::size_t count) {
  to.number(pairs != nullptr ? count : 0);
  for (std::size_t i = 0; pairs != nullptr && i < count; ++i) {
    const lbb_pair pair = read_struct(*pairs[i]);
    to.text(pair.key);
    to.text(pair.text);
  }
}

void write_infos(Writer& to, const lbb_tensor_info* const* infos, std::size_t count) {
  to.number(infos != nullptr ? count : 0);
  for (std::size_t i = 0; infos != nullptr && i < count; ++i) {
    const lbb_tensor_info info = read_struct(*infos[i]);
    to.text(info.name);
    to.integer(info.type);
    to.list(info.dims, info.rank);
    to.list(info.upper, info.rank);
  }
}

const lbb_tensor_info* const* read_infos(Reader& from, std::size_t& count) {
  lbb_tensor_info** const infos = from.structs<lbb_tensor_info>(count);
  for (std::size_t i = 0; i < count; ++i) {
    lbb_tensor_info& info = *infos[i];
    info.name = from.text();
    info.type = from.code();
    std::size_t bounds = 0;
    info.dims = from.list<std::int64_t>(info.rank);
    info.upper = from.list<std::int64_t>(bounds);
    if (bounds != info.rank) info.upper = nullptr;
  }
  return infos;
}

// The bytes of a part of the graph, all of whose weights lie at their offsets from one address.
std::span<const std::byte> bytes_of_part(const lbb_host& host, const lbb_graph& graph, std::uint32_t part) {
  for (std::uint32_t i = 0; i < graph.weight_count; ++i) {
    if (graph.weights[i]->part != part) continue;
    const auto* const bytes = static_cast<const std::byte*>(host.weight(&graph, i));
    if (bytes == nullptr) return {};
    return {bytes - graph.weights[i]->offset, graph.parts[part]->size};
  }
  return {};
}

void write_argument(Writer& to, const lbb_argument& argument) {
  to.text(argument.name);
  to.integer(argument.kind);
  to.number(argument.index);
  to.integer(argument.integer);
  to.list(&argument.number, 1);
  to.list(argument.numbers, argument.number_count);
  to.text(argument.text);
}

void write_graph(Writer& to, const lbb_host& host, const lbb_graph& graph,
                 std::vector<std::span<const std::byte>>& memory) {
  to.number(graph.operators);
  to.number(graph.part_count);
  for (std::uint32_t i = 0; i < graph.part_count; ++i) {
    const lbb_part& part = *graph.parts[i];
    to.text(part.name);
    to.text(part.file);
    to.number(part.file_offset);
    to.number(part.size);
    if (part.file == nullptr) memory.push_back(bytes_of_part(host, graph, i));
  }
  to.number(graph.weight_count);
  for (std::size_t i = 0; i < graph.weight_count; ++i) {
    const lbb_weight& weight = *graph.weights[i];
    to.text(weight.name);
    to.integer(weight.type);
    to.number(weight.part);
    to.list(weight.dims, weight.rank);
    to.number(weight.offset);
    to.number(weight.bytes);
  }
  to.number(graph.node_count);
  for (std::size_t i = 0; i < graph.node_count; ++i) {
    const lbb_node& node = *graph.nodes[i];
    to.text(node.op);
    to.integer(node.type);
    to.list(node.dims, node.rank);
    to.number(node.argument_count);
    for (std::size_t k = 0; k < node.argument_count; ++k)
      write_argument(to, *node.arguments[k]);
  }
  to.number(graph.output_count);
  for (std::size_t i = 0; i < graph.output_count; ++i) {
    to.text(graph.outputs[i]->name);
    to.number(graph.outputs[i]->node);
  }
}

}  // namespace

void write_device(Writer& to, const lbb_device& device) {
  for (const char* const text : {device.name, device.full_name, device.runtime_version, device.preferred_because,
                                 device.architecture, device.pci_id, device.missing})
    to.text(text);
  to.integer(device.kind);
  to.number(device.reads);
  to.list(device.precisions, device.precision_count);
  to.list(device.preferred_in, device.preferred_count);
  to.number(device.memory);
  to.integer(device.static_shapes);
  to.integer(device.is_virtual);
  to.integer(device.is_emulated);
  write_pairs(to, device.facts, device.fact_count);
}

const lbb_device* read_device(Reader& from) {
  lbb_device& device = *from.one<lbb_device>();
  for (const char** const text : {&device.name, &device.full_name, &device.runtime_version, &device.preferred_because,
                                  &device.architecture, &device.pci_id, &device.missing})
    *text = from.text();
  device.kind = from.code();
  device.reads = from.small();
  device.precisions = from.list<std::int32_t>(device.precision_count);
  device.preferred_in = from.list<std::int32_t>(device.preferred_count);
  device.memory = from.number();
  device.static_shapes = from.code();
  device.is_virtual = from.code();
  device.is_emulated = from.code();
  device.facts = read_pairs(from, device.fact_count);
  return &device;
}

void write_active(Writer& to, const lbb_active& active) {
  for (const char* const text : {active.device, active.full_name, active.library_file, active.runtime_version})
    to.text(text);
  for (const std::int32_t number : {active.precision, active.releases_weights, active.leaves_padding_out,
                                    active.packs_tokens, active.compiles_nothing, active.emulated})
    to.integer(number);
  for (const std::uint64_t number : {std::uint64_t{active.threads}, std::uint64_t{active.requests}, active.kept_shapes,
                                     active.nodes, active.host_nodes})
    to.number(number);
  write_infos(to, active.inputs, active.input_count);
  write_infos(to, active.outputs, active.output_count);
}

const lbb_active* read_description(Reader& from) {
  lbb_active& active = *from.one<lbb_active>();
  for (const char** const text : {&active.device, &active.full_name, &active.library_file, &active.runtime_version})
    *text = from.text();
  for (std::int32_t* const number : {&active.precision, &active.releases_weights, &active.leaves_padding_out,
                                     &active.packs_tokens, &active.compiles_nothing, &active.emulated})
    *number = from.code();
  active.threads = from.small();
  active.requests = from.small();
  active.kept_shapes = from.number();
  active.nodes = from.number();
  active.host_nodes = from.number();
  active.inputs = read_infos(from, active.input_count);
  active.outputs = read_infos(from, active.output_count);
  return &active;
}

void write_options(Writer& to, const lbb_options& options) {
  for (const std::int64_t number :
       {std::int64_t{options.precision}, std::int64_t{options.throughput}, std::int64_t{options.threads},
        std::int64_t{options.requests}, std::int64_t{options.host_nodes}, std::int64_t{options.shapes_recur},
        std::int64_t{options.emulate}})
    to.integer(number);
  to.number(options.input_shape_count);
  for (std::size_t i = 0; i < options.input_shape_count; ++i)
    to.list(options.input_shapes[i]->dims, options.input_shapes[i]->rank);
  write_pairs(to, options.properties, options.property_count);
}

const lbb_options* read_options(Reader& from) {
  lbb_options& options = *from.one<lbb_options>();
  options.precision = from.code();
  options.throughput = from.code();
  options.threads = from.small();
  options.requests = from.small();
  options.host_nodes = from.code();
  options.shapes_recur = from.code();
  options.emulate = from.code();
  lbb_shape** const shapes = from.structs<lbb_shape>(options.input_shape_count);
  for (std::size_t i = 0; i < options.input_shape_count; ++i)
    shapes[i]->dims = from.list<std::int64_t>(shapes[i]->rank);
  if (options.input_shape_count > 0) options.input_shapes = shapes;
  options.properties = read_pairs(from, options.property_count);
  return &options;
}

const lbb_pair* const* read_pairs(Reader& from, std::size_t& count) {
  lbb_pair** const pairs = from.structs<lbb_pair>(count);
  for (std::size_t i = 0; i < count; ++i) {
    pairs[i]->key = from.text();
    pairs[i]->text = from.text();
  }
  return pairs;
}

void write_model(Writer& to, const lbb_host& host, const lbb_model& model,
                 std::vector<std::span<const std::byte>>& memory) {
  const auto bytes = [&](const void* data, std::uint64_t size) {
    to.number(data != nullptr ? size + 1 : 0);
    if (data != nullptr) memory.emplace_back(static_cast<const std::byte*>(data), size);
  };
  for (const char* const text : {model.name, model.onnx_file, model.ir_file})
    to.text(text);
  bytes(model.onnx, model.onnx_size);
  to.number(model.piece_count);
  for (std::size_t i = 0; i < model.piece_count; ++i) {
    const lbb_piece& piece = *model.pieces[i];
    to.text(piece.location);
    to.text(piece.file);
    to.number(piece.file_offset);
    if (piece.file == nullptr) {
      bytes(piece.data, piece.size);
    } else {
      to.number(piece.size + 1);
    }
  }
  bytes(model.ir, model.ir_size);
  bytes(model.ir_weights, model.ir_weights_size);
  to.number(model.graph != nullptr ? 1 : 0);
  if (model.graph != nullptr) write_graph(to, host, *model.graph, memory);
}

}  // namespace latebind::plugin
