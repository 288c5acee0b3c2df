// Model: a portable network, as a graph of ours, as ONNX or as OpenVINO IR, in memory or in a file; and Blob: a model
// that one backend compiled.
//
// A graph is not written in anybody's format before a backend asks for that when it loads it, or computes from it as it
// is. A Model may hold the same network in several forms as well, so that each backend takes the one that it reads
// fastest. Weights of graphs and of forms in memory may stay where they are, in a mapped file for instance: nothing is
// copied until a vendor insists. Immutable after it is built; shared between threads freely.
//
// A Model is one set of bytes for its whole life. The files that they come from are remembered as they were when they
// were opened, and every load asks whether they still are (check_bytes()).
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
  // The bytes are a mapping of ours, which outlives the file's name; else a vendor opens the file by its name.
  bool mapped = false;
};

// ONNX: a file that the model's external data names, held in memory. `location` is the name used in the model. `file`
// is the file that `data` maps all of, where there is one: a vendor that can only copy from memory may map it itself
// instead, as long as it is the one of this identity.
struct ExternalData {
  std::string location;
  SharedBytes data;
  std::filesystem::path file{};
  platform::FileIdentity identity{};

  // Whether the file, if there is one, still has the bytes of `data`, by its name.
  [[nodiscard]] bool is_file_unchanged() const;
};

// One form of a model. Exactly one of `file` and `graph` is set.
struct ModelForm {
  ModelFormat format = ModelFormat::kOnnx;
  std::filesystem::path file{};          // .onnx, or .xml with its .bin beside it
  SharedBytes graph{};                   // ONNX protobuf, or IR XML text
  SharedBytes weights{};                 // IR in memory: what the offsets in the XML refer to; empty for ONNX
  std::vector<ExternalData> external{};  // ONNX in memory: where its external data is
};

// A network in our own words, with its weights.
struct ModelGraph {
  std::shared_ptr<const graph::Graph> graph{};
  // What the file with the weights is called beside a form that is written from the graph: "model.safetensors".
  std::string weights_name{};
  // The weights are a file of their own, which a vendor that can only copy from memory may map itself.
  bool may_open_weights = false;
  // What stands for the weights in digests, on somebody's word; empty: the SHA-256 of their file.
  std::string weights_identity{};
};

class BlobSource;

// What a model's first bytes say that it is; nothing for what is neither.
[[nodiscard]] std::optional<ModelFormat> format_of(std::span<const std::byte> bytes);

class Model {
 public:
  // Tells the format from the file's name and first bytes. The file is opened, not read. kNotFound, kInvalidModel.
  static Result<Model> from_file(const std::filesystem::path& file);
  // All must be the same network; none for a model of which there are blobs only (with_blobs()). `name` is for messages
  // and reports. Files that forms name are looked at, for sources().
  static Model from_forms(std::string name, std::vector<ModelForm> forms);
  // The file with the weights is among sources().
  static Model from_graph(std::string name, ModelGraph graph);

  [[nodiscard]] const std::string& name() const { return name_; }
  // Null when it is not there as a graph.
  [[nodiscard]] const ModelGraph* graph() const { return graph_ ? &*graph_ : nullptr; }
  // True when there is nothing to compile, only what others have compiled.
  [[nodiscard]] bool has_blobs_only() const { return forms_.empty() && !graph_; }
  [[nodiscard]] std::span<const ModelForm> forms() const { return forms_; }
  // The form of this format, or null.
  [[nodiscard]] const ModelForm* find(ModelFormat format) const;

  // SHA-256 of a file, for digest(): whoever remembers digests need not read the file again.
  using FileDigest = std::function<Result<std::string>(const std::filesystem::path& file)>;
  // How a model's digest is made, when it is asked for.
  using DigestSource = std::function<Result<std::string>(const FileDigest& of_file)>;

  // A SHA-256 that stands for all of the model, weights included: its identity in caches. Computed at each call, unless
  // with_digest() has set it. kUnsupported for an ONNX file with data in other files, which it would not cover; the
  // errors of `of_file`.
  //
  // It may rest on somebody's word, such as a bundle's for what is in it. That is good enough to look something up by,
  // which is then what the digest stands for. To put something under it, prove_digest() must agree.
  [[nodiscard]] Result<std::string> digest(const FileDigest& of_file = {}) const;
  // For makers of models that know a cheaper identity, such as the digests of the files they were built from.
  [[nodiscard]] Model with_digest(std::string digest) const;
  [[nodiscard]] Model with_digest(DigestSource source) const;

  // Compares what digest() takes on somebody's word with the bytes. kInvalidModel when it is not true.
  using Proof = std::function<Status()>;
  [[nodiscard]] Model with_proof(Proof proof) const;
  // Ok when digest() stands for the bytes of this model; what the proof says. Reads all of them.
  [[nodiscard]] Status prove_digest() const;

  // Blobs of this model that lie ready: they are tried before anything is compiled.
  [[nodiscard]] Model with_blobs(std::shared_ptr<const BlobSource> blobs) const;
  // Null when there are none.
  [[nodiscard]] const BlobSource* blobs() const { return blobs_.get(); }

  // For forms that could be damaged in ways that a vendor would not see: called before one is compiled, perhaps by
  // several threads at once.
  using Check = std::function<Status()>;
  [[nodiscard]] Model with_check(Check check) const;
  // kIncompatibleBlob when there is nothing to compile, only blobs; kInvalidModel for a graph in memory whose data is
  // not; what the check says.
  [[nodiscard]] Status check_forms() const;

  // Every file that a vendor may read, as far as it is known.
  [[nodiscard]] std::vector<std::filesystem::path> files() const;

  // Files beside those that the forms name, which come by themselves.
  [[nodiscard]] Model with_sources(std::vector<SourceFile> sources) const;
  [[nodiscard]] std::span<const SourceFile> sources() const { return sources_; }
  // Ok when loading now uses the bytes that the model was opened with. kIo names the file that is another one: it was
  // written to, or, where a vendor opens it by its name, replaced or removed.
  [[nodiscard]] Status check_bytes() const;
  // As check_bytes(), but a file of ours must have its name as well: what is known of the file is true of the bytes.
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

// A model compiled by one backend for one device and one version of its runtime.
struct Blob {
  std::string backend;          // "openvino"
  std::string device;           // "CPU", without the backend
  std::string runtime_version;  // of the vendor library that made it
  Precision precision = Precision::kF32;
  SharedBytes bytes;
  // The vendor's own word on what can run it, which only the vendor understands; empty when it gives none.
  std::string compatibility{};
};

}  // namespace latebind::core
