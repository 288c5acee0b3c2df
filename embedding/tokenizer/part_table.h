// The parts that a tokenizer can consist of, by their names in a tokenizer.json. Constant data and stateless functions;
// any thread.
//
// A new part is a separate file with its reader, the declaration of the reader, and one line in a table here. A part
// that contains others (a Sequence) finds their readers with find_part(), too.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/result.h"
#include "core/text/nearest_word.h"
#include "core/text/quote.h"
#include "embedding/tokenizer/decoder.h"
#include "embedding/tokenizer/json_view.h"
#include "embedding/tokenizer/normalizer.h"
#include "embedding/tokenizer/post_processor.h"
#include "embedding/tokenizer/pre_tokenizer.h"
#include "embedding/tokenizer/token_model.h"

namespace latebind::embedding {

// Readers take the part's object, and reject unknown keys by name.
using ReadNormalizer = core::Result<NormalizerPtr>(const JsonView&);
using ReadPreTokenizer = core::Result<PreTokenizerPtr>(const JsonView&);
using ReadModel = core::Result<TokenModelPtr>(const JsonView&, ModelLists);
// Ids must be below the second argument.
using ReadPostProcessor = core::Result<PostProcessor>(const JsonView&, std::size_t);
using ReadDecoder = core::Result<DecoderPtr>(const JsonView&);

ReadNormalizer read_bert_normalizer;
ReadNormalizer read_byte_level_normalizer;
ReadNormalizer read_lowercase;
ReadNormalizer read_nfc;
ReadNormalizer read_nfd;
ReadNormalizer read_nfkc;
ReadNormalizer read_nfkd;
ReadNormalizer read_nmt;
ReadNormalizer read_normalizer_sequence;
ReadNormalizer read_precompiled;
ReadNormalizer read_prepend;
ReadNormalizer read_replace;
ReadNormalizer read_strip;
ReadNormalizer read_strip_accents;
ReadPreTokenizer read_bert_pre_tokenizer;
ReadPreTokenizer read_byte_level;
ReadPreTokenizer read_char_delimiter_split;
ReadPreTokenizer read_digits;
ReadPreTokenizer read_metaspace;
ReadPreTokenizer read_pre_tokenizer_sequence;
ReadPreTokenizer read_punctuation;
ReadPreTokenizer read_split;
ReadPreTokenizer read_unicode_scripts;
ReadPreTokenizer read_whitespace;
ReadPreTokenizer read_whitespace_split;
ReadModel read_bpe;
ReadModel read_unigram;
ReadModel read_word_level;
ReadModel read_wordpiece;
ReadPostProcessor read_bert_processing;
ReadPostProcessor read_byte_level_processing;
ReadPostProcessor read_roberta_processing;
ReadPostProcessor read_sequence_processing;
ReadPostProcessor read_template_processing;
ReadDecoder read_byte_fallback_decoder;
ReadDecoder read_byte_level_decoder;
ReadDecoder read_decoder_sequence;
ReadDecoder read_fuse_decoder;
ReadDecoder read_metaspace_decoder;
ReadDecoder read_replace_decoder;
ReadDecoder read_strip_decoder;
ReadDecoder read_word_piece_decoder;

template <class Read>
struct NamedPart {
  std::string_view type;
  Read* read;
};

inline constexpr NamedPart<ReadNormalizer> kNormalizers[] = {
    {"BertNormalizer", read_bert_normalizer},
    {"Lowercase", read_lowercase},
    {"NFC", read_nfc},
    {"NFD", read_nfd},
    {"NFKC", read_nfkc},
    {"NFKD", read_nfkd},
    {"StripAccents", read_strip_accents},
    {"Nmt", read_nmt},
    {"ByteLevel", read_byte_level_normalizer},
    {"Precompiled", read_precompiled},
    {"Prepend", read_prepend},
    {"Replace", read_replace},
    {"Strip", read_strip},
    {"Sequence", read_normalizer_sequence},
};
inline constexpr NamedPart<ReadPreTokenizer> kPreTokenizers[] = {
    {"BertPreTokenizer", read_bert_pre_tokenizer},
    {"WhitespaceSplit", read_whitespace_split},
    {"ByteLevel", read_byte_level},
    {"Metaspace", read_metaspace},
    {"Whitespace", read_whitespace},
    {"Punctuation", read_punctuation},
    {"Digits", read_digits},
    {"CharDelimiterSplit", read_char_delimiter_split},
    {"Split", read_split},
    {"UnicodeScripts", read_unicode_scripts},
    {"Sequence", read_pre_tokenizer_sequence},
};
inline constexpr NamedPart<ReadModel> kModels[] = {
    {"WordPiece", read_wordpiece},
    {"WordLevel", read_word_level},
    {"BPE", read_bpe},
    {"Unigram", read_unigram},
};
inline constexpr NamedPart<ReadPostProcessor> kPostProcessors[] = {
    {"TemplateProcessing", read_template_processing}, {"BertProcessing", read_bert_processing},
    {"RobertaProcessing", read_roberta_processing},   {"ByteLevel", read_byte_level_processing},
    {"Sequence", read_sequence_processing},
};
inline constexpr NamedPart<ReadDecoder> kDecoders[] = {
    {"WordPiece", read_word_piece_decoder},
    {"ByteLevel", read_byte_level_decoder},
    {"Metaspace", read_metaspace_decoder},
    {"Replace", read_replace_decoder},
    {"Strip", read_strip_decoder},
    {"Fuse", read_fuse_decoder},
    {"ByteFallback", read_byte_fallback_decoder},
    {"Sequence", read_decoder_sequence},
};

// kUnsupported: "<what> is not supported; the nearest name that works is …; supported are …".
template <class Parts>
core::Status unsupported_part(std::string_view what, std::string_view type, const Parts& parts) {
  return {
      core::StatusCode::kUnsupported,
      std::string(what)
          .append(" is not supported")
          .append(core::supported_instead(type, core::words_of(parts, [](const auto& part) { return part.type; })))};
}

// The reader of the part whose name is the "type" of `view`.
template <class Read, std::size_t kCount>
core::Result<Read*> find_part(const JsonView& view, const NamedPart<Read> (&parts)[kCount]) {
  LB_ASSIGN_OR_RETURN(const std::string type, view.string("type"));
  for (const auto& part : parts) {
    if (part.type == type) return part.read;
  }
  return unsupported_part(view.name() + " of type " + core::quoted(type), type, parts);
}

// Reads the parts of a Sequence from the array `key`. Refuses a nested Sequence, and parts that could make a very long
// text from a short one.
template <class Part, std::size_t kCount>
core::Result<std::vector<Part>> read_sequence(const JsonView& view, std::string_view key,
                                              const NamedPart<core::Result<Part>(const JsonView&)> (&parts)[kCount]) {
  constexpr std::size_t kPartsMax = 16;
  constexpr std::size_t kGrowthMax = 4096;
  LB_RETURN_IF_ERROR(view.only_keys({"type", key}));
  LB_ASSIGN_OR_RETURN(const core::Json* objects, view.array(key));
  const auto refused = [&view](const std::string& what) {
    return core::Status(core::StatusCode::kUnsupported, view.name() + what);
  };
  if (objects->size() > kPartsMax) return refused(" has more than " + std::to_string(kPartsMax) + " parts");
  std::vector<Part> read_parts;
  std::size_t growth = 1;
  for (const core::Json& object : *objects) {
    const std::string place = view.name() + "." + std::string(key) + "[" + std::to_string(read_parts.size()) + "]";
    LB_ASSIGN_OR_RETURN(const JsonView inner, JsonView::object(object, place));
    LB_ASSIGN_OR_RETURN(const std::string type, inner.string("type"));
    if (type == "Sequence") return refused(" is a Sequence inside a Sequence, which is not supported");
    LB_ASSIGN_OR_RETURN(const auto read, find_part(inner, parts));
    LB_ASSIGN_OR_RETURN(Part part, read(inner));
    growth *= part->growth();
    if (growth > kGrowthMax)
      return refused(" could make a text more than " + std::to_string(kGrowthMax) + " times as long");
    read_parts.push_back(std::move(part));
  }
  return read_parts;
}

}  // namespace latebind::embedding
