// The real model, its texts and what sentence-transformers makes of them, as a program of ExecuTorch.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "embedding/export_onnx.h"
#include "embedding/folder/model_folder.h"
#include "embedding/tokenizer/tokenizer.h"
#include "tests/hosts/executorch/support.h"

namespace latebind::test {

inline const std::filesystem::path kSource = LATEBIND_SOURCE_DIR;
inline const std::filesystem::path kModelFolder = kSource / "build/runtime/model/all-MiniLM-L6-v2";
inline constexpr std::size_t kDimension = 384;
inline constexpr std::int32_t kTokensMax = 256;

struct Golden {
  std::vector<std::vector<std::int32_t>> ids;
  std::vector<float> vectors;

  static Golden read() {
    Golden golden;
    const auto tokenizer = embedding::Tokenizer::from_file(kModelFolder / "tokenizer.json");
    EXPECT_TRUE(tokenizer.ok()) << "run scripts/setup";
    std::ifstream lines(kSource / "tests/data/golden/minilm.jsonl");
    for (std::string line; std::getline(lines, line);) {
      const std::string text = nlohmann::json::parse(line)["text"];
      EXPECT_TRUE(tokenizer->encode(text, kTokensMax, golden.ids.emplace_back()).ok());
    }
    std::ifstream npy(kSource / "tests/data/golden/minilm.npy", std::ios::binary);
    char head[10] = {};
    npy.read(head, sizeof head);
    npy.seekg(10 + static_cast<unsigned char>(head[8]) + 256 * static_cast<unsigned char>(head[9]));
    golden.vectors.resize(golden.ids.size() * kDimension);
    npy.read(reinterpret_cast<char*>(golden.vectors.data()),
             static_cast<std::streamsize>(golden.vectors.size() * sizeof(float)));
    EXPECT_TRUE(npy.good()) << "tests/data/golden is damaged";
    return golden;
  }
};

// The vendor's library below build/runtime.
inline std::string vendor_library(const std::string& folder, const std::string& begin) {
  std::error_code ignored;
  for (const auto& python : std::filesystem::directory_iterator(kSource / "build/runtime/venv/lib", ignored)) {
    for (const auto& file : std::filesystem::directory_iterator(python.path() / "site-packages" / folder, ignored)) {
      if (file.path().filename().string().starts_with(begin)) return file.path().string();
    }
  }
  ADD_FAILURE() << "no " << begin << "* below build/runtime/venv: run scripts/setup";
  return {};
}
inline std::string openvino_file() {
  return vendor_library("openvino/libs", "libopenvino_c.so");
}
inline std::string onnxruntime_file() {
  return vendor_library("onnxruntime/capi", "libonnxruntime.so");
}

// One ONNX file with everything in it.
inline std::string minilm_onnx(const ProgramFolder& folder) {
  const auto opened = embedding::ModelFolder::open(kModelFolder);
  EXPECT_TRUE(opened.ok()) << opened.status().to_string();
  const auto file = folder.path() / "minilm.onnx";
  const auto written = embedding::write_onnx_file(opened->documents(), {}, file);
  EXPECT_TRUE(written.ok()) << written.to_string();
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline pte::ProgramSpec minilm_program() {
  return program_of({"input_ids i64 ?1,?256", "attention_mask i64 ?1,?256"}, {"sentence_embedding f32 ?1,384"});
}

}  // namespace latebind::test
