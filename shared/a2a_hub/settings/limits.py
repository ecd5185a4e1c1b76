"""The settings of a process's limits."""

from a2a_hub.http.admission import Limits
from a2a_hub.settings.reader import Settings

_MEBIBYTE = 1 << 20


def read(settings: Settings) -> Limits:
    """Return the limits in the settings of a function on the event loop."""

    def whole(name: str, default: int, *, most: int, least: int = 1) -> int:
        return int(settings.number(name, default, least=least, most=most))

    default = Limits()
    return Limits(
        threads=whole("THREADS", default.threads, most=1000),
        requests=whole("MAX_REQUESTS", default.requests, most=100_000),
        turns=whole("MAX_TURNS", default.turns, most=100_000),
        streams=whole("MAX_STREAMS", default.streams, most=100_000),
        caller_streams=whole("MAX_STREAMS_PER_CALLER", default.caller_streams, most=100_000),
        body_bytes=whole("MAX_BODY_BYTES", default.body_bytes, least=1024, most=32 * _MEBIBYTE),
        held_bytes=whole("MAX_HELD_MEBIBYTES", default.held_bytes // _MEBIBYTE, most=32_768) * _MEBIBYTE,
    )
