// Executable: a model loaded on a device, ready to run from many threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/cancellation.h"
#include "core/config.h"
#include "core/input_bounds.h"
#include "core/result.h"
#include "core/tensor.h"

namespace latebind::core {

// Which nodes of a model a device that takes it as a whole may leave to its host's CPU. Others are an error that names
// them.
enum class HostNodes : std::uint8_t {
  kNone,
  kIntegers,  // those that compute with integers and truth values alone: shapes, masks, indices
  kAny,
};

// How a model is compiled and loaded. A backend rejects what it cannot honour, naming it (kUnsupported): nothing here
// is a hint.
struct CompileOptions {
  Precision precision = Precision::kF32;
  PerformanceHint hint = PerformanceHint::kLatency;
  // Threads for computing, all requests together; 0: the processors this process may use.
  unsigned threads = 0;
  // Requests that run concurrently (size of the request pool, and streams where the vendor has them); 0: the vendor's
  // optimal number for the hint, else 4.
  unsigned requests = 0;
  // New static input shapes, by input position; empty: as the model declares them.
  std::vector<Shape> input_shapes{};
  HostNodes host_nodes = HostNodes::kIntegers;
  // The shapes of one call are those of the next again, as the documents of each query: worth memory for more of them
  // where a device makes something ready for each. Else a stream of mixed lengths would fill it. Changes no blob.
  bool shapes_recur = false;
  // Lets a virtual device run in its vendor's emulator: slow, for checking results. Without it, loading on one is an
  // error.
  bool emulate = false;
  // Passed to the vendor unchanged, last. For an unknown property the vendor's own error is returned.
  std::map<std::string, std::string> properties{};
};

// More threads or requests than this are an error.
inline constexpr unsigned kCountMax = 4096;
// kInvalidArgument for more.
[[nodiscard]] Status check_counts(const CompileOptions& options);

// The limits of one run as a whole: waiting for a request, compiling what is needed first, and the vendor's call.
// Without any of these, the vendor is called on the caller's thread and works in the caller's memory. With one, it is
// called on another thread, in memory of its own, and abandoned when the time is up: the call returns then, whatever
// the vendor does (core/vendor_call.h).
struct RunOptions {
  // When it passes, the call returns kDeadlineExceeded (kBusy while still waiting for a request).
  std::optional<std::chrono::steady_clock::time_point> deadline{};
  // When it is requested, the call returns kCancelled at once.
  Cancellation cancellation{};
  // The longest that the vendor's call itself may take before the device counts as hung, which is kDeviceFailed with
  // "hung: ..." in its text. Neither waiting for a request nor compiling counts.
  std::optional<std::chrono::milliseconds> run_timeout{};
  // Runs that the caller makes at the same time, with this one: a device that divides a run among threads takes its
  // share of them. At least 1.
  std::size_t side_by_side = 1;
  // When it is requested, nobody waits for the run any more: a backend that can end it where it is, at no cost to one
  // that is not ended, returns kCancelled soon. It bounds nothing: a vendor's call is made as if it were not there.
  Cancellation nobody_waits{};

  // The call may have to return before the vendor does.
  [[nodiscard]] bool is_bounded() const { return deadline || run_timeout || cancellation.can_be_requested(); }
};

// When work begun at that time will have taken longer than `timeout`; nothing without a timeout, or when it is beyond
// the clock's range.
[[nodiscard]] std::optional<std::chrono::steady_clock::time_point> limit_after(
    std::chrono::steady_clock::time_point began, std::optional<std::chrono::milliseconds> timeout);

// kCancelled or kDeadlineExceeded when there is no time left to start anything.
[[nodiscard]] Status check_time(const RunOptions& options);

// What really is loaded, as read back from the vendor after loading.
struct ActiveConfig {
  std::string backend;           // "openvino"
  std::string device;            // "CPU"
  std::string device_full_name;  // "AMD EPYC …"
  std::string runtime_version;   // "2026.4.1-…"
  std::string library_file;      // the vendor library that was opened
  Precision precision = Precision::kF32;
  unsigned threads = 0;   // 0 when the vendor does not report it
  unsigned requests = 1;  // size of the request pool
  // Lengths that the model was compiled for, ascending, and rows of each; empty and 0 when it takes any.
  std::vector<std::size_t> static_lengths{};
  std::size_t static_rows = 0;
  // Padding costs nothing: the tokens that a mask leaves out are not computed.
  bool leaves_padding_out = false;
  // Padding costs little: of it attention alone is computed.
  bool packs_tokens = false;
  // Shapes that it has ready, those used last; a run in another one takes some ms more. 0: nothing is made ready for a
  // shape, or nothing is known of it.
  std::size_t kept_shapes = 0;
  // There is nothing to keep in a cache.
  bool compiles_nothing = false;
  // Loaded from a blob, such as one from the compile cache, instead of being compiled now.
  bool from_cache = false;
  // The device is not in this machine: its vendor's emulator answers.
  bool emulated = false;
  // Nodes of the model, and those of them that the device leaves to its host's CPU; 0 where the vendor does not say.
  std::size_t nodes = 0;
  std::size_t host_nodes = 0;

  // As placements name it: "openvino:CPU"; "none" where no device computes.
  [[nodiscard]] std::string id() const { return device.empty() ? backend : backend + ":" + device; }
};

// Thread-safe. Keeps everything it needs (vendor core, library) alive; may be destroyed in any order with its siblings
// and its backend, but not while a call is in it.
class Executable {
 public:
  Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;
  virtual ~Executable() = default;

  // In the model's order; constant.
  [[nodiscard]] virtual std::span<const TensorInfo> inputs() const = 0;
  [[nodiscard]] virtual std::span<const TensorInfo> outputs() const = 0;
  [[nodiscard]] virtual const ActiveConfig& active() const = 0;

  // What came compiled with the model and did not do, and why, so that this was loaded instead; empty: nothing. Set
  // before the executable is shared.
  void set_passed_over(std::string what) { passed_over_ = std::move(what); }
  [[nodiscard]] const std::string& passed_over() const { return passed_over_; }
  // What came of comparing it with another device, in one line; empty when it was not. To be noted before it is shared.
  [[nodiscard]] const std::string& verification() const { return verification_; }
  void note_verification(std::string text) { verification_ = std::move(text); }

  // What numbers a caller may give: others are kUnsupported, which another device may compute. Set before it is shared.
  void set_input_bounds(InputBounds bounds) { input_bounds_ = std::move(bounds); }

  // Does now what would otherwise be done on first use, so that later runs do not wait for it.
  [[nodiscard]] virtual Status prepare() { return {}; }

  // Abandoned runs on its device whose vendor call has not returned yet, of this and of other executables of the
  // backend, including destroyed ones.
  [[nodiscard]] virtual std::size_t hung_runs() { return 0; }

  // Runs that failed in a way that may make those of others fail, too: with one it is spoiled. Runs that come after
  // that are kBusy; only loading the model again helps.
  [[nodiscard]] virtual std::size_t spoiled_by() const { return 0; }

  // Runs the model once. Counts, types and shapes are checked before the vendor sees them: kCountMismatch,
  // kTypeMismatch or kShapeMismatch, naming the tensor, what was expected and what was given. Waits for a free request,
  // first come first served. kBusy when the process is ending. On error the outputs are unspecified and the request is
  // returned or replaced: the executable stays usable, unless that spoiled it.
  [[nodiscard]] Status execute(std::span<const TensorView> inputs, std::span<OutputTensor> outputs,
                               const RunOptions& options);

 private:
  // The same, for inputs and outputs that were checked.
  [[nodiscard]] virtual Status run(std::span<const TensorView> inputs, std::span<OutputTensor> outputs,
                                   const RunOptions& options) = 0;

  std::atomic<bool> has_run_{false};
  std::string passed_over_;
  std::string verification_;
  InputBounds input_bounds_;
};

}  // namespace latebind::core
