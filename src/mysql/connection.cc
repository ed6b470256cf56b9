#include "mysql/connection.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "mysql/connector.h"
#include "mysql/statement_cache.h"

namespace postino::mysql {

namespace {

// The library never gives back the memory into which it has read a row.
constexpr std::size_t max_kept_text = 16 << 20;

std::uint64_t size_of(const Parameter& parameter) {
  constexpr std::uint64_t type_and_length = 16;  // at most
  const Parameter::Content& content = parameter.content();
  if (const auto* text = std::get_if<std::string_view>(&content)) return type_and_length + text->size();
  if (const auto* bytes = std::get_if<Bytes>(&content)) return type_and_length + bytes->octets.size();
  return type_and_length;
}

}  // namespace

class Connection::Session {
 public:
  Session(OpenedConnection opened, base::Milliseconds statement_timeout)
      : flavour(opened.flavour),
        handle_(std::move(opened.handle)),
        entry_(std::move(opened.entry)),
        statement_timeout_(statement_timeout) {}
  // The connection first: then the statements need not be closed one by one.
  ~Session() {
    entry_.clear();
    handle_.reset();
    statements_.clear();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Result<Rows> query(std::string_view sql, std::span<const Parameter> parameters) {
    return judged([&]() -> Result<Rows> {
      TRY(Statement * statement, get(sql, parameters));
      auto rows = statement->query(parameters);
      swollen = swollen || statement->largest_text() > max_kept_text;
      return rows;
    });
  }

  Result<std::uint64_t> execute(std::string_view sql, std::span<const Parameter> parameters) {
    auto affected = judged([&]() -> Result<std::uint64_t> {
      TRY(Statement * statement, get(sql, parameters));
      return statement->execute(parameters);
    });
    if (!affected) mark_open_outcome(affected.error());
    return affected;
  }

  Result<void> run(std::string_view sql) {
    auto done = judged([&] { return send_text(handle_.get(), sql); });
    if (!done) mark_open_outcome(done.error());
    return done;
  }

  Result<void> begin() {
    TRY_VOID(judged([&] { return send_text(handle_.get(), "BEGIN"); }));
    in_transaction = true;
    return {};
  }

  Result<void> commit() {
    if (ended_) return base::propagate(*ended_);
    auto done = judged([&] { return send_text(handle_.get(), "COMMIT"); });
    // Only an error with which the server rolls back says for sure that nothing happened.
    if (!done && done.error().kind != ErrorKind::transient) done.error().at_commit = true;
    if (done) in_transaction = false;
    return done;
  }

  Result<void> rollback() {
    ended_.reset();
    auto done = judged([&] { return send_text(handle_.get(), "ROLLBACK"); });
    if (done) in_transaction = false;
    if (!done) broken = true;  // it is unknown what is still open
    return done;
  }

  bool ping() {
    enter_library();
    if (broken) return false;
    const auto asked = Clock::now();
    if (mysql_ping(handle_.get()) != 0) note_loss(asked);
    return !broken;
  }

  const Flavour flavour;
  std::uint64_t largest_statement = 0;  // 0: not known yet
  bool in_transaction = false;
  bool broken = false;
  bool silent = false;
  bool swollen = false;

 private:
  using Clock = std::chrono::steady_clock;

  Result<Statement*> get(std::string_view sql, std::span<const Parameter> parameters) {
    // The server would close the connection, which looks like something else.
    std::uint64_t size = 0;
    for (const Parameter& parameter : parameters) size += size_of(parameter);
    if (largest_statement != 0 && size + sql.size() > largest_statement)
      return fail(ErrorKind::other, 0,
                  "the statement has " + std::to_string(size) + " bytes, but the server's max_allowed_packet is " +
                      std::to_string(largest_statement));
    return statements_.get(handle_.get(), sql);
  }

  // What an error does to the session.
  template <class Call>
  auto judged(const Call& call) -> decltype(call()) {
    enter_library();
    if (broken) return fail(ErrorKind::lost, 0, "the connection is broken");
    // What comes after the end of a transaction would be committed by itself.
    if (ended_) return base::propagate(*ended_);
    const auto asked = Clock::now();
    auto answer = call();
    if (answer) return answer;
    const Error& error = answer.error();
    if (error.kind == ErrorKind::lost || found_by_library(error.code)) note_loss(asked);
    if (in_transaction && (broken || worth_repeating(error))) ended_ = error;
    return answer;
  }

  // A server that works answers within the limit, be it with an error.
  void note_loss(Clock::time_point asked) {
    broken = true;
    silent = statement_timeout_ > base::Milliseconds(0) && Clock::now() - asked >= statement_timeout_;
  }

  void mark_open_outcome(Error& error) const {
    const bool was_sent = error.code != 0;  // not on a connection that was broken before
    if (was_sent && !in_transaction && error.kind == ErrorKind::lost) error.at_commit = true;
  }

  ConnectionHandle handle_;
  SocketEntry entry_;
  const base::Milliseconds statement_timeout_;
  StatementCache statements_;
  std::optional<Error> ended_;  // why the transaction cannot be committed any more
};

Result<std::unique_ptr<Connection>> Connection::open(const ServerOptions& options) {
  enter_library();
  TRY(OpenedConnection opened, connect(options));
  std::unique_ptr<Connection> connection(
      new Connection(std::make_unique<Session>(std::move(opened), options.statement_timeout)));
  TRY(const Rows rows, connection->query("SELECT @@max_allowed_packet"));
  connection->session_->largest_statement = static_cast<std::uint64_t>(rows[0].number(0));
  return connection;
}

Connection::Connection(std::unique_ptr<Session> session) : session_(std::move(session)) {}
Connection::~Connection() = default;

Result<Rows> Connection::query(std::string_view sql, std::span<const Parameter> parameters) {
  return session_->query(sql, parameters);
}
Result<std::uint64_t> Connection::execute(std::string_view sql, std::span<const Parameter> parameters) {
  return session_->execute(sql, parameters);
}
Result<void> Connection::run(std::string_view sql) { return session_->run(sql); }

Result<void> Connection::begin() { return session_->begin(); }
Result<void> Connection::commit() { return session_->commit(); }
Result<void> Connection::rollback() { return session_->rollback(); }
bool Connection::in_transaction() const { return session_->in_transaction; }

bool Connection::ping() { return session_->ping(); }
bool Connection::broken() const { return session_->broken; }
bool Connection::silent() const { return session_->silent; }
bool Connection::swollen() const { return session_->swollen; }

const Flavour& Connection::flavour() const { return session_->flavour; }
std::uint64_t Connection::largest_statement() const { return session_->largest_statement; }

}  // namespace postino::mysql
