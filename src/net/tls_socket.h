// What OpenSSL reads from and writes to. Its own way of using sockets raises SIGPIPE when the peer is gone.
#pragma once

#include <openssl/bio.h>

namespace postino::net {

// nullptr when there is no memory for it. The socket stays the caller's.
BIO* make_socket_bio(int socket);

}  // namespace postino::net
