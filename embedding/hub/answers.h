// The hub's responses, parsed and checked: its answer about a model, the headers of a file, and the waiting time that
// it asks for. Nothing here touches the network or a file.
//
// Pure functions, for any thread. No exception leaves them.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.h"

namespace latebind::embedding::hub {

// Names in lower case.
using Headers = std::map<std::string, std::string, std::less<>>;

struct FileInfo {
  std::string etag;                   // the blob's name
  std::optional<std::uint64_t> size;  // bytes
};

// The files of a commit.
struct FileList {
  std::vector<std::string> files{};  // names with '/'; invalid file names are left out
  // What is known of some of them: the ETag is the digest of the file's content.
  std::map<std::string, FileInfo, std::less<>> infos{};
};

struct ModelInfo : FileList {
  std::string commit{};
};

// The answer to /api/models/ORG/NAME/revision/REVISION, also with ?blobs=true. kInvalidModel says what is wrong with
// it; `name` stands for it.
[[nodiscard]] core::Result<ModelInfo> parse_model_info(std::string_view text, std::string_view name);

// A tree that another tool has stored (cache_layout.h), or nothing when its format is unknown.
[[nodiscard]] std::optional<FileList> parse_tree(std::string_view text);

// What a file's headers say. Those of a link to its storage ("X-Linked-…") take precedence over those of the answer
// itself, which count when `is_file`: the answer is the file, not a redirect. Nothing when there is no usable ETag.
[[nodiscard]] std::optional<FileInfo> parse_file_info(const Headers& headers, bool is_file);

// An ETag without W/ and quotes.
[[nodiscard]] std::string plain_etag(std::string_view etag);

// A size in decimal digits.
[[nodiscard]] std::optional<std::uint64_t> parse_bytes(std::string_view text);

// Where the bytes of a partial answer begin: 100 for "bytes 100-199/200".
[[nodiscard]] std::optional<std::uint64_t> parse_range_start(std::string_view content_range);

// How long Retry-After asks to wait: seconds, or a date of HTTP as seen at `now`. Never negative.
[[nodiscard]] std::optional<std::chrono::seconds> parse_retry_after(std::string_view text,
                                                                    std::chrono::system_clock::time_point now);

// How long to wait before the attempt after the `failures`-th failure: doubles from half a second to eight.
[[nodiscard]] std::chrono::milliseconds backoff_after(unsigned failures);

}  // namespace latebind::embedding::hub
