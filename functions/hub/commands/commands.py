"""Commands that people type where there is nothing to click: /tasks, /task N, /cancel N, /routes, /good, /bad, /help; in
Japanese, too.

Some exact sentences mean the same, such as "What can you do?".
"""

import re
from contextlib import suppress
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from a2a_hub.a2a.call import Call
from a2a_hub.a2a.errors import A2AError
from a2a_hub.a2a.model import CancelTaskRequest, text_of
from a2a_hub.a2a.operations import CANCEL_TASK, GET_TASK, LIST_TASKS
from a2a_hub.identity.principal import may_call
from a2a_hub.routing.router import Rule
from a2a_hub.routing.routes import Route, may_use
from a2a_hub.task_store.store import Unavailable
from a2a_hub.tasks.operations import TaskOperations
from a2a_hub.telemetry.log import Log
from a2a_hub.telemetry.redaction import redacted
from a2a_hub.text.follow_up import is_small_talk
from a2a_hub.text.language import Language, language_of
from a2a_hub.text.normalization import normalise
from functions.hub.commands import texts
from functions.hub.commands.agent_commands import AgentCommands
from functions.hub.commands.texts import COMMAND_TEXTS
from functions.hub.conversations import Conversation, Conversations
from functions.hub.route_tables import RouteTables

_MAX_SHOWN = 10
_LONGEST_COMMAND = 40
_MAX_RATINGS = 20


class Command(StrEnum):
    """A command of the hub. UNKNOWN is any other word after a slash; SMALL_TALK is text that must not become a worker's task."""

    TASKS = "tasks"
    TASK = "task"
    CANCEL = "cancel"
    ROUTES = "routes"
    GOOD = "good"
    BAD = "bad"
    HELP = "help"
    UNKNOWN = "unknown"
    SMALL_TALK = "small talk"


_NAMES: dict[str, Command] = {
    **{command.value: command for command in Command if command not in (Command.UNKNOWN, Command.SMALL_TALK)},
    "タスク一覧": Command.TASKS,
    "タスク": Command.TASK,
    "キャンセル": Command.CANCEL,
    "中止": Command.CANCEL,
    "ルート": Command.ROUTES,
    "ルート一覧": Command.ROUTES,
    "良い": Command.GOOD,
    "悪い": Command.BAD,
    "ヘルプ": Command.HELP,
}
_SENTENCES: dict[Command, str] = {
    Command.HELP: "what can you do, what can i ask, what can i ask you, how can you help me, help, 何ができますか, "
    "何ができるの, 何を聞けますか, できることを教えて, 使い方を教えて, ヘルプ",
    Command.TASKS: "show my tasks, show me my tasks, list my tasks, what are my tasks, 私のタスクを見せて, "
    "私のタスクを教えて, タスク一覧を見せて",
}
_IT = r"(?:it|that|this|you|we|(?:the|my) (?:task|job))"
_BEFORE = r"(?:(?:ok(?:ay)?|so|and|well|please|(?:can|could) you)\b,? )*"
_AFTER = r"(?: (?:now|yet|already))?(?:,? (?:please|now|then))*"
_PROGRESS = (
    rf"how (?:far|long|much longer)(?: along)?(?: (?:is|are) {_IT}| (?:will|does) {_IT} take)?",
    rf"how(?:['’]s| is) {_IT} (?:going|doing)|any (?:progress|news|updates?)",
    rf"(?:(?:is|are) {_IT} )?(?:still )?(?:done|ready|finished|complete|running|working|there)(?: (?:on|with) {_IT})?",
    rf"(?:what(?:['’]s| is) )?(?:the )?(?:status|progress)(?: of {_IT})?",
)
_PROGRESS_JA = (
    (
        r"(?:今|もう|それ|その後|タスク)?(?:の|は)?(?:どんな|どういう)?(?:進捗|進み具合|状況|様子)"
        r"(?:は|を教えて)?(?:どう|いかが)?(?:ください|(?:です|でしょう)か?)?"
    ),
    r"(?:今|それ|その後)?は?どう(?:なった|なりました|なって(?:い)?(?:る|ます))(?:の|んです)?か?",
    r"(?:もう|まだ)?(?:終わっ|終わり|でき|完了し)(?:た|ました|ません)(?:の)?か?|まだ(?:です|なの|なんです)?か?",
    r"あと(?:どの|どれ)(?:くらい|ぐらい)(?:です|かかり(?:ます|そう(?:です)?))?か?",
)
_STOP = rf"(?:cancel|stop|abort)(?: {_IT})?"
_STOP_JA = (
    r"(?:もう|やっぱり|やはり|それ|これ|タスク|は|を)*(?:キャンセル|中止|ストップ|取り消し|止め|やめ)"
    r"(?:し?て|で)?(?:ください|下さい|お願いします|ほしい(?:です)?|くれ(?:ます)?か?)?(?:します|る|ます)?"
)
# Of a task that is worked on in the conversation, without its number: "how far is it?", "ok stop it please", 「もう止めて」.
# Compiled when used: most conversations have no task that is worked on.
_ABOUT_RUNNING = {
    Command.TASK: f"{_BEFORE}(?:{'|'.join(_PROGRESS)}){_AFTER}|{'|'.join(_PROGRESS_JA)}",
    Command.CANCEL: f"{_BEFORE}{_STOP}{_AFTER}|{_STOP_JA}",
}
_COMMAND_OF = {sentence: command for command, sentences in _SENTENCES.items() for sentence in sentences.split(", ")}
_CLAUSE_END = r"[,.;:!?、。！？ ]*[,.;:!?、。！？][ ]*"
_ENDS = "?!.。！ "
_OPERATIONS = {Command.TASKS: LIST_TASKS, Command.TASK: GET_TASK, Command.CANCEL: CANCEL_TASK}
_RATING = re.compile(r"^[^/／]*[/／] ?\S+\s*")
_RATINGS = (Command.GOOD, Command.BAD)
_NUMBERED = (Command.TASK, Command.CANCEL)
# Other characters after the first word mean a path or a longer name.
_FORM = re.compile(r"/ ?([^\W\d_]++)(?![/_.]|-\D) ?(.*)")
_NUMBER = re.compile(r"(?:#|no\.?)? ?(\d{1,9})")
_KANJI_DIGITS = "〇一二三四五六七八九十百千"


class Commands(Struct, frozen=True):
    """Answers commands. A text that matches a routing rule is never reported as an unknown command.

    `tasks` is None without a task store.
    """

    tables: RouteTables
    agent_commands: AgentCommands
    conversations: Conversations
    tasks: TaskOperations | None
    log: Log

    def is_command(self, text: str, call: Call, context_id: str | None) -> bool:
        """Return True for a text that `answer` answers."""
        return self._parse(text, call, context_id) is not None

    def answer(self, text: str, call: Call, context_id: str | None) -> str | None:
        """Return the answer to a command in this conversation; None for any other text."""
        parsed = self._parse(text, call, context_id)
        if parsed is None:
            return None
        command, number = parsed
        language = language_of(text)
        match command:
            case Command.HELP:
                listed = self.agent_commands.for_people(call)
                usable = [each for each in listed if each.name not in _NAMES and self._is_routed(f"/{each.name}")]
                return texts.help_text(self._routes_of(call), usable, language)
            case Command.UNKNOWN:
                return texts.unknown_command_text(_typed(_normal(text))[0], _NAMES, language)
            case Command.SMALL_TALK:
                return COMMAND_TEXTS.small_talk[language]
            case Command.GOOD | Command.BAD:
                comment = _RATING.sub("", text)
                if not self._rate(command.value, comment, call, context_id):
                    return COMMAND_TEXTS.nothing_to_rate[language]
                lacks_reason = command is Command.BAD and not comment
                return (COMMAND_TEXTS.rated_bad_without_reason if lacks_reason else COMMAND_TEXTS.rated)[language]
            case Command.ROUTES:
                return texts.routes_text(self._routes_of(call), language)
            case _:
                try:
                    return self._task_command(command, number, call, language)
                except Unavailable:
                    # A user interface cannot show a protocol error (README.md).
                    self.log.exception("The task store cannot be reached", call.record)
                    return COMMAND_TEXTS.store_unavailable[language]

    def _rate(self, verdict: str, comment: str, call: Call, context_id: str | None) -> bool:
        """Keep the rating of this conversation's last answer, in the log and with the conversation; False if there is none.

        Another instance may have answered, and only the log knows the turn then: by the conversation's id. An id that the hub
        minted for this caller came with an answer. Only a log with texts has the comment.
        """
        if context_id is None:
            return False
        owner = call.owner
        ids = self.conversations.ids_of(owner, context_id)
        turn = self.conversations.last_turn(owner, ids)
        memory = self.conversations.open(owner, ids)
        is_minted = ids.downstream == context_id if owner else ids.has_memory
        if turn is None and memory.conversation is None and not is_minted:
            return False
        conversation = memory.conversation or Conversation()
        turn_id, route_id = turn or ("", conversation.route_id)
        kept = {**conversation.feedback, turn_id or call.request_id: verdict}
        memory.save(replace(conversation, feedback=dict(list(kept.items())[-_MAX_RATINGS:])))
        self.log.line(
            "INFO",
            f"An answer was rated as {verdict}",
            feedback=verdict,
            turn=turn_id or None,
            route=route_id or None,
            conversation=ids.downstream,
            requestId=call.request_id,
            principal=owner or None,
            **({"comment": redacted(comment)} if comment and self.log.with_text else {}),
        )
        return True

    def _routes_of(self, call: Call) -> list[Route]:
        return [each for each in self.tables.current.routes.values() if may_use(each, call.principal)]

    def _parse(self, text: str, call: Call, context_id: str | None) -> tuple[Command, int | None] | None:
        parsed = _parse(text)
        if parsed and parsed[0] is Command.UNKNOWN:
            return None if self._is_routed(text) else parsed
        # Nothing runs in a new conversation, nor without a task store.
        meant = parsed[0] if parsed else _about_running(text) if context_id and self.tasks else None
        if meant in _NUMBERED and not _typed(_normal(text))[1]:
            number = self._running_in(context_id, call)
            if parsed or number:
                return meant, number
        return parsed or ((Command.SMALL_TALK, None) if self._is_no_work(text, call, context_id) else None)

    def _is_no_work(self, text: str, call: Call, context_id: str | None) -> bool:
        """Return True for small talk that answers no question and would otherwise become a worker's task."""
        if not (call.for_ui and self.tasks and is_small_talk(text)):
            return False
        is_for_worker = bool(self.tables.current.router.choose(text).route.role)
        with suppress(Unavailable):
            return is_for_worker and not (context_id and self.tasks.store.waiting(call.owner, context_id))
        return False

    def _running_in(self, context_id: str | None, call: Call) -> int | None:
        """Return the number of the task that is worked on in this conversation; None if there is none."""
        if not context_id or self.tasks is None or call.principal is None:
            return None
        with suppress(Unavailable):
            if stored := self.tasks.running_in(context_id, call):
                return stored.number
        return None

    def _is_routed(self, text: str) -> bool:
        return self.tables.current.router.choose(text).rule in (Rule.NAMED, Rule.KEYWORD, Rule.PATTERN)

    def _task_command(self, command: Command, number: int | None, call: Call, language: Language) -> str:
        tasks = self.tasks
        if tasks is None or call.principal is None:
            return COMMAND_TEXTS.no_tasks_kept[language]
        if not may_call(_OPERATIONS[command].name, call.principal):
            return COMMAND_TEXTS.not_covered[language]
        if command is Command.TASKS:
            return texts.tasks_text(tasks.newest(_MAX_SHOWN, call), language)
        if number is None:
            return texts.number_missing_text(command.value, language)
        stored = tasks.numbered(number, call)
        if stored is None:
            return COMMAND_TEXTS.unknown_task[language].format(number=number)
        if language is Language.EN and stored.task.history:
            # Readers of Japanese may type the English command: then the language of the task's request counts.
            language = language_of(text_of(stored.task.history[0]))
        if command is Command.TASK:
            return texts.task_text(stored, language)
        try:
            task = tasks.cancel(CancelTaskRequest(id=stored.task.id), call)
        except A2AError:
            # It may have ended in the meantime.
            now = tasks.numbered(number, call) or stored
            return texts.filled(COMMAND_TEXTS.not_cancelable, now, now.task, language)
        template = COMMAND_TEXTS.canceled if task.status.state.terminal else COMMAND_TEXTS.canceling
        return texts.filled(template, stored, task, language)


def _about_running(text: str) -> Command | None:
    """Return the command that a text means if a task runs: "ok, stop it", with nothing but small talk around it."""
    if len(text) > _LONGEST_COMMAND:
        return None
    meant: set[Command | None] = set()
    for clause in filter(None, re.split(_CLAUSE_END, normalise(text))):
        command = next((each for each, form in _ABOUT_RUNNING.items() if re.fullmatch(form, clause)), None)
        if command or not is_small_talk(clause):
            meant.add(command)
    return meant.pop() if len(meant) == 1 else None


def _normal(text: str) -> str:
    return normalise(text[:_LONGEST_COMMAND]).rstrip(_ENDS)


def _typed(normal: str) -> tuple[str, str]:
    """Return the word behind a slash, and what follows it; nothing for a text of another form."""
    found = _FORM.match(normal)
    return (found[1], found[2]) if found else ("", "")


def _parse(text: str) -> tuple[Command, int | None] | None:
    """Return the command and its number, None for one that is missing or none; None for a text that is no command."""
    normal = _normal(text)
    if sentence := _COMMAND_OF.get(normal) if len(text) <= _LONGEST_COMMAND else None:
        return sentence, None
    name, argument = _typed(normal)
    if not name:
        return None
    command = _NAMES.get(name) or _NAMES.get(name.rstrip(_KANJI_DIGITS))
    if command in _RATINGS:
        return command, None
    number = _NUMBER.fullmatch(argument) if len(text) <= _LONGEST_COMMAND else None
    if command in _NUMBERED:
        return command, int(number[1]) if number else None
    # One word after a slash is meant as a command; a sentence is not.
    is_alone = number is not None or (not argument and len(text) <= _LONGEST_COMMAND)
    return (command or Command.UNKNOWN, None) if is_alone else None
