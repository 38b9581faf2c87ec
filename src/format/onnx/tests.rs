//! Real and hand-made models (`tests/graphs/onnx`): what they become, and what is written back.

use std::path::{Path, PathBuf};

use super::load;
use crate::format::{FormatError, LoadContext, Loaded, OnnxMapping, notation};
use crate::graph::{Edit, GraphId, Input, Node, NodeId, Output, Place, Port, Ports, Snapshot, State, Sym};

/// Stands for the rule data: some names stay, some change, the rest is unknown.
struct Stub;

impl OnnxMapping for Stub {
    fn ge_type(&self, domain: &str, op: &str, opset: i64, inputs: usize) -> Option<String> {
        let ty = match (op, opset) {
            _ if !domain.is_empty() => return None,
            ("Concat", _) if inputs == 1 => "Identity",
            ("Concat", _) => "ConcatD",
            ("Unsqueeze", 13..) => "UnsqueezeV3",
            (
                "Identity" | "If" | "Add" | "Mul" | "Relu" | "Reshape" | "Unsqueeze" | "Transpose" | "Conv",
                _,
            ) => op,
            _ => return None,
        };
        Some(ty.to_owned())
    }
}

fn save(origin: &Loaded, now: &Snapshot) -> Result<Vec<u8>, FormatError> {
    super::save(origin, now).map(|(bytes, _)| bytes)
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/graphs/onnx")
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name).with_extension("onnx")).unwrap()
}

fn read(data: &[u8]) -> Result<Loaded, FormatError> {
    load(data, &LoadContext { onnx: Some(&Stub), ..LoadContext::default() })
}

fn model(name: &str) -> Loaded {
    read(&bytes(name)).unwrap()
}

fn models() -> Vec<String> {
    let files = std::fs::read_dir(folder()).unwrap().map(|f| f.unwrap().path());
    let onnx = files.filter(|path| path.extension().is_some_and(|e| e == "onnx"));
    let mut names: Vec<String> = onnx.map(|p| p.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    names.sort();
    names
}

fn find(state: &State, name: &str) -> NodeId {
    state.nodes_by_id().find(|(_, n)| &*n.name == name).unwrap().0
}

fn count(state: &State, ty: &str) -> usize {
    state.nodes_by_id().filter(|(_, n)| n.ty == ty).count()
}

/// Beside each small model stands the graph that it must become.
#[test]
fn small_models_become_what_stands_beside_them() {
    let mut compared = 0;
    for name in models() {
        let Ok(expected) = std::fs::read_to_string(folder().join(&name).with_extension("graph")) else {
            continue;
        };
        assert_eq!(notation::print(&model(&name).snapshot), expected, "{name}");
        compared += 1;
    }
    assert_eq!(compared, 10);
}

/// Numbers read off with the `onnx` package: nodes + initializers + free inputs + one NetOutput a graph.
#[test]
fn large_models_have_all_their_parts() {
    let g = model("light_inception_v2").snapshot;
    assert_eq!((g.node_count(), g.graph_count()), (916 + 486 + 1 + 1, 1));
    assert_eq!((count(&g, "Data"), count(&g, "ConcatD"), count(&g, "Conv")), (1, 10, 69));
    assert_eq!(count(&g, "ConstantOfShape"), 407);
    // One weight of a convolution: data, as an initializer that is also an input.
    let conv = g.nodes_by_id().find(|(_, n)| n.ty == "Conv").unwrap();
    let weight = g.producer(conv.0.input(1)).unwrap();
    assert_ne!(g.node(weight.node).ty, "Data");

    let g = model("light_shufflenet").snapshot;
    assert_eq!((g.node_count(), count(&g, "Const"), count(&g, "Transpose")), (446 + 281 + 1 + 1, 281, 16));

    let loaded = model("nmp");
    let g = &loaded.snapshot;
    assert_eq!((g.node_count(), g.graph_count()), (248 + 102 + 1 + 1, 1));
    assert_eq!((count(g, "Reshape"), count(g, "UnsqueezeV3"), count(g, "ConcatD")), (67, 37, 20));
    assert_eq!(g.node(find(g, "NetOutput")).inputs.len(), 3);
    // Every edge of the messages is there: no input of an operator is open, since none is left out in this file.
    let operators = g.nodes_by_id().filter(|(_, n)| n.ty != "Data");
    let open = operators.flat_map(|(id, n)| (0..n.inputs.len() as u32).map(move |i| id.input(i)));
    assert_eq!(open.filter(|i| g.producer(*i).is_none()).count(), 0);
    let slices = loaded.warnings.iter().find(|w| w.message.contains("ai.onnx::15::Slice")).unwrap();
    assert!(slices.message.contains("(11 nodes)"), "{}", slices.message);
}

#[test]
fn an_untouched_model_goes_out_byte_for_byte() {
    let names = models();
    assert_eq!(names.len(), 13);
    for name in names {
        let loaded = model(&name);
        assert_eq!(save(&loaded, &loaded.snapshot).unwrap(), bytes(&name), "{name}");
        // An edit that leaves all as it was is no edit.
        let mut edit = loaded.snapshot.edit();
        let node = loaded.snapshot.all_nodes(GraphId::ROOT)[0];
        edit.update_node(node, |n| n.attrs = n.attrs.with(Sym::new("note"), crate::graph::AttrValue::Int(1)));
        assert_eq!(save(&loaded, &edit.finish(&loaded.snapshot)).unwrap(), bytes(&name), "{name}");
    }
}

/// Puts an Identity called `name` before `inputs`, which have one producer.
fn insert(edit: &mut Edit, name: &str, inputs: &[Input]) {
    let source = edit.producer(inputs[0]).unwrap();
    let (owner, port) =
        (edit.node(source.node).clone(), edit.node(source.node).outputs.get(source.index as usize).cloned());
    let port = Port { name: Sym::default(), desc: port.unwrap().desc };
    let ports: Ports = [port].into_iter().collect();
    let node = Node {
        name: name.into(),
        ty: Sym::new("Identity"),
        inputs: ports.clone(),
        outputs: ports,
        attrs: Default::default(),
        subgraphs: [].into(),
        detail: None,
        ..(*owner).clone()
    };
    let id = edit.add_node(node, Place::After(source.node));
    edit.connect(source, id.input(0));
    inputs.iter().for_each(|input| edit.connect(id.output(0), *input));
}

/// Removes a node with one input and gives its consumers its producer.
fn bypass(edit: &mut Edit, id: NodeId) {
    let source: Output = edit.producer(id.input(0)).unwrap();
    for input in edit.consumers(id.output(0)).collect::<Vec<_>>() {
        edit.connect(source, input);
    }
    edit.remove_node(id);
}

/// The notation of `now` after a way through a file, without what the file cannot say.
fn through_file(loaded: &Loaded, edit: Edit) -> (String, Vec<u8>) {
    let now = edit.finish(&loaded.snapshot);
    let written = save(loaded, &now).unwrap();
    (notation::print(&read(&written).unwrap().snapshot), written)
}

#[test]
fn a_copy_before_a_graph_output_takes_over_its_name() {
    let loaded = model("nested_if");
    let mut edit = loaded.snapshot.edit();
    let net_output = loaded.snapshot.list(GraphId::ROOT).last().unwrap();
    insert(&mut edit, "copy", &[net_output.input(0)]);
    let (text, written) = through_file(&loaded, edit);
    assert!(
        text.contains(
            "\n} -> float32[2] ND\ncopy: Identity(outer) -> float32[2] ND\nNetOutput: NetOutput(copy)"
        ),
        "{text}"
    );
    // The If's own output got another name.
    assert!(written.windows(3).any(|w| w == b"z_1"));
}

#[test]
fn a_copy_before_a_capture_renames_what_is_captured() {
    let loaded = model("nested_if");
    let mut edit = loaded.snapshot.edit();
    // Input 1 of the outer If is `a`, which both levels read.
    insert(&mut edit, "copy", &[find(&loaded.snapshot, "outer").input(1)]);
    let (text, _) = through_file(&loaded, edit);
    assert!(text.contains("copy: Identity(ia)"), "{text}");
    assert!(text.contains("outer: If(c1, ib, c2, copy, w_Initializer_0) {"), "{text}");
    assert!(text.contains("add: Add(copy, t)"), "{text}");
}

#[test]
fn a_copy_inside_the_innermost_graph() {
    let loaded = model("nested_if");
    let mut edit = loaded.snapshot.edit();
    insert(&mut edit, "copy", &[find(&loaded.snapshot, "add").input(0)]);
    let (text, _) = through_file(&loaded, edit);
    assert!(text.contains("        copy: Identity(a)"), "{text}");
    assert!(text.contains("        add: Add(copy, t)"), "{text}");
}

#[test]
fn a_removed_node_leaves_its_producer_to_its_consumers() {
    let loaded = model("nested_if");
    let mut edit = loaded.snapshot.edit();
    let identity = find(&edit, "ia");
    bypass(&mut edit, identity);
    let (text, _) = through_file(&loaded, edit);
    // Captures are sorted by name: `x` now comes last.
    assert!(text.contains("outer: If(c1, ib, c2, w_Initializer_0, x) {"), "{text}");
    assert!(text.contains("add: Add(t, x)") || text.contains("add: Add(x, t)"), "{text}");
    assert!(!text.contains("ia:"));
}

#[test]
fn an_input_that_becomes_an_output_is_copied() {
    let data = one_node_model(b"");
    let loaded = read(&data).unwrap();
    let mut edit = loaded.snapshot.edit();
    let relu = find(&edit, "Relu_0");
    bypass(&mut edit, relu);
    let (text, _) = through_file(&loaded, edit);
    assert_eq!(
        text,
        "x: Data(_) { index = 0, in0: undefined[?] ND } -> undefined[?] ND\ny_Identity: Identity(x) -> undefined[?] ND\nNetOutput: NetOutput(y_Identity) -> none\n"
    );
}

#[test]
fn what_onnx_cannot_say_is_an_error() {
    let message = |loaded: &Loaded, edit: Edit| {
        let error = save(loaded, &edit.finish(&loaded.snapshot)).unwrap_err();
        assert_eq!(error.code, "format::not-expressible");
        error.message
    };
    let loaded = model("nested_if");
    let mut edit = loaded.snapshot.edit();
    edit.add_control(find(&edit, "ia"), find(&edit, "ib"));
    assert_eq!(message(&loaded, edit), "ONNX has no control edges, and there is one from `ia` to `ib`");

    let mut edit = loaded.snapshot.edit();
    insert(&mut edit, "copy", &[find(&loaded.snapshot, "outer").input(1)]);
    let copy = find(&edit, "copy");
    edit.update_node(copy, |n| n.ty = Sym::new("Elsewhere"));
    assert_eq!(message(&loaded, edit), "ONNX has no operator for the new `copy` of type `Elsewhere`");

    let loaded = model("function");
    let mut edit = loaded.snapshot.edit();
    insert(&mut edit, "copy", &[find(&loaded.snapshot, "sum").input(1)]);
    assert_eq!(message(&loaded, edit), "`call` calls a function, and other calls share its body");

    let other = Loaded { origin: None, ..loaded.clone() };
    assert_eq!(save(&other, &loaded.snapshot).unwrap_err().code, "format::not-expressible");
}

/// `Relu(x) -> y` with more bytes in the graph message.
fn one_node_model(more: &[u8]) -> Vec<u8> {
    let mut w = crate::format::Writer::new();
    w.int64(1, 8);
    w.message(7, |w| {
        w.message(1, |w| {
            w.str(1, "x");
            w.str(2, "y");
            w.str(4, "Relu");
        });
        w.message(11, |w| w.str(1, "x"));
        w.message(12, |w| w.str(1, "y"));
        w.raw(more);
    });
    w.finish()
}

#[test]
fn unknown_fields_survive_an_edit() {
    // Field 999, which no version has, and a doc_string (10).
    let mut unknown = crate::format::Writer::new();
    unknown.str(999, "kept");
    unknown.str(10, "documented");
    let unknown = unknown.finish();
    let loaded = read(&one_node_model(&unknown)).unwrap();
    let mut edit = loaded.snapshot.edit();
    insert(&mut edit, "copy", &[find(&loaded.snapshot, "NetOutput").input(0)]);
    let (_, written) = through_file(&loaded, edit);
    assert!(written.windows(unknown.len()).any(|w| w == unknown));
}

#[test]
fn attributes_that_a_pass_set_are_left_out_and_told() {
    let loaded = model("nested_if");
    let mut edit = loaded.snapshot.edit();
    let node = find(&loaded.snapshot, "ia");
    edit.update_node(node, |n| n.attrs = n.attrs.with(Sym::new("note"), crate::graph::AttrValue::Int(1)));
    let (written, warnings) = super::save(&loaded, &edit.finish(&loaded.snapshot)).unwrap();
    assert_eq!(written, bytes("nested_if"));
    assert_eq!(warnings[0].message, "attributes and descriptions changed on 1 node have no place in ONNX");
    assert!(super::save(&loaded, &loaded.snapshot).unwrap().1.is_empty());
}

/// A model whose function calls itself through `depth` others, each twice.
#[test]
fn function_calls_that_go_round_or_multiply_end() {
    let functions = |count: usize, goes_round: bool| {
        let mut w = crate::format::Writer::new();
        w.raw(&one_node_model(b"").as_slice()[..2]);
        w.message(7, |w| {
            w.message(1, |w| {
                w.str(2, "y");
                w.str(4, "f0");
                w.str(7, "my");
            });
            w.message(12, |w| w.str(1, "y"));
        });
        for number in 0..count {
            w.message(25, |w| {
                w.str(1, &format!("f{number}"));
                w.str(5, "a");
                let next = if goes_round { (number + 1) % count } else { number + 1 };
                for output in ["a", "b"] {
                    w.message(7, |w| {
                        w.str(2, output);
                        w.str(4, &format!("f{next}"));
                        w.str(7, "my");
                    });
                }
                w.str(10, "my");
            });
        }
        w.finish()
    };
    assert_eq!(read(&functions(3, true)).unwrap_err().code, "format::too-deep");
    assert_eq!(read(&functions(30, false)).unwrap_err().code, "format::too-large");
    assert_eq!(read(&functions(3, false)).unwrap().snapshot.graph_count(), 1 + 1 + 2 + 4);
}

/// Not only nodes multiply: so do what a function takes and gives, and what its nodes hold.
#[test]
fn wide_functions_and_large_nodes_count_for_more() {
    let model = |calls: usize, outputs: usize, bytes: usize| {
        let mut w = crate::format::Writer::new();
        w.raw(&one_node_model(b"").as_slice()[..2]);
        w.message(7, |w| {
            for call in 0..calls {
                w.message(1, |w| {
                    w.str(2, &format!("y{call}"));
                    w.str(4, "f");
                    w.str(7, "my");
                });
            }
            w.message(12, |w| w.str(1, "y0"));
        });
        w.message(25, |w| {
            w.str(1, "f");
            (0..outputs).for_each(|_| w.str(5, "a"));
            w.message(7, |w| {
                w.str(2, "a");
                w.str(4, "Relu");
                w.message(5, |w| {
                    w.str(1, "note");
                    w.bytes(4, &vec![0; bytes]);
                    w.int64(20, 3);
                });
            });
            w.str(10, "my");
        });
        w.finish()
    };
    assert_eq!(read(&model(600, 1000, 0)).unwrap_err().code, "format::too-large");
    assert_eq!(read(&model(600, 1, 2 << 20)).unwrap_err().code, "format::too-large");
    assert_eq!(read(&model(600, 1, 0)).unwrap().snapshot.graph_count(), 601);
}

/// Whatever bytes change, there is a graph or an error.
#[test]
fn damaged_models_are_read_or_refused() {
    let data = bytes("nested_if");
    let mut refused = 0;
    for at in 0..data.len() {
        for change in [0x00, 0x7f, 0xff] {
            let mut damaged = data.clone();
            damaged[at] ^= change | 1;
            match read(&damaged) {
                Ok(loaded) => assert_eq!(save(&loaded, &loaded.snapshot).unwrap(), damaged),
                Err(error) => refused += usize::from(!error.message.is_empty()),
            }
        }
        refused += usize::from(read(&data[..at]).is_err());
    }
    assert!(refused > data.len());
}

/// The same model after random edits must load, keep its inputs and outputs, and stay in order.
#[test]
fn random_edits_give_models_that_load() {
    let mut seed = 1u64;
    let mut roll = |sides: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % sides.max(1)
    };
    for name in models() {
        for round in 0..4 {
            let loaded = model(&name);
            let mut edit = loaded.snapshot.edit();
            for step in 0..1 + roll(6) {
                let inputs: Vec<Input> = edit
                    .nodes_by_id()
                    .filter(|(_, n)| !is_in_function(&edit, n.graph))
                    .flat_map(|(id, n)| (0..n.inputs.len() as u32).map(move |i| id.input(i)))
                    .filter(|i| edit.producer(*i).is_some())
                    .collect();
                let at = inputs[roll(inputs.len())];
                insert(&mut edit, &format!("copy{step}"), &[at]);
                let copies: Vec<NodeId> = edit
                    .nodes_by_id()
                    .filter(|(_, n)| {
                        n.ty == "Identity" && n.inputs.len() == 1 && !is_in_function(&edit, n.graph)
                    })
                    .map(|(id, _)| id)
                    .collect();
                if roll(3) == 0 {
                    bypass(&mut edit, copies[roll(copies.len())]);
                }
            }
            let now = edit.finish(&loaded.snapshot);
            let written = save(&loaded, &now).unwrap();
            if let Some(folder) = std::env::var_os("ANCHORWATCH_KEEP_WRITTEN_MODELS") {
                std::fs::write(Path::new(&folder).join(format!("{name}.{round}.onnx")), &written).unwrap();
            }
            let again = read(&written).unwrap();
            assert_eq!(edges_by_type(&again.snapshot), edges_by_type(&now), "{name}");
            // Written again without an edit: the same bytes.
            assert_eq!(save(&again, &again.snapshot).unwrap(), written);
        }
    }
}

fn is_in_function(state: &State, graph: GraphId) -> bool {
    let mut owner = state.graph(graph).parent;
    while let Some(node) = owner {
        if state.node(node).ty == "PartitionedCall" {
            return true;
        }
        owner = state.graph(state.node(node).graph).parent;
    }
    false
}

/// Types along every edge that the messages hold: those of captures, and copies before outputs, depend on names.
fn edges_by_type(snapshot: &Snapshot) -> Vec<String> {
    let named = |o: Output| format!("{}:{}", snapshot.node(o.node).ty, o.index);
    let mut edges: Vec<String> = Vec::new();
    for (id, node) in snapshot.nodes_by_id() {
        if node.ty == "NetOutput" || node.has_subgraphs() || node.ty == "Identity" {
            continue;
        }
        for input in (0..node.inputs.len() as u32).map(|i| id.input(i)) {
            let mut source = snapshot.producer(input);
            let mut copies = 0;
            while let Some(from) = source.filter(|s| snapshot.node(s.node).ty == "Identity") {
                copies += 1;
                source = snapshot.producer(from.node.input(0));
            }
            edges.push(format!("{:?} through {copies} to {}:{}", source.map(named), node.ty, input.index));
        }
    }
    edges.sort();
    edges
}
