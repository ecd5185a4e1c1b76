"""From a question and passages to quotes that answer it, checked and worded."""
