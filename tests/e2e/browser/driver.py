"""Drives Chromium: `driver.py CHROMIUM`. A command in a line in, `{"result"}` or `{"error"}` out.

Every page that is opened notes what its console and its content security policy complain of, and every host that it asks for
anything.
"""

import json
import sys
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Error, Page, sync_playwright

# A condition is waited for, however busy the machine is.
_MILLISECONDS = 60_000


class Driver:
    """One page at a time, in a profile of its own."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._page: Page | None = None
        self._complaints: list[str] = []
        self._hosts: set[str] = set()

    @property
    def page(self) -> Page:
        """The page that is open."""
        assert self._page is not None, "open comes first"
        return self._page

    def open(self, url: str, language: str, width: int = 1000, dark: bool = False) -> str:
        """Open `url` in a new profile whose browser speaks `language`; return the address where it ended."""
        if self._page is not None:
            self._page.context.close()
        self._complaints, self._hosts = [], set()
        context = self._browser.new_context(
            locale=language, viewport={"width": width, "height": 800}, color_scheme="dark" if dark else "light"
        )
        context.set_default_timeout(_MILLISECONDS)
        self._page = context.new_page()
        self._page.on("console", self._note)
        self._page.on("pageerror", lambda error: self._complaints.append(str(error)))
        self._page.on("request", lambda request: self._hosts.add(urlsplit(request.url).netloc))
        self._page.goto(url)
        return str(self._page.url)

    def _note(self, said: Any) -> None:
        if said.type == "error":
            self._complaints.append(said.text)

    def click(self, selector: str) -> None:
        """Click the element."""
        self.page.click(selector)

    def fill(self, selector: str, text: str) -> None:
        """Write into the field."""
        self.page.fill(selector, text)

    def files(self, selector: str, paths: list[str]) -> None:
        """Choose files."""
        self.page.set_input_files(selector, paths)

    def press(self, selector: str, key: str) -> None:
        """Press a key in the element."""
        self.page.press(selector, key)

    def choose(self, selector: str, value: str) -> None:
        """Choose an option."""
        self.page.select_option(selector, value)

    def text(self, selector: str) -> str:
        """Return the visible text of the element, as soon as it is visible."""
        return str(self.page.locator(selector).inner_text())

    def wait(self, selector: str) -> None:
        """Wait until the element is visible."""
        self.page.wait_for_selector(selector)

    def evaluate(self, script: str) -> Any:
        """Return the value of a script."""
        return self.page.evaluate(script)

    def shoot(self, path: str, whole: bool = True) -> None:
        """Write a picture of the whole page, or of what is in view."""
        self.page.screenshot(path=path, full_page=whole)

    def seen(self) -> dict[str, Any]:
        """Return what was complained of and the hosts that were asked."""
        return {"url": self.page.url, "complaints": self._complaints, "hosts": sorted(self._hosts)}


def main(chromium: str) -> None:
    """Carry out the commands."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        driver = Driver(browser)
        for line in sys.stdin:
            name, arguments = json.loads(line)
            try:
                told = {"result": getattr(driver, name)(**arguments)}
            except Error as error:
                told = {"error": str(error)}
            sys.stdout.write(json.dumps(told) + "\n")
            sys.stdout.flush()
        browser.close()


main(sys.argv[1])
