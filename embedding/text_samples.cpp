#include "embedding/text_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "embedding/tokenizer/tokenizer.h"

namespace latebind::embedding {
namespace {

using core::ElementType;
using core::Result;
using core::Sample;

constexpr std::array<std::string_view, 36> kTexts{
    "",
    "A",
    "Hello, world!",
    "The cat sat on the mat.",
    "How do I return an item that I ordered last week?",
    "The quick brown fox jumps over the lazy dog.",
    "To be, or not to be: that is the question.",
    "Water boils at 100 °C at sea level, and at about 93 °C at an altitude of 2,000 m.",
    "The invoice of 14 March 2024 over 1,284.50 EUR is still open.",
    "int main(int argc, char** argv) { return argc > 1 ? 0 : 1; }",
    "SELECT name, count(*) FROM orders WHERE total > 100 GROUP BY name;",
    "https://example.com/a/long/path?with=a&few=parameters#and-a-fragment",
    "ERROR 2024-11-26T04:20:03Z connection to 10.0.0.7:5432 refused after 3 attempts",
    "Der Zug nach München fährt um 14:35 Uhr von Gleis 7 ab.",
    "Le chat dort sur le canapé pendant que la pluie tombe.",
    "El tratado se firmó en la ciudad de Tordesillas en 1494.",
    "Il caffè è pronto, ma lo zucchero è finito.",
    "O rio corre devagar entre as montanhas.",
    "Het weer wordt morgen wisselvallig met kans op buien.",
    "Pociąg do Krakowa odjeżdża z peronu drugiego.",
    "Поезд прибывает на третий путь.",
    "Η θάλασσα ήταν ήρεμη εκείνο το πρωί.",
    "قطار الصباح يصل إلى المحطة في الساعة الثامنة.",
    "הספרייה פתוחה בימי חול עד שמונה בערב.",
    "बारिश के बाद शहर की हवा साफ़ हो गई।",
    "今日は天気がいいので、公園を散歩しました。",
    "机器学习模型把句子映射为向量。",
    "기차는 오전 아홉 시에 부산에 도착한다.",
    "รถไฟขบวนนี้จะถึงเชียงใหม่ตอนเช้า",
    "🙂🚀 emoji and combining accents: e\u0301 a\u0308 n\u0303",
    "   leading, trailing   and   repeated   spaces   ",
    "supercalifragilisticexpialidocious pneumonoultramicroscopicsilicovolcanoconiosis",
    "Photosynthesis converts light energy into chemical energy that is later released to fuel the organism's "
    "activities; most plants, algae and cyanobacteria perform it, and it is largely responsible for producing and "
    "maintaining the oxygen content of the Earth's atmosphere.",
    "The committee met on Tuesday. It heard three witnesses, read two reports, and adjourned without a decision, which "
    "surprised nobody who had followed the matter since the spring, when the first draft was withdrawn.",
    "An accelerator that computes in sixteen bits rounds each product and each sum; over a dozen layers these errors "
    "mostly cancel, but a long text with many small contributions is where they show first, and so this sentence goes "
    "on for rather longer than a sentence should, to have more tokens than most of the others here.",
    "Contract law: an offer becomes binding when it reaches the offeree; it may be withdrawn if the withdrawal reaches "
    "the offeree before or at the same time as the offer. Acceptance is a statement or other conduct that indicates "
    "assent; silence or inactivity does not in itself amount to acceptance. A reply that purports to accept but "
    "contains additions is a rejection and a counter-offer, unless the additions do not materially alter the terms.",
};

// The rows of a batch of sentences.
constexpr std::size_t kBatchRows = 8;

using Row = std::vector<std::int32_t>;
using Buffers = std::deque<std::vector<std::int64_t>>;

// Returns the value of an input of the model at a position, by the names that Forward knows.
std::int64_t value_for(std::string_view input, const Row& ids, std::size_t column) {
  const bool is_token = column < ids.size();
  if (input == "input_ids") return is_token ? ids[column] : 0;
  if (input == "attention_mask") return is_token ? 1 : 0;
  return 0;
}

Result<Sample> sample_of(std::string name, std::span<const core::TensorInfo> inputs, std::span<const Row> rows) {
  std::size_t width = 1;
  for (const Row& row : rows)
    width = std::max(width, row.size());
  Sample sample{.name = std::move(name), .inputs = {}, .owner = {}};
  const auto buffers = std::make_shared<Buffers>();
  const core::Shape shape{static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(width)};
  for (const core::TensorInfo& input : inputs) {
    if (input.type != ElementType::kI64 && input.type != ElementType::kI32) {
      return core::Status(core::StatusCode::kUnsupported, fmt::format("input {} has type {}; token ids are i64 or i32",
                                                                      input.name, core::name_of(input.type)));
    }
    auto& buffer = buffers->emplace_back(rows.size() * width);
    for (std::size_t row = 0; row < rows.size(); ++row) {
      for (std::size_t column = 0; column < width; ++column) {
        const std::size_t to = row * width + column;
        const std::int64_t value = value_for(input.name, rows[row], column);
        if (input.type == ElementType::kI64) {
          buffer[to] = value;
        } else {
          const auto narrow = static_cast<std::int32_t>(value);
          std::memcpy(reinterpret_cast<std::byte*>(buffer.data()) + to * sizeof narrow, &narrow, sizeof narrow);
        }
      }
    }
    sample.inputs.push_back({buffer.data(), input.type, shape, std::nullopt});
  }
  sample.owner = buffers;
  return sample;
}

// Returns rows of random ids, all of them tokens of the vocabulary.
std::vector<Row> random_rows(std::size_t rows, std::size_t length, std::size_t vocabulary, std::mt19937_64& random) {
  std::vector<Row> made(rows, Row(length));
  for (Row& row : made) {
    for (std::int32_t& id : row)
      id = static_cast<std::int32_t>(random() % vocabulary);
  }
  return made;
}

}  // namespace

std::span<const std::string_view> sample_texts() {
  return kTexts;
}

core::MakeSamples text_samples(Specification model, std::size_t max_tokens, bool pooled) {
  return [model = std::move(model), max_tokens,
          pooled](std::span<const core::TensorInfo> inputs) -> Result<std::vector<Sample>> {
    LB_ASSIGN_OR_RETURN(const Tokenizer tokenizer, model.open_tokenizer());
    std::size_t vocabulary = tokenizer.vocabulary_size();
    const auto& network = model.network.network;
    if (network) vocabulary = std::min(vocabulary, network->vocabulary_size());
    std::vector<Row> texts;
    for (const std::string_view text : kTexts) {
      Row ids;
      LB_RETURN_IF_ERROR(tokenizer.encode(text, max_tokens, ids));
      const bool is_known =
          std::ranges::all_of(ids, [&](std::int32_t id) { return static_cast<std::size_t>(id) < vocabulary; });
      if (!ids.empty() && is_known) texts.push_back(std::move(ids));
    }
    std::ranges::stable_sort(texts, {}, &Row::size);

    std::vector<Sample> samples;
    const auto add = [&](std::string name, std::span<const Row> rows) -> core::Status {
      LB_ASSIGN_OR_RETURN(samples.emplace_back(), sample_of(std::move(name), inputs, rows));
      return {};
    };
    const std::size_t rows = pooled ? kBatchRows : 1;
    const std::span all(texts);
    for (std::size_t at = 0; at < all.size(); at += rows) {
      const auto batch = all.subspan(at, std::min(rows, all.size() - at));
      LB_RETURN_IF_ERROR(add(fmt::format("{} sentences of up to {} tokens", batch.size(), batch.back().size()), batch));
    }
    std::mt19937_64 random(0);  // the same on every machine
    for (const auto& [count, length] : {std::pair{1U, 1U}, std::pair{3U, 7U}, std::pair{1U, 96U}}) {
      const auto length_here = std::min<std::size_t>(length, max_tokens);
      LB_RETURN_IF_ERROR(add(fmt::format("random ids, {} x {}", count, length_here),
                             random_rows(count, length_here, vocabulary, random)));
    }
    return samples;
  };
}

}  // namespace latebind::embedding
