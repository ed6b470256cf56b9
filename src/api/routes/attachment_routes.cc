// Files that belong to tickets, and results that are kept for a while.
#include "api/routes/route_groups.h"
#include "api/routes/ticket_json.h"
#include "api/routes/ticket_requests.h"
#include "item/plain_json.h"

namespace postino::api {

namespace {

Outcome add_attachment(Call& call) {
  TRY(auto* desk, desk_of(call));
  TRY(const support::AttachmentUpload upload, read_upload(call.request.body, desk->attachments().limits().bytes));
  auto kept = desk->attachments().add(call.path_parameter("id"), upload, ticket_actor(call));
  if (!kept)
    for (support::FieldFault& fault : kept.error().faults)
      if (fault.field == "content") fault.field = "content_base64";
  TRY(const support::KeptAttachment added, answered(std::move(kept)));
  Reply reply = json_reply(thing_json(added), 201);
  reply.told_of = added.id;
  return reply;
}

Outcome attachment_again(Call& call, const std::string& attachment_id) {
  TRY(auto* desk, desk_of(call));
  TRY(const support::KeptAttachment kept,
      answered(desk->attachments().find(call.path_parameter("id"), attachment_id, ticket_actor(call))));
  return json_reply(thing_json(kept));
}

Outcome list_attachments(Call& call) {
  TRY(auto* desk, desk_of(call));
  TRY(const auto all, answered(desk->attachments().list(call.path_parameter("id"), ticket_actor(call))));
  return json_reply(list_json(all));
}

// Never shown by the browser itself, and never taken for another type.
Outcome download_attachment(Call& call) {
  TRY(auto* desk, desk_of(call));
  const std::string& ticket = call.path_parameter("id");
  const std::string& id = call.path_parameter("attachment_id");
  TRY(const support::KeptAttachment kept, answered(desk->attachments().find(ticket, id, ticket_actor(call))));
  if (!call.answer.admit(static_cast<std::size_t>(kept.attachment.size)))
    return refuse(problems::overloaded, "Too many answers have not been taken. Try again in a moment.");
  TRY(support::FetchedAttachment fetched, answered(desk->attachments().fetch(ticket, id, ticket_actor(call))));
  Reply reply{.content_type = fetched.kept.attachment.content_type, .body = std::move(fetched.bytes)};
  for (auto& header : support::download_headers(fetched.kept.attachment))
    if (header.first == "Content-Disposition" || header.first == "Content-Security-Policy")
      reply.headers.push_back(std::move(header));  // the others are those of every answer
  return reply;
}

Outcome remove_attachment(Call& call) {
  TRY(auto* desk, desk_of(call));
  TRY_VOID(answered(
      desk->attachments().remove(call.path_parameter("id"), call.path_parameter("attachment_id"), ticket_actor(call))));
  return no_content();
}

Outcome put_cached(Call& call) {
  TRY(auto* desk, desk_of(call));
  TRY(const item::Map data, read_cached(call.request.body));
  TRY_VOID(answered(desk->cache().put(call.path_parameter("key"), data, ticket_actor(call))));
  return no_content();
}

Outcome get_cached(Call& call) {
  TRY(auto* desk, desk_of(call));
  TRY(const std::optional<item::Map> data, answered(desk->cache().get(call.path_parameter("key"), ticket_actor(call))));
  if (!data) return refuse(problems::not_cached, "Compute it again.");
  return json_reply(R"({"data":)" + item::to_plain_json(*data) + "}");
}

// Each type that is taken, unless a program that puts a desk together says otherwise.
std::vector<Content> attachment_contents() {
  std::vector<Content> contents;
  for (const std::string& type : support::usual_attachment_types()) contents.push_back({type, ""});
  return contents;
}

Parameter attachment_id_parameter() {
  return {"attachment_id", ParameterPlace::path, {.type = "string", .description = "The id of the attachment."}};
}

Parameter cache_key_parameter() {
  return {"key", ParameterPlace::path, {.type = "string", .description = "The name of the entry."}};
}

AnswerDescription no_attachment() {
  return {404,
          "The ticket has no such attachment (ATTACHMENT_NOT_FOUND), or there is no such ticket (TICKET_NOT_FOUND).",
          {}};
}

std::vector<Route> file_routes() {
  return {
      {.operation = {.id = "addAttachment",
                     .method = "POST",
                     .path = "/tickets/{id}/attachments",
                     .right = Right::open_tickets,
                     .summary = "Attach a file to a ticket",
                     .description =
                         "It is taken if it is what it claims to be: its size, its SHA-256, and its type by its "
                         "bytes and by the extension of its name. Programs, scripts and web pages are refused.",
                     .parameters = {ticket_id_parameter()},
                     .body = {{{json_content_type, "NewTicketAttachment"}}, true},
                     .answers = {{201, "The attachment.", {{json_content_type, "TicketAttachment"}}}}},
       .handle = add_attachment,
       .again = attachment_again},
      {.operation = {.id = "listAttachments",
                     .method = "GET",
                     .path = "/tickets/{id}/attachments",
                     .right = Right::read_tickets,
                     .summary = "List the files of a ticket, oldest first",
                     .parameters = {ticket_id_parameter()},
                     .answers = {{200, "The attachments.", {{json_content_type, "TicketAttachmentList"}}}}},
       .handle = list_attachments},
      {.operation = {.id = "downloadAttachment",
                     .method = "GET",
                     .path = "/tickets/{id}/attachments/{attachment_id}",
                     .right = Right::read_tickets,
                     .summary = "Download a file of a ticket",
                     .description = "For saving: browsers do not show it.",
                     .parameters = {ticket_id_parameter(), attachment_id_parameter()},
                     .answers = {{200, "The bytes, with their type.", attachment_contents()}, no_attachment()}},
       .handle = download_attachment,
       .large_answer = true},
      {.operation = {.id = "removeAttachment",
                     .method = "DELETE",
                     .path = "/tickets/{id}/attachments/{attachment_id}",
                     .right = Right::work_on_tickets,
                     .summary = "Remove a file of a ticket",
                     .parameters = {ticket_id_parameter(), attachment_id_parameter()},
                     .answers = {{204, "It is gone."}, no_attachment()}},
       .handle = remove_attachment},
  };
}

std::vector<Route> cache_routes() {
  return {
      {.operation = {.id = "putCachedResult",
                     .method = "PUT",
                     .path = "/ticket-cache/{key}",
                     .right = Right::work_on_tickets,
                     .summary = "Keep a result for 15 minutes",
                     .description = "It takes the place of one of the same name.",
                     .parameters = {cache_key_parameter()},
                     .body = {{{json_content_type, "CachedResult"}}, true},
                     .answers = {{204, "It is kept."}}},
       .handle = put_cached},
      {.operation = {.id = "getCachedResult",
                     .method = "GET",
                     .path = "/ticket-cache/{key}",
                     .right = Right::read_tickets,
                     .summary = "Show a result that is kept",
                     .parameters = {cache_key_parameter()},
                     .answers = {{200, "The result.", {{json_content_type, "CachedResult"}}},
                                 {404, "There is no such entry, or it has expired (NOT_CACHED)."}}},
       .handle = get_cached,
       .large_answer = true},
  };
}

}  // namespace

std::vector<Route> attachment_routes() {
  std::vector<Route> routes = file_routes();
  for (Route& route : cache_routes()) routes.push_back(std::move(route));
  return with_ticket_answers(std::move(routes));
}

}  // namespace postino::api
