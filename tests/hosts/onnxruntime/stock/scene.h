// Stock ONNX Runtime with Latebind's provider on a fake OpenVINO, in a process of each test's own. No sanitizer was
// built for ONNX Runtime, but all that it calls here was: so these run under them as well.
#pragma once

#include <string>
#include <vector>

#include "tests/fakes/fake_openvino_library.h"
#include "tests/hosts/onnxruntime/host/fixture.h"

namespace latebind::test {

// y = x + 1, rows of two, as one node whose name is what the fake reads of the model.
[[nodiscard]] std::string plus_one_model(const std::string& constant = "one");
// A model of the host with one EPContext node of Latebind's, from x to y. `payload`: a bundle, or the name of a file
// that has it.
[[nodiscard]] std::string context_model(const std::string& payload, bool is_embedded);

class StockHostTest : public OnnxruntimeHostTest {
 protected:
  void SetUp() override;
  void TearDown() override;

  // The error of making a session of these bytes, or of a model's file; "" and the session.
  [[nodiscard]] std::string session_of(const std::string& bytes, OrtSession** session, const Texts& provider = {},
                                       const Texts& entries = {}) const {
    return session_error(bytes, devices(), provider, entries, session);
  }
  [[nodiscard]] std::string session_of_file(const std::filesystem::path& file, OrtSession** session) const;
  // "" when y is x + 1.
  [[nodiscard]] static std::string run(OrtSession* session);
  // Makes a session, runs it, releases it: the first error, "" when all was right.
  [[nodiscard]] std::string use(const std::string& bytes, const Texts& provider = {}) const;
  [[nodiscard]] std::string use_file(const std::filesystem::path& file) const;
  // What OrtCompileApi makes of plus_one_model(constant), as a file; its error.
  [[nodiscard]] std::string compile(const std::filesystem::path& to, bool is_embedded,
                                    const std::string& constant = "one") const;
  void unregister(const char* name = "latebind") const {
    ASSERT_FINE(api().UnregisterExecutionProviderLibrary(env_, name));
  }

  FakeOpenvino fake_;
};

}  // namespace latebind::test
