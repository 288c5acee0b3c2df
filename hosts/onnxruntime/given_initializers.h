// GivenInitializers: the initializers that the application itself gives to a session (OrtApi::AddInitializer).
//
// Their values replace the model's when the session runs, and live in the application's memory; the graph that a
// provider sees has the model's values. The host does not report these names, but refuses a second initializer of the
// same name. Therefore each name is tried on a copy of the session's options. (AddExternalInitializers and
// AddExternalInitializersFromFilesInMemory put their values into the graph, where a provider sees them.)
//
// Created and used by the thread that creates the session.
#pragma once

#include <map>
#include <string>

#include "hosts/onnxruntime/host.h"

namespace latebind::provider {

class GivenInitializers {
 public:
  // Throws Failure if the host does not copy its options.
  GivenInitializers(const Host& host, const abi::SessionOptions* options);
  GivenInitializers(const GivenInitializers&) = delete;
  GivenInitializers& operator=(const GivenInitializers&) = delete;
  ~GivenInitializers() { release(); }

  // Whether the application gives the initializer of this name.
  [[nodiscard]] bool has(const std::string& name) const;
  // Releases the copy, which keeps alive everything that the options refer to. From then on, only known names can be
  // asked for.
  void release();

 private:
  const Host& host_;
  abi::SessionOptions* options_ = nullptr;
  abi::Value* value_ = nullptr;  // the value that is tried
  float zero_ = 0;               // data of value_
  mutable std::map<std::string, bool> known_;
};

}  // namespace latebind::provider
