// Model: a portable network as a Graph, as ONNX or as OpenVINO IR, in memory or in a file. Blob: a model that one
// backend compiled.
//
// A graph is written in a format only when a backend asks for it while it loads the model; a backend may also compute
// from the graph directly. A Model may hold the same network in several forms, so that each backend takes the one that
// it reads fastest. Weights of graphs and of forms in memory may stay where they are, for instance in a mapped file:
// nothing is copied until a vendor insists. A Model is immutable after it is built and may be shared freely between
// threads.
//
// A Model stands for one set of bytes during its whole life. It remembers the identities of the files as they were when
// it was opened, and every load checks that they have not changed (check_bytes()).
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
#include "core/tensor/shared_bytes.h"

namespace latebind::core {

enum class ModelFormat : std::int32_t { kOnnx = 0, kOpenvinoIr = 1 };
template <>
struct Words<ModelFormat> {
  static constexpr std::string_view kWhat = "model format";
  static constexpr std::array kWords{Word<ModelFormat>{"onnx", ModelFormat::kOnnx},
                                     Word<ModelFormat>{"openvino-ir", ModelFormat::kOpenvinoIr}};
};

// A file that holds a model's bytes, as it was when it was opened.
struct SourceFile {
  std::filesystem::path file;
  platform::FileIdentity identity{};
  // True when Latebind mapped the bytes, and the mapping outlives the file's name; false when a vendor opens the file
  // by its name.
  bool mapped = false;
};

// A file that an ONNX model names for its external data, held in memory. `location` is the name used in the model.
// `file` is the file, if any, that `data` maps from `offset` on: completely, or a part of it, as in a bundle's ZIP.
struct ExternalData {
  std::string location;
  SharedBytes data;
  std::filesystem::path file{};
  platform::FileIdentity identity{};
  // Whether a vendor that can only copy from memory may map the file itself, as long as its identity is the same. False
  // when the owner of the file may write to it later and no vendor may see that.
  bool may_open_file = true;
  std::uint64_t offset = 0;

  // Uses a part of a file that is mapped already. If its bytes are computed when they are read, computes all of them.
  static ExternalData of_part(std::string location, FilePart part);
  // Maps the file. Fails as MappedFile::open() does.
  static Result<ExternalData> in_file(std::string location, const std::filesystem::path& file);

  // Whether the file of that name, if there is one, still has the bytes of `data`.
  [[nodiscard]] bool is_file_unchanged() const;
};

// One form of a model. Exactly one of `file` and `graph` is set.
struct ModelForm {
  ModelFormat format = ModelFormat::kOnnx;
  std::filesystem::path file{};          // .onnx, or .xml with its .bin beside it
  SharedBytes graph{};                   // ONNX protobuf, or IR XML text
  SharedBytes weights{};                 // IR in memory: the bytes to which offsets in the XML refer; empty for ONNX
  std::vector<ExternalData> external{};  // ONNX in memory: its external data

  // Returns the ONNX protobuf or the IR's XML text: `graph`, or the mapped file. Fails as MappedFile::open() does.
  [[nodiscard]] Result<SharedBytes> open() const;
};

// What is known about a file with weights.
struct WeightsSource {
  // The file's name beside a form that is written from the graph: "model.safetensors".
  std::string name{};
  // The unverified text that stands for the file in digests; if empty, its SHA-256 does.
  std::string identity{};
};

// A network as a Graph, with its weights.
struct ModelGraph {
  std::shared_ptr<const graph::Graph> graph{};
  std::vector<WeightsSource> sources{};  // one for each of Graph::weights()
};

class BlobSource;

// Returns the format according to a model's first bytes, or std::nullopt when it is neither.
[[nodiscard]] std::optional<ModelFormat> format_of(std::span<const std::byte> bytes);

class Model {
 public:
  // Opens a model and determines its format from its first bytes. The weights are not read. Errors: kNotFound,
  // kInvalidModel.
  static Result<Model> from_file(const std::filesystem::path& file);
  // Makes a model of forms that must all be the same network; no forms for a model that has only blobs (with_blobs()).
  // `name` is for messages and reports. The files that the forms name are examined, for sources().
  static Model from_forms(std::string name, std::vector<ModelForm> forms);
  // Makes a model of a graph. The files with its weights are among sources(). Missing WeightsSource entries are default
  // ones.
  static Model from_graph(std::string name, ModelGraph graph);

  [[nodiscard]] const std::string& name() const { return name_; }
  // Null when the model is not available as a graph.
  [[nodiscard]] const ModelGraph* graph() const { return graph_ ? &*graph_ : nullptr; }
  // True when the model consists only of blobs, so that there is nothing to compile.
  [[nodiscard]] bool has_blobs_only() const { return forms_.empty() && !graph_; }
  [[nodiscard]] std::span<const ModelForm> forms() const { return forms_; }
  // Returns the form of this format, or null.
  [[nodiscard]] const ModelForm* find(ModelFormat format) const;

  // Computes the SHA-256 of a file, for digest(). An implementation that remembers digests need not read the file
  // again.
  using FileDigest = std::function<Result<std::string>(const std::filesystem::path& file)>;
  // Computes a model's digest on demand.
  using DigestSource = std::function<Result<std::string>(const FileDigest& of_file)>;

  // Returns a SHA-256 that identifies the whole model, weights included, in caches. It is computed at each call, unless
  // with_digest() has set it. kUnsupported for an ONNX file with data in other files, which the digest would not cover;
  // otherwise the errors of `of_file`.
  //
  // The digest may rest on an unverified claim, such as a bundle's claim about its content. That suffices for a lookup.
  // Before anything is stored under the digest, prove_digest() must succeed.
  [[nodiscard]] Result<std::string> digest(const FileDigest& of_file = {}) const;
  // Returns a copy with this digest, for code that knows a cheaper identity of the model, such as the digests of the
  // files it was built from.
  [[nodiscard]] Model with_digest(std::string digest) const;
  [[nodiscard]] Model with_digest(DigestSource source) const;

  // Compares the claim behind digest() with the bytes. kInvalidModel when they differ.
  using Proof = std::function<Status()>;
  [[nodiscard]] Model with_proof(Proof proof) const;
  // Returns ok when digest() matches the bytes of this model, all of which it reads; otherwise the proof's error.
  [[nodiscard]] Status prove_digest() const;

  // Returns a copy with existing blobs of this model. They are tried before anything is compiled.
  [[nodiscard]] Model with_blobs(std::shared_ptr<const BlobSource> blobs) const;
  // Null when there are no such blobs.
  [[nodiscard]] const BlobSource* blobs() const { return blobs_.get(); }

  // A check of forms that could be damaged in ways that a vendor would not notice. It is called before a form is
  // compiled, possibly by several threads at once.
  using Check = std::function<Status()>;
  [[nodiscard]] Model with_check(Check check) const;
  // Checks the forms before one is compiled. kIncompatibleBlob when the model has only blobs; kInvalidModel for an ONNX
  // graph in memory whose data is not in memory; otherwise the error of the check.
  [[nodiscard]] Status check_forms() const;

  // Returns every file that a vendor may read, as far as known.
  [[nodiscard]] std::vector<std::filesystem::path> files() const;

  // Returns a copy with more source files. The files that the forms name are added automatically.
  [[nodiscard]] Model with_sources(std::vector<SourceFile> sources) const;
  [[nodiscard]] std::span<const SourceFile> sources() const { return sources_; }
  // Returns ok when a load would use the bytes that the model was opened with. kIo names the file that changed: it was
  // written to or, if a vendor opens it by its name, replaced or removed.
  [[nodiscard]] Status check_bytes() const;
  // Like check_bytes(), but a mapped file must also still have its name, so that what is known about the file of that
  // name holds for the bytes.
  [[nodiscard]] Status check_files() const;

 private:
  std::string name_;
  std::vector<ModelForm> forms_;
  std::optional<ModelGraph> graph_;
  DigestSource digest_;  // empty: computed from the graph, or from the first form
  std::shared_ptr<const BlobSource> blobs_;
  Check check_;  // empty: no check is needed
  Proof proof_;  // empty: the digest is computed from the bytes
  std::vector<SourceFile> sources_;
};

// A node that a compiler did not take, as the model describes it.
struct LeftNode {
  std::string op{};     // "NonZero"
  std::string name{};   // may be empty
  std::string shape{};  // of its first output: "i64 [2,?]"; empty when unknown

  friend bool operator==(const LeftNode&, const LeftNode&) = default;
};
// The nodes that a compiler did not take: their number, and a description of the first ones.
struct LeftNodes {
  static constexpr std::size_t kFirstMax = 64;

  std::size_t count = 0;
  std::vector<LeftNode> first{};  // of `count`, at most kFirstMax

  friend bool operator==(const LeftNodes&, const LeftNodes&) = default;
};

// What a blob was made by and for. It suffices to reject most blobs that do not fit, before their bytes are read.
struct BlobLabel {
  std::string backend;          // "openvino"
  std::string device;           // "CPU", without the backend
  std::string runtime_version;  // of the vendor library that made it
  Precision precision = Precision::kF32;
  // The vendor's own compatibility string, which only the vendor understands; may be empty.
  std::string compatibility{};
};

// A model compiled by one backend for one device and one version of its runtime.
struct Blob : BlobLabel {
  SharedBytes bytes;
  // True when the loader copies the bytes, or when a copy costs little compared with a blob that is stored whole.
  // Otherwise the bytes are used where they are, which may be a mapping.
  bool is_copied = false;
};

}  // namespace latebind::core
