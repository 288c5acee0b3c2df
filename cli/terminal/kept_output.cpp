#include "cli/terminal/kept_output.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include "app/settings.h"
#include "cli/terminal/messages.h"
#include "core/platform/files/file_identity.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/output_file.h"
#include "core/platform/os_error.h"

namespace latebind::cli {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kSaveInterval{2};
constexpr std::size_t kShownMax = 8;  // differences

// "--dimensions" of "settings.dimensions", "--max-tokens" of a setting's key, "the device" of "answers.device".
std::string name_of(std::string_view place) {
  constexpr std::string_view kOptions = "settings.";
  constexpr std::string_view kSettings = "settings.embedder.";
  constexpr std::string_view kAnswers = "answers.";
  const auto spaced = [](std::string_view words, char sign) {
    std::string name(words);
    std::ranges::replace(name, '_', sign);
    return name;
  };
  if (place.starts_with(kSettings)) {
    const std::string_view key = place.substr(kSettings.size());
    const app::SettingSpec* const spec = app::find_setting(key);
    if (spec != nullptr && spec->is_family()) return fmt::format("--property {}", key.substr(spec->key.size()));
    return std::string(spec != nullptr && !spec->flag.empty() ? spec->flag : key);
  }
  if (place.starts_with(kOptions)) return "--" + spaced(place.substr(kOptions.size()), '-');
  if (place == "answers.version") return "the release of latebind";
  if (place == "answers.threads" || place == "answers.requests")
    return fmt::format("the number of {}", place.substr(kAnswers.size()));
  if (place.starts_with(kAnswers)) return "the " + spaced(place.substr(kAnswers.size()), ' ');
  return std::string(place);
}

// What makes this run another one than that of the manifest, each as a sentence.
// `now`: that of this run.
std::vector<std::string> told(const app::Json& now, const std::vector<app::Difference>& differences) {
  std::vector<std::string> sentences;
  const auto tell = [&sentences](std::string sentence) {
    if (std::ranges::find(sentences, sentence) == sentences.end()) sentences.push_back(std::move(sentence));
  };
  constexpr std::string_view kInputs = "inputs[";
  for (const app::Difference& one : differences) {
    if (one.place == "answers.model") {
      tell("MODEL is another model, or its files have changed");
    } else if (!one.place.starts_with(kInputs)) {
      tell(fmt::format("{} was {}, now {}", name_of(one.place), one.was.value_or("not given"),
                       one.now.value_or("not given")));
    } else if (one.place.ends_with(".name") || one.place.ends_with(']')) {
      tell(fmt::format("FILE was {}, now {}", one.was.value_or("not given"), one.now.value_or("not given")));
    } else {
      std::size_t input = 0;
      const char* const digits = one.place.data() + kInputs.size();
      std::from_chars(digits, one.place.data() + one.place.size(), input);
      // A damaged manifest may have a member of such a name.
      const app::Json& inputs = now["inputs"];
      tell(fmt::format("{} was changed", input < inputs.size() ? app::to_line(inputs[input]["name"]) : one.place));
    }
  }
  return sentences;
}

}  // namespace

class KeptOutput::Sink final : public ByteSink {
 public:
  explicit Sink(KeptOutput& kept) : kept_(kept) {}

  Status write(std::string_view bytes) override { return kept_.output_.write(bytes); }
  bool can_rewrite() const override { return true; }
  Status rewrite(std::size_t offset, std::string_view bytes) override { return kept_.output_.rewrite(offset, bytes); }
  Status finish() override { return kept_.finish(); }

 private:
  KeptOutput& kept_;
};

Result<std::unique_ptr<KeptOutput>> KeptOutput::open(const std::string& output, const TextSource& source,
                                                     bool restart) {
  std::vector<app::ManifestInput> inputs;
  const auto place = platform::path_from_utf8(output);
  std::error_code ignored;
  const bool is_file = !output.empty() && output != "-" && !std::filesystem::is_directory(place, ignored);
  if (!is_file || source.files.empty() || !source.texts.empty()) return std::unique_ptr<KeptOutput>();
  for (const std::string& file : source.files) {
    const auto path = platform::path_from_utf8(file);
    const auto identity = platform::file_identity(path);
    // The reader reports what is wrong with the file.
    if (file == "-" || !identity.ok()) return std::unique_ptr<KeptOutput>();
    inputs.push_back({.name = file, .file = path, .identity = *identity});
  }
  platform::remove_abandoned_outputs(std::filesystem::absolute(place, ignored).parent_path());
  auto partial = app::PartialOutput::open(place);
  if (!partial.ok()) {
    if (partial.status().code() == StatusCode::kUnsupported) return std::unique_ptr<KeptOutput>();
    return partial.status();
  }
  if (restart) LB_RETURN_IF_ERROR(partial->restart());
  auto kept = std::unique_ptr<KeptOutput>(new KeptOutput(*std::move(partial)));
  kept->inputs_ = std::move(inputs);
  return kept;
}

Result<app::Json> KeptOutput::make_manifest() const {
  app::Json manifest;
  manifest["format"] = app::kManifestFormat;
  manifest["kind"] = "file";
  LB_ASSIGN_OR_RETURN(manifest["inputs"], app::describe_inputs(inputs_));
  manifest["settings"] = app::as_written(made_by_.settings);
  LB_ASSIGN_OR_RETURN(const std::string digest, made_by_.model_digest());
  manifest["answers"] = app::describe_answers(digest, made_by_.active, made_by_.dimension);
  return manifest;
}

Status KeptOutput::begin(MadeBy made_by, TextReader& reader) {
  made_by_ = std::move(made_by);
  if (output_.manifest()) {
    LB_ASSIGN_OR_RETURN(manifest_, make_manifest());
    auto found = told(*manifest_, app::differences(*output_.manifest(), *manifest_));
    if (!found.empty()) {
      const std::size_t more = found.size() - std::min(found.size(), kShownMax);
      found.resize(found.size() - more);
      return Status(
          StatusCode::kInvalidArgument,
          fmt::format(
              "{} has an unfinished output of another run: {}{}; write to another file, or start over with --restart",
              platform::quoted(output_.folder()), fmt::join(found, "; "),
              more > 0 ? fmt::format("; and {} more", more) : ""));
    }
    now_ = output_.progress();
    has_beside_ = now_.id_bytes > 0;
    if (now_.texts > 0) LB_RETURN_IF_ERROR(reader.skip_to(now_.file, now_.offset, now_.line));
  }
  return output_.begin();
}

std::unique_ptr<ByteSink> KeptOutput::sink() {
  return std::make_unique<Sink>(*this);
}

Status KeptOutput::advance(std::size_t texts, const TextRecord& last, bool has_ids) {
  now_.texts += texts;
  now_.file = last.file;
  now_.offset = last.end;
  now_.line = last.last_line;
  now_.has_ids = now_.has_ids || has_ids;
  return Clock::now() - saved_ >= kSaveInterval ? save() : Status();
}

Status KeptOutput::save() {
  if (!can_save_ || now_.texts == output_.progress().texts) return {};
  if (!manifest_) {
    auto manifest = make_manifest();
    if (!manifest.ok()) {
      // The run can still complete.
      can_save_ = false;
      note(fmt::format("this run cannot be continued if it is interrupted: {}", manifest.status().message()));
      return {};
    }
    manifest_ = *std::move(manifest);
  }
  Status saved = output_.save(*manifest_, now_);
  saved_ = Clock::now();
  return saved;
}

void KeptOutput::discard() {
  // The next run reports what cannot be removed.
  static_cast<void>(output_.restart());
  can_save_ = false;
}

std::string KeptOutput::kept() const {
  if (!output_.manifest()) return {};
  std::uint64_t total = 0;
  for (const auto& input : (*manifest_)["inputs"])
    total += input["rows"].get<std::uint64_t>();
  return fmt::format("{} of {} texts are kept in {}", output_.progress().texts, total,
                     platform::quoted(output_.folder()));
}

Status KeptOutput::finish() {
  if (manifest_ && !app::check_unchanged(inputs_).ok()) {
    for (app::ManifestInput& input : inputs_) {
      LB_ASSIGN_OR_RETURN(input.identity, platform::file_identity(input.file));
    }
    LB_ASSIGN_OR_RETURN(const auto now, app::describe_inputs(inputs_));
    if (const auto found = app::differences((*manifest_)["inputs"], now); !found.empty()) {
      return Status(StatusCode::kIo, "an input changed while it was read; run this again with --restart");
    }
  }
  return output_.finish(now_.has_ids && has_beside_);
}

}  // namespace latebind::cli
