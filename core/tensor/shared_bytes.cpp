#include "core/tensor/shared_bytes.h"

#include <utility>

namespace latebind::core {

SharedBytes SharedBytes::from_string(std::string text) {
  auto owned = std::make_shared<const std::string>(std::move(text));
  const std::span<const std::byte> bytes = std::as_bytes(std::span(owned->data(), owned->size()));
  return {std::move(owned), bytes};
}

FilePart FilePart::of(std::shared_ptr<const platform::MappedFile> mapped) {
  FilePart part;
  part.where = {mapped->file(), 0, mapped->bytes().size()};
  part.identity = mapped->identity();
  part.bytes.bytes = mapped->bytes();
  part.bytes.owner = std::move(mapped);
  return part;
}

FilePart FilePart::of(std::shared_ptr<const ComputedBytes> computed) {
  FilePart part;
  part.where.size = computed->bytes().size();
  part.bytes = {computed, computed->bytes()};
  part.computed = std::move(computed);
  return part;
}

Result<FilePart> FilePart::open(const std::filesystem::path& file) {
  LB_ASSIGN_OR_RETURN(auto mapped, platform::MappedFile::open(file));
  return of(std::make_shared<const platform::MappedFile>(std::move(mapped)));
}

}  // namespace latebind::core
