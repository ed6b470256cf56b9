"""A small object store that speaks S3's protocol (path style, AWS Signature Version 4), for tests.

    s3_server.py [--certificate FILE --key FILE]

Prints two ports of 127.0.0.1: its own, and one for instructions. Signatures are computed by botocore, Amazon's own code,
from what arrived. Instructions are JSON objects, POSTed:

    {"answers": [{"status": 503, "body": "..."}, ...]}   for the next requests, one each; null: as usual
    {"cut": 3}                                           the next three connections end in the middle of the answer
    {"cut_after": 1}                                     the same, after what was asked for has been done
    {"ahead": 3600}                                      seconds by which the server's clock is ahead
    {"buckets": ["name"]}                                which there are
"""

import argparse
import hashlib
import json
import ssl
import sys
import threading
import time
from datetime import datetime, timezone
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, quote, unquote, urlsplit
from xml.sax.saxutils import escape

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

KEY, SECRET, REGION = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", "eu-west-1"


class State:
    def __init__(self):
        self.lock = threading.Lock()
        self.objects = {}
        self.answers = []
        self.cut = self.cut_after = self.requests = 0
        self.ahead = 0
        self.buckets = ["postino-test"]

    def now(self):
        return time.time() + self.ahead


STATE = State()


class Refusal(Exception):
    def __init__(self, status, code, message=""):
        super().__init__(code)
        self.status, self.code, self.message = status, code, message


def expected_signature(method, url, headers, signed, timestamp):
    request = AWSRequest(method, url, headers={name: headers[name] for name in signed})
    request.context["timestamp"] = timestamp
    signer = S3SigV4Auth(Credentials(KEY, SECRET), "s3", REGION)
    canonical = signer.canonical_request(request)
    return signer.signature(signer.string_to_sign(request, canonical), request)


def check_signature(handler, body):
    scheme, _, rest = handler.headers.get("Authorization", "").partition(" ")
    fields = dict(part.strip().split("=", 1) for part in rest.split(",") if "=" in part)
    if scheme != "AWS4-HMAC-SHA256":
        raise Refusal(403, "AccessDenied")
    timestamp = handler.headers["X-Amz-Date"]
    if fields["Credential"] != f"{KEY}/{timestamp[:8]}/{REGION}/s3/aws4_request":
        raise Refusal(403, "InvalidAccessKeyId")
    sent = datetime.strptime(timestamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=timezone.utc).timestamp()
    if abs(sent - STATE.now()) > 900:
        raise Refusal(403, "RequestTimeTooSkewed", "The difference between the request time and the current time is too large.")
    if handler.headers["X-Amz-Content-Sha256"] != hashlib.sha256(body).hexdigest():
        raise Refusal(400, "XAmzContentSHA256Mismatch")
    signed = fields["SignedHeaders"].split(";")
    if not {"host", "x-amz-date", "x-amz-content-sha256"} <= set(signed):
        raise Refusal(403, "AccessDenied", "There were headers present in the request which were not signed")
    url = f"http://{handler.headers['Host']}{handler.path}"
    headers = {name: handler.headers[name] for name in signed}
    if expected_signature(handler.command, url, headers, signed, timestamp) != fields["Signature"]:
        raise Refusal(403, "SignatureDoesNotMatch")


def listing(query):
    prefix, after = query.get("prefix", ""), query.get("start-after", "")
    limit = min(int(query.get("max-keys", 1000)), 1000)
    encode = (lambda name: quote(name, safe="")) if query.get("encoding-type") == "url" else escape
    names = sorted(name for name in STATE.objects if name.startswith(prefix) and name > after)
    parts = []
    for name in names[:limit]:
        data, modified = STATE.objects[name]
        moment = datetime.fromtimestamp(modified, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        parts.append(
            f"<Contents><Key>{encode(name)}</Key><LastModified>{moment}</LastModified>"
            f"<ETag>&quot;x&quot;</ETag><Size>{len(data)}</Size></Contents>"
        )
    kind = "<EncodingType>url</EncodingType>" if query.get("encoding-type") == "url" else ""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        f"<Name>b</Name>{kind}<IsTruncated>{str(len(names) > limit).lower()}</IsTruncated>{''.join(parts)}"
        "</ListBucketResult>"
    ).encode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def date_time_string(self, timestamp=None):
        return formatdate(STATE.now() if timestamp is None else timestamp, usegmt=True)

    def answer(self, status, body=b"", cut=False):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body) + (10 if cut else 0)))
        self.end_headers()
        self.wfile.write(body)
        if cut:
            self.close_connection = True

    def execute(self, body):
        """What is asked for, done: status and body of the answer."""
        check_signature(self, body)
        parts = urlsplit(self.path)
        bucket, _, name = unquote(parts.path).lstrip("/").partition("/")
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        if bucket not in STATE.buckets:
            raise Refusal(404, "NoSuchBucket", "The specified bucket does not exist")
        with STATE.lock:
            if not name:
                return 200, listing(query)
            if self.command == "PUT":
                STATE.objects[name] = (body, int(STATE.now()))
                return 200, b""
            if self.command == "DELETE":
                STATE.objects.pop(name, None)
                return 204, b""
            if name not in STATE.objects:
                raise Refusal(404, "NoSuchKey", "The specified key does not exist.")
            return 200, STATE.objects[name][0]

    def handle_request(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with STATE.lock:
            STATE.requests += 1
            prepared = STATE.answers.pop(0) if STATE.answers else None
            cut = STATE.cut > 0
            STATE.cut = max(0, STATE.cut - 1)
        if cut:
            return self.answer(200, b"hal", cut=True)
        if prepared is not None:
            return self.answer(prepared["status"], prepared.get("body", "").encode())
        try:
            status, answer = self.execute(body)
        except Refusal as refusal:
            status = refusal.status
            answer = f"<Error><Code>{refusal.code}</Code><Message>{refusal.message}</Message></Error>".encode()
        with STATE.lock:
            cut = STATE.cut_after > 0
            STATE.cut_after = max(0, STATE.cut_after - 1)
        return self.answer(status, answer, cut)

    do_GET = do_PUT = do_DELETE = do_POST = handle_request


class Control(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        told = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with STATE.lock:
            for name, value in told.items():
                setattr(STATE, name, value)
        self.reply(b"")

    def do_GET(self):
        self.reply(str(STATE.requests).encode())

    def reply(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # clients come and go


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--certificate")
    parser.add_argument("--key")
    options = parser.parse_args()
    server = Server(("127.0.0.1", 0), Handler)
    if options.certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(options.certificate, options.key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    control = Server(("127.0.0.1", 0), Control)
    threading.Thread(target=control.serve_forever, daemon=True).start()
    print(server.server_address[1], control.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
