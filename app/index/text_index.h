// TextIndex is the file that `latebind search --index` keeps beside the texts. It holds the vectors, the position of
// each text, and what is needed to detect a changed file. The format is a safetensors file whose tensors
// docs/index-format.md describes.
//
// Opening checks everything in the file except the values of the vectors. A TextIndex is immutable once opened, and any
// thread may read it. Its spans are valid as long as the index lives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/json/value.h"
#include "core/result.h"
#include "embedding/weights/safetensors.h"

namespace latebind::app {

inline constexpr std::uint64_t kIndexVersion = 1;
inline constexpr std::size_t kIndexFilesMax = 1'000'000;
inline constexpr std::size_t kIndexTextsMax = 100'000'000;
inline constexpr std::size_t kIndexNameMax = 4096;                             // bytes of a file's name
inline constexpr std::size_t kIndexDescriptionMax = std::size_t{64} << 10;     // bytes of the description's JSON
inline constexpr std::uint64_t kIndexedFileBytesMax = std::uint64_t{1} << 40;  // bytes of a file with texts
inline constexpr std::size_t kIndexDimensionMax = std::size_t{1} << 20;

// How texts become vectors. The vectors of two indices are comparable if all of these are equal.
struct IndexedBy {
  std::string model{};   // for messages
  std::string digest{};  // of the model's files: model_digest.h
  std::size_t dimension = 0;
  core::Json options = core::Json::object();  // everything else that affects vectors or the cutting of texts

  // Names what differs in `other`, for messages, such as "the model". Empty if nothing differs.
  [[nodiscard]] std::string difference_from(const IndexedBy& other) const;
};

// A file, as it was when its texts were embedded.
struct IndexedFile {
  std::string name{};    // relative to the index's folder, with '/'; absolute if that is impossible
  std::string sha256{};  // 32 bytes
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;  // 0: only reading the content can tell whether the file has changed
};

// The texts of one file. Text i spans the bytes [begins[i], ends[i]); its vector starts at i * dimension.
struct IndexedTexts {
  std::span<const std::uint64_t> begins{};
  std::span<const std::uint64_t> ends{};
  std::span<const std::uint64_t> lines{};  // from 1
  std::span<const float> vectors{};

  [[nodiscard]] std::size_t size() const { return begins.size(); }
};

class TextIndex {
 public:
  // Returns kNotFound, kPermissionDenied or kIo from reading, kInvalidModel if the file is damaged, kInvalidArgument if
  // it is not an index, and kUnsupported if it is an index of a later version.
  static core::Result<TextIndex> open(const std::filesystem::path& file);
  // Reads an index from bytes that outlive the object. `name` stands for the file in messages.
  static core::Result<TextIndex> from_bytes(std::span<const std::byte> bytes, const std::string& name);

  [[nodiscard]] const IndexedBy& made_by() const { return made_by_; }
  // Sorted by name.
  [[nodiscard]] const std::vector<IndexedFile>& files() const { return files_; }
  [[nodiscard]] IndexedTexts texts_of(std::size_t file) const;
  [[nodiscard]] std::size_t text_count() const { return all_.size(); }

 private:
  explicit TextIndex(embedding::Safetensors tensors) : tensors_(std::move(tensors)) {}
  static core::Result<TextIndex> of(embedding::Safetensors tensors);
  [[nodiscard]] core::Status read_description();
  [[nodiscard]] core::Status read_files();
  [[nodiscard]] core::Status read_texts();
  [[nodiscard]] core::Status damaged(std::string_view what) const;
  template <class T>
  [[nodiscard]] core::Result<std::span<const T>> tensor(std::string_view name, std::string_view type,
                                                        std::initializer_list<std::size_t> shape) const;
  [[nodiscard]] core::Result<std::size_t> length_of(std::string_view name, std::size_t most) const;

  embedding::Safetensors tensors_;
  IndexedBy made_by_;
  std::vector<IndexedFile> files_;
  std::vector<std::uint64_t> text_ends_;  // by file: the number of texts up to its end
  IndexedTexts all_;
};

// A file and its texts, to be written.
struct IndexPart {
  IndexedFile file{};
  IndexedTexts texts{};
};
// Writes the whole file and renames it into place. `parts` are sorted by name. `release` is called once they are no
// longer needed and before the old file is replaced, because some systems cannot replace a mapped file. Returns
// kInvalidArgument if an index cannot hold that much, and the errors of OutputFile.
[[nodiscard]] core::Status write_index(const std::filesystem::path& file, const IndexedBy& by,
                                       std::span<const IndexPart> parts, const std::function<void()>& release = {});

}  // namespace latebind::app
