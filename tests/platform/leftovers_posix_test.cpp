// What a signal must not leave behind: in a child each, for nothing is added any more after remove_leftovers().
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "core/platform/files/leftovers.h"
#include "tests/platform/support.h"

namespace latebind::platform {
namespace {

using testing::ScratchFolder;
using Made = core::Result<std::filesystem::path>;

TEST(LeftoversTest, WhatIsBeingMadeWhenTheSignalComesGoesAsWell) {
  const ScratchFolder folder;
  const auto place = folder / "made";
  EXPECT_EQ(testing::in_child([&] {
              std::thread signal;
              const Made made = make_leftover([&]() -> Made {
                std::filesystem::create_directory(place);
                signal = std::thread([] { remove_leftovers(); });
                return place;
              });
              signal.join();
              return std::string(made.ok() && !std::filesystem::exists(place) ? "gone" : "still there");
            }),
            "gone");
}

TEST(LeftoversTest, WhatCouldNotBeMadeIsNone) {
  const ScratchFolder folder;
  testing::write_file(folder / "file", "x");
  EXPECT_EQ(testing::in_child([&] {
              const Made refused = make_leftover([] { return Made(core::Status(core::StatusCode::kIo, "refused")); });
              EXPECT_EQ(refused.status().code(), core::StatusCode::kIo);
              EXPECT_THROW(static_cast<void>(make_leftover([]() -> Made { throw std::bad_alloc(); })), std::bad_alloc);
              const Made made = make_leftover([&] { return Made(folder / "file"); });
              drop_leftover(*made);
              remove_leftovers();
              return std::string(std::filesystem::exists(folder / "file") ? "kept" : "gone");
            }),
            "kept");
}

}  // namespace
}  // namespace latebind::platform
