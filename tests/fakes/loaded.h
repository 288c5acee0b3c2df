// What a fake library and its owner ask the loader of the system.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace latebind::test {

// The file that the code at `address` was loaded from, in UTF-8; empty when unknown.
[[nodiscard]] std::string file_of_code(const void* address);

// A function of a library that is loaded already; null when it is not, or has no such function.
[[nodiscard]] void* symbol_of_loaded(const std::filesystem::path& file, const char* name);

// The variable that names the folder for temporary files.
#ifdef _WIN32
inline constexpr const char* kTemporaryVariable = "TMP";
#else
inline constexpr const char* kTemporaryVariable = "TMPDIR";
#endif

// Sets a variable of this process, or removes it.
void set_variable(const char* name, const std::optional<std::string>& value);

}  // namespace latebind::test
