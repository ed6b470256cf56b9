"""A Postfix of a test's own, from Debian's package: TLS, AUTH, and mailboxes in a private directory, on free ports.

Nothing of the system's Postfix is used but its programs and its users; it need not be configured or running.
"""

import os
import pwd
import re
import shutil
import signal
import subprocess
import threading

from received_mail import ReceivedMail
from waiting import PATIENCE_SECONDS, await_listener, eventually, free_port

USER, PASSWORD, REALM = "postino", "correct horse battery", "mail.example"
DOMAIN = "customer.example"  # that it has mailboxes for; all other recipients are unknown, which it finds out late

MAIN = """
compatibility_level = 3.6
queue_directory = {directory}/queue
data_directory = {directory}/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
maillog_file = {directory}/log/mail.log
maillog_file_prefixes = {directory}
myhostname = mail.example
mydestination =
mynetworks =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
smtpd_peername_lookup = no
alias_maps =
alias_database =
local_recipient_maps =
biff = no
in_flow_delay = 0
default_transport = unknown

virtual_mailbox_domains = {domain}
virtual_mailbox_base = {directory}/mail
virtual_mailbox_maps = static:inbox/
virtual_uid_maps = static:{uid}
virtual_gid_maps = static:{gid}

smtpd_tls_cert_file = {certificate}
smtpd_tls_key_file = {key}
smtpd_tls_security_level = encrypt
smtpd_tls_received_header = yes
smtpd_sasl_auth_enable = yes
smtpd_sasl_authenticated_header = yes
smtpd_sasl_local_domain = {realm}
smtpd_sasl_path = smtpd
cyrus_sasl_config_path = {directory}/etc/sasl
smtpd_relay_restrictions = permit_sasl_authenticated, reject
smtpd_recipient_restrictions = permit_sasl_authenticated, reject
"""

MASTER = """
127.0.0.1:{submission} inet n - n - - smtpd
127.0.0.1:{smtps} inet n - n - - smtpd -o smtpd_tls_wrappermode=yes
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
tlsmgr unix - - n 1000? 1 tlsmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
proxymap unix - - n - - proxymap
error unix - - n - - error
retry unix - - n - - error
virtual unix - n n - - virtual
unknown unix - n n - - pipe user=nobody argv=/bin/sh -c {{exit 67}}
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
"""

SASL = """
pwcheck_method: auxprop
auxprop_plugin: sasldb
sasldb_path: {directory}/etc/sasl/sasldb2
mech_list: PLAIN LOGIN
"""


def _head(content):
    return content.partition(b"\n\n")[0].decode()


class Postfix:
    def __init__(self, directory, certificate, key):
        self.directory = directory
        self.submission, self.smtps = free_port(), free_port()
        self._configure(certificate, key)
        # A script that lasts as long as Postfix's master does, and tells what it dislikes.
        self.process = subprocess.Popen(
            ["/usr/sbin/postfix", "-c", str(directory / "etc"), "start-fg"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._complaints = []
        self._reader = threading.Thread(target=lambda: self._complaints.extend(self.process.stderr), daemon=True)
        self._reader.start()
        try:
            for port in (self.submission, self.smtps):
                await_listener(port)
        except AssertionError as error:
            self.stop()
            raise AssertionError(f"{error}\n{''.join(self._complaints)}\n{self.log()}") from None

    def _configure(self, certificate, key):
        for name in ("etc", "etc/sasl", "queue", "data", "mail", "log"):
            (self.directory / name).mkdir()
        postfix, nobody = pwd.getpwnam("postfix"), pwd.getpwnam("nobody")
        for name in ("data", "log"):
            os.chown(self.directory / name, postfix.pw_uid, postfix.pw_gid)
        os.chown(self.directory / "mail", nobody.pw_uid, nobody.pw_gid)
        values = {
            "directory": self.directory,
            "domain": DOMAIN,
            "uid": nobody.pw_uid,
            "gid": nobody.pw_gid,
            "certificate": certificate,
            "key": key,
            "realm": REALM,
            "submission": self.submission,
            "smtps": self.smtps,
        }
        (self.directory / "etc" / "main.cf").write_text(MAIN.format(**values))
        (self.directory / "etc" / "master.cf").write_text(MASTER.format(**values))
        (self.directory / "etc" / "sasl" / "smtpd.conf").write_text(SASL.format(**values))
        users = self.directory / "etc" / "sasl" / "sasldb2"
        command = ["/usr/sbin/saslpasswd2", "-p", "-c", "-f", str(users), "-u", REALM, USER]
        subprocess.run(command, input=PASSWORD, text=True, check=True, capture_output=True)
        shutil.chown(users, user="postfix")

    def log(self):
        file = self.directory / "log" / "mail.log"
        return file.read_text() if file.exists() else ""

    def _contents(self):
        new = self.directory / "mail" / "inbox" / "new"
        return [file.read_bytes() for file in new.iterdir()] if new.exists() else []

    def _await(self, choose, what):
        return eventually(lambda: [content for content in self._contents() if choose(content)], what)

    def await_mail(self, identifier):
        """The copies of an e-mail that are in the mailbox, as soon as there is one."""
        own = re.compile(rf"^Message-ID: <{identifier}@", re.MULTILINE)
        copies = self._await(lambda content: own.search(_head(content)), f"e-mail {identifier} in Postfix's mailbox")
        return [ReceivedMail(None, [], content) for content in copies]

    def await_report(self, identifier):
        """The delivery report about an e-mail, as it came."""

        def is_report(content):
            return "report-type=delivery-status" in _head(content) and identifier.encode() in content

        (report,) = self._await(is_report, f"a report about {identifier}")
        return report

    def stop(self):
        """The master ends its children."""
        pid = self.directory / "queue" / "pid" / "master.pid"
        if pid.exists():
            os.kill(int(pid.read_text()), signal.SIGTERM)
        self.process.wait(PATIENCE_SECONDS)
        self._reader.join()
        self.process.stderr.close()
