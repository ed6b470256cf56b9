#include "smtp/connection.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"

namespace postino::smtp {

namespace {

using std::chrono::milliseconds;

// A server that refuses a message in the middle says why and closes. It has done so before we see it.
constexpr milliseconds last_words_patience{1'000};
constexpr int closing_code = 421;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct ReplyLine {
  int code = 0;
  bool last = true;
  std::string_view text;
};

std::optional<ReplyLine> parse_line(std::string_view line) {
  if (line.size() < 3 || line[0] < '2' || line[0] > '5' || !is_digit(line[1]) || !is_digit(line[2])) return {};
  ReplyLine parsed;
  parsed.code = (line[0] - '0') * 100 + (line[1] - '0') * 10 + (line[2] - '0');
  if (line.size() == 3) return parsed;
  if (line[3] != ' ' && line[3] != '-') return {};
  parsed.last = line[3] == ' ';
  parsed.text = line.substr(4);
  return parsed;
}

// The status (RFC 3463) that `text` begins with: class, subject and detail. Empty when there is none, or one of another
// class than the code.
std::string_view leading_status(std::string_view text, int code) {
  std::size_t end = 0;
  for (int part = 0; part < 3; ++part) {
    const std::size_t begin = part == 0 ? 0 : end + 1;
    if (part > 0 && (end >= text.size() || text[end] != '.')) return {};
    end = begin;
    while (end < text.size() && is_digit(text[end])) ++end;
    if (end == begin || end - begin > 3) return {};
  }
  const bool whole = end == text.size() || text[end] == ' ';
  return whole && text[1] == '.' && text[0] - '0' == code / 100 ? text.substr(0, end) : std::string_view();
}

void append_line(Reply& reply, const ReplyLine& line) {
  std::string_view text = line.text;
  const std::string_view status = leading_status(text, line.code);
  if (reply.code == 0) {
    reply.code = line.code;
    reply.enhanced = status;
    reply.text = std::to_string(line.code);
  } else if (!status.empty() && status == reply.enhanced) {
    text.remove_prefix(status.size());  // it stands in front already
  }
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.empty() || reply.text.size() >= Connection::longest_text) return;
  reply.text += ' ';
  base::append_printable(reply.text, text, Connection::longest_text);
}

}  // namespace

Reply no_reply(std::string_view reason) {
  Reply reply;
  base::append_printable(reply.text, reason, Connection::longest_text);
  return reply;
}

void Connection::break_off(Reply reason) {
  if (broken_) return;
  broken_ = true;
  last_ = std::move(reason);
}

Reply Connection::fail(std::string_view reason) {
  // What the write failed of came first, and is the cause.
  break_off(write_failed_ ? last_ : no_reply(reason));
  return last_;
}

bool Connection::write(std::string_view bytes, milliseconds timeout) {
  if (broken()) return false;
  const auto written = stream_->write(bytes, net::deadline_in(timeout));
  if (written) return true;
  write_failed_ = true;
  last_ = no_reply(written.error().message);
  return false;
}

bool Connection::fill(net::Deadline deadline) {
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  const auto count = stream_->read_some(buffer_.data() + end_, buffer_.size() - end_, deadline);
  if (count && *count > 0) {
    end_ += *count;
    return true;
  }
  fail(count ? "the server closed the connection" : count.error().message);
  return false;
}

std::optional<std::string_view> Connection::read_line(net::Deadline deadline) {
  std::size_t searched = 0;
  for (;;) {
    const char* const start = buffer_.data() + begin_;
    const std::size_t size = end_ - begin_;
    const void* const found = std::memchr(start + searched, '\n', size - searched);
    const std::size_t length =
        found == nullptr ? size : static_cast<std::size_t>(static_cast<const char*>(found) - start);
    if (length >= longest_line) {
      fail("the server sent a line that is too long");
      return {};
    }
    if (found != nullptr) {
      begin_ += length + 1;
      const bool carriage_return = length > 0 && start[length - 1] == '\r';
      return std::string_view(start, length - (carriage_return ? 1 : 0));
    }
    searched = size;
    if (!fill(deadline)) return {};
  }
}

Reply Connection::read_reply(milliseconds timeout, std::vector<std::string>* lines) {
  if (broken_) return last_;
  const net::Deadline deadline = net::deadline_in(write_failed_ ? std::min(timeout, last_words_patience) : timeout);
  Reply reply;
  for (std::size_t count = 0; count < most_lines; ++count) {
    const auto line = read_line(deadline);
    if (!line) return last_;
    const auto parsed = parse_line(*line);
    if (!parsed) return fail("the server sent something that is not a reply: " + std::string(*line));
    if (reply.code != 0 && parsed->code != reply.code) return fail("the server sent a reply with two codes");
    append_line(reply, *parsed);
    if (lines != nullptr) lines->emplace_back(parsed->text);
    if (!parsed->last) continue;
    if (reply.code == closing_code) break_off(reply);
    return reply;
  }
  return fail("the server sent a reply with too many lines");
}

Reply Connection::command(std::string_view line, milliseconds timeout, std::vector<std::string>* lines) {
  write(std::string(line) + "\r\n", timeout);
  return read_reply(timeout, lines);
}

base::Result<void> Connection::start_tls(const net::ClientTls& tls, const std::string& server_name,
                                         milliseconds timeout) {
  auto started = stream_->start_tls(tls, server_name, net::deadline_in(timeout));
  if (!started) fail(started.error().message);
  return started;
}

}  // namespace postino::smtp
