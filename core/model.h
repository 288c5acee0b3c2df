// Model: a portable network, as a Graph, as ONNX or as OpenVINO IR, in memory or in a file; and Blob: a model that one
// backend compiled.
//
// A graph is not written in any format until a backend asks for it when it loads the model; a backend may also compute
// from the graph directly. A Model may hold the same network in several forms as well, so that each backend takes the
// one that it reads fastest. Weights of graphs and of forms in memory may stay where they are, in a mapped file for
// instance: nothing is copied until a vendor insists. Immutable after it is built; shared between threads freely.
//
// A Model is one set of bytes for its whole life. The identities of their files are remembered as of opening, and every
// load checks that they have not changed (check_bytes()).
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config.h"
#include "core/graph/graph.h"
#include "core/platform/files/file_identity.h"
#include "core/platform/files/mapped_file.h"
#include "core/result.h"
#include "core/shared_bytes.h"

namespace latebind::core {

enum class ModelFormat : std::int32_t { kOnnx = 0, kOpenvinoIr = 1 };
template <>
struct Words<ModelFormat> {
  static constexpr std::string_view kWhat = "model format";
  static constexpr std::array kWords{Word<ModelFormat>{"onnx", ModelFormat::kOnnx},
                                     Word<ModelFormat>{"openvino-ir", ModelFormat::kOpenvinoIr}};
};

// A file that a model's bytes come from, as it was when it was opened.
struct SourceFile {
  std::filesystem::path file;
  platform::FileIdentity identity{};
  // The bytes are Latebind's mapping, which outlives the file's name; else a vendor opens the file by its name.
  bool mapped = false;
};

// ONNX: a file that the model's external data names, held in memory. `location` is the name used in the model. `file`
// is the file that `data` maps from `offset` on, if any: completely, or a part of it, as in a bundle's ZIP.
struct ExternalData {
  std::string location;
  SharedBytes data;
  std::filesystem::path file{};
  platform::FileIdentity identity{};
  // A vendor that can only copy from memory may map the file itself, as long as its identity is the same. When false,
  // whoever has the file may write to it later, and no vendor is to notice.
  bool may_open_file = true;
  std::uint64_t offset = 0;

  // Of what is mapped already.
  static ExternalData of_part(std::string location, FilePart part);
  // Maps it. The errors of MappedFile::open().
  static Result<ExternalData> in_file(std::string location, const std::filesystem::path& file);

  // Whether the file of that name, if there is one, still has the bytes of `data`.
  [[nodiscard]] bool is_file_unchanged() const;
};

// One form of a model. Exactly one of `file` and `graph` is set.
struct ModelForm {
  ModelFormat format = ModelFormat::kOnnx;
  std::filesystem::path file{};          // .onnx, or .xml with its .bin beside it
  SharedBytes graph{};                   // ONNX protobuf, or IR XML text
  SharedBytes weights{};                 // IR in memory: what the offsets in the XML refer to; empty for ONNX
  std::vector<ExternalData> external{};  // ONNX in memory: where its external data is

  // ONNX protobuf or IR XML text: `graph`, or the mapped file. The errors of MappedFile::open().
  [[nodiscard]] Result<SharedBytes> open() const;
};

// What is known of a file with weights.
struct WeightsSource {
  // Beside a form that is written from the graph: "model.safetensors".
  std::string name{};
  // What represents it in digests, unverified; empty: its SHA-256.
  std::string identity{};
};

// A network as a Graph, with its weights.
struct ModelGraph {
  std::shared_ptr<const graph::Graph> graph{};
  std::vector<WeightsSource> sources{};  // one for each of Graph::weights()
};

class BlobSource;

// The format according to a model's first bytes; nothing when it is neither.
[[nodiscard]] std::optional<ModelFormat> format_of(std::span<const std::byte> bytes);

class Model {
 public:
  // Determines the format from the file's name and first bytes. The file is opened, not read. kNotFound, kInvalidModel.
  static Result<Model> from_file(const std::filesystem::path& file);
  // All must be the same network; none for a model that has only blobs (with_blobs()). `name` is for messages and
  // reports. Files that forms name are examined, for sources().
  static Model from_forms(std::string name, std::vector<ModelForm> forms);
  // The files with the weights are among sources(). Nothing is known of those without a WeightsSource.
  static Model from_graph(std::string name, ModelGraph graph);

  [[nodiscard]] const std::string& name() const { return name_; }
  // Null when it is not there as a graph.
  [[nodiscard]] const ModelGraph* graph() const { return graph_ ? &*graph_ : nullptr; }
  // True when there is nothing to compile, only blobs.
  [[nodiscard]] bool has_blobs_only() const { return forms_.empty() && !graph_; }
  [[nodiscard]] std::span<const ModelForm> forms() const { return forms_; }
  // The form of this format, or null.
  [[nodiscard]] const ModelForm* find(ModelFormat format) const;

  // SHA-256 of a file, for digest(): an implementation that remembers digests need not read the file again.
  using FileDigest = std::function<Result<std::string>(const std::filesystem::path& file)>;
  // Computes a model's digest on demand.
  using DigestSource = std::function<Result<std::string>(const FileDigest& of_file)>;

  // A SHA-256 that identifies the whole model, weights included, in caches. Computed at each call, unless with_digest()
  // has set it. kUnsupported for an ONNX file with data in other files, which it would not cover; the errors of
  // `of_file`.
  //
  // It may rest on an unverified claim, such as a bundle's about its content. That is good enough for a lookup. Before
  // anything is stored under it, prove_digest() must succeed.
  [[nodiscard]] Result<std::string> digest(const FileDigest& of_file = {}) const;
  // For code that builds models and knows a cheaper identity, such as the digests of the files they were built from.
  [[nodiscard]] Model with_digest(std::string digest) const;
  [[nodiscard]] Model with_digest(DigestSource source) const;

  // Compares what digest() takes on trust with the bytes. kInvalidModel when they differ.
  using Proof = std::function<Status()>;
  [[nodiscard]] Model with_proof(Proof proof) const;
  // Ok when digest() matches the bytes of this model; else the proof's error. Reads all of them.
  [[nodiscard]] Status prove_digest() const;

  // Existing blobs of this model: they are tried before anything is compiled.
  [[nodiscard]] Model with_blobs(std::shared_ptr<const BlobSource> blobs) const;
  // Null when there are none.
  [[nodiscard]] const BlobSource* blobs() const { return blobs_.get(); }

  // For forms that could be damaged in ways that a vendor would not notice: called before one is compiled, possibly by
  // several threads at once.
  using Check = std::function<Status()>;
  [[nodiscard]] Model with_check(Check check) const;
  // kIncompatibleBlob when there is nothing to compile, only blobs; kInvalidModel for a graph in memory whose data is
  // not; else the check's error.
  [[nodiscard]] Status check_forms() const;

  // Every file that a vendor may read, as far as known.
  [[nodiscard]] std::vector<std::filesystem::path> files() const;

  // Files besides those that the forms name, which are added automatically.
  [[nodiscard]] Model with_sources(std::vector<SourceFile> sources) const;
  [[nodiscard]] std::span<const SourceFile> sources() const { return sources_; }
  // Ok when loading now uses the bytes that the model was opened with. kIo names the file that changed: it was written
  // to, or, where a vendor opens it by its name, replaced or removed.
  [[nodiscard]] Status check_bytes() const;
  // As check_bytes(), but a mapped file must still have its name as well: what is known of the file holds for the
  // bytes.
  [[nodiscard]] Status check_files() const;

 private:
  std::string name_;
  std::vector<ModelForm> forms_;
  std::optional<ModelGraph> graph_;
  DigestSource digest_;  // empty: from the graph, or else the first form
  std::shared_ptr<const BlobSource> blobs_;
  Check check_;  // empty: nothing to check
  Proof proof_;  // empty: the digest is of the bytes
  std::vector<SourceFile> sources_;
};

// A node of a model that a compiler did not take, in the model's own words.
struct LeftNode {
  std::string op{};     // "NonZero"
  std::string name{};   // empty: it has none
  std::string shape{};  // of its first output: "i64 [2,?]"; empty: not known

  friend bool operator==(const LeftNode&, const LeftNode&) = default;
};
struct LeftNodes {
  static constexpr std::size_t kFirstMax = 64;

  std::size_t count = 0;
  std::vector<LeftNode> first{};  // of `count`, at most kFirstMax

  friend bool operator==(const LeftNodes&, const LeftNodes&) = default;
};

// A model compiled by one backend for one device and one version of its runtime.
struct Blob {
  std::string backend;          // "openvino"
  std::string device;           // "CPU", without the backend
  std::string runtime_version;  // of the vendor library that made it
  Precision precision = Precision::kF32;
  SharedBytes bytes;
  // The vendor's own compatibility string, which only the vendor understands; empty when it gives none.
  std::string compatibility{};
  // Whoever loads it makes a copy, or one costs little beside a blob that is stored whole; else it is used where it
  // lies, which may be a mapping.
  bool is_copied = false;
};

}  // namespace latebind::core
