// Parses and checks the hub's responses: its answer about a model and the headers of a file. Accesses neither the
// network nor files.
//
// Pure functions; any thread. They throw no exceptions.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/http/http_headers.h"
#include "core/result.h"

namespace latebind::embedding::hub {

struct FileInfo {
  std::string etag;                   // the blob's name
  std::optional<std::uint64_t> size;  // bytes
};

// The files of a commit.
struct FileList {
  std::vector<std::string> files{};  // names with '/'; invalid names are omitted
  // Information about some of the files; each ETag is the digest of the file's content.
  std::map<std::string, FileInfo, std::less<>> infos{};
};

struct ModelInfo : FileList {
  std::string commit{};
};

// Parses the answer to /api/models/ORG/NAME/revision/REVISION, with or without ?blobs=true. Returns kInvalidModel,
// saying what is wrong; `name` is the model's name for the message.
[[nodiscard]] core::Result<ModelInfo> parse_model_info(std::string_view text, std::string_view name);

// Parses a tree that another tool has stored (cache_layout.h); std::nullopt if the format is unknown.
[[nodiscard]] std::optional<FileList> parse_tree(std::string_view text);

// Reads the headers of a file. Headers of a link to its storage ("X-Linked-…") take precedence. The answer's own
// headers count only if `is_file`: the answer is the file and not a redirect. std::nullopt without a usable ETag.
[[nodiscard]] std::optional<FileInfo> parse_file_info(const core::HttpHeaders& headers, bool is_file);

// Removes W/ and quotes from an ETag.
[[nodiscard]] std::string plain_etag(std::string_view etag);

// The pause after the `failures`-th failure. It doubles from half a second to eight seconds.
[[nodiscard]] std::chrono::milliseconds backoff_after(unsigned failures);

}  // namespace latebind::embedding::hub
