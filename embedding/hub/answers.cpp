#include "embedding/hub/answers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "core/json/read.h"
#include "core/text/quote.h"
#include "embedding/hub/name.h"

namespace latebind::embedding::hub {
namespace {

using core::header_value;
using core::HttpHeaders;
using core::Json;
using core::JsonLimits;
using core::parse_byte_count;
using core::parse_json;
using core::printable;
using core::read_size;
using core::read_text;
using core::Result;
using core::Status;
using core::StatusCode;

constexpr std::size_t kFilesMax = 100'000;
constexpr JsonLimits kAnswerLimits{.bytes_max = std::size_t{16} << 20, .depth_max = 64};

Status invalid(std::string_view name, std::string_view what) {
  return Status(StatusCode::kInvalidModel, fmt::format("{}: {}; does HF_ENDPOINT name a model hub?", name, what));
}

// A text that is the digest of a content; empty otherwise.
std::string digest_in(const Json& object, std::string_view key) {
  const Json* const found = core::find_member(object, key);
  if (found == nullptr || !found->is_string()) return {};
  auto text = found->get<std::string>();
  return is_commit(text) ? text : std::string();
}

// The blob of a file: large files are named by SHA-256, others by git's name. std::nullopt if the hub gives neither.
std::optional<FileInfo> blob_in(const Json& file, std::string_view sha256, std::string_view git_name) {
  FileInfo info{.etag = std::string(sha256.empty() ? git_name : sha256), .size = std::nullopt};
  if (info.etag.empty()) return std::nullopt;
  const Json* const size = core::find_member(file, "size");
  if (size != nullptr && size->is_number_unsigned()) info.size = size->get<std::uint64_t>();
  return info;
}

}  // namespace

Result<ModelInfo> parse_model_info(std::string_view text, std::string_view name) {
  const auto document = parse_json(text, name, kAnswerLimits);
  if (!document.ok()) return document.status().with_context("the hub's answer");
  if (!document->is_object()) return invalid(name, "expected an object, found an array");
  ModelInfo info;
  LB_ASSIGN_OR_RETURN(info.commit, read_text(*document, "sha", "", name));
  if (!is_commit(info.commit)) {
    return invalid(name, fmt::format("'sha' is '{}', which is not a commit", printable(info.commit)));
  }
  const auto* const siblings = core::find_member(*document, "siblings");
  if (siblings == nullptr || !siblings->is_array()) return invalid(name, "the list 'siblings' is missing");
  if (siblings->size() > kFilesMax) {
    return invalid(name, fmt::format("{} files are above the limit of {}", siblings->size(), kFilesMax));
  }
  for (const Json& sibling : *siblings) {
    LB_ASSIGN_OR_RETURN(std::string file, read_text(sibling, "rfilename", "", name));
    if (!is_file_name(file)) continue;
    const Json* const large = core::find_member(sibling, "lfs");
    const std::string sha256 = large != nullptr ? digest_in(*large, "sha256") : std::string();
    // Git's name of a large file is the name of its pointer.
    if (auto blob = blob_in(sibling, sha256, large != nullptr ? std::string() : digest_in(sibling, "blobId")))
      info.infos.emplace(file, *std::move(blob));
    info.files.push_back(std::move(file));
  }
  return info;
}

std::optional<FileList> parse_tree(std::string_view text) {
  const auto document = parse_json(text, "tree", kAnswerLimits);
  if (!document.ok() || !document->is_object()) return std::nullopt;
  const auto version = read_size(*document, "format_version", 1, 1, "tree");
  const auto* const files = core::find_member(*document, "files");
  if (!version.ok() || !version->has_value() || files == nullptr || !files->is_object()) return std::nullopt;
  FileList list;
  for (const auto& [name, file] : files->members()) {
    if (!is_file_name(name)) continue;
    list.files.push_back(name);
    const bool is_pointer = core::find_member(file, "lfs_sha256") != nullptr;
    const std::string git_name = is_pointer ? std::string() : digest_in(file, "blob_id");
    if (auto blob = blob_in(file, digest_in(file, "lfs_sha256"), git_name)) list.infos.emplace(name, *std::move(blob));
  }
  return list;
}

std::string plain_etag(std::string_view etag) {
  if (etag.starts_with("W/")) etag.remove_prefix(2);
  if (etag.starts_with('"')) etag.remove_prefix(1);
  if (etag.ends_with('"')) etag.remove_suffix(1);
  return std::string(etag);
}

std::optional<FileInfo> parse_file_info(const HttpHeaders& headers, bool is_file) {
  FileInfo info;
  info.etag = plain_etag(header_value(headers, "x-linked-etag"));
  if (info.etag.empty()) info.etag = plain_etag(header_value(headers, "etag"));
  if (!is_blob_name(info.etag)) return std::nullopt;
  info.size = parse_byte_count(header_value(headers, "x-linked-size"));
  if (!info.size && is_file) info.size = parse_byte_count(header_value(headers, "content-length"));
  return info;
}

std::chrono::milliseconds backoff_after(unsigned failures) {
  constexpr std::chrono::milliseconds kFirst{500};
  constexpr unsigned kDoublingsMost = 4;
  return kFirst * (1U << std::min(failures > 0 ? failures - 1 : 0, kDoublingsMost));
}

}  // namespace latebind::embedding::hub
