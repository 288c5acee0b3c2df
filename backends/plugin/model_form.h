// GivenModel and GivenOptions: a model and the options of its compilation as a plug-in gets them (lbb_model,
// lbb_options).
//
// Immutable; may be used from any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "backends/plugin/contract.h"
#include "backends/plugin/graph_form.h"
#include "core/backend/executable.h"
#include "core/model/model.h"
#include "core/result.h"

namespace latebind::plugin {

class GivenModel {
 public:
  // Gives the model in the forms of these LBB_READS_… bits: its graph, or else what it has or what can be written from
  // the graph. kUnsupported when there is none, and the errors of the files.
  [[nodiscard]] static core::Result<std::unique_ptr<const GivenModel>> make(const core::Model& model,
                                                                            std::uint32_t reads);
  GivenModel(const GivenModel&) = delete;
  GivenModel& operator=(const GivenModel&) = delete;

  // Valid as long as this object lives. The memory of weights, ONNX and IR lives as long as bytes().
  [[nodiscard]] const lbb_model* get() const { return &given_; }
  // Null when the plug-in does not get the graph.
  [[nodiscard]] const lbb_graph* graph() const { return given_.graph; }
  // See GraphForm::check_files().
  [[nodiscard]] core::Status check_files() const { return graph_ ? graph_->check_files() : core::Status(); }
  // Owns what a loaded model may refer to.
  [[nodiscard]] const std::shared_ptr<const void>& bytes() const { return bytes_; }

 private:
  // What the plug-in may refer to after load() has returned.
  struct Bytes {
    std::shared_ptr<const graph::Graph> graph{};
    std::deque<core::ModelForm> forms{};
  };

  GivenModel() = default;
  void give(const core::ModelForm& form);

  std::shared_ptr<const void> bytes_;
  std::unique_ptr<const GraphForm> graph_;
  std::string name_;
  std::deque<std::string> files_;
  std::deque<lbb_piece> pieces_;
  std::vector<const lbb_piece*> piece_list_;
  lbb_model given_ = sized<lbb_model>();
};

class GivenOptions {
 public:
  // Refers to `options`, which must outlive this object.
  explicit GivenOptions(const core::CompileOptions& options);
  GivenOptions(const GivenOptions&) = delete;
  GivenOptions& operator=(const GivenOptions&) = delete;

  [[nodiscard]] const lbb_options* get() const { return &given_; }

 private:
  std::deque<lbb_shape> shapes_;
  std::deque<lbb_pair> properties_;
  std::vector<const lbb_shape*> shape_list_;
  std::vector<const lbb_pair*> property_list_;
  lbb_options given_ = sized<lbb_options>();
};

}  // namespace latebind::plugin
