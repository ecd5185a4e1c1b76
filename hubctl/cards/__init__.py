"""Agent cards for Gemini Enterprise: building them from the route table, and checking them strictly."""
