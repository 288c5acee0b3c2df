// Prints the ids of texts: the counterpart of the oracle scripts.
//
//   tokenizer_driver ids TOKENIZER.json [MAX_TOKENS]   JSON strings in, one a line; ids out, one line a text
//   tokenizer_driver ends TOKENIZER.json MAX_TOKENS    the same, of texts that are cut at their beginning
//   tokenizer_driver offsets TOKENIZER.json [MAX_TOKENS [beginning]]   the same; [ids] [(begin, end)] of the tokens, in
//                                                      characters of the text, which is cut at its end or its beginning
//   tokenizer_driver decode TOKENIZER.json 0|1         JSON arrays of ids in; texts out, as JSON strings, 1: without
//                                                      special tokens
//   tokenizer_driver tokens TOKENIZER.json             the text of every id, one JSON value a line
//   tokenizer_driver normalized TOKENIZER.json         JSON strings in; texts out as its normalizer makes them
//   tokenizer_driver split TOKENIZER.json              the same in; JSON arrays of the words of its pre-tokenizer out
//   tokenizer_driver normalize FLAGS                   the same in; normalized texts out, as JSON strings
//   tokenizer_driver words FLAGS                       the same in; JSON arrays of words out
//   tokenizer_driver speed TOKENIZER.json FILE         tokens per second over the lines of FILE, and the load time
//
// FLAGS: a four-digit binary number: clean_text, handle_chinese_chars, strip_accents, lowercase.
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text/utf8.h"
#include "embedding/tokenizer/fused_words.h"
#include "embedding/tokenizer/normalizers/bert_normalizer.h"
#include "embedding/tokenizer/pre_tokenizers/bert_pre_tokenizer.h"
#include "embedding/tokenizer/tokenizer.h"
#include "embedding/tokenizer/tokenizer_file.h"

namespace {

using latebind::embedding::BertNormalizer;
using latebind::embedding::BertNormalizerOptions;
using latebind::embedding::Tokenizer;
using nlohmann::json;

int fail(const std::string& message) {
  std::cerr << "tokenizer_driver: " << message << "\n";
  return 1;
}

BertNormalizerOptions options_of(std::string_view flags) {
  return {flags.at(0) == '1', flags.at(1) == '1', flags.at(2) == '1', flags.at(3) == '1'};
}

int print_ids(const char* file, std::size_t max_tokens) {
  auto tokenizer = Tokenizer::from_file(file);
  if (!tokenizer.ok()) return fail(tokenizer.status().to_string());
  std::string line;
  std::vector<std::int32_t> ids;
  while (std::getline(std::cin, line)) {
    ids.clear();
    const auto status = tokenizer->encode(json::parse(line).get<std::string>(), max_tokens, ids);
    if (!status.ok()) return fail(status.to_string());
    std::cout << fmt::format("{}\n", fmt::join(ids, " "));
  }
  return 0;
}

int print_ends(const char* file, std::size_t max_tokens) {
  auto tokenizer = Tokenizer::from_file(file);
  if (!tokenizer.ok()) return fail(tokenizer.status().to_string());
  std::string line;
  std::vector<std::int32_t> ids;
  while (std::getline(std::cin, line)) {
    ids.clear();
    const auto cut = tokenizer->encode_end(json::parse(line).get<std::string>(), max_tokens, ids);
    if (!cut.ok()) return fail(cut.status().to_string());
    std::cout << fmt::format("{}\n", fmt::join(ids, " "));
  }
  return 0;
}

// Offsets in characters, as the reference's Python has them, and written as Python writes them: that is the fastest
// there.
int print_offsets(const char* file, std::size_t max_tokens, Tokenizer::Cut cut) {
  auto tokenizer = Tokenizer::from_file(file);
  if (!tokenizer.ok()) return fail(tokenizer.status().to_string());
  std::string line;
  std::vector<std::int32_t> ids;
  std::vector<latebind::embedding::TokenOffsets> offsets;
  std::vector<std::size_t> characters;  // before each byte of the text
  while (std::getline(std::cin, line)) {
    const auto text = json::parse(line).get<std::string>();
    characters.assign(1, 0);
    for (std::size_t i = 0; i < text.size(); ++i) {
      const bool ends = i + 1 == text.size() || !latebind::core::is_utf8_continuation(text[i + 1]);
      characters.push_back(characters.back() + (ends ? 1 : 0));
    }
    ids.clear();
    offsets.clear();
    const auto status = tokenizer->encode_with_offsets(text, max_tokens, cut, ids, offsets);
    if (!status.ok()) return fail(status.to_string());
    std::vector<std::pair<std::size_t, std::size_t>> of_characters;
    of_characters.reserve(offsets.size());
    for (const auto& token : offsets)
      of_characters.emplace_back(characters.at(token.begin), characters.at(token.end));
    std::cout << fmt::format("{} {}\n", ids, of_characters);
  }
  return 0;
}

int print_decoded(const char* file, bool skip_special_tokens) {
  auto tokenizer = Tokenizer::from_file(file);
  if (!tokenizer.ok()) return fail(tokenizer.status().to_string());
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto text = tokenizer->decode(json::parse(line).get<std::vector<std::int32_t>>(), skip_special_tokens);
    if (!text.ok()) return fail(text.status().to_string());
    std::cout << json(*text).dump(-1, ' ', true) << '\n';
  }
  return 0;
}

int print_tokens(const char* file) {
  auto tokenizer = Tokenizer::from_file(file);
  if (!tokenizer.ok()) return fail(tokenizer.status().to_string());
  for (std::size_t id = 0; id < tokenizer->vocabulary_size(); ++id) {
    const auto token = tokenizer->token(static_cast<std::int32_t>(id));
    std::cout << (token ? json(*token) : json()).dump(-1, ' ', true) << '\n';
  }
  return 0;
}

struct WordList final : latebind::embedding::WordSink {
  json words = json::array();
  bool word(const latebind::embedding::Word& word) override {
    words.push_back(word.text);
    return true;
  }
};

int print_of_part(const char* file, bool is_normalizer) {
  std::ifstream stream(file);
  const std::string content(std::istreambuf_iterator<char>(stream), {});
  const auto read = latebind::embedding::TokenizerFile::read(content);
  if (!read.ok()) return fail(read.status().to_string());
  std::string line;
  while (std::getline(std::cin, line)) {
    const auto text = json::parse(line).get<std::string>();
    WordList list;
    if (!is_normalizer) read->parts.pre_tokenizer->split(text, list);
    const json made = is_normalizer ? json(read->parts.normalizer->normalize(text)) : list.words;
    std::cout << made.dump(-1, ' ', true) << '\n';
  }
  return 0;
}

int print_normalized(std::string_view flags) {
  const BertNormalizer normalizer(options_of(flags));
  std::string line;
  while (std::getline(std::cin, line)) {
    std::cout << json(normalizer.normalize(json::parse(line).get<std::string>())).dump(-1, ' ', true) << '\n';
  }
  return 0;
}

// Those of the fused walk, which are those of the parts one after the other.
int print_words(std::string_view flags) {
  const BertNormalizer normalizer(options_of(flags));
  const latebind::embedding::BertPreTokenizer pre_tokenizer;
  latebind::embedding::WordBuffer buffer(10'000);
  std::string line;
  while (std::getline(std::cin, line)) {
    json words = json::array();
    const auto text = json::parse(line).get<std::string>();
    latebind::embedding::for_each_word(text, normalizer.map(), buffer, [&](std::string_view word, bool too_long) {
      words.push_back(too_long ? "too long" : std::string(word));
      return true;
    });
    WordList list;
    pre_tokenizer.split(normalizer.normalize(text), list);
    if (list.words != words) return fail("the fused walk gives " + words.dump() + ", the parts " + list.words.dump());
    std::cout << words.dump(-1, ' ', true) << '\n';
  }
  return 0;
}

int measure(const char* file, const char* texts) {
  using Clock = std::chrono::steady_clock;
  const auto seconds = [](Clock::time_point from) {
    return std::chrono::duration<double>(Clock::now() - from).count();
  };
  double load = std::numeric_limits<double>::max();
  for (int i = 0; i < 10; ++i) {
    const auto start = Clock::now();
    if (!Tokenizer::from_file(file).ok()) return fail("cannot be loaded");
    load = std::min(load, seconds(start));
  }
  auto tokenizer = Tokenizer::from_file(file);
  std::ifstream stream(texts);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line);
  std::size_t bytes = 0;
  std::size_t tokens = 0;
  std::vector<std::int32_t> ids;
  double best = std::numeric_limits<double>::max();
  for (int round = 0; round < 10; ++round) {
    bytes = tokens = 0;
    const auto start = Clock::now();
    for (const auto& line : lines) {
      ids.clear();
      if (!tokenizer->encode(line, std::numeric_limits<std::size_t>::max(), ids).ok()) return fail("not UTF-8");
      bytes += line.size();
      tokens += ids.size();
    }
    best = std::min(best, seconds(start));
  }
  std::cout << "load " << load * 1e3 << " ms; " << tokens << " tokens, " << static_cast<double>(tokens) / best / 1e6
            << " million tokens/s, " << static_cast<double>(bytes) / best / 1e6 << " MB/s\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::ios::sync_with_stdio(false);
  const std::string_view command = argc > 2 ? argv[1] : "";
  if (command == "ids") {
    return print_ids(argv[2], argc > 3 ? std::strtoull(argv[3], nullptr, 10) : std::numeric_limits<std::size_t>::max());
  }
  if (command == "ends" && argc > 3) return print_ends(argv[2], std::strtoull(argv[3], nullptr, 10));
  if (command == "offsets") {
    return print_offsets(argv[2],
                         argc > 3 ? std::strtoull(argv[3], nullptr, 10) : std::numeric_limits<std::size_t>::max(),
                         argc > 4 ? Tokenizer::Cut::kBeginning : Tokenizer::Cut::kEnd);
  }
  if (command == "decode" && argc > 3) return print_decoded(argv[2], argv[3] == std::string_view("1"));
  if (command == "tokens") return print_tokens(argv[2]);
  if (command == "normalized" || command == "split") return print_of_part(argv[2], command == "normalized");
  if (command == "normalize") return print_normalized(argv[2]);
  if (command == "words") return print_words(argv[2]);
  if (command == "speed" && argc > 3) return measure(argv[2], argv[3]);
  return fail("see the top of tokenizer_driver.cpp");
}
