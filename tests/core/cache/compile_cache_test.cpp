// CompileStore and CompileCache: whatever happens to the folder, what comes out is right or is not there.
#include "core/cache/compile_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <set>
#include <string>

#include "core/cache/compile_entry.h"
#include "core/platform/digest.h"
#include "core/platform/files/file_identity.h"
#include "tests/core/cache_folder.h"

namespace latebind::core {
namespace {

using std::filesystem::path;
using test::blob_of;
using test::text_of;
using ::testing::HasSubstr;

Device cpu() {
  return {"toy", "CPU", DeviceKind::kCpu, "a processor", "1.0", {.architecture = "toy64"}};
}

CompileKey key_of(const std::string& model = "digest", const CompileOptions& options = {},
                  const Device& device = cpu()) {
  return make_compile_key(model, "a model", device, options);
}

std::string read(const path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

void write(const path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

class CompileStoreTest : public test::CacheFolderTest {
 protected:
  path file_of(const CompileKey& key) const { return folder / (key.digest + ".blob"); }
  std::size_t files() const {
    std::size_t count = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder))
      count += file.path().extension() == ".blob" || file.path().extension() == ".tmp" ? 1 : 0;
    return count;
  }
};

TEST_F(CompileStoreTest, GivesBackWhatWasPut) {
  CompileStore store(folder);
  EXPECT_EQ(store.get(key_of()).status().code(), StatusCode::kNotFound);
  EXPECT_FALSE(std::filesystem::exists(folder)) << "asking makes nothing";
  ASSERT_TRUE(store.put(key_of(), blob_of("payload")).ok());
  const auto blob = store.get(key_of());
  ASSERT_TRUE(blob.ok()) << blob.status().to_string();
  EXPECT_EQ(text_of(*blob), "payload");
  EXPECT_EQ(blob->backend, "toy");
  EXPECT_EQ(blob->device, "CPU");
  EXPECT_EQ(blob->runtime_version, "1.0");
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(blob->bytes.bytes.data()) % kEntryAlignment, 0U);
}

TEST_F(CompileStoreTest, APayloadOfManyBlocksIsChecked) {
  CompileStore store(folder);
  std::string payload(std::size_t{9} << 20, 'x');
  for (std::size_t i = 0; i < payload.size(); i += 4096)
    payload[i] = static_cast<char>(i >> 12U);
  ASSERT_TRUE(store.put(key_of(), blob_of(payload)).ok());
  ASSERT_TRUE(store.get(key_of()).ok());
  std::string bytes = read(file_of(key_of()));
  bytes[bytes.size() - (std::size_t{5} << 20)] ^= 4;
  write(file_of(key_of()), bytes);
  EXPECT_EQ(store.get(key_of()).status().code(), StatusCode::kIo);
}

TEST_F(CompileStoreTest, ABlobOutlivesItsEntry) {
  CompileStore store(folder);
  ASSERT_TRUE(store.put(key_of(), blob_of("payload")).ok());
  const auto blob = store.get(key_of());
  ASSERT_TRUE(store.clear().ok());
  EXPECT_EQ(text_of(*blob), "payload");
}

TEST_F(CompileStoreTest, WhatIsNotOursIsNeitherCountedNorRemoved) {
  std::filesystem::create_directories(folder);
  const std::vector<std::pair<path, std::string>> others{
      {folder / (std::string(64, 'a') + ".blob"), "somebody else names files by their digests, too"},
      {folder / "notes.blob", "LBCACHE"},
      {folder / "digests", "sums of my own"},
      {folder / ".latebind-notes.tmp", "mine"}};
  for (const auto& [file, content] : others)
    write(file, content);
  // Left by a crash of the machine: nobody's.
  const path torn = folder / (std::string(64, 'b') + ".blob");
  write(torn, std::string(100, '\0'));
  const auto an_hour_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
  std::filesystem::last_write_time(torn, an_hour_ago);
  CompileStore store(folder, 5'000);
  ASSERT_TRUE(store.put(key_of("one"), blob_of("payload")).ok());
  ASSERT_TRUE(store.put(key_of("two"), blob_of("payload")).ok());
  EXPECT_EQ(store.list()->size(), 1U) << "the others are evicted";
  const path model = folder / "model";
  write(model, std::string(std::size_t{2} << 20, 'm'));
  std::filesystem::last_write_time(model, an_hour_ago);
  EXPECT_TRUE(store.digests().compute(model).ok());
  EXPECT_TRUE(store.verify()->empty());
  EXPECT_EQ(store.clear()->entries, 1U);
  for (const auto& [file, content] : others)
    EXPECT_EQ(read(file), content) << file;
}

TEST_F(CompileStoreTest, EveryFlippedBitIsFound) {
  CompileStore store(folder);
  ASSERT_TRUE(store.put(key_of(), blob_of("a payload of some bytes")).ok());
  const path file = file_of(key_of());
  const std::string good = read(file);
  ASSERT_LT(good.size(), 3 * kEntryAlignment);
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    if (good[bit / 8] == '\0' && bit % 8 != 3) continue;  // of the padding, one bit of each byte
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(static_cast<unsigned char>(bad[bit / 8]) ^ (1U << (bit % 8)));
    const auto entry = parse_entry(std::as_bytes(std::span(bad)));
    ASSERT_FALSE(entry.ok() && check_payload(*entry).ok()) << "bit " << bit;
    if (bit % 997 != 0) continue;  // through the file, now and then
    write(file, bad);
    ASSERT_EQ(store.get(key_of()).status().code(), StatusCode::kIo);
    ASSERT_FALSE(std::filesystem::exists(file)) << "a damaged entry is removed";
  }
}

TEST_F(CompileStoreTest, EveryCutIsFound) {
  CompileStore store(folder);
  ASSERT_TRUE(store.put(key_of(), blob_of("a payload of some bytes")).ok());
  const std::string good = read(file_of(key_of()));
  for (std::size_t size = 0; size < good.size(); ++size) {
    const auto entry = parse_entry(std::as_bytes(std::span(good.data(), size)));
    ASSERT_FALSE(entry.ok() && check_payload(*entry).ok()) << size << " bytes";
  }
  const std::string longer = good + "x";
  EXPECT_FALSE(parse_entry(std::as_bytes(std::span(longer))).ok());
  write(file_of(key_of()), "");
  EXPECT_EQ(store.get(key_of()).status().code(), StatusCode::kIo);
}

TEST_F(CompileStoreTest, AnEntryOfAnotherKeyIsNotTaken) {
  CompileStore store(folder);
  ASSERT_TRUE(store.put(key_of("one"), blob_of("one")).ok());
  std::filesystem::copy_file(file_of(key_of("one")), file_of(key_of("other")));
  EXPECT_THAT(store.get(key_of("other")).status().to_string(), HasSubstr("another key"));
  EXPECT_EQ(text_of(*store.get(key_of("one"))), "one");
}

// With sums that are right, so that what they protect is checked too.
TEST_F(CompileStoreTest, HeadersThatLieAreRefused) {
  const std::string payload = "payload";
  EntryHeader header{"key", "model", "toy:CPU", "1.0", "f32", payload_sum(std::as_bytes(std::span(payload))), 7};
  const auto parses = [&](std::uint64_t size, std::size_t length_at_8) {
    header.payload_size = size;
    std::string bytes = *entry_head(header) + payload;
    if (length_at_8 != 0) {
      for (unsigned i = 0; i < 4; ++i)
        bytes[8 + i] = static_cast<char>(length_at_8 >> (8 * i));
    }
    return parse_entry(std::as_bytes(std::span(bytes))).ok();
  };
  EXPECT_TRUE(parses(7, 0));
  for (const std::uint64_t size : {0ULL, 6ULL, 8ULL, ~0ULL, 1ULL << 63U})
    EXPECT_FALSE(parses(size, 0)) << size;
  for (const std::size_t length : {1UL, 100UL, 65536UL, 65537UL, 0x7fffffffUL, 0xffffffffUL})
    EXPECT_FALSE(parses(7, length)) << length;
  header.key.assign(kEntryHeaderMax, 'k');
  EXPECT_EQ(entry_head(header).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(CompileStoreTest, EveryOptionMakesAnotherKey) {
  std::set<std::string> digests;
  std::size_t count = 0;
  const auto add = [&](const CompileKey& key) {
    ++count;
    digests.insert(key.digest);
  };
  add(key_of());
  add(key_of("another digest"));
  const auto option = [&](const std::function<void(CompileOptions&)>& change) {
    CompileOptions options;
    change(options);
    add(key_of("digest", options));
  };
  option([](auto& o) { o.precision = Precision::kBF16; });
  option([](auto& o) { o.precision = Precision::kF16; });
  option([](auto& o) { o.hint = PerformanceHint::kThroughput; });
  option([](auto& o) { o.threads = 1; });
  option([](auto& o) { o.requests = 1; });
  option([](auto& o) { o.input_shapes = {Shape{1, 2}}; });
  option([](auto& o) { o.input_shapes = {Shape{12}}; });
  option([](auto& o) { o.input_shapes = {Shape{1}, Shape{2}}; });
  option([](auto& o) { o.properties = {{"a", "b"}}; });
  option([](auto& o) { o.properties = {{"a", "c"}}; });
  option([](auto& o) { o.properties = {{"a", "b"}, {"c", "d"}}; });
  option([](auto& o) { o.properties = {{"a", "b\",\"c"}}; });
  option([](auto& o) { o.properties = {{"a", "\xff"}}; });
  option([](auto& o) { o.properties = {{"a", "\xfe"}}; });
  const auto other = [&](const std::function<void(Device&)>& change) {
    Device device = cpu();
    change(device);
    add(key_of("digest", {}, device));
  };
  other([](auto& d) { d.backend = "toy2"; });
  other([](auto& d) { d.name = "CPU.1"; });
  other([](auto& d) { d.full_name = "another processor"; });
  other([](auto& d) { d.runtime_version = "1.1"; });
  other([](auto& d) { d.traits.architecture = "toy128"; });
  other([](auto& d) { d.metadata["DriverVersion"] = "7"; });
  EXPECT_EQ(digests.size(), count);
  EXPECT_EQ(key_of().digest, key_of().digest);
}

TEST_F(CompileStoreTest, WhatWasUsedLeastRecentlyGoesFirst) {
  const std::string payload(20'000, 'p');
  CompileStore store(folder, 80'000);  // three entries of two pages and the payload
  const auto at = [&](const CompileKey& key, int seconds) {
    std::filesystem::last_write_time(
        file_of(key), std::filesystem::file_time_type::clock::now() - std::chrono::seconds(1000 - seconds));
  };
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(store.put(key_of(std::to_string(i)), blob_of(payload)).ok());
    at(key_of(std::to_string(i)), i);
  }
  ASSERT_EQ(store.list()->size(), 3U);
  ASSERT_TRUE(store.get(key_of("0")).ok());  // now the youngest
  ASSERT_TRUE(store.put(key_of("3"), blob_of(payload)).ok());
  EXPECT_TRUE(store.get(key_of("0")).ok());
  EXPECT_EQ(store.get(key_of("1")).status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(store.get(key_of("2")).ok());
  EXPECT_TRUE(store.get(key_of("3")).ok());
}

TEST_F(CompileStoreTest, ABlobLargerThanTheCacheIsRefusedAndRemovesNothing) {
  CompileStore store(folder, 50'000);
  ASSERT_TRUE(store.put(key_of("small"), blob_of("small")).ok());
  EXPECT_EQ(store.put(key_of("large"), blob_of(std::string(60'000, 'x'))).code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(store.put(key_of("empty"), blob_of("")).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(store.get(key_of("small")).ok());
}

TEST_F(CompileStoreTest, ListsClearsAndVerifies) {
  CompileStore store(folder);
  EXPECT_TRUE(store.list()->empty());
  EXPECT_EQ(store.clear()->entries, 0U);
  ASSERT_TRUE(store.put(key_of("one"), blob_of("one")).ok());
  ASSERT_TRUE(store.put(key_of("two"), blob_of("two")).ok());
  write(folder / "notes.txt", "not ours");
  ASSERT_EQ(store.list()->size(), 2U);
  EXPECT_EQ(store.list()->front().model, "a model");
  EXPECT_EQ(store.list()->front().device, "toy:CPU");
  EXPECT_EQ(store.list()->front().precision, "f32");
  EXPECT_TRUE(store.verify()->empty());

  std::string bytes = read(file_of(key_of("two")));
  bytes.back() ^= 1;
  write(file_of(key_of("two")), bytes);
  const auto damaged = store.verify();
  ASSERT_TRUE(damaged.ok());
  ASSERT_EQ(damaged->size(), 1U);
  EXPECT_THAT(damaged->front().status.to_string(), HasSubstr("payload was changed"));
  EXPECT_EQ(store.list()->size(), 1U);
  EXPECT_EQ(store.clear()->entries, 1U);
  EXPECT_TRUE(store.list()->empty());
  EXPECT_TRUE(std::filesystem::exists(folder / "notes.txt"));
}

TEST_F(CompileStoreTest, WhereThereCanBeNoFolderNothingIsKept) {
  write(parent->path() / "file", "");
  CompileStore store(parent->path() / "file" / "compiled");
  EXPECT_FALSE(store.put(key_of(), blob_of("x")).ok());
  EXPECT_FALSE(store.get(key_of()).ok());
}

TEST_F(CompileStoreTest, DigestsAreRememberedUntilTheFileChanges) {
  std::filesystem::create_directories(folder);
  const path file = parent->path() / "weights";
  // Nobody can make a file look older than it is.
  constexpr std::chrono::nanoseconds kAtOnce{0};
  const std::string content(std::size_t{2} << 20, 'w');
  write(file, content);
  {
    FileDigests digests(folder / "digests");
    EXPECT_EQ(digests.known(file).status().code(), StatusCode::kNotFound);
    ASSERT_TRUE(digests.compute(file).ok());
    EXPECT_EQ(digests.known(file).status().code(), StatusCode::kNotFound) << "written a moment ago: not to be trusted";
    ASSERT_TRUE(FileDigests(folder / "digests", kAtOnce).compute(file).ok());
  }
  FileDigests digests(folder / "digests", kAtOnce);
  ASSERT_TRUE(digests.known(file).ok());
  const std::string first = *digests.known(file);
  EXPECT_EQ(first, *digests.compute(file));

  const std::string memory = read(folder / "digests");
  for (std::size_t i = 0; i < memory.size(); ++i) {
    std::string bad = memory;
    bad[i] ^= 1;
    write(folder / "digests", bad);
    ASSERT_FALSE(digests.known(file).ok()) << "byte " << i;
  }
  write(folder / "digests", memory);
  ASSERT_TRUE(digests.known(file).ok());

  const auto time = std::filesystem::last_write_time(file);
  for (const auto before = *platform::file_identity(file); *platform::file_identity(file) == before;)
    write(file, std::string(content.size(), 'v'));
  std::filesystem::last_write_time(file, time);
  EXPECT_EQ(digests.known(file).status().code(), StatusCode::kNotFound) << "the time of its content was put back";
  EXPECT_NE(first, *digests.compute(file));
  std::filesystem::remove(folder / "digests");
  std::filesystem::create_directories(folder / "digests");
  EXPECT_TRUE(digests.compute(file).ok()) << "where nothing can be remembered it is hashed";
}

TEST_F(CompileStoreTest, SmallFilesAreHashedAtOnce) {
  write(parent->path() / "small", "abc");
  FileDigests digests(folder / "digests");
  EXPECT_EQ(*digests.known(parent->path() / "small"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_FALSE(std::filesystem::exists(folder));
}

TEST_F(CompileStoreTest, WorkInTheBackgroundIsDoneBeforeTheCacheGoes) {
  std::string order;
  {
    CompileCache cache(folder);
    cache.later("one", [&] {
      order += "1";
      return cache.store()->put(key_of(), blob_of("later"));
    });
    cache.later("two", [&]() -> Status {
      order += "2";
      return Status(StatusCode::kIo, "a failure is only told");
    });
    cache.settle();
    EXPECT_EQ(order, "12");
    EXPECT_TRUE(cache.store()->get(key_of()).ok());
    cache.later("three", [&] {
      order += "3";
      return Status();
    });
  }
  EXPECT_EQ(order, "123");
}

}  // namespace
}  // namespace latebind::core
