#include "core/platform/os_error.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "core/platform/files/folders.h"

namespace latebind::platform {
namespace {

using core::StatusCode;

TEST(OsErrorTest, SortsErrorsByWhatTheCallerCanDo) {
  EXPECT_EQ(code_of_errno(ENOENT), StatusCode::kNotFound);
  EXPECT_EQ(code_of_errno(ENOTDIR), StatusCode::kNotFound);
  EXPECT_EQ(code_of_errno(EACCES), StatusCode::kPermissionDenied);
  EXPECT_EQ(code_of_errno(EPERM), StatusCode::kPermissionDenied);
  EXPECT_EQ(code_of_errno(EROFS), StatusCode::kPermissionDenied);
  EXPECT_EQ(code_of_errno(ENOSPC), StatusCode::kDiskFull);
#ifdef EDQUOT  // Windows has another number for it
  EXPECT_EQ(code_of_errno(EDQUOT), StatusCode::kDiskFull);
#endif
  EXPECT_EQ(code_of_errno(ENOMEM), StatusCode::kOutOfMemory);
  EXPECT_EQ(code_of_errno(ENAMETOOLONG), StatusCode::kInvalidArgument);
  EXPECT_EQ(code_of_errno(EIO), StatusCode::kIo);
  EXPECT_EQ(code_of_errno(EFBIG), StatusCode::kIo);
}

TEST(OsErrorTest, SaysWhatWasTriedWhatWasFoundAndWhatToDo) {
  EXPECT_EQ(status_of_errno("write", "/a/b", ENOSPC).to_string(),
            "cannot write '/a/b': No space left on device; free some space there, or write to another disk");
  EXPECT_EQ(status_of_errno("read", "/a/b", ENOENT).to_string(), "cannot read '/a/b': No such file or directory");
}

TEST(OsErrorTest, KeepsEveryPathOnOneLine) {
  EXPECT_EQ(quoted(path_from_utf8("/a b/ü")), "'/a b/ü'");
  EXPECT_EQ(quoted("/a\nb\x1b[31m\x7f"), "'/a\\x0ab\\x1b[31m\\x7f'");
  EXPECT_EQ(quoted(""), "''");
}

TEST(OsErrorTest, RefusesPathsThatNoCallCanTake) {
  EXPECT_TRUE(check_path("read", "/a").ok());
  EXPECT_EQ(check_path("read", "").to_string(), "cannot read: an empty path");
  EXPECT_EQ(check_path("read", std::string("a\0b", 3)).to_string(),
            "cannot read 'a\\x00b': the path contains a zero byte");
}

}  // namespace
}  // namespace latebind::platform
