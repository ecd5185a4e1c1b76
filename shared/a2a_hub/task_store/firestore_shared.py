"""The conversations and quota claims of a Firestore store. A counter is one document, a commit for each change of a claim."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from a2a_hub.task_store.firestore_client import Database, retried
from a2a_hub.task_store.firestore_documents import digest
from a2a_hub.task_store.store import MOST_CONVERSATION_BYTES, QuotaClaim, TooLarge
from a2a_hub.task_store.store_base import StoreBase

if TYPE_CHECKING:
    from google.cloud.firestore import DocumentReference


class FirestoreSharedState(StoreBase):
    """The conversations and the use of quotas in a Firestore store."""

    _database: Database

    def conversation(self, owner: str, context_id: str) -> bytes | None:
        found = self._database.read_one(self._conversation(owner, context_id))
        return found.get("data") if found.exists and found.get("expires_at") > self._clock() else None

    @retried
    def put_conversation(self, owner: str, context_id: str, data: bytes, *, expires_at: float) -> None:
        if len(data) > MOST_CONVERSATION_BYTES:
            raise TooLarge(context_id)
        batch = self._database.batch()
        batch.set(self._conversation(owner, context_id), {"data": data, "expires_at": expires_at})
        self._database.commit(batch)

    @retried
    def claim_quota(self, counter: str, holder: str, *, amount: int, limit: int, expires_at: float) -> int:
        reference = self._database.collection("claims").document(digest(counter))
        now, before = self._clock(), self._database.read_one(reference)
        valid = [claim for claim in _claims(before) if claim.expires_at > now and claim.holder != holder]
        granted = max(0, min(amount, limit - sum(claim.amount for claim in valid)))
        mine = QuotaClaim(counter=counter, holder=holder, amount=granted, expires_at=expires_at)
        after = [*valid, mine] if granted else valid
        if after != _claims(before):
            batch = self._database.batch()
            claims = [asdict(claim) for claim in after]
            last = max((claim.expires_at for claim in after), default=0.0)
            self._database.put(batch, before, {"counter": counter, "claims": claims, "expires_at": last})
            self._database.commit(batch)
        return granted

    def quota_claims(self, prefix: str, *, limit: int) -> list[QuotaClaim]:
        conditions = ("counter", ">=", prefix), ("counter", "<", prefix + chr(0x10FFFF))
        counters = self._database.where(self._database.collection("claims"), *conditions)
        found = self._database.query(counters.order_by("counter").limit(limit))
        now = self._clock()
        claims = (claim for one in found for claim in sorted(_claims(one), key=lambda claim: claim.holder))
        return [claim for claim in claims if claim.expires_at > now][:limit]

    def purge_expired(self, *, limit: int) -> None:
        """Delete expired conversations and counters."""
        for name in ("conversations", "claims"):
            self._purge(name, limit)

    @retried
    def _purge(self, name: str, limit: int) -> None:
        expired = self._database.where(self._database.collection(name), ("expires_at", "<=", self._clock()))
        batch = self._database.batch()
        for one in self._database.query(expired.order_by("expires_at").limit(limit).select([])):
            batch.delete(one.reference, option=self._database.unchanged_since(one))
        self._database.commit(batch)

    def _conversation(self, owner: str, context_id: str) -> DocumentReference:
        name = digest(f"{len(owner)}:{owner}:{context_id}")
        return self._database.collection("conversations").document(name)


def _claims(snapshot: Any) -> list[QuotaClaim]:
    return [QuotaClaim(**one) for one in snapshot.get("claims")] if snapshot.exists else []
