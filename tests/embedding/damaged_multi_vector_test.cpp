// Folders of multi-vector encoders whose files say anything: they open, or are refused by the name of a file.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "embedding/folder/model_folder.h"
#include "embedding/inputs/text_limits.h"
#include "embedding/tokenizer/tokenizer.h"
#include "tests/embedding/support.h"

namespace latebind::embedding {
namespace {

using core::StatusCode;
using nlohmann::json;
using std::filesystem::path;

std::vector<path> files_of(const path& folder) {
  std::vector<path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file() && name != "tokenizer.json" && name != "model.safetensors")
      files.push_back(entry.path());
  }
  return files;
}

// How far a folder can be used, which is nobody's crash.
void open(const path& folder, std::string_view what) {
  const auto opened = ModelFolder::open(folder);
  core::Status status = opened.status();
  if (opened.ok()) {
    const Specification& model = opened->documents();
    const auto tokenizer = model.open_tokenizer();
    status = tokenizer.status();
    if (tokenizer.ok() && opened->kind().name == "multi_vector") {
      auto limits = text_limits(model, 0);
      status = limits.ok() ? set_roles(model, *tokenizer, *limits) : limits.status();
      for (const TokenLimits* of_role : {&limits->document, limits.ok() && limits->query ? &*limits->query : nullptr}) {
        if (!limits.ok() || of_role == nullptr) continue;
        TokenTable table;
        static_cast<void>(table.add(*tokenizer, *of_role, "the cat sat on the mat."));
        if (table.size() == 0) continue;
        EXPECT_LE(table.lengths()[0], model.network.network ? model.network.network->tokens_max() : kTokensMax) << what;
      }
    }
  }
  if (status.ok()) return;
  const StatusCode code = status.code();
  // The last of a name that is too long for a file.
  const bool is_known = code == StatusCode::kInvalidModel || code == StatusCode::kUnsupported ||
                        code == StatusCode::kNotFound || code == StatusCode::kIo;
  EXPECT_TRUE(is_known) << what << ": " << status.to_string();
  EXPECT_NE(status.to_string().find(folder.filename().string()), std::string::npos)
      << what << ": " << status.to_string();
}

// Sets each value of the document, and of what is in it, to each of these, one after the other.
template <class Use>
void spoil_each(json& whole, json& at, const std::vector<json>& with, const Use& use) {
  for (auto& each : at.items()) {
    const json old = each.value();
    for (const json& value : with) {
      each.value() = value;
      use(each.key() + ": " + value.dump().substr(0, 40));
    }
    each.value() = old;
    if (old.is_structured()) spoil_each(whole, each.value(), with, use);
  }
}

class DamagedMultiVectorTest : public ::testing::TestWithParam<std::string> {};

TEST_P(DamagedMultiVectorTest, OpensOrIsRefusedByName) {
  const testing::ScratchFolder scratch;
  const path folder = scratch.path() / GetParam();
  std::filesystem::copy(testing::data_folder() / "multi_vector_encoders" / GetParam(), folder,
                        std::filesystem::copy_options::recursive);
  open(folder, "whole");
  const std::vector<json> values{nullptr,
                                 true,
                                 0,
                                 -1,
                                 3,
                                 1.5,
                                 1e300,
                                 std::uint64_t{1} << 62,
                                 "",
                                 "x",
                                 "query",
                                 std::string(70000, 'y'),
                                 json::array(),
                                 json::array({"a", 1, nullptr}),
                                 json::object(),
                                 {{"length", 3}, {"content", 5}}};
  std::size_t tried = 0;
  for (const path& file : files_of(folder)) {
    const std::string text = testing::read_file(file);
    json document = json::parse(text);
    const std::string name = file.filename().string() + " ";
    spoil_each(document, document, values, [&](const std::string& what) {
      testing::write_file(file, document.dump());
      open(folder, name + what);
      ++tried;
    });
    for (std::size_t size = 0; size < text.size(); size += 1 + text.size() / 16) {
      testing::write_file(file, text.substr(0, size));
      open(folder, name + "cut");
    }
    testing::write_file(file, text);
    // Without it.
    std::filesystem::rename(file, scratch.path() / "away");
    open(folder, name + "gone");
    std::filesystem::rename(scratch.path() / "away", file);
  }
  EXPECT_GT(tried, 300U);
}

INSTANTIATE_TEST_SUITE_P(All, DamagedMultiVectorTest,
                         ::testing::Values("bert", "distilbert", "modernbert", "roberta", "stanford"),
                         [](const auto& given) { return given.param; });

}  // namespace
}  // namespace latebind::embedding
