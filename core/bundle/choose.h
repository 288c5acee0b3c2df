// Choosing: which variant of a bundle is for which device, and why the others are not.
//
// What follows from the manifest is decided here: backend, target, shapes, precision. Whether a blob fits this very
// runtime, the backend decides when it loads it. Immutable; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/backend.h"
#include "core/blob_source.h"
#include "core/bundle/package.h"

namespace latebind::core {

// The component that Latebind loads: the only one, or the one called "model". kInvalidModel when there is none.
inline constexpr const char* kModelComponent = "model";
// The role of the asset with the small files of a model that embeds text.
inline constexpr const char* kModelFolderRole = "model_folder";
[[nodiscard]] Result<const Component*> model_component(const Package& package);

// The variant that any machine compiles for itself: the one that Latebind's slot marks, else the first that is plain
// ONNX according to ONNX Runtime's slot. Null when there is none.
[[nodiscard]] const Variant* portable_variant(const Component& component);

// The file that a variant loads, by Latebind's slot, else by ONNX Runtime's; empty when neither names one.
[[nodiscard]] std::string model_file_of(const Variant& variant);

// As a LatebindInfo has them.
[[nodiscard]] std::vector<std::vector<std::int64_t>> dims_of(const std::vector<Shape>& shapes);

// Ok when the variant is a blob that may do for the device with these options; else kIncompatibleBlob with the reason.
[[nodiscard]] Status judge(const Variant& variant, const Device& device, const CompileOptions& options);

// Tries a variant on a device: ok when its blob was loaded there, and unloaded again; else why not. Blobs for other
// static shapes than those of `options` count as well.
[[nodiscard]] Status try_variant(const Package& package, const Variant& variant, Backend& backend, const Device& device,
                                 const CompileOptions& options);

// The blobs of a bundle.
class BundleBlobs final : public BlobSource {
 public:
  // Null for a bundle without any.
  static Result<std::shared_ptr<const BundleBlobs>> of(Package package);

  [[nodiscard]] std::vector<ReadyBlob> blobs_for(const Device& device, const CompileOptions& options) const override;
  [[nodiscard]] std::vector<std::size_t> static_lengths(const Device& device, const CompileOptions& options,
                                                        std::size_t rows) const override;
  [[nodiscard]] std::string digest_for(const Device& device, const CompileOptions& options) const override;
  [[nodiscard]] Status prove_for(const Device& device, const CompileOptions& options) const override;
  // By the small files of a model that embeds text, which only such bundles have.
  [[nodiscard]] Padded padded() const override;

 private:
  BundleBlobs(Package package, const Component& component) : package_(std::move(package)), component_(component) {}

  const Package package_;
  const Component& component_;  // of package_
};

}  // namespace latebind::core
