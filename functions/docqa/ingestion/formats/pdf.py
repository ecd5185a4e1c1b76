"""PDF to blocks: by PDFium; where it leaves characters out, by pypdf, which sees no tables."""

import io
import logging
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from ctypes import c_float, c_int
from itertools import islice, pairwise, takewhile
from math import inf
from typing import Any, NamedTuple

from msgspec import structs

from functions.docqa.ingestion.blocks import MAX_CHARACTERS, Content, Unreadable, raised
from functions.docqa.ingestion.formats.lines import NUMBERED, Line, line_blocks, shown_width
from functions.docqa.ingestion.formats.pdf_tables import PlacedLine, Rule, Word, with_tables
from functions.docqa.ingestion.headings import is_metadata
from functions.docqa.ingestion.tables import is_header

_MAX_PAGES, _MAX_PAGE_CHARACTERS, _MAX_RULES, _MAX_OBJECTS, _MAX_POINTS = 3_000, 300_000, 2_000, 20_000, 20_000
_EDGE_LINES, _HEAD_LINES, _LEAST_SHARE, _SAME_HEIGHT, _LONGEST_NUMBER, _MAX_NUMBERS = 3, 5, 0.4, 3.0, 6, 8
_LARGER, _MAX_CHARACTERS, _MAX_SHARE, _THIN, _MAX_UPRIGHT = 1.12, 160, 0.3, 3.0, 0.7
_SMALL, _RAISED, _LED, _COMPARED_ROWS = 0.85, 0.6, 1.3, 50
_RAISABLE = re.compile(r"[^\W_]\W{0,2}\d")
_BOLD, _PAGE, _FOOT = 600, 10_000, 0.08
_DIGITS = re.compile(r"\d+")
_SYMBOL_BULLET = re.compile(r"^[\x7f\uf020-\uf0ff●○◦▪■‣]\s*(?=\S)")
_LISTED = re.compile(r"[•\x7f\uf020-\uf0ff●○](?!.*[^\x00-\u2fff])")
_HAS_WORD = re.compile(r"[^\W\d_]{2}")
_NO_WORD_ENDS = (".", ",", ";", "。", "、", "；")
# What programs write when nobody gave a title.
_NO_TITLE = re.compile(
    r"\W*(?:anonymous|unspecified|untitled|no title|無題|タイトルなし|名称未設定)\W*\d*$"
    r"|(?:microsoft word - .*|(?:document|文書|presentation|book)\W*\d+(?:\.\w+)?|.*\.(?:docx?|xlsx?|pptx?|pdf|indd))$",
    re.IGNORECASE,
)
_ILLEGIBLE = re.compile(r"[\ufffd\ue000-\uf01f\uf100-\uf8ff\x00-\x08\x0e-\x1f]")
_INNER_HYPHEN = re.compile("\u00ad(.)")
_HYPHENS = dict.fromkeys((0xFFFE, 0x02, 0xAD), "\u00ad")


class _Page(NamedTuple):
    lines: list[PlacedLine]
    rules: list[Rule]
    is_image: bool = False
    is_filled: bool = False  # has form fields with values, or text that was put onto it
    foot: str = ""


def read_pdf(content: bytes) -> Content:
    """Return the blocks of a PDF. Raises Unreadable."""
    pages, title, is_incomplete = _by_pdfium(content)
    text = "".join(line.text for page in pages for line in page.lines)
    if text and len(_ILLEGIBLE.findall(text)) * 3 > len(text):
        raise Unreadable("PDF whose fonts do not tell which characters they show")
    running = _running_heads([page.lines for page in pages])
    placed_lines = [(line, number) for number, page in enumerate(pages, start=1) for line in page.lines]
    if all(not running.isdisjoint(_keys(*each)) for each in placed_lines):
        running = set()  # copies of one page
    heads = _headings([line for line, _ in placed_lines])
    lines: list[Line] = []
    dropped: list[str] = []
    widths = [max((shown_width(line.text) for line in page.lines), default=0) for page in pages]
    usual = sorted(widths)[len(widths) // 2] if widths else 0
    for number, page in enumerate(pages, start=1):
        runs = [not running.isdisjoint(_keys(line, number)) for line in page.lines]
        dropped += [line.text for line, out in zip(page.lines, runs, strict=True) if out and number == 1]
        placed = with_tables(page.lines, page.rules, first_table=len(lines) + 1, without=runs)
        lines += _laid_out(_continued(placed, lines), heads, number, max(widths[number - 1], usual))
    named = "" if _NO_TITLE.match(title.strip()) else " ".join(title.split())
    opening = islice((line for line in lines if line.text and not is_metadata(line.text)), 1 if named else _EDGE_LINES)
    first = next((line for line in opening if line.depth or line.row), None)
    foremost = min((line.depth for line in lines if line.depth and line.page == 1), default=0)
    if first and 0 < first.depth == foremost and not NUMBERED.match(first.text):
        first.depth = 1
    images = [str(number) for number, page in enumerate(pages, start=1) if page.is_image]
    filled = [str(number) for number, page in enumerate(pages, start=1) if page.is_filled]
    left_out = [f"images without text, which need text recognition, on pages {', '.join(images)}"] if images else []
    left_out += ["single characters of fonts that are not in the file"] if is_incomplete else []
    left_out += [f"values of forms and text in annotations on pages {', '.join(filled)}"] if filled else []
    return Content(
        blocks=list(line_blocks(_unbroken(lines))),
        title=named,
        pages=len(pages),
        running="\n".join(dropped or [page.foot for page in pages[:1]]),
        left_out=left_out,
    )


def _by_pdfium(content: bytes) -> tuple[list[_Page], str, bool]:
    """Return the pages, the title, and whether characters are missing that pypdf does not read either."""
    import pypdfium2

    try:
        with closing(pypdfium2.PdfDocument(content)) as document:
            if len(document) > _MAX_PAGES:
                raise Unreadable(f"{len(document)} pages, more than {_MAX_PAGES}")
            budget, pages, lost = MAX_CHARACTERS, [], False
            for number in range(len(document)):
                with closing(document[number]) as page:
                    lines, characters = _page_lines(page)
                    budget -= characters
                    lost = lost or _leaves_out(page)
                    is_image = not lines and _has_image(page)
                    foot = " ".join(line.text for line in lines if line.y < _FOOT * page.get_height())
                    rules, is_filled = list(_rules(page)), _is_filled(page)
                    pages.append(_Page(lines, rules, is_image=is_image, is_filled=is_filled, foot=foot))
                if budget < 0:
                    raise Unreadable(f"more than {MAX_CHARACTERS} characters of text")
            title = document.get_metadata_value("Title") or ""
    except pypdfium2.PdfiumError as error:
        locked = "password" in str(error).casefold()
        raise Unreadable("encrypted PDF" if locked else "damaged PDF") from error
    if not lost:
        return pages, title, False
    read_again = [page._replace(lines=lines) for page, lines in zip(pages, _by_pypdf(content), strict=False)]
    is_fuller = len(read_again) == len(pages) and _length(read_again) >= _length(pages)
    return (read_again if is_fuller else pages), title, not is_fuller


def _length(pages: Sequence[_Page]) -> int:
    """Return how many characters the words of the pages have."""
    return sum(len(word.text) for page in pages for line in page.lines for word in line.words)


def _page_lines(page: Any) -> tuple[list[PlacedLine], int]:
    """Return the lines of a page, and how many characters it has."""
    from pypdfium2 import raw

    rotation = page.get_rotation()
    with closing(page.get_textpage()) as text:
        count = text.count_chars()
        if count > _MAX_PAGE_CHARACTERS:
            raise Unreadable(f"more than {_MAX_PAGE_CHARACTERS} characters on a page")
        codes = [raw.FPDFText_GetUnicode(text, at) for at in range(count)]
        characters = "".join(_HYPHENS.get(code) or (chr(code) if 0 < code < 0x110000 else " ") for code in codes)
        lines: list[PlacedLine] = []
        for match in re.finditer(r"[^\r\n]*\S[^\r\n]*", characters):
            start, end = match.span()
            if not _is_on(page, text.get_charbox(start + len(match[0]) - len(match[0].lstrip()))):
                continue
            line = _placed(text, characters, start, end, rotation)
            if lines and not line.upright and _goes_on(lines[-1], line):
                line = _joined(lines.pop(), line, spaced=match[0][0].isspace())
            lines.append(line)
    return _upright(_edges_in_order(lines)), count


def _edges_in_order(lines: list[PlacedLine]) -> list[PlacedLine]:
    """Return the lines with those that programs draw first although they stand below all others, or last above them, there."""
    footers: list[PlacedLine] = []
    for line in lines[:_EDGE_LINES]:
        if all(line.y < other.y for other in lines if other is not line and other not in footers):
            footers.append(line)
    heads: list[PlacedLine] = []
    top = right = inf
    for line in lines:
        # What stands beside all others is the next column.
        if line.y > top + line.size / 2 and line.words[0].left < right:
            heads.append(line)
        else:
            top = line.y if top == inf else max(top, line.y)
            right = line.words[-1].right if right == inf else max(right, line.words[-1].right)
    heads.sort(key=lambda line: -line.y)
    return [*heads, *(line for line in lines if line not in footers and line not in heads), *footers]


def _is_on(page: Any, box: Sequence[float]) -> bool:
    """Return whether a character stands on the part of the page that is shown."""
    from pypdfium2 import raw

    x, y = c_int(), c_int()
    middle = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
    raw.FPDF_PageToDevice(page, 0, 0, _PAGE, _PAGE, 0, *middle, x, y)
    return 0 <= x.value <= _PAGE and 0 <= y.value <= _PAGE


def _goes_on(above: PlacedLine, line: PlacedLine) -> bool:
    """Return whether PDFium began a line only because a character before it is raised."""
    gap = line.words[0].left - above.words[-1].right
    return abs(line.y - above.y) < _RAISED * max(line.size, above.size) and -1 < gap < _RAISED * line.size


def _joined(above: PlacedLine, line: PlacedLine, *, spaced: bool) -> PlacedLine:
    words = [*above.words, *line.words]
    if not spaced:
        first, last = line.words[0], above.words[-1]
        words = [*above.words[:-1], Word(last.text + first.text, last.left, first.right, last.y), *line.words[1:]]
    size, bold = (line.size, line.bold) if above.size < line.size else (above.size, above.bold)
    return PlacedLine(above.text + " " * spaced + line.text, words, y=min(above.y, line.y), size=size, bold=bold)


def _has_image(page: Any) -> bool:
    from pypdfium2 import raw

    return next(page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE]), None) is not None


def _is_filled(page: Any) -> bool:
    """Return whether there are form fields with values, or texts in annotations, which are no text of the page."""
    from pypdfium2 import raw

    for number in range(min(raw.FPDFPage_GetAnnotCount(page), _MAX_OBJECTS)):
        annotation = raw.FPDFPage_GetAnnot(page, number)
        try:
            key = {raw.FPDF_ANNOT_WIDGET: b"V", raw.FPDF_ANNOT_FREETEXT: b"Contents"}.get(
                raw.FPDFAnnot_GetSubtype(annotation)
            )
            # The length in bytes of UTF-16 with an end: more than that of no text.
            if key and raw.FPDFAnnot_GetStringValue(annotation, key, None, 0) > len("\0".encode("utf-16-le")):
                return True
        finally:
            raw.FPDFPage_CloseAnnot(annotation)
    return False


def _leaves_out(page: Any) -> bool:
    """Return whether there is text without width: PDFium drops single characters of fonts that are not embedded."""
    from pypdfium2 import raw

    for item in islice(page.get_objects(filter=[raw.FPDF_PAGEOBJ_TEXT]), _MAX_OBJECTS):
        left, _, right, _ = item.get_bounds()
        if left == right and left and not raw.FPDFFont_GetIsEmbedded(raw.FPDFTextObj_GetFont(item)):
            return True
    return False


def _placed(text: Any, characters: str, start: int, end: int, rotation: int) -> PlacedLine:
    from pypdfium2 import raw

    words = []
    for match in re.finditer(r"\S+", characters[start:end]):
        first, last = start + match.start(), start + match.end() - 1
        left, right = _turned(text.get_charbox(first), rotation), _turned(text.get_charbox(last), rotation)
        # PDFium joins the lines that a hyphen divides a word between.
        word = _INNER_HYPHEN.sub(_rejoined, _whole(_with_raised(text, first, match[0])))
        words.append(Word(word, left[0], right[2], (left[1] + left[3]) / 2))
    at = start + len(characters[start:end]) - len(characters[start:end].lstrip())
    box = _turned(text.get_charbox(at, loose=True), rotation)
    size = raw.FPDFText_GetFontSize(text, at) or box[3] - box[1]
    # A font may be scaled by the page's matrix: what is shown counts.
    size = box[3] - box[1] if size <= 1.5 else size
    # A term in bold that a paragraph begins with makes no heading of its first line.
    last = start + len(characters[start:end].rstrip()) - 1
    bold = all(raw.FPDFText_GetFontWeight(text, each) >= _BOLD for each in (at, last))
    ending = _turned(text.get_charbox(end - 1), rotation)
    upright = abs(ending[1] - box[1]) > 2 * (abs(ending[0] - box[0]) + size)
    line = " ".join(word.text for word in words)
    return PlacedLine(line, words, y=box[1], size=round(size * 2) / 2, bold=bold, upright=upright)


def _whole(text: str) -> str:
    """Return a text with the halves in which PDFium gives characters like 𠮟 joined; a half alone has no meaning."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _rejoined(hyphen: re.Match[str]) -> str:
    """Return what stood around a line's end as one: person-nel is personnel, but P-7 stays."""
    return hyphen[1] if hyphen[1].islower() else f"-{hyphen[1]}"


def _with_raised(text: Any, start: int, word: str) -> str:
    """Return a word with a mark before figures that are small and raised: a note's number, or a power."""
    from pypdfium2 import raw

    if not _RAISABLE.search(word):
        return word
    sizes = [raw.FPDFText_GetFontSize(text, start + at) for at in range(len(word))]
    shown, base, run = "", 0, ""
    for at, character in enumerate(word):
        is_small = character.isdigit() and sizes[at] < _SMALL * sizes[base]
        if is_small and text.get_charbox(start + at, loose=True)[1] > text.get_charbox(start + base, loose=True)[1] + 1:
            run += character
        else:
            shown, base, run = shown + raised(run, shown) + character, at, ""
    return shown + raised(run, shown)


def _turned(box: Sequence[float], rotation: int) -> Sequence[float]:
    """Return (left, bottom, right, top) as a page is shown that is turned clockwise by `rotation` degrees."""
    left, bottom, right, top = box
    match rotation:
        case 90:
            return bottom, -right, top, -left
        case 180:
            return -right, -top, -left, -bottom
        case 270:
            return -top, left, -bottom, right
        case _:
            return box


def _rules(page: Any) -> Iterator[Rule]:
    """Return the straight lines and thin bars that are drawn on the page, and the sides of its frames."""
    from pypdfium2 import raw

    rotation, points = page.get_rotation(), _MAX_POINTS
    for item in islice(page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH]), _MAX_RULES):
        left, bottom, right, top = _turned(item.get_bounds(), rotation)
        if top - bottom <= _THIN < right - left:
            yield Rule((top + bottom) / 2, left, right, level=True)
        elif right - left <= _THIN < top - bottom:
            yield Rule((left + right) / 2, bottom, top, level=False)
        elif right - left > _THIN and points > 0:
            points -= raw.FPDFPath_CountSegments(item)
            yield from _sides(item, rotation)


def _sides(path: Any, rotation: int) -> Iterator[Rule]:
    """Return the level and upright lines of a path: a frame, or a whole grid that a program draws at once."""
    from pypdfium2 import raw

    matrix, x, y = raw.FS_MATRIX(), c_float(), c_float()
    raw.FPDFPageObj_GetMatrix(path, matrix)
    begin = last = (0.0, 0.0)
    for number in range(min(raw.FPDFPath_CountSegments(path), _MAX_POINTS)):
        segment = raw.FPDFPath_GetPathSegment(path, number)
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        at_x = matrix.a * x.value + matrix.c * y.value + matrix.e
        at_y = matrix.b * x.value + matrix.d * y.value + matrix.f
        left, bottom, *_ = _turned((at_x, at_y, at_x, at_y), rotation)
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            begin = (left, bottom)
        elif kind == raw.FPDF_SEGMENT_LINETO:
            yield from _rule(last, (left, bottom))
        if raw.FPDFPathSegment_GetClose(segment):
            yield from _rule((left, bottom), begin)
        last = (left, bottom)


def _rule(one: tuple[float, float], other: tuple[float, float]) -> Iterator[Rule]:
    """Return the line between two points, if it is level or upright and longer than a rule is thick."""
    (left, right), (bottom, top) = sorted((one[0], other[0])), sorted((one[1], other[1]))
    if top - bottom < 1 and right - left > _THIN:
        yield Rule((top + bottom) / 2, left, right, level=True)
    elif right - left < 1 and top - bottom > _THIN:
        yield Rule((left + right) / 2, bottom, top, level=False)


def _upright(lines: list[PlacedLine]) -> list[PlacedLine]:
    """Return the lines; those of a page written from top to bottom as if they ran from left to right, the first above."""
    if sum(len(line.text) for line in lines if line.upright) > _MAX_UPRIGHT * sum(len(line.text) for line in lines):
        columns = sorted(lines, key=lambda line: -line.words[0].left)
        return [structs.replace(line, y=-line.words[0].left, words=line.words[:1]) for line in columns]
    single = [line for line in lines if len(line.text) == 1 and not line.text.isascii()]
    if len(single) < 20 or len(single) < _MAX_UPRIGHT * len(lines):
        return lines
    out: list[PlacedLine] = []
    for line in lines:
        beside = out and abs(out[-1].words[0].left - line.words[0].left) < line.size
        if beside:
            out[-1].text += line.text
        else:
            out.append(PlacedLine(line.text, line.words[:1], y=-line.words[0].left, size=line.size, bold=line.bold))
    return out


def _by_pypdf(content: bytes) -> list[list[PlacedLine]]:
    """Return the lines of the pages of a file that PDFium has opened; none if pypdf cannot read it."""
    from pypdf import PdfReader

    # Its warnings name no file; what cannot be read is told with the file's name.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(io.BytesIO(content))
        if reader.is_encrypted:
            reader.decrypt("")
        return [_pypdf_lines(page) for page in reader.pages]
    except Exception:  # a damaged file raises anything
        return []


def _pypdf_lines(page: Any) -> list[PlacedLine]:
    """Return the lines of a page; how wide their words are is a guess."""
    lines: list[PlacedLine] = []

    def seen(text: str, cm: Sequence[float], tm: Sequence[float], _: object, size: float) -> None:
        x = tm[4] * cm[0] + tm[5] * cm[2] + cm[4]
        y = tm[4] * cm[1] + tm[5] * cm[3] + cm[5]
        height = abs(size * (tm[3] * cm[3] or tm[1] * cm[2]))
        for part in filter(str.strip, text.split("\n")):
            width = sum(height / (2 if character.isascii() else 1) for character in part.strip())
            word = Word(_whole(part.strip()), x, x + width, y + height / 3)
            if lines and abs(lines[-1].y - y) < _SAME_HEIGHT:
                lines[-1].text += f" {word.text}" if word.left - lines[-1].words[-1].right > height / 4 else word.text
                lines[-1].words.append(word)
            else:
                lines.append(PlacedLine(word.text, [word], y=y, size=round(height * 2) / 2))

    page.extract_text(visitor_text=seen)
    return lines


def _keys(line: PlacedLine, page: int) -> set[tuple[str, int]]:
    """Return what a line has in common with those of other pages: its text, where one number may count them."""
    text = "".join(line.text.split())
    texts = {text}
    for match in islice(_DIGITS.finditer(text), _MAX_NUMBERS):
        if len(match[0]) < _LONGEST_NUMBER:
            texts.add(f"{text[: match.start()]}#{int(match[0]) - page}{text[match.end() :]}")
    return {(text, round(line.y / _SAME_HEIGHT)) for text in texts}


def _running_heads(pages: Sequence[Sequence[PlacedLine]]) -> set[tuple[str, int]]:
    """Return what stands at one height at the edge of many pages, but for a number that counts them, and that height."""
    seen: Counter[tuple[str, int]] = Counter()
    for number, page in enumerate(pages, start=1):
        by_height = sorted(page, key=lambda line: line.y)
        edges = [*by_height[:_HEAD_LINES], *by_height[_HEAD_LINES:][-_HEAD_LINES:]]
        seen.update({key for line in edges for key in _keys(line, number)})
    return {key for key, count in seen.items() if count >= max(2, _LEAST_SHARE * len(pages))}


def _headings(lines: Sequence[PlacedLine]) -> dict[tuple[float, bool], int]:
    """Return which styles are those of headings, as far as size and weight tell it, and how deep they are."""
    count: Counter[tuple[float, bool]] = Counter()
    for line in lines:
        count[line.style] += len(line.text)
    if not count:
        return {}
    (size, bold), _ = count.most_common(1)[0]
    if not size:
        return {}
    larger = [
        style for style in count if style[0] >= _LARGER * size or (style[1] and not bold and style[0] >= 0.95 * size)
    ]
    if sum(count[style] for style in larger) > _MAX_SHARE * count.total():
        return {}
    return {style: min(at, 6) for at, style in enumerate(sorted(larger, reverse=True), start=3)}


def _laid_out(lines: Sequence[PlacedLine], heads: dict[tuple[float, bool], int], page: int, width: int) -> list[Line]:
    """Return the lines with the depth of headings, and a blank one where the gap between two is wider than usual."""
    gaps = [round(above.y - below.y) for above, below in pairwise(lines) if above.y > below.y]
    usual = Counter(gaps).most_common(1)[0][0] if gaps else 0
    out: list[Line] = []
    for at, line in enumerate(lines):
        above = lines[at - 1] if at else None
        in_table = above and line.table and above.table == line.table
        most = max(1.35 * usual, usual + 2, _LED * min(above.size, line.size)) if above else 0.0
        if above and not in_table and not 0 < above.y - line.y <= most and above.y != line.y:
            moved = above.y < line.y  # to the next column, where a paragraph may go on
            if not (moved and line.size and above.text[-1:] not in (".", "。", ":", "：")):
                out.append(Line("", page=page))
        depth = 0 if line.table or not _heads(line.text) else heads.get(line.style, 0)
        if depth and out and out[-1].depth == depth and above and above.style == line.style and above.y > line.y:
            out[-1].text += f" {line.text}"
            continue
        text = _SYMBOL_BULLET.sub("• ", line.text)
        out.append(Line(text, page=page, depth=depth, row=line.row, table=line.table, width=width))
    return out


def _continued(placed: Sequence[PlacedLine], before: Sequence[Line]) -> Sequence[PlacedLine]:
    """Return the lines of a page; a table at its top goes on with that before it, whose header it may repeat."""
    first, last = placed[0] if placed else None, before[-1] if before else None
    if not first or not last or not first.row or len(first.row) != len(last.row):
        return placed
    header, *above = islice((line.row for line in before if line.table == last.table), _COMPARED_ROWS)
    rows = [line for line in placed if line.table == first.table]
    if first.row != header and is_header([line.row for line in rows], above=above):
        return placed  # another table
    for line in rows:
        line.table = last.table
    repeated = list(takewhile(lambda pair: pair[0].row == pair[1], zip(rows, (header, *above), strict=False)))
    return placed[len(repeated) :]


def _heads(text: str) -> bool:
    is_short = len(text) <= _MAX_CHARACTERS and not text.endswith(_NO_WORD_ENDS)
    return is_short and _HAS_WORD.search(text) is not None and not _LISTED.match(text)


def _unbroken(lines: list[Line]) -> list[Line]:
    """Return the lines with the words whole that a hyphen divides at a line's end."""
    for above, below in pairwise(lines):
        text = above.text.rstrip()
        broken = text.endswith("\u00ad") or (text.endswith("-") and text[-2:-1].isalpha() and below.text[:1].islower())
        if broken and below.text.strip() and not below.table:
            word, _, rest = below.text.strip().partition(" ")
            above.text, below.text = text[:-1] + word, rest
    return [line for line in lines if line.text or not line.depth]
