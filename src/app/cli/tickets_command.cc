#include <filesystem>
#include <memory>

#include "api/protocol/limits.h"
#include "app/cli/commands.h"
#include "app/cli/help_format.h"
#include "app/cli/listing_command.h"
#include "app/cli/operation_command.h"
#include "app/client/object_text.h"
#include "app/console/input_file.h"
#include "base/base64.h"

namespace postino::app {

namespace {

std::vector<ListingColumn> ticket_columns() {
  return {{"TICKET", "ticket_id"},
          {"STATUS", "status"},
          {"PRIORITY", "priority"},
          {"CUSTOMER", "customer.id"},
          {"CREATED", "created_at"},
          {.title = "ENGINEER", .field = "assigned_to", .most_columns = name_columns},
          {.title = "SYMPTOM", .field = "symptom_text", .most_columns = text_columns}};
}

struct TicketListing {
  std::string_view name;
  Listing listing;
};

const std::vector<TicketListing>& ticket_listings() {
  static const std::vector<TicketListing> listings = {
      {"list", {"listTickets", "reading tickets", ticket_columns()}},
      {"escalated", {"listEscalatedTickets", "reading tickets", ticket_columns()}},
      {"feedback-of",
       {"listFeedback",
        "reading feedback",
        {{"TICKET", "ticket_id"},
         {"RATING", "rating", Align::right},
         {"SUBMITTED", "submitted_at"},
         {.title = "COMMENTS", .field = "comments", .most_columns = text_columns}}}},
      {"events",
       {"listTicketEvents",
        "reading events",
        {{"DATE", "date"},
         {"NUMBER", "number", Align::right},
         {"AT", "at"},
         {.title = "EVENT", .field = "event_type", .most_columns = name_columns},
         {.title = "BY", .field = "by", .most_columns = name_columns},
         {"FROM", "old_status"},
         {"TO", "new_status"}}}},
      {"emails",
       {"listTicketEmails",
        "reading e-mails",
        {{"AT", "at"},
         {"DIRECTION", "direction"},
         {.title = "KIND", .field = "kind", .most_columns = name_columns},
         {.title = "FROM", .field = "from", .most_columns = name_columns},
         {.title = "SUBJECT", .field = "subject", .most_columns = text_columns}}}},
  };
  return listings;
}

constexpr OperationCommand ticket_operations[] = {
    {"open", "createTicket"},
    {"show", "getTicket"},
    {"several", "getTickets"},
    {"counts", "getTicketCounts"},
    {"move", "moveTicket"},
    {"escalate", "escalateTicket"},
    {"deescalate", "deescalateTicket"},
    {"priority", "changeTicketPriority"},
    {"feedback", "getTicketFeedback"},
    {"rate", "addFeedback"},
    {"note", "addTicketEvent"},
    {"write", "sendTicketEmail"},
    {"answer", "receiveTicketAnswer"},
};

struct FileToAttach {
  std::string ticket;
  std::string file;
  std::string name;  // empty: that of the file
  std::string content_type;
  std::string key;  // idempotency key; empty: a new one
};

base::Result<void> attach_file(RestClient& client, const FileToAttach& attached, bool json, const Console& console) {
  TRY(const std::string bytes, read_input(attached.file, api::Limits::body_bytes / 4 * 3));
  const std::string own_name = std::filesystem::path(attached.file).filename().string();
  OperationCall call("addAttachment");
  call.set("id", attached.ticket);
  call.body().set_text("name", attached.name.empty() ? own_name : attached.name);
  if (!attached.content_type.empty()) call.body().set_text("content_type", attached.content_type);
  call.body().set_number("size", static_cast<std::int64_t>(bytes.size()));
  call.body().set_text("content_base64", base::to_base64(bytes));
  TRY(const std::string body, fetch_once(client, std::move(call), attached.key, console));
  if (json) {
    console.print_foreign(body);
    return {};
  }
  json::Document document;
  json::FieldErrors errors;
  if (!document.parse(body, errors) || !document.root().is_object())
    return base::fail(base::ErrorCode::malformed, "the response is not from a Postino server. Is --url right?");
  console.out << object_text(document.root());
  return {};
}

void add_attaching(CommandLine& line, CLI::App& parent) {
  ClientCommand command(line, parent, "add", "addAttachment");
  const auto attached = std::make_shared<FileToAttach>();
  command.add_argument("id", attached->ticket);
  command.app()
      .add_option("FILE", attached->file, "file to attach; - is the standard input")
      ->type_name("FILE")
      ->required();
  command.add_option("name", attached->name, {.help = "name to keep it with; that of the file by default"});
  command.add_option("content_type", attached->content_type);
  add_key_option(command, attached->key);
  command.run([attached, &shared = command.shared()](RestClient& client, const Console& console) -> int {
    const auto done = attach_file(client, *attached, shared.json, console);
    return done ? success : report_error(console, done.error());
  });
}

struct AttachmentToGet {
  std::string ticket;
  std::string attachment;
};

// As they are, for a file.
base::Result<void> print_attachment(RestClient& client, const AttachmentToGet& wanted, const Console& console) {
  OperationCall call("downloadAttachment");
  call.set("id", wanted.ticket).set("attachment_id", wanted.attachment);
  TRY(const http::ClientResponse response, client.send(call));
  if (response.status != 200) return base::propagate(client.describe(response));
  console.out << response.body;
  return {};
}

void add_downloading(CommandLine& line, CLI::App& parent) {
  ClientCommand command(line, parent, "get", "downloadAttachment", "write a file of a ticket to the standard output");
  const auto wanted = std::make_shared<AttachmentToGet>();
  command.add_argument("id", wanted->ticket);
  command.add_argument("attachment_id", wanted->attachment);
  command.run([wanted](RestClient& client, const Console& console) -> int {
    const auto done = print_attachment(client, *wanted, console);
    return done ? success : report_error(console, done.error());
  });
}

void add_attachment_commands(CommandLine& line, CLI::App& tickets) {
  CLI::App& attachments = add_command_group(line, tickets, "attachments", "files of tickets");
  static const Listing listing{"listAttachments",
                               "reading attachments",
                               {{"ATTACHMENT", "attachment_id"},
                                {.title = "NAME", .field = "name", .most_columns = text_columns},
                                {.title = "TYPE", .field = "content_type", .most_columns = name_columns},
                                {"SIZE", "size", Align::right},
                                {"UPLOADED", "uploaded_at"},
                                {"BY", "by"}}};
  ClientCommand list(line, attachments, "list", listing.operation);
  run_listing(list, listing);
  add_attaching(line, attachments);
  add_downloading(line, attachments);
  add_operation_command(line, attachments, {"remove", "removeAttachment"});
}

}  // namespace

void add_tickets_command(CommandLine& line) {
  CLI::App& tickets =
      add_command_group(line, line.program(), "tickets", "open tickets of the support desk, and work on them");
  for (const TicketListing& named : ticket_listings()) {
    ClientCommand list(line, tickets, std::string(named.name), named.listing.operation);
    run_listing(list, named.listing);
  }
  for (const OperationCommand& command : ticket_operations) add_operation_command(line, tickets, command);
  add_attachment_commands(line, tickets);
  CLI::App& cache = add_command_group(line, tickets, "cache", "results that are kept for 15 minutes");
  add_operation_command(line, cache, {"put", "putCachedResult"});
  add_operation_command(line, cache, {"get", "getCachedResult"});
  add_examples(tickets,
               {"postino tickets open --customer-id cust_1 --symptom-text \"It restarts every ten minutes.\"",
                "postino tickets list --status NEW --priority P1",
                "postino tickets move tkt_0b1c3a5e-7f42-4d0c-9a3b-5d2f1e6a7c88 --status PROCESSING --version 1",
                "postino tickets attachments add tkt_0b1c3a5e-7f42-4d0c-9a3b-5d2f1e6a7c88 photo.jpg"});
}

}  // namespace postino::app
