#include "kit/result_file.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/json/parse.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/small_file.h"
#include "core/text/one_line.h"

namespace latebind::kit {
namespace {

// The step, filled with spaces; what follows is the finding.
constexpr std::size_t kStepSize = 2048;
constexpr std::size_t kResultMax = std::size_t{16} << 20;

constexpr std::array kVerdicts{Verdict::kPassed, Verdict::kRefused, Verdict::kAbsent, Verdict::kFailed};

}  // namespace

std::string_view word_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed:
      return "passed";
    case Verdict::kRefused:
      return "refused";
    case Verdict::kAbsent:
      return "absent";
    case Verdict::kFailed:
      break;
  }
  return "failed";
}

core::Result<std::unique_ptr<ResultFile>> ResultFile::create(const std::filesystem::path& file) {
  std::FILE* const opened = std::fopen(platform::path_to_utf8(file).c_str(), "wb");
  if (opened == nullptr) {
    return core::Status(core::StatusCode::kIo, "cannot write the result to '" + platform::path_to_utf8(file) + "'");
  }
  return std::unique_ptr<ResultFile>(new ResultFile(opened));
}

void ResultFile::Close::operator()(std::FILE* file) const {
  std::fclose(file);
}

void ResultFile::step(std::string_view what) {
  std::string text = core::one_line(what);
  text.resize(kStepSize, ' ');
  const core::MutexLock lock(mutex_);
  std::fseek(file_.get(), 0, SEEK_SET);
  std::fwrite(text.data(), 1, text.size(), file_.get());
  std::fflush(file_.get());
}

void ResultFile::finish(const Finding& finding) {
  const std::string text =
      core::Json::object(
          {{"verdict", word_of(finding.verdict)}, {"text", core::one_line(finding.text)}, {"data", finding.data}})
          .dump();
  const core::MutexLock lock(mutex_);
  std::fseek(file_.get(), static_cast<long>(kStepSize), SEEK_SET);
  std::fwrite(text.data(), 1, text.size(), file_.get());
  std::fflush(file_.get());
}

ChildResult read_result(const std::filesystem::path& file) {
  ChildResult result;
  const auto text = platform::read_small_file(file, kResultMax);
  if (!text.ok()) return result;
  const std::string_view step = std::string_view(*text).substr(0, kStepSize);
  result.step = step.substr(0, step.find_last_not_of(' ') + 1);
  if (text->size() <= kStepSize) return result;
  const auto json = core::parse_json(std::string_view(*text).substr(kStepSize), "the result of a check");
  if (!json.ok()) return result;
  const std::string verdict = json->value("verdict", "");
  const auto found = std::ranges::find(kVerdicts, verdict, [](Verdict each) { return word_of(each); });
  if (found == kVerdicts.end()) return result;
  result.finding = Finding{*found, json->value("text", ""), (*json)["data"]};
  return result;
}

}  // namespace latebind::kit
