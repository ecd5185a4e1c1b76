"""The page on costs: its amounts follow from the operations and prices that it names."""

import re
from pathlib import Path

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "costs.md").read_text(encoding="utf-8")
DAYS = 30
# vCPU seconds, GiB seconds and requests: what is free, and the price of one.
FREE = (180_000, 360_000, 2_000_000)
PRICES = (0.000024, 0.0000025, 0.40e-6)
SWEEPS = 43_200


def amounts(row: str) -> list[float]:
    (cells,) = re.findall(rf"^\| {re.escape(row)}.*?\|(.*)\|$", PAGE, re.MULTILINE)
    return [float(cell.replace(",", "")) for cell in cells.split("|")]


def cloud_run(questions: int, seconds: float) -> float:
    memory = 0.25 + 0.5 + 1
    used = (
        3 * questions * seconds + SWEEPS * 0.2,
        memory * questions * seconds + SWEEPS * 0.2 * 0.5,
        3 * questions + SWEEPS,
    )
    return sum(max(0, amount - free) * price for amount, free, price in zip(used, FREE, PRICES, strict=True))


def test_every_amount_follows_from_what_the_page_names() -> None:
    for stated in ("180,000 vCPU seconds", "360,000 GiB seconds", "3 reads and 11 writes", "0.06 documents a second"):
        assert stated in PAGE
    for index, questions in enumerate((0, 1_000 * DAYS, 10_000 * DAYS)):
        idle_reads = 0.06 * 86_400 * DAYS
        expected = {
            "Cloud Run, answers of 1 s": cloud_run(questions, 1),
            "Cloud Run, answers of 8 s": cloud_run(questions, 8),
            "Firestore": (idle_reads + 3 * questions) * 0.06e-5 + 11 * questions * 0.18e-5,
            "API Gateway": max(0, questions - 2_000_000) * 3e-6,
            "Discovery Engine": max(0, questions - 10_000) * 1.5e-3,
            "a model, gemini-3.5-flash-lite": questions * (12_000 * 0.30 + 700 * 2.50) * 1e-6,
            "a model, gemini-3.8-flash": questions * (12_000 * 0.75 + 700 * 3.75) * 1e-6,
        }
        for row, amount in expected.items():
            # Rounded for a reader.
            rounding = max(0.5 if amount > 10 else 0.05, 0.005 * amount)
            assert abs(amounts(row)[index] - amount) <= rounding, (row, questions, amount)


def test_an_idle_deployment_with_stored_tasks_costs_less_than_ten_dollars() -> None:
    rows = (
        "Cloud Run, answers of 8 s",
        "API Gateway",
        "Firestore",
        "Scheduler, Cloud Tasks",
        "images of the functions",
    )
    assert sum(amounts(row)[0] for row in rows) < 10
