#include "core/bucketed_executable.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/log.h"
#include "core/vendor_call.h"

namespace latebind::core {
namespace {

// How long destruction waits for a bucket that is being compiled in the background.
constexpr std::chrono::milliseconds kPreloadPatience{2'000};

using Clock = std::chrono::steady_clock;

// A device that was away while it should compile may be back: a refusal is believed for a while, each time twice as
// long.
constexpr std::chrono::minutes kPatienceMax{10};

struct Bucket {
  explicit Bucket(std::size_t bucket_length) : length(bucket_length) {}

  const std::size_t length;
  std::mutex loading;  // held while it is made
  // Guarded by Buckets::mutex.
  std::shared_ptr<Executable> executable;
  std::shared_ptr<VendorCall> pending;  // makes it, for those whose time is limited
  Status refusal;                       // why it could not be made
  Clock::time_point try_again{};        // when that may have changed
  Clock::duration patience{};           // how long the next refusal is believed
};

// Shared with the calls that compile, which may outlive the executable.
struct Buckets : std::enable_shared_from_this<Buckets> {
  LoadWithShape load;
  std::size_t rows = 1;
  std::optional<std::chrono::milliseconds> load_timeout;
  Clock::duration patience{};
  std::deque<Bucket> all;  // shortest first; constant after construction

  std::mutex mutex;
  // Guarded by mutex.
  bool stop = false;

  // A bucket that is still to be compiled takes what it takes; who has a limit goes when it is reached, and it is
  // compiled for those who come after: kDeadlineExceeded, kCancelled, or kDeviceFailed when the limit is the device's.
  Result<std::shared_ptr<Executable>> get(Bucket& bucket, const RunOptions& options) {
    if (auto found = known(bucket); !found.ok() || *found != nullptr) return found;
    RunOptions limits = options;
    limits.run_timeout = load_timeout;  // it is no run
    if (!limits.is_bounded()) return make(bucket);
    const auto started = pending(bucket);
    if (!started.ok()) {
      // Where nobody is in a hurry it needs no thread of ours.
      if (options.deadline || options.cancellation.can_be_requested()) return started.status();
      return make(bucket);
    }
    const auto& call = *started;
    switch (call->wait(limits)) {
      case VendorCall::End::kReturned:
        break;
      case VendorCall::End::kCancelled:
        return Status(StatusCode::kCancelled, "the call was cancelled");
      case VendorCall::End::kTimeout:
        return Status(StatusCode::kDeviceFailed, fmt::format("the fixed shape [{},{}] was not compiled within {} ms",
                                                             rows, bucket.length, load_timeout->count()));
      case VendorCall::End::kDeadline:
        return Status(
            StatusCode::kDeadlineExceeded,
            fmt::format("the fixed shape [{},{}] was still being compiled at the deadline", rows, bucket.length));
    }
    LB_RETURN_IF_ERROR(call->status());
    return known(bucket);
  }

  // The device is still at it, for longer than a request waits.
  bool is_overdue(const Bucket& bucket) {
    const std::lock_guard lock(mutex);
    if (!bucket.pending || bucket.pending->has_returned()) return false;
    const auto limit = limit_after(bucket.pending->started(), load_timeout);
    return limit && *limit <= Clock::now();
  }

  Result<std::shared_ptr<Executable>> known(const Bucket& bucket) {
    const std::lock_guard lock(mutex);
    if (!bucket.refusal.ok() && Clock::now() < bucket.try_again) return bucket.refusal;
    return bucket.executable;
  }

  Result<std::shared_ptr<VendorCall>> pending(Bucket& bucket) {
    const std::lock_guard lock(mutex);
    if (!bucket.pending || bucket.pending->has_returned()) {
      LB_ASSIGN_OR_RETURN(bucket.pending, VendorCall::start("", [self = shared_from_this(), &bucket] {
                            return self->make(bucket).status();
                          }));
    }
    return bucket.pending;
  }

  // Takes as long as the vendor does.
  Result<std::shared_ptr<Executable>> make(Bucket& bucket) {
    const LogHold hold;
    const std::lock_guard loading(bucket.loading);
    if (auto found = known(bucket); !found.ok() || *found != nullptr) return found;  // another thread was faster
    auto made = load(Shape{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(bucket.length)});
    if (!made.ok()) {
      {
        const std::lock_guard lock(mutex);
        bucket.refusal = made.status();
        bucket.patience = std::clamp<Clock::duration>(bucket.patience * 2, patience, kPatienceMax);
        bucket.try_again = Clock::now() + bucket.patience;
      }
      log(LogLevel::kWarning, fmt::format("no fixed shape [{},{}]: {}", rows, bucket.length, made.status().brief()));
      return made.status();
    }
    const std::lock_guard lock(mutex);
    bucket.refusal = {};
    bucket.executable = *std::move(made);
    return bucket.executable;
  }

  void preload() {
    for (Bucket& bucket : all) {
      {
        const std::lock_guard lock(mutex);
        if (stop) return;
      }
      // A refusal is kept, and told when that bucket is needed.
      (void)make(bucket).ok();
    }
  }
};

// The input's bytes row-major; `copy` holds them if they were not so already.
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

// An output that has one entry a token, [rows, length, …].
bool is_token_wise(const Shape& shape, std::size_t length) {
  return shape.rank() >= 3 && dim(shape, 1) == length;
}

class BucketedExecutable final : public Executable {
 public:
  explicit BucketedExecutable(std::shared_ptr<Buckets> buckets) : buckets_(std::move(buckets)) {}
  ~BucketedExecutable() override;

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
  Status run_rows(Executable& bucket, std::size_t bucket_length, std::span<const TensorView> inputs,
                  std::span<OutputTensor> outputs, const RunOptions& options) const;

  const std::shared_ptr<Buckets> buckets_;
  std::shared_ptr<VendorCall> preloading_;
  std::vector<TensorInfo> inputs_;
  std::vector<TensorInfo> outputs_;
  ActiveConfig active_;
};

BucketedExecutable::~BucketedExecutable() {
  {
    const std::lock_guard lock(buckets_->mutex);
    buckets_->stop = true;
  }
  // A compilation that does not return holds what it uses and ends by itself.
  if (preloading_) (void)preloading_->wait({.deadline = Clock::now() + kPreloadPatience});
}

Status BucketedExecutable::load_first() {
  Status first_error;
  for (Bucket& bucket : buckets_->all) {
    const auto loaded = buckets_->make(bucket);  // whoever waits for the load has its limits
    if (!loaded.ok()) {
      if (first_error.ok()) first_error = loaded.status();
      continue;
    }
    const Executable& executable = **loaded;
    inputs_.assign(executable.inputs().begin(), executable.inputs().end());
    outputs_.assign(executable.outputs().begin(), executable.outputs().end());
    for (TensorInfo& input : inputs_) {
      if (input.shape.rank() != 2) {
        return Status(StatusCode::kUnsupported, fmt::format("input '{}' has shape {}; fixed shapes need [rows, length]",
                                                            input.name, input.shape.to_string()));
      }
      input.shape = Shape{kDynamic, kDynamic};
      input.upper.clear();
    }
    for (TensorInfo& output : outputs_) {
      if (output.shape.rank() == 0) {
        return Status(StatusCode::kUnsupported,
                      fmt::format("output '{}' has no rows; fixed shapes need [rows, ...]", output.name));
      }
      if (is_token_wise(output.shape, bucket.length)) output.shape[1] = kDynamic;
      output.shape[0] = kDynamic;
      output.upper.clear();
    }
    active_ = executable.active();
    active_.fixed_rows = buckets_->rows;
    for (const Bucket& one : buckets_->all)
      active_.fixed_lengths.push_back(one.length);
    return {};
  }
  return first_error;
}

void BucketedExecutable::start_preloading() {
  auto started = VendorCall::start("", [buckets = buckets_]() -> Status {
    buckets->preload();
    return {};
  });
  // Without a thread, each is compiled when it is needed.
  if (started.ok()) preloading_ = *std::move(started);
}

// All are on one device, for which any of them can tell.
std::size_t BucketedExecutable::hung_runs() {
  std::shared_ptr<Executable> any;
  {
    const std::lock_guard lock(buckets_->mutex);
    const auto found =
        std::ranges::find_if(buckets_->all, [](const Bucket& bucket) { return bucket.executable != nullptr; });
    if (found != buckets_->all.end()) any = found->executable;
  }
  return any ? any->hung_runs() : 0;
}

Status BucketedExecutable::prepare() {
  for (Bucket& bucket : buckets_->all)
    LB_RETURN_IF_ERROR(buckets_->get(bucket, {}).status());
  return {};
}

Status BucketedExecutable::run(std::span<const TensorView> inputs, std::span<OutputTensor> outputs,
                               const RunOptions& options) {
  const Shape& shape = inputs.front().shape;
  for (const TensorView& input : inputs) {
    if (!(input.shape == shape)) {
      return Status(StatusCode::kShapeMismatch, fmt::format("inputs have shapes {} and {}; all must be the same",
                                                            shape.to_string(), input.shape.to_string()));
    }
  }
  const std::size_t length = dim(shape, 1);
  Status refusal(StatusCode::kShapeMismatch, fmt::format("rows of length {} were given; the longest fixed shape has {}",
                                                         length, buckets_->all.back().length));
  bool overdue = false;
  for (Bucket& bucket : buckets_->all) {
    if (bucket.length < length) continue;
    // A device that does not finish one shape is not given another to compile.
    if (const auto there = buckets_->known(bucket); overdue && (!there.ok() || *there == nullptr)) continue;
    const auto loaded = buckets_->get(bucket, options);
    if (loaded.ok()) return run_rows(**loaded, bucket.length, inputs, outputs, options);
    if (is_of_the_call(loaded.status())) return loaded.status();
    overdue = overdue || buckets_->is_overdue(bucket);
    // Whatever the vendor's reason is: another device may take this request, and this one the others.
    refusal = Status(StatusCode::kUnsupported, fmt::format("no fixed shape for rows of length {} can be compiled: {}",
                                                           length, loaded.status().to_string()));
  }
  return refusal;
}

Status BucketedExecutable::run_rows(Executable& bucket, std::size_t bucket_length, std::span<const TensorView> inputs,
                                    std::span<OutputTensor> outputs, const RunOptions& options) const {
  const Shape& given = inputs.front().shape;
  const std::size_t total = dim(given, 0);
  const std::size_t length = dim(given, 1);
  const std::size_t rows = buckets_->rows;
  if (total == rows && length == bucket_length) return bucket.execute(inputs, outputs, options);

  struct Padded {
    const std::byte* from = nullptr;
    std::vector<std::byte> copy;
    std::vector<std::byte> bytes;
    std::size_t element = 0;
  };
  const Shape fixed{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(bucket_length)};
  std::vector<Padded> padded(inputs.size());
  std::vector<TensorView> views;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    padded[i].element = size_of(inputs[i].type);
    LB_ASSIGN_OR_RETURN(padded[i].from, contiguous(inputs[i], padded[i].copy));
    padded[i].bytes.resize(rows * bucket_length * padded[i].element);
    views.push_back({padded[i].bytes.data(), inputs[i].type, fixed, std::nullopt});
  }
  std::vector<OutputTensor> part(outputs.size());
  std::vector<std::byte*> to(outputs.size(), nullptr);
  for (std::size_t first = 0; first == 0 || first < total; first += rows) {
    const std::size_t count = std::min(rows, total - first);
    for (Padded& input : padded) {
      std::ranges::fill(input.bytes, std::byte{0});
      for (std::size_t row = 0; row < count; ++row) {
        std::memcpy(input.bytes.data() + row * bucket_length * input.element,
                    input.from + (first + row) * length * input.element, length * input.element);
      }
    }
    LB_RETURN_IF_ERROR(bucket.execute(views, part, options));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const TensorView& from = part[i].view();
      if (from.shape.rank() == 0 || dim(from.shape, 0) != rows) {
        return Status(StatusCode::kDeviceFailed, fmt::format("output '{}' came back as {}; {} rows were due",
                                                             outputs_[i].name, from.shape.to_string(), rows));
      }
      const bool token_wise = is_token_wise(from.shape, bucket_length);
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

Result<std::unique_ptr<Executable>> make_bucketed(LoadWithShape load, const BucketOptions& options) {
  if (options.lengths.empty() || options.rows == 0 ||
      std::ranges::adjacent_find(options.lengths, std::greater_equal<>()) != options.lengths.end()) {
    return Status(StatusCode::kInvalidArgument, "fixed shapes need rising lengths and at least one row");
  }
  auto buckets = std::make_shared<Buckets>();
  buckets->load = std::move(load);
  buckets->rows = options.rows;
  buckets->load_timeout = options.load_timeout;
  buckets->patience = std::min<Clock::duration>(options.patience, kPatienceMax);
  for (const std::size_t length : options.lengths)
    buckets->all.emplace_back(length);
  auto made = std::make_unique<BucketedExecutable>(std::move(buckets));
  LB_RETURN_IF_ERROR(made->load_first());
  if (options.preload) made->start_preloading();
  return std::unique_ptr<Executable>(std::move(made));
}

}  // namespace latebind::core
