// An e-mail and its history, as a person reads them.
#pragma once

#include <optional>
#include <string>

#include "app/client/answer.h"

namespace postino::app {

// `email` is what GET /emails/{id} answers; reasons in the history are cut to fit into `columns`.
std::string email_summary(const AnswerObject& email, std::optional<int> columns);

}  // namespace postino::app
