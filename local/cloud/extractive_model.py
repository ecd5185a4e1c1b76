"""The stand-in for a language model: deterministic, and it knows nothing but what stands in the request.

Its rules, which are all there is to it. The text of the last user turn is taken apart into sentences. Those that ask (with a
question mark, or か at the end) are the question; the others are the material. It answers with the sentences of the material,
three at most and in their order, that share the most words with the question, and none that shares less than half as many
as the best; without a question, with the first sentence; without material, it says that it was given none. A mark like [2]
in front of a line is put behind its sentences. It follows no instructions, the operator's no more than those in the text.
Where the request's `responseSchema` wants an array of integers, it answers with the numbers of those marks instead: of the
marked lines that share the most words with the question, three at most; with [] when they share less than a third of the
question's words, and without a question.
A word is a run of digits, or of three or more letters, or two neighbouring Japanese characters that are not both hiragana; a
token is a word of the answer with its blank, or one Japanese character.
"""

from __future__ import annotations

import json
import re

_SENTENCE = re.compile(r"[^\n]*?(?:[.!?](?=\s|$)|[。！？])[^\S\n]*|[^\n]+")
_ASKS = re.compile(r"[?？]\s*$|か。?\s*$")
_MARK = re.compile(r"^\s*(\[\d+\])\s*")
_WORD = re.compile(r"[0-9]+|[a-z]{3,}|[\u3040-\u30ff\u3400-\u9fff]+")
_TOKEN = re.compile(r"\s*(?:[^\W\u3000-\u9fff]+|\S)|\s+")
_JAPANESE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]")
_HIRAGANA = re.compile(r"[\u3040-\u309f]+")
_MOST_SENTENCES = 3
_LEAST_SHARE = 1 / 3
_NONE = {
    False: "I am a local stand-in for a language model. I was given nothing to answer this from.",
    True: "これは言語モデルのローカル代用品です。回答のもとになる文章が与えられていません。",
}


def answer(text: str) -> str:
    """The answer to the text of a user's turn."""
    sentences = _sentences(text)
    asked = " ".join(sentence for sentence, _ in sentences if _asks(sentence))
    material = [(sentence, mark) for sentence, mark in sentences if not _asks(sentence)]
    if not asked:
        chosen = material[:1]
    else:
        shared = [len(_words(sentence) & _words(asked)) for sentence, _ in material]
        best = sorted(range(len(material)), key=lambda at: (-shared[at], at))[:_MOST_SENTENCES]
        least = max(1, max(shared, default=0) / 2)
        chosen = [material[at] for at in sorted(best) if shared[at] >= least]
    if not chosen:
        return _NONE[bool(_JAPANESE.search(asked or text))]
    told = [f"{sentence} {mark}".strip() for sentence, mark in chosen]
    return "".join(told) if all(_JAPANESE.search(each) for each in told) else " ".join(told)


def numbers(text: str) -> str:
    """The numbers of the marked lines that answer the text of a user's turn, as a JSON array."""
    lines = [(mark, line[mark.end() :]) for line in text.splitlines() if (mark := _MARK.match(line))]
    asked = _words(" ".join(sentence for sentence, mark in _sentences(text) if not mark and _asks(sentence)))
    shared = [len(_words(line) & asked) for _, line in lines]
    most = max(shared, default=0)
    if not most or most < len(asked) * _LEAST_SHARE:
        return "[]"
    best = [mark[1] for (mark, _), share in zip(lines, shared, strict=True) if share == most]
    return json.dumps([int(mark.strip("[]")) for mark in best[:_MOST_SENTENCES]])


def tokens(text: str) -> list[str]:
    """`text` in the pieces that it is counted and streamed in; joined they are `text`."""
    return _TOKEN.findall(text)


def _sentences(text: str) -> list[tuple[str, str]]:
    """The sentences of `text`, each with the mark of its line."""
    found: list[tuple[str, str]] = []
    for line in text.splitlines():
        mark = _MARK.match(line)
        rest = line[mark.end() :] if mark else line
        found.extend(
            (part.strip(), mark[1] if mark else "") for part in _SENTENCE.findall(rest) if part.strip()
        )
    return found


def _asks(sentence: str) -> bool:
    return _ASKS.search(sentence) is not None


def _words(text: str) -> set[str]:
    words: set[str] = set()
    for run in _WORD.findall(text.lower()):
        if _JAPANESE.match(run):
            pairs = (run[at : at + 2] for at in range(max(1, len(run) - 1)))
            words.update(pair for pair in pairs if not _HIRAGANA.fullmatch(pair))
        else:
            words.add(run)
    return words
