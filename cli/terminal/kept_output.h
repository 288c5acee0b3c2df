// KeptOutput: the file that `latebind embed` writes, such that an interrupted run can go on
// (app/bulk/partial_output.h): which texts are done, and what they were made by. One thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/bulk/manifest.h"
#include "app/bulk/partial_output.h"
#include "app/json_text.h"
#include "cli/data/text_reader.h"
#include "cli/data/vector_writer.h"
#include "cli/terminal/byte_sink.h"
#include "core/attestation.h"
#include "core/result.h"

namespace latebind::cli {

class KeptOutput {
 public:
  // What the vectors depend on.
  struct MadeBy {
    app::Json settings = app::Json::object();
    std::function<core::Result<std::string>()> model_digest{};
    core::ActiveConfig active{};
    std::size_t dimension = 0;
  };

  // Null where no run could go on: the output or an input is a pipe or a device, or texts are on the command line.
  // `restart`: what an earlier run has left is discarded. The errors of PartialOutput::open().
  static core::Result<std::unique_ptr<KeptOutput>> open(const std::string& output, const TextSource& source,
                                                        bool restart);

  // Continues where an earlier run was interrupted, whose texts the reader then leaves out. kInvalidArgument, and
  // everything stays, where that run was another one; the message has what differs.
  [[nodiscard]] core::Status begin(MadeBy made_by, TextReader& reader);

  // For a VectorWriter; this object must outlive it.
  [[nodiscard]] std::unique_ptr<ByteSink> sink();
  // Ids beside the output.
  [[nodiscard]] core::Status write_id(std::string_view line) {
    has_beside_ = true;
    return output_.write_id(line);
  }

  // The texts up to this one were written. Saves that every other second.
  [[nodiscard]] core::Status advance(std::size_t texts, const TextRecord& last, bool has_ids);
  [[nodiscard]] core::Status save();
  // Nothing is kept.
  void discard();

  [[nodiscard]] std::uint64_t texts() const { return now_.texts; }
  // "1024 of 5000 texts are kept in 'x.part'"; "" where none are.
  [[nodiscard]] std::string kept() const;

 private:
  class Sink;

  explicit KeptOutput(app::PartialOutput output) : output_(std::move(output)) {}
  [[nodiscard]] core::Result<app::Json> make_manifest() const;
  [[nodiscard]] core::Status finish();

  app::PartialOutput output_;
  std::vector<app::ManifestInput> inputs_;
  MadeBy made_by_;
  std::optional<app::Json> manifest_;
  bool can_save_ = true;     // false: an input changes while it is read
  bool has_beside_ = false;  // ids beside the output
  app::PartialProgress now_;
  std::chrono::steady_clock::time_point saved_ = std::chrono::steady_clock::now();
};

}  // namespace latebind::cli
