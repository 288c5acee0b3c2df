// TextIndex: the file that `latebind search --index` keeps beside the texts: vectors, the place of each text, and what
// tells whether a file is still the one that was read. docs/index-format.md describes the format, which is a
// safetensors file with tensors of these names.
//
// Everything in the file is checked when it is opened, but for the numbers of the vectors. Immutable after it is
// opened; any thread may read. Spans are valid as long as the index lives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/json.h"
#include "core/result.h"
#include "embedding/safetensors.h"

namespace latebind::app {

inline constexpr std::uint64_t kIndexVersion = 1;
inline constexpr std::size_t kIndexFilesMax = 1'000'000;
inline constexpr std::size_t kIndexTextsMax = 100'000'000;
inline constexpr std::size_t kIndexNameMax = 4096;                             // bytes of a file's name
inline constexpr std::size_t kIndexDescriptionMax = std::size_t{64} << 10;     // of its JSON
inline constexpr std::uint64_t kIndexedFileBytesMax = std::uint64_t{1} << 40;  // of a file with texts
inline constexpr std::size_t kIndexDimensionMax = std::size_t{1} << 20;

// How texts become vectors: vectors of two indices can be compared where all of it is equal.
struct IndexedBy {
  std::string model{};   // its name, for people
  std::string digest{};  // of its files: model_digest.h
  std::size_t dimension = 0;
  core::Json options = core::Json::object();  // whatever else changes vectors or what a text is

  // What of `other` is different, for people, such as "the model"; empty when nothing is.
  [[nodiscard]] std::string difference_from(const IndexedBy& other) const;
};

// A file, as it was when its texts were embedded.
struct IndexedFile {
  std::string name{};    // relative to the index's folder, with '/'; absolute where that cannot be
  std::string sha256{};  // 32 bytes
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;
  std::int64_t changed_ns = 0;  // 0: the content has to be read to tell whether it is the same
};

// The texts of one file: text i has the vector from i * dimension on, and is the bytes begins[i] to before ends[i].
struct IndexedTexts {
  std::span<const std::uint64_t> begins{};
  std::span<const std::uint64_t> ends{};
  std::span<const std::uint64_t> lines{};  // from 1
  std::span<const float> vectors{};

  [[nodiscard]] std::size_t size() const { return begins.size(); }
};

class TextIndex {
 public:
  // kNotFound, kPermissionDenied, kIo; kInvalidModel for what is damaged, kInvalidArgument for a file that is no index,
  // kUnsupported for an index of a later version.
  static core::Result<TextIndex> open(const std::filesystem::path& file);
  // From bytes that outlive the object; `name` is for messages.
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
  std::vector<std::uint64_t> text_ends_;  // of each file, in texts
  IndexedTexts all_;
};

// A file and its texts, to be written.
struct IndexPart {
  IndexedFile file{};
  IndexedTexts texts{};
};
// Writes the whole file and gives it its name last. `parts` are sorted by name. `release` is called when they are no
// longer needed, before the old file is replaced: what maps it has to go first on some systems. kInvalidArgument for
// more than an index can hold; the errors of OutputFile.
[[nodiscard]] core::Status write_index(const std::filesystem::path& file, const IndexedBy& by,
                                       std::span<const IndexPart> parts, const std::function<void()>& release = {});

}  // namespace latebind::app
