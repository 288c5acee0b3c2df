#include "core/verification/verification.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <deque>
#include <utility>

#include "core/tensor/random_tensor.h"
#include "core/text/quote.h"

namespace latebind::core {
namespace {

// Whether the caller's time was up, or the caller has cancelled.
bool ends_the_call(const Status& status) {
  return status.code() == StatusCode::kCancelled || status.code() == StatusCode::kDeadlineExceeded;
}

// The sizes that open dimensions get.
struct Sizes {
  std::int64_t first;
  std::int64_t other;
};

Shape sized(const TensorInfo& input, const Sizes& sizes) {
  Shape shape = input.shape;
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    if (shape[i] != kDynamic) continue;
    shape[i] = i == 0 ? sizes.first : sizes.other;
    if (i < input.upper.size() && input.upper[i] >= 0) shape[i] = std::min(shape[i], input.upper[i]);
  }
  return shape;
}

using Buffers = std::deque<std::vector<std::uint64_t>>;

Result<Sample> random_sample(std::span<const TensorInfo> inputs, const Sizes& sizes, std::uint64_t seed,
                             unsigned integer_most) {
  Sample sample;
  const auto buffers = std::make_shared<Buffers>();
  std::size_t total = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Shape shape = sized(inputs[i], sizes);
    LB_ASSIGN_OR_RETURN(const std::size_t bytes, byte_size_of(inputs[i].type, shape));
    if (bytes > kSampleBytesMax - total) {
      return Status(
          StatusCode::kUnsupported,
          fmt::format("inputs of more than {} MiB are too large for generated values", kSampleBytesMax >> 20U));
    }
    total += bytes;
    auto& buffer = buffers->emplace_back(bytes / sizeof(std::uint64_t) + 1);
    fill_random(inputs[i].type, seed + i, std::as_writable_bytes(std::span(buffer)).first(bytes), integer_most);
    sample.inputs.push_back({buffer.data(), inputs[i].type, shape, std::nullopt});
  }
  sample.owner = buffers;
  return sample;
}

// Checks that both sides declare the same outputs.
Status check_outputs(std::span<const TensorInfo> tested, std::span<const TensorInfo> reference) {
  const auto same = [](const TensorInfo& a, const TensorInfo& b) { return a.name == b.name; };
  if (std::ranges::equal(tested, reference, same)) return {};
  return Status(StatusCode::kCountMismatch,
                fmt::format("the devices declare different outputs of the model: {} and {} of them, or other names",
                            tested.size(), reference.size()));
}

}  // namespace

Result<std::vector<Sample>> random_samples(std::span<const TensorInfo> inputs, std::uint64_t seed) {
  static constexpr std::array kSizes{Sizes{1, 1}, Sizes{1, 5}, Sizes{2, 16}, Sizes{3, 33}};
  const bool is_open = !std::ranges::all_of(inputs, [](const TensorInfo& input) { return input.shape.is_static(); });
  std::vector<Sample> samples;
  Status refusal;
  std::uint64_t next_seed = seed;
  for (const Sizes& sizes : kSizes) {
    // Small integers stay in range if they are indices; larger ones reveal more if they are counts.
    for (const unsigned integer_most : {1U, 3U}) {
      auto made = random_sample(inputs, sizes, next_seed, integer_most);
      next_seed += inputs.size();
      if (!made.ok()) {
        refusal = made.status();
        continue;
      }
      made->name = fmt::format("random, {}integers {}",
                               is_open ? fmt::format("open dimensions {} and {}, ", sizes.first, sizes.other) : "",
                               integer_most == 1 ? "0 and 1" : "1 to 3");
      samples.push_back(*std::move(made));
    }
    if (!is_open && !samples.empty()) break;
  }
  if (samples.empty()) return refusal;
  return samples;
}

bool Comparison::agrees() const {
  return failure.ok() && std::ranges::all_of(outputs, &OfOutput::agrees);
}

std::string Comparison::text() const {
  if (!failure.ok()) return fmt::format("it could not compute what the other device computed: {}", failure.brief());
  const OfOutput* widest = nullptr;
  for (const OfOutput& output : outputs) {
    if (!output.agrees) {
      return fmt::format("output {}: {}", core::quoted(output.name, 80), text_of(output.difference, bounds));
    }
    if (output.difference.elements == 0) continue;
    if (widest == nullptr || output.difference.relative > widest->difference.relative) widest = &output;
  }
  return widest == nullptr ? std::string() : text_of(widest->difference, bounds);
}

Result<Comparison> compare(const Comparand& tested, const Comparand& reference, std::span<const Sample> samples,
                           Precision precision) {
  LB_RETURN_IF_ERROR(check_outputs(tested.outputs, reference.outputs));
  Comparison result{.bounds = agreement_bounds(precision)};
  for (const TensorInfo& output : reference.outputs)
    result.outputs.push_back({.name = output.name, .type = output.type});
  std::size_t computed = 0;
  std::size_t compared = 0;
  for (const Sample& sample : samples) {
    auto& said = result.samples.emplace_back(Comparison::OfSample{sample.name, {}, {}});
    for (const TensorView& input : sample.inputs)
      said.shapes.push_back(input.shape);
    std::vector<OutputTensor> expected(reference.outputs.size());
    said.left_out = reference.execute(sample.inputs, expected);
    if (ends_the_call(said.left_out)) return said.left_out;
    if (!said.left_out.ok()) continue;
    ++computed;
    std::vector<OutputTensor> given(tested.outputs.size());
    if (Status status = tested.execute(sample.inputs, given); !status.ok()) {
      if (ends_the_call(status)) return status;
      result.failure = status.with_context(sample.name);
      return result;
    }
    for (std::size_t i = 0; i < given.size(); ++i) {
      const Difference one = difference(given[i].view(), expected[i].view());
      compared += one.elements + one.mismatch.size();
      add_difference(result.outputs[i].difference, one);
    }
  }
  if (computed == 0) {
    return result.samples.empty() ? Status(StatusCode::kInvalidArgument, "there is nothing to compare with")
                                  : result.samples.front().left_out;
  }
  if (compared == 0) {
    return Status(StatusCode::kUnsupported, "all outputs are empty, so there is nothing to compare");
  }
  for (auto& output : result.outputs)
    output.agrees = core::agrees(output.difference, result.bounds);
  return result;
}

}  // namespace latebind::core
