"""The address of a function for callers on this machine, where no setting names one."""

from a2a_hub.settings.reader import Settings


def own_address(settings: Settings) -> str:
    """Return the address with the port of the Functions Framework (`--port`, `PORT`), else with its default port."""
    # The framework has loaded it; `hubctl` reads settings without it.
    import click

    command = click.get_current_context(silent=True)
    given = command.params.get("port") if command else None
    return f"http://127.0.0.1:{given or settings.port('PORT', 8080)}"
