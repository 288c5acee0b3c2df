// A graph is the same after it has been written for a plug-in and read by one, and docs/plugin-contract.md has all of
// it.
#include "backends/plugin/graph_form.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <variant>

#include "backends/plugin/host.h"
#include "backends/table/read_graph.h"
#include "core/graph/operator_members.h"
#include "tests/core/graph/graph_model.h"
#include "tests/core/graph/random_encoder.h"
#include "tests/plugin/support.h"

namespace latebind::plugin::testing {
namespace {

using graph::testing::EncoderShape;

core::ModelGraph written(const EncoderShape& shape) {
  auto made = graph::testing::encoder(shape);
  EXPECT_OK(made.status());
  return graph::testing::model_graph_of(*std::move(made));
}

Result<core::ModelGraph> read(const lbb_graph* graph) {
  return table::read_graph(own_host(), graph, nullptr);
}

EncoderShape drawn(unsigned number) {
  std::mt19937 chance(number);
  EncoderShape shape = graph::testing::draw_shape(chance);
  graph::testing::draw_more(chance, shape);
  graph::testing::draw_latest(chance, shape);
  return shape;
}

TEST(GraphFormTest, EveryGraphIsReadAsItWas) {
  std::set<std::string_view> operators;
  for (unsigned i = 0; i < 200; ++i) {
    const core::ModelGraph model = written(drawn(i));
    const GraphForm form(model);
    const auto again = read(form.get());
    ASSERT_OK(again.status());
    EXPECT_EQ(graph::describe(*again->graph), graph::describe(*model.graph)) << i;
    EXPECT_EQ(again->sources.front().name, "weights.bin");
    for (std::uint32_t w = 0; w < form.get()->weight_count; ++w) {
      const lbb_weight& weight = *form.get()->weights[w];
      const auto* const bytes = static_cast<const std::byte*>(form.weight(w));
      EXPECT_EQ(bytes, model.graph->weights().front().bytes.bytes.data() + weight.offset) << "it was copied";
      std::vector<std::byte> copy(weight.bytes);
      ASSERT_OK(form.read_weight(w, 0, copy.data(), copy.size()));
      EXPECT_EQ(std::memcmp(copy.data(), bytes, copy.size()), 0);
    }
    for (const graph::Node& node : model.graph->nodes())
      std::visit([&]<class Op>(const Op&) { operators.insert(graph::kOperatorName<Op>); }, node.op);
  }
  EXPECT_EQ(operators.size(), std::variant_size_v<graph::Operator>) << "some operator was never drawn";
}

TEST(GraphFormTest, PiecesOutsideOfAWeightAreRefused) {
  const GraphForm form(written({}));
  const std::uint64_t bytes = form.get()->weights[0]->bytes;
  std::vector<std::byte> to(bytes);
  EXPECT_OK(form.read_weight(0, bytes, to.data(), 0));
  expect_error(form.read_weight(0, bytes - 3, to.data(), 4), StatusCode::kInvalidArgument, "are not in the graph");
  const auto behind = static_cast<std::uint32_t>(form.get()->weight_count);
  expect_error(form.read_weight(behind, 0, to.data(), 1), StatusCode::kInvalidArgument, "are not in the graph");
  EXPECT_EQ(form.weight(behind), nullptr);
}

// A graph of one node, whose parts a test changes.
class ReadGraphTest : public ::testing::Test {
 protected:
  ReadGraphTest() : form_(sum_graph()), graph_(*form_.get()), add_(*graph_.nodes[2]), a_(*add_.arguments[0]) {
    nodes_.assign(graph_.nodes, graph_.nodes + graph_.node_count);
    arguments_.assign(add_.arguments, add_.arguments + add_.argument_count);
    nodes_[2] = &add_;
    arguments_[0] = &a_;
    add_.arguments = arguments_.data();
    graph_.nodes = nodes_.data();
  }

  static core::ModelGraph sum_graph() { return *sum().graph(); }

  GraphForm form_;
  lbb_graph graph_;
  lbb_node add_;
  lbb_argument a_;
  std::vector<const lbb_node*> nodes_;
  std::vector<const lbb_argument*> arguments_;
};

TEST_F(ReadGraphTest, WhatIsNotKnownIsNamed) {
  EXPECT_OK(read(&graph_).status());
  add_.op = "subtract";
  expect_error(read(&graph_).status(), StatusCode::kUnsupported, "the operator 'subtract' is not known here");
  add_.op = "add";
  lbb_argument more = a_;
  more.name = "rounding";
  arguments_.push_back(&more);
  add_.arguments = arguments_.data();
  add_.argument_count = 3;
  expect_error(read(&graph_).status(), StatusCode::kUnsupported, "the operator 'add' has an argument 'rounding'");
  more.name = "a";
  expect_error(read(&graph_).status(), StatusCode::kUnsupported,
               "has an argument 'a', which is not known here, or twice");
}

TEST_F(ReadGraphTest, WhatDoesNotFitIsNamed) {
  a_.kind = LBB_INTEGER;
  expect_error(read(&graph_).status(), StatusCode::kInvalidModel, "'a' of the operator 'add' has the kind 2, not 0");
  a_.kind = LBB_VALUE;
  a_.index = 2;
  expect_error(read(&graph_).status(), StatusCode::kInvalidModel, "add of an unknown value");
  a_.index = 0;
  a_.name = "c";
  expect_error(read(&graph_).status(), StatusCode::kInvalidModel, "the operator 'add' has no argument 'a'");
  a_.name = "a";
  const std::int64_t dims[] = {7, 2};
  add_.dims = dims;
  expect_error(read(&graph_).status(), StatusCode::kInvalidModel, "node 2 is f32 [?,2], and is said to be f32 [7,2]");
  graph_.output_count = 0;
  EXPECT_EQ(read(&graph_).status().code(), StatusCode::kInvalidModel);
}

// -- The page. --

struct Documented {
  std::string kind;
  std::string row;
};

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
std::string kind_of() {
  if constexpr (std::is_same_v<T, graph::Value>) return "value";
  if constexpr (std::is_same_v<T, graph::Weight>) return "weight";
  if constexpr (std::is_same_v<T, std::int64_t> || std::is_same_v<T, bool>) return "integer";
  if constexpr (std::is_floating_point_v<T>) return "number";
  if constexpr (std::is_same_v<T, std::vector<float>>) return "numbers";
  if constexpr (std::is_same_v<T, std::string> || std::is_enum_v<T>) return "text";
  return "";
}

template <class Op>
void collect(const std::string& prefix, bool is_optional, std::map<std::string, std::string>& arguments) {
  Op op{};
  graph::each_member(op, [&]<class Member>(std::string_view name, Member&) {
    if constexpr (IsOptional<Member>::value) {
      using Inner = typename Member::value_type;
      if constexpr (requires(Inner & inner) { graph::each_member(inner, [](std::string_view, auto&) {}); }) {
        collect<Inner>(prefix + std::string(name) + ".", true, arguments);
      } else {
        arguments[prefix + std::string(name)] = kind_of<Inner>() + ", optional";
      }
    } else {
      const bool may_be_absent = is_optional || std::is_same_v<Member, bool>;
      arguments[prefix + std::string(name)] = kind_of<Member>() + (may_be_absent ? ", optional" : "");
    }
  });
}

// The rows of the tables of arguments, by the headings before them.
std::map<std::string, std::map<std::string, Documented>> documented() {
  std::ifstream file(std::string(LATEBIND_SOURCE_DIR) + "/docs/plugin-contract.md");
  std::map<std::string, std::map<std::string, Documented>> all;
  std::string heading;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) heading.clear();
    if (line.starts_with("### `")) {
      heading = line.substr(5, line.size() - 6);
      all[heading];
    }
    if (heading.empty() || !line.starts_with("| `")) continue;
    const auto name_end = line.find('`', 3);
    const auto kind = line.find("| ", name_end) + 2;
    all[heading][line.substr(3, name_end - 3)] = {line.substr(kind, line.find(" |", kind) - kind), line};
  }
  return all;
}

template <class Op>
void expect_to_be_documented(std::map<std::string, std::map<std::string, Documented>>& all) {
  const std::string name(graph::kOperatorName<Op>);
  ASSERT_NE(name, "");
  ASSERT_TRUE(all.contains(name)) << name;
  std::map<std::string, std::string> has;
  collect<Op>("", false, has);
  std::map<std::string, std::string> said;
  for (const auto& [argument, row] : all[name])
    said[argument] = row.kind;
  EXPECT_EQ(said, has) << name;
  all.erase(name);
}

TEST(PluginContractTest, HasEveryOperatorWithItsArguments) {
  auto all = documented();
  for (const auto& [word, value] : core::Words<graph::ActivationFunction>::kWords)
    EXPECT_THAT(all["activation"]["function"].row, HasSubstr("`" + std::string(word) + "`"));
  for (const auto& [word, value] : core::Words<graph::PoolingMode>::kWords)
    EXPECT_THAT(all["pool"]["mode"].row, HasSubstr("`" + std::string(word) + "`"));
  [&]<class... Operators>(const std::variant<Operators...>*) {
    (expect_to_be_documented<Operators>(all), ...);
  }(static_cast<const graph::Operator*>(nullptr));
  for (const auto& [name, rows] : all)
    ADD_FAILURE() << "there is no operator " << name;
}

}  // namespace
}  // namespace latebind::plugin::testing
