"""Requests and event streams over HTTP."""

from __future__ import annotations

import json
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Dict, Generator, Mapping, Optional, Type, TypeVar
from urllib.parse import quote

import httpx

Self = TypeVar("Self", bound="Service")


class RunplaneError(Exception):
    """The service refused a call, or failed: its status, its code, and its words."""

    def __init__(self, status: int, body: Any) -> None:
        fields: Mapping[str, Any] = body if isinstance(body, dict) else {}
        message = fields.get("message", f"the service answered {status}")
        super().__init__("; ".join(map(str, message)) if isinstance(message, list) else str(message))
        self.status = status
        self.error_code: Optional[str] = fields.get("errorCode")
        self.body = body


@dataclass(frozen=True)
class StreamMessage:
    """One message of an event stream."""

    event: str
    id: Optional[str]
    data: Any


class Service:
    """A service at an address. `http` is a client of your own, with proxies or certificates, which stays open."""

    def __init__(
        self,
        base_url: str,
        *,
        api_key: Optional[str] = None,
        timeout: float = 90.0,
        http: Optional[httpx.Client] = None,
    ) -> None:
        self._base_url = base_url.rstrip("/")
        # The control plane reads a key from both headers, the launch service from the second.
        self._headers: Dict[str, str] = (
            {} if api_key is None else {"authorization": f"Bearer {api_key}", "x-api-key": api_key}
        )
        self._owned = http is None
        self._http = httpx.Client(timeout=timeout) if http is None else http

    def close(self) -> None:
        if self._owned:
            self._http.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self, kind: Optional[Type[BaseException]], error: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self.close()

    def _request(
        self,
        method: str,
        path: str,
        accept: str,
        *,
        query: Optional[Mapping[str, Any]],
        headers: Optional[Mapping[str, Any]],
        body: Any,
        parameters: Optional[Mapping[str, Any]],
    ) -> httpx.Request:
        filled = path
        for name, value in (parameters or {}).items():
            filled = filled.replace("{" + name + "}", quote(str(value), safe=""))
        return self._http.build_request(
            method,
            self._base_url + filled,
            params={name: _query_text(value) for name, value in (query or {}).items() if value is not None},
            headers={
                **self._headers,
                "accept": accept,
                **{name: _query_text(value) for name, value in (headers or {}).items() if value is not None},
            },
            json=body,
        )

    def _send(
        self,
        method: str,
        path_of: str,
        accept: str,
        *,
        path: Optional[Mapping[str, Any]] = None,
        query: Optional[Mapping[str, Any]] = None,
        headers: Optional[Mapping[str, Any]] = None,
        body: Any = None,
    ) -> httpx.Response:
        request = self._request(method, path_of, accept, query=query, headers=headers, body=body, parameters=path)
        return _accepted(self._http.send(request))

    def _json(self, method: str, path_of: str, **given: Any) -> Any:
        response = self._send(method, path_of, "application/json", **given)
        return response.json() if response.content else None

    def _text(self, method: str, path_of: str, **given: Any) -> str:
        return self._send(method, path_of, "*/*", **given).text

    def _bytes(self, method: str, path_of: str, **given: Any) -> bytes:
        return self._send(method, path_of, "*/*", **given).content

    def _nothing(self, method: str, path_of: str, **given: Any) -> None:
        self._send(method, path_of, "*/*", **given)

    def _opened(self, method: str, path_of: str, accept: str, **given: Any) -> httpx.Response:
        request = self._request(
            method,
            path_of,
            accept,
            parameters=given.get("path"),
            query=given.get("query"),
            headers=given.get("headers"),
            body=given.get("body"),
        )
        return _accepted(self._http.send(request, stream=True))

    def _lines(self, method: str, path_of: str, **given: Any) -> Generator[Any, None, None]:
        response = self._opened(method, path_of, "application/x-ndjson", **given)
        try:
            for line in response.iter_lines():
                if line != "":
                    yield json.loads(line)
        finally:
            response.close()

    def _events(self, method: str, path_of: str, **given: Any) -> Generator[StreamMessage, None, None]:
        response = self._opened(method, path_of, "text/event-stream", **given)
        try:
            fields: Dict[str, str] = {}
            for line in response.iter_lines():
                if line == "":
                    if "data" in fields:
                        yield StreamMessage(
                            fields.get("event", "message"), fields.get("id"), json.loads(fields["data"])
                        )
                    fields = {}
                elif not line.startswith(":"):
                    name, _, value = line.partition(":")
                    text = value[1:] if value.startswith(" ") else value
                    fields[name] = f"{fields['data']}\n{text}" if name == "data" and "data" in fields else text
        finally:
            response.close()


def _query_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, (str, int, float)) else ",".join(map(str, value))


def _accepted(response: httpx.Response) -> httpx.Response:
    if response.is_success:
        return response
    try:
        response.read()
        try:
            body = response.json()
        except ValueError:
            body = response.text
        raise RunplaneError(response.status_code, body)
    finally:
        response.close()
