// Folders without a tokenizer.json: the ids that transformers gives for them, and what is refused.
#include "embedding/tokenizer/vocabulary_files/vocabulary_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "embedding/tokenizer/vocabulary_files/sentence_piece.h"
#include "small_tokenizer.h"
#include "tests/support/json.h"

namespace latebind::embedding {
namespace {

using core::StatusCode;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

std::string data_file(const std::string& name) {
  const auto path = std::filesystem::path(LATEBIND_SOURCE_DIR) / "tests/data/tokenizer_folders" / name;
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

// A folder: its config.json, what is known of the network's tokenizers, and what is beside it.
struct Folder {
  json config = json::object();
  std::string class_of_network{};
  bool needs_tokenizer_json = false;
  VocabularyFiles files{};
  std::map<std::string, std::string, std::less<>> contents{};

  [[nodiscard]] core::Result<Tokenizer> open() {
    LB_ASSIGN_OR_RETURN(
        const TokenizerClass* found,
        find_tokenizer_class(json_of(config), files.tokenizer_config,
                             {.tokenizer_class = class_of_network, .needs_tokenizer_json = needs_tokenizer_json}));
    files.vocabulary = contents[std::string(found->vocabulary_file)];
    if (!found->merges_file.empty()) files.merges = contents[std::string(found->merges_file)];
    return Tokenizer::from_vocabulary_files(*found, files, "folder");
  }
};

Folder folder_of(const json& recorded) {
  Folder folder{.config = recorded["config"], .class_of_network = recorded["class"].get<std::string>()};
  const auto object = [&recorded](const char* key) {
    return recorded.contains(key) ? std::optional(json_of(recorded[key])) : std::nullopt;
  };
  folder.files.tokenizer_config = object("tokenizer_config");
  folder.files.special_tokens_map = object("special_tokens_map");
  folder.files.added_tokens = object("added_tokens");
  for (const auto& [name, source] : recorded["files"].items())
    folder.contents[name] = data_file(source.get<std::string>());
  return folder;
}

std::vector<json> recorded_cases() {
  std::ifstream file(std::filesystem::path(LATEBIND_SOURCE_DIR) / "tests/data/tokenizer_folders/cases.jsonl");
  std::vector<json> cases;
  for (std::string line; std::getline(file, line);)
    cases.push_back(json::parse(line));
  return cases;
}

TEST(VocabularyFilesTest, GiveTheIdsOfTheReference) {
  const json texts = json::parse(data_file("lines.json"));
  std::size_t compared = 0;
  for (const json& recorded : recorded_cases()) {
    SCOPED_TRACE(recorded["name"].get<std::string>());
    const auto tokenizer = folder_of(recorded).open();
    ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().to_string();
    for (std::size_t i = 0; i < recorded["ids"].size(); ++i, ++compared) {
      const auto text = texts[i].get<std::string>();
      EXPECT_EQ(testing::ids_of(*tokenizer, text), recorded["ids"][i].get<std::vector<std::int32_t>>()) << text;
    }
  }
  EXPECT_GE(compared, 3500U);
}

// A folder of the recorded ones, to change.
class RefusedFolderTest : public ::testing::Test {
 protected:
  static Folder folder(std::string_view name) {
    for (const json& recorded : recorded_cases()) {
      if (recorded["name"] == name) return folder_of(recorded);
    }
    ADD_FAILURE() << name;
    return {};
  }
  static void expect(Folder folder, StatusCode code, std::initializer_list<std::string_view> parts) {
    const auto tokenizer = folder.open();
    ASSERT_FALSE(tokenizer.ok());
    EXPECT_EQ(tokenizer.status().code(), code) << tokenizer.status().to_string();
    for (const std::string_view part : parts)
      EXPECT_THAT(tokenizer.status().to_string(), HasSubstr(part));
    EXPECT_THAT(tokenizer.status().to_string(), Not(HasSubstr("\n")));
  }
  // What tokenizer_config.json has makes BertTokenizer refuse.
  static void expect_of_config(StatusCode code, const char* text, std::initializer_list<std::string_view> parts) {
    SCOPED_TRACE(text);
    Folder bert = folder("bert");
    bert.files.tokenizer_config = json_of(text);
    expect(std::move(bert), code, parts);
  }
};

TEST_F(RefusedFolderTest, NamesTheClassThatIsNotKnown) {
  expect_of_config(StatusCode::kUnsupported, R"({"tokenizer_class": "BertJapaneseTokenizer"})",
                   {"tokenizer_config.json: 'tokenizer_class' 'BertJapaneseTokenizer' needs a tokenizer.json",
                    "BertTokenizer, ", "AlbertTokenizer"});
  expect_of_config(StatusCode::kUnsupported, R"({"tokenizer_class": "PreTrainedTokenizerFast"})",
                   {"'PreTrainedTokenizerFast' needs a tokenizer.json"});
  expect_of_config(StatusCode::kInvalidModel, R"({"tokenizer_class": 1})",
                   {"tokenizer_config.json", "tokenizer_class"});
  expect_of_config(StatusCode::kUnsupported, R"({"auto_map": {"AutoTokenizer": ["a.B", null]}})",
                   {"tokenizer_config.json", "'auto_map' names code"});
  Folder bert = folder("bert");
  bert.class_of_network.clear();
  bert.config = {{"model_type", "gemma3_text"}};
  expect(bert, StatusCode::kUnsupported, {"config.json: 'model_type' 'gemma3_text' needs a tokenizer.json"});
  bert.config = {{"model_type", "bert"}, {"tokenizer_class", "Unheard"}};
  expect(bert, StatusCode::kUnsupported, {"config.json: 'tokenizer_class' 'Unheard' needs a tokenizer.json"});
  bert.needs_tokenizer_json = true;
  bert.config = {{"model_type", "modernbert"}};
  bert.files.tokenizer_config = json_of(R"({"tokenizer_class": "BertTokenizer"})");
  expect(bert, StatusCode::kUnsupported, {"'model_type' 'modernbert' needs a tokenizer.json"});
}

TEST_F(RefusedFolderTest, NamesKeysThatWouldMakeAnotherTokenizer) {
  const auto unsupported = [](const char* text, std::initializer_list<std::string_view> parts) {
    expect_of_config(StatusCode::kUnsupported, text, parts);
  };
  unsupported(R"({"split_special_tokens": true})", {"'split_special_tokens' is true"});
  unsupported(R"({"truncation_side": "left"})", {"'truncation_side' is 'left'"});
  unsupported(R"({"init_inputs": [{}]})", {"'init_inputs'"});
  unsupported(R"({"vocab": {"a": 0}})", {"'vocab'"});
  unsupported(R"({"backend": "sentencepiece"})", {"'backend' is 'sentencepiece'"});
  unsupported(R"({"image_token": "<image>"})", {"'image_token' is a token"});
  unsupported(R"({"extra_special_tokens": {"image_token": "<image>"}})", {"'extra_special_tokens' is not a list"});
  unsupported(R"({"cls_token": null})", {"'cls_token' is null"});
  unsupported(R"({"sep_token": null})", {"'sep_token' is null"});
  unsupported(R"({"unk_token": null})", {"'unk_token' is null"});
  unsupported(R"({"cls_token": "a b"})", {"'a b' cannot be put around a text"});
  unsupported(R"({"sep_token": "$A"})", {"'$A' cannot be put around a text"});
  Folder bert = folder("bert");
  bert.files.special_tokens_map = json_of(R"({"image_token": "<image>"})");
  expect(bert, StatusCode::kUnsupported, {"special_tokens_map.json: 'image_token'"});
}

TEST_F(RefusedFolderTest, NamesKeysOfTheWrongKind) {
  const auto invalid = [](const char* text, std::initializer_list<std::string_view> parts) {
    expect_of_config(StatusCode::kInvalidModel, text, parts);
  };
  for (const char* key : {"do_lower_case", "tokenize_chinese_chars", "strip_accents", "split_special_tokens"}) {
    const std::string text = json{{key, "yes"}}.dump();
    invalid(text.c_str(), {"tokenizer_config.json", key});
  }
  invalid(R"({"mask_token": {"content": "[MASK]"}})", {"'mask_token' is neither a text nor an AddedToken"});
  invalid(R"({"mask_token": 4})", {"'mask_token' is neither"});
  invalid(R"({"additional_special_tokens": [{"content": "a"}]})", {"'additional_special_tokens' is neither"});
  invalid(R"({"added_tokens_decoder": []})", {"'added_tokens_decoder' is not an object"});
  invalid(R"({"added_tokens_decoder": {"x": {"content": "a"}}})", {"the key 'x', which is not an id"});
  invalid(R"({"added_tokens_decoder": {"-1": {"content": "a"}}})", {"the key '-1', which is not an id"});
  invalid(R"({"added_tokens_decoder": {"1": "a"}})", {"a value that is not an object"});
  invalid(R"({"added_tokens_decoder": {"1": {}}})", {"has no 'content'"});
  invalid(R"({"added_tokens_decoder": {"1": {"content": "a", "lstrip": 1}}})", {"'lstrip' with no flag"});
  invalid(R"({"added_tokens_decoder": {"1": {"content": "a", "bold": true}}})", {"the unknown key 'bold'"});
  Folder bert = folder("bert");
  bert.files.added_tokens = json_of(R"({"[NEW]": "one"})");
  expect(bert, StatusCode::kInvalidModel, {"added_tokens.json: '[NEW]' has no id"});
}

TEST_F(RefusedFolderTest, NamesWhatIsWrongWithAVocabulary) {
  Folder bert = folder("bert");
  bert.contents["vocab.txt"] = "";
  expect(bert, StatusCode::kInvalidModel, {"folder: model.vocab is empty"});
  bert.contents["vocab.txt"] = "[PAD]\na\n";
  expect(bert, StatusCode::kInvalidModel, {"'[UNK]' is not in the vocabulary"});
  bert.contents["vocab.txt"] = "[UNK]\n\xff\n";
  expect(bert, StatusCode::kInvalidModel, {"vocab.txt: not UTF-8 at byte 6"});
  bert.contents["vocab.txt"] = "[UNK]\n" + std::string(65'537, 'a');
  expect(bert, StatusCode::kUnsupported, {"vocab.txt: the token of id 1 is 65537 bytes long"});
  bert.contents["vocab.txt"] = std::string(VocabularyFiles::kFileBytesMax + 1, 'a');
  expect(bert, StatusCode::kUnsupported, {"vocab.txt: 67108865 bytes are above the limit of"});
  bert.contents["vocab.txt"] = std::string(Vocabulary::kTokensMax + 1, '\n');
  expect(bert, StatusCode::kUnsupported, {"vocab.txt: more than 4194304 tokens"});

  Folder roberta = folder("roberta");
  const auto with = [&roberta](const char* name, std::string text) {
    Folder changed = roberta;
    changed.contents[name] = std::move(text);
    return changed;
  };
  for (const char* text : {"", "{", "{\"a\": 0}}", "{\"a\": 0} x"})
    expect(with("vocab.json", text), StatusCode::kInvalidModel, {"vocab.json: not JSON: "});
  expect(with("vocab.json", "[]"), StatusCode::kInvalidModel, {"vocab.json: not an object"});
  expect(with("vocab.json", "7"), StatusCode::kInvalidModel, {"vocab.json: not an object"});
  for (const char* id : {"-1", "1.5", "\"1\"", "null", "true", "[1]", "{\"a\": 1}"})
    expect(with("vocab.json", R"({"a": )" + std::string(id) + "}"), StatusCode::kInvalidModel,
           {"vocab.json: the id of 'a' is not a whole number"});
  expect(with("vocab.json", R"({"a": 16777216})"), StatusCode::kInvalidModel, {"vocab.json: the id 16777216"});
  expect(with("vocab.json", R"({"a": 0})"), StatusCode::kInvalidModel, {"is not in the vocabulary"});
  expect(with("merges.txt", "#version: 0.2\na b c\n"), StatusCode::kInvalidModel, {"merges.txt: merge 0, 'a b c'"});
  expect(with("merges.txt", "e r\n\n"), StatusCode::kInvalidModel, {"merges.txt: merge 1, ''"});
  expect(with("merges.txt", "\xff a\n"), StatusCode::kInvalidModel, {"merges.txt: not UTF-8"});
  roberta.files.tokenizer_config = json_of(R"({"add_prefix_space": null})");
  expect(roberta, StatusCode::kUnsupported, {"'add_prefix_space' is null"});
}

TEST_F(RefusedFolderTest, SaysWhatGitLfsHasNotLoaded) {
  for (const auto& [name, file] :
       {std::pair("bert", "vocab.txt"), std::pair("roberta", "vocab.json"), std::pair("roberta", "merges.txt"),
        std::pair("xlm_roberta", "sentencepiece.bpe.model")}) {
    SCOPED_TRACE(file);
    Folder pointer = folder(name);
    ASSERT_TRUE(pointer.contents.contains(file));
    pointer.contents[file] = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n";
    expect(pointer, StatusCode::kInvalidModel, {std::string(file) + ": a Git LFS pointer"});
  }
}

TEST_F(RefusedFolderTest, AModelOfSentencePieceThatWasCutIsRefusedOrWhole) {
  for (const char* name : {"xlm_roberta", "albert", "camembert_as_saved"}) {
    Folder folder = RefusedFolderTest::folder(name);
    auto& content = folder.contents.begin()->second;
    const std::string whole = content;
    const auto ids = [&]() -> std::optional<std::vector<std::int32_t>> {
      const auto tokenizer = folder.open();
      if (tokenizer.ok()) return testing::ids_of(*tokenizer, "Ｈello wörld <mask>");
      EXPECT_EQ(tokenizer.status().code(), StatusCode::kInvalidModel) << tokenizer.status().to_string();
      EXPECT_THAT(tokenizer.status().to_string(), HasSubstr(".model: "));
      return std::nullopt;
    };
    const auto expected = ids();
    ASSERT_TRUE(expected);
    std::size_t whole_enough = 0;
    for (std::size_t size = 0; size < whole.size(); ++size) {
      content = whole.substr(0, size);
      // Behind what a tokenizer needs there are a few fields more.
      if (const auto of_cut = ids()) {
        EXPECT_EQ(of_cut, expected);
        ++whole_enough;
      }
    }
    EXPECT_LE(whole_enough, 2U);
  }
}

TEST_F(RefusedFolderTest, ADamagedModelOfSentencePieceIsRefusedOrRead) {
  Folder folder = RefusedFolderTest::folder("xlm_roberta");
  auto& content = folder.contents.begin()->second;
  const std::string whole = content;
  for (std::size_t at = 0; at < whole.size(); at += 7) {
    for (const int value : {0, 0x7F, 0x80, 0xFF}) {
      content = whole;
      content[at] = static_cast<char>(value);
      const auto tokenizer = folder.open();
      if (tokenizer.ok()) {
        EXPECT_FALSE(testing::ids_of(*tokenizer, "Hello").empty());
      } else {
        EXPECT_NE(tokenizer.status().code(), StatusCode::kInternal) << tokenizer.status().to_string();
      }
    }
  }
}

TEST_F(RefusedFolderTest, NamesWhatIsWrongWithAModelOfSentencePiece) {
  const auto refuse = [](const std::string& text, StatusCode code, std::string_view what) {
    Folder xlm = folder("xlm_roberta");
    xlm.contents["sentencepiece.bpe.model"] = text;
    expect(xlm, code, {"folder: sentencepiece.bpe.model: ", what});
  };
  const std::string piece(
      "\x0A\x08\x0A\x01"
      "a\x15\x00\x00\x80\x3F",
      10);                                                // "a", of score 1
  const std::string rest("\x12\x02\x18\x01\x1A\x00", 6);  // Unigram; no map
  refuse("", StatusCode::kInvalidModel, "no pieces in its 0 bytes");
  refuse(rest, StatusCode::kInvalidModel, "no pieces");
  refuse(piece, StatusCode::kInvalidModel, "no trainer_spec");
  refuse(piece + rest.substr(0, 4), StatusCode::kInvalidModel, "no normalizer_spec");
  refuse(piece + std::string("\x12\x02\x18\x02\x1A\x00", 6), StatusCode::kUnsupported, "model_type 2 is not supported");
  refuse("\x08\x01" + rest, StatusCode::kInvalidModel, "damaged at byte 0: field 1 is of another kind");
  refuse("\x0A\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01", StatusCode::kInvalidModel, "damaged at byte 0: field 1 has");
  refuse(std::string("\x0A\x03\x0A\x01\xFF", 5) + rest, StatusCode::kInvalidModel,
         "damaged at byte 2: a piece is not UTF-8");
  refuse(std::string("\x0A\x05\x15\x00\x00\xC0\x7F", 7) + rest, StatusCode::kInvalidModel, "a score is not finite");
  refuse(std::string("\x0A\x02\x18\x07", 4) + rest, StatusCode::kInvalidModel, "7 is not a type of a piece");
  const std::string long_piece = std::string("\x0A\x85\x80\x04\x0A\x81\x80\x04", 8) + std::string(65'537, 'a');
  refuse(piece + piece + piece + long_piece + rest, StatusCode::kUnsupported, "the token of id 4 is 65537 bytes long");
  // A map of characters that is none is the reader's of tokenizer.json to refuse.
  Folder xlm = folder("xlm_roberta");
  xlm.contents["sentencepiece.bpe.model"] =
      piece + piece + piece + piece + std::string("\x12\x02\x18\x01\x1A\x05\x12\x03", 8) + "abc";
  expect(xlm, StatusCode::kInvalidModel, {"precompiled_charsmap is not a map"});
  Folder albert = folder("albert");
  albert.files.tokenizer_config = json_of(R"({"cls_token": "[NEW]"})");
  expect(albert, StatusCode::kInvalidModel, {"spiece.model: the token '[NEW]' is missing"});
}

TEST(SentencePieceTest, ReadsPiecesTypesAndTheMap) {
  const std::string file = data_file("marked.model");
  const auto model = SentencePieceModel::read(std::as_bytes(std::span(file)));
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  using Type = SentencePieceModel::Type;
  EXPECT_EQ(model->pieces[0].text, "<unk>");
  EXPECT_EQ(model->pieces[0].type, Type::kUnknown);
  EXPECT_EQ(model->pieces[1].type, Type::kControl);
  EXPECT_EQ(std::ranges::count(model->pieces, Type::kUserDefined, &SentencePieceModel::Piece::type), 1);
  EXPECT_LT(model->pieces.back().score, 0.0F);
  EXPECT_TRUE(model->character_map.empty());
  const std::string with_map = data_file("xlm.model");
  EXPECT_FALSE(SentencePieceModel::read(std::as_bytes(std::span(with_map)))->character_map.empty());
}

}  // namespace
}  // namespace latebind::embedding
