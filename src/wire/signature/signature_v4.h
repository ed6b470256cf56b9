// AWS Signature Version 4: from a request to what is signed, and from a secret to the signature.
#pragma once

#include <string>
#include <string_view>

#include "http/message.h"
#include "wire/signature/signature_fields.h"

namespace postino::wire {

inline constexpr std::string_view signature_algorithm = "AWS4-HMAC-SHA256";

// The request in the one form in which client and server see the same bytes.
std::string canonical_request(const http::Request& request, const SignatureFields& fields,
                              const HeaderNames& signed_names, std::string_view payload_hash);

// `date` as 20130609T100015Z.
std::string string_to_sign(std::string_view date, const Credential& credential, std::string_view canonical);

// The key for one day, region and service; 32 bytes.
std::string derive_signing_key(std::string_view secret, const Credential& credential);

// In hexadecimal.
std::string sign(std::string_view signing_key, std::string_view text);

}  // namespace postino::wire
