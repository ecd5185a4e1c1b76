"""The project management advisor: the right practice, and as many tasks as were asked for."""

import re

import pytest

from a2a_hub.text.language import language_of
from functions.pm.advisor import Advisor, load
from functions.pm.app import KNOWLEDGE
from tests.unit.agent_answers import ask

PRACTICES = load(KNOWLEDGE)
ADVISOR = Advisor(PRACTICES)

QUESTIONS = {
    "List three tasks for creating a project WBS.": "wbs",
    "プロジェクトのWBSを作成するためのタスクを3つ挙げて": "wbs",
    "ＷＢＳの作り方を教えてください": "wbs",
    "I have to split this big job into small pieces": "wbs",
    "What is a good definition of done?": "definition_of_done",
    "How do I prioritise the backlog?": "backlog",
    "バックログの整理のコツは": "backlog",
    "Kanban or Scrum for a team of four?": "kanban",
    "How big should the buffer in my schedule be?": "buffer",
    "バッファは何割くらい見ておけばいいですか": "buffer",
    "Our stand-ups take an hour": "stand_up",
    "朝会を短くするコツは": "stand_up",
    "Nobody knows who is responsible for what": "raci",
    "誰が何をやるか決まっていません": "raci",
    "We're two weeks behind": "recovery",
    "リリースに間に合いそうにありません": "recovery",
    "The customer keeps asking for more features": "change_control",
    "追加要望が多くて回りません": "change_control",
    "Half my team is sick this week": "resources",
    "新しいシステムを作ることになりました。何から始めればいいですか": "initiation",
    "Create a WBS for rolling out a new expense reimbursement system.": "wbs",
    "作業をワークパッケージに分解してください": "wbs",
    "How do I draw a Gantt chart?": "gantt",
    "How do I find the critical path?": "critical_path",
    "クリティカルパスの求め方は?": "critical_path",
    "Which milestones should a six-month software project have?": "milestones",
    "マイルストーンを3つ提案して": "milestones",
    "What belongs in a risk register?": "risks",
    "List three risks of a project": "typical_risks",
    "リスク管理表の項目を挙げてください": "risks",
    "Give me an agenda for a project kickoff meeting.": "kickoff",
    "進捗報告のテンプレートを作って": "status_report",
    "Draft a RACI matrix for a website relaunch.": "raci",
    "How do I estimate the effort for a new feature in person-days?": "estimation",
    "工数見積もりの方法を教えてください": "estimation",
    "Tips for managing stakeholders": "stakeholders",
    "How do I prevent scope creep?": "change_control",
    "How do I run a retrospective?": "retrospective",
    "How do I close a project properly?": "closure",
    "プロジェクトの進捗が2週間遅れています。どう挽回すればいいですか": "recovery",
    "What is the difference between a project charter and a project plan?": "charter",
    "プロジェクト計画書には何を書けばいいですか": "plan",
    "PMの役割は何ですか": "pm_role",
    "PMOの役割とは": "pmo",
    "How many story points fit into one sprint?": "sprint",
    "What is the progress of project Alpha?": "project_data",
    "Who is the project manager of project Phoenix?": "project_data",
    "プロジェクト・フェニックスの責任者は誰ですか": "project_data",
    "Who is responsible for the risk register?": "risks",
    "Who is our sponsor?": "project_data",
    "How do I run a project kickoff and who should attend?": "kickoff",
    "Who should be the sponsor of the project charter?": "charter",
    "How do I tell my sponsor that we are three weeks late?": "recovery",
    "データ移行プロジェクトのリスクを二つ": "typical_risks",
    "プロジェクト管理のコツを教えて": "success",
    "Give me five tasks to plan a product launch": "plan",
    "I have to organise a trade fair stand. What are the tasks?": "plan",
    "What steps are needed to introduce a new CRM?": "plan",
    "新製品発売の計画を5つのタスクに分けて": "plan",
    "新システム導入のタスクを三つ": "plan",
    "イベントを企画する手順を3つ": "plan",
    "What are ten tasks for setting up a project?": "initiation",
    "How do I split a big feature into tasks?": "wbs",
    "大きなタスクを小さく分ける方法は": "wbs",
    "How do I manage all these tasks?": "task_management",
    "タスク管理の方法を教えて": "task_management",
    "How do I track the progress of tasks?": "tracking",
}


def numbered(text: str) -> list[str]:
    return re.findall(r"^\d+\. .+", text, re.MULTILINE)


@pytest.mark.parametrize(("question", "topic"), QUESTIONS.items())
def test_a_question_finds_its_practice_and_is_answered_in_its_language(question: str, topic: str) -> None:
    text, data = ask(ADVISOR.answer, question)
    assert data["topic"] == topic
    assert language_of(text) is language_of(question)


@pytest.mark.parametrize(
    "question",
    ["List three tasks for creating a project WBS.", "プロジェクトのWBSを作成するためのタスクを3つ挙げて"],
)
def test_three_tasks_are_three_numbered_lines(question: str) -> None:
    text, data = ask(ADVISOR.answer, question)
    assert [line[:3] for line in numbered(text)] == ["1. ", "2. ", "3. "]
    assert len(data["tasks"]) == 3
    assert all(task["title"] in text and task["description"] in text for task in data["tasks"])


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("Give me ten tasks to plan a product launch", "These are all 8 that I know; you asked for 10."),
        ("新製品発売のタスクを10個挙げて", "ご希望は10件でしたが、私が知っているのは以上の8件です。"),
    ],
)
def test_whoever_asks_for_more_tasks_of_an_undertaking_than_are_known_is_told_so(question: str, told: str) -> None:
    text, data = ask(ADVISOR.answer, question)
    assert (len(numbered(text)), len(data["tasks"]), data["asked"]) == (8, 8, 10)
    assert text.endswith(told)


def test_without_a_number_the_practice_is_explained_and_at_most_five_tasks_are_listed() -> None:
    text, data = ask(ADVISOR.answer, "What is a work breakdown structure?")
    assert text.startswith("A work breakdown structure (WBS) divides")
    assert len(numbered(text)) == len(data["tasks"]) == 5
    assert data["asked"] is None


def test_a_brief_answer_is_the_first_sentence_or_the_titles_of_the_tasks() -> None:
    text, data = ask(ADVISOR.answer, "Explain briefly what a WBS is")
    assert text.startswith("A work breakdown structure (WBS) divides")
    assert (numbered(text), data["tasks"], text.count("\n")) == ([], [], 0)
    assert ask(ADVISOR.answer, "WBSとは何かを一言で")[0].count("。") == 1
    text, data = ask(ADVISOR.answer, "List three tasks for a WBS, briefly")
    assert numbered(text) == [f"{number}. {task['title']}" for number, task in enumerate(data["tasks"], 1)]


@pytest.mark.parametrize(
    "question",
    [
        "Show me three project risks as a table",
        "プロジェクトのリスクを3つ、表で見せて",
        "リスク3つを表形式で",
    ],
)
def test_a_table_is_a_markdown_table_with_a_row_for_each(question: str) -> None:
    text, data = ask(ADVISOR.answer, question)
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert rows[1] == "| --- | --- | --- |"
    assert rows[2:] == [
        f"| {number} | {task['title']} | {task['description']} |" for number, task in enumerate(data["tasks"], 1)
    ]
    assert len(data["tasks"]) == 3


@pytest.mark.parametrize("question", ["リスク管理表で管理する項目は", "課題管理表に書く項目は", "工程表の作り方"])
def test_a_table_that_is_asked_about_is_no_wish_for_one(question: str) -> None:
    text, _ = ask(ADVISOR.answer, question)
    assert "|" not in text
    assert numbered(text)


@pytest.mark.parametrize(
    ("question", "compared"),
    [
        ("What's the difference between a milestone and a deliverable?", {"milestones", "deliverables"}),
        ("課題管理表とリスク管理表の違いは何ですか", {"issues", "risks"}),
        ("ガントチャートとWBSの違いと使い分けを教えて", {"gantt", "wbs"}),
    ],
)
def test_of_two_that_are_compared_each_is_told(question: str, compared: set[str]) -> None:
    text, data = ask(ADVISOR.answer, question)
    assert set(data["compared"]) == compared
    assert len(text.splitlines()) == 2


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("List twenty tasks for creating a project WBS.", "These are all 7 that I know; you asked for 20."),
        ("WBSのタスクを20個", "ご希望は20件でしたが、私が知っているのは以上の7件です。"),
    ],
)
def test_it_says_so_when_more_tasks_are_asked_for_than_it_knows(question: str, sentence: str) -> None:
    text, data = ask(ADVISOR.answer, question)
    assert sentence in text
    assert len(data["tasks"]) == len(numbered(text)) == 7


@pytest.mark.parametrize(
    "question",
    [
        "What is the height of Mount Fuji?",
        "富士山の高さは",
        "How do I plan a wedding?",
        "What is the best project management certification in Germany?",
        "プロジェクトの社名の由来は",
    ],
)
def test_what_is_no_project_management_is_not_answered(question: str) -> None:
    text, data = ask(ADVISOR.answer, question)
    assert data["answered"] is False
    assert "WBS" in text
    assert not numbered(text)


@pytest.mark.parametrize(
    ("question", "topics"),
    [
        (
            "How do I estimate effort in person-days, and how do I handle change requests?",
            ["estimation", "change_control"],
        ),
        ("進捗報告のテンプレートを作って、それから課題管理の方法も教えて", ["status_report", "issues"]),
        ("WBSとガントチャートの作り方を教えて", ["wbs", "gantt"]),
        ("Explain the WBS and give me a RACI template", ["wbs", "raci"]),
    ],
)
def test_two_questions_get_two_answers_in_their_order(question: str, topics: list[str]) -> None:
    text, data = ask(ADVISOR.answer, question)
    assert [data["topic"], *data["also"]] == topics
    known = {topic.id: topic.about.in_(language_of(question)) for topic in PRACTICES.topics}
    first, second = (text.index(known[topic].strip()) for topic in topics)
    assert first < second


def test_a_question_on_one_thing_in_two_parts_is_answered_once() -> None:
    assert "also" not in ask(ADVISOR.answer, "What is a WBS and who approves it?")[1]
    assert "also" not in ask(ADVISOR.answer, "プロジェクトの関係者との会議の議題は")[1]


def test_every_practice_is_complete_in_both_languages() -> None:
    assert len({topic.id for topic in PRACTICES.topics}) == len(PRACTICES.topics)
    for topic in PRACTICES.topics:
        assert len(topic.tasks) >= 3, topic.id
        for searchable in (topic.about, topic.items, *topic.tasks):
            assert (language_of(searchable.en), language_of(searchable.ja)) == ("en", "ja"), topic.id


def test_the_paragraph_that_asks_decides_about_the_topic_and_the_language() -> None:
    mail = "お疲れ様です。\n\nWBSとガントチャートの案を添付します。\n\n"
    assert ask(ADVISOR.answer, mail + "How do I run a retrospective?")[0].startswith("A retrospective")
