// Reranking beside OpenVINO's C interface alone, as a careful user of it would write it: one process, the same graph,
// the same texts, in turn, so that what comes from a shared machine hits all alike.
//
//   rerank_beside_raw LIBRARY MODEL.onnx MODEL_DIR CORPUS PRECISION [ROUNDS=5] [DEVICE=openvino:CPU] [KEY=VALUE…]
//
// MODEL_DIR is a cross-encoder with one label and MODEL.onnx what `latebind export` makes of it. For each of 10
// queries, the corpus' shortest texts, 100 documents are scored by one call. DEVICE is what computes for ours; all have
// two threads. Raw contenders:
//
//   same          the batches that Latebind forms, to the row, from text: tokenized on one thread (by Latebind's
//                 tokenizer, since OpenVINO's C interface has none), then run on two requests
//   same_from_ids the same batches of token ids that are there already: no tokenizing at all
//   512 … 2048    batches of neighbours, sorted by length, of at most so many tokens, from text
//
// KEY=VALUE are options of one more contender, ours_changed. All scores are compared. Prints one JSON object: the pairs
// a second of each contender in each round.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <barrier>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "bench/raw_session.h"
#include "embedding/schedule/batching.h"
#include "latebind/latebind.hpp"

namespace {

using namespace latebind;         // NOLINT: a program of one file, all of it about this
using namespace latebind::bench;  // NOLINT

constexpr std::size_t kQueries = 10;
constexpr std::size_t kDocuments = 100;
constexpr std::size_t kPairTokens = 512;
constexpr std::size_t kOurBatchTokens = 1024;  // what Latebind takes on a CPU
constexpr std::array<std::size_t, 3> kRawBatchTokens{512, 1024, 2048};
constexpr float kDifferenceMax = 1e-3F;

using Batches = std::vector<std::vector<std::uint32_t>>;  // positions, the longest of each first

// Pairs as token ids.
struct PairTokens {
  std::vector<std::vector<std::int32_t>> ids;
  std::vector<std::size_t> type_one_from;
  std::vector<std::uint32_t> lengths;
};

PairTokens tokenize_pairs(const embedding::Tokenizer& tokenizer, std::span<const TextPair> pairs) {
  PairTokens tokens;
  tokens.ids.resize(pairs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto encoded =
        tokenizer.encode_pair(pairs[i].first, pairs[i].second, {.max_tokens = kPairTokens}, tokens.ids[i]);
    if (!encoded.ok()) die(encoded.status().to_string());
    tokens.type_one_from.push_back(encoded->type_one_from);
    tokens.lengths.push_back(static_cast<std::uint32_t>(tokens.ids[i].size()));
  }
  return tokens;
}

struct Division {
  Batches batches;
  std::vector<std::size_t> widths;
  std::uint64_t computed_tokens = 0;

  void add(std::span<const std::uint32_t> rows, std::size_t width) {
    batches.emplace_back(rows.begin(), rows.end());
    widths.push_back(width);
    computed_tokens += rows.size() * width;
  }
};

Division our_division(const PairTokens& tokens) {
  const auto plan =
      embedding::plan_batches(tokens.lengths, {.tokens = kOurBatchTokens, .workers = kThreads, .longest = kPairTokens});
  Division division;
  for (const auto& batch : plan.batches)
    division.add(std::span(plan.order).subspan(batch.first, batch.count), batch.width);
  return division;
}

Division division_by_tokens(const PairTokens& tokens, std::size_t most) {
  const auto order = embedding::plan_batches(tokens.lengths, {.tokens = most}).order;
  Division division;
  for (std::size_t first = 0; first < order.size();) {
    const std::size_t width = tokens.lengths[order[first]];
    const std::size_t rows = std::min(order.size() - first, std::max<std::size_t>(1, most / width));
    division.add(std::span(order).subspan(first, rows), width);
    first += rows;
  }
  return division;
}

// Two requests, each driven by a thread of its own that is kept.
class RawRanker {
 public:
  RawRanker(const Session& session, const embedding::Tokenizer& tokenizer) : session_(session), tokenizer_(tokenizer) {
    for (std::size_t i = 0; i < kThreads; ++i)
      workers_.push_back({.request = session.request()});
    for (std::size_t i = 1; i < kThreads; ++i) {
      threads_.emplace_back([this, i] {
        for (start_.arrive_and_wait(); !is_over_; start_.arrive_and_wait()) {
          compute(workers_[i]);
          end_.arrive_and_wait();
        }
      });
    }
  }
  RawRanker(const RawRanker&) = delete;
  RawRanker& operator=(const RawRanker&) = delete;
  ~RawRanker() {
    is_over_ = true;
    start_.arrive_and_wait();
    for (auto& thread : threads_)
      thread.join();
  }

  std::vector<float> rank(std::span<const TextPair> pairs, const std::function<Division(const PairTokens&)>& divide) {
    const PairTokens tokens = tokenize_pairs(tokenizer_, pairs);
    return rank_ids(tokens, divide(tokens));
  }

  std::vector<float> rank_ids(const PairTokens& tokens, const Division& division) {
    std::vector<float> scores(tokens.ids.size());
    tokens_ = &tokens;
    division_ = &division;
    scores_ = scores;
    next_ = 0;
    start_.arrive_and_wait();
    compute(workers_[0]);
    end_.arrive_and_wait();
    return scores;
  }

 private:
  struct Worker {
    openvino::InferRequestHandle request;
    std::array<std::vector<std::int64_t>, 3> inputs{};
    std::vector<float> out{};
  };

  void compute(Worker& worker) {
    auto& [ids, mask, types] = worker.inputs;
    for (std::size_t i = next_++; i < division_->batches.size(); i = next_++) {
      const auto& rows = division_->batches[i];
      const std::size_t width = division_->widths[i];
      for (auto& input : worker.inputs)
        input.assign(rows.size() * width, 0);
      for (std::size_t r = 0; r < rows.size(); ++r) {
        const auto& text = tokens_->ids[rows[r]];
        const auto begin = static_cast<std::ptrdiff_t>(r * width);
        const std::size_t first_texts = tokens_->type_one_from[rows[r]];
        std::copy(text.begin(), text.end(), ids.begin() + begin);
        std::fill_n(mask.begin() + begin, text.size(), 1);
        std::fill_n(types.begin() + begin + static_cast<std::ptrdiff_t>(first_texts), text.size() - first_texts, 1);
      }
      session_.run(worker.request, rows.size(), width, std::array{ids.data(), mask.data(), types.data()}, worker.out,
                   /*async=*/true);
      for (std::size_t r = 0; r < rows.size(); ++r)
        scores_[rows[r]] = worker.out[r];
    }
  }

  const Session& session_;
  const embedding::Tokenizer& tokenizer_;
  std::vector<Worker> workers_;
  // One call's.
  const PairTokens* tokens_ = nullptr;
  const Division* division_ = nullptr;
  std::span<float> scores_;
  std::atomic<std::size_t> next_ = 0;

  std::atomic<bool> is_over_ = false;
  std::barrier<> start_{kThreads};
  std::barrier<> end_{kThreads};
  std::vector<std::thread> threads_;
};

std::vector<std::vector<TextPair>> requests_of(const std::vector<std::string>& texts) {
  std::vector<std::string_view> queries(texts.begin(), texts.end());
  std::ranges::stable_sort(queries, {}, &std::string_view::size);
  queries.resize(std::min(queries.size(), kQueries));
  std::vector<std::vector<TextPair>> requests;
  for (std::size_t i = 0; i < queries.size(); ++i) {
    auto& pairs = requests.emplace_back();
    for (std::size_t j = 0; j < kDocuments; ++j)
      pairs.push_back({queries[i], texts[(i * kDocuments + j) % texts.size()]});
  }
  return requests;
}

CrossEncoder open_ours(const std::string& library, const std::string& model, const std::string& device,
                       const std::string& precision, std::span<char*> changes) {
  const auto runtime = Runtime::create({{"openvino.library", library}});
  if (!runtime) die(runtime.status().message());
  Options options{{"device", device},
                  {"precision", precision},
                  {"threads", std::to_string(kThreads)},
                  {"hint", "throughput"},
                  {"strict", "true"}};
  for (const std::string_view change : changes) {
    const std::size_t end = change.find('=');
    if (end == std::string_view::npos) die(fmt::format("'{}' is not KEY=VALUE", change));
    options.set(std::string(change.substr(0, end)), std::string(change.substr(end + 1)));
  }
  auto encoder = runtime->open_cross_encoder(model, options);
  if (!encoder) die(encoder.status().message());
  return *std::move(encoder);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 6) {
    die("usage: rerank_beside_raw LIBRARY MODEL.onnx MODEL_DIR CORPUS PRECISION [ROUNDS=5] [DEVICE] [KEY=VALUE…]");
  }
  const auto library = openvino::open_library(argv[1]);
  if (!library.ok()) die(library.status().to_string());
  const auto tokenizer = embedding::Tokenizer::from_file(std::string(argv[3]) + "/tokenizer.json");
  if (!tokenizer.ok()) die(tokenizer.status().to_string());
  const auto texts = read_lines(argv[4]);
  const auto requests = requests_of(texts);
  const std::size_t rounds = argc > 6 ? static_cast<std::size_t>(std::max(1, std::atoi(argv[6]))) : 5;
  const std::string device = argc > 7 ? argv[7] : "openvino:CPU";

  const CrossEncoder ours = open_ours(argv[1], argv[3], device, argv[5], {});
  std::optional<CrossEncoder> changed;
  if (argc > 8) changed = open_ours(argv[1], argv[3], device, argv[5], std::span(argv + 8, argv + argc));
  const Session session(**library, argv[2], argv[5], /*latency=*/false);
  RawRanker raw(session, *tokenizer);

  std::vector<PairTokens> tokens;
  std::vector<Division> divisions;
  for (const auto& pairs : requests) {
    tokens.push_back(tokenize_pairs(*tokenizer, pairs));
    divisions.push_back(our_division(tokens.back()));
  }
  struct Contender {
    std::string name;
    std::function<std::vector<float>(std::size_t request)> scores;
    double seconds = 0;
    std::vector<double> pairs_per_s{};
  };
  std::uint64_t computed_tokens = 0;
  const auto by_ours = [&](const CrossEncoder& encoder, std::size_t i) {
    auto stats = detail::sized<lb_encode_stats>();
    auto scores = encoder.score(requests[i], {.raw_scores = true}, {}, &stats);
    if (!scores) die(scores.status().message());
    computed_tokens = stats.padded_tokens;
    return *std::move(scores);
  };
  std::vector<Contender> contenders;
  contenders.push_back({"ours", [&](std::size_t i) { return by_ours(ours, i); }});
  if (changed) contenders.push_back({"ours_changed", [&](std::size_t i) { return by_ours(*changed, i); }});
  contenders.push_back({"same", [&](std::size_t i) { return raw.rank(requests[i], our_division); }});
  contenders.push_back({"same_from_ids", [&](std::size_t i) { return raw.rank_ids(tokens[i], divisions[i]); }});
  for (const std::size_t most : kRawBatchTokens) {
    contenders.push_back({std::to_string(most), [&, most](std::size_t i) {
                            return raw.rank(requests[i],
                                            [most](const PairTokens& each) { return division_by_tokens(each, most); });
                          }});
  }
  for (std::size_t round = 0; round <= rounds; ++round) {  // the first one warms up and compares
    for (Contender& each : contenders)
      each.seconds = 0;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      std::vector<float> first;
      for (std::size_t c = 0; c < contenders.size(); ++c) {
        // Who comes after whom changes: each finds the caches as another left them.
        Contender& each = contenders[round == 0 ? c : (c + i + round) % contenders.size()];
        const auto start = Clock::now();
        const auto scores = each.scores(i);
        each.seconds += seconds_since(start);
        if (round > 0) continue;
        if (first.empty()) first = scores;
        for (std::size_t j = 0; j < scores.size(); ++j) {
          if (!(std::abs(scores[j] - first[j]) < kDifferenceMax)) {
            die(fmt::format("query {}, document {}: {} has {}, {} has {}", i, j, contenders[0].name, first[j],
                            each.name, scores[j]));
          }
        }
        if (c == 0 && device.starts_with("openvino") && computed_tokens != divisions[i].computed_tokens) {
          die(fmt::format("query {}: ours computed {} tokens, and {} were planned", i, computed_tokens,
                          divisions[i].computed_tokens));
        }
      }
    }
    if (round == 0) continue;
    for (Contender& each : contenders)
      each.pairs_per_s.push_back(static_cast<double>(requests.size() * kDocuments) / each.seconds);
  }
  std::string text;
  for (const Contender& each : contenders)
    text += fmt::format("{}\"{}\": [{:.1f}]", text.empty() ? "" : ", ", each.name, fmt::join(each.pairs_per_s, ", "));
  fmt::print("{{{}}}\n", text);
  return 0;
}
