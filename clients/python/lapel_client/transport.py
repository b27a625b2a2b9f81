"""Requests: access tokens, repetition, pages. It needs the standard library only."""

import base64
import json
import re
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import Any, Callable, Dict, Iterator, Mapping, NamedTuple, Optional, Tuple

from .errors import LapelError

# Seconds.
_FIRST_PAUSE, _LONGEST_PAUSE, _LONGEST_RETRY_AFTER, _TOKEN_MARGIN = 0.2, 10.0, 10, 60
# Statuses that guarantee that the request was not carried out, and those after which a repeatable one is sent again.
_NOT_DONE, _PASSING = (429, 503), (502, 504)
_STILL_RUNNING = "IDEMPOTENCY_KEY_RUNNING"
_MEMBER_TOKEN = "lapeldev_"
_NEXT = re.compile(r'<([^>]*)>; ?rel="next"')


class Answer(NamedTuple):
    body: Any
    #: The query of the next page; None at the last one.
    next: Optional[Dict[str, Any]]


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None  # the token belongs to this service only


def plain(value: Any) -> Any:
    """A value as JSON: objects of this package become dicts."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {name: plain(one) for name, one in value.items()}
    return [plain(one) for one in value] if isinstance(value, (list, tuple)) else value


class Transport:
    """Sends requests of an application. It may be used by several threads."""

    def __init__(
        self,
        base_url: str,
        application_id: str,
        secret: str,
        *,
        scope: str,
        attempts: int = 4,
        timeout: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._base = base_url.rstrip("/")
        self._application_id, self._secret, self._scope = application_id, secret, scope
        self._attempts, self._timeout, self._sleep = attempts, timeout, sleep
        self._opener = urllib.request.build_opener(_NoRedirect)
        self._lock = threading.Lock()
        self._token: Optional[Tuple[str, float]] = None

    def call(
        self,
        method: str,
        path: str,
        params: Mapping[str, Any],
        *,
        query: Any = None,
        body: Any = None,
        repeatable: bool = False,
        idempotency_key: Optional[str] = None,
        if_match: Optional[str] = None,
    ) -> Answer:
        """Sends a request of an operation, with a token. Raises LapelError, or OSError when nobody answers."""
        values = {"applicationId": self._application_id, **params}
        filled = re.sub(r"\{(\w+)\}", lambda name: urllib.parse.quote(str(values[name[1]]), safe=""), path)
        headers = {}
        if repeatable:
            headers["Idempotency-Key"] = idempotency_key or str(uuid.uuid4())
        if if_match is not None:
            headers["If-Match"] = if_match
        known = plain(query) or {}
        asked = urllib.parse.urlencode({name: one for name, one in known.items() if one is not None}, doseq=True)
        data = None if body is None else json.dumps(plain(body)).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        again = repeatable or method != "POST"
        token = self._authorization()
        try:
            return self._send(method, filled, asked, data, {**headers, "Authorization": token}, again)
        except LapelError as error:
            if error.status != 401:
                raise
            with self._lock:  # a token may end early, so the call is repeated once with a new one
                if self._token is not None and self._token[0] == token:
                    self._token = None
            return self._send(method, filled, asked, data, {**headers, "Authorization": self._authorization()}, again)

    def pages(self, call: Callable[[Any], Tuple[Any, Answer]], query: Any) -> Iterator[Any]:
        """All pages of a list, each when it is needed."""
        more: Any = query
        while True:
            page, answer = call(more)
            yield page
            if answer.next is None:
                return
            more = answer.next

    def _authorization(self) -> str:
        if self._secret.startswith(_MEMBER_TOKEN):
            return f"Bearer {self._secret}"
        with self._lock:
            if self._token is None or time.monotonic() >= self._token[1]:
                self._token = self._authenticate()
            return self._token[0]

    def _authenticate(self) -> Tuple[str, float]:
        parts = [urllib.parse.quote(part, safe="") for part in (self._application_id, self._secret)]
        headers = {
            "Authorization": "Basic " + base64.b64encode(":".join(parts).encode()).decode(),
            "Content-Type": "application/x-www-form-urlencoded",
        }
        form = urllib.parse.urlencode({"grant_type": "client_credentials", "scope": self._scope}).encode()
        answer = self._send("POST", "/api/v1/authenticate", "", form, headers, True).body
        life = answer.get("expires_in", 3600)
        return f"Bearer {answer['access_token']}", time.monotonic() + max(life - _TOKEN_MARGIN, life / 2)

    def _send(
        self, method: str, path: str, query: str, data: Optional[bytes], headers: Mapping[str, str], repeatable: bool
    ) -> Answer:
        url = self._base + path + (f"?{query}" if query else "")
        for attempt in range(1, self._attempts + 1):
            wait = min(_FIRST_PAUSE * 2 ** (attempt - 1), _LONGEST_PAUSE)
            request = urllib.request.Request(url, data, {"Accept": "application/json", **headers}, method=method)
            try:
                with self._opener.open(request, timeout=self._timeout) as response:
                    return _answer(method, path, response.status, response.read(), response.headers)
            except urllib.error.HTTPError as refused:
                error = LapelError(f"{method} {path}", refused.code, _json(refused.read()), refused.headers)
                pause = error.retry_after or 0
                if attempt == self._attempts or not _may_pass(error, repeatable) or pause > _LONGEST_RETRY_AFTER:
                    raise error from None
                wait = max(wait, pause)
            except OSError:
                if attempt == self._attempts or not repeatable:
                    raise
            self._sleep(wait)
        raise AssertionError("unreachable: the last attempt returns or raises")


def _may_pass(error: LapelError, repeatable: bool) -> bool:
    if error.status in _NOT_DONE:
        return True
    return repeatable and (error.status in _PASSING or error.code == _STILL_RUNNING)


def _json(text: bytes) -> Any:
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text.decode("utf-8", "replace")


def _answer(method: str, path: str, status: int, text: bytes, headers: Any) -> Answer:
    body = _json(text)
    if isinstance(body, str):
        raise LapelError(f"{method} {path}", status, body, headers)
    found = _NEXT.search(headers.get("Link", ""))
    target = urllib.parse.urlsplit(found[1]).query if found else None
    return Answer(body, None if target is None else urllib.parse.parse_qs(target))
