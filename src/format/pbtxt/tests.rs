//! The same graph as both kinds of dump, and small texts for what that one has not.

use std::path::Path;

use crate::format::{Format, LoadContext, Loaded, load};
use crate::graph::{AttrValue, GraphId, NodeId, State, Sym};

fn file(name: &str) -> Loaded {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/graphs").join(name);
    load(&std::fs::read(path).unwrap(), name, &LoadContext::default()).unwrap()
}

fn text(nodes: &str) -> Loaded {
    let text = format!("ir_version: 6\nproducer_name: \"GE\"\ngraph {{\n{nodes}\n}}\n");
    super::load(text.as_bytes()).unwrap()
}

fn find(state: &State, name: &str) -> NodeId {
    state.nodes_by_id().find(|(_, n)| &*n.name == name).unwrap().0
}

/// Nodes, types, descriptions, edges and owners, by name.
fn facts(state: &State) -> Vec<String> {
    let name = |n: NodeId| format!("{}/{}", state.graph(state.node(n).graph).name, state.node(n).name);
    let mut facts = Vec::new();
    for id in state.all_nodes(GraphId::ROOT) {
        let node = state.node(id);
        let inputs = (0..node.inputs.len() as u32).map(|i| state.producer(id.input(i)));
        let inputs: Vec<String> =
            inputs.map(|p| p.map_or("-".to_owned(), |p| format!("{}:{}", name(p.node), p.index))).collect();
        let mut controls: Vec<String> = state.control_in(id).map(name).collect();
        controls.sort();
        let owned: Vec<&str> = node.subgraphs.iter().map(|g| &*state.graph(*g).name).collect();
        let ports: Vec<String> = (node.inputs.iter().chain(node.outputs.iter()))
            .map(|p| format!("{} {:?} {} {}", p.desc.dtype, p.desc.dims(), p.desc.layout, p.desc.size))
            .collect();
        let fact = format!("{} {} {inputs:?} {controls:?} {owned:?} {ports:?}", name(id), node.ty);
        // The root has no name in one of the two dumps.
        facts.push(fact.replace(&format!("{}/", state.graph(GraphId::ROOT).name), "/"));
    }
    facts
}

#[test]
fn both_dumps_of_one_graph_are_one_graph() {
    let (onnx, proto) =
        (file("ge_onnx_00000001_graph_11_Build.pbtxt.gz"), file("ge_proto_00000001_Build.txt.gz"));
    assert_eq!(onnx.format, Format::GeOnnx);
    assert_eq!(onnx.snapshot.graph_count(), 5);
    assert_eq!(facts(&onnx.snapshot), facts(&proto.snapshot));
    assert_eq!(onnx.warnings[0].code, "format::lossy");
}

#[test]
fn attribute_names_become_what_they_stand_for() {
    let loaded = text(
        r#"
        node { output: "c:0" name: "c" op_type: "ge:Const"
          attribute { name: "value_desc_dtype" s: "DT_INT32" type: STRING }
          attribute { name: "value_desc_shape" ints: 2 type: INTS }
          attribute { name: "value_desc_layout" s: "ND" type: STRING }
          attribute { name: "output_desc_dtype:0" s: "DT_INT32" type: STRING }
          attribute { name: "output_desc_reuse_input:0" i: 1 type: INT }
          attribute { name: "output_desc_attr_ranges:0_0" ints: 1 ints: 2 type: INTS }
          attribute { name: "output_desc_attr_ranges:0_1" ints: 3 type: INTS }
          attribute { name: "pads_0" ints: 7 type: INTS }
          attribute { name: "pads_00" ints: 8 type: INTS }
          attribute { name: "layer_07" ints: 9 type: INTS }
          attribute { name: "id" i: 4 type: INT }
          attribute { name: "many_dtype:1000000000" i: 4 type: INT }
          attribute { name: "output_desc_dtype:1000000000" s: "DT_INT32" type: STRING }
        }
        node { input: "c:0" input: "c:-1" name: "r" op_type: "ge:Relu"
          attribute { name: "input_desc_0" s: "{\"input_desc_dtype:0\":\"DT_FLOAT\",\"input_desc_shape:0\":[5,-1]}" type: STRING }
        }"#,
    );
    let g = &loaded.snapshot;
    let (c, r) = (find(g, "c"), find(g, "r"));
    let node = g.node(c);
    assert_eq!((g.topo_id(c), node.ty.as_str(), node.outputs.len()), (4, "Const", 1));
    let Some(AttrValue::Tensor(tensor)) = node.attr(Sym::new("value")) else { panic!() };
    assert_eq!((tensor.desc.as_ref().unwrap().dims(), tensor.desc.as_ref().unwrap().dtype), (&[2][..], 7));
    assert_eq!(node.attr(Sym::new("pads")), Some(&AttrValue::ListListInt([Box::from([7])].into())));
    // A number is that of a row only as the dump writes it.
    assert_eq!(node.attr(Sym::new("pads_00")), Some(&AttrValue::ints([8])));
    assert_eq!(node.attr(Sym::new("layer_07")), Some(&AttrValue::ints([9])));
    let out = &node.outputs.get(0).unwrap().desc;
    assert!(out.reuse_input);
    let ranges = AttrValue::ListListInt([Box::from([1, 2]), Box::from([3])].into());
    assert_eq!(out.attr(Sym::new("ranges")), Some(&ranges));
    let input = &g.node(r).inputs.get(0).unwrap().desc;
    assert_eq!((input.dtype, input.dims()), (1, &[5, -1][..]));
    assert!(g.has_control(c, r));
}

const BRANCHES: &str = r#"
    node { name: "If_1_x" op_type: "ge:If" input: "p:0" input: "p:0" attribute { name: "output_desc_dtype:0" type: STRING } }
    node { name: "p" op_type: "ge:Data" }
    node { name: "If_1_x_1_else_branch" op_type: "subgraph" attribute { name: "graph" type: GRAPH g {
      node { name: "d" op_type: "ge:Data" attribute { name: "_parent_node_index" i: 1 type: INT } } } } }
    node { name: "If_1_x_0_then_branch" op_type: "subgraph" attribute { name: "graph" type: GRAPH g { } } }"#;

#[test]
fn branches_find_their_node_by_name() {
    let g = text(BRANCHES).snapshot;
    let owned: Vec<&str> = g.node(find(&g, "If_1_x")).subgraphs.iter().map(|s| &*g.graph(*s).name).collect();
    assert_eq!(owned, ["If_1_x_0_then_branch", "If_1_x_1_else_branch"]);
}

#[test]
fn a_branch_that_does_not_fit_stays_without_owner() {
    let loaded = text(&BRANCHES.replace("i: 1", "i: 2"));
    assert_eq!(loaded.snapshot.node(find(&loaded.snapshot, "If_1_x")).subgraphs.len(), 1);
    assert!(loaded.warnings.iter().any(|w| w.message.contains("no node owns graph `If_1_x_1_else_branch`")));
}

#[test]
fn a_name_with_too_many_places_to_look_at_stays_without_owner() {
    // All of them would be cubic in the length of the name.
    let name = "a/_0_".repeat(100_000);
    let loaded = text(&BRANCHES.replace("If_1_x_1_else_branch", &name));
    assert_eq!(loaded.snapshot.node(find(&loaded.snapshot, "If_1_x")).subgraphs.len(), 1);
    assert!(loaded.warnings.iter().any(|w| w.code == "format::unused-graph"));
}
