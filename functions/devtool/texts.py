"""The texts of this agent for people, in English and Japanese."""

from typing import Any, NamedTuple

from a2a_hub.a2a.model import Message, text_of
from a2a_hub.text.language import Language, language_of


class Text(NamedTuple):
    """A text in both languages, with places for values."""

    en: str
    ja: str

    def render(self, language: Language, **values: Any) -> str:
        """Return the text in one language, with the values in their places."""
        return (self.ja if language is Language.JA else self.en).format(**values)


AGENT_NAME = Text(en="Development agent", ja="開発ツール")
_EXAMPLES_EN = (
    "- List the files in src\n- Read README.md\n- Search for “TODO” in src\n- Create notes.txt with the content “hello”\n"
    "- Replace “foo” with “bar” in notes.txt\n- Run pytest -q"
)
_EXAMPLES_JA = (
    "・src にあるファイルの一覧を見せて\n・README.md を読んで\n・src で「TODO」を検索して\n"
    "・notes.txt を「こんにちは」という内容で作成して\n・notes.txt の「foo」を「bar」に置き換えて\n・pytest -q を実行して"
)
ONCE = Text(en="Allow Once", ja="今回のみ許可")
ALWAYS = Text(en="Allow Always", ja="常に許可")
ALWAYS_MEANS = Text(
    en="In this conversation: every change of a file, or this very command.",
    ja="この会話の間、ファイルの変更すべて、またはこのコマンドを許可します。",
)
CANCEL = Text(en="Cancel", ja="キャンセル")
CREATED = Text(en="“{path}” was created.", ja="「{path}」を作成しました。")
CHANGED = Text(en="“{path}” was changed.", ja="「{path}」を変更しました。")
RAN = Text(
    en="“{command}” ended successfully.\n\n{output}",
    ja="「{command}」は正常に終了しました。\n\n{output}",
)
RAN_SILENTLY = Text(
    en="“{command}” ended successfully, without any output.",
    ja="「{command}」は正常に終了しました。出力はありません。",
)
EMPTY_FILE = Text(en="“{path}” is empty.", ja="「{path}」は空です。")
CANCELLED = Text(
    en="Cancelled: nothing was done.",
    ja="キャンセルしました。何も実行していません。",
)
STILL_WAITING = Text(
    en="A step still waits for your decision, and nothing else is done before: choose one of its options.",
    ja="確認待ちの操作があります。先に選択肢から一つお選びください。それまでほかの操作は行いません。",
)
ASKED_AGAIN = Text(
    en="“{path}” has changed since the difference was shown, so nothing was written. This is the new difference.",
    ja="差分を表示した後に「{path}」が変更されたため、書き込んでいません。新しい差分をご確認ください。",
)
HELP = Text(
    en="I list, read and search the files of a workspace, change them, and run commands; every change and every command "
    f"is shown first, and done when you have confirmed it. You can say, for example:\n{_EXAMPLES_EN}\n\n"
    "Commands:\n{commands}",
    ja="ワークスペースのファイルの一覧・閲覧・検索・変更と、コマンドの実行ができます。変更とコマンドは、先に内容を表示し、"
    f"確認をいただいてから実行します。たとえば、次のようにお伝えください。\n{_EXAMPLES_JA}\n\nコマンド：\n{{commands}}",
)
EMPTY_REQUEST = Text(
    en=f"What can I do? You can say, for example:\n{_EXAMPLES_EN}",
    ja=f"何をしましょうか。たとえば、次のようにお伝えください。\n{_EXAMPLES_JA}",
)
NOT_UNDERSTOOD = Text(
    en=f"I did not understand that, and nothing was done. You can say, for example:\n{_EXAMPLES_EN}\n\n"
    "One step at a time; quote texts and names that hold blanks. “/help” shows everything.",
    ja=f"ご依頼を理解できませんでした。何も実行していません。たとえば、次のようにお伝えください。\n{_EXAMPLES_JA}\n\n"
    "一度に一つの操作をお願いします。文字列や空白を含む名前は「」で囲んでください。「/help」で一覧を表示します。",
)
UNKNOWN_COMMAND = Text(
    en="There is no command “/{command}”. There are:\n{usages}",
    ja="「/{command}」というコマンドはありません。使えるコマンド：\n{usages}",
)
WRONG_ARGUMENTS = Text(
    en="“/{command}” is written like this:\n{usages}",
    ja="「/{command}」は次のように入力してください。\n{usages}",
)
NO_WORKSPACE = Text(
    en="No workspace is set up here: a client names one in its AgentSettings, or an administrator sets "
    "DEVTOOL_DEFAULT_WORKSPACE.",
    ja="ワークスペースが設定されていません。クライアントが AgentSettings で指定するか、管理者が "
    "DEVTOOL_DEFAULT_WORKSPACE を設定してください。",
)
FAILED = Text(
    en="Something went wrong on my side, and the work has ended. Please try again; the reference is {reference}.",
    ja="内部で問題が発生し、作業を終了しました。もう一度お試しください。参照番号：{reference}",
)
STILL_WORKING = Text(
    en="This takes a while; the work continues.",
    ja="時間がかかっていますが、処理は続いています。",
)
STORE_AWAY = Text(
    en="What waits for a confirmation has to be stored, and the store cannot be reached at the moment. "
    "Nothing was done; please send it again in a minute.",
    ja="確認待ちの作業は保存する必要がありますが、現在、保存先に接続できません。"
    "何も実行していません。1分ほどしてから、もう一度お送りください。",
)
WITHOUT_ANSWER = Text(
    en="The work has ended without an answer.",
    ja="作業は終了しましたが、回答はありませんでした。",
)


class StoredTexts:
    """See `a2a_hub.tasks.text_only.UiTexts`."""

    def still_working(self, message: Message, number: int | None) -> str:  # noqa: ARG002 - the protocol's
        """See `UiTexts.still_working`."""
        return STILL_WORKING.render(language_of(text_of(message)))

    def store_away(self, message: Message) -> str:
        """See `UiTexts.store_away`."""
        return STORE_AWAY.render(language_of(text_of(message)))

    def without_answer(self, message: Message) -> str:
        """See `UiTexts.without_answer`."""
        return WITHOUT_ANSWER.render(language_of(text_of(message)))
