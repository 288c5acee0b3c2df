// UnicodeScripts: words of one script each, including the spaces after them.
#include "embedding/tokenizer/code_point_table.h"
#include "embedding/tokenizer/part_table.h"
#include "embedding/tokenizer/unicode.h"

namespace latebind::embedding {
namespace {

using Scripts = CodePointTable<std::uint8_t, unicode::script>;

class UnicodeScripts final : public PreTokenizer {
 public:
  bool split(std::string_view text, WordSink& sink) const override {
    const Scripts& scripts = Scripts::shared();
    const char* p = text.data();
    std::uint8_t current = unicode::kAnyScript;
    std::size_t begin = text.size();
    for (std::size_t at = 0; at < text.size();) {
      const std::uint8_t script = scripts.of(core::decode_utf8(p));
      if (script != unicode::kAnyScript && script != current) {
        // As in the reference, text before the first script is in no word.
        if (current != unicode::kAnyScript && !sink.word({text.substr(begin, at - begin), begin, at})) return false;
        begin = at;
        current = script;
      }
      at = static_cast<std::size_t>(p - text.data());
    }
    return begin == text.size() || sink.word({text.substr(begin), begin, text.size()});
  }
};

}  // namespace

core::Result<PreTokenizerPtr> read_unicode_scripts(const JsonView& view) {
  LB_RETURN_IF_ERROR(view.only_keys({"type"}));
  return PreTokenizerPtr(std::make_unique<UnicodeScripts>());
}

}  // namespace latebind::embedding
