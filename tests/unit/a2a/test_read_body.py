"""Faults of a request's body become errors of the protocol."""

import pytest

from a2a_hub.a2a.error_response import read_body
from a2a_hub.a2a.errors import A2AError
from a2a_hub.http.messages import BodyError, BodyFault, Request, body_of


def _refusal(fault: BodyFault) -> A2AError:
    def read(limit_bytes: int) -> bytes:
        raise BodyError(fault)

    with pytest.raises(A2AError) as refused:
        read_body(Request(method="POST", path="/", read_body=read), 10)
    return refused.value


@pytest.mark.parametrize(
    ("fault", "status"), [(BodyFault.BROKEN, 400), (BodyFault.TOO_SLOW, 408), (BodyFault.COMPRESSED, 415)]
)
def test_a_body_that_cannot_be_read_has_a_status_of_its_own(fault: BodyFault, status: int) -> None:
    assert _refusal(fault).kind.http_status == status


def test_a_compressed_body_is_refused_with_the_encoding_that_is_read() -> None:
    assert _refusal(BodyFault.COMPRESSED).headers == {"accept-encoding": "identity"}


def test_a_body_over_the_limit_is_refused_with_the_limit() -> None:
    request = Request(method="POST", path="/", read_body=body_of(b"12345"))
    assert read_body(request, 5) == b"12345"
    with pytest.raises(A2AError, match="larger than 4 bytes") as refused:
        read_body(request, 4)
    assert refused.value.kind.http_status == 413
