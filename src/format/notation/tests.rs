//! The notation as its users see it: what a text means, what is complained about, and that printing is the way back.

use proptest::prelude::*;

use super::{parse, parse_block, print};
use crate::graph::{
    AttrValue, Attrs, Builder, Compression, Extra, GraphId, GraphInfo, Input, ListItems, ListValue,
    ModelInfo, NamedAttrs, Node, NodeDetail, NodeId, OpaqueGraph, Place, Port, Snapshot, State, Sym, Tensor,
    TensorDesc,
};

/// The graph of a text without mistakes.
fn good(text: &str) -> Snapshot {
    let (snapshot, errors) = parse(text);
    assert!(errors.is_empty(), "{}", errors.iter().map(|e| format!("{e}\n")).collect::<String>());
    snapshot.unwrap()
}

/// Complaints as `code line:column underlined: message / help`.
fn complaints(text: &str) -> Vec<String> {
    let show = |e: crate::format::FormatError| {
        let help = e.help.map_or(String::new(), |h| format!(" / {h}"));
        let span = e.span.unwrap();
        format!("{} `{}`: {}{help}", e.code.trim_start_matches("format::"), &text[span], e.message)
    };
    parse(text).1.into_iter().map(show).collect()
}

fn find(state: &State, name: &str) -> NodeId {
    state.nodes_by_id().find(|(_, n)| &*n.name == name).unwrap().0
}

fn names(state: &State, nodes: impl IntoIterator<Item = NodeId>) -> Vec<String> {
    nodes.into_iter().map(|n| state.node(n).name.to_string()).collect()
}

fn consumers(state: &State, name: &str, index: u32) -> Vec<String> {
    let inputs = state.consumers(find(state, name).output(index));
    inputs.map(|i| format!("{}:{}", state.node(i.node).name, i.index)).collect()
}

fn desc(state: &State, name: &str, is_input: bool, index: usize) -> TensorDesc {
    let node = state.node(find(state, name));
    let ports = if is_input { &node.inputs } else { &node.outputs };
    (*ports.get(index).unwrap().desc).clone()
}

#[test]
fn what_is_left_out() {
    let g = good("a: Data\nb: Split(a)\nc: Add(b, b:2, _)");
    let b = g.node(find(&g, "b"));
    assert_eq!((b.inputs.len(), b.outputs.len()), (1, 3));
    let out = desc(&g, "b", false, 2);
    assert_eq!((out.dtype, out.dims(), out.layout.as_str()), (1, &[1][..], "ND"));
    assert_eq!(desc(&g, "c", true, 1), out);
    assert_eq!(desc(&g, "c", true, 2).layout, "FORMAT_RESERVED");
    assert_eq!(g.producer(find(&g, "c").input(2)), None);
    assert_eq!([0, 1, 2].map(|i| g.topo_id(NodeId(i))), [0, 1, 2]);
    assert_eq!(g.node(find(&g, "c")).outputs.len(), 1);
}

#[test]
fn everything_a_node_can_say() {
    let g = good(
        r#"
        "x/y:z": "Odd Type"(ref=v, value=v:1@7, bias=_) ^v {
          in0: float16[2,-1] NCHW, in0._parent_node_index = 3
          in1.@size = 64, "in1.x" = true
          out0.@reuse_input = 2
          out0."in0.y" = "z"
          @stream_id = 5, @id = 42
        } -> ref: int8[?] FRACTAL_Z:16, DT_BF16[], dtype99 "two words"
        v: Variable -> float32[2], float32[3] NHWC { shared_name = "w" }
        "#,
    );
    let odd = g.node(find(&g, "x/y:z"));
    let ports: Vec<&str> = odd.inputs.iter().map(|p| p.name.as_str()).collect();
    assert_eq!((odd.ty.as_str(), ports), ("Odd Type", vec!["ref", "value", "bias"]));
    let in0 = desc(&g, "x/y:z", true, 0);
    assert_eq!((in0.dtype, in0.dims(), in0.layout.as_str()), (2, &[2, -1][..], "NCHW"));
    assert_eq!(in0.attr(Sym::new("_parent_node_index")), Some(&AttrValue::Int(3)));
    let in1 = desc(&g, "x/y:z", true, 1);
    assert_eq!((in1.dims(), in1.layout.as_str(), in1.size), (&[3][..], "NHWC", 64));
    assert_eq!(odd.attr(Sym::new("in1.x")), Some(&AttrValue::Bool(true)));
    let out0 = desc(&g, "x/y:z", false, 0);
    assert_eq!((out0.reuse_input, out0.reuse_input_index, out0.dims()), (true, 2, &[-2][..]));
    assert_eq!((out0.layout.as_str(), out0.dtype), ("FRACTAL_Z:16", 3));
    assert_eq!(out0.attr(Sym::new("in0.y")), Some(&AttrValue::str("z")));
    assert_eq!((desc(&g, "x/y:z", false, 1).dims(), desc(&g, "x/y:z", false, 1).dtype), (&[][..], 27));
    let out2 = desc(&g, "x/y:z", false, 2);
    assert_eq!((out2.dtype, out2.shape, out2.layout.as_str()), (99, None, "two words"));
    assert_eq!(odd.detail.as_ref().unwrap().stream_id, 5);
    assert_eq!((g.topo_id(NodeId(0)), g.topo_id(NodeId(1))), (42, 43));
    assert!(g.has_control(find(&g, "v"), find(&g, "x/y:z")));
    assert_eq!(g.node(find(&g, "v")).attr(Sym::new("shared_name")), Some(&AttrValue::str("w")));
}

#[test]
fn subgraphs_nest_in_instance_order() {
    assert_eq!(good("graph: X { }; model/a: X { }; subgraph.b: X { } -> none\nsubgraph: X").node_count(), 4);
    let g = good(
        "w: While(a) { n = 1, subgraph cond { graph { c = 2 }; x: Data } subgraph body {\n x: Data; i: If(x) {
            subgraph t { } subgraph e { y: Neg } } } } -> int32[]\na: Data",
    );
    assert_eq!(names(&g, g.all_nodes(GraphId::ROOT)), ["w", "x", "x", "i", "y", "a"]);
    let graphs: Vec<&str> = g.registry().map(|s| &*g.graph(s).name).collect();
    assert_eq!(graphs, ["cond", "body", "t", "e"]);
    let w = g.node(find(&g, "w"));
    assert_eq!((w.subgraphs.to_vec(), w.attrs.entries().len()), (vec![GraphId(1), GraphId(2)], 1));
    assert_eq!(g.graph(GraphId(1)).attrs.get(Sym::new("c")), Some(&AttrValue::Int(2)));
    assert_eq!(g.parent_graph(GraphId(4)), Some(GraphId(2)));
}

#[test]
fn ranks_come_first_then_text_order() {
    let g = good("a: Data; b: Neg(a); c: Neg(a@5); d: Add(a@2, a)");
    assert_eq!(consumers(&g, "a", 0), ["d:0", "c:0", "b:0", "d:1"]);
    let g = good("a: X; b: X ^a; c: X ^a@1 ^b");
    assert_eq!(names(&g, g.control_out(find(&g, "a"))), ["c", "b"]);
}

#[test]
fn values() {
    let g = good(
        r#"graph { a = -7, b = 1., c = 1e-3, d = "q\"\n\xff", e = hex"0aFF", f = [], g = []:int, h = [1, 2]:none,
            i = [[1], []], j = [[]]:floats, k = [DT_FLOAT, DT_77], l = f { x = [true], y = g {} }, m = unset,
            n = tensor int32[2] ND { @size = 8, q = 1 } hex"0100000002000000", o = desc float32[?],
            p = expr "s0 * 2", q = graph hex"", r = DT_INT64, s = -inf, t = ["a", "b"], u = tensor hex"" }"#,
    );
    let root = g.graph(GraphId::ROOT);
    let get = |key: &str| root.attrs.get(Sym::new(key)).unwrap().clone();
    let list =
        |val_type, items| AttrValue::List(ListValue { val_type, items, ..ListValue::default() }.into());
    assert_eq!((get("a"), get("b")), (AttrValue::Int(-7), AttrValue::Float(1.0)));
    assert_eq!((get("c"), get("s")), (AttrValue::Float(0.001), AttrValue::Float(f32::NEG_INFINITY)));
    assert_eq!(get("d"), AttrValue::Str(b"q\"\n\xff"[..].into()));
    assert_eq!(get("e"), AttrValue::Bytes(b"\x0a\xff"[..].into()));
    assert_eq!((get("f"), get("g")), (list(0, ListItems::Empty), list(2, ListItems::Empty)));
    assert_eq!(get("h"), list(0, ListItems::Int([1, 2].into())));
    assert_eq!(get("i"), AttrValue::ListListInt([Box::from([1]), Box::from([])].into()));
    assert_eq!(get("j"), AttrValue::ListListFloat([Box::from([])].into()));
    assert_eq!(get("k"), list(10, ListItems::DataType([0, 77].into())));
    let AttrValue::Func(func) = get("l") else { panic!() };
    assert_eq!((&*func.name, func.attrs.entries().len()), ("f", 2));
    assert_eq!((get("m"), get("r")), (AttrValue::Unset, AttrValue::DataType(9)));
    let AttrValue::Tensor(tensor) = get("n") else { panic!() };
    let described = tensor.desc.as_ref().unwrap();
    assert_eq!((described.size, described.dims(), tensor.data.len()), (8, &[2][..], 8));
    assert_eq!(get("p"), AttrValue::Expression(b"s0 * 2"[..].into()));
    assert_eq!(get("t"), list(1, ListItems::Str([b"a"[..].into(), b"b"[..].into()].into())));
}

#[test]
fn complaints_name_the_place_and_the_way_out() {
    let text = "a: Data
b: Relu(aa, c:1) ^zzzzzz
c: Relu(a) -> flaot32[2]
d: Relu(b:1) { in4: float32, out0.@sise = 3, k = tru, k = 1, x = 1 }
b: Relu(c) -> float32
e Relu(a)
f: Relu(e, b:0
g: Relu(f, d) -> float16
h: Relu(g:1)";
    let want = [
        "unknown-node `aa`: this graph has no node `aa` / did you mean `a`?",
        "unknown-node `zzzzzz`: this graph has no node `zzzzzz`",
        "unknown-dtype `flaot32`: unknown data type `flaot32` / did you mean `float32`?",
        "no-such-port `in4: float32`: `d` has no input 4: its last is 0",
        "unknown-field `out0.@sise = 3`: unknown field `@sise` / did you mean `@size`?",
        "bad-value `tru`: `tru` is not a value / did you mean `true`?",
        "duplicate `b`: a second node is called `b` / names are unique inside one graph; the other is of type `Relu`",
        "syntax `Relu`: expected `:`, found `Relu`",
        "unbalanced-bracket `(`: `(` is never closed",
        "no-such-port `g:1`: `g` has no output 1: its last is 0 / outputs are listed behind `->` and numbered from 0",
    ];
    assert_eq!(complaints(text), want);
    // What could be read is there.
    let graph = parse(text).0.unwrap();
    assert_eq!(names(&graph, graph.all_nodes(GraphId::ROOT)), ["a", "b", "d", "g", "h"]);
}

#[test]
fn an_embedded_block_has_the_spans_of_its_file() {
    let file = "test \"x\" for y {\n  graph {\n    a: Relu(b)\n  }\n}";
    let start = file.find("{\n    a").unwrap() + 1;
    let (_, errors) = parse_block(&file[start..file.find("  }").unwrap()], start);
    assert_eq!(&file[errors[0].span.clone().unwrap()], "b");
}

#[test]
fn a_file_must_be_right() {
    use crate::format::notation::load;
    assert_eq!(load(b"a: Data").unwrap().snapshot.node_count(), 1);
    let error = load(b"a: Relu(b)\nc: Relu(d)").unwrap_err();
    assert_eq!(
        (error.code, error.help.as_deref()),
        ("format::unknown-node", Some("complaints that follow this one: 1"))
    );
    assert_eq!(load(b"a: \xff").unwrap_err().place, crate::format::Place::Byte(3));
}

#[test]
fn deep_nesting_and_endless_indexes_are_refused() {
    let deep = format!("graph {{ a = {}{} }}", "[".repeat(100_000), "]".repeat(100_000));
    let (graph, errors) = parse(&deep);
    assert!(graph.is_none());
    assert_eq!(errors[0].code, "format::too-deep");
    assert_eq!(complaints("a: X; b: Y(a:4000000000)").len(), 1);
    assert_eq!(complaints("a: X; b: Y(a:40000000000000)").len(), 1);
}

#[test]
fn the_printed_form_leaves_out_what_a_reader_fills_in() {
    let text = "\
graph { @name = \"main\", level = 2 }
a: Data(_) { index = 0, in0: float32[2,3] NCHW } -> float32[2,3] NCHW
b: Split(x=a@1) -> float32[1] ND, int64[] ND
c: Neg(a@0) ^b { @id = 1, out0.@reuse_input = 0 }
w: While(b, b:1) {
  parallel_iterations = 10
  subgraph cond {
    x: Data
  }
  subgraph body {
    graph { _is_unknown_shape = false }
    x: Data { a_rather_long_attribute_name_to_fill_the_line = [1, 2, 3] }
    y: Data {
      a_rather_long_attribute_name_to_fill_the_line = [1, 2, 3, 4, 5]
      another_rather_long_attribute_name = \"that does not fit\"
    } -> none
  }
}
";
    assert_eq!(print(&good(text)), text);
}

/// What two snapshots must have in common to be the same but for numbers.
fn facts(state: &State) -> Vec<String> {
    let mut facts = vec![format!("{:?}", state.model())];
    let registry: Vec<&str> = state.registry().map(|g| &*state.graph(g).name).collect();
    facts.push(format!("{registry:?}"));
    let roots = std::iter::once(GraphId::ROOT)
        .chain(state.registry().filter(|g| state.graph(*g).parent.is_none()))
        .collect::<Vec<_>>();
    for root in roots {
        facts.push(format!("root {}", state.graph(root).name));
        for id in state.all_nodes(root) {
            let node = state.node(id);
            let info = state.graph(node.graph);
            facts.push(format!(
                "{} {} in {} {:?} {:?} {:?}: {:?} {:?} {:?} {:?} topo {}",
                node.name,
                node.ty,
                info.name,
                info.attrs,
                info.inputs,
                info.outputs,
                node.attrs,
                node.inputs,
                node.outputs,
                node.detail,
                state.topo_id(id)
            ));
            let subgraphs: Vec<&str> = node.subgraphs.iter().map(|g| &*state.graph(*g).name).collect();
            facts.push(format!("{subgraphs:?}"));
            let named = |i: Input| format!("{}:{}", state.node(i.node).name, i.index);
            for index in 0..node.outputs.len() as u32 {
                let row: Vec<String> = state.consumers(id.output(index)).map(named).collect();
                facts.push(format!("  {index} -> {row:?}"));
            }
            facts.push(format!("  ^ {:?}", names(state, state.control_in(id))));
            facts.push(format!("  v {:?}", names(state, state.control_out(id))));
        }
    }
    facts
}

/// A source of choices for building graphs.
struct Dice<'a>(std::slice::Iter<'a, u32>);

impl Dice<'_> {
    fn roll(&mut self, sides: usize) -> usize {
        self.0.next().map_or(0, |n| *n as usize % sides.max(1))
    }

    fn int(&mut self) -> i64 {
        [0, 1, -1, i64::MAX, i64::MIN, 77][self.roll(6)]
    }

    fn text(&mut self) -> &'static str {
        ["", "plain", "a/b:c", "in0", "in0.x", "_", "12", "q\"\\\n\u{1}", "\u{4e2d}", "a-b.c", "hex", "graph"]
            [self.roll(12)]
    }

    fn attrs(&mut self, depth: usize) -> Attrs {
        (0..self.roll(4)).map(|_| (Sym::new(self.text()), self.value(depth + 1))).collect()
    }

    fn value(&mut self, depth: usize) -> AttrValue {
        let kinds = if depth > 3 { 9 } else { 25 };
        let list =
            |val_type, items| AttrValue::List(ListValue { val_type, items, ..ListValue::default() }.into());
        let bytes = |text: &str| text.as_bytes().into();
        match self.roll(kinds) {
            0 => AttrValue::Int(self.int()),
            1 => AttrValue::Bool(self.roll(2) == 1),
            2 => {
                AttrValue::Float([0.0, -0.0, 1.5, 1e-30, f32::MAX, f32::INFINITY, 16_777_216.0][self.roll(7)])
            }
            3 => AttrValue::Str([&b"\xff\xfe"[..], b"", b"text", b"a\x00"][self.roll(4)].into()),
            4 => AttrValue::Bytes(bytes(self.text())),
            5 => AttrValue::Unset,
            6 => AttrValue::DataType(self.int()),
            7 => AttrValue::Expression(bytes(self.text())),
            8 => AttrValue::Graph(OpaqueGraph { encoded: bytes(self.text()) }.into()),
            9 => list(self.roll(12) as i32, ListItems::Empty),
            10 => list(2, ListItems::Int([self.int()].into())),
            11 => list(0, ListItems::Str([bytes(self.text()), bytes(self.text())].into())),
            12 => list(3, ListItems::Float([0.5, 3.0].into())),
            13 => list(4, ListItems::Bool([true, false].into())),
            14 => list(5, ListItems::Bytes([bytes(self.text())].into())),
            15 => list(6, ListItems::Desc([self.desc(depth + 1)].into())),
            16 => list(7, ListItems::Tensor([self.tensor(depth)].into())),
            17 => list(8, ListItems::Graph([OpaqueGraph::default()].into())),
            18 => list(9, ListItems::Func([self.func(depth)].into())),
            19 => list(10, ListItems::DataType([self.int()].into())),
            20 => AttrValue::ListListInt((0..self.roll(3)).map(|_| [self.int()].into()).collect()),
            21 => AttrValue::ListListFloat((0..self.roll(3)).map(|n| vec![1.0; n].into()).collect()),
            22 => AttrValue::Func(self.func(depth).into()),
            23 => AttrValue::Desc(self.desc(depth + 1).into()),
            _ => AttrValue::Tensor(self.tensor(depth).into()),
        }
    }

    fn func(&mut self, depth: usize) -> NamedAttrs {
        NamedAttrs { name: self.text().into(), attrs: self.attrs(depth), extra: Extra::default() }
    }

    fn tensor(&mut self, depth: usize) -> Tensor {
        let desc = (self.roll(2) == 1).then(|| self.desc(depth + 1).into());
        Tensor { desc, data: self.text().as_bytes().into(), extra: Extra::default() }
    }

    fn desc(&mut self, depth: usize) -> TensorDesc {
        let mut desc = TensorDesc {
            dtype: [1, 2, 0, 99, -3][self.roll(5)],
            shape: [Some(&[1][..]), Some(&[]), None, Some(&[-2]), Some(&[2, -1]), Some(&[-2, 3])]
                [self.roll(6)]
            .map(Into::into),
            layout: Sym::new(["ND", "", "NCHW", "FRACTAL_Z:16", "x:", "a b"][self.roll(6)]),
            ..TensorDesc::default()
        };
        if self.roll(3) == 1 {
            desc.attrs = self.attrs(depth);
            desc.size = self.int();
            desc.reuse_input = self.roll(2) == 1;
            desc.reuse_input_index = self.int();
            desc.name = self.text().into();
            desc.device_type = Sym::new(self.text());
            desc.weight_size = self.int();
            desc.has_out_attr = self.roll(2) == 1;
            desc.output_tensor = self.roll(2) == 1;
            desc.input_tensor = self.roll(2) == 1;
            desc.real_dim_cnt = self.int();
            desc.data_offset = self.int();
            if self.roll(2) == 1 {
                let table = self.text().as_bytes().into();
                desc.compression =
                    Some(Compression { size: self.int(), table, table_offset: self.int() }.into());
            }
        }
        desc
    }

    fn detail(&mut self) -> NodeDetail {
        NodeDetail {
            has_out_attr: self.roll(2) == 1,
            stream_id: self.int(),
            src_name: [self.text().into()].into(),
            dst_index: [self.int()].into(),
            workspace: [self.int(), 2].into(),
            const_inputs: [true].into(),
            input_desc_count: (self.roll(2) == 1).then_some(0),
            output_desc_count: (self.roll(2) == 1).then_some(7),
            ..NodeDetail::default()
        }
    }

    fn ports(&mut self, count: usize) -> Vec<Port> {
        let label = |d: &mut Self| if d.roll(3) == 1 { Sym::new(d.text()) } else { Sym::default() };
        (0..count).map(|_| Port { name: label(self), desc: self.desc(1).into() }).collect()
    }

    fn node(&mut self, number: usize, graph: GraphId) -> Node {
        let (inputs, outputs) = (self.roll(4), self.roll(4));
        Node {
            name: format!("{}{number}", self.text()).into(),
            ty: Sym::new(["Relu", "If", "odd type", "12"][self.roll(4)]),
            graph,
            attrs: self.attrs(0),
            inputs: self.ports(inputs).into_iter().collect(),
            outputs: self.ports(outputs).into_iter().collect(),
            subgraphs: [].into(),
            detail: (self.roll(4) == 1).then(|| self.detail().into()),
        }
    }
}

/// A graph built and then edited at random.
fn build(rolls: &[u32]) -> Snapshot {
    let mut dice = Dice(rolls.iter());
    let info = |name: String, dice: &mut Dice<'_>| GraphInfo {
        name: name.into(),
        parent: None,
        attrs: dice.attrs(1),
        inputs: (0..dice.roll(2)).map(|_| dice.text().into()).collect(),
        outputs: (0..dice.roll(2)).map(|_| dice.text().into()).collect(),
        extra: Extra::default(),
    };
    let model = ModelInfo { version: dice.roll(3) as u32, attrs: dice.attrs(1), ..ModelInfo::default() };
    let mut builder = Builder::new(model);
    let mut owners = vec![builder.graph(info("root".into(), &mut dice))];
    let mut ids: Vec<(NodeId, Node)> = Vec::new();
    for number in 0..2 + dice.roll(9) {
        let graph = owners[dice.roll(owners.len())];
        let node = dice.node(number, graph);
        let id = builder.node(node.clone(), dice.roll(20) as i64);
        ids.push((id, node));
        let is_owner = dice.roll(6) != 1;
        for part in 0..[0, 0, 1, 2][dice.roll(4)] {
            let inner = builder.graph(info(format!("sub{number}.{part}"), &mut dice));
            owners.push(inner);
            if is_owner {
                builder.own(id, inner);
            }
        }
    }
    let before = builder.finish();
    let mut edit = before.edit();
    for _ in 0..dice.roll(40) {
        let ((from, source), (to, target)) = (&ids[dice.roll(ids.len())], &ids[dice.roll(ids.len())]);
        if source.graph != target.graph {
            continue;
        }
        match dice.roll(4) {
            0 => drop(edit.add_control(*from, *to)),
            1 if dice.roll(4) == 1 => drop(edit.remove_control(*from, *to)),
            _ if !source.outputs.is_empty() && !target.inputs.is_empty() => {
                let output = from.output(dice.roll(source.outputs.len()) as u32);
                edit.connect(output, to.input(dice.roll(target.inputs.len()) as u32));
            }
            _ => {}
        }
    }
    if dice.roll(2) == 1 {
        let after = ids[dice.roll(ids.len())].clone();
        edit.add_node(dice.node(99, after.1.graph), Place::After(after.0));
    }
    if dice.roll(3) == 1 {
        edit.remove_node(ids[dice.roll(ids.len())].0);
    }
    if dice.roll(2) == 1 {
        let mut registry: Vec<GraphId> = edit.registry().collect();
        registry.reverse();
        edit.set_registry(registry);
    }
    edit.finish(&before)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_reads_back_the_same(rolls in prop::collection::vec(any::<u32>(), 0..600)) {
        let snapshot = build(&rolls);
        let text = print(&snapshot);
        let (again, errors) = parse(&text);
        prop_assert!(errors.is_empty(), "{}\n{text}", errors[0]);
        let again = again.unwrap();
        prop_assert_eq!(facts(&again), facts(&snapshot), "{}", text);
        prop_assert_eq!(print(&again), text);
    }

    #[test]
    fn no_text_makes_it_panic(pieces in prop::collection::vec(prop::sample::select(vec![
        "a", "b:", " ", "\n", "(", ")", "{", "}", "[", "]", "->", "^", "\"", "\\", "//", ",", ";", "=", "@", ":1",
        "subgraph", "graph", "hex", "tensor", "float32", "1", "-", ".", "in0", "out0.", "\u{4e2d}", "?", "none", "_",
    ]), 0..60)) {
        let text: String = pieces.concat();
        for error in parse(&text).1 {
            let span = error.span.unwrap();
            prop_assert!(text.get(span).is_some());
        }
    }
}

#[test]
fn a_subgraph_may_have_any_name() {
    let text = "n: If {\n  subgraph \"a:b = \\\"c\" { x: Relu }\n}\n";
    let (graph, errors) = parse(text);
    assert!(errors.is_empty(), "{errors:?}");
    let printed = print(&graph.unwrap());
    assert!(printed.contains("subgraph \"a:b = \\\"c\" {"), "{printed}");
    let (again, errors) = parse(&printed);
    assert!(errors.is_empty(), "{errors:?}");
    assert_eq!(print(&again.unwrap()), printed);
}

#[test]
fn two_nodes_of_one_name_are_refused() {
    let dump = b"graph {\n  name: \"g\"\n  op {\n    name: \"a\"\n  }\n  op {\n    name: \"a\"\n  }\n}\n";
    let loaded = crate::format::load(dump, "x.txt", &crate::format::LoadContext::default()).unwrap();
    let error = super::save(&loaded.snapshot).unwrap_err();
    assert_eq!(
        error.to_string().lines().next(),
        Some(
            "format::duplicate: two nodes are called `a`, but graph notation tells nodes by name (the file)"
        )
    );
}

#[test]
fn what_a_stored_tensor_is_of() {
    let text = "a: Data -> float16[1,2,8,8,16] NC1HWC0 of [1,32,8,8] NCHW, float32[2] of [2], int8[] ND of [] ND\n\
                b: Add(a, a:1, a:2)";
    let g = good(text);
    let stored = desc(&g, "a", false, 0);
    assert_eq!((stored.dims(), stored.layout.as_str()), (&[1, 2, 8, 8, 16][..], "NC1HWC0"));
    let shape = stored.attr(Sym::new("origin_shape")).and_then(AttrValue::as_ints);
    assert_eq!(shape, Some(&[1, 32, 8, 8][..]));
    assert_eq!(stored.attr(Sym::new("origin_format")).and_then(AttrValue::as_str), Some("NCHW"));
    // Inputs take it over, also where the format of the model is left out.
    assert_eq!(desc(&g, "b", true, 0), stored);
    assert_eq!(
        desc(&g, "b", true, 1).attr(Sym::new("origin_format")).and_then(AttrValue::as_str),
        Some("ND")
    );
    let printed = print(&g);
    assert!(
        printed.contains("-> float16[1,2,8,8,16] NC1HWC0 of [1,32,8,8] NCHW, float32[2] ND of [2] ND"),
        "{printed}"
    );
    assert!(!printed.contains("origin_"), "{printed}");
    assert_eq!(print(&good(&printed)), printed);
}

#[test]
fn what_says_half_of_it_is_shown_as_attributes() {
    let text = "a: Data { out0.origin_shape = [2] } -> float32[2] \"of\"\nb: Relu(a)\nc: Relu(a) { in0: float32[2] of [1,2] NHWC }";
    let g = good(text);
    assert_eq!(desc(&g, "b", true, 0).attr(Sym::new("origin_shape")), None);
    let printed = print(&g);
    assert!(
        printed.contains("out0.origin_shape = [2]") && printed.contains("float32[2] \"of\""),
        "{printed}"
    );
    assert!(printed.contains("in0: float32[2] ND of [1,2] NHWC"), "{printed}");
    assert_eq!(print(&good(&printed)), printed);
}
