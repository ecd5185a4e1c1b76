"""What a question asks for, taken apart."""
