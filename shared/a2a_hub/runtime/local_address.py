"""Where callers on this machine reach a function of which nobody has said how it is reached."""

from __future__ import annotations

from a2a_hub.settings.reader import Settings


def own_address(settings: Settings) -> str:
    """The port that the Functions Framework was given, with `--port` or as `PORT`; else its own default."""
    # The framework has loaded it already; whoever reads settings without the framework need not load it at their start.
    import click

    command = click.get_current_context(silent=True)
    given = command.params.get("port") if command else None
    return f"http://127.0.0.1:{given or settings.port('PORT', 8080)}"
