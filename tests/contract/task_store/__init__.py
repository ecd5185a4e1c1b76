"""What every task store promises; each of them runs all of it."""
