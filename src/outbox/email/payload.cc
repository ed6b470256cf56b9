#include "outbox/email/payload.h"

#include <algorithm>

#include "base/base64.h"
#include "base/hash.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "json/writer.h"
#include "mail/address.h"
#include "mail/text_rules.h"
#include "net/url.h"

namespace postino::outbox {

namespace {

using json::Element;
using json::FieldErrors;
using json::Fields;
using Need = json::Fields::Need;

using Limits = PayloadLimits;

std::string longer_than(std::size_t bytes) { return "must not be longer than " + std::to_string(bytes) + " bytes"; }

// Will the message take it as the name of an attachment?
bool fits_as_name(std::string_view name) {
  return !name.empty() && name.size() <= Limits::attachment_name_bytes && name != "." && name != ".." &&
         name.find_first_of("/\\") == std::string_view::npos && mail::check_line(name).has_value();
}

// Programs write what they do not have as an empty text, also where it is no text when it is there.
bool is_blank(Fields& fields, std::string_view name) {
  const auto element = fields.any(name, Need::optional);
  return !element || element->text() == "";
}

// Reads one payload. Everything that is wrong is noted, so that a caller has to come back only once.
class Reader {
 public:
  Reader(Element element, const std::string& path, std::optional<base::TimePoint> now, FieldErrors& errors)
      : fields_(element, path, errors), now_(now) {}

  Payload read() {
    read_id();
    payload_.from = required_mailbox("from");
    if (const auto text = fields_.text("reply_to", Need::optional, Limits::address_bytes))
      payload_.reply_to = mailbox(fields_.path_of("reply_to"), *text);
    read_recipients();
    read_content();
    read_attachments();
    read_headers();
    read_sending_options();
    fields_.refuse_others();
    return std::move(payload_);
  }

 private:
  void read_id() {
    const auto id = fields_.text("id", Need::optional);
    if (!id) return;
    if (!is_uuid(*id)) fields_.refuse("id", "must be a UUID");
    // A caller could take the id that an e-mail of another tenant will have.
    else if (now_ && is_derived_uuid(*id))
      fields_.refuse("id", "must not be a UUID of version 8: those are derived by the server");
    else
      payload_.id = base::lower_case(*id);
  }

  mail::Mailbox mailbox(const std::string& field, std::string_view text) {
    auto mailbox = mail::parse_mailbox(text);
    if (mailbox) return std::move(*mailbox);
    fields_.errors().add(field, mailbox.error().message);
    return {};
  }

  mail::Mailbox required_mailbox(std::string_view name) {
    const auto text = fields_.text(name, Need::required, Limits::address_bytes);
    return text ? mailbox(fields_.path_of(name), *text) : mail::Mailbox();
  }

  // One address, or a list of them.
  std::vector<mail::Mailbox> mailboxes(std::string_view name, Need need) {
    std::vector<mail::Mailbox> mailboxes;
    if (need == Need::optional && is_blank(fields_, name)) return mailboxes;
    const auto element = fields_.any(name, need);
    if (!element) return mailboxes;
    if (element->is_string()) {
      mailboxes.push_back(required_mailbox(name));
      return mailboxes;
    }
    if (!element->is_array()) {
      fields_.refuse(name, "must be an address or an array of addresses");
      return mailboxes;
    }
    const auto list = fields_.list(name, need, Limits::recipients);
    if (!list) return mailboxes;
    if (list->empty() && need == Need::required) fields_.refuse(name, "must have at least one address");
    for (std::size_t i = 0; i < list->size(); ++i) {
      const std::string field = json::element_path(fields_.path_of(name), i);
      const auto text = (*list)[i].text();
      if (!text)
        fields_.errors().add(field, "must be a string");
      else if (text->size() > Limits::address_bytes)
        fields_.errors().add(field, longer_than(Limits::address_bytes));
      else
        mailboxes.push_back(mailbox(field, *text));
    }
    return mailboxes;
  }

  void read_recipients() {
    payload_.to = mailboxes("to", Need::required);
    payload_.cc = mailboxes("cc", Need::optional);
    payload_.bcc = mailboxes("bcc", Need::optional);
    if (payload_.to.size() + payload_.cc.size() + payload_.bcc.size() > Limits::recipients)
      fields_.refuse("to", "must not have more than " + std::to_string(Limits::recipients) +
                               " recipients together with cc and bcc");
  }

  void read_content() {
    if (const auto subject = fields_.text("subject", Need::required, Limits::subject_bytes)) {
      payload_.subject = *subject;
      if (const auto checked = mail::check_line(*subject); !checked) fields_.refuse("subject", checked.error().message);
    }
    const auto text = fields_.text("body_text", Need::optional, Limits::body_bytes);
    const auto html = fields_.text("body_html", Need::optional, Limits::body_bytes);
    if (text) payload_.body_text = *text;
    if (html) payload_.body_html = *html;
    if (payload_.body_text.empty() && payload_.body_html.empty())
      fields_.refuse("body_text", "is required if there is no body_html");
    for (const auto& [name, body] : {std::pair("body_text", &payload_.body_text), {"body_html", &payload_.body_html}})
      if (body->find('\0') != std::string::npos) fields_.refuse(name, "must not contain NUL characters");
  }

  void read_attachments() {
    if (is_blank(fields_, "attachments")) return;
    const auto list = fields_.list("attachments", Need::optional, Limits::attachments);
    if (!list) return;
    for (std::size_t i = 0; i < list->size(); ++i)
      read_attachment((*list)[i], json::element_path(fields_.path_of("attachments"), i));
  }

  void read_attachment(Element element, const std::string& path) {
    PayloadAttachment attachment;
    if (const auto text = element.text()) {
      attachment.path = *text;
      if (check_path(path, *text)) name_by_path(path, attachment);
    } else if (element.is_object()) {
      Fields fields(element, path, fields_.errors());
      attachment = read_attachment_object(fields);
    } else {
      fields_.errors().add(path, "must be a path or an object");
    }
    payload_.attachments.push_back(std::move(attachment));
  }

  void name_by_path(const std::string& field, PayloadAttachment& attachment) {
    attachment.name = attachment.path.substr(attachment.path.rfind('/') + 1);
    if (!fits_as_name(attachment.name))
      fields_.errors().add(field, "must end in a name of at most " + std::to_string(Limits::attachment_name_bytes) +
                                      " bytes without backslashes, unless name is given");
  }

  PayloadAttachment read_attachment_object(Fields& fields) {
    PayloadAttachment attachment;
    const auto file = fields.text("path", Need::optional);
    // Without a path, an empty one is that of a file without content.
    const bool is_inline = !file && fields.any("content_base64", Need::optional);
    const auto content =
        fields.text("content_base64", is_inline ? Need::required : Need::optional, Limits::inline_bytes);
    const auto name = fields.text("name", Need::optional);
    const auto type = fields.text("content_type", Need::optional, Limits::content_type_bytes);
    fields.refuse_others();
    if (content && !name) fields.refuse("name", "is required");
    if (file.has_value() == content.has_value()) fields.refuse("path", "or content_base64 must be given, but not both");
    if (file) {
      attachment.path = *file;
      if (check_path(fields.path_of("path"), *file) && !name) name_by_path(fields.path_of("path"), attachment);
    }
    if (content) {
      attachment.is_inline = true;
      attachment.content_base64 = *content;
      if (!base::from_base64(*content)) fields.refuse("content_base64", "must be base64");
    }
    if (name) attachment.name = *name;
    if (name && !fits_as_name(*name))
      fields.refuse("name", "must have 1 to " + std::to_string(Limits::attachment_name_bytes) +
                                " bytes, and no slashes or control characters");
    if (type) attachment.content_type = *type;
    if (type)
      if (const auto parsed = mail::parse_content_type(*type); !parsed)
        fields.refuse("content_type", parsed.error().message);
    return attachment;
  }

  // Files are looked for below the base path, and nowhere else.
  bool check_path(const std::string& field, std::string_view path) {
    if (path.size() > Limits::attachment_path_bytes) {
      fields_.errors().add(field, longer_than(Limits::attachment_path_bytes));
      return false;
    }
    bool climbs = false;
    for (std::size_t begin = 0; begin <= path.size();) {
      const std::size_t end = std::min(path.find('/', begin), path.size());
      if (path.substr(begin, end - begin) == "..") climbs = true;
      begin = end + 1;
    }
    const bool fits =
        !path.empty() && path.front() != '/' && path.back() != '/' && !climbs && !base::has_control_character(path);
    if (!fits) fields_.errors().add(field, "must be a relative path without .. or control characters");
    return fits;
  }

  void read_headers() {
    if (is_blank(fields_, "custom_headers")) return;
    const auto headers = fields_.map("custom_headers", Need::optional, Limits::headers);
    if (!headers) return;
    for (const auto& [name, element] : *headers) {
      const std::string field = fields_.path_of("custom_headers") + "." + std::string(name);
      const auto value = element.text();
      if (!value) {
        fields_.errors().add(field, "must be a string");
        continue;
      }
      if (value->size() > Limits::header_bytes) {
        fields_.errors().add(field, longer_than(Limits::header_bytes));
        continue;
      }
      if (const auto checked = mail::check_header(std::string(name), std::string(*value)); !checked)
        fields_.errors().add(field, checked.error().message);
      payload_.custom_headers.emplace_back(name, *value);
    }
  }

  // When it is sent, who hears of it, and how it is labelled.
  void read_sending_options() {
    payload_.send_at = fields_.time("send_at", Need::optional);
    if (payload_.send_at && now_ && *payload_.send_at > *now_ + Limits::ahead)
      fields_.refuse("send_at", "must not be more than a year in the future");
    if (const auto url = fields_.text("callback_url", Need::optional)) {
      payload_.callback_url = *url;
      if (const auto parsed = net::Url::parse(*url); !parsed) fields_.refuse("callback_url", parsed.error().message);
    }
    read_tags();
    if (!is_blank(fields_, "unsubscribe")) read_unsubscribe(*fields_.any("unsubscribe", Need::optional));
  }

  void read_tags() {
    if (is_blank(fields_, "tags")) return;
    const auto tags = fields_.list("tags", Need::optional, Limits::tags);
    if (!tags) return;
    for (std::size_t i = 0; i < tags->size(); ++i) {
      const auto tag = (*tags)[i].text();
      if (!tag || tag->empty() || tag->size() > Limits::tag_bytes || base::has_control_character(*tag))
        fields_.errors().add(
            json::element_path(fields_.path_of("tags"), i),
            "must be a string of 1 to " + std::to_string(Limits::tag_bytes) + " bytes without control characters");
      else
        payload_.tags.emplace_back(*tag);
    }
  }

  void read_unsubscribe(Element element) {
    Fields fields(element, fields_.path_of("unsubscribe"), fields_.errors());
    const auto url = fields.text("url", Need::optional);
    const auto address = fields.text("mailto", Need::optional, Limits::address_bytes);
    if (url) {
      const auto parsed = net::Url::parse(*url);
      payload_.unsubscribe_url = parsed ? parsed->text() : "";
      if (!parsed)
        fields.refuse("url", parsed.error().message);
      else if (!parsed->secure)
        fields.refuse("url", "must begin with https");
      else if (std::max(url->size(), payload_.unsubscribe_url.size()) > Limits::unsubscribe_bytes ||
               url->find_first_of("<>\"\\") != url->npos)
        fields.refuse("url", "must not be longer than " + std::to_string(Limits::unsubscribe_bytes) +
                                 " bytes, or have quotes, backslashes or angle brackets");
    }
    if (address) {
      const auto mailbox = mail::parse_mailbox(*address);
      if (mailbox)
        payload_.unsubscribe_mailto = mailbox->address;
      else
        fields.refuse("mailto", mailbox.error().message);
    }
    fields.refuse_others();
  }

  Fields fields_;
  const std::optional<base::TimePoint> now_;
  Payload payload_;
};

std::string shown_mailbox(const mail::Mailbox& mailbox) {
  if (mailbox.name.empty()) return mailbox.address;
  std::string text = "\"";
  for (const char character : mailbox.name) {
    if (character == '"' || character == '\\') text += '\\';
    text += character;
  }
  return text + "\" <" + mailbox.address + ">";
}

void write_mailboxes(json::Writer& writer, std::string_view name, const std::vector<mail::Mailbox>& mailboxes) {
  if (mailboxes.empty()) return;
  writer.key(name).begin_array();
  for (const mail::Mailbox& mailbox : mailboxes) writer.string(shown_mailbox(mailbox));
  writer.end_array();
}

void write_text(json::Writer& writer, std::string_view name, std::string_view text) {
  if (!text.empty()) writer.key(name).string(text);
}

void write_attachments(json::Writer& writer, const std::vector<PayloadAttachment>& attachments) {
  if (attachments.empty()) return;
  writer.key("attachments").begin_array();
  for (const PayloadAttachment& attachment : attachments) {
    writer.begin_object();
    if (attachment.is_inline)
      writer.key("content_base64").string(attachment.content_base64);
    else
      writer.key("path").string(attachment.path);
    write_text(writer, "name", attachment.name);
    write_text(writer, "content_type", attachment.content_type);
    writer.end_object();
  }
  writer.end_array();
}

}  // namespace

bool is_uuid(std::string_view text) {
  if (text.size() != 36) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char digit = base::lower(text[i]);
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? digit != '-' : !((digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f'))) return false;
  }
  return true;
}

std::string derived_uuid(std::string_view text) {
  std::string hex = base::to_hex(base::sha256(text)).substr(0, 32);
  hex[12] = '8';
  hex[16] = "89ab"[static_cast<unsigned char>(hex[16]) % 4];
  for (const std::size_t dash : {20, 16, 12, 8}) hex.insert(dash, "-");
  return hex;
}

bool is_derived_uuid(std::string_view id) {
  constexpr std::size_t version_place = 14;
  return is_uuid(id) && id[version_place] == '8';
}

std::optional<Payload> read_payload(Element element, const std::string& path, base::TimePoint now,
                                    FieldErrors& errors) {
  FieldErrors own;
  Payload payload = Reader(element, path, now, own).read();
  for (const json::FieldError& error : own.list()) errors.add(error.field, error.rule);
  if (!own.empty()) return std::nullopt;
  return payload;
}

base::Result<Payload> parse_payload(std::string_view text) {
  FieldErrors errors;
  json::Document document;
  Payload payload;
  if (document.parse(text, errors)) payload = Reader(document.root(), "", std::nullopt, errors).read();
  if (errors.empty()) return payload;
  std::string message;
  for (const json::FieldError& error : errors.list()) {
    if (!message.empty()) message += "; ";
    message += error.field.empty() ? "the payload" : error.field;
    message += " " + error.rule;
  }
  return base::invalid(std::move(message));
}

std::string to_json(const Payload& payload) {
  std::string text;
  text.reserve(payload.body_text.size() + payload.body_html.size() + 512);
  json::Writer writer(text);
  writer.begin_object();
  write_text(writer, "id", payload.id);
  writer.key("from").string(shown_mailbox(payload.from));
  if (payload.reply_to) writer.key("reply_to").string(shown_mailbox(*payload.reply_to));
  write_mailboxes(writer, "to", payload.to);
  write_mailboxes(writer, "cc", payload.cc);
  write_mailboxes(writer, "bcc", payload.bcc);
  writer.key("subject").string(payload.subject);
  write_text(writer, "body_text", payload.body_text);
  if (!payload.body_html.empty() || payload.body_text.empty()) writer.key("body_html").string(payload.body_html);
  write_attachments(writer, payload.attachments);
  if (!payload.custom_headers.empty()) {
    writer.key("custom_headers").begin_object();
    for (const auto& [name, value] : payload.custom_headers) writer.any_key(name).string(value);
    writer.end_object();
  }
  if (payload.send_at) writer.key("send_at").string(base::format_timestamp(*payload.send_at));
  write_text(writer, "callback_url", payload.callback_url);
  if (!payload.tags.empty()) {
    writer.key("tags").begin_array();
    for (const std::string& tag : payload.tags) writer.string(tag);
    writer.end_array();
  }
  if (!payload.unsubscribe_url.empty() || !payload.unsubscribe_mailto.empty()) {
    writer.key("unsubscribe").begin_object();
    write_text(writer, "url", payload.unsubscribe_url);
    write_text(writer, "mailto", payload.unsubscribe_mailto);
    writer.end_object();
  }
  writer.end_object();
  return text;
}

}  // namespace postino::outbox
