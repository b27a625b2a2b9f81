"""The client of the REST API of Lapel, and the verification of its webhooks."""

from .client import LapelClient
from .errors import Fault, LapelError
from .webhook import WebhookError, verify

__all__ = ["Fault", "LapelClient", "LapelError", "WebhookError", "verify"]
