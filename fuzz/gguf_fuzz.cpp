// Fuzzes the reader of GGUF: the header, the tensors' numbers, and the folder that its metadata describes. The
// described files are read as those of any other folder are, which other targets fuzz.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "core/model/part_reader.h"
#include "embedding/folder/gguf.h"
#include "embedding/folder/gguf/network_files.h"
#include "embedding/folder/gguf/tokenizer_json.h"
#include "embedding/tokenizer/tokenizer.h"
#include "embedding/weights/gguf/gguf_file.h"

namespace {

namespace embedding = latebind::embedding;

void require(bool holds) {
  if (!holds) std::abort();
}

void read_tensors(const latebind::core::FilePart& part) {
  const auto file = embedding::GgufFile::from_part(part, "m.gguf");
  if (!file.ok()) return;
  const latebind::core::PartReader copies(file->copies());
  for (const std::string& name : file->names()) {
    const auto shape = file->shape_of(name);
    const auto tensor = file->locate(name, *shape);
    if (!tensor.ok() || !tensor->copied) continue;
    const std::size_t all = file->copies().bytes.bytes.size();
    require(tensor->offset <= all);
    // The last numbers, and the whole.
    std::vector<std::byte> numbers(std::min<std::size_t>(all - tensor->offset, 64));
    require(copies.read(tensor->offset, numbers));
    const auto found = file->find(name, *shape);
    require(found.ok() && found->bytes.size() <= all - tensor->offset);
    require(
        std::equal(found->bytes.begin(),
                   found->bytes.begin() + static_cast<std::ptrdiff_t>(std::min(found->bytes.size(), numbers.size())),
                   numbers.begin()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  const auto origin = embedding::read_gguf_origin(bytes);
  if (!origin) return 0;
  require(origin->repository.empty() == origin->key.empty());
  require(origin->repository.size() <= size && origin->name.size() <= size);
  latebind::core::FilePart part;
  part.where.size = size;
  part.bytes.bytes = bytes;
  read_tensors(part);
  const auto header = embedding::GgufHeader::read(part, "m.gguf");
  if (!header.ok()) return 0;
  const auto network = embedding::describe_gguf_network(*header);
  const auto text = embedding::gguf_tokenizer_json(*header, network.ok() && network->is_decoder);
  if (!text.ok()) return 0;
  const auto tokenizer = embedding::Tokenizer::from_json(*text, "tokenizer.json");
  if (!tokenizer.ok()) return 0;
  std::vector<std::int32_t> ids;
  static_cast<void>(tokenizer->encode("Hello, w\xc3\xb6rld 12 <s>", 64, ids));
  return 0;
}
