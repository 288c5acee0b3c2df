// BlobSource: blobs that already exist for a model, such as the variants of a bundle. Implementations are immutable and
// may be used from any thread. A Model shares ownership of its source.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/backend/device.h"
#include "core/backend/executable.h"
#include "core/model/model.h"
#include "core/result.h"

namespace latebind::core {

// A blob that can be opened when it is needed.
struct ReadyBlob {
  std::string name;  // the variant's name, for messages
  BlobLabel label;   // the label of the blob that `open` returns
  // Opens and checks the blob. Returns kInvalidModel or kIo when it is damaged.
  std::function<Result<Blob>()> open;
};

class BlobSource {
 public:
  BlobSource() = default;
  BlobSource(const BlobSource&) = delete;
  BlobSource& operator=(const BlobSource&) = delete;
  virtual ~BlobSource() = default;

  // Returns the blobs that may fit this device and these options, best first. The backend decides whether one really
  // fits.
  [[nodiscard]] virtual std::vector<ReadyBlob> blobs_for(const Device& device, const CompileOptions& options) const = 0;

  // Returns, in ascending order, the lengths for which there are blobs whose inputs all have the shape [rows, length],
  // for this device in this precision.
  [[nodiscard]] virtual std::vector<std::size_t> static_lengths(const Device& device, const CompileOptions& options,
                                                                std::size_t rows) const = 0;

  // Returns a text that represents the recorded digests of all blobs for this device in this precision, of any shape.
  // Empty when the digest of a blob is not recorded. prove_for() compares those digests with the bytes, and fails when
  // they differ.
  [[nodiscard]] virtual std::string digest_for(const Device& /*device*/, const CompileOptions& /*options*/) const {
    return {};
  }
  [[nodiscard]] virtual Status prove_for(const Device& /*device*/, const CompileOptions& /*options*/) const {
    return Status(StatusCode::kUnsupported, "nothing is recorded of the blobs");
  }

  struct Padded {
    std::size_t inputs = 0;
    std::vector<std::size_t> lengths{};
  };
  // For a model whose inputs are all [rows, length] and may be padded with zeros because one input marks the padding,
  // returns the number of inputs and, in ascending order, the lengths for which there are blobs of one row for any
  // device. Returns an empty Padded for all other models.
  [[nodiscard]] virtual Padded padded() const { return {}; }
};

}  // namespace latebind::core
