#include "app/index/update_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>

#include "core/cache/file_digests.h"
#include "core/platform/digest.h"
#include "core/platform/files/file_identity.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/output_file.h"
#include "core/platform/files/output_lock.h"
#include "core/platform/os_error.h"
#include "core/text/utf8.h"

namespace latebind::app {
namespace {

using core::Result;
using core::Status;
using core::StatusCode;
using Clock = std::chrono::steady_clock;
using std::filesystem::path;

constexpr std::chrono::minutes kLockTimeout{10};
constexpr std::chrono::seconds kSaveInterval{30};

// Returns 32 raw bytes.
std::string sha256_of(std::string_view text) {
  const std::string hex = platform::sha256_hex(std::as_bytes(std::span(text)));
  const auto digit = [](char c) { return static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10); };
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(digit(hex[i]) << 4U | digit(hex[i + 1])));
  return bytes;
}

// A file whose texts are being embedded.
struct NewFile {
  IndexedFile file{};
  std::vector<std::uint64_t> begins{};
  std::vector<std::uint64_t> ends{};
  std::vector<std::uint64_t> lines{};
  std::vector<float> vectors{};

  [[nodiscard]] IndexedTexts texts() const {
    return {.begins = begins, .ends = ends, .lines = lines, .vectors = vectors};
  }
};

class Update {
 public:
  Update(const IndexRequest& request, path folder) : request_(request), folder_(std::move(folder)) {}

  Result<IndexUpdate> run() {
    LB_RETURN_IF_ERROR(open_old());
    LB_RETURN_IF_ERROR(classify_files());
    LB_RETURN_IF_ERROR(embed());
    if (is_changed_ || is_refreshed_) {
      const Status written = save(new_.size(), /*last=*/true);
      // Failing to write a mere refresh only means that more is read next time.
      if (!written.ok() && is_changed_) return written;
      if (written.ok()) {
        LB_ASSIGN_OR_RETURN(auto index, TextIndex::open(request_.file));
        old_ = std::make_shared<const TextIndex>(std::move(index));
      }
    }
    update_.index = old_;
    std::map<std::string_view, std::size_t> places;
    for (std::size_t i = 0; i < old_->files().size(); ++i)
      places.emplace(old_->files()[i].name, i);
    for (const std::string& name : names_) {
      const auto found = places.find(name);
      update_.places.push_back(found == places.end() ? std::nullopt : std::optional(found->second));
    }
    return std::move(update_);
  }

 private:
  Status open_old() {
    auto opened = TextIndex::open(request_.file);
    if (!opened.ok()) {
      is_changed_ = opened.status().code() == StatusCode::kNotFound;
      return is_changed_ ? Status() : opened.status();
    }
    if (const std::string difference = request_.by.difference_from(opened->made_by()); !difference.empty()) {
      if (request_.note) {
        request_.note(fmt::format("the index {} is built again: {}", platform::quoted(request_.file), difference));
      }
      is_changed_ = true;
      return {};
    }
    old_ = std::make_shared<const TextIndex>(*std::move(opened));
    for (std::size_t i = 0; i < old_->files().size(); ++i) {
      by_name_.emplace(old_->files()[i].name, i);
      by_content_.emplace(old_->files()[i].sha256, i);
    }
    return {};
  }

  // Relative to the index if possible, so that both can be moved together.
  [[nodiscard]] std::string name_of(const FoundFile& file) const {
    path relative = file.place.lexically_relative(folder_);
    if (relative.empty()) relative = file.place;
    const auto name = relative.generic_u8string();
    return {name.begin(), name.end()};
  }

  // Decides which files are kept, read or removed.
  Status classify_files() {
    std::vector<bool> is_asked(old_ ? old_->files().size() : 0, false);
    std::uint64_t bytes = 0;
    for (const FoundFile& file : request_.texts) {
      std::string name = name_of(file);
      if (name.size() > kIndexNameMax || core::find_invalid_utf8(name)) {
        if (file.was_named) {
          return Status(StatusCode::kInvalidArgument,
                        fmt::format("{} has a name that an index cannot hold: it is not UTF-8, or longer than {} bytes",
                                    platform::quoted(file.path), kIndexNameMax));
        }
        if (++update_.left_out.unreadable == 1)
          update_.left_out.first_unreadable = fmt::format("{} is not UTF-8", platform::quoted(file.path));
        names_.emplace_back();
        continue;
      }
      names_.push_back(name);
      const auto found = by_name_.find(name);
      if (found != by_name_.end()) {
        is_asked[found->second] = true;
        const IndexedFile& known = old_->files()[found->second];
        const auto identity = platform::file_identity(file.path);
        if (identity.ok() && known.changed_ns != 0 && identity->size == known.bytes &&
            identity->modified_ns == known.modified_ns && identity->changed_ns == known.changed_ns) {
          kept_.emplace(std::move(name), Kept{known, found->second});
          continue;
        }
      }
      bytes += file.bytes;
      to_read_.push_back({&file, std::move(name)});
    }
    for (std::size_t i = 0; i < is_asked.size(); ++i) {
      if (is_asked[i]) continue;
      const IndexedFile& known = old_->files()[i];
      const auto identity = platform::file_identity(folder_ / platform::path_from_utf8(known.name));
      if (identity.ok() && identity->size == known.bytes && identity->modified_ns == known.modified_ns) {
        kept_.emplace(known.name, Kept{known, i});
      } else {
        ++update_.removed_files;
        is_changed_ = true;
      }
    }
    if (request_.on_begin) request_.on_begin(bytes);
    return {};
  }

  // Moves to the next file that has texts to embed. Returns false after the last one.
  Result<bool> read_next_file() {
    while (next_file_ < to_read_.size()) {
      const auto& [found, name] = to_read_[next_file_++];
      const auto before = platform::file_identity(found->path);
      LB_ASSIGN_OR_RETURN(auto content, read_text(*found, request_.bytes_max, update_.left_out));
      if (!content) {
        is_changed_ = is_changed_ || by_name_.contains(name);
        if (request_.on_progress) request_.on_progress(0, found->bytes);
        continue;
      }
      const auto after = platform::file_identity(found->path);
      IndexedFile file{.name = name, .sha256 = sha256_of(*content), .bytes = content->size()};
      if (after.ok() && after->size == file.bytes) {
        file.modified_ns = after->modified_ns;
        const bool is_settled = platform::age_ns(*after) >= core::FileDigests::kSettled.count();
        if (is_settled && before.ok() && *before == *after) file.changed_ns = after->changed_ns;
      }
      if (const auto same = by_content_.find(file.sha256);
          same != by_content_.end() && old_->files()[same->second].bytes == file.bytes) {
        const IndexedFile& known = old_->files()[same->second];
        if (known.name != name) is_changed_ = true;
        if (known.changed_ns != file.changed_ns || known.modified_ns != file.modified_ns) is_refreshed_ = true;
        kept_.emplace(name, Kept{std::move(file), same->second});
        if (request_.on_progress) request_.on_progress(0, found->bytes);
        continue;
      }
      is_changed_ = true;
      ++update_.embedded_files;
      new_.push_back({.file = std::move(file)});
      content_ = *std::move(content);
      found_ = found;
      cutter_ = request_.cut(*found, content_);
      return true;
    }
    return false;
  }

  // Returns the next text of all files, or std::nullopt at the end.
  Result<std::optional<std::string_view>> next() {
    while (true) {
      while (found_ != nullptr) {
        const auto more = cutter_->next(piece_);
        if (!more.ok()) return more.status().with_context(fmt::format("{}:{}", found_->name, piece_.line));
        if (!*more) break;
        if (piece_.text.find_first_not_of(" \t") == std::string::npos) continue;
        if (++texts_ > kIndexTextsMax)
          return Status(StatusCode::kInvalidArgument,
                        fmt::format("more than {} texts: use several indices", kIndexTextsMax));
        NewFile& file = new_.back();
        file.begins.push_back(piece_.begin);
        file.ends.push_back(piece_.end);
        file.lines.push_back(piece_.line);
        pending_.push_back({new_.size() - 1, piece_.end - piece_.begin + 1});
        return std::optional<std::string_view>(piece_.text);
      }
      found_ = nullptr;
      LB_ASSIGN_OR_RETURN(const bool more, read_next_file());
      if (!more) return std::optional<std::string_view>();
    }
  }

  Status take(const embedding::VectorWindow& window) {
    const std::size_t count = window.token_counts.size();
    const std::size_t dimension = request_.by.dimension;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const auto [file, size] = pending_.front();
      pending_.pop_front();
      const auto vector = window.vectors.subspan(i * dimension, dimension);
      new_[file].vectors.insert(new_[file].vectors.end(), vector.begin(), vector.end());
      bytes += size;
    }
    if (request_.on_progress) request_.on_progress(count, bytes);
    if (Clock::now() - saved_ < kSaveInterval || (old_ && !platform::can_replace_mapped_files())) return {};
    // The number of new files whose texts are all embedded.
    const std::size_t complete = pending_.empty() ? new_.size() - (found_ != nullptr ? 1 : 0) : pending_.front().first;
    LB_RETURN_IF_ERROR(save(complete, /*last=*/false));
    saved_ = Clock::now();
    return {};
  }

  Status embed() {
    if (to_read_.empty()) return {};
    LB_ASSIGN_OR_RETURN(const auto stream, embedding::EmbedStream::open(*request_.embedder, request_.stream));
    LB_RETURN_IF_ERROR(embedding::embed_all(
        *stream, [this] { return next(); }, [this](const embedding::VectorWindow& window) { return take(window); }));
    update_.stats = stream->stats();
    return {};
  }

  // Writes the kept files and the first `complete` new ones. After the `last` save, the old index is not used.
  Status save(std::size_t complete, bool last) {
    std::vector<IndexPart> parts;
    for (const auto& [name, kept] : kept_)
      parts.push_back({kept.file, old_->texts_of(kept.place)});
    for (std::size_t i = 0; i < complete; ++i)
      parts.push_back({new_[i].file, new_[i].texts()});
    std::ranges::sort(parts, {}, [](const IndexPart& part) -> const std::string& { return part.file.name; });
    return write_index(request_.file, request_.by, parts, [&] {
      if (last && !platform::can_replace_mapped_files()) old_.reset();
    });
  }

  struct Kept {
    IndexedFile file;
    std::size_t place = 0;  // in the old index
  };
  struct ToRead {
    const FoundFile* found;
    std::string name;
  };

  const IndexRequest& request_;
  const path folder_;  // of the index, canonical
  Clock::time_point saved_ = Clock::now();
  IndexUpdate update_;
  bool is_changed_ = false;    // the index must be written
  bool is_refreshed_ = false;  // writing the index would save reading next time
  std::shared_ptr<const TextIndex> old_;
  std::unordered_map<std::string, std::size_t> by_name_;     // in the old index
  std::unordered_map<std::string, std::size_t> by_content_;  // likewise, by digest
  std::vector<std::string> names_;                           // of the request's files
  std::map<std::string, Kept> kept_;
  std::vector<ToRead> to_read_;
  std::size_t next_file_ = 0;
  std::deque<NewFile> new_;
  std::deque<std::pair<std::size_t, std::uint64_t>> pending_;  // file and bytes of each text in the stream
  std::uint64_t texts_ = 0;
  // The file being read.
  const FoundFile* found_ = nullptr;
  std::string content_;
  std::unique_ptr<TextCutter> cutter_;
  TextCutter::Piece piece_;
};

}  // namespace

Result<IndexUpdate> update_index(const IndexRequest& request) {
  std::error_code error;
  const path folder = std::filesystem::canonical(platform::anchored(request.file).parent_path(), error);
  if (error) {
    return platform::status_of_errno("open the folder of the index", request.file,
                                     error.default_error_condition().value());
  }
  auto lock = platform::OutputLock::acquire(request.file, std::chrono::milliseconds(0));
  if (!lock.ok() && lock.status().code() == StatusCode::kBusy) {
    if (request.note) request.note(fmt::format("another process updates {}; waiting", platform::quoted(request.file)));
    lock = platform::OutputLock::acquire(request.file, kLockTimeout);
  }
  if (!lock.ok()) return lock.status();
  return Update(request, folder).run();
}

Status read_places(const IndexRequest& request, const IndexUpdate& update, std::size_t file,
                   std::span<TextPlace> places) {
  const FoundFile& found = request.texts[file];
  const std::size_t place = *update.places[file];
  LeftOut ignored;
  LB_ASSIGN_OR_RETURN(const auto content, read_text(found, request.bytes_max, ignored));
  if (!content || sha256_of(*content) != update.index->files()[place].sha256) {
    return Status(StatusCode::kIo,
                  fmt::format("{} changed while it was searched; run this again", platform::quoted(found.path)));
  }
  const IndexedTexts texts = update.index->texts_of(place);
  const auto cutter = request.cut(found, *content);
  for (TextPlace& one : places) {
    TextCutter::Piece piece{.line = texts.lines[one.text],
                            .begin = static_cast<std::size_t>(texts.begins[one.text]),
                            .end = static_cast<std::size_t>(texts.ends[one.text])};
    LB_RETURN_IF_ERROR(cutter->read(piece));
    one.content = std::move(piece.text);
    one.id = std::move(piece.id);
  }
  return {};
}

}  // namespace latebind::app
