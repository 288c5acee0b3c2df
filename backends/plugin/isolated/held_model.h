// HeldModel: a model as the process of an isolated plug-in has it: what the program sent, the files that it names, and
// the memory that came with it. Immutable after read(); may be used from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "backends/plugin/isolated/wire.h"
#include "core/platform/files/mapped_file.h"
#include "core/platform/kept_child.h"
#include "core/result.h"

namespace latebind::plugin {

class HeldModel {
 public:
  // Reads what write_model() has written. The errors of the files.
  [[nodiscard]] static core::Result<std::unique_ptr<HeldModel>> read(std::shared_ptr<Reader> from,
                                                                     platform::SharedMemory memory);
  HeldModel(const HeldModel&) = delete;
  HeldModel& operator=(const HeldModel&) = delete;

  [[nodiscard]] const lbb_model* get() const { return model_; }
  [[nodiscard]] const lbb_graph* graph() const { return model_->graph; }
  // The model whose graph() that is.
  [[nodiscard]] static const HeldModel& of(const lbb_graph* graph);
  // The bytes of a weight; empty for one that does not exist.
  [[nodiscard]] std::span<const std::byte> weight(std::uint32_t number) const;

 private:
  struct Shared {
    lbb_graph graph;
    const HeldModel* of;
  };

  explicit HeldModel(std::shared_ptr<Reader> from) : from_(std::move(from)), model_(from_->one<lbb_model>()) {}
  void read_graph(lbb_graph& graph);
  void read_model();
  const std::byte* next_bytes(std::uint64_t size);
  const std::byte* bytes_of(const char* file, std::uint64_t offset, std::uint64_t size);

  const std::shared_ptr<Reader> from_;
  platform::SharedMemory memory_;
  std::size_t at_ = 0;
  std::vector<platform::MappedFile> files_;
  core::Status status_;
  lbb_model* const model_;
  const std::byte** bytes_of_parts_ = nullptr;
};

}  // namespace latebind::plugin
