"""The server's certificate: errors for files that cannot be used, and renewal while the server runs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import serialization

from gmd.config import Config, ConfigError
from gmd.daemon import open_daemon
from gmd.net.tls import certificate_of
from tests.tls import Certificates, make_certificates, tls_connected, tls_daemon


def complaint(cert: Path | str, key: Path | str) -> str:
    with pytest.raises(ConfigError) as caught:
        certificate_of(str(cert), str(key))
    return str(caught.value)


def encrypted(key: Path, to: Path) -> Path:
    """Return the same key, encrypted with a passphrase."""
    loaded = serialization.load_pem_private_key(key.read_bytes(), None)
    to.write_bytes(
        loaded.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.BestAvailableEncryption(b"secret"),
        )
    )
    return to


def test_no_tls_without_both_settings() -> None:
    assert certificate_of("", "") is None


def test_each_setting_needs_the_other(certificates: Certificates) -> None:
    assert complaint(certificates.cert, "") == f"tls_cert: '{certificates.cert}' goes with tls_key, which is not given"
    assert complaint("", certificates.key) == f"tls_key: '{certificates.key}' goes with tls_cert, which is not given"


def test_unreadable_file_is_named_with_its_setting(certificates: Certificates, tmp_path: Path) -> None:
    _, cert, key = certificates
    assert complaint("no.pem", key) == "tls_cert: no.pem cannot be read: No such file or directory"
    assert complaint(cert, "no.pem") == "tls_key: no.pem cannot be read: No such file or directory"
    assert complaint(tmp_path, key) == f"tls_cert: {tmp_path} cannot be read: Is a directory"
    assert complaint("a\0b", key) == "tls_cert: a\0b cannot be read: embedded null byte"


@pytest.mark.parametrize("text", ["", "nonsense", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
def test_file_without_pem_is_named_with_its_setting(text: str, certificates: Certificates, tmp_path: Path) -> None:
    _, cert, key = certificates
    other = tmp_path / "other.pem"
    other.write_text(text, "utf-8")
    assert complaint(other, key) == f"tls_cert: {other} holds no certificate in PEM"
    assert complaint(cert, other) == f"tls_key: {other} holds no private key in PEM"


def test_swapped_files_are_reported(certificates: Certificates) -> None:
    _, cert, key = certificates
    assert complaint(key, cert) == f"tls_cert: {key} holds no certificate in PEM"
    assert complaint(cert, cert) == f"tls_key: {cert} holds no private key in PEM"


def test_key_of_another_certificate_is_reported(certificates: Certificates, tmp_path: Path) -> None:
    other = make_certificates(tmp_path)
    said = complaint(certificates.cert, other.key)
    assert said == f"tls_key: {other.key} is not the key of the certificate in {certificates.cert}"


def test_encrypted_key_is_refused_without_a_passphrase_prompt(certificates: Certificates, tmp_path: Path) -> None:
    key = encrypted(certificates.key, tmp_path / "key.pem")
    said = complaint(certificates.cert, key)
    assert said == f"tls_key: {key} is encrypted; a daemon needs a key without a passphrase"


def test_certificate_and_key_may_be_in_one_file(certificates: Certificates, tmp_path: Path) -> None:
    both = tmp_path / "both.pem"
    both.write_bytes(certificates.key.read_bytes() + certificates.cert.read_bytes())
    assert certificate_of(str(both), str(both)) is not None


async def test_daemon_does_not_start_with_an_unusable_certificate(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"^tls_cert: none\.pem cannot be read: "):
        async with open_daemon(Config(data=str(tmp_path / "data"), tls_cert="none.pem", tls_key="none.pem")):
            pass
    assert not (tmp_path / "data").exists()


def copy(certificates: Certificates, to: Path) -> Certificates:
    to.mkdir(exist_ok=True)
    for file in certificates:
        shutil.copy(file, to)
    return Certificates(*(to / file.name for file in certificates))


async def test_renewed_certificate_serves_new_connections_and_old_ones_continue(
    certificates: Certificates, tmp_path: Path
) -> None:
    old = copy(certificates, tmp_path / "used")
    async with tls_daemon(old) as daemon, tls_connected(daemon, certificates) as before:
        assert daemon.certificate is not None
        new = copy(make_certificates(tmp_path / "new"), tmp_path / "used")
        async with tls_connected(daemon, certificates) as still_old:
            assert await still_old.ask("ping") == {"error": None}
        daemon.certificate.reload()
        async with tls_connected(daemon, new) as after:
            assert await after.ask("ping") == {"error": None}
        assert await before.ask("ping") == {"error": None}


async def test_failed_renewal_changes_nothing(certificates: Certificates, tmp_path: Path) -> None:
    used = copy(certificates, tmp_path / "used")
    async with tls_daemon(used) as daemon:
        assert daemon.certificate is not None
        shutil.copy(make_certificates(tmp_path / "new").cert, used.cert)
        with pytest.raises(ConfigError, match=r" is not the key of the certificate in "):
            daemon.certificate.reload()
        used.key.unlink()
        with pytest.raises(ConfigError, match=r"^tls_key: .* cannot be read: No such file or directory$"):
            daemon.certificate.reload()
        async with tls_connected(daemon, certificates) as client:
            assert await client.ask("ping") == {"error": None}
