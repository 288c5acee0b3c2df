#include "embedding/weights/torch/torch_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/model/part_reader.h"
#include "core/text/git_lfs.h"
#include "core/text/quote.h"
#include "embedding/weights/torch/copy_view.h"
#include "embedding/weights/torch/pickle.h"
#include "embedding/weights/torch/tensors.h"
#include "embedding/weights/torch/zip_records.h"

namespace latebind::embedding {
namespace {

using core::PartReader;
using core::Result;
using core::Status;
using core::StatusCode;
using Kind = PickleValue::Kind;

constexpr std::string_view kZipBeginning = "PK\x03\x04";
// The older format begins with the pickle of 0x1950a86a20f9469cfc6c and that of 1001.
constexpr std::string_view kOldMagic = "\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19";
constexpr std::int64_t kOldVersion = 1001;
// The older format has its pickles one after the other, before the elements.
constexpr std::uint64_t kOldHeadMax = 2 * kPickleBytesMax;

Status bad_torch_file(std::string_view what) {
  return {StatusCode::kInvalidModel, fmt::format("not a file of torch.save(), or damaged: {}", what)};
}

Result<std::string> read_text(const PartReader& file, std::uint64_t offset, std::uint64_t size) {
  std::string text(static_cast<std::size_t>(size), '\0');
  if (!file.read(offset, std::as_writable_bytes(std::span(text)))) return file.why_not();
  return text;
}

Status check_stored(const ZipRecord& record) {
  if (record.method == 0) return {};
  return {StatusCode::kUnsupported, fmt::format("the record {} is compressed (method {}); torch.save() stores records",
                                                core::quoted(record.name), record.method)};
}

const ZipRecord* find_record(const std::vector<ZipRecord>& records, std::string_view name) {
  const auto found = std::ranges::find(records, name, &ZipRecord::name);
  return found == records.end() ? nullptr : &*found;
}

// Returns the folder of all records, with its slash: torch names it after the file.
Result<std::string> root_of(const std::vector<ZipRecord>& records) {
  constexpr std::string_view kPickle = "data.pkl";
  for (const ZipRecord& record : records) {
    const auto slash = record.name.find('/');
    if (slash != std::string::npos && record.name.substr(slash + 1) == kPickle) {
      std::string root = record.name.substr(0, slash + 1);
      if (find_record(records, root + "constants.pkl") == nullptr) return root;
      return Status(StatusCode::kUnsupported,
                    "a TorchScript program, whose code is not executed; only weights are read");
    }
  }
  return bad_torch_file("a ZIP without data.pkl");
}

// One of the pickles that follow each other in the older format.
Result<Pickle> next_pickle(std::string_view& rest) {
  LB_ASSIGN_OR_RETURN(Pickle pickle, read_pickle(rest));
  rest.remove_prefix(pickle.size);
  return pickle;
}

Status check_system(const Pickle& system) {
  const PickleValue& root = system[system.root];
  if (root.kind != Kind::kDict) return bad_torch_file("no description of its system");
  for (std::size_t i = 0; i + 1 < root.items.size(); i += 2) {
    const PickleValue& value = system[root.items[i + 1]];
    if (system[root.items[i]].text != "little_endian" || value.kind != Kind::kBool) continue;
    if (value.number == 1) return {};
    return {StatusCode::kUnsupported, "its numbers are big-endian; only little-endian ones are read"};
  }
  return bad_torch_file("no order of bytes in the description of its system");
}

}  // namespace

// Fills the entries from what was found.
class TorchEntries {
 public:
  TorchEntries(const PartReader& file, std::uint64_t file_size)
      : file_(file), copied_left_(file_size), read_left_(file_size) {}

  struct Place {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool copied = false;
    std::string refusal{};
  };
  // Finds the elements of a tensor, or copies them.
  Result<Place> place(const TorchTensor& tensor, const TorchStorage& storage) {
    std::uint64_t count = 1;
    for (const std::int64_t size : tensor.shape)
      count *= static_cast<std::uint64_t>(size);
    const std::uint64_t bytes = count * storage.element_size;
    const std::uint64_t begin = storage.offset + tensor.first * storage.element_size;
    if (bytes == 0) return Place{};
    if (tensor.is_contiguous()) return Place{.begin = begin, .end = begin + bytes};
    const std::uint64_t extent = tensor.extent() * storage.element_size;
    if (bytes > copied_left_ || extent > read_left_) {
      return Place{.refusal = fmt::format("is a view that takes {} bytes more than the file has; save the tensor after "
                                          "contiguous()",
                                          bytes)};
    }
    copied_left_ -= bytes;
    read_left_ -= extent;
    LB_ASSIGN_OR_RETURN(const std::string elements, read_text(file_, begin, extent));
    const Place copied{.begin = copies_.size(), .end = copies_.size() + bytes, .copied = true};
    copies_.resize(static_cast<std::size_t>(copied.end));
    copy_view(std::as_bytes(std::span(elements)), storage.element_size, tensor.shape, tensor.strides,
              reinterpret_cast<std::byte*>(copies_.data()) + copied.begin);
    return copied;
  }

  std::string take_copies() { return std::move(copies_); }

 private:
  const PartReader& file_;
  std::string copies_;
  // What may still be copied, and read for it: views of one element may be larger than any file.
  std::uint64_t copied_left_;
  std::uint64_t read_left_;
};

bool begins_as_torch_file(std::string_view first_bytes) {
  if (first_bytes.starts_with(kZipBeginning)) return true;
  return first_bytes.substr(0, kTorchBeginning).find(kOldMagic) != std::string_view::npos;
}

Result<TorchFile> TorchFile::from_part(core::FilePart part, std::string name) {
  TorchFile file;
  file.name_ = std::move(name);
  file.part_ = std::move(part);
  const Status status = file.read();
  if (!status.ok()) return status.with_context(file.name_);
  return file;
}

Status TorchFile::read() {
  const PartReader file(part_);
  LB_ASSIGN_OR_RETURN(const std::string first,
                      read_text(file, 0, std::min<std::uint64_t>(bytes().size(), core::kGitLfsPointerBegin)));
  if (core::is_git_lfs_pointer(first)) return {StatusCode::kInvalidModel, std::string(core::kGitLfsPointer)};
  if (!begins_as_torch_file(first)) return bad_torch_file("its first bytes are those of another format");
  return first.starts_with(kZipBeginning) ? read_zip(file) : read_old(file);
}

Status TorchFile::read_zip(const PartReader& file) {
  LB_ASSIGN_OR_RETURN(const auto records, read_zip_records(file, bytes().size()));
  LB_ASSIGN_OR_RETURN(const std::string root, root_of(records));
  if (const ZipRecord* const order = find_record(records, root + "byteorder")) {
    LB_ASSIGN_OR_RETURN(const std::string word,
                        read_text(file, order->offset, std::min<std::uint64_t>(order->size, 16)));
    if (word != "little") {
      return {StatusCode::kUnsupported,
              fmt::format("its byte order is {}; only little-endian numbers are read", core::quoted(word))};
    }
  }
  const ZipRecord& object = *find_record(records, root + "data.pkl");
  LB_RETURN_IF_ERROR(check_stored(object));
  if (object.size > kPickleBytesMax) {
    return bad_torch_file(fmt::format("a pickle of {} bytes, at most {} are read", object.size, kPickleBytesMax));
  }
  LB_ASSIGN_OR_RETURN(const std::string text, read_text(file, object.offset, object.size));
  LB_ASSIGN_OR_RETURN(const Pickle pickle, read_pickle(text));
  LB_ASSIGN_OR_RETURN(TorchTensors found, find_tensors(pickle));
  std::map<std::string_view, const ZipRecord*> by_name;
  for (const ZipRecord& record : records)
    by_name.emplace(record.name, &record);
  for (auto& [key, storage] : found.storages) {
    const auto record = by_name.find(fmt::format("{}data/{}", root, key));
    if (record == by_name.end()) return bad_torch_file(fmt::format("no storage {}", core::quoted(key)));
    LB_RETURN_IF_ERROR(check_stored(*record->second));
    if (record->second->size < storage.elements * storage.element_size) {
      return bad_torch_file(fmt::format("the storage {} has {} bytes instead of {}", core::quoted(key),
                                        record->second->size, storage.elements * storage.element_size));
    }
    storage.offset = record->second->offset;
  }
  return take(file, found);
}

Status TorchFile::read_old(const PartReader& file) {
  const std::uint64_t size = bytes().size();
  LB_ASSIGN_OR_RETURN(const std::string head, read_text(file, 0, std::min(size, kOldHeadMax)));
  std::string_view rest = head;
  LB_ASSIGN_OR_RETURN(const Pickle magic, next_pickle(rest));
  if (magic[magic.root].text != kOldMagic) return bad_torch_file("another magic number");
  LB_ASSIGN_OR_RETURN(const Pickle version, next_pickle(rest));
  if (version[version.root].kind != Kind::kInt || version[version.root].number != kOldVersion) {
    return {StatusCode::kUnsupported, fmt::format("its version is not {}", kOldVersion)};
  }
  LB_ASSIGN_OR_RETURN(const Pickle system, next_pickle(rest));
  LB_RETURN_IF_ERROR(check_system(system));
  LB_ASSIGN_OR_RETURN(const Pickle object, next_pickle(rest));
  LB_ASSIGN_OR_RETURN(TorchTensors found, find_tensors(object));
  LB_ASSIGN_OR_RETURN(const Pickle keys, next_pickle(rest));
  if (keys[keys.root].kind != Kind::kList) return bad_torch_file("no list of storages");
  // Each storage follows the number of its elements.
  std::uint64_t at = head.size() - rest.size();
  std::size_t stored = 0;
  for (const PickleId id : keys[keys.root].items) {
    const auto storage = found.storages.find(keys[id].text);
    if (storage == found.storages.end() || storage->second.offset != 0) {
      return bad_torch_file(fmt::format("the storage {} belongs to no tensor", core::quoted(keys[id].text)));
    }
    if (size - at < sizeof(std::uint64_t)) return bad_torch_file("a storage is missing; is it cut short?");
    LB_ASSIGN_OR_RETURN(const std::string count, read_text(file, at, sizeof(std::uint64_t)));
    std::uint64_t elements = 0;
    for (std::size_t i = count.size(); i-- > 0;)
      elements = elements << 8U | static_cast<unsigned char>(count[i]);
    at += count.size();
    if (elements < storage->second.elements || elements > (size - at) / storage->second.element_size) {
      return bad_torch_file(
          fmt::format("the storage {} has {} elements; is it cut short?", core::quoted(keys[id].text), elements));
    }
    storage->second.offset = at;
    at += elements * storage->second.element_size;
    ++stored;
  }
  if (stored != found.storages.size()) return bad_torch_file("a storage is missing");
  return take(file, found);
}

Status TorchFile::take(const PartReader& file, const TorchTensors& found) {
  TorchEntries entries(file, bytes().size());
  for (const TorchTensor& tensor : found.tensors) {
    const TorchStorage& storage = found.storages.find(tensor.storage)->second;
    LB_ASSIGN_OR_RETURN(auto place, entries.place(tensor, storage));
    entries_.emplace(tensor.name, Entry{.type = storage.type,
                                        .shape = tensor.shape,
                                        .begin = place.begin,
                                        .end = place.end,
                                        .copied = place.copied,
                                        .refusal = std::move(place.refusal)});
  }
  copies_.bytes = core::SharedBytes::from_string(entries.take_copies());
  return {};
}

}  // namespace latebind::embedding
