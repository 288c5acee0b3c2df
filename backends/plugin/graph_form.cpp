#include "backends/plugin/graph_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>

#include "core/graph/graph.h"
#include "core/graph/operator_members.h"
#include "core/platform/files/file_identity.h"
#include "core/platform/files/folders.h"

namespace latebind::plugin {
namespace {

using core::Status;
using core::StatusCode;

template <class T>
concept Enumeration = requires {
  core::Words<T>::kWords;
};

template <class T>
std::vector<const T*> pointers_to(const std::deque<T>& elements) {
  std::vector<const T*> pointers;
  pointers.reserve(elements.size());
  for (const T& element : elements)
    pointers.push_back(&element);
  return pointers;
}

// Whether the name of the part's file still leads to it, unchanged.
bool is_same_file(const core::FilePart& part) {
  const auto now = platform::file_identity(part.where.file);
  return now.ok() && *now == part.identity;
}

}  // namespace

// Writes the nodes of a graph into its form.
class GraphForm::Writer {
 public:
  explicit Writer(GraphForm& form) : form_(form) {}

  void write(const graph::Node& node) {
    list_ = &form_.lists_.emplace_back();
    lbb_node& made = form_.nodes_.emplace_back(sized<lbb_node>());
    made.type = static_cast<std::int32_t>(node.type);
    made.dims = node.shape.dims().data();
    made.rank = node.shape.rank();
    std::visit(
        [&](const auto& op) {
          // A literal, which ends with a NUL.
          made.op = graph::kOperatorName<std::remove_cvref_t<decltype(op)>>.data();
          write_members("", op);
        },
        node.op);
    made.arguments = list_->data();
    made.argument_count = list_->size();
  }

 private:
  template <class Op>
  void write_members(std::string_view prefix, const Op& op) {
    graph::each_member(op, [&](std::string_view name, const auto& member) { write_member(prefix, name, member); });
  }

  // An argument that is absent or false is left out.
  template <class T>
  void write_member(std::string_view prefix, std::string_view name, const std::optional<T>& member) {
    if (member) write_member(prefix, name, *member);
  }
  void write_member(std::string_view prefix, std::string_view name, bool member) {
    if (member) add(prefix, name, LBB_INTEGER).integer = 1;
  }
  void write_member(std::string_view prefix, std::string_view name, graph::Value member) {
    add(prefix, name, LBB_VALUE).index = member.node;
  }
  void write_member(std::string_view prefix, std::string_view name, const graph::Weight& member) {
    const std::uint32_t number = number_of(member);
    add(prefix, name, LBB_WEIGHT).index = number;
  }
  void write_member(std::string_view prefix, std::string_view name, std::int64_t member) {
    add(prefix, name, LBB_INTEGER).integer = member;
  }
  void write_member(std::string_view prefix, std::string_view name, std::floating_point auto member) {
    add(prefix, name, LBB_NUMBER).number = member;
  }
  void write_member(std::string_view prefix, std::string_view name, const std::vector<float>& member) {
    lbb_argument& made = add(prefix, name, LBB_NUMBERS);
    made.numbers = member.data();
    made.number_count = member.size();
  }
  void write_member(std::string_view prefix, std::string_view name, const std::string& member) {
    add(prefix, name, LBB_TEXT).text = member.c_str();
  }
  template <Enumeration T>
  void write_member(std::string_view prefix, std::string_view name, T member) {
    add(prefix, name, LBB_TEXT).text = core::word_of(member).data();
  }
  template <class T>
  requires requires(const T& part) {
    graph::each_member(part, [](std::string_view, const auto&) {});
  }
  void write_member(std::string_view prefix, std::string_view name, const T& member) {
    write_members(fmt::format("{}{}.", prefix, name), member);
  }

  lbb_argument& add(std::string_view prefix, std::string_view name, std::int32_t kind) {
    lbb_argument& made = form_.arguments_.emplace_back(sized<lbb_argument>());
    made.kind = kind;
    made.name = prefix.empty() ? name.data() : form_.texts_.emplace_back(fmt::format("{}{}", prefix, name)).c_str();
    list_->push_back(&made);
    return made;
  }

  // Several operators may share a weight.
  std::uint32_t number_of(const graph::Weight& weight) {
    const auto dims = weight.shape.dims();
    const auto [found, is_new] =
        numbers_.try_emplace({weight.file, weight.offset, weight.type, {dims.begin(), dims.end()}},
                             static_cast<std::uint32_t>(form_.weights_.size()));
    if (!is_new) return found->second;
    const graph::Weight& source = form_.sources_.emplace_back(weight);
    lbb_weight& made = form_.weights_.emplace_back(sized<lbb_weight>());
    // Two views of one tensor have its name.
    std::string name = source.name;
    for (int i = 2; !names_.insert(name).second; ++i)
      name = fmt::format("{}#{}", source.name, i);
    made.name = form_.texts_.emplace_back(std::move(name)).c_str();
    made.type = static_cast<std::int32_t>(source.type);
    made.part = static_cast<std::uint32_t>(source.file);
    made.dims = source.shape.dims().data();
    made.rank = source.shape.rank();
    made.offset = source.offset;
    // The graph has checked the size.
    const auto bytes = core::byte_size_of(source.type, source.shape);
    made.bytes = bytes.ok() ? *bytes : 0;
    return found->second;
  }

  using Place = std::tuple<std::size_t, std::uint64_t, core::ElementType, std::vector<std::int64_t>>;

  GraphForm& form_;
  std::vector<const lbb_argument*>* list_ = nullptr;
  std::map<Place, std::uint32_t> numbers_;
  std::set<std::string> names_;
};

GraphForm::GraphForm(const core::ModelGraph& model) : graph_(model.graph), shared_{sized<lbb_graph>(), this} {
  Writer writer(*this);
  for (const graph::Node& node : graph_->nodes())
    writer.write(node);
  for (std::size_t i = 0; i < graph_->weights().size(); ++i) {
    const core::FilePart& part = graph_->weights()[i];
    lbb_part& made = parts_.emplace_back(sized<lbb_part>());
    made.name = i < model.sources.size() ? texts_.emplace_back(model.sources[i].name).c_str() : "";
    made.size = part.bytes.bytes.size();
    readers_.emplace_back(part);
    if (part.where.file.empty() || part.computed || !is_same_file(part)) continue;
    made.file = texts_.emplace_back(platform::path_to_utf8(part.where.file)).c_str();
    made.file_offset = part.where.offset;
  }
  for (const graph::GraphOutput& output : graph_->outputs()) {
    lbb_graph_output& made = outputs_.emplace_back(sized<lbb_graph_output>());
    made.name = output.name.c_str();
    made.node = output.value.node;
  }
  node_list_ = pointers_to(nodes_);
  weight_list_ = pointers_to(weights_);
  part_list_ = pointers_to(parts_);
  output_list_ = pointers_to(outputs_);
  lbb_graph& made = shared_.graph;
  made.operators = LBB_OPERATORS;
  made.nodes = node_list_.data();
  made.node_count = node_list_.size();
  made.weights = weight_list_.data();
  made.weight_count = weight_list_.size();
  made.parts = part_list_.data();
  made.part_count = part_list_.size();
  made.outputs = output_list_.data();
  made.output_count = output_list_.size();
}

const GraphForm* GraphForm::of(const lbb_graph* graph) {
  static_assert(offsetof(Shared, graph) == 0);
  return reinterpret_cast<const Shared*>(graph)->form;
}

Status GraphForm::check_files() const {
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].file == nullptr || is_same_file(graph_->weights()[i])) continue;
    return Status(StatusCode::kIo,
                  fmt::format("{} was changed while the model was loaded; open the model again", parts_[i].file));
  }
  return {};
}

const void* GraphForm::weight(std::uint32_t number) const {
  return number < sources_.size() ? graph_->bytes_of(sources_[number]).data() : nullptr;
}

Status GraphForm::read_weight(std::uint32_t number, std::uint64_t offset, void* to, std::uint64_t size) const {
  const bool fits =
      number < weights_.size() && offset <= weights_[number].bytes && size <= weights_[number].bytes - offset;
  if (!fits || (to == nullptr && size > 0)) {
    return Status(StatusCode::kInvalidArgument,
                  fmt::format("{} bytes from {} on of weight {} are not in the graph", size, offset, number));
  }
  const core::PartReader& reader = readers_[weights_[number].part];
  const std::span<std::byte> into(static_cast<std::byte*>(to), static_cast<std::size_t>(size));
  return reader.read(weights_[number].offset + offset, into) ? Status() : reader.why_not();
}

}  // namespace latebind::plugin
