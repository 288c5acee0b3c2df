#include <cstdint>
#include <string>
#include <string_view>

#include "server/observe/counts.h"

namespace latebind::server {
namespace {

void render_times(PrometheusText& text, const std::string& prefix, const std::string& of_what, const StepTimes& times) {
  text.histogram(prefix + "_duration", "Seconds from the first byte until the answer was complete, of " + of_what,
                 times.whole);
  text.histogram(prefix + "_tokenization_duration", "Seconds of tokenizing, of " + of_what, times.tokenizing);
  text.histogram(prefix + "_queue_duration", "Seconds of waiting for a device, of " + of_what, times.waiting);
  text.histogram(prefix + "_inference_duration", "Seconds of computing, of " + of_what, times.computing);
}

void render_requests(PrometheusText& text, const Counts& counts) {
  text.family("te_request_count", "counter", "Requests for vectors, of one text or of several");
  text.sample(counts.single_requests, {{"method", "single"}});
  text.sample(counts.batch_requests, {{"method", "batch"}});
  text.family("te_request_success", "counter", "Requests for vectors that were answered");
  text.sample(counts.single_successes, {{"method", "single"}});
  text.sample(counts.batch_successes, {{"method", "batch"}});
  text.family("te_request_failure", "counter", "Requests that were refused, by reason");
  for (const auto& [labels, value] : counts.request_failures)
    text.sample(value, {{"err", labels[0]}});
  render_times(text, "te_request", "answered requests for vectors", counts.request_times);
  text.histogram("te_request_input_length",
                 "Tokens of a text; of a request with several, the longest one and the mean of the others",
                 counts.input_length);
  text.counter("te_embed_count", "Texts of requests for vectors", counts.embeds);
  text.counter("te_embed_success", "Texts that were answered with a vector", counts.embed_successes);
  render_times(text, "te_embed", "answered requests for vectors, once for each of their texts", counts.embed_times);

  text.family("latebind_requests_total", "counter", "Requests, by protocol, route and status");
  for (const auto& [labels, value] : counts.requests) {
    text.sample(value, {{"protocol", labels[0]}, {"route", labels[1]}, {"status", labels[2]}});
  }
  text.counter("latebind_clients_gone_total", "Requests whose client left before they were answered",
               counts.clients_gone);
  text.counter("latebind_request_bytes_total", "Bytes of requests' bodies", counts.request_bytes);
  text.counter("latebind_response_bytes_total", "Bytes of answers' bodies", counts.response_bytes);
}

void render_batches(PrometheusText& text, const Counts& counts, double padding_ratio) {
  text.histogram("te_batch_next_size", "Texts of a batch", counts.batch_texts);
  text.histogram("te_batch_next_tokens", "Tokens of a batch, padding included", counts.batch_tokens);
  text.histogram("latebind_batch_duration_seconds", "Seconds that a batch was computed", counts.batch_time);
  text.gauge("latebind_padding_ratio", "Fraction of the tokens computed in the last minute that was padding",
             padding_ratio);
}

void render_models(PrometheusText& text, const Counts& counts) {
  const auto family = [&](std::string_view name, std::string_view help, std::uint64_t ModelCounts::*member) {
    text.family(name, "counter", help);
    for (const auto& [labels, model] : counts.models)
      text.sample(model.*member, {{"model", labels[0]}});
  };
  family("latebind_texts_total", "Texts that were answered with a vector", &ModelCounts::texts);
  family("latebind_tokens_total", "Tokens of these texts", &ModelCounts::tokens);
  family("latebind_fallback_texts_total", "Texts that a fallback device answered", &ModelCounts::fallback_texts);
  family("latebind_truncated_texts_total", "Texts that were cut to the model's limit", &ModelCounts::truncated_texts);
  family("latebind_batches_total", "Batches that were computed", &ModelCounts::batches);
  family("latebind_batch_tokens_total", "Tokens that were computed, padding included", &ModelCounts::computed_tokens);
  family("latebind_padded_tokens_total", "Padding tokens that were computed", &ModelCounts::padded_tokens);
}

void render_gauges(PrometheusText& text, const ServerGauges& gauges) {
  std::uint64_t waiting_texts = 0;
  for (const ModelGauges& model : gauges.models)
    waiting_texts += model.waiting_texts;
  text.gauge("te_queue_size", "Texts that wait for a device", waiting_texts);

  const auto family = [&](std::string_view name, std::string_view help, auto value_of) {
    text.family(name, "gauge", help);
    for (const ModelGauges& model : gauges.models)
      text.sample(value_of(model), {{"model", model.model}});
  };
  const auto flag = [](bool is_so) { return std::uint64_t{is_so ? 1U : 0U}; };
  text.family("latebind_device_info", "gauge",
              "Always 1; the labels name the device that answers now and its precision");
  for (const ModelGauges& model : gauges.models) {
    text.sample(std::uint64_t{1}, {{"model", model.model}, {"device", model.device}, {"precision", model.precision}});
  }
  family("latebind_fallback", "1 while a fallback device answers",
         [&](const ModelGauges& m) { return flag(m.fallback); });
  family("latebind_breaker_open", "1 while a preferred device rests after failures",
         [&](const ModelGauges& m) { return flag(m.breaker_open); });
  family("latebind_queue_texts", "Texts that wait for a device", [](const ModelGauges& m) { return m.waiting_texts; });
  family("latebind_queue_tokens", "Tokens that wait for a device",
         [](const ModelGauges& m) { return m.waiting_tokens; });
  family("latebind_queue_runs", "Runs that wait for a device, of a model that takes tensors",
         [](const ModelGauges& m) { return m.waiting_runs; });
  family("latebind_running_batches", "Batches, or runs of tensors, that are being computed",
         [](const ModelGauges& m) { return m.running_batches; });
  family("latebind_running_tokens", "Tokens of the texts that are being computed",
         [](const ModelGauges& m) { return m.running_tokens; });
  family("latebind_load_seconds", "Seconds that loading took, compiling or importing included",
         [](const ModelGauges& m) { return m.load_seconds; });
  family("latebind_load_from_cache", "1 when the compiled model came from the cache",
         [&](const ModelGauges& m) { return flag(m.from_cache); });

  text.gauge("latebind_connections", "Open connections", gauges.connections);
  text.gauge("latebind_held_bytes", "Bytes of bodies and answers that the server holds", gauges.held_bytes);
  text.gauge("latebind_held_bytes_limit", "Largest number of bytes of bodies and answers, set by --max-held",
             gauges.held_bytes_max);
  text.gauge("latebind_requests_in_flight", "Requests in flight", gauges.requests_in_flight);
  text.gauge("latebind_resident_memory_bytes", "Resident memory of the process", gauges.resident_bytes);
  text.gauge("latebind_uptime_seconds", "Seconds since the server started", gauges.uptime_seconds);
  text.gauge("latebind_ready", "1 while the server answers requests", flag(gauges.ready));
  text.family("latebind_build_info", "gauge", "Always 1; the label is the version");
  text.sample(std::uint64_t{1}, {{"version", gauges.version}});
}

}  // namespace

std::string metrics_text(const Counts& counts, double padding_ratio, const ServerGauges& gauges) {
  PrometheusText text;
  render_requests(text, counts);
  render_batches(text, counts, padding_ratio);
  render_models(text, counts);
  render_gauges(text, gauges);
  return text.take();
}

}  // namespace latebind::server
