"""Pages as generators of documentation make them: what the page is about, without what leads to other pages."""

from functions.docqa.documents.formats.html import html_text

_RULE = "Bicycles stand in the shed behind the north gate, where they are locked from ten at night until six in the morning."


def test_of_a_page_that_names_its_main_part_only_that_is_read() -> None:
    for start, end in (("<main>", "</main>"), ('<div role="main">', "</div>")):
        page = (
            f"<title>Bicycles</title><header>Minato</header>{start}<div><h1>Sheds</h1><p>{_RULE}</p><p>{_RULE}</p></div>{end}"
            "<div class='aside'><h3>Contents</h3><p>Sheds</p></div>"
        )
        assert html_text(page) == (f"# Sheds\n\n{_RULE}\n\n{_RULE}\n", "Bicycles"), start


def test_a_main_part_that_says_hardly_anything_is_not_taken_for_the_page() -> None:
    text = html_text(f"<main><p>Welcome.</p></main><div><p>{_RULE}</p></div>")[0]
    assert text == f"Welcome.\n\n{_RULE}\n"


def test_items_and_paragraphs_within_a_cell_are_kept_apart() -> None:
    page = "<table><tr><td>North</td><td><p>Open</p><ul><li>by day</li><li>by night</li></ul></td></tr></table>"
    assert html_text(page)[0] == "| North | Open by day by night |\n"
