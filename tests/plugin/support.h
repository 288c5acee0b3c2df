// Plug-ins of these tests, and the network that they compute.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backends/plugin/backend.h"
#include "backends/plugin/load_plugin.h"
#include "core/graph/graph.h"
#include "core/model/model.h"

namespace latebind::plugin::testing {

using core::ElementType;
using core::OutputTensor;
using core::Result;
using core::Shape;
using core::Status;
using core::StatusCode;
using core::TensorView;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// The backend of a plug-in's library.
inline std::shared_ptr<PluginBackend> backend_in(const std::string& file, core::BackendSettingTexts settings = {},
                                                 const std::string& name = "toy") {
  return std::make_shared<PluginBackend>(PluginSource{.name = name, .open = [file] { return load_plugin(file); }},
                                         std::move(settings));
}

// The backend of a table in this program.
inline std::shared_ptr<PluginBackend> backend_of(const lbb_table* table, core::BackendSettingTexts settings = {}) {
  const std::string name = table->name;
  return std::make_shared<PluginBackend>(PluginSource{.name = name, .open = [table] { return check_table(table); }},
                                         std::move(settings));
}

inline core::Model model_of(graph::GraphBuilder builder, graph::Value output, std::string name = "z") {
  auto made = std::move(builder).finish(output, std::move(name));
  EXPECT_TRUE(made.ok()) << made.status().to_string();
  return core::Model::from_graph("sum", {.graph = std::make_shared<const graph::Graph>(*std::move(made))});
}

// z = x + y over f32 [?,2].
inline core::Model sum() {
  graph::GraphBuilder builder{core::FilePart{}};
  const Shape shape{core::kDynamic, 2};
  const auto x = builder.add(graph::Input{"x", ElementType::kF32, shape});
  const auto y = builder.add(graph::Input{"y", ElementType::kF32, shape});
  const auto z = builder.add(graph::Add{x, y});
  return model_of(std::move(builder), z);
}

// [1,2,3,4] and [10,20,30,40] as [2,2].
struct Summands {
  std::array<float, 4> x{1, 2, 3, 4};
  std::array<float, 4> y{10, 20, 30, 40};
  std::array<TensorView, 2> views{TensorView{x.data(), ElementType::kF32, {2, 2}, std::nullopt},
                                  TensorView{y.data(), ElementType::kF32, {2, 2}, std::nullopt}};
};

inline std::vector<float> floats_of(const OutputTensor& output) {
  const auto count = output.view().shape.element_count();
  const auto* const data = static_cast<const float*>(output.view().data);
  return count.ok() ? std::vector<float>(data, data + *count) : std::vector<float>();
}

#define EXPECT_OK(expression) EXPECT_EQ((expression).to_string(), "ok")
#define ASSERT_OK(expression) ASSERT_EQ((expression).to_string(), "ok")

// The error has this code, and its text these words.
inline void expect_error(const Status& status, StatusCode code, const std::string& words) {
  EXPECT_EQ(status.code(), code) << status.to_string();
  EXPECT_THAT(status.to_string(), HasSubstr(words));
}

}  // namespace latebind::plugin::testing
