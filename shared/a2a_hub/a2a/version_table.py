"""The table of the versions' codecs."""

from a2a_hub.a2a.compat.v0_3.codec import CodecV03
from a2a_hub.a2a.model import Version
from a2a_hub.a2a.versions import VersionCodec

CODECS: dict[Version, VersionCodec] = {codec.version: codec for codec in (CodecV03(), VersionCodec())}
"""The codec of every version, oldest first. A method or path of several versions stands for the oldest if none is named."""

IMPLIED = Version.V0_3
"""The version of an agent or a request that names none, if nothing else tells."""
