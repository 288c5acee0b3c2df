#include "backends/native/compute.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "backends/native/experts.h"
#include "backends/native/groups.h"
#include "backends/native/run_limits.h"
#include "backends/native/taken_rows.h"

namespace latebind::native {
namespace {

using core::Status;
using graph::Cases;

// Rows that go through one step after the other while they are in the cache.
constexpr std::size_t kBlockRows = 56;

// The data that all groups of a run share.
struct Run {
  const Kernels& kernels;
  const Plan& plan;
  const Batch& batch;
  Limits& limits;
  std::span<float* const> out;  // for each of Plan::results
};

// The computation of one group in one workspace. Several threads may use it at once.
class Computation {
 public:
  // `is_shared`: the threads call compute_part(); otherwise one thread calls compute_alone().
  Computation(const Run& run, const Group& group, bool is_shared, const Workspace& workspace)
      : kernels_(run.kernels),
        plan_(run.plan),
        batch_(run.batch),
        group_(group),
        rows_at_a_time_(rows_at_a_time(group.tokens, is_shared)),
        is_shared_(is_shared),
        slots_(workspace.slots.data()),
        limits_(run.limits),
        out_(run.out) {}

  // The size of the workspace, in numbers.
  static std::size_t size_of(const Plan& plan, std::size_t tokens, bool is_shared) {
    return plan.layout.size(tokens, rows_at_a_time(tokens, is_shared));
  }

  // Computes the group on the calling thread.
  void compute_alone(float* scratch) const;
  // Computes one member's part of each step. All members of the crew call it.
  void compute_part(std::size_t member, std::size_t members, Barrier& barrier, float* scratch) const;

 private:
  static std::size_t rows_at_a_time(std::size_t tokens, bool is_shared) {
    return is_shared ? tokens : std::min(tokens, kBlockRows);
  }
  [[nodiscard]] MutableRows rows(Slot slot, const Range& range) const {
    const auto [stride, before, is_full] = plan_.layout.places[slot];
    // A slot that is not full has only the rows of the current block.
    const std::size_t first = is_full || is_shared_ ? range.first : 0;
    float* const begin = slots_ + plan_.layout.begin(slot, group_.tokens, rows_at_a_time_);
    return {begin + first * stride, range.count, stride};
  }
  [[nodiscard]] Rows const_rows(Slot slot, const Range& range) const {
    const MutableRows found = rows(slot, range);
    return {found.data, found.count, found.stride};
  }

  // `next` is the panel that the thread multiplies by afterwards; null if that is the next one in memory.
  void multiply(const Multiply& step, const Range& range, const Range& panels, const float* next = nullptr) const;
  // The member's first panel in the first product from `step` on; null if no product follows.
  [[nodiscard]] const float* first_panel_from(std::size_t step, std::size_t member, std::size_t members) const;
  // Executes a step that treats each row separately, for these rows.
  void do_rows(const Step& step, const Range& range) const;
  void attend(const Attend& step, std::size_t text, std::size_t head, float* attention) const;
  void gather_neighbours(const Neighbours& step, std::size_t text) const;
  // Computes the member's part of a step that takes all tokens.
  void take_all(const Step& step, std::size_t member, std::size_t members, float* scratch) const;
  // Reads a row of a table with copy_row() or add_row(). If that fails, the run ends.
  void read_row(const Table& table, bool (Table::*reads)(std::size_t, float*) const noexcept, std::size_t row,
                float* to) const {
    if (!(table.*reads)(row, to)) limits_.end_by([&] { return table.why_not(); });
  }
  void pool(std::size_t text) const;
  static void normalize(float* row, std::size_t width);
  void write_tokens(const Plan::Result& result, const Range& texts, float* out) const;
  void write_texts(const Plan::Result& result, const Range& texts, float* out) const;
  // Computes the results of these texts of the group, after all their tokens are done.
  void finish(const Range& texts) const;

  const Kernels& kernels_;
  const Plan& plan_;
  const Batch& batch_;
  const Group& group_;
  const std::size_t rows_at_a_time_;
  const bool is_shared_;
  float* const slots_;
  Limits& limits_;
  const std::span<float* const> out_;
};

void Computation::multiply(const Multiply& step, const Range& range, const Range& panels, const float* next) const {
  Panels matrix = plan_.matrices[step.matrix];
  matrix.next = next;
  plan_.product.multiply(const_rows(step.x, range), matrix, panels.first, panels.count, step.bias.data(),
                         rows(step.y, range));
}

const float* Computation::first_panel_from(std::size_t step, std::size_t member, std::size_t members) const {
  for (; step < plan_.steps.size(); ++step) {
    const auto* const multiplication = std::get_if<Multiply>(&plan_.steps[step].what);
    if (multiplication == nullptr) continue;
    const Panels b = plan_.matrices[multiplication->matrix];
    const Range mine = part_of(panel_count(b.columns, kernels_), member, members);
    return b.data + mine.first * kernels_.panel_columns * plan_.product.column_words(b.rows, b.four_bits);
  }
  return nullptr;
}

void Computation::do_rows(const Step& step, const Range& range) const {
  std::visit(
      Cases{
          [&](const LookUp& s) {
            const MutableRows y = rows(s.y, range);
            const auto& ids = batch_.ids[s.ids];
            for (std::size_t r = 0; r < range.count; ++r)
              read_row(s.table, &Table::copy_row, ids[group_.first_token + range.first + r], y.data + r * y.stride);
          },
          [&](const AddTerms& s) {
            const MutableRows x = rows(s.x, range);
            const auto& places = plan_.counted_places ? batch_.counted_places : batch_.positions;
            for (std::size_t r = 0; r < range.count; ++r) {
              const std::size_t place = places[group_.first_token + range.first + r];
              for (const Table& table : s.by_position)
                read_row(table, &Table::add_row, place, x.data + r * x.stride);
            }
            if (!s.constant.empty()) kernels_.add(x, {s.constant.data(), range.count, 0}, s.constant.size());
          },
          [&](const Copy& s) {
            const Rows x = const_rows(s.x, range);
            const MutableRows y = rows(s.y, range);
            for (std::size_t r = 0; r < range.count; ++r)
              std::copy_n(x.data + r * x.stride, plan_.widths[s.x], y.data + r * y.stride);
          },
          [&](const AddRows& s) { kernels_.add(rows(s.x, range), const_rows(s.y, range), plan_.widths[s.x]); },
          [&](const MultiplyRows& s) {
            kernels_.multiply(rows(s.x, range), const_rows(s.y, range), plan_.widths[s.x]);
          },
          [&](const Scale& s) { kernels_.scale(rows(s.x, range), plan_.widths[s.x], s.factor); },
          [&](const TakeColumns& s) { take_columns(s, const_rows(s.x, range), plan_.widths[s.x], rows(s.y, range)); },
          [&](const Rope& s) {
            const RopeTable& table = plan_.ropes[s.table];
            kernels_.rope(rows(s.x, range), s.heads, table.width, table.angles.cosines.data(),
                          table.angles.sines.data(), batch_.positions.data() + group_.first_token + range.first);
          },
          [&](const Convert& s) { plan_.product.convert(const_rows(s.x, range), plan_.widths[s.x], rows(s.y, range)); },
          [&](const Multiply& s) {
            multiply(s, range, {0, panel_count(plan_.matrices[s.matrix].columns, kernels_)});
          },
          [&](const Norm& s) {
            kernels_.layer_norm(const_rows(s.x, range), plan_.widths[s.x], s.weight.data(), s.bias.data(), s.epsilon,
                                rows(s.y, range));
          },
          [&](const RmsNorm& s) {
            kernels_.rms_norm(const_rows(s.x, range), plan_.widths[s.x], s.weight.data(), s.weight.size(), s.epsilon,
                              rows(s.y, range));
          },
          [&](const Activate& s) { kernels_.activate(s.function, rows(s.x, range), plan_.widths[s.x]); },
          [&](const Normalize& s) {
            const MutableRows x = rows(s.x, range);
            for (std::size_t r = 0; r < range.count; ++r)
              normalize(x.data + r * x.stride, plan_.widths[s.x]);
          },
          [&](const Choose& s) { choose(rows(s.x, range), plan_.widths[s.x], s.chosen); },
          [](const auto& /*see take_all()*/) {}},
      step.what);
}

void Computation::take_all(const Step& step, std::size_t member, std::size_t members, float* scratch) const {
  const Range all{0, group_.tokens};
  if (const auto* const attention = std::get_if<Attend>(&step.what)) {
    for (std::size_t i = member; i < group_.texts * attention->heads && !limits_.are_reached(); i += members)
      attend(*attention, group_.first_text + i / attention->heads, i % attention->heads, scratch);
  } else if (const auto* const near = std::get_if<Neighbours>(&step.what)) {
    for (std::size_t i = member; i < group_.texts; i += members)
      gather_neighbours(*near, group_.first_text + i);
  } else if (const auto* const convolution = std::get_if<Convolve>(&step.what)) {
    convolve(*convolution, plan_.widths[convolution->x], const_rows(convolution->x, all),
             batch_.positions.data() + group_.first_token, part_of(group_.tokens, member, members),
             rows(convolution->y, all));
  } else {
    const ExpertRun run{kernels_, plan_, limits_, member, members, scratch};
    const auto* const first = std::get_if<Widen>(&step.what);
    const ExpertMatrices& experts = first != nullptr ? first->experts : std::get<Narrow>(step.what).experts;
    const ExpertRows of{const_rows(experts.x, all), const_rows(experts.shares, all), rows(experts.y, all)};
    first != nullptr ? widen(run, *first, of) : narrow(run, std::get<Narrow>(step.what), of);
  }
}

void Computation::attend(const Attend& step, std::size_t text, std::size_t head, float* attention) const {
  const std::size_t first = batch_.first[text] - group_.first_token;
  const Range range{first, batch_.first[text + 1] - batch_.first[text]};
  const Rows query = const_rows(step.query, range);
  const Rows key = const_rows(step.key, range);
  const Rows value = const_rows(step.value, range);
  const MutableRows y = rows(step.y, range);
  const std::size_t width = plan_.widths[step.query] / step.heads;
  const std::size_t column = head * width;
  const std::size_t key_column = head * step.key_heads / step.heads * width;
  const DistanceTable* const distances = step.distances ? &plan_.distances[*step.distances] : nullptr;
  const HeadPlaces places = step.places ? plan_.places[*step.places].of_head(head) : HeadPlaces();
  plan_.product.attend({.query = query.data + column,
                        .key = key.data + key_column,
                        .value = value.data + key_column,
                        .out = y.data + column,
                        .query_stride = query.stride,
                        .key_stride = key.stride,
                        .value_stride = value.stride,
                        .out_stride = y.stride,
                        .tokens = range.count,
                        .keys = range.count - (plan_.may_be_unattended ? batch_.unattended[text] : 0),
                        .width = width,
                        .scale = step.scale,
                        .soft_cap = step.soft_cap,
                        .distance_bias = distances == nullptr ? nullptr : distances->of_head(head),
                        .farthest = distances == nullptr ? 0 : distances->farthest,
                        .places = step.places ? &places : nullptr,
                        .window = step.window,
                        .causal = step.causal,
                        .is_over = [](void* context) { return static_cast<Limits*>(context)->are_reached(); },
                        .context = &limits_},
                       attention);
}

void Computation::gather_neighbours(const Neighbours& step, std::size_t text) const {
  const Range range{batch_.first[text] - group_.first_token, batch_.first[text + 1] - batch_.first[text]};
  take_neighbours(step, const_rows(step.x, range), plan_.widths[step.x], rows(step.y, range));
}

void Computation::pool(std::size_t text) const {
  using enum graph::PoolingMode;
  const auto [mode, from, into] = *plan_.pooling;
  const Range range{batch_.first[text] - group_.first_token, batch_.first[text + 1] - batch_.first[text]};
  const Rows x = const_rows(from, range);
  const std::size_t width = plan_.widths[from];
  float* const to = rows(into, {text - group_.first_text, 1}).data;
  std::copy_n(x.data + (mode == kLastToken ? range.count - 1 : 0) * x.stride, width, to);
  const bool is_sum = mode == kMean || mode == kMeanSqrt || mode == kWeightedMean;
  for (std::size_t r = 1; r < range.count; ++r) {
    const float* const row = x.data + r * x.stride;
    if (is_sum) {
      const float weight = mode == kWeightedMean ? static_cast<float>(r + 1) : 1.0F;
      std::transform(to, to + width, row, to, [weight](float sum, float number) { return sum + weight * number; });
    } else if (mode == kMax) {
      // Keeps a NaN.
      std::transform(to, to + width, row, to, [](float a, float b) { return a >= b || std::isnan(a) ? a : b; });
    }
  }
  if (!is_sum) return;
  const auto count = static_cast<float>(range.count);
  const float divisor = mode == kMeanSqrt ? std::sqrt(count) : mode == kMean ? count : count * (count + 1) / 2;
  std::transform(to, to + width, to, [divisor](float sum) { return sum * (1.0F / divisor); });
}

// Like graph::Normalize. The sum is a double because squares may exceed f32's range.
void Computation::normalize(float* row, std::size_t width) {
  double squares = 0;
  for (std::size_t i = 0; i < width; ++i)
    squares += static_cast<double>(row[i]) * static_cast<double>(row[i]);
  const auto factor = static_cast<float>(1 / std::max(std::sqrt(squares), 1e-12));
  std::transform(row, row + width, row, [factor](float number) { return number * factor; });
}

void Computation::write_tokens(const Plan::Result& result, const Range& texts, float* out) const {
  const std::size_t first = group_.first_text + texts.first;
  for (std::size_t text = first; text < first + texts.count; ++text) {
    const Rows x =
        const_rows(result.slot, {batch_.first[text] - group_.first_token, batch_.first[text + 1] - batch_.first[text]});
    for (std::size_t r = 0; r < x.count; ++r) {
      const std::size_t place = text * batch_.padded + batch_.positions[batch_.first[text] + r];
      std::copy_n(x.data + r * x.stride, result.width, out + place * result.width);
    }
  }
}

void Computation::write_texts(const Plan::Result& result, const Range& texts, float* out) const {
  const Rows x = const_rows(result.slot, texts);
  for (std::size_t i = 0; i < texts.count; ++i)
    std::copy_n(x.data + i * x.stride, result.width, out + (group_.first_text + texts.first + i) * result.width);
}

void Computation::finish(const Range& texts) const {
  if (plan_.pooling) {
    for (std::size_t i = 0; i < texts.count; ++i)
      pool(group_.first_text + texts.first + i);
    for (const Step& step : plan_.text_steps)
      do_rows(step, texts);
  }
  for (std::size_t i = 0; i < plan_.results.size(); ++i) {
    const Plan::Result& result = plan_.results[i];
    result.by_text ? write_texts(result, texts, out_[i]) : write_tokens(result, texts, out_[i]);
  }
}

void Computation::compute_alone(float* scratch) const {
  for (std::size_t i = 0; i < plan_.steps.size();) {
    if (limits_.are_reached()) return;
    if (plan_.steps[i].takes_all()) {
      take_all(plan_.steps[i++], 0, 1, scratch);
      continue;
    }
    const auto begin = plan_.steps.begin() + static_cast<std::ptrdiff_t>(i);
    const auto end = std::find_if(begin, plan_.steps.end(), [](const Step& step) { return step.takes_all(); });
    // Blocks of heights as equal as possible.
    const std::size_t blocks = (group_.tokens + kBlockRows - 1) / kBlockRows;
    for (std::size_t block = 0; block < blocks; ++block) {
      if (limits_.are_reached()) return;
      const Range range = part_of(group_.tokens, block, blocks);
      std::for_each(begin, end, [&](const Step& step) { do_rows(step, range); });
    }
    i = static_cast<std::size_t>(end - plan_.steps.begin());
  }
  finish({0, group_.texts});
}

void Computation::compute_part(std::size_t member, std::size_t members, Barrier& barrier, float* scratch) const {
  // All members meet at every barrier, even after a limit was reached.
  for (std::size_t at = 0; at < plan_.steps.size(); ++at) {
    const Step& step = plan_.steps[at];
    if (step.waits) barrier.wait();
    if (limits_.are_reached()) continue;
    if (const auto* const multiplication = std::get_if<Multiply>(&step.what)) {
      const std::size_t panels = panel_count(plan_.matrices[multiplication->matrix].columns, kernels_);
      const Range mine = part_of(panels, member, members);
      const std::size_t blocks = (group_.tokens + 2 * kBlockRows - 1) / (2 * kBlockRows);
      // `next` is also correct when this product follows again, for the next block.
      const float* const next = first_panel_from(at + 1, member, members);
      for (std::size_t block = 0; mine.count > 0 && block < blocks && !limits_.are_reached(); ++block)
        multiply(*multiplication, part_of(group_.tokens, block, blocks), mine, next);
    } else if (step.takes_all()) {
      take_all(step, member, members, scratch);
    } else {
      do_rows(step, part_of(group_.tokens, member, members));
    }
  }
  barrier.wait();
  if (limits_.are_reached()) return;
  finish(part_of(group_.texts, member, members));
}

}  // namespace

Status compute(const Kernels& kernels, const Plan& plan, Batch& batch, Team::Crew& crew,
               const core::RunOptions& options, std::span<float* const> out) {
  if (batch.tokens() == 0) return {};
  const std::size_t members = crew.size();
  Limits limits(options);
  std::vector<Group> groups = groups_of(batch, members);
  const bool is_shared = should_share(batch, groups, members);

  std::size_t longest = 0;
  for (std::size_t text = 0; text < batch.texts(); ++text)
    longest = std::max(longest, batch.first[text + 1] - batch.first[text]);
  std::size_t scratch_size = 0;
  for (const Step& step : plan.steps)
    scratch_size = std::max(scratch_size, scratch_of(plan, step, longest));
  if (batch.scratch.size() < members) batch.scratch.resize(members);
  for (std::size_t member = 0; member < members; ++member)
    batch.scratch[member].reserve(scratch_size);

  if (is_shared) groups = {{0, batch.texts(), 0, batch.tokens()}};
  const std::size_t workspaces = is_shared ? 1 : members;
  if (batch.workspaces.size() < workspaces) batch.workspaces.resize(workspaces);
  const std::size_t tokens = std::ranges::max(groups, {}, &Group::tokens).tokens;
  for (std::size_t i = 0; i < workspaces; ++i)
    batch.workspaces[i].slots.reserve(Computation::size_of(plan, tokens, is_shared));

  const Run run{.kernels = kernels, .plan = plan, .batch = batch, .limits = limits, .out = out};
  if (is_shared) {
    const Computation computation(run, groups.front(), is_shared, batch.workspaces.front());
    Barrier barrier(members);
    crew.run(
        [&](std::size_t member) { computation.compute_part(member, members, barrier, batch.scratch[member].data()); });
    return limits.status();
  }
  std::atomic<std::size_t> next{0};
  crew.run([&](std::size_t member) {
    for (std::size_t i = next.fetch_add(1); i < groups.size() && !limits.are_reached(); i = next.fetch_add(1)) {
      Computation(run, groups[i], is_shared, batch.workspaces[member]).compute_alone(batch.scratch[member].data());
    }
  });
  return limits.status();
}

}  // namespace latebind::native
