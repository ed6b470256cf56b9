#include "net/openssl.h"

#include <openssl/err.h>
#include <openssl/x509err.h>

#include <system_error>

namespace postino::net {

std::string take_openssl_reason() {
  // What came first is closest to the cause.
  const unsigned long error = ERR_get_error();
  ERR_clear_error();
  if (ERR_SYSTEM_ERROR(error)) return std::generic_category().message(ERR_GET_REASON(error));
  if (ERR_GET_LIB(error) == ERR_LIB_X509 &&
      (ERR_GET_REASON(error) == X509_R_KEY_VALUES_MISMATCH || ERR_GET_REASON(error) == X509_R_KEY_TYPE_MISMATCH))
    return "it does not belong to the certificate";
  const char* const reason = ERR_reason_error_string(error);
  return reason != nullptr ? reason : "unknown reason";
}

}  // namespace postino::net
