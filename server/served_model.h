// ServedModel: a loaded model, with the names by which requests ask for it. Constant; safe for concurrent use.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/failover/placed_model.h"
#include "core/placement/attestation.h"
#include "embedding/embedder.h"
#include "embedding/inputs/input.h"
#include "embedding/outputs/output.h"
#include "server/model_digest.h"

namespace latebind::server {

// Returns whether outputs that accompany every network are served beside this own output of a model: a vector for each
// text.
[[nodiscard]] inline bool accompanied(const embedding::Output& own) {
  return own.kind().form == embedding::ResultForm::kRow && own.kind().input == &embedding::kTextInput;
}

struct ServedModel {
  std::string name;                    // the canonical one
  std::vector<std::string> aliases{};  // its other names
  std::string given{};                 // its argument on the command line
  std::string folder;                  // the path that was opened, UTF-8
  std::string commit{};                // on the hub; empty: unknown
  ModelDigest digest{};                // of the model's files
  std::chrono::system_clock::time_point loaded_at{};
  double load_seconds = 0;
  bool began_as_fallback = false;  // a fallback was active after loading
  // Either one encoder or several, or `tensors`. The first encoder gives the model's own output, and all others that
  // cost its passes little; a second one gives the rest (load_model.h).
  std::vector<std::unique_ptr<embedding::Embedder>> encoders{};
  std::shared_ptr<core::PlacedModel> tensors{};  // any other network: tensors in, tensors out

  // The encoder of the model's own output, or null if the model takes tensors.
  [[nodiscard]] const embedding::Embedder* texts() const { return encoders.empty() ? nullptr : encoders.front().get(); }
  // The first encoder that gives all of these outputs, or null.
  [[nodiscard]] const embedding::Embedder* encoder_of(std::span<const std::string> outputs) const;
  [[nodiscard]] const embedding::Embedder* encoder_of(std::string_view output) const;
  [[nodiscard]] bool gives(std::string_view output) const { return encoder_of(output) != nullptr; }
  // Returns whether the server's option --token-vectors adds outputs to this model.
  [[nodiscard]] bool may_give_token_vectors() const { return texts() != nullptr && accompanied(texts()->output()); }
  // The names of all outputs that are served, the model's own output first.
  [[nodiscard]] std::vector<std::string_view> outputs() const;
  // The parameters of the model's own output if it is a T, such as embedding::ScoreOutput, else null.
  template <class T>
  [[nodiscard]] const T* own() const {
    return encoders.empty() ? nullptr : embedding::as<T>(encoders.front()->output());
  }

  [[nodiscard]] std::shared_ptr<const core::Attestation> attestation() const {
    return tensors != nullptr ? tensors->attestation() : texts()->attestation();
  }
};

}  // namespace latebind::server
