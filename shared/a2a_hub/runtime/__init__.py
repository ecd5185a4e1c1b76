"""The parts that every function process has."""
