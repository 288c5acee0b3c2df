#include "embedding/architectures/jina_v5.h"

#include <fmt/format.h>

#include "core/json/read.h"
#include "core/platform/files/folders.h"
#include "embedding/architectures/eurobert.h"
#include "embedding/architectures/qwen3.h"
#include "embedding/folder/refusals.h"

namespace latebind::embedding {

using core::Json;
using core::Result;
using std::filesystem::path;

Result<std::shared_ptr<const Network>> read_jina_v5(const Json& config, const path& file) {
  constexpr const char* kKey = "is_decoder";
  LB_ASSIGN_OR_RETURN(const auto tasks, core::read_texts(config, "task_names", platform::path_to_utf8(file)));
  if (!tasks || tasks->empty()) return invalid_file(file, "'task_names' is missing: it lists the adapters of tasks");
  // Both networks have this type. EuroBERT's file denies that it is a decoder; only Qwen3's has the width of a head.
  const Json* const is_decoder = core::find_member(config, kKey);
  if (is_decoder != nullptr && !is_decoder->is_boolean())
    return invalid_file(file,
                        fmt::format("'{}' is {}; it must be true or false", kKey, core::printable_json(*is_decoder)));
  if (is_decoder == nullptr && core::find_member(config, "head_dim") == nullptr) {
    return unsupported_file(
        file, fmt::format("neither '{}' nor 'head_dim' says whether the network is Qwen3 or EuroBERT", kKey));
  }
  Json own = config;
  own.erase(kKey);
  const bool is_qwen3 = is_decoder == nullptr || is_decoder->get<bool>();
  return is_qwen3 ? read_qwen3(own, file) : read_eurobert(own, file);
}

}  // namespace latebind::embedding
