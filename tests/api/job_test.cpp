// Jobs through the C interface, on the fake OpenVINO library.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/platform/files/output_lock.h"
#include "latebind/latebind.h"
#include "tests/api/last_error.h"
#include "tests/api/options.h"
#include "tests/fakes/fake_openvino_library.h"

namespace {

using latebind::test::last_message;
using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kJobModel = "<net/>\nfake-model\ninput x f32 4\noutput y plus-one 0\n";

class JobInterfaceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(model, std::ios::binary) << kJobModel;
    std::ofstream(fake.folder() / "model.bin") << "none";
    ASSERT_EQ(lb_runtime_create(latebind::test::with_openvino(fake.file()).get(), &runtime), LB_OK);
  }
  void TearDown() override {
    lb_job_destroy(job);
    lb_runtime_destroy(runtime);
  }

  lb_code start(const char* name, const json& arguments = json::object()) {
    lb_job_destroy(job);
    job = nullptr;
    return lb_job_start(runtime, name, arguments.dump().c_str(), nullptr, &job);
  }
  // The report of a job, and its code.
  json report_of(const char* name, const json& arguments = json::object()) {
    code = start(name, arguments);
    if (code != LB_OK) return {};
    EXPECT_EQ(lb_job_wait(job, 60'000, nullptr), LB_OK) << last_message();
    const char* text = nullptr;
    code = lb_job_result(job, &text);
    return json::parse(text, nullptr, false);
  }

  void wait_until_it_compiles() const {
    auto progress = LB_INIT(lb_job_progress);
    while (lb_job_wait(job, 1, &progress) == LB_DEADLINE_EXCEEDED && progress.activity[0] == '\0')
      std::this_thread::yield();
  }

  latebind::test::FakeOpenvino fake;
  const std::filesystem::path model = fake.folder() / "model.xml";
  lb_runtime* runtime = nullptr;
  lb_job* job = nullptr;
  lb_code code = LB_OK;
};

TEST_F(JobInterfaceTest, EveryKindDescribesItself) {
  std::set<std::string> names;
  for (size_t i = 0; i < lb_job_kind_count(); ++i) {
    auto kind = LB_INIT(lb_job_kind);
    ASSERT_EQ(lb_job_kind_at(i, &kind), LB_OK);
    names.insert(kind.name);
    EXPECT_STRNE(kind.report, "");
    EXPECT_EQ(kind.arguments[0], '{');
    EXPECT_EQ(start(kind.name, {{"no_such_thing", 1}}), LB_OK);
    EXPECT_EQ(lb_job_wait(job, 60'000, nullptr), LB_OK);
    EXPECT_EQ(lb_job_result(job, nullptr), LB_INVALID_ARGUMENT) << kind.name;
  }
  EXPECT_EQ(names, (std::set<std::string>{"backends", "backends_add", "backends_rm", "cache_clear", "cache_list",
                                          "cache_verify", "compile", "devices", "doctor", "export", "find", "inspect",
                                          "pull", "unpack", "verify", "warm"}));
  auto kind = LB_INIT(lb_job_kind);
  EXPECT_EQ(lb_job_kind_at(lb_job_kind_count(), &kind), LB_INVALID_ARGUMENT);
}

TEST_F(JobInterfaceTest, DevicesAreListedAndExamined) {
  const json devices = report_of("devices");
  ASSERT_EQ(code, LB_OK) << last_message();
  EXPECT_EQ(devices["devices"].at(0)["id"], "openvino:CPU");
  EXPECT_GT(report_of("devices", {{"virtual", true}})["devices"].size(), devices["devices"].size());
  const json diagnosis = report_of("doctor");
  EXPECT_EQ(code, LB_OK) << last_message();
  EXPECT_EQ(diagnosis["backends"].at(0)["name"], "openvino");
}

TEST_F(JobInterfaceTest, ThatDevicesDisagreeIsAReportAndNoError) {
  const json arguments{{"model", model.string()}, {"against", "openvino:CPU"}};
  fake.script("device GPU\ndevice CPU\n");
  json report = report_of("verify", arguments);
  ASSERT_EQ(code, LB_OK) << last_message();
  EXPECT_EQ(report["agrees"], true) << report;
  EXPECT_EQ(report["tested"]["device"], "openvino:GPU");
  EXPECT_EQ(report["outputs"].at(0)["name"], "y");
  fake.script("device GPU\ndevice CPU\non GPU wrong-numbers\n");
  report = report_of("verify", arguments);
  ASSERT_EQ(code, LB_OK) << last_message();
  EXPECT_EQ(report["agrees"], false) << report;
  EXPECT_TRUE(report_of("verify", {{"model", model.string()}, {"against", "openvino:NPU"}}).is_discarded());
  EXPECT_EQ(code, LB_DEVICE_NOT_FOUND);
  EXPECT_THAT(last_message(), HasSubstr("openvino:NPU"));
}

TEST_F(JobInterfaceTest, ABundleIsCompiledLookedAtAndUnpacked) {
  const std::string bundle = (fake.folder() / "toy.lbundle").string();
  const json compiled =
      report_of("compile", {{"model", model.string()}, {"output", bundle}, {"target", {"openvino:CPU"}}});
  ASSERT_EQ(code, LB_OK) << last_message();
  EXPECT_EQ(compiled["output"], bundle);
  EXPECT_EQ(compiled["variants"].at(0)["compiled"], true);
  auto progress = LB_INIT(lb_job_progress);
  EXPECT_EQ(lb_job_wait(job, 0, &progress), LB_OK);
  EXPECT_EQ(progress.is_over, 1);
  EXPECT_EQ(progress.done, 1U);
  EXPECT_EQ(progress.total, 1U);
  EXPECT_THAT(progress.activity, HasSubstr("compiling "));
  const json inspected = report_of("inspect", {{"bundle", bundle}, {"verify", true}});
  EXPECT_EQ(code, LB_OK) << last_message();
  EXPECT_EQ(inspected["form"], "zip");
  const std::string folder = (fake.folder() / "unpacked").string();
  EXPECT_EQ(report_of("unpack", {{"bundle", bundle}, {"output", folder}})["folder"], folder);
  EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(folder) / "manifest.json"));
}

TEST_F(JobInterfaceTest, WhatFailedMayHaveAReport) {
  fake.script("fail ov_core_compile_model * -1 no such operator\n");
  const json report = report_of(
      "compile",
      {{"model", model.string()}, {"output", (fake.folder() / "toy.lbundle").string()}, {"target", {"openvino:CPU"}}});
  EXPECT_NE(code, LB_OK);
  EXPECT_THAT(last_message(), HasSubstr("no such operator"));
  EXPECT_TRUE(report["output"].is_null());
  EXPECT_EQ(report["variants"].at(0)["compiled"], false);
}

TEST_F(JobInterfaceTest, WrongArgumentsAreNamed) {
  const auto refusal = [&](const char* name, const json& arguments) {
    (void)report_of(name, arguments);
    EXPECT_EQ(code, LB_INVALID_ARGUMENT);
    return last_message();
  };
  EXPECT_THAT(refusal("compile", {{"model", "x"}}), HasSubstr("output is missing"));
  EXPECT_THAT(refusal("compile", {{"modle", "x"}}), HasSubstr("model is missing"));
  EXPECT_THAT(refusal("export", {{"model", "x"}, {"output", "y"}, {"hidden", true}}),
              HasSubstr("unknown argument 'hidden'; known: hidden_states, model, output"));
  EXPECT_THAT(refusal("compile", {{"model", "x"}, {"output", "y"}, {"target", "cpu"}}),
              HasSubstr("target must be a list of texts"));
  EXPECT_THAT(refusal("compile", {{"model", "x"}, {"output", "y"}, {"format", "bundel"}}),
              HasSubstr("did you mean bundle?"));
  EXPECT_THAT(refusal("compile", {{"model", "x"}, {"output", "y"}, {"jobs", 1000}}),
              HasSubstr("jobs must be a whole number from 0 to 64"));
  EXPECT_THAT(refusal("devices", {{"virtual", 1}}), HasSubstr("virtual must be true or false"));
  EXPECT_EQ(start("compil"), LB_INVALID_ARGUMENT);
  EXPECT_THAT(last_message(), HasSubstr("unknown job 'compil' (did you mean compile?)"));
  EXPECT_EQ(lb_job_start(runtime, "devices", "{", nullptr, &job), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_job_start(runtime, "devices", "[]", nullptr, &job), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_job_start(runtime, nullptr, nullptr, nullptr, &job), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_job_wait(nullptr, 0, nullptr), LB_INVALID_ARGUMENT);
  EXPECT_EQ(lb_job_result(nullptr, nullptr), LB_INVALID_ARGUMENT);
  lb_job_cancel(nullptr);
}

TEST_F(JobInterfaceTest, IsWaitedForSoLongAndCancelled) {
  fake.script("slow ov_core_compile_model 1000\n");
  const std::filesystem::path bundle = fake.folder() / "toy.lbundle";
  ASSERT_EQ(start("compile", {{"model", model.string()}, {"output", bundle.string()}, {"target", {"openvino:CPU"}}}),
            LB_OK);
  wait_until_it_compiles();
  auto progress = LB_INIT(lb_job_progress);
  EXPECT_EQ(lb_job_wait(job, 10, &progress), LB_DEADLINE_EXCEEDED);
  EXPECT_EQ(progress.is_over, 0);
  EXPECT_EQ(lb_job_result(job, nullptr), LB_BUSY);
  lb_job_cancel(job);
  ASSERT_EQ(lb_job_wait(job, 60'000, nullptr), LB_OK);
  EXPECT_EQ(lb_job_result(job, nullptr), LB_CANCELLED);
  EXPECT_FALSE(std::filesystem::exists(bundle));
}

TEST_F(JobInterfaceTest, AWriterThatWaitsForAnotherCanBeCancelled) {
  const std::filesystem::path bundle = fake.folder() / "toy.lbundle";
  {
    const auto lock = latebind::platform::OutputLock::acquire(bundle, std::chrono::milliseconds(0));
    ASSERT_TRUE(lock.ok() && lock->is_held());
    ASSERT_EQ(start("compile", {{"model", model.string()}, {"output", bundle.string()}}), LB_OK);
    EXPECT_EQ(lb_job_wait(job, 50, nullptr), LB_DEADLINE_EXCEEDED);
    lb_job_cancel(job);
    ASSERT_EQ(lb_job_wait(job, 60'000, nullptr), LB_OK);
    EXPECT_EQ(lb_job_result(job, nullptr), LB_CANCELLED);
    EXPECT_FALSE(std::filesystem::exists(bundle));
    ASSERT_EQ(start("compile", {{"model", model.string()}, {"output", bundle.string()}}), LB_OK);
    EXPECT_EQ(lb_job_wait(job, 50, nullptr), LB_DEADLINE_EXCEEDED);
  }
  ASSERT_EQ(lb_job_wait(job, 60'000, nullptr), LB_OK);
  EXPECT_EQ(lb_job_result(job, nullptr), LB_OK);
  EXPECT_TRUE(std::filesystem::exists(bundle));
}

TEST_F(JobInterfaceTest, MayOutliveItsHandleAndItsRuntime) {
  fake.script("slow ov_core_compile_model 300\n");
  ASSERT_EQ(start("compile", {{"model", model.string()},
                              {"output", (fake.folder() / "toy.lbundle").string()},
                              {"target", {"openvino:CPU"}}}),
            LB_OK);
  wait_until_it_compiles();
  lb_job_destroy(std::exchange(job, nullptr));
  lb_runtime_destroy(std::exchange(runtime, nullptr));
  while (fake.alive() != 0)
    std::this_thread::yield();
}

TEST_F(JobInterfaceTest, OnlySoManyAreUnderWay) {
  fake.script("slow load 1000\n");
  std::vector<lb_job*> jobs;
  lb_code last = LB_OK;
  while (last == LB_OK && jobs.size() < 100) {
    lb_job* one = nullptr;
    last = lb_job_start(runtime, "devices", nullptr, nullptr, &one);
    if (last == LB_OK) jobs.push_back(one);
  }
  EXPECT_EQ(last, LB_BUSY);
  EXPECT_EQ(jobs.size(), 64U);
  for (lb_job* one : jobs) {
    EXPECT_EQ(lb_job_wait(one, 60'000, nullptr), LB_OK);
    lb_job_destroy(one);
  }
  EXPECT_EQ(report_of("devices")["devices"].size(), 2U);  // native:CPU, too
}

TEST_F(JobInterfaceTest, TheCppLayerHasThemDone) {
  const auto made = latebind::Runtime::create(latebind::test::with_openvino(fake.file()));
  ASSERT_TRUE(made.ok());
  const auto listing = made->start("devices", "");
  ASSERT_TRUE(listing.ok()) << listing.status().message();
  auto progress = listing->wait(std::chrono::milliseconds(60'000));
  ASSERT_TRUE(progress.ok());
  EXPECT_TRUE(progress->is_over);
  EXPECT_THAT(*listing->result(), HasSubstr("openvino:CPU"));
  EXPECT_FALSE(made->start("device", "{}").ok());
}

}  // namespace
