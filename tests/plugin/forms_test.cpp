// A plug-in gets a model in the forms that its device reads: GivenModel and lbb_table.takes().
#include <string>

#include "backends/plugin/model_form.h"
#include "kit/networks/graph_model.h"
#include "kit/networks/random_encoder.h"
#include "tests/plugin/support.h"

namespace latebind::plugin::testing {
namespace {

core::Model encoder_model() {
  auto made = kit::encoder({});
  EXPECT_OK(made.status());
  return kit::model_of(*std::move(made), "small");
}

TEST(FormsTest, ADeviceThatReadsGraphsGetsTheGraphAlone) {
  const auto given = GivenModel::make(encoder_model(), LBB_READS_GRAPH | LBB_READS_ONNX);
  ASSERT_OK(given.status());
  const lbb_model& model = *(*given)->get();
  EXPECT_STREQ(model.name, "small");
  EXPECT_NE(model.graph, nullptr);
  EXPECT_EQ(model.onnx, nullptr);
  EXPECT_EQ(model.onnx_file, nullptr);
}

TEST(FormsTest, OnnxIsWrittenForADeviceThatReadsOnlyOnnx) {
  const core::Model model = encoder_model();
  const auto given = GivenModel::make(model, LBB_READS_ONNX | LBB_READS_IR);
  ASSERT_OK(given.status());
  const lbb_model& onnx = *(*given)->get();
  EXPECT_EQ(onnx.graph, nullptr);
  ASSERT_NE(onnx.onnx, nullptr);
  EXPECT_GT(onnx.onnx_size, 100U);
  ASSERT_EQ(onnx.piece_count, 1U);
  EXPECT_STREQ(onnx.pieces[0]->location, "weights.bin");
  EXPECT_EQ(onnx.pieces[0]->data, model.graph()->graph->weights().front().bytes.bytes.data()) << "it was copied";
  EXPECT_EQ(onnx.pieces[0]->file, nullptr);
}

TEST(FormsTest, AModelWithoutAFormForTheDeviceIsRefused) {
  expect_error(GivenModel::make(encoder_model(), LBB_READS_IR).status(), StatusCode::kUnsupported,
               "the device reads OpenVINO IR, and 'small' is neither available as that nor can be written so");
  const core::Model onnx = core::Model::from_forms(
      "user's", {{.format = core::ModelFormat::kOnnx, .graph = core::SharedBytes::from_string("not read")}});
  EXPECT_OK(GivenModel::make(onnx, LBB_READS_ONNX).status());
  expect_error(GivenModel::make(onnx, LBB_READS_GRAPH).status(), StatusCode::kUnsupported, "'user's' is none of these");
}

// What load() got last.
struct Loaded {
  bool has_graph = false;
  bool has_onnx = false;
};
Loaded g_loaded;
bool g_takes_graphs = true;

const lbb_table* table_that_reads_both() {
  static const lbb_table table = [] {
    lbb_table made = sized<lbb_table>();
    made.abi = LBB_ABI;
    made.name = "both";
    made.version = "1";
    made.create = [](const lbb_host*, const lbb_pair* const*, std::size_t, lbb_backend** backend, lbb_error*) {
      *backend = reinterpret_cast<lbb_backend*>(&g_loaded);
      return lbb_code{LBB_OK};
    };
    made.destroy = [](lbb_backend*) {};
    made.available = [](lbb_backend*, lbb_error*) { return lbb_code{LBB_OK}; };
    made.devices = [](lbb_backend*, lbb_devices* devices, lbb_error*) {
      const std::int32_t precision = LBB_PRECISION_F32;
      lbb_device device = sized<lbb_device>();
      device.name = "CPU";
      device.full_name = "reads both";
      device.reads = LBB_READS_GRAPH | LBB_READS_ONNX;
      device.precisions = &precision;
      device.precision_count = 1;
      return own_host().add_device(devices, &device);
    };
    made.load = [](lbb_backend*, const lbb_model* model, const char*, const lbb_options*, lbb_executable**,
                   lbb_error* error) {
      g_loaded = {model->graph != nullptr, model->onnx != nullptr};
      return own_host().fail(error, LBB_UNSUPPORTED, "it only looks");
    };
    made.describe_executable = [](lbb_executable*) -> const lbb_active* { return nullptr; };
    made.execute = [](lbb_executable*, const lbb_tensor* const*, std::size_t, lbb_output* const*, std::size_t,
                      const lbb_run*, lbb_error*) { return lbb_code{LBB_OK}; };
    made.destroy_executable = [](lbb_executable*) {};
    made.takes = [](lbb_backend*, const lbb_graph* graph, const char*, const lbb_options*, lbb_error* error) {
      EXPECT_GT(graph->node_count, 0U);
      return g_takes_graphs ? lbb_code{LBB_OK} : own_host().fail(error, LBB_UNSUPPORTED, "not this graph");
    };
    return made;
  }();
  return &table;
}

TEST(FormsTest, AGraphThatThePluginDoesNotTakeIsGivenAsOnnx) {
  const auto backend = backend_of(table_that_reads_both());
  g_takes_graphs = true;
  expect_error(backend->load(encoder_model(), "CPU", {}).status(), StatusCode::kUnsupported, "it only looks");
  EXPECT_TRUE(g_loaded.has_graph);
  EXPECT_FALSE(g_loaded.has_onnx);
  g_takes_graphs = false;
  expect_error(backend->load(encoder_model(), "CPU", {}).status(), StatusCode::kUnsupported, "it only looks");
  EXPECT_FALSE(g_loaded.has_graph);
  EXPECT_TRUE(g_loaded.has_onnx);
}

TEST(FormsTest, OptionsArriveWhole) {
  core::CompileOptions options;
  options.precision = core::Precision::kInt8;
  options.hint = core::PerformanceHint::kThroughput;
  options.threads = 3;
  options.requests = 2;
  options.input_shapes = {core::Shape{1, 128}, core::Shape{}};
  options.host_nodes = core::HostNodes::kAny;
  options.shapes_recur = true;
  options.emulate = true;
  options.properties = {{"KEY", "text"}};
  const GivenOptions given(options);
  const lbb_options& made = *given.get();
  EXPECT_EQ(made.precision, LBB_PRECISION_INT8);
  EXPECT_EQ(made.throughput, 1);
  EXPECT_EQ(made.threads, 3U);
  EXPECT_EQ(made.requests, 2U);
  EXPECT_EQ(made.host_nodes, 2);
  EXPECT_EQ(made.shapes_recur, 1);
  EXPECT_EQ(made.emulate, 1);
  ASSERT_EQ(made.input_shape_count, 2U);
  EXPECT_EQ(made.input_shapes[0]->rank, 2U);
  EXPECT_EQ(made.input_shapes[0]->dims[1], 128);
  EXPECT_EQ(made.input_shapes[1]->rank, 0U);
  ASSERT_EQ(made.property_count, 1U);
  EXPECT_STREQ(made.properties[0]->key, "KEY");
  EXPECT_STREQ(made.properties[0]->text, "text");
}

}  // namespace
}  // namespace latebind::plugin::testing
