"""A server of S3's protocol with one bucket, which can be away."""

import json
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from pathlib import Path

S3_SERVER = Path(__file__).parents[1] / "objects" / "s3_server.py"
BUCKET = "postino-test"
KEYS = ["--objects-key-id", "AKIDEXAMPLE", "--objects-secret", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"]


class Bucket:
    def __init__(self, port, control):
        self.access = ["--objects-endpoint", f"http://127.0.0.1:{port}", "--objects-region", "eu-west-1", *KEYS]
        self.flags = ["--spool", f"s3://{BUCKET}/mail", *self.access]
        self.control = f"http://127.0.0.1:{control}"

    def be_there(self, is_there):
        told = json.dumps({"buckets": [BUCKET] if is_there else []}).encode()
        urllib.request.urlopen(urllib.request.Request(self.control, told), timeout=60).close()


@contextmanager
def bucket_server():
    with subprocess.Popen([sys.executable, "-B", S3_SERVER], stdout=subprocess.PIPE, text=True) as server:
        try:
            yield Bucket(*server.stdout.readline().split())
        finally:
            server.kill()
