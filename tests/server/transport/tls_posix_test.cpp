// What is made of the files of a certificate and its key.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "core/log.h"
#include "core/platform/files/temporary_folder.h"
#include "server/transport/tls.h"

namespace latebind::server {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr long kDay = 24L * 60 * 60;

using Key = std::unique_ptr<::EVP_PKEY, decltype(&::EVP_PKEY_free)>;
using File = std::unique_ptr<std::FILE, decltype(&std::fclose)>;

class TlsContextTest : public testing::Test {
 protected:
  void SetUp() override {
    auto made = platform::TemporaryFolder::create("tls");
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    folder_ = std::make_unique<platform::TemporaryFolder>(*std::move(made));
    write_key(nullptr);
    write_certificate(-kDay, kDay);
    core::set_log_sink(core::LogSink::to(keep_));
  }
  void TearDown() override { core::set_log_sink({}); }

  std::string path(const char* name) const { return (folder_->path() / name).string(); }

  // Valid from and until so many seconds from now.
  void write_certificate(long from, long until, const char* mode = "w") const {
    const std::unique_ptr<::X509, decltype(&::X509_free)> made(::X509_new(), &::X509_free);
    ::X509_gmtime_adj(::X509_getm_notBefore(made.get()), from);
    ::X509_gmtime_adj(::X509_getm_notAfter(made.get()), until);
    ::X509_set_pubkey(made.get(), key_.get());
    ASSERT_NE(::X509_sign(made.get(), key_.get(), ::EVP_sha256()), 0);
    const File file(std::fopen(path("cert.pem").c_str(), mode), &std::fclose);
    ASSERT_EQ(::PEM_write_X509(file.get(), made.get()), 1);
  }
  void write_key(const char* password) const {
    const File file(std::fopen(path("key.pem").c_str(), "w"), &std::fclose);
    ASSERT_EQ(::PEM_write_PKCS8PrivateKey(file.get(), key_.get(), password != nullptr ? ::EVP_aes_256_cbc() : nullptr,
                                          password, password != nullptr ? 4 : 0, nullptr, nullptr),
              1);
  }

  core::Status create() const { return TlsContext::create(path("cert.pem"), path("key.pem")).status(); }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

  std::unique_ptr<platform::TemporaryFolder> folder_;
  const Key key_{::EVP_EC_gen("P-256"), &::EVP_PKEY_free};
  std::mutex mutex_;
  std::vector<std::string> lines_;  // guarded by mutex_
  std::function<void(core::LogLevel, std::string_view)> keep_ = [this](core::LogLevel level, std::string_view text) {
    const std::lock_guard lock(mutex_);
    if (level == core::LogLevel::kWarning) lines_.emplace_back(text);
  };
};

TEST_F(TlsContextTest, TakesAChainAndItsKeyInSilence) {
  write_certificate(-kDay, kDay, "a");
  EXPECT_TRUE(create().ok()) << create().to_string();
  EXPECT_THAT(lines(), IsEmpty());
}

TEST_F(TlsContextTest, RefusesAPipeInsteadOfWaitingForIt) {
  for (const char* name : {"key.pem", "cert.pem"}) {
    std::filesystem::remove(path(name));
    ASSERT_EQ(::mkfifo(path(name).c_str(), 0600), 0);
    const auto status = create();
    EXPECT_FALSE(status.ok());
    EXPECT_THAT(status.to_string(), AllOf(HasSubstr(name), HasSubstr("not a regular file")));
  }
}

TEST_F(TlsContextTest, RefusesWhatHasNoEnd) {
  EXPECT_FALSE(TlsContext::create("/dev/zero", path("key.pem")).ok());
  std::ofstream(path("key.pem"), std::ios::app) << std::string((std::size_t{1} << 20) + 1, '\n');
  EXPECT_THAT(create().to_string(), AllOf(HasSubstr("key.pem"), HasSubstr("more than")));
}

TEST_F(TlsContextTest, NamesTheFileThatIsMissingOrMakesNoSense) {
  std::ofstream(path("key.pem")) << "no key\n";
  EXPECT_THAT(create().to_string(),
              AllOf(HasSubstr("the key"), HasSubstr("key.pem"),
                    HasSubstr("it is not a PEM file: it has no line -----BEGIN PRIVATE KEY-----")));
  std::ofstream(path("cert.pem")).flush();
  EXPECT_THAT(create().to_string(), AllOf(HasSubstr("cert.pem"), HasSubstr("-----BEGIN CERTIFICATE-----")));
  std::filesystem::remove(path("cert.pem"));
  EXPECT_THAT(create().to_string(), HasSubstr("cert.pem"));
}

TEST_F(TlsContextTest, SaysWhatAFileHoldsInstead) {
  const auto told = [](const std::string& certificate, const std::string& key) {
    return TlsContext::create(certificate, key).status().to_string();
  };
  EXPECT_THAT(told(path("key.pem"), path("cert.pem")),
              AllOf(HasSubstr("key.pem"),
                    HasSubstr("it has no CERTIFICATE, but begins with a PRIVATE KEY: are the two files swapped?")));
  EXPECT_THAT(told(path("cert.pem"), path("cert.pem")),
              HasSubstr("it has no PRIVATE KEY, but begins with a CERTIFICATE: are the two files swapped?"));
  std::ofstream(path("der")) << "\x30\x82\x01\x02";
  EXPECT_THAT(told(path("der"), path("key.pem")), HasSubstr("it is DER, not PEM"));
  std::ofstream(path("damaged")) << "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n";
  EXPECT_THAT(told(path("damaged"), path("key.pem")),
              AllOf(HasSubstr("its CERTIFICATE is damaged: bad base64 decode"), Not(HasSubstr("PEM lib"))));
  std::ofstream(path("other")) << "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  EXPECT_THAT(told(path("other"), path("key.pem")), HasSubstr("its CERTIFICATE is damaged: "));
}

TEST_F(TlsContextTest, RefusesAKeyWithAPasswordAndAsksNobody) {
  write_key("open");
  EXPECT_THAT(create().to_string(), AllOf(HasSubstr("key.pem"), HasSubstr("it has a password")));
}

TEST_F(TlsContextTest, RefusesTheKeyOfAnotherCertificate) {
  const Key other(::EVP_EC_gen("P-256"), &::EVP_PKEY_free);
  {
    const File file(std::fopen(path("key.pem").c_str(), "w"), &std::fclose);
    ASSERT_EQ(::PEM_write_PrivateKey(file.get(), other.get(), nullptr, nullptr, 0, nullptr, nullptr), 1);
  }
  EXPECT_THAT(create().to_string(), HasSubstr("key.pem"));
}

TEST_F(TlsContextTest, WarnsOfACertificateThatHasExpired) {
  write_certificate(-2 * kDay, -kDay);
  EXPECT_TRUE(create().ok());
  EXPECT_THAT(lines(), ElementsAre(AllOf(HasSubstr("cert.pem"), HasSubstr("expired on 20"), HasSubstr(" UTC"))));
}

TEST_F(TlsContextTest, WarnsOfACertificateThatIsNotValidYet) {
  write_certificate(kDay, 2 * kDay);
  EXPECT_TRUE(create().ok());
  EXPECT_THAT(lines(), ElementsAre(AllOf(HasSubstr("cert.pem"), HasSubstr("not valid before 20"))));
}

TEST_F(TlsContextTest, TheDatesOfTheChainsOthersAreNotTheServersBusiness) {
  write_certificate(-2 * kDay, -kDay, "a");
  EXPECT_TRUE(create().ok());
  EXPECT_THAT(lines(), IsEmpty());
}

}  // namespace
}  // namespace latebind::server
