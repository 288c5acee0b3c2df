// The Open Inference Protocol: what it says of server and models, and tensors in JSON and in binary.
#include "tests/server/protocols/kserve_fixture.h"

namespace latebind::server::kserve {
namespace {

using ::testing::HasSubstr;

TEST_F(KserveTest, IsLiveFromTheFirstMomentAndReadyWhenTheServiceIs) {
  EXPECT_EQ(ask("GET", "/v2/health/live").status, 200U);
  EXPECT_THAT(error_of(ask("GET", "/v2/health/ready"), 503), HasSubstr("starting"));
  add(echo_model("echo", {ElementType::kF32}));
  service.set_ready();
  EXPECT_EQ(ask("GET", "/v2/health/ready").status, 200U);
  EXPECT_EQ(Json::parse(ask("GET", "/v2/models/echo/ready").body), Json({{"name", "echo"}, {"ready", true}}));
  service.set_ending();
  EXPECT_EQ(ask("GET", "/v2/health/live").status, 200U);
  EXPECT_EQ(ask("GET", "/v2/health/ready").status, 503U);
  EXPECT_EQ(ask("GET", "/v2/models/echo/ready").status, 503U);
}

TEST_F(KserveTest, OnlyHealthNeedsNoKey) {
  for (const Route& route : kserve_protocol().routes()) {
    EXPECT_EQ(route.is_open, route.path.starts_with("/v2/health/")) << route.path;
  }
}

TEST_F(KserveTest, DescribesServerAndModels) {
  add(echo_model("echo", {ElementType::kF32, ElementType::kI64}));
  service.set_ready();
  const Json server = Json::parse(ask("GET", "/v2").body);
  EXPECT_EQ(server["name"], "latebind");
  EXPECT_EQ(server["extensions"][0], "binary_tensor_data");
  const Json model = Json::parse(ask("GET", "/v2/models/echo").body);
  EXPECT_EQ(model["versions"], Json::array({"1"}));
  EXPECT_EQ(model["inputs"][1], Json({{"name", "x1"}, {"datatype", "INT64"}, {"shape", {-1, -1}}}));
  EXPECT_EQ(model["outputs"][0], Json({{"name", "y0"}, {"datatype", "FP32"}, {"shape", {-1, -1}}}));
  EXPECT_EQ(Json::parse(ask("GET", "/v2/models/echo/versions/1").body), model);
  EXPECT_THAT(error_of(ask("GET", "/v2/models/echo/versions/2"), 404), HasSubstr("version"));
  EXPECT_THAT(error_of(ask("GET", "/v2/models/other"), 404), HasSubstr("other"));
  EXPECT_EQ(Json::parse(ask("POST", "/v2/repository/index").body),
            Json::array({{{"name", "echo"}, {"version", "1"}, {"state", "READY"}}}));
}

struct TypeCase {
  ElementType type;
  std::string name;
  Json data;          // two elements; null: binary only
  std::string bytes;  // the same
};

class KserveTypes : public KserveTest, public ::testing::WithParamInterface<TypeCase> {};

TEST_P(KserveTypes, GoInAndComeOutInJsonAndInBinary) {
  const TypeCase& one = GetParam();
  add(echo_model("echo", {one.type}));
  service.set_ready();
  if (!one.data.is_null()) {
    const auto response = infer("echo", {{"inputs", {tensor("x0", one.name, {1, 2}, one.data)}}});
    ASSERT_EQ(response.status, 200U) << response.body;
    EXPECT_EQ(header_of(response, "Inference-Header-Content-Length"), "");
    EXPECT_EQ(Json::parse(response.body)["outputs"], Json::array({tensor("y0", one.name, {1, 2}, one.data)}));
  } else {
    const auto response = infer("echo", {{"inputs", {tensor("x0", one.name, {1, 2}, {1, 2})}}});
    EXPECT_THAT(error_of(response, 400), HasSubstr("binary"));
    const auto mixed =
        infer("echo", {{"inputs", {binary_tensor("x0", one.name, {1, 2}, one.bytes.size())}}}, one.bytes);
    EXPECT_THAT(error_of(mixed, 400), HasSubstr("binary"));
  }
  const auto response = infer("echo",
                              {{"inputs", {binary_tensor("x0", one.name, {1, 2}, one.bytes.size())}},
                               {"parameters", {{"binary_data_output", true}}}},
                              one.bytes);
  ASSERT_EQ(response.status, 200U) << response.body;
  EXPECT_EQ(response.content_type, "application/octet-stream");
  const std::size_t json_bytes = std::stoul(header_of(response, "Inference-Header-Content-Length"));
  EXPECT_EQ(Json::parse(response.body.substr(0, json_bytes))["outputs"],
            Json::array({binary_tensor("y0", one.name, {1, 2}, one.bytes.size())}));
  EXPECT_EQ(response.body.substr(json_bytes), one.bytes);
}

INSTANTIATE_TEST_SUITE_P(
    All, KserveTypes,
    ::testing::Values(TypeCase{ElementType::kBool, "BOOL", {true, false}, bytes_of<std::uint8_t>({1, 0})},
                      TypeCase{ElementType::kI8, "INT8", {-128, 127}, bytes_of<std::int8_t>({-128, 127})},
                      TypeCase{ElementType::kI16, "INT16", {-32768, 32767}, bytes_of<std::int16_t>({-32768, 32767})},
                      TypeCase{ElementType::kI32,
                               "INT32",
                               {-2147483648LL, 2147483647},
                               bytes_of<std::int32_t>({std::numeric_limits<std::int32_t>::min(), 2147483647})},
                      TypeCase{ElementType::kI64,
                               "INT64",
                               {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()},
                               bytes_of<std::int64_t>({std::numeric_limits<std::int64_t>::min(),
                                                       std::numeric_limits<std::int64_t>::max()})},
                      TypeCase{ElementType::kU8, "UINT8", {0, 255}, bytes_of<std::uint8_t>({0, 255})},
                      TypeCase{ElementType::kU16, "UINT16", {1, 65535}, bytes_of<std::uint16_t>({1, 65535})},
                      TypeCase{
                          ElementType::kU32, "UINT32", {1, 4294967295U}, bytes_of<std::uint32_t>({1, 4294967295U})},
                      TypeCase{ElementType::kU64,
                               "UINT64",
                               {1, std::numeric_limits<std::uint64_t>::max()},
                               bytes_of<std::uint64_t>({1, std::numeric_limits<std::uint64_t>::max()})},
                      TypeCase{ElementType::kF16, "FP16", nullptr, bytes_of<std::uint16_t>({0x3C00, 0x4000})},
                      TypeCase{ElementType::kBF16, "BF16", nullptr, bytes_of<std::uint16_t>({0x3F80, 0x4000})},
                      TypeCase{ElementType::kF32, "FP32", {0.5, -2.25}, bytes_of<float>({0.5F, -2.25F})},
                      TypeCase{ElementType::kF64, "FP64", {0.1, -1e300}, bytes_of<double>({0.1, -1e300})}),
    [](const auto& test) { return test.param.name; });

TEST_F(KserveTest, AnswersChosenOutputsInTheirOrderEachAsItIsAsked) {
  add(echo_model("echo", {ElementType::kI32, ElementType::kF32, ElementType::kI64}));
  service.set_ready();
  // The data of inputs follows in the order of the inputs, whatever the model's is.
  const Json body = {{"id", "a \"b\""},
                     {"inputs",
                      {binary_tensor("x2", "INT64", {1, 1}, 8), tensor("x0", "INT32", {2, 1}, {{1}, {2}}),
                       binary_tensor("x1", "FP32", {1, 1}, 4)}},
                     {"outputs",
                      {{{"name", "y2"}},
                       {{"name", "y0"}, {"parameters", {{"binary_data", false}}}},
                       {{"name", "y1"}, {"parameters", {{"binary_data", true}}}}}},
                     {"parameters", {{"binary_data_output", true}, {"sequence_id", 3}}}};
  const auto response = infer("echo", body, bytes_of<std::int64_t>({77}) + bytes_of<float>({1.5F}));
  ASSERT_EQ(response.status, 200U) << response.body;
  const std::size_t json_bytes = std::stoul(header_of(response, "Inference-Header-Content-Length"));
  const Json json = Json::parse(response.body.substr(0, json_bytes));
  EXPECT_EQ(json["id"], "a \"b\"");
  EXPECT_EQ(json["model_name"], "echo");
  EXPECT_EQ(json["model_version"], "1");
  EXPECT_EQ(json["outputs"],
            Json::array({binary_tensor("y2", "INT64", {1, 1}, 8), tensor("y0", "INT32", {2, 1}, {1, 2}),
                         binary_tensor("y1", "FP32", {1, 1}, 4)}));
  EXPECT_EQ(response.body.substr(json_bytes), bytes_of<std::int64_t>({77}) + bytes_of<float>({1.5F}));
}

TEST_F(KserveTest, RefusesNumbersThatJsonCannotHoldAndNamesTheWayOut) {
  add(echo_model("echo", {ElementType::kF32}));
  service.set_ready();
  for (const float number : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const Json body = {{"inputs", {binary_tensor("x0", "FP32", {1, 1}, 4)}}};
    EXPECT_THAT(error_of(infer("echo", body, bytes_of<float>({number})), 400), HasSubstr("binary_data"));
  }
}

TEST_F(KserveTest, TakesEmptyTensors) {
  add(echo_model("echo", {ElementType::kF32}));
  service.set_ready();
  const auto response = infer("echo", {{"inputs", {tensor("x0", "FP32", {0, 3}, Json::array())}}});
  ASSERT_EQ(response.status, 200U) << response.body;
  EXPECT_EQ(Json::parse(response.body)["outputs"], Json::array({tensor("y0", "FP32", {0, 3}, Json::array())}));
}

TEST_F(KserveTest, RefusesInputsThatAreWrongAndSaysHow) {
  add(echo_model("echo", {ElementType::kI32}));
  service.set_ready();
  const Json good = tensor("x0", "INT32", {1, 2}, {1, 2});
  const auto changed = [&](const char* key, const Json& value) {
    Json input = good;
    input[key] = value;
    return Json{{"inputs", {input}}};
  };
  const struct {
    Json body;
    const char* words;
  } cases[] = {
      {Json::array(), "object"},
      {Json::object(), "'inputs' is missing"},
      {{{"inputs", 3}}, "array of objects"},
      {{{"inputs", Json::array()}}, "'x0' is missing"},
      {{{"inputs", {good, tensor("z", "INT32", {1, 1}, {1})}}}, "no input 'z'"},
      {{{"inputs", {good, good}}}, "twice"},
      {{{"inputs", {{{"name", "x0"}}}}}, "'shape' is missing"},
      {{{"inputs", {good}}, {"id", 5}}, "'id' must be a string"},
      {{{"inputs", {good}}, {"outputs", {{{"name", "none"}}}}}, "no output 'none'; available: y0"},
      {{{"inputs", {good}}, {"outputs", {{{"name", "y0"}}, {{"name", "y0"}}}}}, "twice"},
      {{{"inputs", {good}}, {"outputs", {{{"name", "y0"}, {"parameters", {{"classification", 2}}}}}}},
       "classification"},
      {changed("parameters", {{"shared_memory_region", "a"}}), "shared_memory_region"},
      {changed("datatype", "FLOAT"), "not a type of the protocol"},
      {changed("datatype", "INT64"), "takes i32"},
      {changed("shape", {2}), "takes shape"},
      {changed("shape", {2, 2}), "does not have as many elements"},
      {changed("shape", {1, -2}), "whole numbers from 0"},
      {changed("shape", {1, 1, 1, 1, 1, 1, 1, 1, 2}), "more than 8"},
      {changed("shape", {4294967296, 4294967296}), "more elements than fit"},
      {changed("shape", {1099511627776, 1}), "does not have as many elements"},
      {changed("data", {1, 2, 3}), "does not have as many elements"},
      {changed("data", {{1}, {2}}), "does not have as many elements"},
      {changed("data", {{1, {2}}}), "whole number"},
      {changed("data", {{1, 2}, 3}), "does not have as many elements"},
      {changed("data", 1), "must be an array"},
      {changed("data", {1, 2.5}), "whole number of its type, at element 1"},
      {changed("data", {1, 2147483648}), "whole number"},
      {changed("data", {1, "2"}), "whole number"},
      {changed("data", nullptr), "neither data nor"},
      {changed("parameters", {{"binary_data_size", 8}}), "both"},
      {changed("parameters", {{"binary_data_size", -1}}), "binary_data_size"},
  };
  for (const auto& one : cases)
    EXPECT_THAT(error_of(infer("echo", one.body), 400), HasSubstr(one.words)) << one.body.dump();
  EXPECT_EQ(infer("echo", {{"inputs", {good}}}).status, 200U);
}

TEST_F(KserveTest, RefusesBinaryDataThatDoesNotFit) {
  add(echo_model("echo", {ElementType::kBool}));
  service.set_ready();
  const auto asked = [&](std::size_t said, const std::string& binary) {
    return error_of(infer("echo", {{"inputs", {binary_tensor("x0", "BOOL", {1, 2}, said)}}}, binary), 400);
  };
  EXPECT_THAT(asked(2, std::string(1, '\0')), HasSubstr("has a binary_data_size of 2 bytes; the body has 1 left"));
  EXPECT_THAT(asked(2, std::string(3, '\0')), HasSubstr("1 byte after"));
  EXPECT_THAT(asked(3, std::string(3, '\0')), HasSubstr("require 2"));
  EXPECT_THAT(asked(2, "\1\2"), HasSubstr("0 and 1"));
  EXPECT_THAT(asked(std::numeric_limits<std::int64_t>::max(), "\1\1"), HasSubstr("the body has 2 left"));
  const std::string path = "/v2/models/echo/infer";
  EXPECT_THAT(error_of(ask("POST", path, "{}", 3), 400), HasSubstr("the body has 2"));
  for (const std::string_view header : {"-1", "x", "1 ", "99999999999999999999"}) {
    EXPECT_TRUE(std::holds_alternative<Refusal>(kserve::parse_infer(header, "{}", 1))) << header;
  }
}

TEST_F(KserveTest, RefusesStringsForModelsThatTakeNumbers) {
  add(echo_model("echo", {ElementType::kF32}));
  service.set_ready();
  EXPECT_THAT(error_of(infer("echo", {{"inputs", {tensor("x0", "BYTES", {1, 1}, {"a"})}}}), 400), HasSubstr("BYTES"));
}

TEST_F(KserveTest, AnswersTheDevicesErrors) {
  add(echo_model("broken", {ElementType::kF32}, [](const core::RunOptions&) {
    return core::Status(core::StatusCode::kDeviceFailed, "the device is gone");
  }));
  service.set_ready();
  const auto response = infer("broken", {{"inputs", {tensor("x0", "FP32", {1, 1}, {1})}}});
  EXPECT_THAT(error_of(response, 500), HasSubstr("the device is gone"));
}

}  // namespace
}  // namespace latebind::server::kserve
