// A connection to an SMTP server: bytes out, replies in. Servers are strangers, so everything they send has a limit.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/client_stream.h"
#include "smtp/reply.h"

namespace postino::smtp {

// A reply that did not come from the server: code 0, so that it counts as a broken connection.
Reply no_reply(std::string_view reason);

// It breaks when the network fails, a reply does not come in time or is not a reply, and with a 421, after which the
// server closes. From then on nothing is sent, and every reply is the one that it broke with.
class Connection {
 public:
  static constexpr std::size_t longest_line = 2048;
  static constexpr std::size_t most_lines = 100;
  static constexpr std::size_t longest_text = 512;

  explicit Connection(std::unique_ptr<net::ClientStream> stream) : stream_(std::move(stream)) {}

  // False when it failed: the next reply says why, or is what the server had to say about it.
  bool write(std::string_view bytes, std::chrono::milliseconds timeout);
  // `lines` gets the text of each line without the code, as it came.
  Reply read_reply(std::chrono::milliseconds timeout, std::vector<std::string>* lines = nullptr);
  // Writes one line, which is given without its end, and reads the reply.
  Reply command(std::string_view line, std::chrono::milliseconds timeout, std::vector<std::string>* lines = nullptr);

  // There must be nothing unread: see has_unread.
  base::Result<void> start_tls(const net::ClientTls& tls, const std::string& server_name,
                               std::chrono::milliseconds timeout);
  bool secure() const { return stream_->secure(); }

  // Has the server said something that the client did not ask for?
  bool has_unread() const { return begin_ != end_; }
  bool broken() const { return broken_ || write_failed_; }
  // Broken, or closed by the server in the meantime.
  bool is_stale() const { return broken() || has_unread() || stream_->is_stale(); }
  void break_off(Reply reason);
  // What it broke with.
  const Reply& last_reply() const { return last_; }

 private:
  std::optional<std::string_view> read_line(net::Deadline deadline);
  bool fill(net::Deadline deadline);
  Reply fail(std::string_view reason);

  std::unique_ptr<net::ClientStream> stream_;
  std::array<char, 4 * longest_line> buffer_;  // what has come and is not read yet is between begin_ and end_
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool broken_ = false;
  bool write_failed_ = false;  // nothing can be sent, but the server's last words may still be read
  Reply last_;                 // once it is broken
};

}  // namespace postino::smtp
