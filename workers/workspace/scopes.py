"""What each tool asks of the person's account, and no more."""

from typing import Final

_BASE = "https://www.googleapis.com/auth/"

READ_FILES: Final = _BASE + "drive.readonly"
READ_MAIL: Final = _BASE + "gmail.readonly"
READ_EVENTS: Final = _BASE + "calendar.events.readonly"
READ_FREE_TIME: Final = _BASE + "calendar.freebusy"
MAKE_FILES: Final = _BASE + "drive.file"
WRITE_DOCUMENTS: Final = _BASE + "documents"
WRITE_MAIL: Final = _BASE + "gmail.compose"
WRITE_EVENTS: Final = _BASE + "calendar.events"

READING: Final = (READ_FILES, READ_MAIL, READ_EVENTS, READ_FREE_TIME)
WRITING: Final = {
    "docs": (MAKE_FILES, WRITE_DOCUMENTS),
    "mail": (WRITE_MAIL,),
    "calendar": (WRITE_EVENTS,),
}
