// Listings: the states of an index, merged by the database.
#include <charconv>
#include <limits>

#include "outbox/ledger/listing_cursor.h"
#include "outbox/mysql_ledger/mysql_work_queue.h"

namespace postino::outbox {

namespace {

tl::unexpected<base::Error> wrong_cursor() { return base::invalid("cursor must be that of an earlier page"); }

// The words of a cursor, of which the last may be any text: "list 1767323045000 <id>".
base::Result<std::vector<std::string>> words_in(const std::string& cursor, std::string_view kind, std::size_t count) {
  TRY(const std::string text, read_cursor(cursor));
  std::vector<std::string> words;
  std::size_t begin = 0;
  for (std::size_t i = 0; i + 1 < count; ++i) {
    const std::size_t end = text.find(' ', begin);
    if (end == std::string::npos) return wrong_cursor();
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  words.push_back(text.substr(begin));
  if (words.front() != kind) return wrong_cursor();
  return words;
}

base::Result<std::int64_t> number_in(const std::string& word) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return wrong_cursor();
  return number;
}

// The page begins after this e-mail.
struct ListPosition {
  std::int64_t created = std::numeric_limits<std::int64_t>::max();
  std::string id;
};

base::Result<ListPosition> list_position(const std::string& cursor) {
  if (cursor.empty()) return ListPosition{};
  TRY(std::vector<std::string> words, words_in(cursor, "list", 3));
  TRY(const std::int64_t created, number_in(words[1]));
  return ListPosition{created, std::move(words[2])};
}

// E-mails that are listed under one state, newest first.
class ListQuery {
 public:
  ListQuery(const ListRequest& request, ListPosition position) : request_(request), position_(std::move(position)) {
    std::string branches;
    for (const State state : all_states()) {
      if (listed_state(state) != state || (request.state && listed_state(*request.state) != state)) continue;
      branches += (branches.empty() ? "(" : " UNION ALL (") + branch(state) + ")";
    }
    parameters_.emplace_back(request_.limit + 1);
    sql_ = "SELECT " + email_columns + " FROM (" + branches +
           " ORDER BY created_ms DESC, id DESC LIMIT ?) AS page JOIN emails USING (id, created_ms)"
           " ORDER BY created_ms DESC, id DESC";
  }

  const std::string& sql() const { return sql_; }
  const std::vector<mysql::Parameter>& parameters() const { return parameters_; }

 private:
  std::string branch(State state) {
    const bool of_tenant = !request_.tenant.empty();
    // Few e-mails are worked on: sorting them is better than searching for them among those that wait.
    const bool working = request_.state && kind_of(*request_.state) == StateKind::working;
    std::string index = of_tenant ? "idx_tenant_listed" : "idx_listed";
    if (working) index = "idx_status";
    std::string sql = "SELECT id, created_ms FROM emails FORCE INDEX (" + index + ") WHERE listed = '" +
                      std::string(name_of(state)) + "'";
    if (of_tenant) {
      sql += " AND tenant = ?";
      parameters_.emplace_back(request_.tenant);
    }
    if (request_.state) sql += " AND status = '" + std::string(name_of(*request_.state)) + "'";
    sql +=
        " AND created_ms >= ? AND created_ms < ? AND created_ms <= ? AND (created_ms < ? OR id < ?)"
        " ORDER BY created_ms DESC, id DESC LIMIT ?";
    constexpr std::int64_t end_of_time = std::numeric_limits<std::int64_t>::max();
    parameters_.emplace_back(request_.from ? base::epoch_milliseconds(*request_.from) : 0);
    parameters_.emplace_back(request_.to ? base::epoch_milliseconds(*request_.to) : end_of_time);
    parameters_.emplace_back(position_.created);
    parameters_.emplace_back(position_.created);
    parameters_.emplace_back(position_.id);
    parameters_.emplace_back(request_.limit + 1);
    return sql;
  }

  const ListRequest& request_;
  const ListPosition position_;
  std::string sql_;
  std::vector<mysql::Parameter> parameters_;
};

}  // namespace

base::Result<EmailPage> MysqlLedger::list(const ListRequest& request) {
  TRY(ListPosition position, list_position(request.cursor));
  const ListQuery query(request, std::move(position));
  EmailPage page;
  TRY(page.emails, read_emails(query.sql(), query.parameters()));
  if (page.emails.size() > static_cast<std::size_t>(request.limit)) {
    page.emails.resize(static_cast<std::size_t>(request.limit));
    const Email& last = page.emails.back();
    page.cursor = make_cursor("list " + std::to_string(base::epoch_milliseconds(last.created_at)) + " " + last.id);
  }
  return page;
}

base::Result<EmailPage> MysqlLedger::dead_callbacks(const std::string& cursor, int limit) {
  std::int64_t due = 0;
  std::string id;
  if (!cursor.empty()) {
    TRY(std::vector<std::string> words, words_in(cursor, "dead", 3));
    TRY(due, number_in(words[1]));
    id = std::move(words[2]);
  }
  std::string branches;
  std::vector<mysql::Parameter> parameters;
  for (const WorkQueue* queue : queues_of(Pipeline::callback)) {
    branches += (branches.empty() ? "(" : " UNION ALL (") +
                ("SELECT id, due_ms FROM emails FORCE INDEX (idx_work) WHERE callback_dead = TRUE AND status = '" +
                 std::string(name_of(queue->state)) + "' AND shard = " + std::to_string(queue->shard) +
                 " AND due_ms >= ? AND (due_ms > ? OR id > ?) ORDER BY due_ms, id LIMIT ?)");
    parameters.insert(parameters.end(), {due, due, id, limit + 1});
  }
  parameters.emplace_back(limit + 1);
  const std::string sql = "SELECT " + email_columns + " FROM (" + branches +
                          " ORDER BY due_ms, id LIMIT ?) AS page JOIN emails USING (id, due_ms) ORDER BY due_ms, id";
  EmailPage page;
  TRY(page.emails, read_emails(sql, parameters));
  if (page.emails.size() > static_cast<std::size_t>(limit)) {
    page.emails.resize(static_cast<std::size_t>(limit));
    const Email& last = page.emails.back();
    page.cursor = make_cursor("dead " + std::to_string(base::epoch_milliseconds(*last.due_at)) + " " + last.id);
  }
  return page;
}

}  // namespace postino::outbox
