#include "core/engine/static_lengths.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/log.h"
#include "core/threads/mutex.h"
#include "core/vendor/vendor_call.h"

namespace latebind::core {
namespace {

// How long the destructor waits for a length that is being compiled in the background.
constexpr std::chrono::milliseconds kPreloadPatience{2'000};

using Clock = std::chrono::steady_clock;

// A refusal is believed for a limited time, because the device may have been absent; each new refusal doubles it.
constexpr std::chrono::minutes kPatienceMax{10};

struct StaticLength {
  explicit StaticLength(std::size_t padded_length) : length(padded_length) {}

  const std::size_t length;
  Mutex loading;  // held while the executable is made
  // Guarded by StaticLengths::mutex.
  std::shared_ptr<Executable> executable;
  std::shared_ptr<VendorCall> pending;  // the call that makes it, for callers with a time limit
  Status refusal;                       // why it could not be made
  Clock::time_point try_again{};        // when that may have changed
  Clock::duration patience{};           // how long the next refusal is believed
};

// Shared with the calls that compile, which may outlive the executable.
struct StaticLengths : std::enable_shared_from_this<StaticLengths> {
  LoadWithShape load;
  std::size_t rows = 1;
  std::optional<std::chrono::milliseconds> load_timeout;
  Clock::duration patience{};
  std::deque<StaticLength> all;  // shortest first; constant after construction

  Mutex mutex;
  bool stop LB_GUARDED_BY(mutex) = false;

  // Returns the executable of a length, compiling it if necessary. A caller with a limit leaves when the limit is
  // reached, and the compilation continues for later callers: kDeadlineExceeded, kCancelled, or kDeviceFailed when the
  // limit is the device's.
  Result<std::shared_ptr<Executable>> get(StaticLength& entry, const RunOptions& options) {
    if (auto found = known(entry); !found.ok() || *found != nullptr) return found;
    RunOptions limits = options;
    limits.run_timeout = load_timeout;  // compiling is not a run
    if (!limits.is_bounded()) return make(entry);
    const auto started = pending(entry);
    if (!started.ok()) {
      // Without a time limit, no extra thread is needed.
      if (options.deadline || options.cancellation.can_be_requested()) return started.status();
      return make(entry);
    }
    const auto& call = *started;
    switch (call->wait(limits)) {
      case VendorCall::End::kReturned:
        break;
      case VendorCall::End::kCancelled:
        return Status(StatusCode::kCancelled, "the call was cancelled");
      case VendorCall::End::kTimeout:
        return Status(StatusCode::kDeviceFailed, fmt::format("the static shape [{},{}] was not compiled within {} ms",
                                                             rows, entry.length, load_timeout->count()));
      case VendorCall::End::kDeadline:
        return Status(
            StatusCode::kDeadlineExceeded,
            fmt::format("the static shape [{},{}] was still being compiled at the deadline", rows, entry.length));
    }
    LB_RETURN_IF_ERROR(call->status());
    return known(entry);
  }

  // Whether the device is still compiling it, for longer than a request waits.
  bool is_overdue(const StaticLength& entry) {
    const MutexLock lock(mutex);
    if (!entry.pending || entry.pending->has_returned()) return false;
    const auto limit = limit_after(entry.pending->started(), load_timeout);
    return limit && *limit <= Clock::now();
  }

  Result<std::shared_ptr<Executable>> known(const StaticLength& entry) {
    const MutexLock lock(mutex);
    if (!entry.refusal.ok() && Clock::now() < entry.try_again) return entry.refusal;
    return entry.executable;
  }

  Result<std::shared_ptr<VendorCall>> pending(StaticLength& entry) {
    const MutexLock lock(mutex);
    if (!entry.pending || entry.pending->has_returned()) {
      LB_ASSIGN_OR_RETURN(entry.pending, VendorCall::start("", [self = shared_from_this(), &entry] {
                            return self->make(entry).status();
                          }));
    }
    return entry.pending;
  }

  // Takes as long as the vendor does.
  Result<std::shared_ptr<Executable>> make(StaticLength& entry) {
    const LogHold hold;
    const MutexLock loading(entry.loading);
    if (auto found = known(entry); !found.ok() || *found != nullptr) return found;  // another thread was faster
    auto made = load(Shape{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(entry.length)});
    if (!made.ok()) {
      {
        const MutexLock lock(mutex);
        entry.refusal = made.status();
        entry.patience = std::clamp<Clock::duration>(entry.patience * 2, patience, kPatienceMax);
        entry.try_again = Clock::now() + entry.patience;
      }
      log(LogLevel::kWarning, fmt::format("no static shape [{},{}]: {}", rows, entry.length, made.status().brief()));
      return made.status();
    }
    const MutexLock lock(mutex);
    entry.refusal = {};
    entry.executable = *std::move(made);
    return entry.executable;
  }

  void preload() {
    for (StaticLength& entry : all) {
      {
        const MutexLock lock(mutex);
        if (stop) return;
      }
      // A refusal is kept, and reported when that length is needed.
      (void)make(entry).ok();
    }
  }
};

// Returns the input's bytes in row-major order; `copy` holds them if they were in another order.
Result<const std::byte*> contiguous(const TensorView& view, std::vector<std::byte>& copy) {
  if (view.is_contiguous()) return static_cast<const std::byte*>(view.data);
  LB_ASSIGN_OR_RETURN(const std::size_t bytes, byte_size_of(view.type, view.shape));
  copy.resize(bytes);
  LB_RETURN_IF_ERROR(view.copy_to_contiguous(copy.data()));
  return copy.data();
}

std::size_t dim(const Shape& shape, std::size_t i) {
  return static_cast<std::size_t>(shape[i]);
}

// Whether the output has one entry per token: [rows, length, …].
bool is_token_wise(const Shape& shape, std::size_t length) {
  return shape.rank() >= 3 && dim(shape, 1) == length;
}

class StaticLengthsExecutable final : public Executable {
 public:
  explicit StaticLengthsExecutable(std::shared_ptr<StaticLengths> lengths) : lengths_(std::move(lengths)) {}
  ~StaticLengthsExecutable() override;

  Status load_first();
  void start_preloading();

  [[nodiscard]] std::span<const TensorInfo> inputs() const override { return inputs_; }
  [[nodiscard]] std::span<const TensorInfo> outputs() const override { return outputs_; }
  [[nodiscard]] const ActiveConfig& active() const override { return active_; }
  [[nodiscard]] Status prepare() override;
  [[nodiscard]] std::size_t hung_runs() override;

 private:
  [[nodiscard]] Status run(std::span<const TensorView> inputs, std::span<OutputTensor> outputs,
                           const RunOptions& options) override;
  Status run_rows(Executable& entry, std::size_t padded_length, std::span<const TensorView> inputs,
                  std::span<OutputTensor> outputs, const RunOptions& options) const;

  const std::shared_ptr<StaticLengths> lengths_;
  std::shared_ptr<VendorCall> preloading_;
  std::vector<TensorInfo> inputs_;
  std::vector<TensorInfo> outputs_;
  ActiveConfig active_;
};

StaticLengthsExecutable::~StaticLengthsExecutable() {
  {
    const MutexLock lock(lengths_->mutex);
    lengths_->stop = true;
  }
  // A compilation that does not return holds what it uses and ends by itself.
  if (preloading_) (void)preloading_->wait({.deadline = Clock::now() + kPreloadPatience});
}

Status StaticLengthsExecutable::load_first() {
  Status first_error;
  for (StaticLength& entry : lengths_->all) {
    const auto loaded = lengths_->make(entry);  // callers that wait for this load have their own limits
    if (!loaded.ok()) {
      if (first_error.ok()) first_error = loaded.status();
      continue;
    }
    const Executable& executable = **loaded;
    inputs_.assign(executable.inputs().begin(), executable.inputs().end());
    outputs_.assign(executable.outputs().begin(), executable.outputs().end());
    for (TensorInfo& input : inputs_) {
      if (input.shape.rank() != 2) {
        return Status(StatusCode::kUnsupported,
                      fmt::format("input '{}' has shape {}; static shapes need [rows, length]", input.name,
                                  input.shape.to_string()));
      }
      input.shape = Shape{kDynamic, kDynamic};
      input.upper.clear();
    }
    for (TensorInfo& output : outputs_) {
      if (output.shape.rank() == 0) {
        return Status(StatusCode::kUnsupported,
                      fmt::format("output '{}' has no rows; static shapes need [rows, ...]", output.name));
      }
      if (is_token_wise(output.shape, entry.length)) output.shape[1] = kDynamic;
      output.shape[0] = kDynamic;
      output.upper.clear();
    }
    active_ = executable.active();
    set_passed_over(executable.passed_over());
    active_.static_rows = lengths_->rows;
    for (const StaticLength& one : lengths_->all)
      active_.static_lengths.push_back(one.length);
    return {};
  }
  return first_error;
}

void StaticLengthsExecutable::start_preloading() {
  auto started = VendorCall::start("", [lengths = lengths_]() -> Status {
    lengths->preload();
    return {};
  });
  // Without a thread, each length is compiled when it is needed.
  if (started.ok()) preloading_ = *std::move(started);
}

// All lengths are on one device, so any of them can answer.
std::size_t StaticLengthsExecutable::hung_runs() {
  std::shared_ptr<Executable> any;
  {
    const MutexLock lock(lengths_->mutex);
    const auto found =
        std::ranges::find_if(lengths_->all, [](const StaticLength& entry) { return entry.executable != nullptr; });
    if (found != lengths_->all.end()) any = found->executable;
  }
  return any ? any->hung_runs() : 0;
}

Status StaticLengthsExecutable::prepare() {
  for (StaticLength& entry : lengths_->all)
    LB_RETURN_IF_ERROR(lengths_->get(entry, {}).status());
  return {};
}

Status StaticLengthsExecutable::run(std::span<const TensorView> inputs, std::span<OutputTensor> outputs,
                                    const RunOptions& options) {
  const Shape& shape = inputs.front().shape;
  for (const TensorView& input : inputs) {
    if (!(input.shape == shape)) {
      return Status(StatusCode::kShapeMismatch, fmt::format("inputs have shapes {} and {}; all must be the same",
                                                            shape.to_string(), input.shape.to_string()));
    }
  }
  const std::size_t length = dim(shape, 1);
  Status refusal(StatusCode::kShapeMismatch,
                 fmt::format("rows of length {} were given, but the longest static shape has {}", length,
                             lengths_->all.back().length));
  bool overdue = false;
  for (StaticLength& entry : lengths_->all) {
    if (entry.length < length) continue;
    // A device that does not finish one length is not given another one to compile.
    if (const auto there = lengths_->known(entry); overdue && (!there.ok() || *there == nullptr)) continue;
    const auto loaded = lengths_->get(entry, options);
    if (loaded.ok()) return run_rows(**loaded, entry.length, inputs, outputs, options);
    if (is_of_the_call(loaded.status())) return loaded.status();
    overdue = overdue || lengths_->is_overdue(entry);
    // Another device may take this request, and this device other requests, whatever the vendor's reason is.
    refusal = Status(StatusCode::kUnsupported, fmt::format("cannot compile a static shape for rows of length {}: {}",
                                                           length, loaded.status().to_string()));
  }
  return refusal;
}

Status StaticLengthsExecutable::run_rows(Executable& entry, std::size_t padded_length,
                                         std::span<const TensorView> inputs, std::span<OutputTensor> outputs,
                                         const RunOptions& options) const {
  const Shape& given = inputs.front().shape;
  const std::size_t total = dim(given, 0);
  const std::size_t length = dim(given, 1);
  const std::size_t rows = lengths_->rows;
  if (total == rows && length == padded_length) return entry.execute(inputs, outputs, options);

  struct Padded {
    const std::byte* from = nullptr;
    std::vector<std::byte> copy;
    std::vector<std::byte> bytes;
    std::size_t element = 0;
  };
  const Shape computed{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(padded_length)};
  std::vector<Padded> padded(inputs.size());
  std::vector<TensorView> views;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    padded[i].element = size_of(inputs[i].type);
    LB_ASSIGN_OR_RETURN(padded[i].from, contiguous(inputs[i], padded[i].copy));
    padded[i].bytes.resize(rows * padded_length * padded[i].element);
    views.push_back({padded[i].bytes.data(), inputs[i].type, computed, std::nullopt});
  }
  std::vector<OutputTensor> part(outputs.size());
  std::vector<std::byte*> to(outputs.size(), nullptr);
  for (std::size_t first = 0; first == 0 || first < total; first += rows) {
    const std::size_t count = std::min(rows, total - first);
    for (Padded& input : padded) {
      std::ranges::fill(input.bytes, std::byte{0});
      for (std::size_t row = 0; row < count; ++row) {
        std::memcpy(input.bytes.data() + row * padded_length * input.element,
                    input.from + (first + row) * length * input.element, length * input.element);
      }
    }
    LB_RETURN_IF_ERROR(entry.execute(views, part, options));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const TensorView& from = part[i].view();
      if (from.shape.rank() == 0 || dim(from.shape, 0) != rows) {
        return Status(StatusCode::kDeviceFailed, fmt::format("output '{}' has the shape {}; expected {} rows",
                                                             outputs_[i].name, from.shape.to_string(), rows));
      }
      const bool token_wise = is_token_wise(from.shape, padded_length);
      Shape whole = from.shape;
      whole[0] = static_cast<std::int64_t>(total);
      if (token_wise) whole[1] = static_cast<std::int64_t>(length);
      LB_ASSIGN_OR_RETURN(const std::size_t whole_bytes, byte_size_of(from.type, whole));
      LB_ASSIGN_OR_RETURN(const std::size_t part_bytes, byte_size_of(from.type, from.shape));
      if (first == 0) {
        LB_ASSIGN_OR_RETURN(void* place, outputs[i].prepare(from.type, whole));
        to[i] = static_cast<std::byte*>(place);
      }
      if (total == 0) continue;
      const std::size_t row_to = whole_bytes / total;
      const std::size_t row_from = part_bytes / rows;
      const auto* source = static_cast<const std::byte*>(from.data);
      for (std::size_t row = 0; row < count; ++row)
        std::memcpy(to[i] + (first + row) * row_to, source + row * row_from, row_to);
    }
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Executable>> load_static_lengths(LoadWithShape load, const StaticLengthOptions& options) {
  if (options.lengths.empty() || options.rows == 0 ||
      std::ranges::adjacent_find(options.lengths, std::greater_equal<>()) != options.lengths.end()) {
    return Status(StatusCode::kInvalidArgument, "static shapes need lengths in rising order and at least one row");
  }
  auto lengths = std::make_shared<StaticLengths>();
  lengths->load = std::move(load);
  lengths->rows = options.rows;
  lengths->load_timeout = options.load_timeout;
  lengths->patience = std::min<Clock::duration>(options.patience, kPatienceMax);
  for (const std::size_t length : options.lengths)
    lengths->all.emplace_back(length);
  auto made = std::make_unique<StaticLengthsExecutable>(std::move(lengths));
  LB_RETURN_IF_ERROR(made->load_first());
  if (options.preload) made->start_preloading();
  return std::unique_ptr<Executable>(std::move(made));
}

}  // namespace latebind::core
