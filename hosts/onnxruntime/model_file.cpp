#include "hosts/onnxruntime/model_file.h"

#include <cstring>
#include <utility>

namespace latebind::provider {

ModelFile::ModelFile(std::shared_ptr<const platform::MappedFile> file)
    : file_(std::move(file)), initializers_(graph::initializer_data(file_->bytes())), pages_(file_->bytes()) {}

std::shared_ptr<const ModelFile> ModelFile::open(const std::filesystem::path& file) {
  if (file.empty()) return nullptr;
  auto mapped = platform::MappedFile::open(file);
  if (!mapped.ok()) return nullptr;
  std::shared_ptr<const ModelFile> made(
      new ModelFile(std::make_shared<const platform::MappedFile>(*std::move(mapped))));
  return made->initializers_.empty() ? nullptr : made;
}

std::optional<std::uint64_t> ModelFile::offset_of(std::string_view name, std::string_view bytes) const {
  const auto found = initializers_.find(name);
  if (found == initializers_.end() || found->second.size() != bytes.size()) return std::nullopt;
  const bool is_same = std::memcmp(found->second.data(), bytes.data(), bytes.size()) == 0;
  pages_.release(found->second);
  if (!is_same) return std::nullopt;
  return static_cast<std::uint64_t>(found->second.data() - file_->bytes().data());
}

}  // namespace latebind::provider
