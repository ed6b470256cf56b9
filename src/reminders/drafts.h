// Drafts: made, revised, shown, rejected. Safe to call from any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "reminders/actor.h"
#include "reminders/customers.h"
#include "reminders/page.h"
#include "reminders/record/draft.h"
#include "reminders/record/rule.h"
#include "reminders/refusal.h"
#include "reminders/reminder_mailer.h"
#include "reminders/templates.h"
#include "reminders/text/diff.h"

namespace postino::reminders {

class Commit;
class Keys;

inline constexpr std::size_t most_in_bulk = 100;

struct NewDraft {
  std::string customer_id;
  std::string reminder_type;
  std::string template_id;        // of this, or
  std::optional<DraftText> text;  // this text; exactly one of both
  Variables variables;
  std::string created_by;  // the person or program; empty: the actor
};

// A draft with what the rules say about it now.
struct ShownDraft {
  Draft draft;  // a pending one has name and address of the customer as they are now: there it would go
  Decision decision;
  std::string stopped;  // why it cannot be approved, whatever the rules say, and the decision is so; empty: may
};

struct DraftFilter {
  std::optional<DraftStatus> status = DraftStatus::draft;  // nullopt: any
  std::string customer_id;                                 // empty: of all
  std::string reminder_type;                               // empty: any
};

struct RevisionDiff {
  int from = 0;
  int to = 0;
  std::vector<DiffLine> subject;
  std::vector<DiffLine> body;
  std::vector<DiffLine> html;
};

// A draft, and the item that it was read from.
struct StoredDraft {
  Draft draft;
  item::Item item;
};
// Another program may have changed the text of a pending draft. Then that is the next revision, and it is written down
// as such before it is answered: a revision that people have seen keeps its text. `is_shown`: a text that another
// program wrote in the first place is written down, too, so that its next change is noticed. nullopt: there is no such
// draft.
OrRefusal<std::optional<StoredDraft>> read_stored_draft(ReminderStore& store, const Keys& keys, const std::string& id,
                                                        bool is_shown);
// The condition that a draft is still as it was read, by its version and, because programs of others do not count
// versions, by its text.
std::string same_draft(const StoredDraft& stored, expr::Placeholders& placeholders);

class Drafts {
 public:
  Drafts(ReminderStore& store, Customers& customers, Templates& templates, ReminderMailer& mail)
      : store_(store), customers_(customers), templates_(templates), mail_(mail) {}

  // The text as it would be in a draft for this customer. Nothing is written.
  OrRefusal<Rendered> preview(const NewDraft& draft, const std::string& tenant);
  OrRefusal<ShownDraft> make(const NewDraft& draft, const Actor& actor);
  // At most 100; an answer for each, in their order. When the store fails, the rest is not tried.
  OrRefusal<std::vector<OrRefusal<ShownDraft>>> make_all(const std::vector<NewDraft>& drafts, const Actor& actor);
  OrRefusal<ShownDraft> find(const std::string& id, const std::string& tenant);
  OrRefusal<Page<ShownDraft>> list(const DraftFilter& filter, const PageRequest& page,
                                   const std::string& tenant);  // newest first

  // `seen` is the revision that the caller changes: other_revision when it is no longer the current one.
  OrRefusal<ShownDraft> revise(const std::string& id, int seen, const DraftText& text, const Actor& actor);
  OrRefusal<std::vector<Revision>> revisions(const std::string& id, const std::string& tenant);  // oldest first
  // By default the current revision with the one before it. Where another program has overwritten the text of that one,
  // it is the last one before it that is kept.
  OrRefusal<RevisionDiff> diff(const std::string& id, std::optional<int> from, std::optional<int> to,
                               const std::string& tenant);

  // The actor must be known.
  OrRefusal<ShownDraft> reject(const std::string& id, int seen, const std::string& reason, const Actor& actor);

  // Would a reminder of this type be refused now? With the records that decide.
  struct Explanation {
    std::string customer_id;
    std::string reminder_type;
    Decision decision;
    std::string stopped;
    std::optional<Overdue> overdue;  // nullopt: the customer has no record, or one that cannot be read
  };
  // Also of a customer of whom only what other programs have sent is known.
  OrRefusal<Explanation> explain(const std::string& customer_id, const std::string& type, const std::string& tenant);

 private:
  struct Composed;
  OrRefusal<Composed> compose(const NewDraft& draft, const std::string& tenant);
  OrRefusal<Draft> draft_of(const NewDraft& draft, const Actor& actor);
  // `earliest` is the second from which an id is looked for, and then the one after it.
  OrRefusal<ShownDraft> make_from(const NewDraft& draft, const Actor& actor, base::TimePoint& earliest);
  OrRefusal<StoredDraft> read(const Keys& keys, const std::string& id);
  OrRefusal<ShownDraft> show(const Keys& keys, Draft draft);
  // What was just written. Nothing that fails now may look as if it were not.
  ShownDraft show_written(const Keys& keys, Draft draft);
  using Change = std::function<OrRefusal<void>(Draft& draft, Commit& commit)>;
  // A pending draft of this revision, with the change, as one commit.
  OrRefusal<ShownDraft> change(const std::string& id, int seen, const Actor& actor, const Change& change);

  ReminderStore& store_;
  Customers& customers_;
  Templates& templates_;
  ReminderMailer& mail_;
};

}  // namespace postino::reminders
