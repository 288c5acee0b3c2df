// JsonLists: walks through the text of a tokenizer's file and takes a model's large lists out of it, without making
// values of their entries.
//
// Nearly all entries are plain (plain_json.h); core/json reads the strings that are not. Functions return false at the
// first byte that they do not expect, where the text is damaged or has another form: status() says which form was
// expected, and the text can be asked for damages (core::find_damage()). The text must be UTF-8, and outlive the object
// and the merges. One thread.
#pragma once

#include <string>
#include <string_view>

#include "core/json/value.h"
#include "core/status.h"
#include "embedding/tokenizer/json_number.h"
#include "embedding/tokenizer/plain_json.h"
#include "embedding/tokenizer/token_model.h"

namespace latebind::embedding {

class JsonLists {
 public:
  explicit JsonLists(std::string_view text, NumberRounding rounding = NumberRounding::kNearest)
      : text_(text), rounding_(rounding) {}

  [[nodiscard]] const core::Status& status() const { return status_; }
  // The walk through the text.
  [[nodiscard]] PlainJson& text() { return text_; }

  // Takes an object. take_value(key) takes the value of each member.
  template <class TakeValue>
  [[nodiscard]] bool take_object(TakeValue take_value) {
    if (!text_.take('{')) return false;
    if (text_.take('}')) return true;
    std::string decoded;
    do {
      const auto key = take_string(decoded);
      if (!key || !text_.take(':') || !take_value(*key)) return false;
    } while (text_.take(','));
    return text_.take('}');
  }

  // Takes an object of tokens and their ids.
  [[nodiscard]] bool take_ids(Vocabulary& vocabulary);
  // Takes an array of pairs of a token and its score, whose ids are their indices.
  [[nodiscard]] bool take_scores(Vocabulary& vocabulary, platform::LargeVector<double>& scores);
  // Takes an array of texts. take_text() takes each text, and returns a Status.
  template <class TakeText>
  [[nodiscard]] bool take_texts(const TakeText& take_text) {
    return take_array([&] {
      const auto text = take_string(decoded_);
      return text && keep(take_text(*text));
    });
  }
  // Takes an array of merges, which are all texts or all pairs of texts.
  [[nodiscard]] bool take_merges(MergeList& merges);

 private:
  // Takes an array. take_item() takes each element.
  template <class TakeItem>
  [[nodiscard]] bool take_array(TakeItem take_item) {
    if (!text_.take('[')) return false;
    if (text_.take(']')) return true;
    do {
      if (!take_item()) return false;
    } while (text_.take(','));
    return text_.take(']');
  }
  // Takes a string, which belongs to the text or to `decoded`.
  [[nodiscard]] std::optional<std::string_view> take_string(std::string& decoded);
  [[nodiscard]] bool take_pair(MergeList& merges);
  // Nearly every status is ok.
  [[nodiscard]] bool keep(core::Status status) {
    if (status.ok()) return true;
    status_ = std::move(status);
    return false;
  }

  PlainJson text_;
  NumberRounding rounding_;
  core::Status status_;
  std::string decoded_;  // strings that are not plain
  std::string decoded_right_;
};

}  // namespace latebind::embedding
