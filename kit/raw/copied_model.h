// CopiedModel: a model, its options and the name of its device as a plug-in gets them, in memory of the kit's own. The
// kit changes the copy before the plug-in sees it, and destroys it as soon as the contract allows.
//
// One thread at a time. Needs watching_host().
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/backend/executable.h"
#include "core/model/model.h"
#include "core/result.h"
#include "kit/raw/watching_host.h"
#include "latebind/latebind_backend.h"

namespace latebind::kit {

struct CopyOptions {
  // Each struct is this much longer than the contract's, as those of a later host are. The rest is garbage.
  std::size_t growth = 0;
  // The bytes of weights are at odd addresses.
  bool odd_addresses = false;
  // lbb_host.weight() and lbb_host.read_weight() fail.
  bool no_weights = false;
};

class CopiedModel final : public WeightSource {
 public:
  // Copies the model in the forms of these LBB_READS_… bits. Errors: kUnsupported if it has none of them.
  [[nodiscard]] static core::Result<std::unique_ptr<CopiedModel>> make(const core::Model& model,
                                                                       const core::CompileOptions& options,
                                                                       std::string_view device, std::uint32_t reads,
                                                                       const CopyOptions& how = {});
  ~CopiedModel() override;

  // What the slot gets. After end_call() it is garbage.
  [[nodiscard]] const lbb_model* model() const { return model_; }
  [[nodiscard]] const lbb_graph* graph() const { return model_->graph; }
  [[nodiscard]] const lbb_options* options() const { return options_; }
  [[nodiscard]] const char* device() const { return device_; }

  // Changes the operator of the last node that is no input. Requires a graph.
  void rename_operator(const char* op);
  // Gives that node an argument that no operator has. Requires a graph.
  void add_argument(const char* name);

  // Overwrites everything that is valid only during the slot. Weights stay; the pointers may still be compared.
  void end_call();
  // Overwrites the bytes of weights and of other forms, too.
  void end_bytes();

  [[nodiscard]] const void* weight(std::uint32_t number) override;
  [[nodiscard]] bool read(std::uint32_t number, std::uint64_t offset, void* to, std::uint64_t size) override;

 private:
  class Copier;
  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
  };
  CopiedModel() = default;

  std::deque<Block> call_blocks_;  // of the slot
  std::deque<Block> byte_blocks_;  // of the loaded model
  std::vector<const std::byte*> weights_;
  std::vector<std::uint64_t> weight_sizes_;
  lbb_model* model_ = nullptr;
  lbb_graph* copied_graph_ = nullptr;
  lbb_node* last_node_ = nullptr;
  lbb_options* options_ = nullptr;
  const char* device_ = nullptr;
  bool no_weights_ = false;
};

}  // namespace latebind::kit
