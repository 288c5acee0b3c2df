// Our view of the vendor's table, compared with the vendor's header: each slot's place, name, parameters and age.
//
// The header is read as text: nothing here, and nothing else in the build, includes it. scripts/setup fetches it.
#include "backends/onnxruntime/abi.h"

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "backends/onnxruntime/abi_plugin.h"

namespace latebind::onnxruntime {
namespace {

struct SlotDeclaration {
  std::string name;
  std::string result;
  std::string parameters;
  unsigned since = 0;  // 1.N; 0 when the header does not say
};

// Making a regular expression is slow; there are few, used often.
const std::regex& compiled(const char* pattern) {
  static std::map<std::string, std::regex> known;
  return known.try_emplace(pattern, pattern).first->second;
}

std::string replace(const std::string& text, const char* pattern, const char* by) {
  return std::regex_replace(text, compiled(pattern), by);
}

// The vendor's spelling of a type, in ours and without spaces.
std::string normalized_type(std::string type) {
  type = replace(type, R"(\benum\b)", "");
  type = replace(type, R"(\bONNXTensorElementDataType\b)", "TensorElementDataType");
  type = replace(type, R"(\bONNXType\b)", "ValueType");
  type = replace(type, R"(\bORTCHAR_T\b)", "PathChar");
  type = replace(type, R"(\bOrt(\w+))", "$1");
  return replace(type, R"(\s+|\bstd::)", "");
}

// "_In_ const OrtEnv* env, size_t n" as "(constEnv*,size_t)".
std::string normalized_parameters(std::string text) {
  text = replace(text, R"(\b_\w+_\b(\([^()]*\))?)", "");
  std::string result;
  std::stringstream stream(text);
  for (std::string parameter; std::getline(stream, parameter, ',');) {
    const bool is_array = parameter.find("[]") != std::string::npos;
    parameter = replace(parameter, R"(\[\]|\s+$)", "");
    // The parameter's own name comes last, after a type.
    parameter = replace(parameter, R"(([\w*&]\s*[\s*])\w+$)", "$1");
    if (parameter.find_first_not_of(' ') == std::string::npos || parameter == "void") continue;
    result += (result.empty() ? "" : ",") + normalized_type(parameter) + (is_array ? "*" : "");
  }
  return "(" + result + ")";
}

std::optional<SlotDeclaration> parse_slot(const std::string& code) {
  std::smatch found;
  SlotDeclaration slot;
  if (std::regex_search(code, found, compiled(R"(ORT_API2_STATUS\(\s*(\w+)\s*(?:,([\s\S]*))?\)\s*$)"))) {
    slot = {found[1], "Status*", normalized_parameters(found[2])};
  } else if (std::regex_search(code, found, compiled(R"(ORT_CLASS_RELEASE2?\(\s*(\w+)\s*\))"))) {
    slot = {"Release" + found[1].str(), "void", "(" + normalized_type("Ort" + found[1].str() + "*") + ")"};
  } else if (std::regex_search(code, found, compiled(R"(ORT_API_T\(\s*([^,]+),\s*(\w+)\s*,([\s\S]*)\)\s*$)")) ||
             std::regex_search(
                 code, found,
                 compiled(
                     R"((\w[\w\s*]*)\(\s*(?:ORT_API_CALL)?\s*\*\s*(\w+)\s*\)\s*\(([^()]*(?:\([^()]*\)[^()]*)*)\))"))) {
    slot = {found[2], normalized_type(found[1]), normalized_parameters(found[3])};
  } else {
    return std::nullopt;
  }
  return slot;
}

class OnnxruntimeAbiTest : public testing::Test {
 protected:
  void SetUp() override {
    const std::string file = std::string(LATEBIND_SOURCE_DIR) + "/build/runtime/headers/onnxruntime_c_api.h";
    std::ifstream stream(file);
    ASSERT_TRUE(stream) << file << " is not there: run scripts/setup test";
    std::stringstream text;
    text << stream.rdbuf();
    header_ = text.str();
  }

  // What stands between `start` and the "};" that ends it.
  [[nodiscard]] std::string body_of(const std::string& start) const {
    const auto from = header_.find(start);
    if (from == std::string::npos) return {};
    return header_.substr(from + start.size(), header_.find("\n}", from) - from - start.size());
  }

  // The table, in order. A slot that cannot be read is given the name "?" and its text.
  [[nodiscard]] std::vector<SlotDeclaration> slots(const std::string& start = "struct OrtApi {") const {
    const std::string body = body_of(start);
    std::vector<SlotDeclaration> result;
    std::string code;
    unsigned since = 0;
    const auto take_comment = [&](const std::string& comment) {
      std::smatch found;
      if (std::regex_search(comment, found, compiled(R"(\\since Version 1\.(\d+))"))) {
        since = static_cast<unsigned>(std::stoul(found[1]));
      }
    };
    for (std::size_t i = 0; i < body.size();) {
      if (body.compare(i, 2, "/*") == 0) {
        const auto end = body.find("*/", i) + 2;
        take_comment(body.substr(i, end - i));
        i = end;
      } else if (body.compare(i, 2, "//") == 0 || (body[i] == '#' && (i == 0 || body[i - 1] == '\n'))) {
        i = body.find('\n', i);
      } else if (body[i] == ';') {
        auto slot = parse_slot(code);
        if (!slot) slot = SlotDeclaration{"?", code, ""};
        slot->since = since;
        result.push_back(*slot);
        code.clear();
        since = 0;
        ++i;
      } else {
        code += body[i++];
      }
    }
    return result;
  }

  // An enumeration's names with their numbers.
  [[nodiscard]] std::map<std::string, int> numbers_of(const std::string& start) const {
    std::string body = replace(body_of(start), R"(//[^\n]*)", "");
    body = replace(body, R"(/\*[^*]*\*+(?:[^/*][^*]*\*+)*/)", "");
    std::map<std::string, int> result;
    int next = 0;
    const std::regex& entry = compiled(R"((\w+)\s*(?:=\s*(-?\w+))?)");
    for (std::sregex_iterator at(body.begin(), body.end(), entry), end; at != end; ++at) {
      const std::string given = (*at)[2];
      if (!given.empty()) next = result.contains(given) ? result[given] : std::stoi(given);
      result[(*at)[1]] = next++;
    }
    return result;
  }

  std::string header_;
};

TEST_F(OnnxruntimeAbiTest, SlotsAreWhereAndWhatTheVendorSays) {
  const auto table = slots();
  const auto compile_table = slots("struct OrtCompileApi {");
  ASSERT_GT(table.size(), 400U);
  ASSERT_GT(compile_table.size(), 10U);
  const auto compare_in = [&](const std::vector<SlotDeclaration>& in, std::size_t slot, const std::string& name,
                              unsigned since, const std::string& result, const std::string& parameters,
                              bool is_required) {
    SCOPED_TRACE(name);
    ASSERT_LT(slot, in.size());
    EXPECT_EQ(in[slot].name, name) << "slot " << slot << " is " << in[slot].name << " " << in[slot].result;
    EXPECT_EQ(in[slot].result, normalized_type(result));
    EXPECT_EQ(in[slot].parameters, normalized_type(parameters));
    if (since != 0) {
      EXPECT_EQ(in[slot].since, since);
    }
    if (is_required) {
      EXPECT_LE(in[slot].since, abi::kOldestApi) << "not in the oldest version that we take";
    }
  };
  const auto compare = [&](std::size_t slot, const char* name, unsigned since, const char* result,
                           const char* parameters,
                           bool is_required) { compare_in(table, slot, name, since, result, parameters, is_required); };
  const auto compare_compile = [&](std::size_t slot, const char* name, unsigned since, const char* result,
                                   const char* parameters, bool is_required) {
    compare_in(compile_table, slot, name, since, result, parameters, is_required);
  };
#define LB_COMPARE_REQUIRED(slot, name, since, result, parameters) \
  compare(slot, #name, since, #result, #parameters, true);
#define LB_COMPARE_OPTIONAL(slot, name, since, result, parameters) \
  compare(slot, #name, since, #result, #parameters, false);
  LB_ONNXRUNTIME_REQUIRED(LB_COMPARE_REQUIRED)
#define LB_COMPARE_COMPILE(slot, name, since, result, parameters) \
  compare_compile(slot, #name, since, #result, #parameters, false);
  LB_ONNXRUNTIME_OPTIONAL(LB_COMPARE_OPTIONAL)
  LB_ONNXRUNTIME_PLUGIN(LB_COMPARE_OPTIONAL)
  LB_ONNXRUNTIME_COMPILE(LB_COMPARE_COMPILE)
}

TEST_F(OnnxruntimeAbiTest, EverySlotOfTheHeaderIsUnderstood) {
  for (const char* table : {"struct OrtApi {", "struct OrtCompileApi {"}) {
    for (const SlotDeclaration& slot : slots(table)) {
      EXPECT_NE(slot.name, "?") << slot.result;
    }
  }
}

TEST_F(OnnxruntimeAbiTest, TheBaseHasItsTwoFunctionsInOurOrder) {
  const std::string base = body_of("struct OrtApiBase {");
  const auto get_api = base.find("ORT_API_CALL* GetApi)(uint32_t version)");
  const auto get_version = base.find("const char*(ORT_API_CALL* GetVersionString)(void)");
  ASSERT_NE(get_api, std::string::npos);
  ASSERT_NE(get_version, std::string::npos);
  EXPECT_LT(get_api, get_version);
  EXPECT_NE(header_.find("ORT_EXPORT const OrtApiBase* ORT_API_CALL OrtGetApiBase(void)"), std::string::npos);
}

TEST_F(OnnxruntimeAbiTest, TheLoggingFunctionTakesWhatOursTakes) {
  std::smatch found;
  ASSERT_TRUE(std::regex_search(header_, found, compiled(R"(ORT_API_CALL\* OrtLoggingFunction\)\(([^()]*)\))")));
  EXPECT_EQ(normalized_parameters(found[1]), "(void*,LoggingLevel,constchar*,constchar*,constchar*,constchar*)");
}

TEST_F(OnnxruntimeAbiTest, NumbersAreTheVendors) {
  const auto errors = numbers_of("typedef enum OrtErrorCode {");
  EXPECT_EQ(errors.at("ORT_OK"), abi::kOk);
  EXPECT_EQ(errors.at("ORT_FAIL"), abi::kFail);
  EXPECT_EQ(errors.at("ORT_INVALID_ARGUMENT"), abi::kInvalidArgument);
  EXPECT_EQ(errors.at("ORT_NO_SUCHFILE"), abi::kNoSuchFile);
  EXPECT_EQ(errors.at("ORT_NO_MODEL"), abi::kNoModel);
  EXPECT_EQ(errors.at("ORT_ENGINE_ERROR"), abi::kEngineError);
  EXPECT_EQ(errors.at("ORT_RUNTIME_EXCEPTION"), abi::kRuntimeException);
  EXPECT_EQ(errors.at("ORT_INVALID_PROTOBUF"), abi::kInvalidProtobuf);
  EXPECT_EQ(errors.at("ORT_MODEL_LOADED"), abi::kModelLoaded);
  EXPECT_EQ(errors.at("ORT_NOT_IMPLEMENTED"), abi::kNotImplemented);
  EXPECT_EQ(errors.at("ORT_INVALID_GRAPH"), abi::kInvalidGraph);
  EXPECT_EQ(errors.at("ORT_EP_FAIL"), abi::kEpFail);

  const auto types = numbers_of("typedef enum ONNXTensorElementDataType {");
  const std::map<std::string, int> ours{{"UNDEFINED", abi::kUndefined}, {"FLOAT", abi::kFloat},
                                        {"UINT8", abi::kUint8},         {"INT8", abi::kInt8},
                                        {"UINT16", abi::kUint16},       {"INT16", abi::kInt16},
                                        {"INT32", abi::kInt32},         {"INT64", abi::kInt64},
                                        {"STRING", abi::kString},       {"BOOL", abi::kBool},
                                        {"FLOAT16", abi::kFloat16},     {"DOUBLE", abi::kDouble},
                                        {"UINT32", abi::kUint32},       {"UINT64", abi::kUint64},
                                        {"COMPLEX64", abi::kComplex64}, {"COMPLEX128", abi::kComplex128},
                                        {"BFLOAT16", abi::kBfloat16}};
  for (const auto& [name, number] : ours) {
    EXPECT_EQ(types.at("ONNX_TENSOR_ELEMENT_DATA_TYPE_" + name), number) << name;
  }

  EXPECT_EQ(numbers_of("typedef enum ONNXType {").at("ONNX_TYPE_TENSOR"), abi::kTensorValue);
  const auto levels = numbers_of("typedef enum OrtLoggingLevel {");
  EXPECT_EQ(levels.at("ORT_LOGGING_LEVEL_WARNING"), abi::kLogWarning);
  EXPECT_EQ(levels.at("ORT_LOGGING_LEVEL_ERROR"), abi::kLogError);
  EXPECT_EQ(levels.at("ORT_LOGGING_LEVEL_FATAL"), abi::kLogFatal);
  const auto graph = numbers_of("typedef enum GraphOptimizationLevel {");
  EXPECT_EQ(graph.at("ORT_DISABLE_ALL"), abi::kDisableAll);
  EXPECT_EQ(graph.at("ORT_ENABLE_BASIC"), abi::kEnableBasic);
  EXPECT_EQ(graph.at("ORT_ENABLE_EXTENDED"), abi::kEnableExtended);
  EXPECT_EQ(graph.at("ORT_ENABLE_ALL"), abi::kEnableAll);
  EXPECT_EQ(numbers_of("typedef enum ExecutionMode {").at("ORT_SEQUENTIAL"), abi::kSequential);
  const auto allocators = numbers_of("typedef enum OrtAllocatorType {");
  EXPECT_EQ(allocators.at("OrtDeviceAllocator"), abi::kDeviceAllocator);
  EXPECT_EQ(allocators.at("OrtArenaAllocator"), abi::kArenaAllocator);
  EXPECT_EQ(numbers_of("typedef enum OrtMemType {").at("OrtMemTypeDefault"), abi::kMemTypeDefault);
  const auto hardware = numbers_of("typedef enum OrtHardwareDeviceType {");
  EXPECT_EQ(hardware.at("OrtHardwareDeviceType_CPU"), abi::kHardwareCpu);
  EXPECT_EQ(hardware.at("OrtHardwareDeviceType_GPU"), abi::kHardwareGpu);
  EXPECT_EQ(hardware.at("OrtHardwareDeviceType_NPU"), abi::kHardwareNpu);
  const auto compatible = numbers_of("typedef enum OrtCompiledModelCompatibility {");
  EXPECT_EQ(compatible.at("OrtCompiledModelCompatibility_EP_NOT_APPLICABLE"), abi::kNotApplicable);
  EXPECT_EQ(compatible.at("OrtCompiledModelCompatibility_EP_SUPPORTED_OPTIMAL"), abi::kOptimal);
  EXPECT_EQ(compatible.at("OrtCompiledModelCompatibility_EP_SUPPORTED_PREFER_RECOMPILATION"),
            abi::kPreferRecompilation);
  EXPECT_EQ(compatible.at("OrtCompiledModelCompatibility_EP_UNSUPPORTED"), abi::kNotCompatible);
}

}  // namespace
}  // namespace latebind::onnxruntime
