"""The word lists: what a group does, and that those which ship are sound."""

from collections import Counter
from pathlib import Path

import pytest

from functions.docqa import vocabulary
from functions.docqa.vocabulary.lexicon import LONGEST_JAPANESE, LONGEST_PHRASE, Lexicon, lexicon, lexicon_of
from functions.docqa.vocabulary.term_files import Sections, read

_TERMS = Path(str(vocabulary.__file__)).parent / "terms"
_KINDS = {
    "time",
    "money",
    "quantity",
    "limit",
    "contact",
    "frequency",
    "person",
    "place",
    "procedure",
    "condition",
    "permission",
    "definition",
}


def _sections(folder: Path, text: str) -> Sections:
    (folder / "words.txt").write_text(text, encoding="utf-8")
    return read(folder)


def _lexicon(folder: Path, text: str) -> Lexicon:
    return lexicon_of(_sections(folder, text))


def test_a_word_has_the_words_of_its_group_in_both_languages(tmp_path: Path) -> None:
    found = _lexicon(tmp_path, "[synonyms]\nthrow away, dispose, 廃棄").groups.get("廃棄")

    assert found is not None
    assert (found.words, found.texts) == ((" throw away ", " dispos "), ("廃棄",))


def test_a_word_in_two_groups_does_not_join_them(tmp_path: Path) -> None:
    groups = _lexicon(tmp_path, "[synonyms]\nlift, elevator\nlift, hoist").groups

    lift, hoist = groups.get(" lift "), groups.get(" hoist ")
    assert lift is not None
    assert lift.words == (" lift ", " elevator ", " hoist ")
    assert hoist is not None
    assert hoist.words == (" lift ", " hoist ")


def test_a_word_is_the_same_in_full_width_and_half_width_letters(tmp_path: Path) -> None:
    groups = _lexicon(tmp_path, "[synonyms]\nＶＰＮ, リモートアクセス, ﾘﾓｰﾄ接続").groups

    assert all(word in groups for word in (" vpn ", "リモートアクセス", "リモート接続"))


def test_a_word_that_nobody_listed_has_no_group(tmp_path: Path) -> None:
    groups = _lexicon(tmp_path, "[synonyms]\nlift, elevator").groups

    assert " crane " not in groups
    assert groups.get(" crane ") is None


def test_a_word_after_a_tilde_is_said_by_documents_and_not_looked_for_in_questions(tmp_path: Path) -> None:
    groups = _lexicon(tmp_path, "[synonyms]\nfirst day, ~入社日").groups

    found = groups.get(" first day ")
    assert found is not None
    assert found.texts == ("入社日",)
    assert "入社日" not in groups


def test_a_short_japanese_verb_is_known_in_its_other_forms(tmp_path: Path) -> None:
    groups = _lexicon(tmp_path, "[synonyms]\n払う, 支払").groups

    assert all(form in groups for form in ("払わ", "払い", "払え", "払っ"))


def test_a_party_that_may_be_anybody_is_not_told_apart(tmp_path: Path) -> None:
    found = _lexicon(tmp_path, "[parties]\nemployee, 社員\npatient, 患者\n[anybody]\nemployee, 社員")

    assert found.parties == {" patient ", "患者"}


def test_a_kind_has_the_words_of_its_class_and_not_the_other_way_round(tmp_path: Path) -> None:
    found = _lexicon(tmp_path, "[broader]\ntea, coffee < beverage, 飲み物")

    assert found.broader == {" tea ": (" beverag ", "飲み物"), " coffe ": (" beverag ", "飲み物")}


def test_sections_of_one_name_in_several_files_belong_together(tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("# of\n[light]\nokay\n\n[asked time]\nday", encoding="utf-8")
    found = _lexicon(tmp_path, "[light]\nfine, 大丈夫\n[asked time]\nhour")

    assert found.light == {" okay ", " fin ", "大丈夫"}
    assert found.attributes == {" day ": frozenset({"time"}), " hour ": frozenset({"time"})}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lift, elevator", r"words.txt, line 1: .*section \[\]"),
        ("[synonym]\nlift, elevator", r"words.txt, line 2: .*section \[synonym\]"),
        ("[synonyms]\nlift,, elevator", r"words.txt, line 2: .*nothing between"),
        ("[synonyms]\n\nlift,", r"words.txt, line 3: .*nothing between"),
        ("[broader]\ntea, beverage", r"words.txt, line 2: .*<"),
    ],
)
def test_a_line_that_fits_nowhere_is_named_with_its_file(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        _sections(tmp_path, text)


def test_the_lists_that_ship_have_every_section() -> None:
    sections = read(_TERMS)

    assert set(sections.asked) == _KINDS
    assert all((sections.parties, sections.synonyms, sections.broader, sections.anybody))
    assert all((sections.light, sections.special, sections.stop))


def test_no_group_that_ships_stands_twice_or_holds_one_word_only() -> None:
    sections = read(_TERMS)
    groups = Counter(frozenset(words) for words in (*sections.parties, *sections.synonyms))

    assert [sorted(words) for words, count in groups.items() if count > 1 or len(words) < 2] == []


def test_every_word_that_ships_is_short_enough_to_be_found_in_a_question() -> None:
    keys = lexicon().groups.standing
    too_long = [key for key in keys if key[0] == " " and len(key.split()) > LONGEST_PHRASE]
    too_long += [key for key in keys if key[0] != " " and len(key) > LONGEST_JAPANESE]

    assert too_long == []


def test_no_word_that_ships_is_a_mere_space_or_a_single_kana() -> None:
    keys = lexicon().groups.standing

    assert [key for key in keys if not key.strip() or (len(key) == 1 and "\u3041" <= key <= "\u30ff")] == []
