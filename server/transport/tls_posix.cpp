#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/log.h"
#include "core/platform/files/folders.h"
#include "core/platform/files/small_file.h"
#include "core/text/quote.h"
#include "server/transport/tls.h"

namespace latebind::server {
namespace {

namespace asio = boost::asio;
namespace ssl = boost::asio::ssl;
using boost::system::error_code;
using core::Status;
using core::StatusCode;

class TlsStream final : public Stream {
 public:
  TlsStream(Socket socket, std::shared_ptr<ssl::context> context)
      : context_(std::move(context)), stream_(std::move(socket), *context_) {}

  asio::any_io_executor executor() override { return stream_.get_executor(); }

  void open(OnDone done) override {
    stream_.async_handshake(ssl::stream_base::server, [this, done = std::move(done)](const error_code& error) {
      is_plain_ = error.category() == asio::error::get_ssl_category() &&
                  ERR_GET_REASON(static_cast<unsigned long>(error.value())) == SSL_R_HTTP_REQUEST;
      done(error);
    });
  }

  [[nodiscard]] bool is_asked_without_tls() const override { return is_plain_; }

  void read_some(std::span<char> into, OnBytes done) override {
    // Incoming bytes are discarded, so they bypass OpenSSL, which would report an error.
    if (has_ended_writing_ || is_plain_) {
      stream_.next_layer().async_read_some(asio::buffer(into.data(), into.size()), std::move(done));
      return;
    }
    stream_.async_read_some(asio::buffer(into.data(), into.size()), std::move(done));
  }

  void write(std::vector<asio::const_buffer> buffers, OnBytes done) override {
    if (is_plain_) {
      asio::async_write(stream_.next_layer(), buffers, std::move(done));
    } else {
      asio::async_write(stream_, buffers, std::move(done));
    }
  }

  void await_reset(OnDone done) override { await_reset_of(stream_.next_layer(), std::move(done)); }

  void end_writing(OnDone done) override {
    has_ended_writing_ = true;
    if (!is_plain_) return stream_.async_shutdown(std::move(done));
    error_code error;
    stream_.next_layer().shutdown(Socket::shutdown_send, error);
    asio::post(executor(), [error, done = std::move(done)] { done(error); });
  }

  void close() noexcept override {
    error_code ignored;
    stream_.lowest_layer().close(ignored);
  }

 private:
  const std::shared_ptr<ssl::context> context_;
  ssl::stream<Socket> stream_;
  bool has_ended_writing_ = false;
  bool is_plain_ = false;
};

class OpensslContext final : public TlsContext {
 public:
  explicit OpensslContext(std::shared_ptr<ssl::context> context) : context_(std::move(context)) {}
  std::unique_ptr<Stream> stream(Stream::Socket socket) const override {
    return std::make_unique<TlsStream>(std::move(socket), context_);
  }

 private:
  const std::shared_ptr<ssl::context> context_;
};

constexpr std::size_t kPemFileMax = std::size_t{1} << 20;
// How the names of the accepted PEM blocks end.
constexpr std::string_view kCertificate = "CERTIFICATE";
constexpr std::string_view kKey = "PRIVATE KEY";

// Reads the file here, because OpenSSL would block on a pipe and read endless files.
core::Result<std::string> read_pem(const std::string& what, const std::string& file) {
  auto text = platform::read_small_file(platform::path_from_utf8(file), kPemFileMax);
  if (!text.ok()) return text.status().with_context(what);
  return text;
}

// "2026-11-23 10:00:00 UTC"
std::string date_of(const ::ASN1_TIME* time) {
  std::tm parts{};
  if (::ASN1_TIME_to_tm(time, &parts) != 1) return "an unreadable date";
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

// The certificate is used anyway: the clients decide whether to accept it.
void warn_of_dates(const ::SSL_CTX* context, const std::string& file) {
  const ::X509* leaf = ::SSL_CTX_get0_certificate(context);
  if (leaf == nullptr) return;
  const ::ASN1_TIME* from = ::X509_get0_notBefore(leaf);
  const ::ASN1_TIME* until = ::X509_get0_notAfter(leaf);
  if (::X509_cmp_current_time(until) < 0) {
    core::log(core::LogLevel::kWarning, fmt::format("the certificate {} expired on {}: clients will refuse it",
                                                    core::quoted(file), date_of(until)));
  } else if (::X509_cmp_current_time(from) > 0) {
    core::log(core::LogLevel::kWarning, fmt::format("the certificate {} is not valid before {}: clients will refuse it",
                                                    core::quoted(file), date_of(from)));
  }
}

// Returns the names of the blocks in a PEM file: "PRIVATE KEY".
std::vector<std::string_view> blocks_of(std::string_view text) {
  constexpr std::string_view kBegin = "-----BEGIN ";
  std::vector<std::string_view> names;
  for (std::size_t at = text.find(kBegin); at != std::string_view::npos; at = text.find(kBegin, at)) {
    at += kBegin.size();
    const std::size_t end = text.find("-----", at);
    if (end == std::string_view::npos) break;
    names.push_back(text.substr(at, end - at));
  }
  return names;
}

// Explains why OpenSSL found no `wanted`. OpenSSL only reports the step that failed, not that the file contains
// something else.
std::string why_unusable(std::string_view text, std::string_view wanted, const error_code& error) {
  constexpr std::string_view kDerSequence = "\x30\x82";
  const auto names = blocks_of(text);
  if (names.empty() && text.starts_with(kDerSequence)) return "it is DER, not PEM: convert it with `openssl`";
  if (names.empty()) return fmt::format("it is not a PEM file: it has no line -----BEGIN {}-----", wanted);
  const auto found = std::ranges::find_if(names, [&](std::string_view name) { return name.ends_with(wanted); });
  if (found == names.end()) {
    return fmt::format("it has no {}, but begins with a {}: are the two files swapped?", wanted,
                       core::printable(names.front(), 40));
  }
  if (wanted == kKey && text.find("ENCRYPTED") != std::string_view::npos) {
    return "it has a password: remove it with `openssl pkey`";
  }
  // For a certificate, Asio only reports that OpenSSL's PEM reader failed. The reason is still in OpenSSL's queue.
  const unsigned long left = ::ERR_peek_error();
  const char* const reason = left != 0 ? ::ERR_reason_error_string(left) : nullptr;
  return fmt::format("its {} is damaged: {}", core::printable(*found, 40),
                     reason != nullptr ? reason : error.message());
}

Status unusable(const std::string& what, const std::string& file, std::string_view why) {
  return Status(StatusCode::kInvalidArgument, fmt::format("cannot use {} {}: {}", what, core::quoted(file), why));
}

}  // namespace

core::Result<std::shared_ptr<const TlsContext>> TlsContext::create(const std::string& certificate_file,
                                                                   const std::string& key_file) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  error_code error;
  context->set_options(ssl::context::default_workarounds | ssl::context::no_sslv2 | ssl::context::no_sslv3 |
                           ssl::context::no_tlsv1 | ssl::context::no_tlsv1_1 | ssl::context::no_compression |
                           ssl::context::single_dh_use,
                       error);
  // Otherwise OpenSSL would ask for a password on the terminal.
  context->set_password_callback([](std::size_t, ssl::context::password_purpose) { return std::string(); }, error);
  LB_ASSIGN_OR_RETURN(const std::string certificate, read_pem("the certificate", certificate_file));
  context->use_certificate_chain(asio::buffer(certificate), error);
  if (error) {
    return unusable("the certificate", certificate_file, why_unusable(certificate, kCertificate, error));
  }
  LB_ASSIGN_OR_RETURN(const std::string key, read_pem("the key", key_file));
  context->use_private_key(asio::buffer(key), ssl::context::pem, error);
  if (error) return unusable("the key", key_file, why_unusable(key, kKey, error));
  if (::SSL_CTX_check_private_key(context->native_handle()) != 1) {
    return Status(StatusCode::kInvalidArgument, fmt::format("the key {} does not belong to the certificate {}",
                                                            core::quoted(key_file), core::quoted(certificate_file)));
  }
  warn_of_dates(context->native_handle(), certificate_file);
  return std::shared_ptr<const TlsContext>(std::make_shared<OpensslContext>(std::move(context)));
}

}  // namespace latebind::server
