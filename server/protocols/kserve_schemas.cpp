#include "server/protocols/kserve_schemas.h"

#include <utility>

#include "server/protocols/json_body.h"

namespace latebind::server::kserve {

using app::Json;

namespace {

Json truth_schema(const char* name) {
  Json schema = typed_schema("object", "");
  schema["properties"][name] = typed_schema("boolean", "");
  schema["required"] = Json::array({name});
  return schema;
}

Json list_of(Json items) {
  Json schema = typed_schema("array", "");
  schema["items"] = std::move(items);
  return schema;
}

}  // namespace

Json live_schema() {
  return truth_schema("live");
}
Json ready_schema() {
  return truth_schema("ready");
}

Json model_ready_schema() {
  Json schema = truth_schema("ready");
  schema["properties"]["name"] = typed_schema("string", "");
  schema["required"].push_back("name");
  return schema;
}

Json server_schema() {
  Json schema = typed_schema("object", "");
  schema["properties"]["name"] = typed_schema("string", "");
  schema["properties"]["version"] = typed_schema("string", "");
  schema["properties"]["extensions"] = list_of(typed_schema("string", ""));
  schema["required"] = Json::array({"name", "version", "extensions"});
  return schema;
}

Json metadata_schema() {
  Json tensor = typed_schema("object", "");
  tensor["properties"]["name"] = typed_schema("string", "");
  tensor["properties"]["datatype"] = typed_schema("string", "");
  tensor["properties"]["shape"] = list_of(typed_schema("integer", "-1: any."));
  tensor["required"] = Json::array({"name", "datatype", "shape"});
  Json schema = typed_schema("object", "");
  schema["properties"]["name"] = typed_schema("string", "");
  schema["properties"]["versions"] = list_of(typed_schema("string", ""));
  schema["properties"]["platform"] = typed_schema("string", "What computes.");
  schema["properties"]["inputs"] = list_of(tensor);
  schema["properties"]["outputs"] = list_of(tensor);
  schema["required"] = Json::array({"name", "versions", "platform", "inputs", "outputs"});
  return schema;
}

Json index_schema() {
  Json model = typed_schema("object", "");
  model["properties"]["name"] = typed_schema("string", "");
  model["properties"]["version"] = typed_schema("string", "");
  model["properties"]["state"] = typed_schema("string", "");
  model["required"] = Json::array({"name", "version", "state"});
  return list_of(std::move(model));
}

Json bytes_schema() {
  Json schema = typed_schema("string", "JSON of Inference-Header-Content-Length bytes, followed by binary data.");
  schema["format"] = "binary";
  return schema;
}

Json refusal_schema() {
  Json schema = typed_schema("object", "");
  schema["properties"]["error"] = typed_schema("string", "For people.");
  schema["required"] = Json::array({"error"});
  return schema;
}

}  // namespace latebind::server::kserve
