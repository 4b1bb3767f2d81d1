"""A Latin square of order 7 whose diagonal is all different too: a kind of problem the shipped network has never been trained on.

python examples/latin_square.py
"""

from consformer import Model, all_different, solve

ORDER = 7

model = Model()
x = model.variables((ORDER, ORDER), values=list("ABCDEFG"), name="x")
for i in range(ORDER):
    model.add(all_different(x[i, :]), all_different(x[:, i]))
model.add(all_different([x[i, i] for i in range(ORDER)]))

result = solve(model, method="network", pool=8)
print(result.status, f"after {result.effort.iterations} iterations")
for row in result[x]:
    print(" ".join(row))
