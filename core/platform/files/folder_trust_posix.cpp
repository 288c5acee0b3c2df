#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "core/platform/files/folder_trust.h"
#include "core/platform/files/folders.h"
#include "core/platform/os_error.h"
#include "core/result.h"

namespace latebind::platform {
namespace {

using core::Status;
using core::StatusCode;
using std::filesystem::path;

constexpr uid_t kRoot = 0;
constexpr gid_t kRootGroup = 0;
constexpr unsigned kLinksMax = 40;  // as in the kernel
constexpr std::size_t kBufferMax = std::size_t{1} << 20;

bool is_trusted(uid_t user) {
  return user == kRoot || user == ::geteuid();
}

// This user's account in the user database, or std::nullopt when it is unknown.
struct Account {
  std::string name{};
  gid_t group = 0;  // the primary group
};

std::optional<Account> own_account() {
  std::vector<char> buffer(4096);
  struct passwd entry {};
  struct passwd* found = nullptr;
  int error = 0;
  while ((error = ::getpwuid_r(::geteuid(), &entry, buffer.data(), buffer.size(), &found)) == ERANGE &&
         buffer.size() < kBufferMax) {
    buffer.resize(buffer.size() * 2);
  }
  if (error != 0 || found == nullptr) return std::nullopt;
  return Account{found->pw_name, found->pw_gid};
}

struct Group {
  std::string name;
  std::vector<std::string> members;  // besides those whose primary group it is
};

std::optional<Group> group_of(gid_t number) {
  std::vector<char> buffer(4096);
  struct group entry {};
  struct group* found = nullptr;
  int error = 0;
  while ((error = ::getgrgid_r(number, &entry, buffer.data(), buffer.size(), &found)) == ERANGE &&
         buffer.size() < kBufferMax) {
    buffer.resize(buffer.size() * 2);
  }
  if (error != 0 || found == nullptr) return std::nullopt;
  Group group{found->gr_name, {}};
  for (char** member = found->gr_mem; *member != nullptr; ++member)
    group.members.emplace_back(*member);
  return group;
}

// Returns the field with this index in a line of /etc/passwd.
std::string_view field_of(std::string_view line, std::size_t index) {
  for (; index > 0; --index) {
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) return {};
    line.remove_prefix(colon + 1);
  }
  return line.substr(0, line.find(':'));
}

// Whether it is the primary group of an untrusted user. The file is read directly, because getpwent() is not safe with
// threads, and directory services usually list nobody.
bool is_first_group_of_others(gid_t number) {
  std::ifstream users("/etc/passwd");
  if (!users) return true;
  const auto number_in = [](std::string_view text) -> std::optional<unsigned long> {
    unsigned long value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
  };
  for (std::string line; std::getline(users, line);) {
    const auto user = number_in(field_of(line, 2));
    if (user && number_in(field_of(line, 3)) == number && !is_trusted(static_cast<uid_t>(*user))) return true;
  }
  return false;
}

// Whether an untrusted user may be in the group.
bool holds_others(gid_t number, const std::optional<Group>& group) {
  if (!group) return true;
  const auto own = own_account();
  for (const std::string& member : group->members) {
    if (member != "root" && (!own || member != own->name)) return true;
  }
  if (number == kRootGroup) return false;
  // The primary group that all users of a directory service share looks empty. Of this user's groups, only the one with
  // the user's name is therefore known to be private.
  const bool is_own = number == ::getegid() || (own && number == own->group);
  if (is_own && (!own || group->name != own->name)) return true;
  return is_first_group_of_others(number);
}

// With an access list, more users and groups may write, and the bits for the group show only the most that any of them
// may.
bool has_access_list(const path& place) {
  return ::getxattr(place.c_str(), "system.posix_acl_access", nullptr, 0) > 0;
}

bool is_shared(const struct stat& info) {
  return (info.st_mode & S_ISVTX) != 0 && (info.st_mode & (S_IWGRP | S_IWOTH)) != 0;
}

// Whether another user may have put the link into a folder that is not theirs.
bool is_planted(const struct stat& link, const struct stat& folder) {
  return is_shared(folder) && !is_trusted(link.st_uid) && link.st_uid != folder.st_uid;
}

Status fault(const path& place, std::string_view what) {
  return Status(StatusCode::kPermissionDenied, fmt::format("{} {}", quoted(place), what));
}

// With `is_parent`, only a named entry of the folder matters.
Status judge(const path& place, const struct stat& info, bool is_parent) {
  if (!is_trusted(info.st_uid)) return fault(place, fmt::format("belongs to another user ({})", info.st_uid));
  if (is_parent && (info.st_mode & S_ISVTX) != 0) return {};
  if ((info.st_mode & S_IWOTH) != 0) return fault(place, "is writable by every user");
  if ((info.st_mode & S_IWGRP) == 0) return {};
  if (has_access_list(place)) return fault(place, "is writable by other users through its access list");
  const auto group = group_of(info.st_gid);
  if (!holds_others(info.st_gid, group)) return {};
  return fault(place, fmt::format("is writable by the group {}",
                                  group ? fmt::format("'{}'", group->name) : std::to_string(info.st_gid)));
}

// `name` is the link's name in `folder`.
core::Result<path> target_of(const path& link, int folder, const char* name) {
  std::string target(4096, '\0');
  const ssize_t size = ::readlinkat(folder, name, target.data(), target.size());
  if (size < 0) return status_of_errno("look at", link, errno);
  target.resize(static_cast<std::size_t>(size));
  return path(target);
}

// Walks down a path as the kernel does, and judges each folder before looking into it.
class Walk {
 public:
  explicit Walk(const path& absolute) { add(absolute); }

  Status run() {
    LB_RETURN_IF_ERROR(enter("/"));
    while (!rest_.empty()) {
      const path step = std::move(rest_.back());
      rest_.pop_back();
      if (step.empty() || step == "." || step == "/") continue;
      if (step == "..") {
        LB_RETURN_IF_ERROR(enter(at_.parent_path()));
        continue;
      }
      const path next = at_ / step;
      struct stat info {};
      if (::lstat(next.c_str(), &info) != 0) {
        const int error = errno;
        if (error == ENOENT) return judge(at_, info_, true);
        return status_of_errno("look at", next, error);
      }
      LB_RETURN_IF_ERROR(judge(at_, info_, true));
      if (S_ISLNK(info.st_mode)) {
        LB_RETURN_IF_ERROR(follow(next, info));
      } else {
        at_ = next;
        info_ = info;
      }
    }
    return judge(at_, info_, false);
  }

 private:
  void add(const path& steps) {
    const std::vector<path> list(steps.begin(), steps.end());
    rest_.insert(rest_.end(), list.rbegin(), list.rend());
  }

  Status enter(const path& folder) {
    at_ = folder;
    return ::lstat(at_.c_str(), &info_) == 0 ? Status() : status_of_errno("look at", at_, errno);
  }

  Status follow(const path& link, const struct stat& info) {
    if (is_planted(info, info_)) {
      return fault(link, fmt::format("is a link of another user ({})", info.st_uid));
    }
    if (++links_ > kLinksMax) return status_of_errno("look at", link, ELOOP);
    LB_ASSIGN_OR_RETURN(const path target, target_of(link, AT_FDCWD, link.c_str()));
    add(target);
    return target.is_absolute() ? enter("/") : Status();
  }

  path at_;                 // a folder without links in its path, or the file at the end
  struct stat info_ {};     // of at_
  std::vector<path> rest_;  // the next step is the last one
  unsigned links_ = 0;
};

}  // namespace

Status check_folder_trust(const path& place) {
  LB_RETURN_IF_ERROR(check_path("look at", place));
  std::error_code error;
  const path absolute = std::filesystem::absolute(place, error);
  if (error) return status_of_errno("look at", place, error.value());
  return Walk(absolute).run();
}

core::Result<std::optional<path>> link_target(const path& place) {
  const std::optional<path> none;
  // Opens the link once, so that one link is examined and read even if another takes its name meanwhile.
  const int link = ::open(place.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (link < 0) return none;
  const path folder = place.has_parent_path() ? place.parent_path() : path(".");
  struct stat info {};
  struct stat above {};
  const bool is_link = ::fstat(link, &info) == 0 && S_ISLNK(info.st_mode) && ::stat(folder.c_str(), &above) == 0;
  core::Result<path> target = is_link ? target_of(place, link, "") : path();
  ::close(link);
  if (!is_link) return none;
  if (is_planted(info, above)) {
    return fault(place, fmt::format("is a link of another user ({}) in a folder that others can write to, and is not "
                                    "followed; remove it, or name another place",
                                    info.st_uid));
  }
  LB_RETURN_IF_ERROR(target.status());
  return std::optional<path>(*std::move(target));
}

Status make_private_folder(const path& folder) {
  LB_RETURN_IF_ERROR(check_path("make the folder", folder));
  constexpr mode_t kOwnerAlone = 0700;
  std::error_code error;
  std::vector<path> missing;
  for (path place = folder; !place.empty() && !std::filesystem::exists(place, error); place = place.parent_path())
    missing.push_back(place);
  // HOME=/nonexistent means that there is no home, but root could create it.
  const auto home = home_folder();
  if (home.ok() && std::ranges::find(missing, without_slash(*home)) != missing.end()) {
    return Status(StatusCode::kNotFound, fmt::format("cannot make the folder {}: the home folder {} does not exist",
                                                     quoted(folder), quoted(*home)));
  }
  for (; !missing.empty(); missing.pop_back()) {
    const path& place = missing.back();
    if (::mkdir(place.c_str(), kOwnerAlone) != 0 && errno != EEXIST)
      return status_of_errno("make the folder", place, errno);
  }
  if (std::filesystem::is_directory(folder, error)) return {};
  return status_of_errno("make the folder", folder, error ? error.value() : ENOTDIR);
}

}  // namespace latebind::platform
