// Chooses the next batch: whose turn it is, and which texts are computed together.
//
// Start-time fair queuing: each owner has a turn with a begin and an end in virtual time (FairTime). A turn begins at
// the end of the owner's last turn, or at now_ if that is later and the owner did not wait, and lasts as long as its
// tokens. The owner whose turn begins first is next. now_ advances by the tokens of a run divided by the number of
// waiting submissions. Thus an owner that stays away saves up no time, and an owner with many texts falls back by what
// it received.
#include <algorithm>
#include <functional>
#include <utility>

#include "embedding/schedule/scheduler_parts.h"

namespace latebind::embedding {

namespace {

// The most owners, and the most texts of one owner, that are considered for a batch. They bound the time under the
// lock.
constexpr std::size_t kOwnersMax = 256;
constexpr std::size_t kShareMax = 512;
constexpr std::size_t kShareMin = 64;
// With this many texts no further owners are considered: more would save a little padding, but let late owners pass
// early ones.
constexpr std::size_t kPoolEnough = 192;
// An owner with at most this many budgets of a batch has them computed in one turn.
constexpr std::uint64_t kBudgetsOfTurn = 2;
// A token of service is shared by all waiting submissions, so virtual time counts parts of a token. 2^64 parts are
// 12,000 years of 10^9 tokens a day.
constexpr std::uint64_t kPartsOfToken = 4096;

}  // namespace

// The smallest pair is next: of turns that begin together, the shorter one.
std::pair<Scheduler::FairTime, Scheduler::FairTime> Scheduler::turn_of(const Work& work) noexcept {
  return {work.owner->turn_begins_, work.owner->turn_ends_};
}

// Returns the work whose turn is next, of all or of the work for which a computing thread waits.
std::shared_ptr<Scheduler::Work> Scheduler::next_work(bool of_those_who_compute) const {
  std::shared_ptr<Work> next;
  for (const auto& work : waiting_) {
    if (of_those_who_compute && !work->waits_to_compute()) continue;
    if (next == nullptr || turn_of(*work) < turn_of(*next)) next = work;
  }
  return next;
}

// Adds the work's tokens to its owner, and begins a turn if the owner did not wait already.
void Scheduler::join(const Work& work) noexcept {
  Owner& owner = *work.owner;
  const bool waits_already = owner.waiting_tokens_ > 0;
  owner.waiting_tokens_ += work.plan.tokens;
  owner.is_short_ = (owner.is_short_ || !waits_already) && owner.waiting_tokens_ <= kBudgetsOfTurn * batch_tokens_;
  if (waits_already) return;
  owner.turn_ends_ = std::max(owner.turn_ends_, now_);
  begin_turn(owner);
}

// Begins the owner's next turn, at the end of the last one.
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

// Removes the texts of a piece from the queue, because they begin.
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
    // The turn cost what was taken, which may differ from what was expected.
    owner.turn_ends_ = owner.turn_begins_ + owner.turn_taken_ * kPartsOfToken;
    if (owner.waiting_tokens_ > 0) begin_turn(owner);
  }
  if (work.alone) {
    ++work.next;
  } else {
    // Both lists have the same order.
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
    // The run ends once all callers that wait for it have left.
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
  // No code below allocates memory.
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
  // An estimate, as of now.
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

// Fills a batch without regard to lengths, because padding costs no time: with texts of `seed` first, then with texts
// of the owners whose turns are next, so that late owners do not pass early ones. Throws std::bad_alloc like choose().
void Scheduler::choose_in_order(const std::shared_ptr<Work>& seed, Run& run) const {
  const std::size_t budget = seed->shape.next_tokens(waiting_tokens_, seed->more_follows ? 1 : requests_);
  std::size_t tokens = 0;
  std::size_t rows = 0;
  // Takes the longest texts that fit. The first text of the batch always fits.
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

// Returns the texts that may share a batch with the longest text of `seed`: the texts of similar length, from owners in
// the order of arrival.
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
    // Takes more of the shorter ones, because longer ones make the batch wider.
    const std::size_t first = at - std::min(at, share / 4);
    const std::size_t end = std::min(rows.size(), first + share);
    for (std::size_t i = first; i < end; ++i)
      pool.push_back({work, rows[i], length_of(rows[i])});
  }
  // The sort is stable: texts of equal length stay in the order of their owners, the seed first.
  std::ranges::stable_sort(pool, std::greater<>(), &Candidate::length);
  return pool;
}

// Divides the pool as cheaply as possible, and takes the batch with the longest text of `seed`. Throws std::bad_alloc,
// and then has changed only `run`.
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
                // A single text is computed at its exact length, which may recur.
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
