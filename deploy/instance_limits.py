"""What Cloud Run lets one instance have: docs.cloud.google.com/run/docs/configuring/services/cpu and …/memory-limits."""

from collections.abc import Iterator

from deploy.config import FunctionConfig, Resources

_LONGEST_SECONDS = 3600
_MOST_REQUESTS = 1000
_MIB = {"Mi": 1, "Gi": 1024}
# By CPUs, in MiB; less than one CPU has rules of its own.
_LEAST_AND_MOST = {
    "1": (128, 4096),
    "2": (128, 8192),
    "4": (2048, 16384),
    "6": (4096, 24576),
    "8": (4096, 32768),
}
# Buckets are mounted by the second generation of instances alone, which starts here.
_LEAST_TO_MOUNT = 512


def problems(resources: Resources) -> Iterator[tuple[str, str]]:
    """What one instance cannot have: the key of deploy.toml, and what is wrong with it. CPU and memory are well formed."""
    if resources.threads <= resources.concurrency:
        yield (
            "threads",
            f"threads is {resources.threads}: it must be more than concurrency, {resources.concurrency}",
        )
    if resources.concurrency > _MOST_REQUESTS:
        yield (
            "concurrency",
            f"concurrency is {resources.concurrency}: Cloud Run takes {_MOST_REQUESTS} at most",
        )
    if resources.concurrency > 1 and _is_part(resources):
        yield "cpu", 'less than one CPU serves one request at a time: cpu = "1", or concurrency = 1'
    if resources.timeout_seconds > _LONGEST_SECONDS:
        yield "timeout_seconds", f"timeout_seconds can be {_LONGEST_SECONDS} at most"
    if resources.min_instances > resources.max_instances:
        yield "min_instances", "min_instances is more than max_instances"
    least, most = _least_and_most(resources.cpu)
    if not least <= _mib(resources) <= most:
        yield (
            "memory",
            f'memory is {resources.memory}: with cpu = "{resources.cpu}" it must be {_words(least)} to {_words(most)}',
        )


def problems_of_use(function: FunctionConfig) -> Iterator[tuple[str, str]]:
    """The same for what this function does with an instance."""
    resources = function.resources
    if function.works_between_requests and _is_part(resources):
        yield (
            "cpu",
            f'{function.function.name} works between requests, which takes a whole CPU: cpu = "1"',
        )
    if function.mounts and (_mib(resources) < _LEAST_TO_MOUNT or _is_part(resources)):
        yield (
            "memory",
            f'a bucket is mounted with {_words(_LEAST_TO_MOUNT)} of memory or more, and cpu = "1" or more',
        )


def _is_part(resources: Resources) -> bool:
    return resources.cpu.startswith("0.")


def _least_and_most(cpu: str) -> tuple[int, int]:
    if cpu.startswith("0."):
        return (128, 1024) if float(cpu) >= 0.5 else (128, 512)
    return _LEAST_AND_MOST[cpu]


def _mib(resources: Resources) -> int:
    return int(resources.memory[:-2]) * _MIB[resources.memory[-2:]]


def _words(mib: int) -> str:
    return f"{mib // 1024}Gi" if mib % 1024 == 0 else f"{mib}Mi"
