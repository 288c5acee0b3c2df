// Results of the C interface.
#include "api/c_results.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>

#include "api/c_support.h"
#include "core/text/nearest_word.h"
#include "core/text/quote.h"
#include "embedding/outputs/score.h"

namespace core = latebind::core;
namespace api = latebind::api;
namespace embedding = latebind::embedding;

namespace {

// The function that reads each form, by LB_FORM_….
constexpr std::array<std::string_view, 4> kReaders{"lb_results_dense", "lb_results_sparse", "lb_results_ragged",
                                                   "lb_results_scores"};

// Finds the results of an output, which must have this form.
core::Result<const lb_results::Part*> find(const lb_results* results, const char* output, const void* rows,
                                           std::int32_t form) {
  const std::string_view function = kReaders[static_cast<std::size_t>(form)];
  if (results == nullptr || rows == nullptr) return api::misuse(fmt::format("{}: NULL was given", function));
  const auto found =
      output == nullptr ? results->parts.begin() : std::ranges::find(results->parts, output, &lb_results::Part::name);
  if (found == results->parts.end()) {
    const auto names = core::words_of(results->parts, [](const lb_results::Part& part) { return part.name; });
    return api::misuse(fmt::format("{}: the call did not request the output {}; it requested: {}", function,
                                   core::quoted(output), fmt::join(names, ", ")));
  }
  if (found->form == form) return &*found;
  return api::misuse(fmt::format("{}: the results of '{}' have another form; {} reads them", function, found->name,
                                 kReaders[static_cast<std::size_t>(found->form)]));
}

lb_code read_rows(const lb_results* results, const char* output, std::int32_t form, lb_dense_rows* rows) {
  return api::guarded([&]() -> core::Status {
    LB_ASSIGN_OR_RETURN(const lb_results::Part* const part, find(results, output, rows, form));
    *rows = {results->count, part->dimension, part->numbers};
    return {};
  });
}

}  // namespace

namespace latebind::api {

std::int32_t form_of(const embedding::Output& output) {
  switch (output.kind().form) {
    case embedding::ResultForm::kSparseRow:
      return LB_FORM_SPARSE;
    case embedding::ResultForm::kRaggedRows:
      return LB_FORM_RAGGED;
    case embedding::ResultForm::kRow:
      break;
  }
  return embedding::as<embedding::ScoreOutput>(output) != nullptr ? LB_FORM_SCORES : LB_FORM_DENSE;
}

void set_sparse(lb_results::Part& part, std::span<const embedding::SparseVector> vectors) {
  std::size_t entries = 0;
  for (const embedding::SparseVector& vector : vectors)
    entries += vector.indices.size();
  part.own_begins.reserve(vectors.size() + 1);
  part.own_indices.reserve(entries);
  part.own_values.reserve(entries);
  for (const embedding::SparseVector& vector : vectors) {
    part.own_begins.push_back(part.own_indices.size());
    part.own_indices.insert(part.own_indices.end(), vector.indices.begin(), vector.indices.end());
    part.own_values.insert(part.own_values.end(), vector.values.begin(), vector.values.end());
  }
  part.own_begins.push_back(part.own_indices.size());
  part.begins = part.own_begins.data();
  part.indices = part.own_indices.data();
  part.numbers = part.own_values.data();
}

void set_begins(lb_results::Part& part, std::span<const std::uint32_t> vector_counts) {
  part.own_begins.reserve(vector_counts.size() + 1);
  part.own_begins.push_back(0);
  for (const std::uint32_t count : vector_counts)
    part.own_begins.push_back(part.own_begins.back() + count);
  part.begins = part.own_begins.data();
}

}  // namespace latebind::api

void lb_results_destroy(lb_results* results) {
  delete results;
}

size_t lb_results_count(const lb_results* results) {
  return results != nullptr ? results->count : 0;
}

lb_code lb_results_token_counts(const lb_results* results, const uint32_t** counts) {
  return api::guarded([&]() -> core::Status {
    if (results == nullptr || counts == nullptr) return api::misuse("lb_results_token_counts: NULL was given");
    *counts = results->token_counts.data();
    return {};
  });
}

lb_code lb_results_dense(const lb_results* results, const char* output, lb_dense_rows* rows) {
  return read_rows(results, output, LB_FORM_DENSE, rows);
}

lb_code lb_results_scores(const lb_results* results, const char* output, lb_dense_rows* rows) {
  return read_rows(results, output, LB_FORM_SCORES, rows);
}

lb_code lb_results_sparse(const lb_results* results, const char* output, lb_sparse_rows* rows) {
  return api::guarded([&]() -> core::Status {
    LB_ASSIGN_OR_RETURN(const lb_results::Part* const part, find(results, output, rows, LB_FORM_SPARSE));
    *rows = {results->count, part->begins, part->indices, part->numbers};
    return {};
  });
}

lb_code lb_results_ragged(const lb_results* results, const char* output, lb_ragged_rows* rows) {
  return api::guarded([&]() -> core::Status {
    LB_ASSIGN_OR_RETURN(const lb_results::Part* const part, find(results, output, rows, LB_FORM_RAGGED));
    *rows = {results->count, part->dimension, part->begins, part->numbers};
    return {};
  });
}
