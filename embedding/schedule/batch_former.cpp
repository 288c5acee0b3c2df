#include "embedding/schedule/batch_former.h"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

namespace latebind::embedding {
namespace {

// The most owners, and the most texts of one owner, that are considered for a batch. They bound the time under the
// caller's lock.
constexpr std::size_t kOwnersMax = 256;
constexpr std::size_t kShareMax = 512;
constexpr std::size_t kShareMin = 64;
// With this many texts no further owners are considered: more would save a little padding, but let late owners pass
// early ones.
constexpr std::size_t kPoolEnough = 192;

}  // namespace

FormedBatch BatchFormer::form(FairQueue& queue, const FairQueue::Entry& seed, std::size_t running) {
  FormedBatch batch;
  if (seed->alone) {
    const auto rows = seed->rows_of_next_batch();
    batch.width = seed->plan.batches[seed->next_batch].width;
    batch.pieces.push_back({seed, {rows.begin(), rows.end()}});
  } else if (seed->shape.without_padding) {
    choose_in_order(queue, seed, batch);
  } else {
    choose(queue, seed, batch);
  }
  // No code below allocates memory.
  for (const BatchPiece& piece : batch.pieces)
    batch.rows += piece.rows.size();
  batch.tokens = queue.begin(batch.pieces);
  const std::size_t next_tokens = seed->shape.next_tokens(queue.tokens(), workers_);
  const std::size_t more = (queue.tokens() + next_tokens - 1) / next_tokens;
  batch.side_by_side = std::min(workers_, running + 1 + more);
  ready_.keep(seed->shape.kept_shapes);
  ready_.use({batch.rows, batch.width});
  return batch;
}

// Fills a batch without regard to lengths, because padding costs no time: with texts of `seed` first, then with texts
// of the owners whose turns are next, so that late owners do not pass early ones. Throws std::bad_alloc like choose().
void BatchFormer::choose_in_order(const FairQueue& queue, const FairQueue::Entry& seed, FormedBatch& batch) const {
  const std::size_t budget = seed->shape.next_tokens(queue.tokens(), seed->more_follows ? 1 : workers_);
  std::size_t tokens = 0;
  std::size_t rows = 0;
  // Takes the longest texts that fit. The first text of the batch always fits.
  const auto take_from = [&](const FairQueue::Entry& work) {
    BatchPiece piece{work};
    const auto length_of = [&](std::uint32_t row) { return work->length_of(row); };
    const auto end = work->remaining.end();
    for (auto row = work->remaining.begin(); row != end;) {
      const std::size_t width = std::max<std::size_t>(batch.width, length_of(*row));
      std::size_t room = budget - std::min(budget, tokens);
      if ((rows + 1) * width > seed->shape.padded_max()) room = std::min(room, batch.width);
      if (rows > 0 && length_of(*row) > room) {
        row = std::ranges::lower_bound(row, end, room, std::greater<>(), length_of);
        continue;
      }
      if (rows > 0 && (rows + 1) * width > seed->shape.padded_max()) break;
      tokens += length_of(*row);
      batch.width = width;
      ++rows;
      piece.rows.push_back(*row++);
    }
    if (!piece.rows.empty()) batch.pieces.push_back(std::move(piece));
  };
  take_from(seed);
  if (tokens >= budget) return;
  std::vector<const FairQueue::Entry*> others;
  others.reserve(queue.entries().size());
  for (const auto& work : queue.entries()) {
    if (work != seed && !work->alone && work->shape.without_padding) others.push_back(&work);
  }
  const auto is_later = [](const auto* one, const auto* other) {
    return FairQueue::turn_of(**other) < FairQueue::turn_of(**one);
  };
  std::ranges::make_heap(others, is_later);
  for (std::size_t i = 0; i < kOwnersMax && !others.empty() && tokens < budget; ++i) {
    std::ranges::pop_heap(others, is_later);
    take_from(*others.back());
    others.pop_back();
  }
}

// Returns the texts that may share a batch with the longest text of `seed`: the texts of similar length, from owners in
// the order of arrival.
std::vector<BatchFormer::Candidate> BatchFormer::pool_for(const FairQueue& queue, const FairQueue::Entry& seed) {
  std::vector<const FairQueue::Entry*> owners{&seed};
  for (const auto& work : queue.entries()) {
    if (owners.size() == kOwnersMax) break;
    if (work != seed && !work->alone && work->shape.static_rows == seed->shape.static_rows) owners.push_back(&work);
  }
  const std::uint32_t wanted = seed->length_of(seed->remaining.front());
  const std::size_t share = std::max(kShareMin, kShareMax / owners.size());
  std::vector<Candidate> pool;
  pool.reserve(std::min(kPoolEnough + share + share / 4, queue.texts()));
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
// and then has changed only `batch`.
void BatchFormer::choose(const FairQueue& queue, const FairQueue::Entry& seed, FormedBatch& batch) const {
  const std::vector<Candidate> pool = pool_for(queue, seed);
  const std::uint32_t first_row = seed->remaining.front();
  const auto at = static_cast<std::size_t>(
      std::ranges::find_if(
          pool, [&](const Candidate& each) { return each.texts->get() == seed.get() && each.row == first_row; }) -
      pool.begin());
  std::size_t first = at;
  std::size_t end = at + 1;
  if (seed->shape.static_rows > 0) {
    batch.width = static_width(pool[at].length, seed->static_lengths);
    const auto fits = [&](std::size_t i) {
      return end - first < seed->shape.static_rows && static_width(pool[i].length, seed->static_lengths) == batch.width;
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
    for (const Batch& part :
         divide(lengths, seed->shape,
                {.workers = seed->more_follows ? 1 : workers_, .later_tokens = queue.tokens() - tokens},
                // A single text is computed at its exact length, which may recur.
                pool.size() > 1 ? ready_ : ReadyShapes())) {
      if (at >= part.first + part.count) continue;
      first = part.first;
      end = part.first + part.count;
      batch.width = part.width;
      break;
    }
  }
  // The seed's piece comes first.
  batch.pieces.push_back({seed});
  for (std::size_t i = first; i < end; ++i) {
    auto piece = std::ranges::find(batch.pieces, *pool[i].texts, &BatchPiece::texts);
    if (piece == batch.pieces.end()) piece = batch.pieces.insert(batch.pieces.end(), {*pool[i].texts});
    piece->rows.push_back(pool[i].row);
  }
}

}  // namespace latebind::embedding
