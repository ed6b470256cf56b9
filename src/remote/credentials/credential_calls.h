// Calls to services on the network that hand out access keys.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "remote/credentials/credential_source.h"

namespace postino::remote {

// One call; nothing is repeated, because those who ask for keys ask again. io when no answer comes in time.
base::Result<http::ClientResponse> ask_source(const CredentialSurroundings& surroundings,
                                              const http::ClientRequest& request);

// The keys of such an answer with their time by our clock: it may differ from the service's, whose answer says what
// time it is there.
ExpiringKeys by_our_clock(ExpiringKeys keys, const http::ClientResponse& answer, const base::Clock& clock);

// A file of at most `most` bytes. not_found when there is none, io when it cannot be read or is larger.
base::Result<std::string> read_small_file(const std::string& path, std::size_t most = 1 << 20);

}  // namespace postino::remote
