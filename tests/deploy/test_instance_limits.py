"""What Cloud Run refuses to give an instance is told before anything is built."""

import pytest

from tests.deploy.test_config import SMALLEST, load, mistakes

TOO_MUCH = {
    ("1", "8Gi"): 'memory is 8Gi: with cpu = "1" it must be 128Mi to 4Gi',
    ("2", "9Gi"): 'memory is 9Gi: with cpu = "2" it must be 128Mi to 8Gi',
    ("4", "512Mi"): 'memory is 512Mi: with cpu = "4" it must be 2Gi to 16Gi',
    ("6", "25Gi"): 'memory is 25Gi: with cpu = "6" it must be 4Gi to 24Gi',
    ("8", "2Gi"): 'memory is 2Gi: with cpu = "8" it must be 4Gi to 32Gi',
    ("0.5", "2Gi"): 'memory is 2Gi: with cpu = "0.5" it must be 128Mi to 1Gi',
    ("0.4", "1Gi"): 'memory is 1Gi: with cpu = "0.4" it must be 128Mi to 512Mi',
}
ENOUGH = [
    ("1", "4Gi"),
    ("2", "128Mi"),
    ("4", "2Gi"),
    ("6", "24Gi"),
    ("8", "32Gi"),
    ("0.5", "1Gi"),
    ("0.08", "512Mi"),
]


def instance(cpu: str, memory: str) -> str:
    return SMALLEST + f'[functions.general]\ncpu = "{cpu}"\nmemory = "{memory}"\nconcurrency = 1\n'


@pytest.mark.parametrize(("cpu", "memory"), TOO_MUCH)
def test_memory_that_does_not_go_with_the_cpus_is_a_mistake(cpu: str, memory: str) -> None:
    assert mistakes(instance(cpu, memory)) == [f"deploy.toml:8: {TOO_MUCH[cpu, memory]}"]


@pytest.mark.parametrize(("cpu", "memory"), ENOUGH)
def test_memory_that_goes_with_the_cpus_is_taken(cpu: str, memory: str) -> None:
    resources = load(instance(cpu, memory)).functions["general"].resources
    assert (resources.cpu, resources.memory) == (cpu, memory)


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
