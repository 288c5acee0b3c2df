// Chooses the variants of a bundle for a device, and says why the others do not fit.
//
// The choice depends on the manifest: backend, target, shapes, precision. Whether a blob fits this version of the
// runtime is decided by the backend when it loads the blob. Immutable; may be used from any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/backend/backend.h"
#include "core/backend/blob_source.h"
#include "core/bundle/package.h"

namespace latebind::core {

// Latebind loads the only component, or the one with this name.
inline constexpr const char* kModelComponent = "model";
// The role of the asset with the small files of a text embedding model.
inline constexpr const char* kModelFolderRole = "model_folder";
// Returns the component that Latebind loads, or kInvalidModel if the package has no such component.
[[nodiscard]] Result<const Component*> model_component(const Package& package);

// Returns the variant that any machine compiles for itself: the one that Latebind's slot marks, or else the first that
// is plain ONNX according to ONNX Runtime's slot. Returns null if no variant qualifies.
[[nodiscard]] const Variant* portable_variant(const Component& component);

// Returns the file that a variant loads, according to Latebind's slot or else ONNX Runtime's; empty when neither names
// one.
[[nodiscard]] std::string model_file_of(const Variant& variant);

// Converts shapes to the form in LatebindInfo.
[[nodiscard]] std::vector<std::vector<std::int64_t>> dims_of(const std::vector<Shape>& shapes);

// Returns ok when the variant is a blob that may fit the device with these options; otherwise kIncompatibleBlob with
// the reason.
[[nodiscard]] Status judge(const Variant& variant, const Device& device, const CompileOptions& options);

// Tries a variant on a device: loads its blob and unloads it again. Returns ok, or why it could not be loaded. It also
// accepts blobs for other static shapes than those of `options`.
[[nodiscard]] Status try_variant(const Package& package, const Variant& variant, Backend& backend, const Device& device,
                                 const CompileOptions& options);

// The blobs of a bundle, as a BlobSource.
class BundleBlobs final : public BlobSource {
 public:
  // Returns null for a bundle without blobs.
  static Result<std::shared_ptr<const BundleBlobs>> of(Package package);

  [[nodiscard]] std::vector<ReadyBlob> blobs_for(const Device& device, const CompileOptions& options) const override;
  [[nodiscard]] std::vector<std::size_t> static_lengths(const Device& device, const CompileOptions& options,
                                                        std::size_t rows) const override;
  [[nodiscard]] std::string digest_for(const Device& device, const CompileOptions& options) const override;
  [[nodiscard]] Status prove_for(const Device& device, const CompileOptions& options) const override;
  // Reads the small files of a text embedding model, which only such bundles have.
  [[nodiscard]] Padded padded() const override;

 private:
  BundleBlobs(Package package, const Component& component) : package_(std::move(package)), component_(component) {}

  const Package package_;
  const Component& component_;  // of package_
};

}  // namespace latebind::core
