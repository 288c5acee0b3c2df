// What positions in the attention cost: the processor time of a network whose attention has a bias for each distance
// (MPNet's), one that grows with it (ALiBi), or products with tables of places (DeBERTa's), beside that of the same
// network without.
//
//   position_cost MODEL_DIR CORPUS DEVICE [PRECISION=f32] [ROUNDS=5]
//
// DEVICE is native:CPU or openvino:CPU. The networks are the folder's graph with other attention: the table of the bias
// is the folder's, or else consists of numbers of another weight; the places are rows of words, projected
// as queries and keys are, in the sizes of DeBERTa v3. Texts are batched as by
// bench/raw_openvino.cpp, as they are and joined to texts of 256 tokens; every batch goes through each network in turn,
// on one thread. Processor time counts, so other work on the machine changes it little. Prints the ratio to the network
// without, round by round: least, median, most.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/native/backend.h"
#include "backends/openvino/backend.h"
#include "bench/raw_session.h"
#include "core/backend/executable.h"
#include "core/graph/graph.h"
#include "embedding/build_model.h"
#include "embedding/folder/model_folder.h"
#include "embedding/schedule/batching.h"

namespace {

using namespace latebind;         // NOLINT: a program of one file, all of it about this
using namespace latebind::bench;  // NOLINT

constexpr std::size_t kBatchTokens = 2048;
constexpr std::int64_t kBuckets = 32;
constexpr std::int64_t kSpan = 256;
constexpr std::int64_t kFarthest = 512;

enum class Positions : std::uint8_t { kNone, kDistance, kLinear, kPlaces };

constexpr std::array kKinds{std::pair{Positions::kNone, "without"}, std::pair{Positions::kDistance, "MPNet's"},
                            std::pair{Positions::kLinear, "ALiBi"}, std::pair{Positions::kPlaces, "DeBERTa's"}};

template <class T>
T taken(core::Result<T> result) {
  if (!result.ok()) die(result.status().to_string());
  return *std::move(result);
}

// The first numbers of a table of positions as the table of a bias.
graph::DistanceBias some_bias(const graph::Graph& graph, std::int64_t heads) {
  for (const graph::Node& node : graph.nodes()) {
    const auto* const lookup = std::get_if<graph::PositionLookup>(&node.op);
    if (lookup == nullptr || lookup->table.shape[0] * lookup->table.shape[1] < kBuckets * heads) continue;
    graph::Weight table = lookup->table;
    table.name = "bias of distances";
    table.shape = {kBuckets, heads};
    return {.table = std::move(table)};
  }
  die("the network has no table of positions whose numbers a bias could have");
}

void set_positions(graph::Attention& attention, const graph::Graph& graph, Positions positions) {
  const auto own = std::exchange(attention.distance_bias, std::nullopt);
  attention.linear_bias.reset();
  if (positions == Positions::kDistance) attention.distance_bias = own ? *own : some_bias(graph, attention.heads);
  if (positions != Positions::kLinear) return;
  std::vector<float> slopes;
  for (std::int64_t head = 0; head < attention.heads; ++head)
    slopes.push_back(std::exp2(-8.0F * static_cast<float>(head + 1) / static_cast<float>(attention.heads)));
  attention.linear_bias = graph::LinearBias{.slopes = std::move(slopes), .positions = kMaxTokens};
}

// Moves the operands of an operator behind nodes that were inserted at the beginning.
void move_operands(graph::Operator& op, std::uint32_t by) {
  const auto move = [by](auto&... values) { ((values.node += by), ...); };
  std::visit(
      graph::Cases{[](graph::Input&) {}, [](graph::RowLookup&) {}, [](graph::WholeTable&) {},
                   [&](graph::Lookup& o) { move(o.ids); }, [&](graph::PositionLookup& o) { move(o.ids); },
                   [&](graph::Add& o) { move(o.a, o.b); }, [&](graph::Multiply& o) { move(o.a, o.b); },
                   [&](graph::Convolution& o) { move(o.x, o.mask); }, [&](graph::Pool& o) { move(o.x, o.mask); },
                   [&](graph::Attention& o) { move(o.query, o.key, o.value, o.mask); }, [&](auto& o) { move(o.x); }},
      op);
}

// Adds the tables of places of every attention, and returns them in that order.
std::vector<graph::Disentangled> add_places(const graph::Graph& graph, graph::GraphBuilder& builder) {
  std::optional<graph::Value> table;
  for (const graph::Node& node : graph.nodes()) {
    const auto* const words = std::get_if<graph::Lookup>(&node.op);
    if (words == nullptr || table) continue;
    graph::Weight rows = words->table;
    rows.name = "places";
    rows.shape = {2 * kSpan, rows.shape[1]};
    table = builder.add(graph::WholeTable{.table = std::move(rows)});
  }
  std::vector<graph::Disentangled> places;
  for (const graph::Node& node : graph.nodes()) {
    const auto* const attention = std::get_if<graph::Attention>(&node.op);
    if (attention == nullptr) continue;
    const auto projected = [&](graph::Value as) {
      const auto* const linear = std::get_if<graph::Linear>(&graph.node(as).op);
      if (linear == nullptr || !table) die("the network has no queries and keys that are products");
      return builder.add(graph::Linear{.x = *table, .weight = linear->weight, .bias = linear->bias});
    };
    places.push_back({.keys = projected(attention->key),
                      .queries = projected(attention->query),
                      .span = kSpan,
                      .farthest = kFarthest});
  }
  return places;
}

core::Model with_positions(const graph::Graph& graph, Positions positions) {
  graph::GraphBuilder builder({graph.weights().begin(), graph.weights().end()});
  std::vector<graph::Disentangled> places;
  if (positions == Positions::kPlaces) places = add_places(graph, builder);
  const auto added = static_cast<std::uint32_t>(places.empty() ? 0 : 1 + 2 * places.size());
  std::size_t layer = 0;
  for (const graph::Node& node : graph.nodes()) {
    graph::Operator op = node.op;
    move_operands(op, added);
    if (auto* const attention = std::get_if<graph::Attention>(&op)) {
      set_positions(*attention, graph, positions);
      if (!places.empty()) attention->disentangled = places[layer++];
    }
    builder.add(std::move(op));
  }
  auto made = std::make_shared<const graph::Graph>(
      taken(std::move(builder).finish({graph.output().node + added}, std::string(graph.output_name()))));
  return core::Model::from_graph("positions", {.graph = std::move(made)});
}

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

double seconds_of_run(core::Executable& executable, std::vector<std::int64_t>& ids, std::vector<std::int64_t>& mask,
                      std::size_t rows) {
  const core::Shape shape{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(ids.size() / rows)};
  const std::array inputs{core::TensorView{ids.data(), core::ElementType::kI64, shape, std::nullopt},
                          core::TensorView{mask.data(), core::ElementType::kI64, shape, std::nullopt}};
  core::OutputTensor output;
  const double start = processor_seconds();
  const core::Status status = executable.execute(inputs, {&output, 1}, {});
  if (!status.ok()) die(status.to_string());
  return processor_seconds() - start;
}

using Executables = std::array<std::unique_ptr<core::Executable>, kKinds.size()>;

// The seconds of each network for all texts.
std::array<double, kKinds.size()> pass(const Executables& executables, const Tokens& tokens) {
  const auto plan = embedding::plan_batches(tokens.lengths, {.tokens = kBatchTokens});
  std::vector<std::int64_t> ids;
  std::vector<std::int64_t> mask;
  std::array<double, kKinds.size()> seconds{};
  for (const auto& batch : plan.batches) {
    pad(tokens, std::span(plan.order).subspan(batch.first, batch.count), batch.width, ids, mask);
    for (std::size_t kind = 0; kind < kKinds.size(); ++kind)
      seconds[kind] += seconds_of_run(*executables[kind], ids, mask, batch.count);
  }
  return seconds;
}

std::vector<std::string> joined(const std::vector<std::string>& lines) {
  constexpr std::size_t kJoined = 12;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < lines.size(); ++i)
    i % kJoined == 0 ? texts.push_back(lines[i]) : void(texts.back().append(" ").append(lines[i]));
  return texts;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) die("usage: position_cost MODEL_DIR CORPUS DEVICE [PRECISION=f32] [ROUNDS=5]");
  const std::string_view device = argv[3];
  const std::string_view precision = argc > 4 ? argv[4] : "f32";
  if (precision != "f32" && precision != "bf16") die("PRECISION is f32 or bf16");
  core::CompileOptions options;
  options.precision = precision == "f32" ? core::Precision::kF32 : core::Precision::kBF16;
  options.threads = 1;
  options.requests = 1;
  const int rounds = argc > 5 ? std::max(1, std::atoi(argv[5])) : 5;
  const auto folder = taken(embedding::ModelFolder::open(argv[1]));
  const auto graph = taken(embedding::make_graph(folder.documents()));
  const auto tokenizer = taken(folder.documents().open_tokenizer());
  const auto lines = read_lines(argv[2]);

  const bool is_native = device.starts_with("native:");
  const auto backend = is_native ? native::configured_backend({}) : openvino::configured_backend({});
  const std::string_view part = device.substr(device.find(':') + 1);
  Executables executables;
  for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
    executables[kind] = taken(backend->load(with_positions(graph, kKinds[kind].first), part, options));
  }
  for (const auto& [name, texts] : {std::pair{"as they are", lines}, std::pair{"of 256 tokens", joined(lines)}}) {
    const Tokens tokens = tokenize(tokenizer, texts);
    pass(executables, tokens);  // what is made for each new shape
    std::array<std::vector<double>, kKinds.size()> ratios;
    for (int round = 0; round < rounds; ++round) {
      const auto seconds = pass(executables, tokens);
      for (std::size_t kind = 1; kind < kKinds.size(); ++kind)
        ratios[kind].push_back(seconds[kind] / seconds[0]);
    }
    for (std::size_t kind = 1; kind < kKinds.size(); ++kind) {
      std::ranges::sort(ratios[kind]);
      fmt::print("{} {}, texts {}: {:.3f} {:.3f} {:.3f}\n", device, kKinds[kind].second, name, ratios[kind].front(),
                 ratios[kind][ratios[kind].size() / 2], ratios[kind].back());
    }
  }
  return 0;
}
