"""Documents found by the vectors of an embedding model, beside their words."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from a2a_hub.diagnosis.report import Outcome
from a2a_hub.gemini.failure import Cause, ModelFailed
from a2a_hub.http.client import HttpClient
from a2a_hub.http.messages import Request
from a2a_hub.language_models.embeddings import GeminiEmbeddings, OpenAiEmbeddings, Purpose
from a2a_hub.settings.reader import SettingsError
from functions.docqa import config
from functions.docqa.app import build
from functions.docqa.engine import DocumentQA
from functions.docqa.retrieval.access import Asker
from tests.fakes.chat_completions import openai_settings
from tests.fakes.embeddings import DIMENSIONS, Embeddings
from tests.fakes.vertex import gemini

OTTERS, HARPS, ABACUS = "カワウソは池で泳ぐ。", "竪琴の弦は毎月張り替える。", "The abacus hangs beside the door."
CLOSED = "竪琴は役員が弾く。"
ANYBODY = Asker()


@pytest.fixture
def server() -> Iterator[Embeddings]:
    with Embeddings() as server:
        yield server


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    write(folder, "a.md", "カワウソ", OTTERS)
    write(folder, "b.md", "竪琴", HARPS)
    write(folder, "c.md", "Abacus", ABACUS)
    return folder


def write(folder: Path, name: str, title: str, text: str) -> None:
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).write_text(f"# {title}\n\n{text}\n", "utf-8")


def model(server: Embeddings, name: str = "bge-m3", key: str = "") -> OpenAiEmbeddings:
    settings = openai_settings(f"{server.url}/v1", model=name, key=key)
    return OpenAiEmbeddings(settings, http=HttpClient())


@contextmanager
def opened(corpus: Path, server: Embeddings, name: str = "bge-m3") -> Iterator[DocumentQA]:
    """Open an engine that looks at the folder with each question; time stands still."""
    index = corpus.parent / "index.sqlite3"
    embedding = model(server, name)
    with closing(DocumentQA(corpus, index, refresh_seconds=0, clock=lambda: 0.0, embedding=embedding)) as engine:
        yield engine


def found(engine: DocumentQA, question: str, asker: Asker = ANYBODY) -> list[str]:
    return [passage.units[-1].text for passage in engine.find(question, asker=asker).passages]


def stored(corpus: Path) -> int:
    with closing(sqlite3.connect(corpus.parent / "index.sqlite3")) as connection:
        (count,) = connection.execute("SELECT count(*) FROM passage_vectors WHERE vector <> x''").fetchone()
        return int(count)


def test_a_question_in_one_language_finds_a_document_in_the_other(corpus: Path, server: Embeddings) -> None:
    with opened(corpus, server) as engine:
        assert found(engine, "Was ist mit Harfen?") == []
        engine.embed()
        assert found(engine, "Was ist mit Harfen?")[0] == HARPS
        assert found(engine, "算盤はどこ")[0] == ABACUS
        results = engine.find("Was ist mit Harfen?", asker=ANYBODY)
        assert results.units[0].unit.text == HARPS


def test_what_words_and_vectors_both_find_comes_first(corpus: Path, server: Embeddings) -> None:
    write(corpus, "d.md", "Harps", "Each harp has a sticker.")
    with opened(corpus, server) as engine:
        engine.embed()
        assert found(engine, "harps with a sticker")[:2] == ["Each harp has a sticker.", HARPS]


def test_a_text_is_embedded_once_wherever_it_stands(corpus: Path, server: Embeddings) -> None:
    with opened(corpus, server) as engine:
        engine.embed()
        assert len(server.texts) == 3
        engine.embed()
        (corpus / "a.md").rename(corpus / "z.md")
        write(corpus, "b.md", "竪琴", "竪琴は西に置く。")
        engine.embed()
        assert server.texts[3:] == ["竪琴\n竪琴は西に置く。"]
        assert stored(corpus) == 3
    with opened(corpus, server) as engine:
        engine.embed()
        assert len(server.texts) == 4


def test_calls_have_no_more_texts_than_the_model_takes(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for number in range(300):
        write(corpus, f"{number}.md", f"Rule {number}", f"Room {number} is closed.")
    with Embeddings(max_texts=64) as server, opened(corpus, server) as engine:
        engine.embed()
        assert stored(corpus) == 300
        assert max(map(len, server.requests)) == 64
        assert len(server.requests) < 10


def test_a_text_that_the_model_rejects_holds_up_no_other(corpus: Path, server: Embeddings) -> None:
    write(corpus, "d.md", "Notes", "An unreadable note.")
    with opened(corpus, server) as engine:
        engine.embed()
        asked = len(server.requests)
        assert stored(corpus) == 3
        engine.embed()
        assert len(server.requests) == asked


def test_a_half_built_index_is_used_and_completed(tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    write(corpus, "000.md", "竪琴", HARPS)
    for number in range(1, 300):
        write(corpus, f"{number:03}.md", f"Rule {number}", f"Room {number} is closed.")

    with Embeddings() as server, opened(corpus, server) as engine:
        server.calls_until_away = 4
        with pytest.raises(ModelFailed):
            engine.embed()
    assert stored(corpus) == 256
    with Embeddings() as server, opened(corpus, server) as engine:
        assert found(engine, "Was ist mit Harfen?")[0] == HARPS
        (step,) = (step for step in engine.examine() if step.check == "embeddings")
        assert step.outcome is Outcome.WARNING
        engine.embed()
        assert len(server.texts) == 2 + 44
        assert stored(corpus) == 300


def test_another_model_embeds_everything_again(corpus: Path, server: Embeddings) -> None:
    with opened(corpus, server) as engine:
        engine.embed()
    with opened(corpus, server, "another") as engine:
        assert found(engine, "Was ist mit Harfen?") == []
        engine.embed()
        assert len(server.texts) == 3 + 3
        assert found(engine, "Was ist mit Harfen?")[0] == HARPS


def test_while_the_server_is_away_words_find_documents(
    corpus: Path, server: Embeddings, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(corpus, server) as engine:
        engine.embed()
        server.status = 503
        asked = len(server.requests)
        for _ in range(3):
            assert found(engine, "Where does the abacus hang?")[0] == ABACUS
        assert len(server.requests) == asked + 1, "it is left alone for a while"
        assert "found by words alone" in caplog.text
        (step,) = (step for step in engine.examine() if step.check == "embeddings")
        assert step.outcome is Outcome.ERROR
        assert "EMBEDDING_MODEL_URL" in str(step)


def test_a_vector_is_compared_for_those_only_who_may_read_its_passage(corpus: Path, server: Embeddings) -> None:
    write(corpus, "closed/d.md", "竪琴", CLOSED)
    (corpus / "closed" / "access.toml").write_text('allow_emails = ["kay@example.com"]\n', "utf-8")
    kay = Asker(email="kay@example.com")
    with opened(corpus, server) as engine:
        engine.embed()
        assert CLOSED not in found(engine, "harps")
        assert found(engine, "harps", kay)[0] == CLOSED
        (corpus / "closed" / "access.toml").write_text('allow_emails = ["lee@example.com"]\n', "utf-8")
        assert CLOSED not in found(engine, "harps", kay)


def test_a_former_edition_comes_after_the_one_in_force(corpus: Path, server: Embeddings) -> None:
    for year, text in ((2024, "算盤は五つある。"), (2026, "算盤は七つある。")):
        text = f"---\ntitle: 備品 {year}\neffective: {year}-04-01\n---\n# 備品 {year}\n\n{text}\n"
        (corpus / f"items-{year}.md").write_text(text, "utf-8")
    with opened(corpus, server) as engine:
        engine.embed()
        order = found(engine, "abacus")
        assert order.index("算盤は七つある。") < order.index("算盤は五つある。")


def test_the_function_embeds_its_documents_from_the_first_request_on(corpus: Path, server: Embeddings) -> None:
    environ = {
        "CORPUS_DIR": str(corpus),
        "CORPUS_INDEX": str(corpus.parent / "index.sqlite3"),
        "EMBEDDING_MODEL": "bge-m3",
        "EMBEDDING_MODEL_URL": f"{server.url}/v1",
        "EMBEDDING_MODEL_KEY": "secret",
    }
    function = build(config.read(environ))
    assert function(Request(method="GET", path="/health")).status == 200
    assert server.asked.wait(10)
    assert (len(server.texts), server.headers) == (3, ["Bearer secret"])


def test_an_embedding_model_on_a_server_needs_a_name_and_a_trusted_address() -> None:
    with pytest.raises(SettingsError) as wrong:
        config.read({"EMBEDDING_MODEL_URL": "http://embeddings.example.com/v1"})
    assert "EMBEDDING_MODEL must name a model" in str(wrong.value)
    assert "EMBEDDING_MODEL_URL must be an https URL" in str(wrong.value)


def test_vertex_ai_embeds_one_text_a_call_with_its_own_models_and_several_with_others(server: Embeddings) -> None:
    for name, calls in (("gemini-embedding-001", 1), ("text-multilingual-embedding-002", 5)):
        embedding = GeminiEmbeddings(gemini(server.url, model=name))
        texts = ["犬", "dog"][: embedding.max_texts]
        vectors = embedding.embed(texts, purpose=Purpose.DOCUMENT)
        assert (embedding.max_texts, [len(vector) for vector in vectors]) == (calls, [DIMENSIONS] * len(texts))


def test_a_key_is_sent_and_a_refusal_is_named(server: Embeddings) -> None:
    embedding = model(server, key="secret")
    embedding.embed(["犬"], purpose=Purpose.QUESTION)
    assert server.headers == ["Bearer secret"]
    server.status = 401
    with pytest.raises(ModelFailed) as failed:
        embedding.embed(["犬"], purpose=Purpose.QUESTION)
    assert failed.value.failure.cause is Cause.DENIED
