"""An entry point whose settings are wrong, so that its import fails."""

raise ValueError("DOCUMENTS_FOLDER names no folder")
