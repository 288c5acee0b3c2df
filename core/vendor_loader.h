// Opening a vendor's library: from the search list to one that is open and usable, or to an error with every reason.
//
// A backend provides the function to open one file (check the version, resolve everything or nothing); the loader keeps
// the library that it has opened and remembers no failure: the next query looks again, so that what the user installs
// meanwhile is found without a restart. All calls are thread-safe; threads that ask while one is opening wait for its
// answer.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/backend.h"
#include "core/background_work.h"
#include "core/log.h"
#include "core/result.h"
#include "core/vendor_search.h"

namespace latebind::core {

// Opens one file, and returns its version. A caller that needs more stores it itself.
using OpenVendorFile = std::function<Result<std::string>(const std::string& file)>;

// Opens the first candidate that can be. `trace` is replaced by one step for each candidate tried. The error,
// kLibraryNotFound when there was no file at all and kLibraryUnusable otherwise, says the cause and the command to
// type; its details have every place with the reason, and the variable that may name the library.
[[nodiscard]] Status open_first(const VendorLibrary& wanted, System system, const SearchList& list,
                                const OpenVendorFile& open, std::vector<SearchStep>& trace);

// Library has a member `version`.
template <class Library>
class VendorLoader {
 public:
  using Pointer = std::shared_ptr<const Library>;
  using Open = std::function<Result<Pointer>(const std::string& file)>;
  // What the search depends on, queried for each attempt.
  using Facts = std::function<SearchFacts()>;

  VendorLoader(VendorLibrary wanted, Facts facts, Open open, const FileSystem& files = FileSystem::real())
      : wanted_(std::move(wanted)), facts_(std::move(facts)), open_(std::move(open)), files_(files) {}

  [[nodiscard]] Result<Pointer> library() {
    const LogHold hold;
    const std::lock_guard lock(mutex_);
    if (!library_) LB_RETURN_IF_ERROR(attempt());
    return library_;
  }

  // Of the last attempt; makes one if there was none yet.
  [[nodiscard]] std::vector<SearchStep> trace() {
    const LogHold hold;
    const std::lock_guard lock(mutex_);
    if (trace_.empty()) (void)attempt();
    return trace_;
  }

  [[nodiscard]] const VendorLibrary& wanted() const { return wanted_; }

  // Whether it is news that there is none: the user has named the file, or one that is there was left out. Looks only
  // if nothing did yet.
  [[nodiscard]] bool is_expected() {
    const LogHold hold;
    const std::lock_guard lock(mutex_);
    if (trace_.empty()) (void)attempt();
    return is_expected_;
  }

 private:
  Status attempt() {
    const SearchFacts facts = facts_();
    const auto open = [this](const std::string& file) -> Result<std::string> {
      LB_ASSIGN_OR_RETURN(library_, open_(file));
      mark_what_exit_destroys();
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
  std::mutex mutex_;
  // Guarded by mutex_.
  Pointer library_;
  std::vector<SearchStep> trace_;
  bool is_expected_ = false;
};

}  // namespace latebind::core
