// Opens a vendor's library: goes through the search list until a library is open and usable, or fails with every
// reason.
//
// A backend provides the function that opens one file (it checks the version and resolves all symbols or none). The
// loader keeps the library that it has opened and remembers no failure: the next query looks again, so a library that
// the user installs meanwhile is found without a restart. All functions may be called from any thread. While one thread
// opens a library, the others wait for its result.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/backend/backend.h"
#include "core/log.h"
#include "core/result.h"
#include "core/threads/background_work.h"
#include "core/threads/mutex.h"
#include "core/vendor/vendor_search.h"

namespace latebind::core {

// Opens one file and returns the library's version. A caller that needs the library itself stores it.
using OpenVendorFile = std::function<Result<std::string>(const std::string& file)>;

// Opens the first candidate that can be opened. Replaces `trace` with one step for each candidate tried. The error is
// kLibraryNotFound when there was no file at all, otherwise kLibraryUnusable. It names the cause and the command to
// type; its details list every place with its reason, and the variable that may name the library.
[[nodiscard]] Status open_first(const VendorLibrary& wanted, System system, const SearchList& list,
                                const OpenVendorFile& open, std::vector<SearchStep>& trace);

// Opens a library once and shares it. Library has a member `version`.
template <class Library>
class VendorLoader {
 public:
  using Pointer = std::shared_ptr<const Library>;
  using Open = std::function<Result<Pointer>(const std::string& file)>;
  // Returns what the search depends on; queried for each attempt.
  using Facts = std::function<SearchFacts()>;

  VendorLoader(VendorLibrary wanted, Facts facts, Open open, const FileSystem& files = FileSystem::real())
      : wanted_(std::move(wanted)), facts_(std::move(facts)), open_(std::move(open)), files_(files) {}

  // Returns the library, opening it if it is not open.
  [[nodiscard]] Result<Pointer> library() {
    const LogHold hold;
    const MutexLock lock(mutex_);
    if (!library_) LB_RETURN_IF_ERROR(attempt());
    return library_;
  }

  // Returns the trace of the last attempt; makes an attempt if there was none yet.
  [[nodiscard]] std::vector<SearchStep> trace() {
    const LogHold hold;
    const MutexLock lock(mutex_);
    if (trace_.empty()) (void)attempt();
    return trace_;
  }

  [[nodiscard]] const VendorLibrary& wanted() const { return wanted_; }

  // Whether a missing library should be reported: the user has named it, or a file that was found was left out. Makes
  // an attempt only if there was none yet.
  [[nodiscard]] bool is_expected() {
    const LogHold hold;
    const MutexLock lock(mutex_);
    if (trace_.empty()) (void)attempt();
    return is_expected_;
  }

 private:
  Status attempt() LB_REQUIRES(mutex_) {
    const SearchFacts facts = facts_();
    const auto open = [this](const std::string& file) LB_REQUIRES(mutex_) -> Result<std::string> {
      LB_ASSIGN_OR_RETURN(library_, open_(file));
      register_exit_mark();
      return library_->version;
    };
    const SearchList list = search_list(wanted_, facts, files_);
    is_expected_ = !list.chosen_by.empty() || std::ranges::any_of(list.candidates, &SearchCandidate::left_out);
    return open_first(wanted_, facts.system, list, open, trace_);
  }

  const VendorLibrary wanted_;
  const Facts facts_;
  const Open open_;
  const FileSystem& files_;
  Mutex mutex_;
  Pointer library_ LB_GUARDED_BY(mutex_);
  std::vector<SearchStep> trace_ LB_GUARDED_BY(mutex_);
  bool is_expected_ LB_GUARDED_BY(mutex_) = false;
};

}  // namespace latebind::core
