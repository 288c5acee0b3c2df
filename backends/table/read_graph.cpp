#include "backends/table/read_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/graph/graph.h"
#include "core/graph/operator_members.h"
#include "core/platform/files/file_identity.h"
#include "core/platform/files/folders.h"

namespace latebind::table {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using plugin::read_list;
using plugin::shape_of;
using plugin::text_of;
using plugin::type_of;

Status misfit(std::string text) {
  return Status(StatusCode::kInvalidModel, std::move(text));
}

template <class T>
concept Struct = requires(T& part) {
  graph::each_member(part, [](std::string_view, auto&) {});
};

// Reads the members of one operator from the arguments of its node.
class ArgumentReader {
 public:
  ArgumentReader(std::string op, std::vector<lbb_argument> arguments, const std::vector<graph::Weight>& weights)
      : op_(std::move(op)), arguments_(std::move(arguments)), is_read_(arguments_.size()), weights_(weights) {}

  template <class Op>
  Status read(Op& op) {
    read_members("", op);
    LB_RETURN_IF_ERROR(status_);
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      if (is_read_[i]) continue;
      return Status(StatusCode::kUnsupported,
                    fmt::format("the operator '{}' has an argument '{}', which is not known here, or twice", op_,
                                arguments_[i].name));
    }
    return {};
  }

 private:
  template <class Op>
  void read_members(const std::string& prefix, Op& op) {
    graph::each_member(op, [&](std::string_view name, auto& member) {
      if (status_.ok()) status_ = read_member(prefix + std::string(name), member);
    });
  }

  template <class T>
  Status read_member(const std::string& name, std::optional<T>& member) {
    if (!has(name)) return {};
    return read_member(name, member.emplace());
  }
  Status read_member(const std::string& name, bool& member) {
    if (!has(name)) return {};
    std::int64_t number = 0;
    LB_RETURN_IF_ERROR(read_member(name, number));
    member = number != 0;
    return {};
  }
  Status read_member(const std::string& name, graph::Value& member) {
    LB_ASSIGN_OR_RETURN(const lbb_argument* const argument, find(name, LBB_VALUE));
    member.node = argument->index;
    return {};
  }
  Status read_member(const std::string& name, graph::Weight& member) {
    LB_ASSIGN_OR_RETURN(const lbb_argument* const argument, find(name, LBB_WEIGHT));
    if (argument->index >= weights_.size())
      return misfit(fmt::format("'{}' of '{}' is weight {}, which does not exist", name, op_, argument->index));
    member = weights_[argument->index];
    return {};
  }
  Status read_member(const std::string& name, std::int64_t& member) {
    LB_ASSIGN_OR_RETURN(const lbb_argument* const argument, find(name, LBB_INTEGER));
    member = argument->integer;
    return {};
  }
  template <std::floating_point T>
  Status read_member(const std::string& name, T& member) {
    LB_ASSIGN_OR_RETURN(const lbb_argument* const argument, find(name, LBB_NUMBER));
    member = static_cast<T>(argument->number);
    return {};
  }
  Status read_member(const std::string& name, std::vector<float>& member) {
    LB_ASSIGN_OR_RETURN(const lbb_argument* const argument, find(name, LBB_NUMBERS));
    if (argument->number_count > plugin::kListMax || (argument->number_count > 0 && argument->numbers == nullptr))
      return misfit(fmt::format("'{}' of '{}' has no list of numbers", name, op_));
    member.assign(argument->numbers, argument->numbers + argument->number_count);
    return {};
  }
  Status read_member(const std::string& name, std::string& member) {
    LB_ASSIGN_OR_RETURN(const lbb_argument* const argument, find(name, LBB_TEXT));
    LB_ASSIGN_OR_RETURN(member, text_of(name, argument->text));
    return {};
  }
  template <class T>
  requires requires { core::Words<T>::kWords; }
  Status read_member(const std::string& name, T& member) {
    std::string word;
    LB_RETURN_IF_ERROR(read_member(name, word));
    const auto value = core::parse_word<T>(word);
    if (!value.ok())
      return Status(StatusCode::kUnsupported,
                    fmt::format("'{}' of the operator '{}': {}", name, op_, value.status().message()));
    member = *value;
    return {};
  }
  template <Struct T>
  Status read_member(const std::string& name, T& member) {
    read_members(name + ".", member);
    return status_;
  }

  // Whether there is an argument of this name, or of a member of it.
  [[nodiscard]] bool has(const std::string& name) const {
    return std::ranges::any_of(arguments_, [&](const lbb_argument& argument) {
      const std::string_view given = argument.name;
      return given == name || (given.starts_with(name) && given[name.size()] == '.');
    });
  }

  Result<const lbb_argument*> find(const std::string& name, std::int32_t kind) {
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      if (is_read_[i] || name != arguments_[i].name) continue;
      is_read_[i] = true;
      if (arguments_[i].kind == kind) return &arguments_[i];
      return misfit(
          fmt::format("'{}' of the operator '{}' has the kind {}, not {}", name, op_, arguments_[i].kind, kind));
    }
    return misfit(fmt::format("the operator '{}' has no argument '{}'", op_, name));
  }

  const std::string op_;
  const std::vector<lbb_argument> arguments_;
  std::vector<bool> is_read_;
  const std::vector<graph::Weight>& weights_;
  Status status_;
};

template <class... Operators>
Result<graph::Operator> read_operator(const std::string& name, ArgumentReader& reader,
                                      const std::variant<Operators...>* /*all*/) {
  std::optional<graph::Operator> read;
  Status status;
  const auto try_one = [&]<class Op>(Op op) {
    if (graph::kOperatorName<Op> != name) return false;
    status = reader.read(op);
    read = std::move(op);
    return true;
  };
  (void)(try_one(Operators{}) || ...);
  if (!read) return Status(StatusCode::kUnsupported, fmt::format("the operator '{}' is not known here", name));
  LB_RETURN_IF_ERROR(status);
  return *std::move(read);
}

class GraphReader {
 public:
  GraphReader(const lbb_host& host, const lbb_graph* given, std::shared_ptr<const void> owner)
      : host_(host), place_(given), given_(plugin::read_struct(*given)), owner_(std::move(owner)) {}

  Result<core::ModelGraph> read() {
    LB_RETURN_IF_ERROR(read_parts());
    LB_RETURN_IF_ERROR(read_weights());
    graph::GraphBuilder builder(parts_);
    LB_RETURN_IF_ERROR(read_nodes(builder));
    std::vector<graph::GraphOutput> outputs;
    LB_RETURN_IF_ERROR(
        read_list("an output", given_.outputs, given_.output_count, [&](const lbb_graph_output& given) -> Status {
          LB_ASSIGN_OR_RETURN(std::string name, text_of("the name of an output", given.name));
          if (given.node >= declared_.size()) return misfit(fmt::format("the output '{}' is no node", name));
          outputs.push_back({{static_cast<std::uint32_t>(given.node)}, std::move(name)});
          return {};
        }));
    LB_ASSIGN_OR_RETURN(graph::Graph made, std::move(builder).finish(std::move(outputs)));
    for (std::size_t i = 0; i < declared_.size(); ++i) {
      const graph::Node& node = made.nodes()[i];
      if (node.type == declared_[i].type && node.shape == declared_[i].shape) continue;
      return misfit(fmt::format("node {} is {} {}, and is said to be {} {}", i, core::name_of(node.type),
                                node.shape.to_string(), core::name_of(declared_[i].type),
                                declared_[i].shape.to_string()));
    }
    core::ModelGraph model;
    model.graph = std::make_shared<const graph::Graph>(std::move(made));
    for (std::string& name : part_names_)
      model.sources.push_back({.name = std::move(name)});
    return model;
  }

 private:
  struct Declared {
    core::ElementType type;
    core::Shape shape;
  };

  Status read_parts() {
    return read_list("a part", given_.parts, given_.part_count, [&](const lbb_part& given) -> Status {
      LB_ASSIGN_OR_RETURN(std::string name, text_of("the name of a part", given.name));
      LB_ASSIGN_OR_RETURN(const std::string file, plugin::optional_text_of("the file of a part", given.file));
      core::FilePart part;
      if (!file.empty()) {
        const auto path = platform::path_from_utf8(file);
        if (const auto identity = platform::file_identity(path); identity.ok()) {
          part.where = {.file = path, .offset = given.file_offset, .size = given.size};
          part.identity = *identity;
        }
      }
      sizes_.push_back(given.size);
      parts_.push_back(std::move(part));
      part_names_.push_back(std::move(name));
      return {};
    });
  }

  // The bytes of a part begin where each of its weights says that they do.
  Status read_weights() {
    std::vector<const std::byte*> begins(parts_.size());
    std::uint32_t number = 0;
    LB_RETURN_IF_ERROR(
        read_list("a weight", given_.weights, given_.weight_count, [&](const lbb_weight& given) -> Status {
          graph::Weight weight;
          LB_ASSIGN_OR_RETURN(weight.name, text_of("the name of a weight", given.name));
          LB_ASSIGN_OR_RETURN(weight.type, type_of(weight.name, given.type));
          LB_ASSIGN_OR_RETURN(weight.shape, shape_of(weight.name, given.dims, given.rank));
          if (given.part >= parts_.size()) return misfit(fmt::format("'{}' is in no part", weight.name));
          weight.file = given.part;
          weight.offset = given.offset;
          const auto* const bytes = static_cast<const std::byte*>(host_.weight(place_, number++));
          if (bytes == nullptr) return Status(StatusCode::kIo, fmt::format("'{}' cannot be read", weight.name));
          const std::byte*& begin = begins[given.part];
          if (begin == nullptr) begin = bytes - given.offset;
          if (begin != bytes - given.offset)
            return misfit(fmt::format("'{}' is not at its offset in its part", weight.name));
          weights_.push_back(std::move(weight));
          return {};
        }));
    for (std::size_t i = 0; i < parts_.size(); ++i)
      if (begins[i] != nullptr) parts_[i].bytes = {owner_, {begins[i], static_cast<std::size_t>(sizes_[i])}};
    return {};
  }

  Status read_nodes(graph::GraphBuilder& builder) {
    return read_list("a node", given_.nodes, given_.node_count, [&](const lbb_node& given) -> Status {
      LB_ASSIGN_OR_RETURN(const std::string name, text_of("an operator", given.op));
      LB_ASSIGN_OR_RETURN(const core::ElementType type, type_of(name, given.type));
      LB_ASSIGN_OR_RETURN(const core::Shape shape, shape_of(name, given.dims, given.rank));
      std::vector<lbb_argument> arguments;
      LB_RETURN_IF_ERROR(read_list(fmt::format("an argument of '{}'", name), given.arguments, given.argument_count,
                                   [&](const lbb_argument& argument) {
                                     arguments.push_back(argument);
                                     return text_of("the name of an argument", argument.name).status();
                                   }));
      ArgumentReader reader(name, std::move(arguments), weights_);
      LB_ASSIGN_OR_RETURN(graph::Operator op,
                          read_operator(name, reader, static_cast<const graph::Operator*>(nullptr)));
      if (auto* const input = std::get_if<graph::Input>(&op)) {
        input->type = type;
        input->shape = shape;
      }
      builder.add(std::move(op));
      declared_.push_back({type, shape});
      return {};
    });
  }

  const lbb_host& host_;
  const lbb_graph* const place_;
  const lbb_graph given_;
  const std::shared_ptr<const void> owner_;
  std::vector<core::FilePart> parts_;
  std::vector<std::string> part_names_;
  std::vector<std::uint64_t> sizes_;
  std::vector<graph::Weight> weights_;
  std::vector<Declared> declared_;  // what the host says about each node
};

}  // namespace

Result<core::ModelGraph> read_graph(const lbb_host& host, const lbb_graph* graph,
                                    const std::shared_ptr<const void>& owner) {
  if (!plugin::has_size(*graph)) return misfit(fmt::format("the graph has the size {}", graph->struct_size));
  return GraphReader(host, graph, owner).read();
}

}  // namespace latebind::table
