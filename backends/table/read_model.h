// Makes a model and options of what a host gives a plug-in (lbb_model, lbb_options). Pure functions, for any thread.
#pragma once

#include <memory>

#include "backends/plugin/contract.h"
#include "core/backend/executable.h"
#include "core/model/model.h"
#include "core/result.h"

namespace latebind::table {

// Returns the model; `owner` stands for the ownership of the host's memory, which is not copied. kInvalidArgument for a
// model without a form, otherwise the errors of read_graph() and of the files.
[[nodiscard]] core::Result<core::Model> read_model(const lbb_host& host, const lbb_model* model,
                                                   const std::shared_ptr<const void>& owner);

[[nodiscard]] core::Result<core::CompileOptions> read_options(const lbb_options* options);

// The label of a blob that the backend of this name has made.
[[nodiscard]] core::Result<core::BlobLabel> read_label(const lbb_blob_label* label, std::string_view backend);

}  // namespace latebind::table
