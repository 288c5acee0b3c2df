// What `native` computes is what the operators mean, on every instruction set that this processor has.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "backends/native/memory/buffer.h"
#include "kit/networks/small_encoder.h"
#include "kit/reference/evaluator.h"
#include "support.h"

namespace latebind::native {
namespace {

using core::ElementType;
using core::StatusCode;
using testing::Array;
using testing::EncoderShape;
using testing::Inputs;
using testing::Outcome;

class GraphsTest : public ::testing::TestWithParam<testing::Arithmetic> {
 protected:
  // Computes on this number of threads.
  std::unique_ptr<core::Executable> load(core::Result<graph::Graph> graph, unsigned threads) {
    EXPECT_TRUE(graph.ok()) << graph.status().to_string();
    auto loaded = testing::backend(GetParam().isa)
                      ->load(testing::model_of(*std::move(graph)), "CPU",
                             {.precision = GetParam().precision, .threads = threads});
    EXPECT_TRUE(loaded.ok()) << loaded.status().to_string();
    return loaded.ok() ? std::move(*loaded) : nullptr;
  }
};

// Of the values at tokens: those at padding are not specified. Infinite where one is no number.
struct Distance {
  double farthest = 0;    // of one value, as a part of it where it is larger than 1
  double on_average = 0;  // of all (the root of the mean square), as a part of their size
};

template <class Values>
Distance distance_between(const Values& found, const Array& wanted, const Inputs& inputs) {
  const bool is_by_token = wanted.shape.size() == 3 && inputs.contains("mask");
  const auto width = static_cast<std::size_t>(wanted.shape.back());
  double squares = 0;
  double squares_wanted = 0;
  double farthest = 0;
  for (std::size_t i = 0; i < wanted.values.size(); ++i) {
    if (is_by_token && inputs.at("mask").values[i / width] == 0) continue;
    const double distance = std::abs(found[i] - wanted.values[i]);
    farthest = std::max(farthest, distance / std::max(1.0, std::abs(wanted.values[i])));
    squares += distance * distance;
    squares_wanted += wanted.values[i] * wanted.values[i];
  }
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (!std::isfinite(squares)) return {kInfinite, kInfinite};
  return {farthest, std::sqrt(squares / std::max(squares_wanted, 1e-30))};
}

// On average in every precision. In f32 also each value: where numbers are rounded, a single one may be anywhere.
void expect_near(const Outcome& outcome, const Array& wanted, const Inputs& inputs, const testing::Arithmetic& in,
                 const Distance& besides = {}) {
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.to_string();
  ASSERT_EQ(outcome.values.size(), wanted.values.size());
  const Distance distance = distance_between(outcome.values, wanted, inputs);
  if (in.precision == core::Precision::kF32) {
    ASSERT_LE(distance.farthest, in.distance + besides.farthest);
  }
  ASSERT_LE(distance.on_average, in.distance + besides.on_average);
}

// So many times as far as rounding what each operator makes leads from what it means: some networks make that large.
constexpr double kTimesRounded = 8;
Distance distance_by_rounding(const graph::Graph& graph, const Array& wanted, const Inputs& inputs,
                              core::Precision precision) {
  const int bits = precision == core::Precision::kF32    ? 24
                   : precision == core::Precision::kF16  ? 11
                   : precision == core::Precision::kBF16 ? 8
                                                         : 7;
  const Distance once = distance_between(kit::evaluate(graph, inputs, bits).values, wanted, inputs);
  return {kTimesRounded * once.farthest, kTimesRounded * once.on_average};
}

constexpr std::size_t kDrawnAlways = 150;

TEST_P(GraphsTest, RandomEncodersAreWhatTheirOperatorsMean) {
  std::mt19937 chance(20261125);
  std::mt19937 more(6);
  std::mt19937 latest(180);
  for (std::size_t i = 0; i < testing::encoders_to_draw(kDrawnAlways); ++i) {
    SCOPED_TRACE(i);
    EncoderShape shape = testing::draw_shape(chance);
    // Of few numbers a layer norm makes large what rounding left, and more so of products of two; and norms of heads
    // make scores so large that one token gets all attention, or another. Such norms and products are in f32 in any
    // precision.
    if (GetParam().precision != core::Precision::kF32) {
      shape.hidden += 8 * shape.heads;
      shape.intermediate += 8;
      shape.gated = false;
      shape.rms = false;
    } else {
      draw_biases_and_experts(more, shape);
    }
    draw_convolution_and_disentangled(latest, shape);
    const auto graph = testing::encoder(shape);
    ASSERT_TRUE(graph.ok()) << graph.status().to_string();
    std::vector<std::int64_t> lengths;
    for (std::size_t text = 0; text < 1 + i % 4; ++text)
      lengths.push_back(std::uniform_int_distribution<std::int64_t>(1, 19)(chance));
    const Inputs inputs = testing::draw_batch(chance, lengths, shape.vocabulary, i % 3);
    const auto executable = load(testing::encoder(shape), i % 2 == 0 ? 1 : 3);
    ASSERT_NE(executable, nullptr);
    const Array wanted = kit::evaluate(*graph, inputs);
    // Attention to few tokens averages less of what rounding left.
    testing::Arithmetic in = GetParam();
    if (shape.window && in.precision == core::Precision::kF16) in.distance *= 2;
    if (shape.linear_bias) in.distance *= 2;
    // Of the fixed graphs of every run, only one amplifies rounding, and only in f16 by more than the bound.
    constexpr std::size_t kAmplifies = 128;
    Distance by_rounding;
    if (i >= kDrawnAlways || (i == kAmplifies && in.precision == core::Precision::kF16))
      by_rounding = distance_by_rounding(*graph, wanted, inputs, in.precision);
    expect_near(testing::run(*executable, inputs), wanted, inputs, in, by_rounding);
  }
}

// One product, of sizes around those of words, blocks, panels and tiles. In bf16 its numbers have no more bits, so that
// it is exact.
TEST_P(GraphsTest, ProductsOfEverySize) {
  using graph::Value;
  const bool is_short = GetParam().precision == core::Precision::kBF16;
  testing::Arithmetic bound = GetParam();
  bound.distance = bound.precision == core::Precision::kInt8  ? 0.01
                   : bound.precision == core::Precision::kF16 ? 0.003
                                                              : 2e-5;
  std::mt19937 chance(3);
  for (const std::int64_t rows : {1, 2, 3, 4, 5, 31, 64, 383, 384, 385, 771, 1600}) {
    for (const std::int64_t columns : {1, 15, 16, 17, 33, 64, 70}) {
      SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
      const auto make = [&] {
        kit::PatternWeights weights;
        const ElementType type = is_short ? ElementType::kBF16 : ElementType::kF32;
        const graph::Weight table = weights.add("table", type, {60, rows});
        const graph::Weight weight = weights.add("weight", type, {columns, rows});
        const graph::Weight bias = weights.add("bias", ElementType::kF32, {columns});
        graph::GraphBuilder graph(weights.part());
        const Value ids = graph.add(graph::Input{"ids", ElementType::kI64, {core::kDynamic, core::kDynamic}});
        const Value x = graph.add(graph::Lookup{table, ids});
        const Value y = graph.add(graph::Linear{.x = x, .weight = weight, .bias = bias});
        return std::move(graph).finish(y, "tokens");
      };
      const std::int64_t tokens = std::uniform_int_distribution<std::int64_t>(1, 60)(chance);
      Inputs inputs = testing::draw_batch(chance, {tokens}, 60);
      inputs.erase("mask");
      expect_near(testing::run(*load(make(), 1), inputs), kit::evaluate(*make(), inputs), inputs, bound);
    }
  }
}

// Places in one file are not those in another: matrices, and tables of biases by distance.
TEST_P(GraphsTest, WeightsAtOnePlaceOfTwoFilesAreTwo) {
  using graph::Value;
  const auto make = [] {
    kit::PatternWeights first;
    kit::PatternWeights second;
    const graph::Weight words = first.add("words", ElementType::kF32, {60, 16});
    second.add("as many bytes", ElementType::kBF16, {120, 16});
    std::vector<graph::Weight> of_each;
    for (auto* const file : {&first, &second}) {
      const std::string name = std::to_string(of_each.size());
      for (const core::Shape& shape : {core::Shape{16, 16}, core::Shape{8, 2}}) {
        of_each.push_back(file->add(name + shape.to_string(), ElementType::kF32, shape));
        of_each.back().file = file == &second ? 1 : 0;
      }
    }
    EXPECT_EQ(of_each[0].offset, of_each[2].offset);
    EXPECT_EQ(of_each[1].offset, of_each[3].offset);
    graph::GraphBuilder graph(std::vector{first.part(), second.part()});
    const core::Shape tokens{core::kDynamic, core::kDynamic};
    const Value ids = graph.add(graph::Input{"ids", ElementType::kI64, tokens});
    const Value mask = graph.add(graph::Input{"mask", ElementType::kI64, tokens});
    Value x = graph.add(graph::Lookup{words, ids});
    for (const std::size_t file : {0U, 1U}) {
      x = graph.add(graph::Linear{.x = x, .weight = of_each[2 * file]});
      x = graph.add(graph::Attention{.query = x,
                                     .key = x,
                                     .value = x,
                                     .mask = mask,
                                     .heads = 2,
                                     .scale = 0.1F,
                                     .distance_bias = graph::DistanceBias{of_each[2 * file + 1], 20}});
    }
    return std::move(graph).finish(x, "tokens");
  };
  std::mt19937 chance(5);
  const Inputs inputs = testing::draw_batch(chance, {9, 4}, 60);
  expect_near(testing::run(*load(make(), 1), inputs), kit::evaluate(*make(), inputs), inputs, GetParam());
}

// Around the heights of tiles and the widths of panels.
TEST_P(GraphsTest, EveryNumberOfTokensIsRight) {
  for (const bool causal : {false, true}) {
    EncoderShape shape{.hidden = 36,
                       .heads = 3,
                       .intermediate = 47,
                       .padding = 3,
                       .buckets = 8,
                       .farthest = 20,
                       .rotary = true,
                       .window = 25,
                       .gated = GetParam().precision == core::Precision::kF32};
    if (causal) shape.key_heads = 1;
    shape.causal = causal;
    const auto graph = testing::encoder(shape);
    std::mt19937 chance(7);
    const auto alone = load(testing::encoder(shape), 1);
    const auto together = load(testing::encoder(shape), 2);
    for (std::int64_t tokens = 1; tokens <= 62; ++tokens) {
      SCOPED_TRACE(fmt::format("{} tokens{}", tokens, causal ? ", causal" : ""));
      const Inputs inputs = testing::draw_batch(chance, {tokens}, shape.vocabulary);
      const Array wanted = kit::evaluate(*graph, inputs);
      expect_near(testing::run(*alone, inputs), wanted, inputs, GetParam());
      expect_near(testing::run(*together, inputs), wanted, inputs, GetParam());
    }
  }
}

// Around the sizes of vectors, tiles and panels; tables that are longer and shorter than the texts, with and without
// logarithmic places.
TEST_P(GraphsTest, DisentangledAttentionOfManyNumbersOfTokens) {
  std::vector<EncoderShape> shapes(4, {.hidden = 36, .heads = 3, .intermediate = 47, .positions = 140, .padding = 3});
  shapes[0].span = 150;
  shapes[1].span = 20;
  shapes[2].span = 36;
  shapes[2].span_farthest = 70;
  shapes[3].span = 8;
  shapes[3].span_farthest = 20;
  shapes[1].kernel = 5;
  shapes[1].joint = true;
  shapes[2].places_are_normal = true;
  shapes[3].has_place_keys = false;
  std::mt19937 chance(29);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto graph = testing::encoder(shapes[i]);
    const auto alone = load(testing::encoder(shapes[i]), 1);
    const auto together = load(testing::encoder(shapes[i]), 2);
    for (const std::int64_t tokens : {1, 2, 7, 16, 17, 31, 33, 57, 64, 139}) {
      SCOPED_TRACE(fmt::format("shape {}, {} tokens", i, tokens));
      const Inputs inputs = testing::draw_batch(chance, {tokens}, shapes[i].vocabulary);
      const Array wanted = kit::evaluate(*graph, inputs);
      testing::Arithmetic in = GetParam();
      // Three products in each score.
      if (in.precision != core::Precision::kF32) in.distance *= 3;
      expect_near(testing::run(*alone, inputs), wanted, inputs, in);
      expect_near(testing::run(*together, inputs), wanted, inputs, in);
    }
  }
}

TEST_P(GraphsTest, AVectorDoesNotDependOnItsCompany) {
  const EncoderShape shape{.hidden = 48,
                           .heads = 4,
                           .intermediate = 64,
                           .padding = 1,
                           .buckets = 32,
                           .farthest = 128,
                           .rotary = true,
                           .window = 9,
                           .short_convolution = 3,
                           .experts = 4,
                           .chosen = 2};
  std::mt19937 chance(11);
  std::vector<std::int64_t> lengths(90);
  for (auto& length : lengths)
    length = std::uniform_int_distribution<std::int64_t>(1, 60)(chance);
  const Inputs inputs = testing::draw_batch(chance, lengths, shape.vocabulary);
  // Many texts for each thread, few that they share, and one by one.
  const Outcome by_one = testing::run(*load(testing::encoder(shape), 1), inputs);
  const auto shared = load(testing::encoder(shape), 2);
  const Outcome by_two = testing::run(*shared, inputs);
  ASSERT_TRUE(by_one.status.ok()) << by_one.status.to_string();
  EXPECT_EQ(by_one.values, by_two.values);
  const auto width = static_cast<std::size_t>(inputs.at("ids").shape[1]);
  for (std::size_t text = 0; text < lengths.size(); text += 7) {
    Inputs one{{"ids", {{1, lengths[text]}, {}}}, {"mask", {{1, lengths[text]}, {}}}};
    for (auto& [name, array] : one) {
      const auto from = inputs.at(name).values.begin() + static_cast<std::ptrdiff_t>(text * width);
      array.values.assign(from, from + lengths[text]);
    }
    const Outcome outcome = testing::run(*shared, one);
    ASSERT_TRUE(outcome.status.ok()) << outcome.status.to_string();
    const auto first = by_one.values.begin() + static_cast<std::ptrdiff_t>(text * 48);
    EXPECT_TRUE(std::equal(outcome.values.begin(), outcome.values.end(), first)) << text;
  }
}

// The mask may keep any tokens, as long as there is one; each has the position that it has in its text.
TEST_P(GraphsTest, TokensLeftOutInTheMiddleCountAsNone) {
  const auto graph = testing::encoder({.hidden = 16, .pooling = graph::PoolingMode::kMean});
  const Inputs inputs{{"ids", {{2, 4}, {5, 9, 2, 7, 1, 3, 8, 6}}}, {"mask", {{2, 4}, {1, 0, 1, 1, 0, 1, 0, 0}}}};
  expect_near(testing::run(*load(testing::encoder({.hidden = 16}), 1), inputs), kit::evaluate(*graph, inputs), inputs,
              GetParam());
}

// Around the heights of tiles and the widths of panels, with unattended tokens beyond the sight of all others.
TEST_P(GraphsTest, UnattendedTokensAttendAndAreNotAttendedTo) {
  std::mt19937 chance(23);
  for (const bool has_window : {false, true}) {
    EncoderShape shape{.hidden = 36, .heads = 3, .intermediate = 47, .pooled = false, .padding = 3, .rotary = true};
    shape.may_be_unattended = true;
    if (has_window) shape.window = 7;
    const auto graph = testing::encoder(shape);
    const auto executable = load(testing::encoder(shape), has_window ? 1 : 2);
    for (const std::int64_t count : {0, 1, 3, 17, 40, 99}) {
      SCOPED_TRACE(fmt::format("{} unattended{}", count, has_window ? ", a window" : ""));
      Inputs inputs = testing::draw_batch(chance, {1, 47, 16, 60, 2}, shape.vocabulary, 3);
      kit::leave_unattended(inputs, count);
      testing::Arithmetic in = GetParam();
      if (in.precision != core::Precision::kF32) in.distance *= 2;
      expect_near(testing::run(*executable, inputs), kit::evaluate(*graph, inputs), inputs, in);
    }
  }
}

TEST_P(GraphsTest, UnattendedTokensAreTheLastOnesBehindAnother) {
  EncoderShape shape{.hidden = 16, .pooled = false};
  shape.may_be_unattended = true;
  const auto executable = load(testing::encoder(shape), 1);
  const auto message = [&](std::vector<double> mask) {
    const Inputs inputs{{"ids", {{1, 4}, {5, 2, 2, 7}}}, {"mask", {{1, 4}, std::move(mask)}}};
    const auto refused = testing::run(*executable, inputs).status;
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
    return refused.to_string();
  };
  EXPECT_THAT(message({1, -1, 1, 0}),
              ::testing::HasSubstr("text 0 attends to token 2 after a token that it does not attend to"));
  EXPECT_THAT(message({-1, -1, 0, 0}), ::testing::HasSubstr("text 0 has no token"));
}

// Distances are those between tokens that follow each other.
TEST_P(GraphsTest, AGapBetweenTokensIsRefusedWhereTheirDistanceCounts) {
  const EncoderShape shape{.hidden = 16, .padding = 2, .buckets = 4, .farthest = 3};
  const auto graph = testing::encoder(shape);
  const auto executable = load(testing::encoder(shape), 1);
  const auto inputs = [](std::vector<double> mask) {
    return Inputs{{"ids", {{1, 4}, {5, 2, 2, 7}}}, {"mask", {{1, 4}, std::move(mask)}}};
  };
  for (const std::vector<double>& mask : {std::vector<double>{1, 1, 1, 0}, {0, 1, 1, 1}, {0, 1, 1, 0}}) {
    expect_near(testing::run(*executable, inputs(mask)), kit::evaluate(*graph, inputs(mask)), inputs(mask), GetParam());
  }
  const auto refused = testing::run(*executable, inputs({1, 0, 1, 0})).status;
  EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.to_string(), ::testing::HasSubstr("text 0 has a gap before token 2"));
}

// Long texts make a step of seconds.
TEST_P(GraphsTest, AttentionEndsWhereItIsTold) {
  const auto sets = all_kernels();
  const Kernels& kernels = **std::ranges::find_if(sets, [](const auto* set) { return set->name == GetParam().isa; });
  const Product& product = GetParam().precision == core::Precision::kF32    ? kernels.f32
                           : GetParam().precision == core::Precision::kBF16 ? kernels.bf16
                           : GetParam().precision == core::Precision::kF16  ? kernels.f16
                                                                            : kernels.int8;
  constexpr std::size_t kTokens = 600;
  constexpr std::size_t kWidth = 8;
  constexpr float kUntouched = 1234;
  const std::vector<float> rows(kTokens * kWidth, 0.5F);
  std::vector<float> out(kTokens * kWidth, kUntouched);
  Buffer scratch(product.attention_scratch(kTokens, kWidth, 0));
  int asked = 0;
  AttentionHead head = testing::head_of(rows.data(), rows.data(), rows.data(), out.data(), kTokens, kWidth);
  head.is_over = [](void* context) { return ++*static_cast<int*>(context) == 3; };
  head.context = &asked;
  product.attend(head, scratch.data());
  EXPECT_EQ(asked, 3);
  const auto untouched = std::ranges::find(out, kUntouched);
  EXPECT_NE(untouched, out.begin());
  EXPECT_GT(std::ranges::count(out, kUntouched), std::ptrdiff_t{kTokens * kWidth / 2});
  EXPECT_TRUE(std::all_of(untouched, out.end(), [](float number) { return number == kUntouched; }));
}

// Weights, one of which begins with NaN or infinity.
class SpoiltWeights final : public kit::WeightMaker {
 public:
  SpoiltWeights(std::size_t which, float value) : left_(which), value_(value) {}

  graph::Weight add(std::string name, ElementType type, const core::Shape& shape) override {
    graph::Weight weight = weights_.add(std::move(name), type, shape);
    if (left_-- == 0) at_ = weight.offset;
    return weight;
  }
  [[nodiscard]] core::FilePart part() const override {
    core::FilePart part = weights_.part();
    std::string bytes(reinterpret_cast<const char*>(part.bytes.bytes.data()), part.bytes.bytes.size());
    std::memcpy(bytes.data() + at_, &value_, sizeof value_);
    part.bytes = core::SharedBytes::from_string(std::move(bytes));
    return part;
  }

 private:
  kit::PatternWeights weights_;
  std::size_t left_;
  std::size_t at_ = 0;
  float value_;
};

TEST_P(GraphsTest, AWeightThatIsNotFiniteShowsInTheVector) {
  constexpr std::size_t kTables = 3;  // of which only some rows are looked up
  constexpr std::size_t kWeights = kTables + 2 + 16;
  std::mt19937 chance(17);
  const Inputs inputs = testing::draw_batch(chance, {37, 5}, 50);
  const std::array values{std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                          -std::numeric_limits<float>::infinity()};
  std::size_t next = 0;
  for (const auto activation : {graph::ActivationFunction::kGeluErf, graph::ActivationFunction::kGeluTanh,
                                graph::ActivationFunction::kRelu, graph::ActivationFunction::kTanh}) {
    const EncoderShape shape{.hidden = 40, .heads = 2, .intermediate = 50, .activation = activation};
    for (std::size_t which = kTables; which < kWeights; ++which) {
      const float value = values[next++ % values.size()];
      SCOPED_TRACE(std::to_string(value) + " in weight " + std::to_string(which));
      const auto make = [&] { return testing::encoder(shape, SpoiltWeights(which, value)); };
      const Array wanted = kit::evaluate(*make(), inputs);
      const Outcome found = testing::run(*load(make(), 1), inputs);
      ASSERT_TRUE(found.status.ok()) << found.status.to_string();
      for (std::size_t i = 0; i < wanted.values.size(); ++i)
        ASSERT_TRUE(std::isfinite(wanted.values[i]) || !std::isfinite(found.values[i])) << i << ": " << found.values[i];
    }
    ++next;  // each weight has each of them, with one activation or another
  }
}

// Some weights of a pattern times a factor.
class ScaledWeights final : public kit::WeightMaker {
 public:
  explicit ScaledWeights(std::map<std::size_t, float> factors) : factors_(std::move(factors)) {}

  graph::Weight add(std::string name, ElementType type, const core::Shape& shape) override {
    graph::Weight weight = weights_.add(std::move(name), type, shape);
    if (const auto found = factors_.find(number_++); found != factors_.end())
      parts_.push_back({weight.offset, *shape.element_count(), found->second});
    return weight;
  }
  [[nodiscard]] core::FilePart part() const override {
    core::FilePart part = weights_.part();
    std::string bytes(reinterpret_cast<const char*>(part.bytes.bytes.data()), part.bytes.bytes.size());
    for (const Part& scaled : parts_) {
      for (std::size_t i = 0; i < scaled.count; ++i) {
        float number = 0;
        char* const at = bytes.data() + scaled.offset + i * sizeof number;
        std::memcpy(&number, at, sizeof number);
        number *= scaled.factor;
        std::memcpy(at, &number, sizeof number);
      }
    }
    part.bytes = core::SharedBytes::from_string(std::move(bytes));
    return part;
  }

 private:
  struct Part {
    std::size_t offset;
    std::size_t count;
    float factor;
  };
  kit::PatternWeights weights_;
  std::map<std::size_t, float> factors_;
  std::vector<Part> parts_;
  std::size_t number_ = 0;
};

// f16 ends at 65504 and has no number below 6e-8: what is multiplied may be of any size.
TEST_P(GraphsTest, NumbersBeyondF16AreNoMatter) {
  // By their place in encoder(): a layer's first weight, and the bias after it.
  constexpr std::size_t kQuery = 5;
  constexpr std::size_t kKey = 7;
  constexpr std::size_t kValue = 9;
  constexpr std::size_t kOutput = 11;
  constexpr std::size_t kWide = 13;
  constexpr std::size_t kNarrow = 15;
  // Times a factor and, where it comes to be multiplied, by 1 / the factor: activations of that size, the same vectors.
  const EncoderShape shape{
      .hidden = 40, .heads = 2, .intermediate = 70, .activation = graph::ActivationFunction::kRelu};
  std::mt19937 chance(23);
  const Inputs inputs = testing::draw_batch(chance, {37, 5, 1}, shape.vocabulary);
  const Array plain = kit::evaluate(*testing::encoder(shape), inputs);
  for (const float factor : {1e6F, 1e20F, 1e-9F, 1e-20F}) {
    for (const auto& [from, to] : {std::pair(kWide, kNarrow), std::pair(kValue, kOutput), std::pair(kQuery, kKey)}) {
      SCOPED_TRACE(std::to_string(from) + " times " + fmt::format("{}", factor));
      std::map<std::size_t, float> factors{{from, factor}, {from + 1, factor}, {to, 1 / factor}};
      if (to == kKey) factors[to + 1] = 1 / factor;
      const auto make = [&] { return testing::encoder(shape, ScaledWeights(factors)); };
      const Array wanted = kit::evaluate(*make(), inputs);
      for (std::size_t i = 0; i < plain.values.size(); ++i)
        ASSERT_NEAR(wanted.values[i], plain.values[i], 1e-4);
      expect_near(testing::run(*load(make(), 1), inputs), wanted, inputs, GetParam());
    }
  }
}

TEST_P(GraphsTest, EveryOperatorOfTheSmallGraph) {
  const Inputs inputs = kit::small_batch();
  for (const bool pooled : {true, false}) {
    const kit::SmallGraphOptions options{.pooled = pooled};
    const auto graph = kit::small_graph(options);
    expect_near(testing::run(*load(kit::small_graph(options), 2), inputs), kit::evaluate(*graph, inputs), inputs,
                GetParam());
  }
}

// Each output has the same bits as in a graph that has it alone.
TEST_P(GraphsTest, OnePassGivesAllOutputs) {
  const Inputs inputs = kit::small_batch();
  for (const unsigned threads : {1U, 3U}) {
    const auto executable = load(kit::small_graph({.has_all_outputs = true}), threads);
    ASSERT_EQ(executable->outputs().size(), 4U);
    EXPECT_EQ(executable->outputs()[1].name, "tokens");
    const std::vector<Outcome> all = testing::run_all(*executable, inputs);
    for (const Outcome& outcome : all)
      ASSERT_TRUE(outcome.status.ok()) << outcome.status.to_string();
    EXPECT_EQ(all[0].shape, (core::Shape{3, 5, 8}));
    EXPECT_EQ(all[2].shape, (core::Shape{3, 8}));
    const auto alone = [&](bool pooled) {
      return testing::run(*load(kit::small_graph({.pooled = pooled}), threads), inputs);
    };
    EXPECT_EQ(all[1].values, alone(false).values);
    EXPECT_EQ(all[3].values, alone(true).values);
    // `vector` is `pooled` at length 1, and the rows of `inner` are those of a layer norm.
    for (std::size_t text = 0; text < 3; ++text) {
      double squares = 0;
      for (std::size_t i = 0; i < 8; ++i)
        squares += std::pow(all[2].values[text * 8 + i], 2);
      EXPECT_NEAR(all[3].values[text * 8], all[2].values[text * 8] / std::sqrt(squares), 1e-6);
    }
    EXPECT_NE(all[0].values, all[1].values);
    EXPECT_EQ(all[0].values[7 * 8], 0);  // padding
  }
}

TEST_P(GraphsTest, NoTextsGiveNoVectors) {
  const Inputs inputs{{"ids", {{0, 4}, {}}}, {"mask", {{0, 4}, {}}}};
  const Outcome outcome = testing::run(*load(testing::encoder({.hidden = 16}), 2), inputs);
  ASSERT_TRUE(outcome.status.ok()) << outcome.status.to_string();
  EXPECT_EQ(outcome.shape, (core::Shape{0, 16}));
}

TEST_P(GraphsTest, WhatIsNoTokenIsRefused) {
  const auto executable = load(testing::encoder({.hidden = 16, .positions = 3}), 1);
  const auto refused = [&](std::vector<double> ids, std::vector<double> mask) {
    const auto width = static_cast<std::int64_t>(ids.size());
    return testing::run(*executable, {{"ids", {{1, width}, std::move(ids)}}, {"mask", {{1, width}, std::move(mask)}}})
        .status;
  };
  EXPECT_EQ(refused({50}, {1}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused({-1}, {1}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused({1}, {0}).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(refused({1, 2, 3, 4}, {1, 1, 1, 1}).code(), StatusCode::kShapeMismatch);
  EXPECT_TRUE(refused({1, 50}, {1, 0}).ok());  // padding may be anything
}

INSTANTIATE_TEST_SUITE_P(EverySet, GraphsTest, ::testing::ValuesIn(testing::runnable_arithmetics()),
                         [](const auto& one) {
                           return one.param.isa + "_" + std::string(core::word_of(one.param.precision));
                         });

}  // namespace
}  // namespace latebind::native
