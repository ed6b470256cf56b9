// Listings: the states of an index, merged by the database.
#include <algorithm>
#include <charconv>
#include <limits>

#include "outbox/mysql_ledger/mysql_work_queue.h"
#include "store/list_cursor.h"

namespace postino::outbox {

namespace {

tl::unexpected<base::Error> wrong_cursor() { return base::invalid("cursor must be that of an earlier page"); }

// The words of a cursor, of which the last may be any text: "list 1767323045000 <id>".
base::Result<std::vector<std::string>> words_in(const std::string& cursor, std::string_view kind, std::size_t count) {
  TRY(const std::string text, store::read_cursor("emails", cursor));
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
  ListQuery(const ListRequest& request, const ListPosition& position, int limit)
      : request_(request), position_(position), limit_(limit) {
    std::string branches;
    for (const State state : all_states()) {
      if (listed_state(state) != state) continue;
      const std::vector<State> asked = asked_of(state);
      if (!asked.empty()) branches += (branches.empty() ? "(" : " UNION ALL (") + branch(state, asked) + ")";
    }
    parameters_.emplace_back(limit_);
    sql_ = "SELECT " + email_columns + " FROM (" + branches +
           " ORDER BY created_ms DESC, id DESC LIMIT ?) AS page JOIN emails USING (id, created_ms)"
           " ORDER BY created_ms DESC, id DESC";
  }

  const std::string& sql() const { return sql_; }
  const std::vector<mysql::Parameter>& parameters() const { return parameters_; }

 private:
  // Those states that the request asks for and that are listed under this one.
  std::vector<State> asked_of(State listed) const {
    std::vector<State> asked;
    for (const State state : all_states())
      if (listed_state(state) == listed && request_.has_state(state)) asked.push_back(state);
    return asked;
  }

  std::string branch(State state, const std::vector<State>& asked) {
    const bool of_tenant = !request_.tenant.empty();
    // Few e-mails are worked on: sorting them is better than searching for them among those that wait.
    const bool working = asked.size() == 1 && kind_of(asked.front()) == StateKind::working;
    std::string index = of_tenant ? "idx_tenant_listed" : "idx_listed";
    if (working) index = "idx_status";
    std::string sql = "SELECT id, created_ms FROM emails FORCE INDEX (" + index + ") WHERE listed = '" +
                      std::string(name_of(state)) + "'";
    if (of_tenant) {
      sql += " AND tenant = ?";
      parameters_.emplace_back(request_.tenant);
    }
    if (!request_.states.empty()) {
      std::string names;
      for (const State each : asked) names.append(names.empty() ? "'" : ", '").append(name_of(each)).append("'");
      sql += " AND status IN (" + names + ")";
    }
    sql +=
        " AND created_ms >= ? AND created_ms < ? AND created_ms <= ? AND (created_ms < ? OR id < ?)"
        " ORDER BY created_ms DESC, id DESC LIMIT ?";
    constexpr std::int64_t end_of_time = std::numeric_limits<std::int64_t>::max();
    parameters_.emplace_back(request_.since ? base::epoch_milliseconds(*request_.since) : 0);
    parameters_.emplace_back(request_.until ? base::epoch_milliseconds(*request_.until) : end_of_time);
    parameters_.emplace_back(position_.created);
    parameters_.emplace_back(position_.created);
    parameters_.emplace_back(position_.id);
    parameters_.emplace_back(limit_);
    return sql;
  }

  const ListRequest& request_;
  const ListPosition& position_;
  const int limit_;
  std::string sql_;
  std::vector<mysql::Parameter> parameters_;
};

// The page begins after this e-mail, whose callback was given up.
struct DeadRow {
  std::int64_t due = 0;
  std::string id;
};

base::Result<DeadRow> read_dead_row(const std::string& cursor) {
  if (cursor.empty()) return DeadRow{};
  TRY(std::vector<std::string> words, words_in(cursor, "dead", 3));
  TRY(const std::int64_t due, number_in(words[1]));
  return DeadRow{due, std::move(words[2])};
}

ListPosition position_of_listed(const Email& email) { return {base::epoch_milliseconds(email.created_at), email.id}; }
DeadRow position_of_dead(const Email& email) {
  return {email.due_at ? base::epoch_milliseconds(*email.due_at) : 0, email.id};
}

std::string text_of(const ListPosition& position) {
  return "list " + std::to_string(position.created) + " " + position.id;
}
std::string text_of(const DeadRow& position) { return "dead " + std::to_string(position.due) + " " + position.id; }

// Reads e-mails from a position on, until enough are found that are asked for, or enough were looked at. The first
// round reads what fits on the page. If too little of that is asked for, the next ones read more at once.
template <class Position, class Read, class IsAskedFor>
base::Result<EmailPage> gather_page(Position position, int limit, Position (*position_of)(const Email&),
                                    const Read& read, const IsAskedFor& is_asked_for) {
  EmailPage page;
  const auto wanted = static_cast<std::size_t>(limit);
  for (int examined = 0;;) {
    const int chunk = examined == 0 ? limit : std::max(limit, examined_at_once);
    int malformed = 0;
    TRY(std::vector<Email> emails, read(position, chunk + 1, malformed));
    if (emails.empty() && (malformed == 0 || chunk >= examined_at_once)) return page;
    examined += malformed;  // the position of these is not known: more are read from the same place
    const bool are_more = static_cast<int>(emails.size()) + malformed > chunk;
    emails.resize(std::min(emails.size(), static_cast<std::size_t>(chunk)));
    std::size_t seen = 0;
    for (; seen < emails.size() && page.emails.size() < wanted; ++seen, ++examined) {
      position = position_of(emails[seen]);
      if (is_asked_for(emails[seen])) page.emails.push_back(std::move(emails[seen]));
    }
    if (!are_more && seen == emails.size()) return page;
    if (page.emails.size() < wanted && examined < most_examined) continue;
    page.cursor = store::make_cursor("emails", text_of(position));
    return page;
  }
}

}  // namespace

base::Result<EmailPage> MysqlLedger::list(const ListRequest& request) {
  TRY(ListPosition begin, list_position(request.cursor));
  const auto read_some = [&](const ListPosition& position, int limit, int& malformed) {
    const ListQuery query(request, position, limit);
    return read_emails(query.sql(), query.parameters(), &malformed);
  };
  return gather_page(std::move(begin), request.limit, position_of_listed, read_some,
                     [&](const Email& email) { return matches(email, request.filter); });
}

base::Result<EmailPage> MysqlLedger::dead_callbacks(const std::string& tenant, const std::string& cursor, int limit) {
  TRY(DeadRow begin, read_dead_row(cursor));
  const auto read_some = [&](const DeadRow& position, int most, int& malformed) {
    std::string branches;
    std::vector<mysql::Parameter> parameters;
    for (const WorkQueue* queue : queues_of(Pipeline::callback)) {
      branches += (branches.empty() ? "(" : " UNION ALL (") +
                  ("SELECT id, due_ms FROM emails FORCE INDEX (idx_work) WHERE callback_dead = TRUE AND status = '" +
                   std::string(name_of(queue->state)) + "' AND shard = " + std::to_string(queue->shard) +
                   " AND due_ms >= ? AND (due_ms > ? OR id > ?) ORDER BY due_ms, id LIMIT ?)");
      parameters.insert(parameters.end(), {position.due, position.due, position.id, most});
    }
    parameters.emplace_back(most);
    return read_emails("SELECT " + email_columns + " FROM (" + branches +
                           " ORDER BY due_ms, id LIMIT ?) AS page JOIN emails USING (id, due_ms) ORDER BY due_ms, id",
                       parameters, &malformed);
  };
  return gather_page(std::move(begin), limit, position_of_dead, read_some,
                     [&](const Email& email) { return tenant.empty() || email.tenant == tenant; });
}

}  // namespace postino::outbox
