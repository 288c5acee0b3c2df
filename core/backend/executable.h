// Executable: a model loaded on a device, ready to run from many threads; with the options for loading and running it.
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

#include "core/config.h"
#include "core/result.h"
#include "core/tensor/input_bounds.h"
#include "core/tensor/tensor.h"
#include "core/threads/cancellation.h"

namespace latebind::core {

// The nodes that a device which takes a whole model may leave to its host's CPU. If it leaves others, loading fails and
// names them.
enum class HostNodes : std::uint8_t {
  kNone,
  kIntegers,  // nodes that compute only with integers and truth values: shapes, masks, indices
  kAny,
};

// How a model is compiled and loaded. None of the options is a hint: a backend rejects what it cannot honour with
// kUnsupported, and names it.
struct CompileOptions {
  Precision precision = Precision::kF32;
  PerformanceHint hint = PerformanceHint::kLatency;
  // The number of computing threads for all requests together; 0 means the processors that this process may use.
  unsigned threads = 0;
  // The number of requests that run concurrently (the size of the request pool, and the streams if the vendor has
  // them); 0 means the vendor's optimal number for the hint, or 4.
  unsigned requests = 0;
  // New static input shapes, by input position. Empty means the shapes that the model declares.
  std::vector<Shape> input_shapes{};
  HostNodes host_nodes = HostNodes::kIntegers;
  // Whether the shapes of one call recur in the next, as those of the documents of each query do. A device that
  // prepares something for each shape then spends memory on more of them; otherwise a stream of mixed lengths would
  // fill it. Does not change blobs.
  bool shapes_recur = false;
  // Lets a virtual device run in its vendor's emulator, which is slow and serves to check results. Without it, loading
  // on a virtual device is an error.
  bool emulate = false;
  // Passed to the vendor last, unchanged. For an unknown property the vendor's own error is returned.
  std::map<std::string, std::string> properties{};
};

// The largest allowed number of threads or requests.
inline constexpr unsigned kCountMax = 4096;
// Returns kInvalidArgument when the options ask for more than kCountMax threads or requests.
[[nodiscard]] Status check_counts(const CompileOptions& options);

// The limits of one run as a whole: waiting for a request, compiling what is needed first, and the vendor's call. If no
// limit is set, the vendor is called on the caller's thread and works in the caller's memory. If one is set, the vendor
// is called on another thread with separate memory, and the call is abandoned when the time is up: execute() returns
// then, whatever the vendor does (core/vendor/vendor_call.h).
struct RunOptions {
  // When the deadline passes, the call returns kDeadlineExceeded (kBusy if it was still waiting for a request).
  std::optional<std::chrono::steady_clock::time_point> deadline{};
  // When cancellation is requested, the call returns kCancelled at once.
  Cancellation cancellation{};
  // The longest time that the vendor's call may take before the device counts as hung: kDeviceFailed with "hung: ..."
  // in its text. Time spent waiting for a request or compiling does not count.
  std::optional<std::chrono::milliseconds> run_timeout{};
  // The number of runs that the caller makes at the same time, this one included; at least 1. A device that divides a
  // run among threads uses a corresponding share of them.
  std::size_t side_by_side = 1;
  // Requested when the caller no longer needs the result. A backend that can stop a run, at no cost to runs that are
  // not stopped, then returns kCancelled soon. This is not a limit: it does not change how a vendor is called.
  Cancellation nobody_waits{};

  // Whether the call may have to return before the vendor does.
  [[nodiscard]] bool is_bounded() const { return deadline || run_timeout || cancellation.can_be_requested(); }
};

// Returns when work that began at `began` exceeds `timeout`. std::nullopt without a timeout, or when it is longer than
// ten years.
[[nodiscard]] std::optional<std::chrono::steady_clock::time_point> limit_after(
    std::chrono::steady_clock::time_point began, std::optional<std::chrono::milliseconds> timeout);

// Returns kCancelled or kDeadlineExceeded when no time is left to start anything.
[[nodiscard]] Status check_time(const RunOptions& options);

// The configuration that is really loaded, as read back from the vendor after loading.
struct ActiveConfig {
  std::string backend;           // "openvino"
  std::string device;            // "CPU"
  std::string device_full_name;  // "AMD EPYC …"
  std::string runtime_version;   // "2026.4.1-…"
  std::string library_file;      // the vendor library that was opened
  Precision precision = Precision::kF32;
  unsigned threads = 0;   // 0 when the vendor does not report it
  unsigned requests = 1;  // size of the request pool
  // The lengths that the model was compiled for, ascending, and the rows of each; empty and 0 when it takes any length.
  std::vector<std::size_t> static_lengths{};
  std::size_t static_rows = 0;
  // Padding costs nothing: tokens that a mask leaves out are not computed.
  bool leaves_padding_out = false;
  // Padding costs little: only attention is computed for it.
  bool packs_tokens = false;
  // The number of recently used shapes that the device keeps ready; a run in another shape takes a few milliseconds
  // more. 0 when nothing is prepared per shape, or when this is unknown.
  std::size_t kept_shapes = 0;
  // The backend compiles nothing, so the cache has nothing to keep.
  bool compiles_nothing = false;
  // Loaded from a blob, such as one from the compile cache, instead of being compiled now.
  bool from_cache = false;
  // The device is not in this machine: its vendor's emulator answers.
  bool emulated = false;
  // The number of nodes of the model, and how many of them the device leaves to its host's CPU; 0 if the vendor does
  // not report it.
  std::size_t nodes = 0;
  std::size_t host_nodes = 0;

  // The device as placements name it: "openvino:CPU"; "none" if no device computes.
  [[nodiscard]] std::string id() const { return device.empty() ? backend : backend + ":" + device; }
};

// All functions may be called from any thread, except as noted. An executable keeps alive everything it needs (vendor
// core, library), so it and its backend may be destroyed in any order, but not while a call is running in it.
class Executable {
 public:
  Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;
  virtual ~Executable() = default;

  // The inputs and outputs in the model's order. They are constant.
  [[nodiscard]] virtual std::span<const TensorInfo> inputs() const = 0;
  [[nodiscard]] virtual std::span<const TensorInfo> outputs() const = 0;
  [[nodiscard]] virtual const ActiveConfig& active() const = 0;

  // The blobs that came with the model but could not be used, and why, so that this was loaded instead; empty when
  // there were none. Set it before the executable is shared.
  void set_passed_over(std::string what) { passed_over_ = std::move(what); }
  [[nodiscard]] const std::string& passed_over() const { return passed_over_; }
  // The outcome of comparing this executable with another device, in one line; empty if it was not compared. Set it
  // before the executable is shared.
  [[nodiscard]] const std::string& verification() const { return verification_; }
  void note_verification(std::string text) { verification_ = std::move(text); }

  // Limits the numbers that a caller may give. Others are kUnsupported, so that another device may compute them. Set it
  // before the executable is shared.
  void set_input_bounds(InputBounds bounds) { input_bounds_ = std::move(bounds); }

  // Does now what would otherwise be done on first use, so that later runs do not wait for it.
  [[nodiscard]] virtual Status prepare() { return {}; }

  // Returns the number of abandoned runs on this device whose vendor call has not returned yet. Runs of other
  // executables of the backend count too, even destroyed ones.
  [[nodiscard]] virtual std::size_t hung_runs() { return 0; }

  // Returns the number of failed runs that may make other runs fail too. Once it is above 0 the executable is spoiled:
  // later runs return kBusy, and only loading the model again helps.
  [[nodiscard]] virtual std::size_t spoiled_by() const { return 0; }

  // Runs the model once. Checks counts, types and shapes before the vendor sees them: kCountMismatch, kTypeMismatch or
  // kShapeMismatch name the tensor, what was expected and what was given. Waits for a free request, first come, first
  // served. Returns kBusy when the process is ending. On error the outputs are unspecified and the request is returned
  // or replaced; the executable stays usable unless the error spoiled it.
  [[nodiscard]] Status execute(std::span<const TensorView> inputs, std::span<OutputTensor> outputs,
                               const RunOptions& options);

 private:
  // Runs the model with inputs and outputs that were checked.
  [[nodiscard]] virtual Status run(std::span<const TensorView> inputs, std::span<OutputTensor> outputs,
                                   const RunOptions& options) = 0;

  std::atomic<bool> has_run_{false};
  std::string passed_over_;
  std::string verification_;
  InputBounds input_bounds_;
};

}  // namespace latebind::core
