#include "mail/body.h"

#include "base/hash.h"
#include "mail/content_type.h"
#include "mail/encoding/transfer_encoding.h"
#include "mail/header_line.h"
#include "mail/html_images.h"
#include "mail/message_rules.h"
#include "mail/text_rules.h"

namespace postino::mail {

namespace {

using base::Result;

// Writes the tree of parts, from the outside in:
//
//   multipart/mixed            when there are attachments
//     multipart/alternative    when there are both text and HTML
//       text/plain
//       multipart/related      when the HTML has images
//         text/html
//         image/...
//     application/...
class BodyWriter {
 public:
  BodyWriter(std::string& out, const Message& message) : out_(out), message_(message) {}

  Result<void> write() {
    if (!message_.html.empty()) {
      const auto content_id = [this](std::size_t) { return unique_text() + "@postino"; };
      TRY(html_, in_field("html", extract_images(message_.html, content_id)));
    }
    if (message_.attachments.empty()) {
      write_content();
      return {};
    }
    const std::string boundary = begin_multipart("mixed");
    write_content();
    for (std::size_t i = 0; i < message_.attachments.size(); ++i) {
      next_part(boundary);
      TRY_VOID(in_field(field_name("attachments", i) + ".content_type", write_attachment(message_.attachments[i])));
    }
    end_multipart(boundary);
    return {};
  }

 private:
  void write_content() {
    if (message_.html.empty()) return write_text("plain", message_.text);
    if (message_.text.empty()) return write_html();
    const std::string boundary = begin_multipart("alternative");
    write_text("plain", message_.text);
    next_part(boundary);  // the better one comes last
    write_html();
    end_multipart(boundary);
  }

  void write_html() {
    if (html_.images.empty()) return write_text("html", html_.html);
    const std::string boundary = begin_multipart("related");
    write_text("html", html_.html);
    for (std::size_t i = 0; i < html_.images.size(); ++i) {
      next_part(boundary);
      write_image(html_.images[i], i + 1);
    }
    end_multipart(boundary);
  }

  void write_text(std::string_view subtype, std::string_view text) {
    out_.append("Content-Type: text/").append(subtype).append("; charset=utf-8\r\n");
    out_.append("Content-Transfer-Encoding: quoted-printable\r\n\r\n");
    append_quoted_printable(out_, text);
  }

  void write_image(const InlineImage& image, std::size_t number) {
    const std::string_view subtype = std::string_view(image.content_type).substr(image.content_type.find('/') + 1);
    const std::string extension(subtype.substr(0, subtype.find('+')));
    const std::string name = "image" + std::to_string(number) + "." + extension;
    {
      HeaderLine line(out_, "Content-Type");
      line.add(image.content_type);
      line.add_parameter("name", name);
    }
    out_.append("Content-Transfer-Encoding: base64\r\n");
    HeaderLine(out_, "Content-ID").add("<" + image.content_id + ">");
    {
      HeaderLine line(out_, "Content-Disposition");
      line.add("inline");
      line.add_parameter("filename", name);
    }
    out_.append("\r\n");
    append_base64_lines(out_, image.bytes);
  }

  Result<void> write_attachment(const Attachment& attachment) {
    TRY(auto type,
        parse_content_type(attachment.content_type.empty() ? detect_content_type(attachment.bytes, attachment.name)
                                                           : attachment.content_type));
    if (type.is_text() && !type.has_parameter("charset") && is_utf8(attachment.bytes))
      type.parameters.emplace_back("charset", "utf-8");
    // Quotes within quotes are read in as many ways as there are readers.
    const bool plain = !needs_encoding(attachment.name) && attachment.name.find('"') == std::string::npos;
    {
      HeaderLine line(out_, "Content-Type");
      line.add(type.name);
      for (const auto& [name, value] : type.parameters) line.add_parameter(name, value);
      plain ? line.add_parameter("name", attachment.name) : line.add_encoded_parameter("name", attachment.name);
    }
    out_.append("Content-Transfer-Encoding: base64\r\n");
    {
      HeaderLine line(out_, "Content-Disposition");
      line.add("attachment");
      plain ? line.add_parameter("filename", attachment.name)
            : line.add_extended_parameter("filename", attachment.name);
    }
    out_.append("\r\n");
    append_base64_lines(out_, attachment.bytes);
    return {};
  }

  std::string begin_multipart(std::string_view subtype) {
    // Neither quoted-printable nor base64 can contain =_, so no line of a part can be taken for the boundary.
    std::string boundary = "=_" + unique_text();
    {
      HeaderLine line(out_, "Content-Type");
      line.add(std::string("multipart/").append(subtype));
      if (subtype == "related") line.add_parameter("type", "text/html");
      line.add_parameter("boundary", boundary);
    }
    out_.append("\r\n--").append(boundary).append("\r\n");
    return boundary;
  }
  // The line end before a boundary belongs to the boundary, not to the part.
  void next_part(std::string_view boundary) { out_.append("\r\n--").append(boundary).append("\r\n"); }
  void end_multipart(std::string_view boundary) { out_.append("\r\n--").append(boundary).append("--"); }

  // Another one with each call, the same for the same message.
  std::string unique_text() {
    return base::to_hex(base::sha256(message_.message_id + "/" + std::to_string(next_unique_++))).substr(0, 32);
  }

  std::string& out_;
  const Message& message_;
  HtmlWithImages html_;
  int next_unique_ = 0;
};

}  // namespace

Result<void> append_body(std::string& out, const Message& message) {
  TRY_VOID(BodyWriter(out, message).write());
  if (!out.ends_with("\r\n")) out.append("\r\n");
  return {};
}

}  // namespace postino::mail
