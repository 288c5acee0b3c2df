#include "server/observe/counts.h"

#include <fmt/format.h>

#include <chrono>

namespace latebind::server {
namespace {

double seconds_of(std::chrono::steady_clock::duration time) {
  return std::max(0.0, std::chrono::duration<double>(time).count());
}

void add_times(StepTimes& times, const RequestRecord& record, std::uint64_t how_often) {
  times.whole.add(seconds_of(record.answered - record.arrived), how_often);
  times.tokenizing.add(seconds_of(record.tokenizing), how_often);
  times.waiting.add(seconds_of(record.waiting), how_often);
  times.computing.add(seconds_of(record.computing), how_often);
}

// A record only has the longest text and the sum, so the other texts count as equally long.
void add_lengths(Histogram& lengths, const RequestRecord& record) {
  if (record.texts == 0) return;
  const std::uint64_t longest = std::min(std::max(record.longest_tokens, record.tokens / record.texts), record.tokens);
  const std::uint64_t others = record.texts - 1;
  lengths.add(static_cast<double>(others == 0 ? record.tokens : longest));
  if (others > 0) lengths.add(static_cast<double>(record.tokens - longest) / static_cast<double>(others), others);
}

void add_embedding(Counts& counts, const RequestRecord& record) {
  const bool is_single = record.texts <= 1;
  ++(is_single ? counts.single_requests : counts.batch_requests);
  counts.embeds += record.texts;
  if (!is_answered(record)) return;
  ++(is_single ? counts.single_successes : counts.batch_successes);
  counts.embed_successes += record.texts;
  add_times(counts.request_times, record, 1);
  add_times(counts.embed_times, record, record.texts);
  add_lengths(counts.input_length, record);

  const std::uint64_t fallback_texts = record.fallback ? record.texts : 0;
  counts.totals.texts += record.texts;
  counts.totals.tokens += record.tokens;
  counts.totals.fallback_texts += fallback_texts;
  ModelCounts& model = one_of(counts.models, {record.model}, counts.room, kSeriesOfModel);
  model.texts += record.texts;
  model.tokens += record.tokens;
  model.fallback_texts += fallback_texts;
  model.truncated_texts += record.truncated_texts;
}

std::string_view or_none(std::string_view label) {
  return label.empty() ? "none" : label;
}

}  // namespace

void Counts::add(const RequestRecord& record) {
  ++totals.requests;
  // A request whose client has left counts as unanswered.
  if (record.client_gone) {
    ++clients_gone;
  } else if (record.status >= 500) {
    ++totals.failed;
  } else if (record.status >= 400) {
    ++totals.refused;
  }
  request_bytes += record.request_bytes;
  response_bytes += record.response_bytes;
  if (record.is_embedding) add_embedding(*this, record);
  const fmt::format_int status(record.status);
  ++one_of(requests, {or_none(record.protocol), or_none(record.route), std::string_view(status.data(), status.size())},
           room);
  if (!record.refusal.empty()) ++one_of(request_failures, {record.refusal}, room);
}

void Counts::add(std::string_view model, const BatchRecord& batch) {
  const std::uint64_t computed = batch.computed_tokens;
  const std::uint64_t padded = padded_tokens(batch);
  ++totals.batches;
  totals.batch_tokens += computed;
  totals.padded_tokens += padded;
  batch_texts.add(static_cast<double>(batch.texts));
  batch_tokens.add(static_cast<double>(computed));
  batch_time.add(seconds_of(batch.time));
  ModelCounts& of_model = one_of(models, {model}, room, kSeriesOfModel);
  ++of_model.batches;
  of_model.computed_tokens += computed;
  of_model.padded_tokens += padded;
}

}  // namespace latebind::server
