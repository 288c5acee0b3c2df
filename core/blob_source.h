// BlobSource: existing blobs of a model, such as the variants of a bundle. Immutable; any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/device.h"
#include "core/executable.h"
#include "core/model.h"
#include "core/result.h"

namespace latebind::core {

struct ReadyBlob {
  std::string name;  // for messages: the variant's
  // Opens and checks it. kInvalidModel or kIo when it is damaged.
  std::function<Result<Blob>()> open;
};

class BlobSource {
 public:
  BlobSource() = default;
  BlobSource(const BlobSource&) = delete;
  BlobSource& operator=(const BlobSource&) = delete;
  virtual ~BlobSource() = default;

  // Those that may fit this device and these options, best first. The backend decides whether one really does.
  [[nodiscard]] virtual std::vector<ReadyBlob> blobs_for(const Device& device, const CompileOptions& options) const = 0;

  // The lengths, ascending, for which there are blobs of `rows` rows for this device in this precision: [rows, length]
  // for every input.
  [[nodiscard]] virtual std::vector<std::size_t> static_lengths(const Device& device, const CompileOptions& options,
                                                                std::size_t rows) const = 0;

  // What represents all of those for this device in this precision, of whatever shapes, by what is recorded of them;
  // empty where something is not recorded. prove_for() compares that with the bytes.
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
  // For a model whose inputs are all [rows, length] and may be padded with zeros, because one of them marks the
  // padding: the number of inputs, and the lengths, ascending, for which there are blobs of one row for any device.
  // Nothing for all other models.
  [[nodiscard]] virtual Padded padded() const { return {}; }
};

}  // namespace latebind::core
