// Which texts are computed next, and together with which.
#include <algorithm>
#include <functional>
#include <utility>

#include "embedding/scheduler_parts.h"

namespace latebind::embedding {

namespace {

// Owners and texts of one owner that are looked at to form a batch: bounds for the time that it takes, under the lock.
constexpr std::size_t kOwnersMax = 256;
constexpr std::size_t kShareMax = 512;
constexpr std::size_t kShareMin = 64;
// With so many no more owners are looked at: more would save a little padding, and let those who came last pass those
// who came first.
constexpr std::size_t kPoolEnough = 192;
// An owner with at most so many budgets of a batch has them computed in one turn.
constexpr std::uint64_t kBudgetsOfTurn = 2;
// A token is shared by all who wait. 2^64 parts are 12,000 years of 10^9 tokens a day.
constexpr std::uint64_t kPartsOfToken = 4096;

}  // namespace

// The lesser one is next. Of turns that begin together that is the short one.
std::pair<Scheduler::FairTime, Scheduler::FairTime> Scheduler::turn_of(const Work& work) noexcept {
  return {work.owner->turn_begins_, work.owner->turn_ends_};
}

// What is next, of all or of what is waited for by threads that compute.
std::shared_ptr<Scheduler::Work> Scheduler::next_work(bool of_those_who_compute) const {
  std::shared_ptr<Work> next;
  for (const auto& work : waiting_) {
    if (of_those_who_compute && !work->waits_to_compute()) continue;
    if (next == nullptr || turn_of(*work) < turn_of(*next)) next = work;
  }
  return next;
}

// Its owner waits, or does so for more.
void Scheduler::join(const Work& work) noexcept {
  Owner& owner = *work.owner;
  const bool waits_already = owner.waiting_tokens_ > 0;
  owner.waiting_tokens_ += work.plan.tokens;
  owner.is_short_ = (owner.is_short_ || !waits_already) && owner.waiting_tokens_ <= kBudgetsOfTurn * batch_tokens_;
  if (waits_already) return;
  owner.turn_ends_ = std::max(owner.turn_ends_, now_);
  begin_turn(owner);
}

// An owner's turns follow each other.
void Scheduler::begin_turn(Owner& owner) const noexcept {
  owner.turn_tokens_ =
      owner.is_short_ ? owner.waiting_tokens_ : std::min<std::uint64_t>(owner.waiting_tokens_, batch_tokens_);
  owner.turn_taken_ = 0;
  owner.turn_begins_ = owner.turn_ends_;
  owner.turn_ends_ += owner.turn_tokens_ * kPartsOfToken;
}

std::uint64_t Scheduler::tokens_of(const Piece& piece) noexcept {
  std::uint64_t tokens = 0;
  for (const std::uint32_t row : piece.rows)
    tokens += piece.work->length_of(row);
  return tokens;
}

// The texts of a piece have begun.
void Scheduler::take(const Piece& piece) noexcept {
  Work& work = *piece.work;
  if (work.running == 0 && work.begun == work.submitted) work.begun = std::chrono::steady_clock::now();
  waiting_texts_ -= piece.rows.size();
  const std::uint64_t tokens = tokens_of(piece);
  waiting_tokens_ -= tokens;
  Owner& owner = *work.owner;
  owner.waiting_tokens_ -= tokens;
  owner.turn_taken_ += tokens;
  if (!owner.is_short_ || owner.turn_taken_ >= owner.turn_tokens_) {
    // It has cost what was taken, which is not always what was expected.
    owner.turn_ends_ = owner.turn_begins_ + owner.turn_taken_ * kPartsOfToken;
    if (owner.waiting_tokens_ > 0) begin_turn(owner);
  }
  if (work.alone) {
    ++work.next;
  } else {
    // Both have the same order.
    auto taken = piece.rows.begin();
    std::erase_if(work.remaining, [&](std::uint32_t row) {
      if (taken == piece.rows.end() || *taken != row) return false;
      ++taken;
      return true;
    });
  }
  ++work.running;
  if (!work.has_next()) std::erase(waiting_, piece.work);
}

std::shared_ptr<Scheduler::Run> Scheduler::form(const std::shared_ptr<Work>& seed) {
  auto run = std::make_shared<Run>();
  const auto nobody_waits = core::Cancellation::create();
  if (seed->limits.is_bounded()) {
    // Once all waiting callers have left, nothing waits for it.
    run->limits.cancellation = core::Cancellation::create();
    run->limits.deadline = seed->limits.deadline;
  }
  if (seed->alone) {
    const embedding::Batch& batch = seed->plan.batches[seed->next];
    const auto rows = std::span(seed->plan.order).subspan(batch.first, batch.count);
    run->pieces.push_back({seed, {rows.begin(), rows.end()}});
    run->width = batch.width;
  } else if (seed->shape.without_padding) {
    choose_in_order(seed, *run);
  } else {
    choose(seed, *run);
  }
  // From here on nothing needs memory.
  const std::size_t sharing = waiting_.size();
  std::uint64_t tokens = waiting_tokens_;
  for (const Piece& piece : run->pieces) {
    run->rows += piece.rows.size();
    take(piece);
    if (!piece.work->limits.is_bounded()) run->limits = {};
    if (!run->limits.deadline) continue;
    if (!piece.work->limits.deadline) {
      run->limits.deadline.reset();
    } else {
      run->limits.deadline = std::max(run->limits.deadline, piece.work->limits.deadline);
    }
  }
  // As far as is known now.
  const std::size_t next_tokens = seed->shape.next_tokens(waiting_tokens_, requests_);
  const std::size_t more = (waiting_tokens_ + next_tokens - 1) / next_tokens;
  run->limits.nobody_waits = nobody_waits;
  run->limits.side_by_side = std::min(requests_, running_.size() + 1 + more);
  tokens -= waiting_tokens_;
  run->tokens = tokens;
  ready_.keep(seed->shape.kept_shapes);
  ready_.use({run->rows, run->width});
  running_tokens_ += tokens;
  now_ += tokens * kPartsOfToken / sharing;
  return run;
}

// Where padding costs nothing, texts of any lengths: those of `seed` first, then of those whose turns would be next. So
// nobody is passed by those who came later. Throws as choose() does.
void Scheduler::choose_in_order(const std::shared_ptr<Work>& seed, Run& run) const {
  const std::size_t budget = seed->shape.next_tokens(waiting_tokens_, seed->more_follows ? 1 : requests_);
  std::size_t tokens = 0;
  std::size_t rows = 0;
  // The longest texts that there is room for. The first one of all always has it.
  const auto take_from = [&](const std::shared_ptr<Work>& work) {
    Piece piece{work};
    const auto length_of = [&](std::uint32_t row) { return work->length_of(row); };
    const auto end = work->remaining.end();
    for (auto row = work->remaining.begin(); row != end;) {
      const std::size_t width = std::max<std::size_t>(run.width, length_of(*row));
      std::size_t room = budget - std::min(budget, tokens);
      if ((rows + 1) * width > seed->shape.padded_max()) room = std::min(room, run.width);
      if (rows > 0 && length_of(*row) > room) {
        row = std::ranges::lower_bound(row, end, room, std::greater<>(), length_of);
        continue;
      }
      if (rows > 0 && (rows + 1) * width > seed->shape.padded_max()) break;
      tokens += length_of(*row);
      run.width = width;
      ++rows;
      piece.rows.push_back(*row++);
    }
    if (!piece.rows.empty()) run.pieces.push_back(std::move(piece));
  };
  take_from(seed);
  if (tokens >= budget) return;
  std::vector<const std::shared_ptr<Work>*> others;
  others.reserve(waiting_.size());
  for (const auto& work : waiting_) {
    if (work != seed && !work->alone && work->shape.without_padding) others.push_back(&work);
  }
  const auto is_later = [](const auto* one, const auto* other) { return turn_of(**other) < turn_of(**one); };
  std::ranges::make_heap(others, is_later);
  for (std::size_t i = 0; i < kOwnersMax && !others.empty() && tokens < budget; ++i) {
    std::ranges::pop_heap(others, is_later);
    take_from(*others.back());
    others.pop_back();
  }
}

// What may be computed together with the longest text of `seed`: of owners in the order in which they came, the texts
// that are about as long.
std::vector<Scheduler::Candidate> Scheduler::pool_for(const std::shared_ptr<Work>& seed) const {
  std::vector<const std::shared_ptr<Work>*> owners{&seed};
  for (const auto& work : waiting_) {
    if (owners.size() == kOwnersMax) break;
    if (work != seed && !work->alone && work->shape.static_rows == seed->shape.static_rows) owners.push_back(&work);
  }
  const std::uint32_t wanted = seed->length_of(seed->remaining.front());
  const std::size_t share = std::max(kShareMin, kShareMax / owners.size());
  std::vector<Candidate> pool;
  pool.reserve(std::min(kPoolEnough + share + share / 4, waiting_texts_));
  for (const auto* work : owners) {
    if (pool.size() >= kPoolEnough) break;
    const auto& rows = (*work)->remaining;
    const auto length_of = [work](std::uint32_t row) { return (*work)->length_of(row); };
    const auto at =
        static_cast<std::size_t>(std::ranges::lower_bound(rows, wanted, std::greater<>(), length_of) - rows.begin());
    // More of the shorter ones: the longer ones make the batch wider.
    const std::size_t first = at - std::min(at, share / 4);
    const std::size_t end = std::min(rows.size(), first + share);
    for (std::size_t i = first; i < end; ++i)
      pool.push_back({work, rows[i], length_of(rows[i])});
  }
  // Equal ones stay in the order of their owners, the seed first.
  std::ranges::stable_sort(pool, std::greater<>(), &Candidate::length);
  return pool;
}

// The batch with the longest text of `seed` in it, of the best division of what waits. Throws for want of memory, and
// has then changed nothing but `run`.
void Scheduler::choose(const std::shared_ptr<Work>& seed, Run& run) const {
  const std::vector<Candidate> pool = pool_for(seed);
  const std::uint32_t first_row = seed->remaining.front();
  const auto at = static_cast<std::size_t>(
      std::ranges::find_if(
          pool, [&](const Candidate& each) { return each.work->get() == seed.get() && each.row == first_row; }) -
      pool.begin());
  std::size_t first = at;
  std::size_t end = at + 1;
  if (seed->shape.static_rows > 0) {
    run.width = static_width(pool[at].length, seed->static_lengths);
    const auto fits = [&](std::size_t i) {
      return end - first < seed->shape.static_rows && static_width(pool[i].length, seed->static_lengths) == run.width;
    };
    while (end < pool.size() && fits(end))
      ++end;
    while (first > 0 && fits(first - 1))
      --first;
  } else {
    std::vector<std::uint32_t> lengths(pool.size());
    std::ranges::transform(pool, lengths.begin(), &Candidate::length);
    std::uint64_t tokens = 0;
    for (const std::uint32_t length : lengths)
      tokens += length;
    for (const embedding::Batch& batch :
         divide(lengths, seed->shape,
                {.workers = seed->more_follows ? 1 : requests_, .later_tokens = waiting_tokens_ - tokens},
                // A text that is alone is computed at its own length, which may come again.
                pool.size() > 1 ? ready_ : ReadyShapes())) {
      if (at >= batch.first + batch.count) continue;
      first = batch.first;
      end = batch.first + batch.count;
      run.width = batch.width;
      break;
    }
  }
  // The seed's piece comes first.
  run.pieces.push_back({seed});
  for (std::size_t i = first; i < end; ++i) {
    auto piece = std::ranges::find(run.pieces, *pool[i].work, &Piece::work);
    if (piece == run.pieces.end()) piece = run.pieces.insert(run.pieces.end(), {*pool[i].work});
    piece->rows.push_back(pool[i].row);
  }
}

}  // namespace latebind::embedding
