"""Language models: Gemini on Vertex AI, and every server that speaks OpenAI's chat completions."""
