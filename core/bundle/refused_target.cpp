#include "core/bundle/refused_target.h"

#include <fmt/format.h>

#include <utility>

#include "core/bundle/latebind_info.h"
#include "core/bundle/refusals.h"
#include "core/json/read.h"

namespace latebind::core {

Json to_json(const LeftNodes& nodes) {
  Json first = Json::array();
  for (const LeftNode& node : nodes.first)
    first.push_back({{"operator", node.op}, {"name", node.name}, {"shape", node.shape}});
  return {{"count", nodes.count}, {"first", std::move(first)}};
}

Result<LeftNodes> parse_left_nodes(const Json& value, std::string_view where) {
  if (!value.is_object()) return invalid_bundle(where, "nodes must be an object with 'count' and 'first'");
  LeftNodes nodes;
  LB_ASSIGN_OR_RETURN(const auto count, read_size(value, "count", 0, std::size_t{1} << 32U, where));
  nodes.count = count.value_or(0);
  const auto first = value.find("first");
  if (first == nullptr) return nodes;
  if (!first->is_array() || first->size() > LeftNodes::kFirstMax) {
    return invalid_bundle(where, fmt::format("'first' must be a list of at most {} nodes", LeftNodes::kFirstMax));
  }
  for (const Json& item : *first) {
    if (!item.is_object()) return invalid_bundle(where, "'first' must be a list of objects");
    LeftNode node;
    LB_ASSIGN_OR_RETURN(node.op, read_text(item, "operator", "", where));
    LB_ASSIGN_OR_RETURN(node.name, read_text(item, "name", "", where));
    LB_ASSIGN_OR_RETURN(node.shape, read_text(item, "shape", "", where));
    nodes.first.push_back(std::move(node));
  }
  return nodes;
}

Json to_json(const std::vector<RefusedTarget>& refused) {
  Json all = Json::array();
  for (const RefusedTarget& one : refused) {
    Json item{{"variant", one.variant}, {"target", one.target}, {"reason", one.reason}};
    const auto set = [&item](const char* key, const std::string& text) {
      if (!text.empty()) item[key] = text;
    };
    set("backend", one.backend);
    set("device", one.device);
    set("runtime_version", one.runtime_version);
    set("precision", one.precision);
    item["shapes"] = shapes_to_json(one.shapes);
    if (one.nodes.count > 0) item["nodes"] = to_json(one.nodes);
    all.push_back(std::move(item));
  }
  return all;
}

Result<std::vector<RefusedTarget>> parse_refused_targets(const Json& value, std::string_view where) {
  if (!value.is_array() || value.size() > kRefusedTargetsMax) {
    return invalid_bundle(where, fmt::format("'refused' must be a list of at most {} targets", kRefusedTargetsMax));
  }
  std::vector<RefusedTarget> all;
  for (const Json& item : value) {
    if (!item.is_object()) return invalid_bundle(where, "'refused' must be a list of objects");
    RefusedTarget one;
    struct Field {
      const char* key;
      std::string& target;
    };
    for (const Field& field :
         {Field{"variant", one.variant}, Field{"target", one.target}, Field{"backend", one.backend},
          Field{"device", one.device}, Field{"runtime_version", one.runtime_version}, Field{"precision", one.precision},
          Field{"reason", one.reason}}) {
      LB_ASSIGN_OR_RETURN(field.target, read_text(item, field.key, "", where));
    }
    if (const auto shapes = item.find("shapes"); shapes != nullptr) {
      LB_ASSIGN_OR_RETURN(one.shapes, shapes_from_json(*shapes, where));
    }
    if (const auto nodes = item.find("nodes"); nodes != nullptr) {
      LB_ASSIGN_OR_RETURN(one.nodes, parse_left_nodes(*nodes, where));
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace latebind::core
