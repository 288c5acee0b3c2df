// Tokens a second of the tokenizer, with the default model's tokenizer.json (scripts/setup brings it).
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "embedding/tokenizer/tokenizer.h"

namespace {

using latebind::embedding::Tokenizer;

constexpr const char* kFile = LATEBIND_SOURCE_DIR "/build/runtime/model/all-MiniLM-L6-v2/tokenizer.json";

const latebind::core::Result<Tokenizer>& tokenizer() {
  static const auto opened = Tokenizer::from_file(kFile);
  return opened;
}

void encode(benchmark::State& state, const std::string& text) {
  if (!tokenizer().ok()) {
    state.SkipWithError(("run scripts/setup first: " + tokenizer().status().to_string()).c_str());
    return;
  }
  std::vector<std::int32_t> ids;
  std::size_t tokens = 0;
  for (auto _ : state) {
    ids.clear();
    if (!tokenizer()->encode(text, 512, ids).ok()) state.SkipWithError("the text was refused");
    tokens += ids.size();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
  state.counters["tokens/s"] = benchmark::Counter(static_cast<double>(tokens), benchmark::Counter::kIsRate);
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i)
    all += text;
  return all;
}

BENCHMARK_CAPTURE(encode, short_sentence, "The quick brown fox jumps over the lazy dog.");
BENCHMARK_CAPTURE(encode, paragraph,
                  repeated("Return the first matching element, or raise ValueError if there is none; see also find(). ",
                           20));
BENCHMARK_CAPTURE(encode, accents_and_cyrillic, repeated("café naïve façade ÅNGSTRÖM Привет, как дела? ", 20));
BENCHMARK_CAPTURE(encode, chinese, repeated("北京大学的学生正在学习机器学习。", 20));

}  // namespace
