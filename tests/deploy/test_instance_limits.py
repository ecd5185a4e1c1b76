"""Instances that do not suit their function are reported before anything is built."""

import pytest

from tests.deploy.test_config import SMALLEST, load, mistakes


def instance(cpu: str, memory: str) -> str:
    return SMALLEST + f'[functions.general]\ncpu = "{cpu}"\nmemory = "{memory}"\nconcurrency = 1\n'


@pytest.mark.parametrize("cpu", ["3", "5", "7", "9", "16", "0.07", "0", "1.5"])
def test_a_number_of_cpus_that_there_is_not_is_a_mistake(cpu: str) -> None:
    (told,) = mistakes(instance(cpu, "512Mi"))
    assert told.startswith(f"deploy.toml:7: cpu is '{cpu}': it must be a number of CPUs in quotes")


def test_what_works_between_requests_has_a_whole_cpu() -> None:
    small = '[defaults]\ncpu = "0.5"\nconcurrency = 1\n'
    load(SMALLEST + small)
    load(SMALLEST + small + '[functions.hub.environment]\nTASK_STORE = "firestore"\n')
    told = mistakes(SMALLEST + small + '[functions.devtool]\nproject = "my-workspace-project"\n')
    assert [line.partition(": ")[2].partition(",")[0] for line in told] == ["devtool works between requests"]


def test_a_bucket_is_mounted_by_an_instance_that_can() -> None:
    bucket = '[functions.docqa]\ncorpus_bucket = "documents"\nmemory = "256Mi"\n'
    assert mistakes(SMALLEST + bucket) == [
        'deploy.toml:8: a bucket is mounted with 512Mi of memory or more, and cpu = "1" or more'
    ]
    searched = '[functions.docqa.environment]\nDISCOVERY_ENGINE_DATA_STORE = "documents"\n'
    load(SMALLEST + bucket + searched)
    for malformed in ("512MB", "lots", "1G"):
        told = mistakes(SMALLEST + bucket.replace("256Mi", malformed))
        assert told == [f"deploy.toml:8: memory is '{malformed}': it must be an amount of memory, such as 512Mi"]
