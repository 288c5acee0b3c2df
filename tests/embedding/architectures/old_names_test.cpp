// The old names of norms, gamma and beta, as transformers reads them (tests/data/sweep_folders.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "embedding/build_model.h"
#include "embedding/folder/model_folder.h"
#include "tests/embedding/support.h"

namespace latebind::embedding {
namespace {

// Replaces a tensor's name in the header of a file, which keeps its size.
void rename(std::string& file, std::string_view from, std::string_view to) {
  std::string wanted = "\"" + std::string(from) + "\"";
  std::string other = "\"" + std::string(to) + "\"";
  other.resize(wanted.size(), ' ');
  const auto at = file.find(wanted);
  ASSERT_NE(at, std::string::npos) << from;
  file.replace(at, wanted.size(), other);
}

// For norms with another name, transformers leaves the tensor out and takes ones: other vectors, without an error.
TEST(OldNamesTest, AreThoseOfLayerNormAlone) {
  for (const auto& [norm, is_known] : {std::pair{"distilbert.embeddings.LayerNorm", true},
                                       std::pair{"distilbert.transformer.layer.0.sa_layer_norm", false}}) {
    const testing::ScratchFolder scratch;
    scratch.copy_tiny_bert();
    const auto network = testing::data_folder() / "networks/distilbert";
    scratch.write("config.json", testing::read_file(network / "config.json"));
    std::string file = testing::read_file(network / "model.safetensors");
    rename(file, std::string(norm) + ".weight", std::string(norm) + ".gamma");
    rename(file, std::string(norm) + ".bias", std::string(norm) + ".beta");
    scratch.write("model.safetensors", file);
    const auto folder = ModelFolder::open(scratch.path());
    ASSERT_TRUE(folder.ok()) << folder.status().to_string();
    const auto graph = make_graph(folder->documents());
    EXPECT_EQ(graph.ok(), is_known) << norm << " " << graph.status().to_string();
    if (is_known) continue;
    EXPECT_THAT(graph.status().to_string(), ::testing::HasSubstr("sa_layer_norm.weight"));
  }
}

}  // namespace
}  // namespace latebind::embedding
