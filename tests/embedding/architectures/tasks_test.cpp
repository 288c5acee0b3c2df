// Networks with low-rank parts for several tasks against the reference (tests/data/adapters/make_tasks.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "embedding/build_model.h"
#include "embedding/folder/model_folder.h"
#include "kit/reference/evaluator.h"
#include "tests/embedding/architectures/batch_of_texts.h"
#include "tests/embedding/support.h"
#include "tests/support/json.h"

namespace latebind::embedding {
namespace {

using core::StatusCode;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::filesystem::path adapters_data() {
  return testing::data_folder() / "adapters";
}

const json& expected_of_tasks() {
  static const json document = json::parse(testing::read_file(adapters_data() / "expected_tasks.json"))["vectors"];
  return document;
}

json texts_of_networks() {
  return json::parse(testing::read_file(testing::data_folder() / "networks/expected.json"))["ids"];
}

// `tasks` has the number of each text's task.
std::vector<double> vectors_with_tasks(const graph::Graph& graph, const std::vector<double>& tasks) {
  const auto batch = testing::batch_of(texts_of_networks());
  kit::Array numbers{.shape = batch.ids.shape, .values = {}};
  const auto width = static_cast<std::size_t>(batch.ids.shape[1]);
  for (std::size_t i = 0; i < batch.mask.values.size(); ++i)
    numbers.values.push_back(batch.mask.values[i] == 1 ? tasks[i / width] : 0);
  return kit::evaluate(graph, {{"input_ids", batch.ids}, {"attention_mask", batch.mask}, {"task_ids", numbers}}).values;
}

// The models normalise.
void expect_row(const std::vector<double>& vectors, std::size_t row, const json& wanted) {
  double squares = 0;
  for (const json& number : wanted)
    squares += number.get<double>() * number.get<double>();
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(vectors[row * wanted.size() + i], wanted[i].get<double>() / std::sqrt(squares), 1e-6)
        << row << "," << i;
}

// A copy of a network with adapters of tasks beside it.
void write_tasks(const testing::ScratchFolder& scratch, const std::string& network = "eurobert",
                 const std::string& tasks = "tasks") {
  const auto base = testing::data_folder() / "networks" / network;
  for (const char* file : {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json",
                           "modules.json", "sentence_bert_config.json", "1_Pooling/config.json"})
    scratch.write(file, testing::read_file(base / file));
  for (const char* task : {"retrieval", "clustering"}) {
    for (const char* file : {"adapter_config.json", "adapter_model.safetensors"}) {
      const std::string name = std::string("adapters/") + task + "/" + file;
      scratch.write(name, testing::read_file(adapters_data() / tasks / name));
    }
  }
}

TEST(TasksTest, EachTextOfABatchHasItsTask) {
  const auto folder = ModelFolder::open(adapters_data() / "jina_v3");
  ASSERT_TRUE(folder.ok()) << folder.status().to_string();
  const TaskNames& tasks = folder->documents().input.prompts.tasks;
  EXPECT_THAT(tasks.names, ElementsAre("retrieval.query", "retrieval.passage", "text-matching"));
  const auto graph = make_graph(folder->documents());
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  const json& wanted = expected_of_tasks()["jina_v3"];
  const std::size_t count = texts_of_networks().size();
  const auto name_of = [&](std::size_t number) { return number == 0 ? std::string() : tasks.names[number - 1]; };
  for (std::size_t first = 0; first < 4; ++first) {
    std::vector<double> numbers;
    for (std::size_t row = 0; row < count; ++row)
      numbers.push_back(static_cast<double>((first + row) % 4));
    const auto vectors = vectors_with_tasks(*graph, numbers);
    for (std::size_t row = 0; row < count; ++row)
      expect_row(vectors, row, wanted[name_of((first + row) % 4)][row]);
  }
}

TEST(TasksTest, AdaptersInFoldersAreTasks) {
  const testing::ScratchFolder scratch;
  write_tasks(scratch);
  const auto folder = ModelFolder::open(scratch.path());
  ASSERT_TRUE(folder.ok()) << folder.status().to_string();
  const TaskNames& tasks = folder->documents().input.prompts.tasks;
  EXPECT_THAT(tasks.names, ElementsAre("clustering", "retrieval"));
  const auto graph = make_graph(folder->documents());
  ASSERT_TRUE(graph.ok()) << graph.status().to_string();
  const std::size_t count = texts_of_networks().size();
  for (std::size_t number = 1; number <= 2; ++number) {
    const auto vectors = vectors_with_tasks(*graph, std::vector<double>(count, static_cast<double>(number)));
    for (std::size_t row = 0; row < count; ++row)
      expect_row(vectors, row, expected_of_tasks()["tasks"][tasks.names[number - 1]][row]);
  }
  scratch.set("config.json", "task_names", json::array({"retrieval", "clustering"}));
  EXPECT_THAT(ModelFolder::open(scratch.path())->documents().input.prompts.tasks.names,
              ElementsAre("retrieval", "clustering"));
  scratch.set("config.json", "task_names", json::array({"retrieval", "other"}));
  const auto missing = ModelFolder::open(scratch.path());
  EXPECT_THAT(missing.status().to_string(), HasSubstr("'task_names' of its config.json has 'other'"));
  for (const json& wrong : {json(5), json("retrieval"), json::array({5}), json::array({""})}) {
    scratch.set("config.json", "task_names", wrong);
    EXPECT_THAT(ModelFolder::open(scratch.path()).status().to_string(),
                HasSubstr("'task_names' must be a list of texts"))
        << wrong;
  }
}

// The published jina-embeddings-v5: a class of its own pools the last token's vector.
TEST(TasksTest, JinaV5IsQwen3OrEuroBertWithAdaptersOfTasks) {
  for (const auto& [network, folder] : {std::pair{"eurobert", "tasks"}, std::pair{"qwen3", "tasks_qwen3"}}) {
    const testing::ScratchFolder scratch;
    write_tasks(scratch, network, folder);
    std::filesystem::remove_all(scratch.path() / "1_Pooling");
    scratch.write("modules.json", R"([{"idx": 0, "name": "transformer", "path": "", "type": "custom_st.Transformer",)"
                                  R"( "kwargs": ["task", "truncate_dim"]}])");
    scratch.write("config_sentence_transformers.json",
                  R"({"prompts": {"query": "Query: ", "document": "Document: "}, "default_prompt_name": "document"})");
    scratch.set("config.json", "model_type", "jina_embeddings_v5");
    scratch.set("config.json", "architectures", json::array({"JinaEmbeddingsV5Model"}));
    scratch.set("config.json", "task_names", json::array({"retrieval", "clustering"}));
    if (std::string_view(network) == "eurobert") scratch.set("config.json", "is_decoder", false);
    const auto opened = ModelFolder::open(scratch.path());
    ASSERT_TRUE(opened.ok()) << opened.status().to_string();
    const Prompts& prompts = opened->documents().input.prompts;
    EXPECT_THAT(prompts.tasks.names, ElementsAre("retrieval", "clustering"));
    EXPECT_EQ(*prompts.choose({.task = "clustering"}), "Document: ");
    EXPECT_EQ(*prompts.choose({}, TextRole::kQuery), "Query: ");
    EXPECT_EQ(*prompts.tasks.choose({}, TextRole::kQuery), 1U);
    EXPECT_EQ(prompts.choose({}).status().code(), StatusCode::kInvalidArgument);
    const auto graph = make_graph(opened->documents());
    ASSERT_TRUE(graph.ok()) << graph.status().to_string();
    const std::size_t count = texts_of_networks().size();
    for (std::size_t number = 1; number <= 2; ++number) {
      const auto vectors = vectors_with_tasks(*graph, std::vector<double>(count, static_cast<double>(number)));
      for (std::size_t row = 0; row < count; ++row)
        expect_row(vectors, row, expected_of_tasks()["jina_v5"][network][prompts.tasks.names[number - 1]][row]);
    }
    scratch.set("config.json", "task_names", nullptr);
    EXPECT_THAT(ModelFolder::open(scratch.path()).status().to_string(), HasSubstr("custom_st.Transformer"));
    std::filesystem::remove_all(scratch.path() / "adapters");
    scratch.set("config.json", "task_names", json::array({"retrieval"}));
    EXPECT_THAT(ModelFolder::open(scratch.path()).status().to_string(), HasSubstr("there is no adapters/retrieval/"));
  }
}

TEST(TasksTest, JinaV5SaysWhichNetworkItIs) {
  const testing::ScratchFolder scratch;
  write_tasks(scratch);
  scratch.set("config.json", "model_type", "jina_embeddings_v5");
  scratch.set("config.json", "task_names", json::array({"retrieval", "clustering"}));
  scratch.set("config.json", "head_dim", nullptr);
  EXPECT_THAT(ModelFolder::open(scratch.path()).status().to_string(),
              HasSubstr("neither 'is_decoder' nor 'head_dim' says whether"));
  scratch.set("config.json", "is_decoder", "no");
  EXPECT_THAT(ModelFolder::open(scratch.path()).status().to_string(), HasSubstr("must be true or false"));
}

// The published folders with one merged adapter keep the list of tasks.
TEST(TasksTest, TaskNamesWithoutAdaptersHaveNoEffect) {
  const testing::ScratchFolder scratch;
  write_tasks(scratch);
  std::filesystem::remove_all(scratch.path() / "adapters");
  scratch.set("config.json", "task_names", json::array({"retrieval", "clustering"}));
  const auto opened = ModelFolder::open(scratch.path());
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  EXPECT_THAT(opened->documents().input.prompts.tasks.names, ::testing::IsEmpty());
}

// The table of words is changed by the one as a table and by the other as a matrix, whose sizes are exchanged.
TEST(TasksTest, AdaptersThatChangeOneTensorInTwoFormsAreRefused) {
  const testing::ScratchFolder scratch;
  write_tasks(scratch);
  const auto write = [&](const std::string& task, const json& header, std::size_t numbers) {
    scratch.write("adapters/" + task + "/adapter_model.safetensors", testing::safetensors(header.dump(), 4 * numbers));
    scratch.set("adapters/" + task + "/adapter_config.json", "target_modules", json::array({"embed_tokens"}));
    scratch.set("adapters/" + task + "/adapter_config.json", "r", 4);
  };
  const auto tensor = [](std::size_t rows, std::size_t columns, std::size_t begin) {
    return json{
        {"dtype", "F32"}, {"shape", {rows, columns}}, {"data_offsets", {4 * begin, 4 * (begin + rows * columns)}}};
  };
  const std::string module = "base_model.model.embed_tokens";
  write("clustering", {{module + ".lora_A.weight", tensor(4, 32, 0)}, {module + ".lora_B.weight", tensor(45, 4, 128)}},
        308);
  write("retrieval",
        {{module + ".lora_embedding_A", tensor(4, 45, 0)}, {module + ".lora_embedding_B", tensor(32, 4, 180)}}, 308);
  const auto folder = ModelFolder::open(scratch.path());
  ASSERT_TRUE(folder.ok()) << folder.status().to_string();
  const auto graph = make_graph(folder->documents());
  ASSERT_FALSE(graph.ok());
  EXPECT_THAT(graph.status().to_string(), HasSubstr("but another task's adapter changes it as a matrix"));
}

TEST(TasksTest, ACallChoosesByNameOrByRole) {
  TaskNames tasks{.names = {"retrieval.query", "retrieval.passage", "separation"}};
  EXPECT_EQ(*tasks.choose("separation", TextRole::kQuery), 3U);
  EXPECT_EQ(*tasks.choose({}, TextRole::kQuery), 1U);
  EXPECT_EQ(*tasks.choose({}, TextRole::kDocument), 2U);
  EXPECT_EQ(*tasks.choose({}, TextRole::kUnspecified), 0U);
  const auto unknown = tasks.choose("other", TextRole::kQuery).status();
  EXPECT_EQ(unknown.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(unknown.message(), HasSubstr("no task 'other'; it has: retrieval.query, retrieval.passage, separation"));
  tasks = {.names = {"clustering", "retrieval"}, .is_needed = true};
  EXPECT_EQ(*tasks.choose({}, TextRole::kQuery), 2U);
  EXPECT_THAT(tasks.choose({}, TextRole::kUnspecified).status().message(),
              HasSubstr("needs a task; it has: clustering"));
  EXPECT_THAT(TaskNames().choose("x", TextRole::kUnspecified).status().message(), HasSubstr("it has: none"));
  EXPECT_EQ(*TaskNames().choose({}, TextRole::kQuery), 0U);
}

TEST(TasksTest, ATaskHasThePromptOfItsName) {
  Prompts prompts{.by_name = {{"a", "for a: "}, {"query", "q: "}}, .by_default = "d: ", .tasks = {.names = {"a", "b"}}};
  EXPECT_EQ(*prompts.choose({}), "d: ");
  EXPECT_EQ(*prompts.choose({.task = "a"}), "for a: ");
  EXPECT_EQ(*prompts.choose({.task = "b"}), "d: ");
  EXPECT_EQ(*prompts.choose({.text = "x", .task = "a"}), "x");
  EXPECT_EQ(*prompts.choose({.name = "query", .task = "a"}), "q: ");
}

// A key that changes the numbers is read or refused.
TEST(TasksTest, KeysOfTheNetworkCount) {
  const testing::ScratchFolder scratch;
  const auto from = adapters_data() / "jina_v3";
  for (const char* file : {"config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json",
                           "modules.json", "sentence_bert_config.json", "1_Pooling/config.json"})
    scratch.write(file, testing::read_file(from / file));
  const json config = json::parse(testing::read_file(from / "config.json"));
  const auto status_with = [&](const char* key, const json& value) {
    json changed = config;
    changed[key] = value;
    scratch.write("config.json", changed.dump());
    const auto folder = ModelFolder::open(scratch.path());
    return folder.ok() ? make_graph(folder->documents()).status() : folder.status();
  };
  EXPECT_TRUE(status_with("lora_alpha", 2).ok());
  EXPECT_EQ(status_with("lora_alpha", 0).code(), StatusCode::kInvalidModel);
  EXPECT_THAT(status_with("lora_rank", 5).to_string(), HasSubstr("lora_A"));
  EXPECT_THAT(status_with("lora_adaptations", json::array({"a"})).to_string(),
              HasSubstr("which is not among 'lora_adaptations'"));
  EXPECT_EQ(status_with("lora_adaptations", 3).code(), StatusCode::kInvalidModel);
  EXPECT_EQ(status_with("lora_alpha", "3").code(), StatusCode::kInvalidModel);
  EXPECT_THAT(status_with("lora_adaptations", json::array({"a", "b", "a"})).to_string(), HasSubstr("has 'a' twice"));
  EXPECT_THAT(status_with("lora_adaptations", nullptr).to_string(), HasSubstr("'lora_adaptations' is missing"));
  EXPECT_THAT(status_with("lora_scale", 2).to_string(), HasSubstr("'lora_scale' is not supported"));
  EXPECT_EQ(status_with("truncate_dim", 16).code(), StatusCode::kUnsupported);
  const json instructions = config["task_instructions"];
  EXPECT_TRUE(status_with("task_instructions", nullptr).ok());
  for (const auto& [task, text, words] : std::initializer_list<std::tuple<const char*, json, const char*>>{
           {"separation", "x", "'task_instructions' has 'separation', which is not among 'lora_adaptations'"},
           {"text-matching", 5, "'task_instructions' has 5 for 'text-matching', which must be a text"}}) {
    json changed = instructions;
    changed[task] = text;
    EXPECT_THAT(status_with("task_instructions", changed).to_string(), HasSubstr(words));
  }
  EXPECT_THAT(status_with("task_instructions", {{"text-matching", ""}}).to_string(),
              HasSubstr("'task_instructions' has no 'retrieval.query'"));
  EXPECT_EQ(status_with("task_instructions", "x").code(), StatusCode::kInvalidModel);
  json without = config;
  for (const char* key : {"lora_adaptations", "task_instructions"})
    without.erase(key);
  without["architectures"] = {"XLMRobertaModel"};
  scratch.write("config.json", without.dump());
  scratch.write("modules.json", testing::read_file(testing::data_folder() / "tiny-bert/f32/modules.json"));
  const auto folder = ModelFolder::open(scratch.path());
  ASSERT_TRUE(folder.ok()) << folder.status().to_string();
  EXPECT_THAT(make_graph(folder->documents()).status().to_string(),
              HasSubstr("the weights have low-rank parts of tasks, such as"));
  EXPECT_EQ(status_with("rotary_emb_interleaved", true).code(), StatusCode::kUnsupported);
  EXPECT_EQ(status_with("rotary_emb_scale_base", 512.0).code(), StatusCode::kUnsupported);
  EXPECT_EQ(status_with("load_trained_adapters", false).code(), StatusCode::kUnsupported);
  EXPECT_EQ(status_with("position_embedding_type", "learned").code(), StatusCode::kUnsupported);
}

}  // namespace
}  // namespace latebind::embedding
