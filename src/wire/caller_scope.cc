#include "wire/caller_scope.h"

#include "signature/signature_v4.h"
#include "wire/signature/signature_fields.h"

namespace postino::wire {

std::optional<CallerScope> scope_of(const http::Request& request) {
  QueryParameters query = signature::parse_query(request.query());
  const SignatureFields fields =
      has_query_signature(query) ? fields_from_query(std::move(query)) : fields_from_header(request, std::move(query));
  const auto credential = signature::parse_credential(fields.credential);
  if (!credential) return std::nullopt;
  return CallerScope{std::string(credential->key_id), std::string(credential->region)};
}

}  // namespace postino::wire
