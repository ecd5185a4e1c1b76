"""Who is calling: tokens in, principals out."""
