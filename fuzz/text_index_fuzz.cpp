// Indices of `latebind search`: whatever the file holds, it is refused in one line, or all that it says of its texts is
// within its files, and can be read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "app/index/text_index.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace latebind;
  // As a mapping has it, the file begins at a multiple of eight bytes.
  std::vector<std::uint64_t> words((size + 7) / 8);
  if (size > 0) std::memcpy(words.data(), data, size);
  const auto index = app::TextIndex::from_bytes(std::as_bytes(std::span(words)).first(size), "index");
  if (!index.ok()) {
    if (index.status().to_string().find('\n') != std::string::npos) std::abort();
    return 0;
  }
  std::size_t texts = 0;
  float sum = 0;
  for (std::size_t file = 0; file < index->files().size(); ++file) {
    const app::IndexedTexts some = index->texts_of(file);
    texts += some.size();
    if (some.vectors.size() != some.size() * index->made_by().dimension) std::abort();
    for (std::size_t i = 0; i < some.size(); ++i) {
      if (some.begins[i] > some.ends[i] || some.ends[i] > index->files()[file].bytes || some.lines[i] == 0)
        std::abort();
    }
    for (const float number : some.vectors)
      sum += number;
  }
  if (texts != index->text_count()) std::abort();
  static_cast<void>(sum);
  // What differs from what made it is said in one line; nothing differs from itself.
  if (!index->made_by().difference_from(index->made_by()).empty()) std::abort();
  return 0;
}
