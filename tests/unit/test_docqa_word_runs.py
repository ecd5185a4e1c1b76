"""Runs of a question's words are worked out once for a question, and not kept for all that was ever asked."""

import gc
import random
import sys

from functions.docqa.engine import MAX_QUESTION_CHARACTERS
from functions.docqa.vocabulary.word_runs import run_bonus
from functions.docqa.vocabulary.words import view

_KANJI = "期限連絡時間報告障害対応手順規程承認申請経費精算出張契約更新解除通知責任者担当部門"


def test_long_questions_leave_no_more_than_a_few_of_them_in_memory() -> None:
    unit = view("インシデントは検知から15分以内に連絡する。")
    chosen = random.Random(1)

    def blocks_kept_of(questions: int) -> int:
        gc.collect()  # what other tests left is not freed in between
        before = sys.getallocatedblocks()
        for _ in range(questions):
            run_bonus("".join(chosen.choices(_KANJI, k=MAX_QUESTION_CHARACTERS)), unit)
        return sys.getallocatedblocks() - before

    of_one = blocks_kept_of(1)
    assert of_one > MAX_QUESTION_CHARACTERS
    assert blocks_kept_of(24) < 12 * of_one
