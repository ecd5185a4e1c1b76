"""What operators are told to do about a model that does not answer."""

import pytest

from a2a_hub.diagnosis.gcloud import is_command
from a2a_hub.gemini.failure import Cause, remedy
from tests.fakes.vertex import gemini


@pytest.mark.parametrize(("location", "told"), [("global", False), ("asia-northeast1", True)])
def test_used_up_capacity_asks_for_the_location_of_all_regions_only_where_it_is_another(
    location: str, told: bool
) -> None:
    told_to_do = remedy(Cause.QUOTA, gemini("http://127.0.0.1:9", location=location).settings, account=None)
    assert "Provisioned Throughput" in told_to_do
    assert not is_command(told_to_do)
    assert ("GOOGLE_CLOUD_LOCATION=global" in told_to_do) is told
