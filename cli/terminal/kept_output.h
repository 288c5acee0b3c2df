// KeptOutput is the file that `latebind embed` writes. It records which texts are done and how, so that an interrupted
// run can be continued (app/bulk/partial_output.h). One thread at a time.
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
#include "core/placement/attestation.h"
#include "core/result.h"

namespace latebind::cli {

class KeptOutput {
 public:
  // Everything that the vectors depend on.
  struct MadeBy {
    app::Json settings = app::Json::object();
    std::function<core::Result<std::string>()> model_digest{};
    core::ActiveConfig active{};
    std::size_t dimension = 0;
  };

  // Returns null if the run could not be continued, because the output or an input is a pipe or a device, or because
  // texts are on the command line. `restart` discards what an earlier run left. Returns the errors of
  // PartialOutput::open().
  static core::Result<std::unique_ptr<KeptOutput>> open(const std::string& output, const TextSource& source,
                                                        bool restart);

  // Continues after the texts of an interrupted run, which the reader skips. Returns kInvalidArgument, naming the
  // differences, and changes nothing if that run had other inputs, settings or another model.
  [[nodiscard]] core::Status begin(MadeBy made_by, TextReader& reader);

  // For a VectorWriter. This object must outlive it.
  [[nodiscard]] std::unique_ptr<ByteSink> sink();
  // Writes an id to the file beside the output.
  [[nodiscard]] core::Status write_id(std::string_view line) {
    has_beside_ = true;
    return output_.write_id(line);
  }

  // Records that the texts up to this one are written, and saves every other second.
  [[nodiscard]] core::Status advance(std::size_t texts, const TextRecord& last, bool has_ids);
  [[nodiscard]] core::Status save();
  // Discards everything.
  void discard();

  [[nodiscard]] std::uint64_t texts() const { return now_.texts; }
  // "1024 of 5000 texts are kept in 'x.part'". Empty if nothing is kept.
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
  bool can_save_ = true;     // false if an input changes while it is read
  bool has_beside_ = false;  // ids are in a file beside the output
  app::PartialProgress now_;
  std::chrono::steady_clock::time_point saved_ = std::chrono::steady_clock::now();
};

}  // namespace latebind::cli
