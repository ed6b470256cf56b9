// A body that goes on for as long as its caller may have it.
//
// A stream lasts longer than the check that opened it: meanwhile a session ends or is revoked, and settings are read
// again without a key, or with another role or tenant for it. So the caller is checked again before each piece. The
// connection asks for one after each pulse, too, so that a stream without news ends as well.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/protocol/access.h"
#include "api/protocol/operation.h"
#include "base/swappable.h"
#include "http/body_stream.h"
#include "http/message.h"

namespace postino::api {

class PermittedStream final : public http::BodyStream {
 public:
  // Of the request it keeps what tells who calls. The access must outlive it.
  PermittedStream(std::shared_ptr<http::BodyStream> stream, const base::Swappable<Access>& access,
                  const http::Request& request, const Caller& caller, Right right, bool shared)
      : stream_(std::move(stream)),
        access_(access),
        caller_(caller),
        right_(right),
        shared_(shared),
        request_(request) {
    for (const auto& [name, value] : request.headers) headers_.emplace_back(name, value);
    method_ = request.method;
    target_ = request.target;
    peer_ = request.peer;
    request_.headers.clear();
    for (const auto& [name, value] : headers_) request_.headers.emplace_back(name, value);
    request_.method = method_;
    request_.target = target_;
    request_.peer = peer_;
    request_.body = {};
  }

  void begin(std::function<void()> wake) override { stream_->begin(std::move(wake)); }
  Piece next() override {
    if (!is_permitted()) return {.bytes = "", .is_last = true};
    return stream_->next();
  }
  std::string pulse() override { return stream_->pulse(); }

 private:
  // Does not wait, as when a request comes. While the store cannot tell whether a session is there, the stream goes on.
  bool is_permitted() const {
    const std::shared_ptr<const Access> access = access_.get();
    const auto now = access->check(request_, right_, shared_);
    if (!now) return now.error().type.status == problems::store_unavailable.status;
    return (*now)->name == caller_.name && (*now)->tenant == caller_.tenant && (*now)->customer == caller_.customer;
  }

  const std::shared_ptr<http::BodyStream> stream_;
  const base::Swappable<Access>& access_;
  const Caller caller_;
  const Right right_;
  const bool shared_;
  std::vector<std::pair<std::string, std::string>> headers_;
  std::string method_, target_, peer_;
  http::Request request_;  // views of the above
};

}  // namespace postino::api
