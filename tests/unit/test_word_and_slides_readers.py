"""Word files and slides: numbering, tables and notes, and nothing that is not shown."""

import io
import zipfile

from functions.docqa.ingestion.reader import read
from tests.unit.reader_files import W, archive, paragraph, units


def test_docx_keeps_automatic_numbers_merged_cells_and_notes_but_no_running_heads() -> None:
    levels = "".join(
        f'<w:lvl w:ilvl="{at}"><w:start w:val="1"/><w:numFmt w:val="{form}"/><w:lvlText w:val="{text}"/></w:lvl>'
        for at, (form, text) in enumerate((("decimal", "第%1条"), ("aiueo", "（%2）")))
    )
    numbers = f'<w:abstractNum w:abstractNumId="5">{levels}</w:abstractNum>'
    numbers += '<w:num w:numId="1"><w:abstractNumId w:val="5"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="5"/>'
    numbers += '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride></w:num>'
    numbered = '<w:numPr><w:ilvl w:val="{}"/><w:numId w:val="1"/></w:numPr>'.format
    cell = "<w:tc><w:tcPr>{1}</w:tcPr>{0}</w:tc>".format
    rows = [
        cell(paragraph("区分"), "") + cell(paragraph("日当"), ""),
        cell(paragraph("部長"), '<w:vMerge w:val="restart"/>') + cell(paragraph("900円"), ""),
        cell(paragraph(""), "<w:vMerge/>") + cell(paragraph("800円"), ""),
    ]
    body = (
        paragraph("（目的）", numbered(0))
        + paragraph("本則は目的を定める。")
        + paragraph("（休暇）", numbered(0))
        + paragraph("次の者を除く。", "").replace("</w:r>", '</w:r><w:r><w:footnoteReference w:id="2"/></w:r>')
        + paragraph("役員", numbered(1))
        + f"<w:tbl>{''.join(f'<w:tr>{row}</w:tr>' for row in rows)}</w:tbl>"
        + paragraph("（細則）", numbered(0).replace('numId w:val="1"', 'numId w:val="2"'))
        + paragraph("別に定める。")
    )
    note = paragraph("例外がある。")
    content = archive(
        word__document=f"<w:document {W}><w:body>{body}</w:body></w:document>",
        word__numbering=f"<w:numbering {W}>{numbers}</w:numbering>",
        word__header1=f"<w:hdr {W}>{paragraph('第3版 社外秘')}</w:hdr>",
        word__footnotes=f'<w:footnotes {W}><w:footnote w:id="2">{note}</w:footnote></w:footnotes>',
    )
    document = read("規程.docx", "corpus:x", content)
    sections = [("第1条（目的）",), ("第2条（休暇）",), ("第1条（細則）",)]
    assert [passage.section for passage in document.passages] == sections
    found = units(document)
    assert [unit.text for unit in found[1:]] == [
        "次の者を除く。",
        "例外がある。",
        "役員",
        "部長 | 900円",
        "部長 | 800円",
        "別に定める。",
    ]
    assert found[2].context == ("次の者を除く。",)
    assert found[4].header == "区分 | 日当"
    assert document.edition.labels == ("v3",)


def test_docx_text_that_is_not_shown_is_no_evidence_and_boxes_and_tables_inside_are_read_once() -> None:
    run = "<w:r><w:rPr>{1}</w:rPr><w:t>{0}</w:t></w:r>".format
    box = f"<w:txbxContent>{paragraph('Ring twice.')}</w:txbxContent>"
    cell = "<w:tc>{}</w:tc>".format
    inner = f"<w:tbl><w:tr>{cell(paragraph('6 hours'))}{cell(paragraph('boss'))}</w:tr></w:tbl>"
    outer = f"<w:tbl><w:tr>{cell(paragraph('Business'))}{cell(inner + paragraph('ask'))}</w:tr></w:tbl>"
    runs = [
        ("It is 5", ""),
        ("2", '<w:vertAlign w:val="superscript"/>'),
        (" or", ""),
        (" 9", "<w:strike/>"),
        (" 8", "<w:vanish/>"),
        (" less", '<w:strike w:val="0"/>'),
        (".", '<w:dstrike w:val="off"/>'),
    ]
    boxes = f"<w:AlternateContent><w:Choice>{box}</w:Choice><w:Fallback>{box}</w:Fallback></w:AlternateContent>"
    body = f"<w:p>{''.join(run(*each) for each in runs)}</w:p><w:p><w:r>{boxes}</w:r></w:p>{outer}"
    parts = archive(word__document=f"<w:document {W}><w:body>{body}</w:body></w:document>")
    found = units(read("a.docx", "corpus:a", parts))
    assert [unit.text for unit in found] == ["It is 5² or less.", "Ring twice.", "Business | ask", "6 hours | boss"]
    assert found[-1].context[0] == "Business"


def test_docx_text_that_is_hidden_by_its_style_or_row_or_a_placeholder_is_no_evidence() -> None:
    style = '<w:style w:styleId="{0}"><w:basedOn w:val="{1}"/><w:rPr>{2}</w:rPr></w:style>'.format
    styles = style("Note", "", "<w:vanish/>") + style("Old", "Note", "") + style("Cut", "", "<w:strike/>")
    styles += style("Seen", "Note", '<w:vanish w:val="0"/>')
    run = "<w:r><w:rPr>{1}</w:rPr><w:t>{0}</w:t></w:r>".format
    runs = run("It is ", "") + run("4 or ", '<w:rStyle w:val="Cut"/>')
    runs += run("5", '<w:rStyle w:val="Cut"/><w:strike w:val="0"/>')
    fraction = "<w:f><w:num><w:t>1</w:t></w:num><w:den><w:t>2</w:t></w:den></w:f>"
    power = "<w:sSup><w:e><w:t>10</w:t></w:e><w:sup><w:t>6</w:t></w:sup></w:sSup>"
    empty = "<w:sdt><w:sdtPr><w:showingPlcHdr/></w:sdtPr><w:sdtContent>{}</w:sdtContent></w:sdt>".format
    cell = "<w:tc><w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>".format
    rows = ("", "Grade", "Room", "Meal"), ("", "A", "€80", "€20"), ("<w:hidden/>", "B", "€70", "€10")
    table = "".join(f"<w:tr><w:trPr>{each[0]}</w:trPr>{''.join(map(cell, each[1:]))}</w:tr>" for each in rows)
    table += f'<w:tr><w:trPr><w:gridBefore w:val="2"/></w:trPr>{cell("€25")}</w:tr>'
    body = f"<w:p>{runs}{run('.', '')}{empty(run('Choose an item.', ''))}</w:p>{paragraph('9', '<w:pStyle w:val=%sOld%s/>')}"
    body += paragraph("It has 2 doors.", '<w:pStyle w:val="Seen"/>')
    body += f"""<w:p><w:pPr><w:pStyle w:val="Old"/></w:pPr>{run("Of 3.", '<w:vanish w:val="0"/>')}{run("9", "<w:b/>")}</w:p>"""
    body = body.replace("%s", '"') + empty(paragraph("Enter text.")) + f"<w:p>{fraction}{run(' of ', '')}{power}</w:p>"
    parts = archive(
        word__document=f"<w:document {W}><w:body>{body}<w:tbl>{table}</w:tbl></w:body></w:document>",
        word__styles=f"<w:styles {W}>{styles}</w:styles>",
    )
    found = units(read("a.docx", "corpus:a", parts))
    assert [unit.text for unit in found] == [
        "It is 5.",
        "It has 2 doors.",
        "Of 3.",
        "1/2 of 10⁶",
        "A | €80 | €20",
        "€25",
    ]
    assert found[-1].header == "Grade | Room | Meal"
    assert found[-1].context[0] == "A"


def test_docx_list_items_with_kana_or_roman_numbers_are_governed_by_what_is_above_them() -> None:
    level = '<w:lvl w:ilvl="{0}"><w:numFmt w:val="{1}"/><w:lvlText w:val="%{2}"/></w:lvl>'.format
    levels = level(0, "upperRoman", 1) + level(1, "aiueo", 2)
    numbering = f'<w:abstractNum w:abstractNumId="1">{levels}</w:abstractNum>'
    numbering += '<w:num w:numId="1"><w:abstractNumId w:val="1"/></w:num>'
    numbered = '<w:numPr><w:ilvl w:val="{}"/><w:numId w:val="1"/></w:numPr>'.format
    lines = [("対象の者", 0), ("次の場合は除く", 0), ("独身寮", 1), ("社宅", 1)]
    body = "".join(paragraph(text, numbered(depth)) for text, depth in lines)
    parts = archive(
        word__document=f"<w:document {W}><w:body>{paragraph('寮')}{body}</w:body></w:document>",
        word__numbering=f"<w:numbering {W}>{numbering}</w:numbering>",
    )
    document = read("a.docx", "corpus:a", parts)
    assert "II 次の場合は除く\n  ア 独身寮" in document.text
    assert [unit.context for unit in units(document)][-2:] == [("次の場合は除く",)] * 2


def test_pptx_slides_are_sections_with_bullets_and_notes() -> None:
    shape = '<sp><nvSpPr><nvPr><ph type="{}"/></nvPr></nvSpPr><txBody>{}</txBody></sp>'.format
    line = '<p><r><rPr strike="noStrike"/><t>{}</t></r><r><rPr strike="sngStrike"/><t> old</t></r></p>'.format
    slide = f"<sld>{shape('title', line('Fire'))}{shape('body', line('Leave') + line('Call 119'))}<c><chart/></c></sld>"
    links = '<Relationships><Relationship Id="{}" Type="x/{}" Target="{}"/></Relationships>'.format
    content = {
        "ppt/presentation.xml": '<p xmlns:r="r"><sldIdLst><sldId id="256" r:id="rId1"/></sldIdLst></p>',
        "ppt/_rels/presentation.xml.rels": links("rId1", "slide", "slides/slide1.xml"),
        "ppt/slides/slide1.xml": slide,
        "ppt/slides/_rels/slide1.xml.rels": links("rId1", "notesSlide", "../notesSlides/n.xml"),
        "ppt/notesSlides/n.xml": f"<notes>{shape('body', line('Drills are in March.'))}</notes>",
    }
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        for name, part in content.items():
            file.writestr(name, part)
    document = read("a.pptx", "corpus:a", out.getvalue())
    assert document.title == "Fire"
    assert document.left_out == "charts on slides 1"
    assert [unit.text for unit in units(document)] == ["Leave", "Call 119", "Drills are in March."]
    assert {unit.cell for unit in units(document)} == {"slide 1"}


def test_diagrams_are_read_and_shapes_that_are_hidden_are_not() -> None:
    link = '<Relationships><Relationship Id="{}" Type="x/{}" Target="{}"/></Relationships>'.format
    marks = '<graphicData xmlns:r="r"><relIds r:dm="rId9"/></graphicData>'
    shape = '<sp><nvSpPr><cNvPr hidden="{}"/><nvPr/></nvSpPr><txBody><p><r><t>{}</t></r></p></txBody></sp>'.format
    group = f'<grpSp><nvGrpSpPr><cNvPr hidden="1"/></nvGrpSpPr>{shape(0, "Call 117.")}</grpSp>'
    call = shape(0, "Call 119.")
    older = f"<AlternateContent><Choice>{call}</Choice><Fallback>{call}</Fallback></AlternateContent>"
    point = "<pt><t><p><r><t>{}</t></r></p></t></pt>".format
    diagram = f"<dataModel>{point('Fill in the form')}{point('Wait three days')}</dataModel>"
    slides = {
        "ppt/presentation.xml": '<p xmlns:r="r"><sldIdLst><sldId id="256" r:id="rId1"/></sldIdLst></p>',
        "ppt/_rels/presentation.xml.rels": link("rId1", "slide", "slides/slide1.xml"),
        "ppt/slides/slide1.xml": f"<sld>{older}{shape(1, 'Call 118.')}{group}{marks}</sld>",
        "ppt/slides/_rels/slide1.xml.rels": link("rId9", "diagramData", "../diagrams/data1.xml"),
        "ppt/diagrams/data1.xml": diagram,
    }
    body = f"<w:body>{paragraph('Call 119.')}<w:p><w:r><w:drawing>{marks}</w:drawing></w:r></w:p></w:body>"
    text = {
        "word/document.xml": f"<w:document {W}>{body}</w:document>",
        "word/_rels/document.xml.rels": link("rId9", "diagramData", "diagrams/data1.xml"),
        "word/diagrams/data1.xml": diagram,
    }
    for name, content in (("a.pptx", slides), ("a.docx", text)):
        out = io.BytesIO()
        with zipfile.ZipFile(out, "w") as file:
            for part, xml in content.items():
                file.writestr(part, xml)
        found = units(read(name, f"corpus:{name}", out.getvalue()))
        assert [unit.text for unit in found] == ["Call 119.", "Fill in the form", "Wait three days"]


def test_docx_documents_that_are_embedded_are_named() -> None:
    body = f"<w:document {W}><w:body>{paragraph('Doors close at six.')}<w:altChunk/></w:body></w:document>"
    document = read("a.docx", "corpus:a", archive(word__document=body))
    assert document.left_out == "embedded documents (open and save it in Word)"


def test_docx_rows_and_ends_of_paragraphs_that_are_deleted_are_none_and_symbols_are_read() -> None:
    deleted = '<w:rPr><w:del w:id="1"/></w:rPr>'
    row = "<w:tr><w:trPr>{}</w:trPr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr>".format
    rows = row('<w:del w:id="2"/>', paragraph("North"), paragraph("€4")) + row("", paragraph("South"), paragraph("€5"))
    sign = '</w:t><w:sym w:font="Symbol" w:char="F0B3"/><w:sym w:font="MS Gothic" w:char="2611"/><w:t>'
    body = paragraph("Keep receipts for", deleted) + paragraph(" seven years.") + f"<w:tbl>{rows}</w:tbl>"
    root = "<m:rad><m:e><m:r><m:t>a+b</m:t></m:r></m:e></m:rad>"
    formula = f"<m:oMath><m:f><m:num>{root}</m:num><m:den><m:r><m:t>2</m:t></m:r></m:den></m:f></m:oMath>"
    body += (
        paragraph(f"At {sign} 30.")
        + f"<w:p>{formula}</w:p>"
        + paragraph('Ask first.</w:t><w:br w:type="page"/><w:t>Ring twice.', deleted)
    )
    parts = archive(word__document=f'<w:document {W} xmlns:m="m"><w:body>{body}</w:body></w:document>')
    found = [unit.text for unit in units(read("a.docx", "corpus:a", parts))]
    assert found == [
        "Keep receipts for seven years.",
        "South | €5",
        "At ≥☑ 30.",
        "(√(a+b))/2",
        "Ask first.",
        "Ring twice.",
    ]


def test_a_word_file_may_name_its_document_and_styles_otherwise() -> None:
    link = '<Relationship Id="a" Type="http://x/{}" Target="{}"/>'.format
    styles = '<w:style w:styleId="x"><w:name w:val="heading 1"/></w:style>'
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr("_rels/.rels", f"<Relationships>{link('officeDocument', '/word/document2.xml')}</Relationships>")
        file.writestr(
            "word/_rels/document2.xml.rels", f"<Relationships>{link('styles', 'styles2.xml')}</Relationships>"
        )
        file.writestr("word/styles2.xml", f"<w:styles {W}>{styles}</w:styles>")
        body = paragraph("Guide") + paragraph("Lift", '<w:pStyle w:val="x"/>') + paragraph("It closes at nine.")
        file.writestr("word/document2.xml", f"<w:document {W}><w:body>{body}</w:body></w:document>")
    document = read("a.docx", "corpus:a", out.getvalue())
    assert [(each.section, each.units[0].text) for each in document.passages] == [(("Lift",), "It closes at nine.")]
