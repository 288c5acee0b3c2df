// The encoder of the C interface.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/c_encode.h"
#include "api/c_objects.h"
#include "api/c_support.h"
#include "core/platform/files/folders.h"
#include "core/text/nearest_word.h"
#include "core/text/quote.h"
#include "core/threads/background_work.h"
#include "embedding/hub/content_check.h"
#include "embedding/outputs/multi_vector.h"
#include "embedding/outputs/score.h"
#include "embedding/outputs/sparse.h"

namespace core = latebind::core;
namespace api = latebind::api;
namespace embedding = latebind::embedding;

namespace {

constexpr std::string_view kOpenEncoder = "lb_encoder_open";
constexpr std::string_view kCompare = "lb_encoder_compare";

core::Result<std::string> read_output_name(const char* name) {
  if (name == nullptr) return api::misuse(fmt::format("{}: the name of an output is NULL", kOpenEncoder));
  const auto known =
      core::words_of(embedding::output_kinds(), [](const embedding::OutputKind* kind) { return kind->name; });
  if (std::ranges::find(known, std::string_view(name)) != known.end()) return std::string(name);
  const std::string_view nearest = core::nearest_word(name, known);
  return api::misuse(fmt::format("there is no output {}{}; the outputs are: {}", core::quoted(name),
                                 nearest.empty() ? "" : fmt::format(" (did you mean {}?)", nearest),
                                 fmt::join(known, ", ")));
}

core::Status read_encoder_options(const lb_encoder_options* given, embedding::EmbedderOptions& options) {
  LB_ASSIGN_OR_RETURN(const lb_encoder_options read, api::read_struct(given, "lb_encoder_options"));
  LB_RETURN_IF_ERROR(api::check_reserved(read.reserved_, "lb_encoder_options", "call", 0));
  LB_ASSIGN_OR_RETURN(options.role, api::read_role(read.role, "lb_encoder_options.role"));
  if (read.outputs == nullptr && read.output_count > 0) {
    return api::misuse("lb_encoder_options: output_count is set and outputs is NULL");
  }
  for (std::size_t i = 0; i < read.output_count; ++i) {
    LB_ASSIGN_OR_RETURN(std::string name, read_output_name(read.outputs[i]));
    if (std::ranges::find(options.outputs, name) != options.outputs.end()) {
      return api::misuse(fmt::format("{}: the output '{}' was given twice", kOpenEncoder, name));
    }
    options.outputs.push_back(std::move(name));
  }
  return {};
}

// A router's routes are checked by themselves: a table has one output whatever was requested.
core::Status check_outputs(const embedding::Encoder& encoder, std::span<const std::string> wanted) {
  for (const std::string& name : wanted) {
    const auto outputs = encoder.outputs();
    if (std::ranges::any_of(outputs, [&](const auto& bound) { return bound.output->kind().name == name; })) continue;
    return {core::StatusCode::kUnsupported, fmt::format("{} has no output '{}'; its output is: {}", encoder.name(),
                                                        name, outputs.front().output->kind().name)};
  }
  return {};
}

core::Result<std::unique_ptr<embedding::Embedder>> open(const lb_runtime& runtime, const char* model_folder,
                                                        const lb_options* settings, const lb_encoder_options* options,
                                                        const api::Call& call) {
  LB_RETURN_IF_ERROR(api::check_made_here(runtime.shared->made, "runtime"));
  LB_ASSIGN_OR_RETURN(auto request, api::load_request(runtime, settings, call));
  embedding::EmbedderOptions typed;
  typed.load = std::move(request.load);
  typed.batch_tokens = request.batch_tokens;
  typed.max_tokens = request.max_tokens;
  typed.onnx_file = std::move(request.onnx_file);
  LB_RETURN_IF_ERROR(read_encoder_options(options, typed));
  const auto folder = latebind::platform::path_from_utf8(model_folder);
  auto model = embedding::Embedder::open(runtime.shared->engine, folder, request.placement, typed);
  if (!model.ok()) return embedding::hub::with_damage(model.status(), folder);
  LB_RETURN_IF_ERROR(check_outputs((*model)->documents(), typed.outputs));
  if (const embedding::Encoder* const queries = (*model)->encoders().queries()) {
    LB_RETURN_IF_ERROR(check_outputs(*queries, typed.outputs));
  }
  return model;
}

template <class T>
const T* output_of(const lb_encoder& encoder) {
  for (const embedding::BoundOutput& bound : encoder.model->documents().outputs()) {
    if (const T* const found = embedding::as<T>(*bound.output)) return found;
  }
  return nullptr;
}

// The caller's vectors, grouped by text.
class RaggedView {
 public:
  // `what` is "queries" or "documents", for messages.
  static core::Result<RaggedView> read(const lb_ragged_rows& given, std::size_t dimension, std::string_view what) {
    if (given.count == 0) return RaggedView(given);
    if (given.begins == nullptr) return api::misuse(fmt::format("{}: the offsets of {} are NULL", kCompare, what));
    if (given.dimension != dimension) {
      return api::misuse(fmt::format("{}: the vectors of {} have {} numbers, but the model's have {}", kCompare, what,
                                     given.dimension, dimension));
    }
    if (given.count > api::kTextsMax) {
      return api::misuse(
          fmt::format("{}: {} {}; at most {} are allowed in one call", kCompare, given.count, what, api::kTextsMax));
    }
    if (given.begins[0] != 0)
      return api::misuse(fmt::format("{}: the offsets of {} do not begin with 0", kCompare, what));
    for (std::size_t i = 0; i < given.count; ++i) {
      if (given.begins[i] <= given.begins[i + 1]) continue;
      return api::misuse(fmt::format("{}: the offsets of {} decrease after {}", kCompare, what, i));
    }
    const std::size_t vectors = given.begins[given.count];
    constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max() / sizeof(float);
    if (vectors > kMost / dimension) return api::misuse(fmt::format("{}: {} have too many vectors", kCompare, what));
    if (vectors > 0 && given.vectors == nullptr) {
      return api::misuse(fmt::format("{}: the vectors of {} are NULL", kCompare, what));
    }
    return RaggedView(given);
  }
  [[nodiscard]] std::span<const float> operator[](std::size_t text) const {
    const std::size_t begin = rows_.begins[text] * rows_.dimension;
    return {rows_.vectors + begin, rows_.begins[text + 1] * rows_.dimension - begin};
  }

 private:
  explicit RaggedView(const lb_ragged_rows& rows) : rows_(rows) {}
  lb_ragged_rows rows_;
};

// The output that compares vectors, and their dimension.
core::Result<std::pair<const embedding::MultiVectorOutput*, std::size_t>> comparing_output(const lb_encoder& encoder) {
  for (const embedding::BoundOutput& bound : encoder.model->documents().outputs()) {
    const auto* const found = embedding::as<embedding::MultiVectorOutput>(*bound.output);
    if (found != nullptr) return std::pair{found, bound.dimension()};
  }
  return core::Status(core::StatusCode::kUnsupported,
                      fmt::format("{}: {} was opened without the output 'multi_vector', which compares texts", kCompare,
                                  encoder.model->name()));
}

lb_text text_of(std::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

lb_code lb_encoder_open(const lb_runtime* runtime, const char* model_folder, const lb_options* settings,
                        const lb_encoder_options* options, const lb_call_options* call, lb_encoder** encoder) {
  return api::guarded_work([&]() -> core::Status {
    if (runtime == nullptr || model_folder == nullptr || encoder == nullptr) {
      return api::misuse(fmt::format("{}: NULL was given", kOpenEncoder));
    }
    *encoder = nullptr;
    LB_ASSIGN_OR_RETURN(const api::Call of_call, api::read_call(call));
    auto made = std::make_unique<lb_encoder>();
    made->runtime = runtime->shared;
    LB_ASSIGN_OR_RETURN(made->model, open(*runtime, model_folder, settings, options, of_call));
    if (of_call.answered_by != nullptr) {
      LB_RETURN_IF_ERROR(api::give_attestation(made->model->attestation(), of_call.answered_by));
    }
    *encoder = made.release();
    return {};
  });
}

void lb_encoder_destroy(lb_encoder* encoder) {
  if (encoder != nullptr) api::destroy(encoder, encoder->made);
}

lb_code lb_encoder_describe(const lb_encoder* encoder, lb_encoder_info* info) {
  return api::guarded([&]() -> core::Status {
    if (encoder == nullptr) return api::misuse("lb_encoder_describe: NULL was given");
    const embedding::Encoder& documents = encoder->model->documents();
    const embedding::Encoder* const queries = encoder->model->encoders().queries();
    lb_encoder_info value{};
    value.name = encoder->model->name().c_str();
    value.input = documents.input().name.data();  // a literal
    value.output_count = documents.outputs().size();
    value.prompt_count = documents.prompts().by_name.size();
    value.max_tokens = documents.max_tokens(embedding::TextRole::kDocument);
    value.max_query_tokens = (queries != nullptr ? *queries : documents).max_tokens(embedding::TextRole::kQuery);
    value.has_routes = queries != nullptr ? 1 : 0;
    return api::write_struct(value, info, "lb_encoder_info");
  });
}

lb_code lb_encoder_output(const lb_encoder* encoder, size_t index, lb_output_info* info) {
  return api::guarded([&]() -> core::Status {
    if (encoder == nullptr) return api::misuse("lb_encoder_output: NULL was given");
    const auto outputs = encoder->model->documents().outputs();
    if (index >= outputs.size()) {
      return api::misuse(
          fmt::format("lb_encoder_output: there is no output {}; the encoder has {}", index, outputs.size()));
    }
    const embedding::BoundOutput& bound = outputs[index];
    lb_output_info value{};
    value.name = bound.output->kind().name.data();  // a literal
    value.dimension = bound.dimension();
    value.dimension_max = bound.computed();
    value.form = api::form_of(*bound.output);
    const auto* const sparse = embedding::as<embedding::SparseOutput>(*bound.output);
    if (sparse != nullptr) value.entries_max = sparse->rule().most;
    return api::write_struct(value, info, "lb_output_info");
  });
}

lb_code lb_encoder_label(const lb_encoder* encoder, size_t index, lb_text* label) {
  return api::guarded([&]() -> core::Status {
    if (encoder == nullptr || label == nullptr) return api::misuse("lb_encoder_label: NULL was given");
    const auto* const score = output_of<embedding::ScoreOutput>(*encoder);
    const std::size_t count = score != nullptr ? score->labels().size() : 0;
    if (index >= count) return api::misuse(fmt::format("there is no label {}; the model has {}", index, count));
    *label = text_of(score->labels()[index]);
    return {};
  });
}

lb_code lb_encoder_prompt(const lb_encoder* encoder, size_t index, lb_text* name, lb_text* prompt,
                          int32_t* is_default) {
  return api::guarded([&]() -> core::Status {
    if (encoder == nullptr || name == nullptr || prompt == nullptr) {
      return api::misuse("lb_encoder_prompt: NULL was given");
    }
    const embedding::Prompts& prompts = encoder->model->prompts();
    if (index >= prompts.by_name.size()) {
      return api::misuse(fmt::format("there is no prompt {}; the model has {}", index, prompts.by_name.size()));
    }
    const auto& [key, text] = *std::next(prompts.by_name.begin(), static_cast<std::ptrdiff_t>(index));
    *name = text_of(key);
    *prompt = text_of(text);
    if (is_default != nullptr) *is_default = !text.empty() && text == prompts.by_default ? 1 : 0;
    return {};
  });
}

lb_code lb_encoder_attestation(const lb_encoder* encoder, lb_attestation** attestation) {
  return api::guarded([&]() -> core::Status {
    if (encoder == nullptr) return api::misuse("lb_encoder_attestation: NULL was given");
    LB_RETURN_IF_ERROR(api::check_made_here(encoder->made, "encoder"));
    return api::give_attestation(encoder->model->attestation(), attestation, encoder->model->hung_runs());
  });
}

lb_code lb_encoder_compare(const lb_encoder* encoder, const lb_ragged_rows* queries, const lb_ragged_rows* documents,
                           const lb_call_options* call, float* scores, size_t capacity) {
  return api::guarded([&]() -> core::Status {
    if (encoder == nullptr || queries == nullptr || documents == nullptr) {
      return api::misuse(fmt::format("{}: NULL was given", kCompare));
    }
    LB_ASSIGN_OR_RETURN(const auto comparing, comparing_output(*encoder));
    const auto [output, dimension] = comparing;
    LB_ASSIGN_OR_RETURN(const RaggedView of_queries, RaggedView::read(*queries, dimension, "queries"));
    LB_ASSIGN_OR_RETURN(const RaggedView of_documents, RaggedView::read(*documents, dimension, "documents"));
    // Both counts are at most kTextsMax, so the product does not overflow.
    const std::size_t wanted = queries->count * documents->count;
    if (wanted > 0 && scores == nullptr) return api::misuse(fmt::format("{}: NULL was given", kCompare));
    if (capacity < wanted) {
      return {core::StatusCode::kBufferTooSmall,
              fmt::format("{} queries and {} documents have {} scores, but there is room for {}", queries->count,
                          documents->count, wanted, capacity)};
    }
    LB_ASSIGN_OR_RETURN(const api::Call of_call, api::read_call(call));
    if (of_call.answered_by != nullptr) *of_call.answered_by = nullptr;
    for (std::size_t q = 0; q < queries->count; ++q) {
      for (std::size_t d = 0; d < documents->count; ++d) {
        if (of_call.limits.is_bounded()) LB_RETURN_IF_ERROR(core::check_time(of_call.limits));
        scores[q * documents->count + d] = output->compare(of_queries[q], of_documents[d], dimension);
      }
    }
    return {};
  });
}
