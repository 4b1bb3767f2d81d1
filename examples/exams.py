"""Plan exams: no student sits two at once, and no more than three exams run in a slot.

python examples/exams.py
"""

from consformer import Model, cardinality, solve

EXAMS = ["algebra", "biology", "chemistry", "drama", "economics", "french", "geography", "history", "informatics", "japanese"]
SLOTS = ["Mon 9", "Mon 14", "Tue 9", "Tue 14"]
STUDENTS = [
    {"algebra", "chemistry", "informatics"},
    {"biology", "chemistry", "geography"},
    {"drama", "french", "history"},
    {"economics", "algebra", "french"},
    {"geography", "history", "japanese"},
    {"informatics", "japanese", "economics"},
    {"drama", "biology", "informatics"},
]

model = Model()
slot = model.variables(len(EXAMS), values=SLOTS, name="slot")
together = sorted({(a, b) for taken in STUDENTS for a in taken for b in taken if a < b})
for a, b in together:
    model.add(slot[EXAMS.index(a)] != slot[EXAMS.index(b)])
for name in SLOTS:
    model.add(cardinality(slot, name, at_most=3))
model.fix(slot[EXAMS.index("drama")], "Tue 9")  # the stage is free only then

result = solve(model)
print(result.status, f"in {result.effort.seconds:.2f} s, found by {result.effort.account.winner}")
for name in SLOTS:
    print(f"{name:>7}: {', '.join(exam for exam, at in zip(EXAMS, result[slot], strict=True) if at == name)}")
