// A host that compiles through ONNX Runtime's own interface (OrtCompileApi), as anybody would:
//
//   compile_through_host ONNXRUNTIME PROVIDER MODEL OUTPUT [DEVICE | KEY=VALUE]…
//
// Registers PROVIDER as "latebind.virtual", prints a line "DEVICE VIRTUAL" for each of its devices, and compiles MODEL
// for those that are named, which are its latebind.device; none: it only lists. KEY=VALUE is a provider option. The
// first error is printed, and ends it with 1.
#include <onnxruntime_c_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/platform/dynamic_library.h"
#include "core/platform/files/folders.h"

namespace {

using latebind::platform::path_from_utf8;

[[noreturn]] void die(const std::string& text) {
  std::fprintf(stderr, "compile_through_host: %s\n", text.c_str());
  std::exit(1);
}

const OrtApi& api(const char* library = nullptr) {
  static const OrtApi* table = [&] {
    auto opened = latebind::platform::DynamicLibrary::open(path_from_utf8(library));
    if (!opened.ok()) die(opened.status().to_string());
    opened->leak();
    const auto get = reinterpret_cast<const OrtApiBase*(ORT_API_CALL*)()>(opened->symbol("OrtGetApiBase"));
    return get != nullptr ? get()->GetApi(ORT_API_VERSION) : nullptr;
  }();
  if (table == nullptr) die("this ONNX Runtime is too old");
  return *table;
}

void check(OrtStatus* status) {
  if (status != nullptr) die(api().GetErrorMessage(status));
}

std::string value(const OrtKeyValuePairs* pairs, const char* key) {
  const char* found = api().GetKeyValue(pairs, key);
  return found != nullptr ? found : "";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) die("usage: compile_through_host ONNXRUNTIME PROVIDER MODEL OUTPUT [DEVICE | KEY=VALUE]...");
  std::vector<std::string> wanted;
  std::vector<std::string> keys;
  std::vector<std::string> values;
  for (int i = 5; i < argc; ++i) {
    const std::string word = argv[i];
    const auto equals = word.find('=');
    if (equals == std::string::npos) {
      wanted.push_back(word);
    } else {
      keys.push_back(word.substr(0, equals));
      values.push_back(word.substr(equals + 1));
    }
  }
  OrtEnv* env = nullptr;
  (void)api(argv[1]);
  check(api().CreateEnv(ORT_LOGGING_LEVEL_ERROR, "test", &env));
  check(api().RegisterExecutionProviderLibrary(env, "latebind.virtual", path_from_utf8(argv[2]).c_str()));
  const OrtEpDevice* const* all = nullptr;
  std::size_t count = 0;
  check(api().GetEpDevices(env, &all, &count));
  std::vector<const OrtEpDevice*> chosen;
  for (std::size_t i = 0; i < count; ++i) {
    if (std::string(api().EpDevice_EpName(all[i])) != "Latebind") continue;
    const std::string id = value(api().EpDevice_EpMetadata(all[i]), "latebind.device");
    const bool is_virtual = value(api().HardwareDevice_Metadata(api().EpDevice_Device(all[i])), "is_virtual") == "1";
    std::printf("%s %d\n", id.c_str(), is_virtual ? 1 : 0);
    if (std::ranges::find(wanted, id) != wanted.end()) chosen.push_back(all[i]);
  }
  std::fflush(stdout);
  if (wanted.empty()) return 0;
  if (chosen.size() != wanted.size()) die("not all of these devices are there");

  OrtSessionOptions* options = nullptr;
  check(api().CreateSessionOptions(&options));
  const auto texts_of = [](const std::vector<std::string>& words) {
    std::vector<const char*> texts;
    for (const std::string& word : words)
      texts.push_back(word.c_str());
    return texts;
  };
  const auto key_texts = texts_of(keys);
  const auto value_texts = texts_of(values);
  check(api().SessionOptionsAppendExecutionProvider_V2(options, env, chosen.data(), chosen.size(), key_texts.data(),
                                                       value_texts.data(), keys.size()));
  const OrtCompileApi& compiler = *api().GetCompileApi();
  OrtModelCompilationOptions* how = nullptr;
  check(compiler.CreateModelCompilationOptionsFromSessionOptions(env, options, &how));
  check(compiler.ModelCompilationOptions_SetInputModelPath(how, path_from_utf8(argv[3]).c_str()));
  check(compiler.ModelCompilationOptions_SetOutputModelPath(how, path_from_utf8(argv[4]).c_str()));
  check(compiler.ModelCompilationOptions_SetEpContextEmbedMode(how, false));
  check(compiler.CompileModel(env, how));
  compiler.ReleaseModelCompilationOptions(how);
  api().ReleaseSessionOptions(options);
  check(api().UnregisterExecutionProviderLibrary(env, "latebind.virtual"));
  api().ReleaseEnv(env);
  return 0;
}
