// Between the programs of ExecuTorch, whose code knows neither our errors nor our files, and the rest of the program.
#pragma once

#include <filesystem>
#include <functional>

#include "core/bundle/zip_writer.h"
#include "core/result.h"
#include "hosts/executorch/pte/program.h"

namespace latebind::cli {

// The same error. The codes are the same numbers.
[[nodiscard]] core::Status from_pte(const pte::Status& status);

// A bundle's bytes, made while they are written. The image must stay alive until then.
[[nodiscard]] pte::Payload payload_of(const core::ZipImage& image);

// Lets `write` write a file that appears only when it is complete; removes what killed writers left in the folder. The
// errors of OutputFile and of `write`.
[[nodiscard]] core::Status write_through(const std::filesystem::path& place,
                                         const std::function<pte::Status(const pte::Sink& sink)>& write);

}  // namespace latebind::cli
