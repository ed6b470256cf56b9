// ARNs of streams: arn:<partition>:dynamodb:<region>:<account>:table/<name>/stream/<label>.
#pragma once

#include <string_view>

namespace postino::engine {

// Does it have the form? Whether there is such a stream is another question.
bool is_stream_arn(std::string_view text);

}  // namespace postino::engine
