//! What an edit changes in a text dump, and what it leaves alone (`graph_formats.md` 8).

use std::sync::Arc;

use anchorwatch::format::{Format, LoadContext, Loaded, load, save};
use anchorwatch::graph::{Attrs, Edit, GraphId, Node, NodeId, Place, Port, Ports, Sym};

/// `a` feeds `b` and `c`, `e` runs after `c`, `f` stands alone. `NetOutput`-like `out` collects `b`.
const GRAPH: &str = r#"
graph {
  name: "g" output: "b:0" output: "c:0"
  op { name: "a" type: "Data" input: ""
    dst_name: "b" dst_name: "c" dst_index: 0 dst_index: 0 input_desc { } output_desc { } }
  op { name: "b" type: "Relu" input: "a:0"
    attr { key: "_src_out_peer_index_for_ge_txt_load" value { list { i: 0 } } }
    id: 1 src_name: "a" src_index: 0 input_i: 64 input_desc { } output_desc { } }
  op { name: "c" type: "Relu" input: "a:0"
    attr { key: "_src_out_peer_index_for_ge_txt_load" value { list { i: 1 } } }
    id: 2 input_desc { } output_desc { } }
  op { name: "e" type: "Relu" input: "" input: "c:-1"
    attr { key: "_src_out_peer_index_for_ge_txt_load" value { list { i: -1 i: 0 } } }
    id: 3 input_desc { } }
  op { name: "f" type: "Relu" input: "out:-1" input: "e:-1" id: 4 }
  op { name: "out" type: "Sink" input: "b:0"
    attr { key: "_input_name_key" value { list { s: "x0" } } }
    attr { key: "_input_name_value" value { list { i: 0 } } }
    attr { key: "_src_out_peer_index_for_ge_txt_load" value { list { i: 0 } } }
    id: 5 input_desc { } }
}
"#;

fn graph() -> Loaded {
    load(GRAPH.as_bytes(), "", &LoadContext::default()).unwrap()
}

fn node(loaded: &Loaded, name: &str) -> NodeId {
    let mut list = loaded.snapshot.list(GraphId::ROOT);
    list.find(|id| &*loaded.snapshot.node(*id).name == name).unwrap()
}

fn text(loaded: &Loaded, now: &anchorwatch::graph::Snapshot) -> Vec<String> {
    let bytes = save(loaded, now, Format::GeText).unwrap();
    String::from_utf8(bytes).unwrap().lines().map(str::to_owned).collect()
}

/// The lines that an edit changes, `-` before and `+` after, trimmed.
fn changes(edit: impl FnOnce(&Loaded, &mut Edit)) -> Vec<String> {
    let loaded = graph();
    let mut copy = loaded.snapshot.edit();
    edit(&loaded, &mut copy);
    let (old, new) = (text(&loaded, &loaded.snapshot), text(&loaded, &copy.finish(&loaded.snapshot)));
    // Longest common subsequence, from the ends.
    let mut common = vec![vec![0usize; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            common[i][j] = match old[i] == new[j] {
                true => common[i + 1][j + 1] + 1,
                false => common[i + 1][j].max(common[i][j + 1]),
            };
        }
    }
    let (mut i, mut j, mut diff) = (0, 0, Vec::new());
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || i < old.len() && common[i + 1][j] >= common[i][j + 1] {
            diff.push(format!("-{}", old[i].trim_start()));
            i += 1;
        } else {
            diff.push(format!("+{}", new[j].trim_start()));
            j += 1;
        }
    }
    diff
}

fn port(name: &str) -> Port {
    Port { name: Sym::new(name), desc: Arc::default() }
}

fn identity(name: &str) -> Node {
    Node {
        name: name.into(),
        ty: Sym::new("Identity"),
        graph: GraphId::ROOT,
        attrs: Attrs::default(),
        inputs: [port("x")].into_iter().collect(),
        outputs: [port("y")].into_iter().collect(),
        subgraphs: Arc::from([]),
        detail: None,
    }
}

#[test]
fn no_edit_changes_nothing() {
    assert_eq!(changes(|_, _| ()), [""; 0]);
}

#[test]
fn an_edit_that_is_taken_back_changes_nothing() {
    let diff = changes(|loaded, edit| {
        // `f` has two control edges, so the order in which they were made differs afterwards.
        for (from, to) in [("c", "e"), ("e", "f")] {
            let (from, to) = (node(loaded, from), node(loaded, to));
            assert!(edit.remove_control(from, to));
            edit.add_control(from, to);
        }
    });
    assert_eq!(diff, [""; 0]);
}

#[test]
fn an_attribute_changes_one_block() {
    let diff = changes(|loaded, edit| {
        edit.update_node(node(loaded, "f"), |f| {
            f.attrs = f.attrs.with(Sym::new("mark"), anchorwatch::graph::AttrValue::Bool(true));
        });
    });
    // `f` lists its control edges in an order of its own, which stays.
    assert_eq!(diff, ["+attr {", "+key: \"mark\"", "+value {", "+b: true", "+}", "+}"]);
}

#[test]
fn an_inserted_node_is_written_whole_and_caches_around_it_go() {
    let diff = changes(|loaded, edit| {
        let (a, b) = (node(loaded, "a"), node(loaded, "b"));
        let new = edit.add_node(identity("new"), Place::After(a));
        edit.connect(a.output(0), new.input(0));
        edit.connect(new.output(0), b.input(0));
    });
    let expected = [
        // `a` has other consumers now.
        "-dst_name: \"b\"",
        "-dst_name: \"c\"",
        "-dst_index: 0",
        "-dst_index: 0",
        "+name: \"new\"",
        "+type: \"Identity\"",
        "+input: \"a:0\"",
        "+attr {",
        "+key: \"_input_name_key\"",
        "+value {",
        "+list {",
        "+s: \"x\"",
        "+}",
        "+}",
        "+}",
        "+attr {",
        "+key: \"_input_name_value\"",
        "+value {",
        "+list {",
        "+i: 0",
        "+}",
        "+}",
        "+}",
        "+attr {",
        "+key: \"_output_name_key\"",
        "+value {",
        "+list {",
        "+s: \"y\"",
        "+}",
        "+}",
        "+}",
        "+attr {",
        "+key: \"_output_name_value\"",
        "+value {",
        "+list {",
        "+i: 0",
        "+}",
        "+}",
        "+}",
        "+attr {",
        "+key: \"_src_out_peer_index_for_ge_txt_load\"",
        "+value {",
        "+list {",
        // Behind `c`, which is the older consumer.
        "+i: 1",
        "+}",
        "+}",
        "+}",
        "+input_desc {",
        "+}",
        "+output_desc {",
        "+}",
        "+}",
        "+op {",
        // `b` reads from the new node; the offset of its input is that of the slot and stays.
        "-input: \"a:0\"",
        "+input: \"new:0\"",
        "-src_name: \"a\"",
        "-src_index: 0",
        // `c` moved up.
        "-i: 1",
        "+i: 0",
    ];
    assert_eq!(diff, expected);
}

#[test]
fn a_removed_output_of_the_graph_moves_to_what_feeds_its_reader() {
    let diff = changes(|loaded, edit| {
        let (a, b, out) = (node(loaded, "a"), node(loaded, "b"), node(loaded, "out"));
        edit.remove_node(b);
        edit.connect(a.output(0), out.input(0));
    });
    assert_eq!(
        diff.iter().filter(|line| line.contains("put: \"")).collect::<Vec<_>>(),
        ["-output: \"b:0\"", "+output: \"a:0\"", "-input: \"a:0\"", "-input: \"b:0\"", "+input: \"a:0\"",]
    );
}

#[test]
fn a_new_slot_gets_a_name_and_a_description() {
    let diff = changes(|loaded, edit| {
        let (c, out) = (node(loaded, "c"), node(loaded, "out"));
        edit.update_node(out, |out| {
            out.inputs = out.inputs.iter().cloned().chain([port("")]).collect::<Ports>();
        });
        edit.connect(c.output(0), out.input(1));
    });
    assert_eq!(
        diff,
        [
            "+input: \"c:0\"",
            // GE's own name for a slot without one; the lists are sorted by name.
            "+s: \"__input1\"",
            "+i: 1",
            "+i: 0",
            "+input_desc {",
            "+}",
        ]
    );
}

#[test]
fn what_is_saved_after_an_edit_loads_with_the_same_order_of_consumers() {
    let loaded = graph();
    let (a, b) = (node(&loaded, "a"), node(&loaded, "b"));
    let mut edit = loaded.snapshot.edit();
    // Moves `b` behind `c` among the readers of `a`.
    edit.disconnect(b.input(0));
    edit.connect(a.output(0), b.input(0));
    let now = edit.finish(&loaded.snapshot);
    let again = load(&save(&loaded, &now, Format::GeText).unwrap(), "", &LoadContext::default()).unwrap();
    let readers = again.snapshot.consumers(node(&again, "a").output(0));
    let names: Vec<_> = readers.map(|to| again.snapshot.node(to.node).name.clone()).collect();
    assert_eq!(names.iter().map(|name| &**name).collect::<Vec<_>>(), ["c", "b"]);
}

#[test]
fn a_removed_call_takes_its_graph_along() {
    let text = r#"graph { name: "root" op { name: "call" subgraph_name: "body" } op { name: "rest" } }
                  graph { name: "body" op { name: "inner" } }"#;
    let loaded = load(text.as_bytes(), "", &LoadContext::default()).unwrap();
    let mut edit = loaded.snapshot.edit();
    edit.remove_node(node(&loaded, "call"));
    let saved = save(&loaded, &edit.finish(&loaded.snapshot), Format::GeText).unwrap();
    let expected = "graph {\n  name: \"root\"\n  op {\n    name: \"rest\"\n  }\n}\n";
    assert_eq!(String::from_utf8(saved).unwrap(), expected);
}

/// Two nodes are called `b`; edges of the file mean the first.
#[test]
fn edges_of_the_second_node_of_a_name_are_not_written() {
    let twice = GRAPH.replace("name: \"f\"", "name: \"b\"");
    let loaded = load(twice.as_bytes(), "", &LoadContext::default()).unwrap();
    let twins: Vec<NodeId> =
        loaded.snapshot.list(GraphId::ROOT).filter(|id| &*loaded.snapshot.node(*id).name == "b").collect();
    let saved = |change: &dyn Fn(&mut Edit)| {
        let mut edit = loaded.snapshot.edit();
        change(&mut edit);
        [Format::GeText, Format::GeBinary].map(|format| {
            let saved = save(&loaded, &edit.clone().finish(&loaded.snapshot), format);
            saved.map(drop).map_err(|error| (error.code, error.message, error.help))
        })
    };
    assert_eq!(saved(&|_| ()), [Ok(()), Ok(())]);
    assert_eq!(saved(&|edit| _ = edit.add_control(twins[0], node(&loaded, "c"))), [Ok(()), Ok(())]);
    let message =
        "graph `g` has two nodes called `b`; edges of the second would be read as those of the first";
    let help = "give one of the two another name in the file that was read";
    let refused = Err(("format::duplicate-node", message.to_owned(), Some(help.to_owned())));
    assert_eq!(saved(&|edit| _ = edit.add_control(twins[1], node(&loaded, "c"))), [refused.clone(), refused]);
}
