"""The rules on agent cards for Gemini Enterprise."""
