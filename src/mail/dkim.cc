#include "mail/dkim.h"

// The header of libopendkim is C's.
#define _Bool bool  // NOLINT(bugprone-reserved-identifier)
#include <opendkim/dkim.h>
#undef _Bool
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <algorithm>
#include <fstream>

#include "mail/address_syntax.h"

namespace postino::mail {

namespace {

using base::ErrorCode;
using base::fail;
using base::invalid;
using base::Result;

constexpr std::string_view header_start = "DKIM-Signature: ";
constexpr int least_key_bits = 1024;
constexpr std::size_t key_file_limit = 64 * 1024;

const char* signed_headers[] = {"From",
                                "To",
                                "Cc",
                                "Subject",
                                "Date",
                                "Message-ID",
                                "Reply-To",
                                "MIME-Version",
                                "Content-Type",
                                "Content-Transfer-Encoding",
                                "List-Unsubscribe",
                                "List-Unsubscribe-Post",
                                "In-Reply-To",
                                "References",
                                nullptr};
// Signed once more than they are there, so that another one that is added breaks the signature.
const char* oversigned_headers[] = {"From", nullptr};

struct CloseLibrary {
  void operator()(DKIM_LIB* library) const { dkim_close(library); }
};
struct FreeSignature {
  void operator()(DKIM* signature) const { dkim_free(signature); }
};
struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
struct FreeKey {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};

unsigned char* bytes_of(const char* text) { return reinterpret_cast<unsigned char*>(const_cast<char*>(text)); }

Result<std::string> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string content(key_file_limit, '\0');
  if (!file.read(content.data(), static_cast<std::streamsize>(content.size())).eof() || file.bad() ||
      file.gcount() == 0)
    return fail(ErrorCode::io, "cannot read the DKIM key " + path);
  content.resize(static_cast<std::size_t>(file.gcount()));
  return content;
}

// Instead of a question on the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

Result<void> check_key(const std::string& pem, const std::string& path) {
  const std::unique_ptr<BIO, FreeBio> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const std::unique_ptr<EVP_PKEY, FreeKey> key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr));
  if (!key) return invalid("the DKIM key " + path + " must be a private key in PEM, without a passphrase");
  if (EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_RSA) return invalid("the DKIM key " + path + " must be an RSA key");
  if (EVP_PKEY_get_bits(key.get()) < least_key_bits)
    return invalid("the DKIM key " + path + " must have at least 1024 bits");
  return {};
}

// Both stand in the header and in DNS.
bool is_domain_name(const std::string& name) {
  return name.find_first_of("@[") == std::string::npos && check_address("postmaster@" + name).has_value() &&
         to_ascii_address("postmaster@" + name) == "postmaster@" + name;
}

Result<std::unique_ptr<DKIM_LIB, CloseLibrary>> open_library() {
  std::unique_ptr<DKIM_LIB, CloseLibrary> library(dkim_init(nullptr, nullptr));
  if (!library) return fail(ErrorCode::exhausted, "libopendkim cannot be started");
  if (dkim_options(library.get(), DKIM_OP_SETOPT, DKIM_OPTS_SIGNHDRS, signed_headers, sizeof(const char**)) !=
          DKIM_STAT_OK ||
      dkim_options(library.get(), DKIM_OP_SETOPT, DKIM_OPTS_OVERSIGNHDRS, oversigned_headers, sizeof(const char**)) !=
          DKIM_STAT_OK)
    return fail(ErrorCode::exhausted, "libopendkim refuses its options");
  return library;
}

}  // namespace

struct DkimSigner::Impl {
  std::unique_ptr<DKIM_LIB, CloseLibrary> library;  // shared by all threads once its options are set
  DkimOptions options;
  std::string key;
};

DkimSigner::~DkimSigner() = default;

Result<std::unique_ptr<DkimSigner>> DkimSigner::create(const DkimOptions& options) {
  if (!is_domain_name(options.domain)) return invalid("the DKIM domain must be a domain name in ASCII");
  if (!is_domain_name(options.selector)) return invalid("the DKIM selector must be one or more labels of DNS in ASCII");
  auto impl = std::make_shared<Impl>();
  impl->options = options;
  TRY(impl->key, read_file(options.key_file));
  TRY_VOID(check_key(impl->key, options.key_file));
  TRY(impl->library, open_library());
  return std::unique_ptr<DkimSigner>(new DkimSigner(std::move(impl)));
}

Result<std::string> DkimSigner::sign(std::string_view message) const {
  const auto impl = impl_.get();
  DKIM_STAT status = DKIM_STAT_OK;
  const std::unique_ptr<DKIM, FreeSignature> signature(
      dkim_sign(impl->library.get(), bytes_of("message"), nullptr, bytes_of(impl->key.c_str()),
                bytes_of(impl->options.selector.c_str()), bytes_of(impl->options.domain.c_str()), DKIM_CANON_RELAXED,
                DKIM_CANON_RELAXED, DKIM_SIGN_RSASHA256, -1, &status));
  if (!signature) return fail(ErrorCode::exhausted, std::string("DKIM: ") + dkim_getresultstr(status));

  status = dkim_chunk(signature.get(), bytes_of(message.data()), message.size());
  if (status == DKIM_STAT_OK) status = dkim_chunk(signature.get(), nullptr, 0);
  if (status == DKIM_STAT_OK) status = dkim_eom(signature.get(), nullptr);
  unsigned char* value = nullptr;
  std::size_t length = 0;
  if (status == DKIM_STAT_OK) status = dkim_getsighdr_d(signature.get(), header_start.size(), &value, &length);
  if (status != DKIM_STAT_OK) return invalid(std::string("the message cannot be signed: ") + dkim_getresultstr(status));

  std::string result;
  result.reserve(header_start.size() + length + 2 + message.size());
  result.append(header_start).append(reinterpret_cast<const char*>(value), length).append("\r\n").append(message);
  return result;
}

}  // namespace postino::mail
