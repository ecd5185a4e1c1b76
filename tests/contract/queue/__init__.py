"""Wake-ups, as every implementation delivers them."""
