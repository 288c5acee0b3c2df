// The tokenizer of the C interface.
#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "api/c_encode.h"
#include "api/c_objects.h"
#include "api/c_support.h"
#include "app/model_source.h"
#include "core/platform/files/folders.h"
#include "embedding/folder/model_folder.h"
#include "embedding/hub/content_check.h"
#include "embedding/inputs/token_table.h"

namespace core = latebind::core;
namespace api = latebind::api;
namespace embedding = latebind::embedding;

// Remains valid after fork().
struct lb_token_list {
  embedding::TokenTable tokens;
  std::string prompt{};
  bool has_offsets = false;
  std::vector<lb_token_offsets> offsets{};  // of all tokens of all texts
};

namespace {

constexpr std::size_t kTokensMax = std::size_t{1} << 20;

// Adds the offsets of the list's last text.
core::Status add_offsets(const embedding::Tokenizer& tokenizer, const embedding::TokenLimits& limits,
                         std::string_view text, lb_token_list& list) {
  std::vector<std::int32_t> ids;
  std::vector<embedding::TokenOffsets> offsets;
  const std::string whole = limits.prompt + std::string(text);
  LB_RETURN_IF_ERROR(
      tokenizer.encode_with_offsets(whole, limits.max_tokens, embedding::Tokenizer::Cut::kEnd, ids, offsets));
  for (const auto& [begin, end] : offsets)
    list.offsets.push_back({begin, end});
  list.offsets.resize(list.tokens.token_count());  // the tokens that pad a query stand for no text
  return {};
}

core::Status encode(std::string_view what, const lb_tokenizer* given, const lb_text* texts, std::size_t count,
                    const embedding::TextOptions& options, bool with_offsets, lb_token_list** list) {
  if (given == nullptr || list == nullptr) return api::misuse(fmt::format("{}: NULL was given", what));
  *list = nullptr;
  LB_ASSIGN_OR_RETURN(const lb_tokenizer::Route* tokenizer, given->routes.route_for(options.role, given->model));
  if (options.max_tokens > kTokensMax) {
    return api::misuse(fmt::format("{} tokens of a text are above the limit of {}", options.max_tokens, kTokensMax));
  }
  LB_ASSIGN_OR_RETURN(const auto views, api::read_texts(texts, count, what));
  LB_ASSIGN_OR_RETURN(const embedding::TokenLimits limits, tokenizer->limits.of_call(options, tokenizer->prompts));
  if (with_offsets) LB_RETURN_IF_ERROR(tokenizer->tokenizer->gives_offsets());
  auto made = std::make_unique<lb_token_list>();
  made->prompt = limits.prompt;
  made->has_offsets = with_offsets;
  for (std::size_t i = 0; i < count; ++i) {
    core::Status status = made->tokens.add(*tokenizer->tokenizer, limits, views[i]);
    if (status.ok() && with_offsets) status = add_offsets(*tokenizer->tokenizer, limits, views[i], *made);
    if (!status.ok()) return status.with_context(fmt::format("texts[{}]", i));
  }
  *list = made.release();
  return {};
}

core::Result<lb_tokenizer::Route> open_route(const embedding::Specification& model) {
  LB_ASSIGN_OR_RETURN(auto opened, model.open_tokenizer());
  LB_ASSIGN_OR_RETURN(auto limits, embedding::text_limits(model, opened));
  return lb_tokenizer::Route{.tokenizer = std::make_shared<const embedding::Tokenizer>(std::move(opened)),
                             .limits = std::move(limits),
                             .prompts = model.input.prompts};
}

// Returns the tokenizer of an encoder; of both routes if it is a router.
core::Result<std::unique_ptr<lb_tokenizer>> of_encoders(const embedding::Embedder& model) {
  LB_ASSIGN_OR_RETURN(
      auto routes,
      model.encoders().transform([](const embedding::Encoder& encoder) -> core::Result<lb_tokenizer::Route> {
        return lb_tokenizer::Route{
            .tokenizer = encoder.tokenizer(), .limits = encoder.limits(), .prompts = encoder.prompts()};
      }));
  return std::make_unique<lb_tokenizer>(lb_tokenizer{.model = model.name(), .routes = std::move(routes)});
}

// Opens the tokenizer of a model; of both routes if the model is a router.
core::Result<std::unique_ptr<lb_tokenizer>> open_all(const std::filesystem::path& place) {
  LB_ASSIGN_OR_RETURN(const auto folder, embedding::ModelFolder::open(place, latebind::app::folder_options()));
  LB_ASSIGN_OR_RETURN(auto routes, folder.transform(open_route));
  return std::make_unique<lb_tokenizer>(lb_tokenizer{.model = folder.name(), .routes = std::move(routes)});
}

}  // namespace

lb_code lb_tokenizer_open(const char* model_folder, lb_tokenizer** tokenizer) {
  return api::guarded([&]() -> core::Status {
    if (model_folder == nullptr || tokenizer == nullptr) return api::misuse("lb_tokenizer_open: NULL was given");
    *tokenizer = nullptr;
    const auto place = latebind::platform::path_from_utf8(model_folder);
    auto made = open_all(place);
    if (!made.ok()) return embedding::hub::with_damage(made.status(), place);
    *tokenizer = made->release();
    return {};
  });
}

lb_code lb_encoder_tokenizer(const lb_encoder* encoder, lb_tokenizer** tokenizer) {
  return api::guarded([&]() -> core::Status {
    if (encoder == nullptr || tokenizer == nullptr) return api::misuse("lb_encoder_tokenizer: NULL was given");
    *tokenizer = nullptr;
    LB_RETURN_IF_ERROR(api::check_made_here(encoder->made, "encoder"));
    LB_ASSIGN_OR_RETURN(auto made, of_encoders(*encoder->model));
    *tokenizer = made.release();
    return {};
  });
}

void lb_tokenizer_destroy(lb_tokenizer* tokenizer) {
  delete tokenizer;
}

size_t lb_tokenizer_vocabulary_size(const lb_tokenizer* tokenizer) {
  return tokenizer != nullptr ? tokenizer->routes.documents().tokenizer->vocabulary_size() : 0;
}

lb_code lb_tokenizer_token(const lb_tokenizer* tokenizer, int32_t id, lb_text* token) {
  return api::guarded([&]() -> core::Status {
    if (tokenizer == nullptr || token == nullptr) return api::misuse("lb_tokenizer_token: NULL was given");
    const auto text = tokenizer->routes.documents().tokenizer->token(id);
    *token = {};
    if (!text) return api::misuse(fmt::format("no token has the id {}", id));
    *token = {text->data(), text->size()};
    return {};
  });
}

lb_code lb_tokenizer_encode(const lb_tokenizer* tokenizer, const lb_text* texts, size_t count, size_t max_tokens,
                            lb_token_list** list) {
  return api::guarded(
      [&] { return encode("lb_tokenizer_encode", tokenizer, texts, count, {.max_tokens = max_tokens}, false, list); });
}

lb_code lb_tokenizer_encode_with(const lb_tokenizer* tokenizer, const lb_text* texts, size_t count,
                                 const lb_encode_options* options, lb_token_list** list) {
  return api::guarded([&]() -> core::Status {
    LB_ASSIGN_OR_RETURN(const api::EncodeCall asked, api::read_encode_options(options));
    return encode("lb_tokenizer_encode_with", tokenizer, texts, count, asked.texts, false, list);
  });
}

lb_code lb_tokenizer_encode_with_offsets(const lb_tokenizer* tokenizer, const lb_text* texts, size_t count,
                                         const lb_encode_options* options, lb_token_list** list) {
  return api::guarded([&]() -> core::Status {
    LB_ASSIGN_OR_RETURN(const api::EncodeCall asked, api::read_encode_options(options));
    return encode("lb_tokenizer_encode_with_offsets", tokenizer, texts, count, asked.texts, true, list);
  });
}

void lb_token_list_destroy(lb_token_list* list) {
  delete list;
}

size_t lb_token_list_count(const lb_token_list* list) {
  return list != nullptr ? list->tokens.size() : 0;
}

lb_code lb_token_list_get(const lb_token_list* list, size_t index, lb_token_ids* ids, int32_t* is_truncated) {
  return api::guarded([&]() -> core::Status {
    if (list == nullptr || ids == nullptr) return api::misuse("lb_token_list_get: NULL was given");
    if (index >= list->tokens.size()) return api::misuse("lb_token_list_get: no text of this index");
    const auto found = list->tokens.ids(index);
    *ids = {found.data(), found.size()};
    if (is_truncated != nullptr) *is_truncated = list->tokens.is_truncated(index) ? 1 : 0;
    return {};
  });
}

lb_code lb_token_list_offsets(const lb_token_list* list, size_t index, const lb_token_offsets** offsets) {
  return api::guarded([&]() -> core::Status {
    if (list == nullptr || offsets == nullptr) return api::misuse("lb_token_list_offsets: NULL was given");
    *offsets = nullptr;
    if (!list->has_offsets) return api::misuse("lb_token_list_offsets: the list was created without offsets");
    if (index >= list->tokens.size()) return api::misuse("lb_token_list_offsets: no text of this index");
    *offsets = list->offsets.data() + list->tokens.tokens_before(index);
    return {};
  });
}

lb_code lb_token_list_prompt(const lb_token_list* list, lb_text* prompt) {
  return api::guarded([&]() -> core::Status {
    if (list == nullptr || prompt == nullptr) return api::misuse("lb_token_list_prompt: NULL was given");
    *prompt = {list->prompt.data(), list->prompt.size()};
    return {};
  });
}
