"""The verification of webhooks (Standard Webhooks). It needs the standard library only, except for v1a."""

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from typing import Any, Callable, Iterable, Mapping, Union

TOLERANCE = 300


class WebhookError(Exception):
    """The webhook is not genuine, or too old."""


def verify(
    headers: Mapping[str, str],
    body: bytes,
    keys: Union[str, Iterable[str]],
    *,
    tolerance: int = TOLERANCE,
    now: Callable[[], float] = time.time,
) -> Any:
    """Verifies a webhook, and returns its event.

    ``body`` is what was received, before anything has parsed it. ``keys`` are authenticationKeys (``whsec_...``), or public
    keys of ed25519 (``whpk_...``), which need the package ``cryptography``. One signature by one of them is enough. Raises
    WebhookError; ValueError for a key of another form.
    """
    found = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp = found.get("webhook-id", ""), found.get("webhook-timestamp", "")
    if not message_id or not re.fullmatch("[0-9]{1,12}", timestamp):
        raise WebhookError("the webhook has no id, or no time")
    if abs(now() - int(timestamp)) > tolerance:
        raise WebhookError("the webhook is too old, or a clock is wrong")
    signed = f"{message_id}.{timestamp}.".encode() + body
    signatures = found.get("webhook-signature", "").split(" ")
    for key in [keys] if isinstance(keys, str) else keys:
        matches = _public(key) if key.startswith("whpk_") else _secret(key)
        if any(matches(one, signed) for one in signatures):
            return json.loads(body)
    raise WebhookError("no key has signed the webhook")


def _decoded(key: str, prefix: str) -> bytes:
    try:
        return base64.b64decode(key[len(prefix) :] if key.startswith(prefix) else key, validate=True)
    except binascii.Error as error:
        raise ValueError(f"the key is no base64 after {prefix}") from error


def _secret(key: str) -> Callable[[str, bytes], bool]:
    secret = _decoded(key, "whsec_")
    if not secret:
        raise ValueError("the key is empty")  # anybody could sign with it

    def matches(signature: str, signed: bytes) -> bool:
        expected = "v1," + base64.b64encode(hmac.new(secret, signed, hashlib.sha256).digest()).decode()
        return hmac.compare_digest(expected.encode(), signature.encode())

    return matches


def _public(key: str) -> Callable[[str, bytes], bool]:
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError as error:
        raise ValueError("signatures of ed25519 (v1a) need the package cryptography") from error
    public = Ed25519PublicKey.from_public_bytes(_decoded(key, "whpk_"))

    def matches(signature: str, signed: bytes) -> bool:
        try:
            public.verify(base64.b64decode(signature[4:], validate=True), signed)
        except (InvalidSignature, binascii.Error, ValueError):
            return False
        return signature.startswith("v1a,")

    return matches
