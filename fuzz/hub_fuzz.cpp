// Fuzzes what a hub says: its answer about a model, modules.json and config.json, another tool's list of files, and the
// values of headers, separated by NUL bytes in this order. Whatever is said, no name leads out of the model's folder.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/http_headers.h"
#include "core/text/pieces.h"
#include "embedding/hub/answers.h"
#include "embedding/hub/file_plan.h"
#include "embedding/hub/name.h"

namespace {

using namespace latebind;
using namespace latebind::embedding::hub;

void require(bool holds) {
  if (!holds) std::abort();
}

void require_one_line(const core::Status& status) {
  require(!status.ok() && status.to_string().find('\n') == std::string::npos);
}

bool leads_out(const std::string& name) {
  return name.empty() || name.front() == '/' || name.find('\\') != std::string::npos ||
         ("/" + name + "/").find("/../") != std::string::npos;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const auto take = [&rest] { return std::string(latebind::core::take_until(rest, '\0')); };
  const std::string answer = take();
  const std::string modules = take();
  const std::string config = take();
  const std::string tree = take();
  const std::string etag = take();
  const std::string number = take();

  const auto info = parse_model_info(answer, "'org/name'");
  if (info.ok()) {
    require(is_commit(info->commit));
    for (const std::string& file : info->files)
      require(!leads_out(file));
    for (const auto& [file, blob] : info->infos)
      require(!leads_out(file) && is_commit(blob.etag));
    const auto read = [&](const std::string& name) -> core::Result<std::string> {
      return name == "modules.json" ? modules : config;
    };
    const auto plan = plan_files(info->files, read, "org/name");
    if (plan.ok()) {
      require(plan->size() >= 3);
      for (const std::string& file : *plan)
        require(std::ranges::find(info->files, file) != info->files.end());
    } else {
      require_one_line(plan.status());
    }
  } else {
    require_one_line(info.status());
  }

  const FileList listed = parse_tree(tree).value_or(FileList());
  for (const std::string& file : listed.files)
    require(!leads_out(file));
  for (const auto& [file, blob] : listed.infos)
    require(!leads_out(file) && is_commit(blob.etag));

  const auto file = parse_file_info({{"etag", etag}, {"x-linked-etag", number}, {"content-length", number}}, true);
  if (file) require(!leads_out(file->etag) && file->etag.find('/') == std::string::npos);
  const auto wait = core::parse_retry_after(number, std::chrono::system_clock::now());
  if (wait) require(wait->count() >= 0);
  static_cast<void>(core::parse_range_start(number));

  const auto name = ModelName::parse(etag);
  if (name.ok()) {
    require(!leads_out(name->id) && !leads_out(name->revision));
  } else {
    require_one_line(name.status());
  }
  return 0;
}
