"""Writes the hand-made models of this folder; run it here with the `onnx` package (1.14 or later)."""
import onnx
from onnx import TensorProto as T, helper as h

F = T.FLOAT


def value(name, dtype=F, shape=(2,)):
    return h.make_tensor_value_info(name, dtype, list(shape))


def save(name, graph, opset=15, **more):
    imports = [h.make_opsetid("", opset)] + more.pop("imports", [])
    model = h.make_model(graph, opset_imports=imports, ir_version=8, **more)
    onnx.save(model, name)


# `a` is captured through two levels, `w` (an initializer) by one branch only; the inner else branch gives an
# outer tensor a node of its own.
inner_then = h.make_graph([h.make_node("Add", ["a", "t"], ["p"], "add")], "inner_then", [], [value("p")])
inner_else = h.make_graph([h.make_node("Neg", ["b"], ["n"], "neg")], "inner_else", [], [value("n")])
then = h.make_graph(
    [
        h.make_node("Relu", ["b"], ["t"], "relu"),
        h.make_node("If", ["c2"], ["q"], "inner", then_branch=inner_then, else_branch=inner_else),
    ],
    "then", [], [value("q")])
els = h.make_graph([h.make_node("Mul", ["a", "w"], ["r"], "mul")], "else", [], [value("r")])
save("nested_if.onnx", h.make_graph(
    [
        h.make_node("Identity", ["x"], ["a"], "ia"),
        h.make_node("Identity", ["y"], ["b"], "ib"),
        # In the file the else branch comes first.
        h.make_node("If", ["c1"], ["z"], "outer", else_branch=els, then_branch=then),
    ],
    "nested_if",
    [value("x"), value("y"), value("c1", T.BOOL, ()), value("c2", T.BOOL, ())],
    [value("z")],
    [h.make_tensor("w", F, [2], [1.0, 2.0])]))

# A function that calls another one and passes an attribute on.
leaf = h.make_function("my", "Leaf", ["u"], ["v"], [], [h.make_opsetid("", 15)], ["alpha"])
leaky = h.make_node("LeakyRelu", ["u"], ["v"], "leaky")
leaky.attribute.append(onnx.AttributeProto(name="alpha", ref_attr_name="alpha", type=onnx.AttributeProto.FLOAT))
leaf.node.append(leaky)
outer = h.make_function("my", "Twice", ["i", "j"], ["k"], [], [h.make_opsetid("", 15), h.make_opsetid("my", 1)])
outer.node.extend([
    h.make_node("Leaf", ["i"], ["m"], "first", domain="my", alpha=0.5),
    h.make_node("Leaf", ["m"], ["n"], "second", domain="my", alpha=0.25),
    h.make_node("Add", ["n", "j"], ["k"], "sum"),
])
save("function.onnx", h.make_graph(
    [h.make_node("Twice", ["x", "x"], ["y"], "call", domain="my")], "function", [value("x")], [value("y")]),
    imports=[h.make_opsetid("my", 1)], functions=[leaf, outer])

# Everything an initializer can be, and what constants and outputs can be.
external = h.make_tensor("ext", F, [2], [0.0, 0.0])
external.ClearField("float_data")
external.data_location = T.EXTERNAL
for k, v in [("location", "weights.bin"), ("offset", "4096"), ("length", "8")]:
    external.external_data.add(key=k, value=v)
graph = h.make_graph(
    [
        h.make_node("Constant", [], ["ks"], value_ints=[3, 4]),
        h.make_node("Constant", [], ["kf"], value_float=2.0),
        h.make_node("Clip", ["x", "", "kf"], ["clipped"], "same"),
        h.make_node("Add", ["clipped", "ext"], ["sum"], "same"),
        h.make_node("Dropout", ["sum"], ["y", ""], "drop"),
    ],
    "constants",
    [value("x", F, ("batch", 2)), value("half", T.FLOAT16)],
    [value("y", F, ("batch", 2)), value("x", F, ("batch", 2)), value("ks", T.INT64)],
    [
        external,
        h.make_tensor("half", T.FLOAT16, [2], [1.0, -2.0]),
        h.make_tensor("names", T.STRING, [1], [b"n"]),
    ],
    value_info=[value("sum", F, ("batch", 2))])
del graph.input[1].type.tensor_type.shape.dim[:]
save("constants.onnx", graph, 13)
