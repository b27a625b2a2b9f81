"""The error of an answer."""

from typing import Any, List, NamedTuple, Optional


class Fault(NamedTuple):
    """One fault of an input: its place, a message, and its type."""

    loc: List[str]
    msg: str
    type: str


class LapelError(Exception):
    """An error answer of the service, or an answer that is not from this service at all."""

    def __init__(self, request: str, status: int, body: Any, headers: Any) -> None:
        members = body if isinstance(body, dict) else {}
        words = [members.get(name) for name in ("reason", "message", "error_description", "error")]
        reason = next((text for text in words if isinstance(text, str)), "the answer does not come from this service")
        super().__init__(f"{request}: {status} {reason}")
        details = members.get("details", members.get("detail"))
        rows = [one for one in details if isinstance(one, dict)] if isinstance(details, list) else []
        wait = headers.get("Retry-After", "")
        #: Method and path, such as ``GET /v1/applications/patrol``.
        self.request = request
        self.status = status
        #: The code of the service's table of errors, by which programs should tell errors apart; None without one.
        self.code: Optional[str] = headers.get("Lapel-Error-Code")
        self.reason = reason
        #: Every faulty field.
        self.details = [Fault([str(part) for part in row.get("loc", [])], str(row.get("msg")), str(row.get("type"))) for row in rows]
        #: The id under which the service logged the request.
        self.request_id: Optional[str] = headers.get("X-Request-Id")
        #: Seconds after which to retry, when the service says so.
        self.retry_after: Optional[int] = int(wait) if wait.isdigit() else None
