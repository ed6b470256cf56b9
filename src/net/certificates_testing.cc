#include "net/certificates_testing.h"

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <utility>

#include "base/check.h"

namespace postino::net {

namespace {

constexpr const char* authority_name = "Test authority";

void set_name(X509_NAME* name, const std::string& text) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  CHECK(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, bytes, static_cast<int>(text.size()), -1, 0) == 1);
}

void add_extension(X509* certificate, int kind, const std::string& value) {
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
  CHECK(extension != nullptr && X509_add_ext(certificate, extension, -1) == 1);
  X509_EXTENSION_free(extension);
}

}  // namespace

Key make_key() {
  Key key(EVP_EC_gen("P-256"));
  CHECK(key != nullptr);
  return key;
}

void write_key(const Key& key, const std::string& path) {
  FILE* const file = std::fopen(path.c_str(), "w");
  CHECK(file != nullptr);
  CHECK(PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr) == 1);
  std::fclose(file);
}

void write_certificate(const CertificateContent& content, const std::string& path) {
  X509* const certificate = X509_new();
  CHECK(X509_set_version(certificate, X509_VERSION_3) == 1);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -48L * 3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate), content.seconds_left);
  X509_set_pubkey(certificate, content.key);
  set_name(X509_get_subject_name(certificate), content.subject);
  set_name(X509_get_issuer_name(certificate), content.issuer.empty() ? content.subject : content.issuer);
  if (content.is_authority) add_extension(certificate, NID_basic_constraints, "critical,CA:TRUE");
  if (!content.names.empty()) add_extension(certificate, NID_subject_alt_name, content.names);
  CHECK(X509_sign(certificate, content.issuer.empty() ? content.key : content.issuer_key, EVP_sha256()) > 0);
  FILE* const file = std::fopen(path.c_str(), "w");
  CHECK(file != nullptr && PEM_write_X509(file, certificate) == 1);
  std::fclose(file);
  X509_free(certificate);
}

TestAuthority::TestAuthority(std::filesystem::path directory) : directory_(std::move(directory)) {
  write_certificate({.key = key_.get(), .subject = authority_name, .is_authority = true}, certificate_file());
}

TlsFiles TestAuthority::issue(const std::string& names, long seconds_left) {
  const std::string number = std::to_string(++issued_);
  TlsFiles files{directory_ / ("certificate" + number + ".pem"), directory_ / ("key" + number + ".pem")};
  const Key key = make_key();
  write_key(key, files.private_key);
  write_certificate({.key = key.get(),
                     .subject = "server",
                     .names = names,
                     .issuer = authority_name,
                     .issuer_key = key_.get(),
                     .seconds_left = seconds_left},
                    files.certificate_chain);
  return files;
}

}  // namespace postino::net
