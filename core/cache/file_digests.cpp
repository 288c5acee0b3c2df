#include "core/cache/file_digests.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <vector>

#include "core/cache/compile_entry.h"
#include "core/platform/digest.h"
#include "core/platform/files/file_lock.h"
#include "core/platform/files/folder_trust.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/files/output_file.h"

namespace latebind::core {
namespace {

constexpr std::string_view kName = "latebind file digests ";
constexpr std::string_view kFirstLine = "latebind file digests 3 ";
constexpr std::size_t kMemoryMax = std::size_t{4} << 20;
constexpr std::uint64_t kSmallFile = std::uint64_t{1} << 20;
constexpr std::chrono::milliseconds kDigestLockPatience{2000};

// Returns the name under which a file is remembered: its canonical path. std::nullopt for a name that does not fit on a
// line.
std::optional<std::string> canonical_name(const std::filesystem::path& file) {
  std::error_code error;
  const auto canonical = std::filesystem::canonical(file, error);
  if (error) return std::nullopt;
  std::string name = platform::path_to_utf8(canonical);
  if (name.find('\n') != std::string::npos || name.size() > 4096) return std::nullopt;
  return name;
}

std::string_view next_word(std::string_view& line) {
  const auto space = line.find(' ');
  const std::string_view word = line.substr(0, space);
  line.remove_prefix(space == std::string_view::npos ? line.size() : space + 1);
  return word;
}

template <class Integer>
bool read_number(std::string_view& line, Integer& value) {
  const std::string_view word = next_word(line);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  return error == std::errc() && end == word.data() + word.size();
}

bool is_digest(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace

Result<std::string> FileDigests::known(const std::filesystem::path& file) {
  LB_ASSIGN_OR_RETURN(const auto identity, platform::file_identity(file));
  if (identity.size <= kSmallFile) return platform::sha256_hex_of_file(file);
  if (auto digest = remembered(canonical_name(file), identity)) return *std::move(digest);
  return Status(StatusCode::kNotFound,
                fmt::format("the digest of {} is not known yet", platform::path_to_utf8(file.filename())));
}

Result<std::string> FileDigests::compute(const std::filesystem::path& file) {
  LB_ASSIGN_OR_RETURN(const auto identity, platform::file_identity(file));
  const auto name = canonical_name(file);
  const bool settled = is_settled(identity);
  LB_ASSIGN_OR_RETURN(auto digest, platform::sha256_hex_of_file(file));
  LB_ASSIGN_OR_RETURN(const auto after, platform::file_identity(file));
  if (after != identity) {
    return Status(StatusCode::kIo, fmt::format("{} changed while it was being read", platform::path_to_utf8(file)));
  }
  if (settled && identity.size > kSmallFile) remember(name, identity, digest);
  return digest;
}

std::optional<std::string> FileDigests::remembered(const std::optional<std::string>& name,
                                                   const platform::FileIdentity& identity) {
  if (!name) return std::nullopt;
  const MutexLock lock(mutex_);
  const Files files = read();
  const auto found = files.find(*name);
  if (found == files.end() || found->second.identity != identity) return std::nullopt;
  return found->second.digest;
}

void FileDigests::remember(const std::optional<std::string>& name, const platform::FileIdentity& identity,
                           const std::string& digest) {
  if (!name) return;
  const MutexLock lock(mutex_);
  // Without the lock two processes could each drop what the other has added, which would only cost time.
  auto lock_file = memory_;
  lock_file += ".lock";
  const auto held = platform::FileLock::acquire(lock_file, kDigestLockPatience);
  if (!held.ok() || !is_ours()) return;
  Files files = read();
  std::uint64_t youngest = 0;
  for (const auto& [path, known] : files)
    youngest = std::max(youngest, known.order);
  files.insert_or_assign(*name, Remembered{identity, digest, youngest + 1});
  while (files.size() > kFilesMax) {
    files.erase(std::ranges::min_element(files, {}, [](const Files::value_type& known) { return known.second.order; }));
  }
  write(files);
}

bool FileDigests::is_ours() const {
  std::error_code error;
  if (!std::filesystem::exists(memory_, error)) return !error;
  const auto mapped = platform::MappedFile::open(memory_);
  if (!mapped.ok()) return false;
  const std::string_view text(reinterpret_cast<const char*>(mapped->bytes().data()), mapped->bytes().size());
  // Accepts any version, and zeros, which a crash of the machine may leave.
  return text.starts_with(kName) || text.find_first_not_of('\0') == std::string_view::npos;
}

// The file has one line per digest, oldest first: digest, size, times, file number, device, then the file's name.
FileDigests::Files FileDigests::read() const {
  if (!platform::check_folder_trust(memory_).ok()) return {};
  const auto mapped = platform::MappedFile::open(memory_);
  if (!mapped.ok() || mapped->bytes().size() > kMemoryMax) return {};
  std::string_view text(reinterpret_cast<const char*>(mapped->bytes().data()), mapped->bytes().size());
  const auto first_end = text.find('\n');
  if (!text.starts_with(kFirstLine) || first_end == std::string_view::npos) return {};
  const std::string_view sum = text.substr(kFirstLine.size(), first_end - kFirstLine.size());
  text.remove_prefix(first_end + 1);
  if (payload_sum(std::as_bytes(std::span(text))) != sum) return {};
  Files files;
  while (!text.empty()) {
    const auto end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    Remembered known;
    known.digest = std::string(next_word(line));
    if (!is_digest(known.digest) || !read_number(line, known.identity.size) ||
        !read_number(line, known.identity.modified_ns) || !read_number(line, known.identity.changed_ns) ||
        !read_number(line, known.identity.file) || !read_number(line, known.identity.device) || line.empty() ||
        files.size() >= kFilesMax) {
      return {};
    }
    known.order = files.size();
    files.insert_or_assign(std::string(line), std::move(known));
  }
  return files;
}

void FileDigests::write(const Files& files) const {
  std::vector<const Files::value_type*> by_age;
  for (const auto& known : files)
    by_age.push_back(&known);
  std::ranges::sort(by_age, {}, [](const Files::value_type* known) { return known->second.order; });
  std::string lines;
  for (const auto* known : by_age) {
    const auto& [identity, digest, order] = known->second;
    lines += fmt::format("{} {} {} {} {} {} {}\n", digest, identity.size, identity.modified_ns, identity.changed_ns,
                         identity.file, identity.device, known->first);
  }
  auto output = platform::OutputFile::create(memory_);
  if (!output.ok()) return;
  auto status = output->write(fmt::format("{}{}\n", kFirstLine, payload_sum(std::as_bytes(std::span(lines)))));
  if (status.ok()) status = output->write(lines);
  if (status.ok()) status = output->commit_unsynced();
}

}  // namespace latebind::core
