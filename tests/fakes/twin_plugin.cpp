// A built-in backend as a plug-in of another name: TWIN_NAME, of the backend in the namespace TWIN_OF. Whatever the
// backend computes, its twin computes, too, except for runs that are told to fail: LATEBIND_FAKE_TWIN names a file,
// whose word is what all runs do while it exists: crash, leave, hang or error.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "backends/native/backend.h"
#include "backends/openvino/backend.h"
#include "backends/table/offer.h"

namespace {

constexpr latebind::table::Offer kTwin{
    .name = TWIN_NAME, .version = "3.1", .settings = {}, .make = latebind::TWIN_OF::configured_backend};

const lbb_host* g_host = nullptr;
const lbb_table* g_twin = nullptr;

lbb_code execute(lbb_executable* executable, const lbb_tensor* const* inputs, size_t input_count,
                 lbb_output* const* outputs, size_t output_count, const lbb_run* run, lbb_error* error) {
  const char* const file = std::getenv("LATEBIND_FAKE_TWIN");
  std::string word;
  if (file != nullptr) std::ifstream(file) >> word;
  if (word == "crash") std::abort();
  if (word == "leave") _exit(3);
  while (word == "hang")
    sleep(1);
  if (word == "error") return g_host->fail(error, LBB_DEVICE_FAILED, "the twin was told to fail");
  return g_twin->execute(executable, inputs, input_count, outputs, output_count, run, error);
}

}  // namespace

extern "C" LBB_EXPORT lbb_code lb_backend_entry(const lbb_host* host, const lbb_table** table, lbb_error* error) {
  static lbb_table told;
  g_host = host;
  const lbb_code code = latebind::table::enter<kTwin>(host, &g_twin, error);
  if (code != LBB_OK) return code;
  told = *g_twin;
  told.execute = execute;
  *table = &told;
  return code;
}
