// Verification: whether a device computes what another device does.
//
// Both run the same samples: random inputs that fit the model's declaration, or samples from a caller that knows the
// model's purpose. The reference runs first; samples that it refuses are left out. Pure functions, for any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/backend/executable.h"
#include "core/result.h"
#include "core/tensor/comparison.h"
#include "core/tensor/tensor.h"

namespace latebind::core {

// One request: a view for each input of the model.
struct Sample {
  std::string name;  // for people: "random, open dimensions 1x5"
  std::vector<TensorView> inputs;
  std::shared_ptr<const void> owner;  // of the views' memory
};
using MakeSamples = std::function<Result<std::vector<Sample>>(std::span<const TensorInfo> inputs)>;

// The largest size of all inputs of a sample together, in bytes; larger samples are left out.
inline constexpr std::size_t kSampleBytesMax = std::size_t{64} << 20;

// Makes samples of several shapes if dimensions are open, otherwise samples with different values. The first dimension
// has the same size in all inputs if it is open, and so do all other open dimensions. kUnsupported when even the
// smallest sample is too large.
[[nodiscard]] Result<std::vector<Sample>> random_samples(std::span<const TensorInfo> inputs, std::uint64_t seed = 0);

// One side of a comparison: the declaration of a loaded model, and a function that runs it.
struct Comparand {
  std::span<const TensorInfo> outputs;
  std::function<Status(std::span<const TensorView>, std::span<OutputTensor>)> execute;
};

// The outcome of a comparison.
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
  // Returns one line: "output y: cosine 0.31, at least 0.9999 is expected", or the largest difference.
  [[nodiscard]] std::string text() const;
};

// Runs all samples on both sides and compares the outputs. `precision` is the one that the tested device computes in.
// Fails when nothing can be compared: with the reference's error if it refuses every sample, kUnsupported if all
// outputs are empty, kCountMismatch if the two sides declare different outputs. kCancelled and kDeadlineExceeded of
// either side are passed on.
[[nodiscard]] Result<Comparison> compare(const Comparand& tested, const Comparand& reference,
                                         std::span<const Sample> samples, Precision precision);

}  // namespace latebind::core
