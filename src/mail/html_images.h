// Images that HTML carries in data: URLs. Few readers of mail show them; as parts of the message all do.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace postino::mail {

struct InlineImage {
  std::string content_type;  // "image/png"
  std::string content_id;    // without angle brackets
  std::string bytes;
};

struct HtmlWithImages {
  std::string html;
  std::vector<InlineImage> images;  // in the order they are met; the same one is there once
};

// In the src of every img element a data: URL of an image becomes cid:, with what `content_id` says for the number of
// the image; everything else stays as it is. invalid when such a URL is broken.
base::Result<HtmlWithImages> extract_images(std::string_view html,
                                            const std::function<std::string(std::size_t)>& content_id);

}  // namespace postino::mail
