"""A corpus of any size with facts that can be asked for: rules of made-up sites, half of them in Japanese."""

import random
from dataclasses import dataclass
from pathlib import Path

# fmt: off
_SITES = (
    "Aldgate", "Birchwood", "Carrick", "Dunmore", "Elmstead", "Fairford", "Granton", "Harwich", "Ingleby",
    "Jarrow", "Kelso", "Linton", "Marlow", "Norwood",
)
_SITES_JA = (
    "青葉", "泉", "大崎", "桂", "北浜", "小牧", "栄", "新町", "住吉", "高槻", "常盤", "中野", "西宮", "橋本",
)
_THINGS = (
    "laptop", "badge", "forklift", "invoice", "contract", "visitor pass", "fire door", "backup tape",
    "server key", "locker", "meeting room", "company car", "microscope", "pallet", "crane", "boiler",
    "safe", "projector", "drone", "generator", "archive box", "water sample", "pump", "valve", "scanner",
    "greenhouse", "kiln", "turbine", "freezer", "oven", "ladder", "mould", "printer", "sensor", "antenna",
    "trailer", "workbench", "whiteboard", "intercom", "dishwasher",
)
_THINGS_JA = (
    "複合機", "社用車", "フォークリフト", "契約書", "入館証", "防火扉", "会議室",
    "金庫", "顕微鏡", "ボイラー", "クレーン", "発電機", "冷凍庫", "温室",
    "金型", "計測器", "送風機", "配電盤", "給湯器", "台車", "測量機",
    "足場", "揚水機", "印刷機", "乾燥炉", "監視カメラ", "無線機", "屋外灯",
    "貯水槽", "自動扉", "変圧器", "工具箱", "作業台", "書庫",
    "郵便物", "掲示板", "寝具", "消火器", "担架", "名札",
)
_ACTS = (
    "inspected", "returned", "replaced", "reported", "cleaned", "registered", "approved", "counted",
    "sealed", "repaired", "labelled", "tested",
)
_ACTS_JA = (
    "点検", "返却", "交換", "報告", "清掃", "登録", "承認", "廃棄", "修理", "検査", "記録", "撤去",
)
_FILLER = (
    "The rule holds on every working day and is explained to newcomers in their first week.",
    "Whoever notices a deviation tells the head of the site, who writes it down.",
    "Questions are answered by the office on the ground floor.",
)
_FILLER_JA = (
    "新人には最初の週に説明する。",
    "逸脱に気づいた者は所長に伝え、所長が書き留める。", "質問は一階の窓口で受け付ける。",
)
# fmt: on


@dataclass(frozen=True, slots=True)
class Fact:
    """A question and what its answer must hold."""

    question: str
    expected: str


def write(folder: Path, *, documents: int, seed: int = 7) -> list[Fact]:
    """Writes `documents` Markdown files of six sections (and passages) each; the facts in them, in their order."""
    choose = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    facts = []
    for number in range(documents):
        japanese = number % 2 == 1
        site = f"{choose.choice(_SITES_JA)}第{number}" if japanese else f"{choose.choice(_SITES)} {number}"
        lines = [f"# {site}事業所の規則" if japanese else f"# Rules of {site}", ""]
        for thing in choose.sample(_THINGS_JA if japanese else _THINGS, 6):
            days, act = choose.randint(2, 90), choose.choice(_ACTS_JA if japanese else _ACTS)
            if japanese:
                rule = f"{site}事業所の{thing}は、毎月の初日から{days}日以内に{act}する。"
                asked = f"{site}事業所の{thing}は何日以内に{act}しますか"
            else:
                rule = f"Each {thing} of {site} is {act} within {days} days of the first of the month."
                asked = f"Within how many days is each {thing} of {site} {act}?"
            filler = choose.sample(_FILLER_JA if japanese else _FILLER, 2)
            separator = "" if japanese else " "
            lines += [
                f"## {thing}",
                "",
                separator.join((*filler, rule)),
                "",
                separator.join(filler * 2),
                "",
            ]
            facts.append(Fact(asked, f"{days}日以内" if japanese else f"within {days} days"))
        (folder / f"rules-{number:05}.md").write_text("\n".join(lines), encoding="utf-8")
    return facts
