// Verification: whether a device computes what another one does.
//
// Both run the same samples: random inputs by the model's declaration, or those of whoever knows what the model is for.
// The reference runs first; what it refuses is left out. Thread-safe: no state of its own.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/comparison.h"
#include "core/executable.h"
#include "core/result.h"
#include "core/tensor.h"

namespace latebind::core {

// One request: a view for each input of the model.
struct Sample {
  std::string name;  // for people: "random, open dimensions 1x5"
  std::vector<TensorView> inputs;
  std::shared_ptr<const void> owner;  // of the views' memory
};
using MakeSamples = std::function<Result<std::vector<Sample>>(std::span<const TensorInfo> inputs)>;

// All inputs of a sample together have at most this many bytes; larger ones are left out.
inline constexpr std::size_t kSampleBytesMax = std::size_t{64} << 20;

// Several shapes where dimensions are open, else several values. Of open dimensions the first of an input is the same
// number for all inputs, and so are the others. kUnsupported when even the smallest is too large.
[[nodiscard]] Result<std::vector<Sample>> random_samples(std::span<const TensorInfo> inputs, std::uint64_t seed = 0);

// What is compared: a loaded model by its declaration and what runs it.
struct Comparand {
  std::span<const TensorInfo> outputs;
  std::function<Status(std::span<const TensorView>, std::span<OutputTensor>)> execute;
};

struct Comparison {
  struct OfSample {
    std::string name;
    std::vector<Shape> shapes;
    Status left_out;  // why the reference did not compute it
  };
  struct OfOutput {
    std::string name;
    ElementType type = ElementType::kF32;
    Difference difference{};  // over all samples
    bool agrees = true;
  };

  AgreementBounds bounds{};
  std::vector<OfSample> samples{};
  std::vector<OfOutput> outputs{};
  Status failure{};  // of the device, on a sample that the reference computed

  [[nodiscard]] bool agrees() const;
  // One line: "output y: cosine 0.31, at least 0.9999 is expected", or the widest difference.
  [[nodiscard]] std::string text() const;
};

// `precision`: what the tested device computes in. An error when nothing can be compared: the reference's own where it
// refuses every sample, kUnsupported when all outputs are empty, kCountMismatch when the two declare other outputs.
// kCancelled and kDeadlineExceeded of either are passed on.
[[nodiscard]] Result<Comparison> compare(const Comparand& tested, const Comparand& reference,
                                         std::span<const Sample> samples, Precision precision);

}  // namespace latebind::core
