"""Certificates, and credentials of NATS accounts, for a nats-server that a test starts. Made with the program openssl."""

import base64
import binascii
import json
import pathlib
import subprocess
import time


def openssl(*words, **more):
    done = subprocess.run(["openssl", *[str(word) for word in words]], capture_output=True, check=False, **more)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


class Authority:
    """A certificate authority of the test's own."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.key = self.folder / "authority.key"
        self.ca = self.folder / "authority.pem"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                self.key, "-out", self.ca, "-days", 2, "-subj", "/CN=authority")

    def sign(self, name, names):
        """A certificate for these names (DNS:…, IP:…) and its key."""
        request, extension, cert, key = (self.folder / f"{name}.{end}" for end in ("csr", "ext", "pem", "key"))
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key, "-out",
                request, "-subj", f"/CN={name}")
        extension.write_text(f"subjectAltName={names}\n")
        openssl("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self.key, "-CAcreateserial", "-days", 2,
                "-extfile", extension, "-out", cert)
        return cert, key


class Key:
    """A key of NATS (Ed25519): of an operator, an account or a user."""

    PREFIXES = {"O": 14 << 3, "A": 0, "U": 20 << 3}
    SEED = 18 << 3

    def __init__(self, folder, kind):
        self.file = pathlib.Path(folder) / f"{kind}-{time.monotonic_ns()}.key"
        openssl("genpkey", "-algorithm", "ed25519", "-out", self.file)
        secret = openssl("pkey", "-in", self.file, "-outform", "DER")[-32:]
        public = openssl("pkey", "-in", self.file, "-pubout", "-outform", "DER")[-32:]
        prefix = self.PREFIXES[kind]
        self.name = self.encode(bytes([prefix]) + public)
        self.seed = self.encode(bytes([self.SEED | (prefix >> 5), (prefix & 31) << 3]) + secret)

    @staticmethod
    def encode(data):
        check = binascii.crc_hqx(data, 0)  # CRC-16 of XMODEM
        return base64.b32encode(data + check.to_bytes(2, "little")).decode().rstrip("=")

    def token(self, name, subject, claims):
        """A JWT that this key signs."""
        def part(data):
            return base64.urlsafe_b64encode(data).decode().rstrip("=")
        body = {"jti": f"{name}-{time.monotonic_ns()}", "iat": int(time.time()) - 60, "iss": self.name, "name": name,
                "sub": subject, "nats": {"version": 2, **claims}}
        text = part(json.dumps({"typ": "JWT", "alg": "ed25519-nkey"}).encode()) + "." + part(json.dumps(body).encode())
        message = self.file.with_suffix(".message")
        message.write_text(text)
        return text + "." + part(openssl("pkeyutl", "-sign", "-rawin", "-inkey", self.file, "-in", message))


class Accounts:
    """An operator with one account that may use JetStream: a configuration for nats-server, and files for users."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        operator, system, self.account = (Key(folder, kind) for kind in "OAA")
        limits = {"subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": True, "conn": -1,
                  "leaf": -1}
        storage = {"mem_storage": -1, "disk_storage": -1, "streams": -1, "consumer": -1}
        self.config = self.folder / "accounts.conf"
        said = operator.token("operator", operator.name, {"type": "operator", "system_account": system.name})
        known = {key.name: operator.token(name, key.name, {"type": "account", "limits": {**limits, **more}})
                 for name, key, more in (("system", system, {}), ("crawls", self.account, storage))}
        self.config.write_text(f"operator: {said}\nsystem_account: {system.name}\nresolver: MEMORY\nresolver_preload: "
                               + "{\n" + "".join(f"  {name}: {token}\n" for name, token in known.items()) + "}\n")

    def user(self, name, signed_by=None):
        """A file of credentials. A user that another account signs is none of this server's."""
        key = Key(self.folder, "U")
        token = (signed_by or self.account).token(name, key.name, {"type": "user", "subs": -1, "data": -1,
                                                                   "payload": -1})
        file = self.folder / f"{name}.creds"
        file.write_text(f"-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n"
                        f"-----BEGIN USER NKEY SEED-----\n{key.seed}\n------END USER NKEY SEED------\n")
        return file
