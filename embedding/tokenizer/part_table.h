// The parts that a tokenizer can consist of, by their names in a tokenizer.json.
//
// A new part is a file of its own with its reader, the reader's declaration and one line in a table here. A part that
// consists of others (a Sequence) finds their readers with find_part() as well.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "core/result.h"
#include "core/text/quote.h"
#include "embedding/tokenizer/decoder.h"
#include "embedding/tokenizer/json_view.h"
#include "embedding/tokenizer/normalizer.h"
#include "embedding/tokenizer/post_processor.h"
#include "embedding/tokenizer/pre_tokenizer.h"
#include "embedding/tokenizer/token_model.h"

namespace latebind::embedding {

// Readers take the part's object, and reject unknown keys in it by name.
using ReadNormalizer = core::Result<NormalizerPtr>(const JsonView&);
using ReadPreTokenizer = core::Result<PreTokenizerPtr>(const JsonView&);
using ReadModel = core::Result<TokenModelPtr>(const JsonView&, ModelLists);
// Ids must be below the second.
using ReadPostProcessor = core::Result<PostProcessor>(const JsonView&, std::size_t);
using ReadDecoder = core::Result<DecoderPtr>(const JsonView&);

ReadNormalizer read_bert_normalizer;
ReadNormalizer read_lowercase;
ReadPreTokenizer read_bert_pre_tokenizer;
ReadPreTokenizer read_byte_level;
ReadPreTokenizer read_whitespace_split;
ReadModel read_bpe;
ReadModel read_word_level;
ReadModel read_wordpiece;
ReadPostProcessor read_bert_processing;
ReadPostProcessor read_byte_level_processing;
ReadPostProcessor read_roberta_processing;
ReadPostProcessor read_sequence_processing;
ReadPostProcessor read_template_processing;
ReadDecoder read_byte_level_decoder;
ReadDecoder read_word_piece_decoder;

template <class Read>
struct NamedPart {
  std::string_view type;
  Read* read;
};

inline constexpr NamedPart<ReadNormalizer> kNormalizers[] = {
    {"BertNormalizer", read_bert_normalizer},
    {"Lowercase", read_lowercase},
};
inline constexpr NamedPart<ReadPreTokenizer> kPreTokenizers[] = {
    {"BertPreTokenizer", read_bert_pre_tokenizer},
    {"WhitespaceSplit", read_whitespace_split},
    {"ByteLevel", read_byte_level},
};
inline constexpr NamedPart<ReadModel> kModels[] = {
    {"WordPiece", read_wordpiece},
    {"WordLevel", read_word_level},
    {"BPE", read_bpe},
};
inline constexpr NamedPart<ReadPostProcessor> kPostProcessors[] = {
    {"TemplateProcessing", read_template_processing}, {"BertProcessing", read_bert_processing},
    {"RobertaProcessing", read_roberta_processing},   {"ByteLevel", read_byte_level_processing},
    {"Sequence", read_sequence_processing},
};
inline constexpr NamedPart<ReadDecoder> kDecoders[] = {
    {"WordPiece", read_word_piece_decoder},
    {"ByteLevel", read_byte_level_decoder},
};

// kUnsupported: "<what> is not supported (supported: …)".
template <class Parts>
core::Status unsupported_part(std::string_view what, const Parts& parts) {
  std::string names;
  for (const auto& part : parts)
    names.append(names.empty() ? "" : ", ").append(part.type);
  return {core::StatusCode::kUnsupported,
          std::string(what).append(" is not supported (supported: ").append(names).append(")")};
}

// The reader of what `view` calls its "type".
template <class Read, std::size_t kCount>
core::Result<Read*> find_part(const JsonView& view, const NamedPart<Read> (&parts)[kCount]) {
  LB_ASSIGN_OR_RETURN(const std::string type, view.string("type"));
  for (const auto& part : parts) {
    if (part.type == type) return part.read;
  }
  return unsupported_part(view.name() + " of type " + core::quoted(type), parts);
}

}  // namespace latebind::embedding
