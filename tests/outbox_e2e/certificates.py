"""Certificates made for one run: an authority, and what it signs."""

import subprocess


def _openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True)


class Authority:
    def __init__(self, directory):
        directory.mkdir()
        self.directory = directory
        self.certificate, self._key = directory / "authority.pem", directory / "authority.key"
        _openssl(
            *("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"),
            *("-subj", "/CN=An authority of this run", "-addext", "keyUsage=critical,keyCertSign,cRLSign"),
            *("-out", self.certificate, "-keyout", self._key),
        )

    def issue(self, name, subject_alternatives="DNS:localhost,IP:127.0.0.1"):
        """A certificate for a server, and its key."""
        certificate, key, request = (self.directory / f"{name}.{ending}" for ending in ("pem", "key", "csr"))
        extensions = self.directory / f"{name}.ext"
        extensions.write_text(f"subjectAltName={subject_alternatives}\nextendedKeyUsage=serverAuth\n")
        _openssl(
            *("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"),
            *("-subj", f"/CN={name}", "-out", request, "-keyout", key),
        )
        _openssl(
            *("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self._key, "-CAcreateserial"),
            *("-days", "2", "-extfile", extensions, "-out", certificate),
        )
        return certificate, key
