"""Functions Framework hands over a Flask request; the rest of the house knows only `shared.http`."""

from __future__ import annotations

from collections.abc import Callable

import flask
from werkzeug.exceptions import ClientDisconnected

from shared.http import Handler, Request, Response

_CHUNK_BYTES = 65536


def entry_point(handle: Handler) -> Callable[[flask.Request], flask.Response]:
    """A plain function, as Functions Framework wants it, that answers every path and method with `handle`."""

    def function(request: flask.Request) -> flask.Response:
        answer = handle(_request(request))
        return _response(answer)

    return function


def _request(request: flask.Request) -> Request:
    length = request.content_length

    def read_body(limit_bytes: int) -> bytes | None:
        if length is not None and length > limit_bytes:
            return None
        try:
            data = request.stream.read(limit_bytes + 1)
        except ClientDisconnected:
            return b""
        return None if len(data) > limit_bytes else data

    return Request(
        method=request.method,
        path=request.path,
        headers={name.lower(): value for name, value in request.headers.items()},
        query=request.args.to_dict(flat=False),
        read_body=read_body,
    )


def _response(answer: Response) -> flask.Response:
    response = flask.Response(answer.body, status=answer.status)
    response.headers.clear()
    response.headers.extend(dict(answer.headers))
    return response
