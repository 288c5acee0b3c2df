// GivenInitializers: which initializers the application gives to a session by itself (OrtApi::AddInitializer).
//
// Their values replace the model's when the session runs, as long as the application leaves them where they are; the
// graph that a provider sees has the model's own. The host tells nobody which they are, but refuses a second one of the
// same name: so each name is tried on a copy of the session's options. (AddExternalInitializers and
// AddExternalInitializersFromFilesInMemory put their values into the graph, where they are seen like any others.)
//
// Made and used by the thread that makes the session.
#pragma once

#include <map>
#include <string>

#include "hosts/onnxruntime/host.h"

namespace latebind::provider {

class GivenInitializers {
 public:
  // Throws Failure when the host does not copy its options.
  GivenInitializers(const Host& host, const abi::SessionOptions* options);
  GivenInitializers(const GivenInitializers&) = delete;
  GivenInitializers& operator=(const GivenInitializers&) = delete;
  ~GivenInitializers() { release(); }

  // Whether the application gives the initializer of this name.
  [[nodiscard]] bool has(const std::string& name) const;
  // Lets go of the copy, which keeps alive what else the options refer to: from now on no name is new.
  void release();

 private:
  const Host& host_;
  abi::SessionOptions* options_ = nullptr;
  abi::Value* value_ = nullptr;  // what is tried to be added
  float zero_ = 0;               // its data
  mutable std::map<std::string, bool> known_;
};

}  // namespace latebind::provider
