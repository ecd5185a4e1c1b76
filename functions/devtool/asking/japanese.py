"""The Japanese sentences that are understood."""

from __future__ import annotations

import re
from functools import cache

from functions.devtool.asking.patterns import CONTENT, PATH, TEXT, Kind, Table
from functions.devtool.asking.quoted import QUOTED

_COURTESY = r"(?:(?:すみません|恐れ入りますが|では|じゃあ|それでは|次に|まず)[、,]? ?)*"
_POLITE = (
    r"(?:ください|下さい|くれますか|くれませんか|くれる|もらえますか|もらえませんか|いただけますか|いただけませんか|頂けますか"
    r"|ほしいです|ほしい|欲しいです|欲しい|お願いします|お願い|ね|よ)?[ 。．.!！?？]*"
)
_SURU = rf"(?:(?:を)?(?:して|する|お願いします|お願い致します|お願い)|せよ)?{_POLITE}"
_TE = _POLITE
_IN = r" ?(?:フォルダー?|ディレクトリー?)?(?:内|配下|の中|の下|直下)?"
_INSIDE = r"(?:(?:フォルダー?|ディレクトリー?)(?:内|配下|の中|の下|直下)?|内|配下|の中|の下|直下)"
_FOLDER = rf"(?:(?P<folder>{QUOTED}|\S+?) ?(?:{_INSIDE}(?:の|にある)|にある) ?)?"
_FILE = rf"(?:(?:新しい)?ファイル ?)?{PATH}(?: ?(?:という|の)ファイル)?"
_WHERE = rf"(?:{PATH}{_IN} ?(?:で|から|の|にある|に)、? ?)?"
_SAID = r" ?(?:という|の|って(?:いう)?)? ?"
_ALL = r"(?:(?:全て|すべて|全部) ?)?"
_OLD = rf"(?P<old>{QUOTED}|[!-~]+?)"
_NEW = rf"(?P<new>{QUOTED}|[!-~]+?)"
_MADE = (
    rf"(?:(?:新規)?(?:に)?(?:作成|保存|上書き|上書き保存|出力|記入|入力){_SURU}"
    rf"|(?:作って|作る|書いて保存して|書いて|書く|書き込んで|書き込む|書き換えて|置き換えて|つくって){_TE})"
)
_CHANGED = (
    rf"(?:(?:置換|変更|修正){_SURU}"
    rf"|(?:置き換えて|置き換える|置きかえて|変えて|変える|書き換えて|書き換える|直して|直す){_TE})"
)
_SHOWN = rf"(?:(?:表示|出力){_SURU}|(?:見せて|見せる|見たい(?:です)?|見る|見て|出して|教えて|知りたい(?:です)?){_TE})"
_READ = rf"(?:{_SHOWN}|(?:読んで|読む|読み上げて|読み込んで|開いて|開く|読みたい(?:です)?|確認して|確認したい(?:です)?){_TE})"

_ADDED = rf"(?:(?:追加|追記){_SURU}|(?:足して|加えて){_TE})"
_FOUND = rf"(?:(?:検索|grep){_SURU}|(?:探して|探す|さがして|見つけて){_TE})"
_ARE_THERE = r"(?:ありますか|あるか|ある|入っていますか)?(?:を?教えて)?"
_HOLDS = r"(?:含む|含まれる|含まれている|使われている|使っている|出てくる|書かれている|書いてある)"
_STANDS = r"(?:ありますか|あるか|ある|使われていますか|使われている|書いてありますか|書いてある|ですか)?"
_NEW_FILE = rf"{_FILE} ?(?:という(?:名前の)?(?:新しい)?ファイル)?を、? ?"
_HELD = r"(?:内容|中身|テキスト|文章)"

ROOT = re.compile(
    r"\.|\.?/|ここ|この|この(?:フォルダー?|ディレクトリー?|プロジェクト)|ワークスペース|プロジェクト|リポジトリ|カレントディレクトリー?"
)

_TABLE = (
    (
        Kind.HELP,
        r"(?:ヘルプ|使い方|使いかた|(?:何|なに)が(?:でき|出来)(?:る|ます)の?か?)(?:は|を?(?:教えて|見せて|表示して|表示))?"
        + _TE,
    ),
    (
        Kind.LIST,
        rf"(?:{PATH}{_IN}(?:の|にある) ?)?(?:全ての|すべての)?ファイル(?:の)?(?:一覧|リスト)(?:を|は)? ?(?:{_SHOWN}|{_TE})",
    ),
    (
        Kind.LIST,
        rf"(?:{PATH}{_IN}(?:の|にある) ?)?ファイルを?(?:一覧(?:表示|に)?|リスト(?:アップ|に)?|列挙){_SURU}",
    ),
    (
        Kind.LIST,
        rf"(?:{PATH}{_IN}に?は? ?)?(?:どんな|どのような|何の)ファイルが?{_ARE_THERE}{_TE}",
    ),
    (Kind.LIST, rf"(?P<path>{ROOT.pattern}){_IN}に?は? ?(?:何|なに)が{_ARE_THERE}{_TE}"),
    (Kind.LIST, rf"(?:{PATH}{_IN}(?:の|にある) ?)ファイルを? ?(?:{_SHOWN}|は{_TE})"),
    (
        Kind.LIST,
        rf"(?:{PATH}{_IN}(?:の|にある) ?)?(?:全ての|すべての)?ファイルを?(?:全部|全て|すべて) ?{_SHOWN}",
    ),
    (
        Kind.REPLACE,
        rf"{_FILE} ?(?:の中の|内の|にある|の|で|内で)、? ?{_OLD} ?を ?{_ALL}{_NEW} ?(?:に|へ|と) ?{_ALL}{_CHANGED}",
    ),
    (
        Kind.ADD,
        rf"{_FILE} ?(?:の(?:末尾|最後|最終行))?に ?(?P<line>{QUOTED})(?:という行|の行|と)?を? ?{_ADDED}",
    ),
    (Kind.WRITE, rf"空の(?:ファイル)? ?{PATH} ?(?:というファイル)?を ?{_MADE}"),
    (Kind.WRITE, rf"{PATH} ?という(?:名前の)?空のファイルを ?{_MADE}"),
    (
        Kind.WRITE,
        rf"{_NEW_FILE}(?:内容|中身)?(?:は|を)? ?{CONTENT}{_SAID}{_HELD}?で ?{_MADE}",
    ),
    (
        Kind.WRITE,
        (
            rf"{_NEW_FILE}{_MADE}(?:[、,] ?)?(?:その)?{_HELD}?(?:は|に)?、? ?"
            rf"{CONTENT}(?:です|と(?:して|する)|と{_MADE}){_TE}"
        ),
    ),
    (
        Kind.WRITE,
        rf"{_NEW_FILE}(?:次|以下|下記)の(?:内容|コード|テキスト)で ?{_MADE}[:： ]*{CONTENT}",
    ),
    (
        Kind.WRITE,
        rf"{PATH} ?という名前で、? ?{CONTENT}{_SAID}(?:内容|中身)の(?:新しい)?ファイルを ?{_MADE}",
    ),
    (Kind.WRITE, rf"(?:内容|中身) ?{CONTENT} ?で ?{_FILE} ?を ?{_MADE}"),
    (Kind.WRITE, rf"{CONTENT}{_SAID}{_HELD}で、? ?{_NEW_FILE}{_MADE}"),
    (
        Kind.WRITE,
        rf"{CONTENT}{_SAID}(?:内容|中身|テキスト|文章)?(?:を|と) ?{_FILE} ?(?:に|へ|として) ?{_MADE}",
    ),
    (Kind.WRITE, rf"{_FILE} ?(?:に|へ)(?:は)? ?{CONTENT}{_SAID}(?:内容|テキスト|文章)?(?:と|を) ?{_MADE}"),
    (
        Kind.SEARCH,
        rf"{_WHERE}{TEXT}{_SAID}(?:文字列|文字|単語|テキスト|言葉)?を ?{_FOUND}",
    ),
    (
        Kind.SEARCH,
        (
            rf"{_WHERE}{TEXT}{_SAID}(?:文字列|単語)?(?:を|が) ?{_HOLDS}"
            rf"(?:ファイル|箇所|場所|行)(?:を|は|の一覧を?)? ?(?:(?:どこ|どれ)(?:ですか)?)?(?:{_SHOWN}|{_FOUND}|{_TE})"
        ),
    ),
    (Kind.SEARCH, rf"{_WHERE}{TEXT} ?は ?(?:どこ|どのファイル)(?:に|で)?{_STANDS}{_TE}"),
    (
        Kind.READ,
        rf"{_FOLDER}{_FILE} ?(?:の(?:中身|内容|中))?(?:を|は) ?(?:{_READ}|[?？]+|何(?:ですか)?{_TE})",
    ),
    # In haste, people leave the particle out.
    (Kind.READ, rf"(?P<path>[!-~]+\.[!-~]+?) ?{_READ}"),
    (
        Kind.READ,
        rf"{_FOLDER}{_FILE} ?に?は? ?(?:何|なに)が(?:書いてありますか|書いてある|書かれていますか|書かれている){_TE}",
    ),
)
_COMMANDS = (
    rf"(?:コマンド ?)(?P<command>.+?) ?を ?(?:(?:実行|起動){_SURU}|(?:走らせて|動かして){_TE})",
    rf"(?P<command>.+?) ?(?:という)?(?:コマンド)?を ?(?:(?:実行|起動){_SURU}|(?:走らせて|動かして){_TE})",
)


@cache
def table() -> Table:
    """The patterns, compiled for the first sentence."""
    rows = (*_TABLE, *((Kind.RUN, each) for each in _COMMANDS))
    return [(kind, re.compile(_COURTESY + each, re.IGNORECASE)) for kind, each in rows]
