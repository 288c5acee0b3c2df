#include <fmt/format.h>

#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <ctime>
#include <string>
#include <utility>

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

  void open(OnDone done) override { stream_.async_handshake(ssl::stream_base::server, std::move(done)); }

  void read_some(std::span<char> into, OnBytes done) override {
    // What still comes is thrown away, and to OpenSSL it is an error.
    if (has_ended_writing_) {
      stream_.next_layer().async_read_some(asio::buffer(into.data(), into.size()), std::move(done));
      return;
    }
    stream_.async_read_some(asio::buffer(into.data(), into.size()), std::move(done));
  }

  void write(std::vector<asio::const_buffer> buffers, OnBytes done) override {
    asio::async_write(stream_, buffers, std::move(done));
  }

  void await_reset(OnDone done) override { await_reset_of(stream_.next_layer(), std::move(done)); }

  void end_writing(OnDone done) override {
    has_ended_writing_ = true;
    stream_.async_shutdown(std::move(done));
  }

  void close() noexcept override {
    error_code ignored;
    stream_.lowest_layer().close(ignored);
  }

 private:
  const std::shared_ptr<ssl::context> context_;
  ssl::stream<Socket> stream_;
  bool has_ended_writing_ = false;
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

// OpenSSL itself would wait for the other end of a pipe, and read what has no end.
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

// It is used all the same: whether they accept it is the clients' decision.
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

Status unusable(const std::string& what, const std::string& file, const error_code& error) {
  return Status(StatusCode::kInvalidArgument,
                fmt::format("{} {} cannot be used: {}", what, core::quoted(file), error.message()));
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
  // A password would be asked for on the terminal.
  context->set_password_callback([](std::size_t, ssl::context::password_purpose) { return std::string(); }, error);
  LB_ASSIGN_OR_RETURN(const std::string certificate, read_pem("the certificate", certificate_file));
  context->use_certificate_chain(asio::buffer(certificate), error);
  if (error) return unusable("the certificate", certificate_file, error);
  LB_ASSIGN_OR_RETURN(const std::string key, read_pem("the key", key_file));
  context->use_private_key(asio::buffer(key), ssl::context::pem, error);
  if (error) return unusable("the key", key_file, error);
  if (::SSL_CTX_check_private_key(context->native_handle()) != 1) {
    return Status(StatusCode::kInvalidArgument, fmt::format("the key {} does not belong to the certificate {}",
                                                            core::quoted(key_file), core::quoted(certificate_file)));
  }
  warn_of_dates(context->native_handle(), certificate_file);
  return std::shared_ptr<const TlsContext>(std::make_shared<OpensslContext>(std::move(context)));
}

}  // namespace latebind::server
