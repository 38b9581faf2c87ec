//! What a GE file means once it is read (`graph_formats.md` 2 to 6), one fact a test.

use std::io::Read;

use anchorwatch::format::{Format, LoadContext, Loaded, Writer, load, save, save_with_warnings};
use anchorwatch::graph::{GraphId, NodeId, Snapshot, Sym};

fn read(data: impl AsRef<[u8]>) -> Loaded {
    load(data.as_ref(), "", &LoadContext::default()).unwrap()
}

fn text(loaded: &Loaded) -> String {
    String::from_utf8(save(loaded, &loaded.snapshot, Format::GeText).unwrap()).unwrap()
}

fn warnings(loaded: &Loaded) -> Vec<String> {
    loaded.warnings.iter().map(ToString::to_string).collect()
}

fn node(snapshot: &Snapshot, name: &str) -> NodeId {
    snapshot.nodes_by_id().find(|(_, node)| &*node.name == name).unwrap().0
}

/// Names of the readers of an output, in order.
fn readers(snapshot: &Snapshot, name: &str, output: u32) -> Vec<String> {
    let readers = snapshot.consumers(node(snapshot, name).output(output));
    readers.map(|to| format!("{}:{}", snapshot.node(to.node).name, to.index)).collect()
}

#[test]
fn every_spelling_of_the_text_format() {
    let fancy = "\u{feff}# a comment\ngraph: < name: 'g'; op [ { name: \"a\" \"b\", type: 'T' id: 0x10 input: ['', ''] \
                 attr { value { list { i: [1, -2, 010] f: [1, 2.5f, inf, -inf, 1e3] b: [t, 0, True] } } key: 'k' } \
                 attr: { key: 'none' } \
                 output_desc { dtype: 3 shape < dim: [2, 3] > layout: \"\\x4e\\u0044\\101\" } } ] >";
    // A list of messages needs the colon.
    let fancy = fancy.replace("op [", "op: [");
    let plain = r#"graph {
  name: "g"
  op {
    name: "ab"
    type: "T"
    input: ""
    input: ""
    attr {
      key: "k"
      value {
        list {
          i: 1
          i: -2
          i: 8
          f: 1
          f: 2.5
          f: inf
          f: -inf
          f: 1000
          b: true
          b: false
          b: true
        }
      }
    }
    attr {
      key: "none"
      value {
      }
    }
    id: 16
    output_desc {
      dtype: DT_INT8
      shape {
        dim: 2
        dim: 3
      }
      layout: "NDA"
    }
  }
}
"#;
    assert_eq!(text(&read(fancy)), plain);
}

#[test]
fn slots_edges_and_control_edges() {
    let loaded = read(
        r#"graph { op { name: "a:1" output_desc { } output_desc { } }
                   op { name: "b" input: "a:1:1" input: "" input: "a:1:0" input: "a:1:-1" input: "a:1:-2" } }"#,
    );
    let snapshot = &loaded.snapshot;
    let (a, b) = (node(snapshot, "a:1"), node(snapshot, "b"));
    assert_eq!(snapshot.node(b).inputs.len(), 3);
    assert_eq!(snapshot.producer(b.input(0)), Some(a.output(1)));
    assert_eq!(snapshot.producer(b.input(1)), None);
    assert_eq!(snapshot.producer(b.input(2)), Some(a.output(0)));
    // Two control edges between the same nodes are one.
    assert_eq!(snapshot.control_in(b).collect::<Vec<_>>(), [a]);
    assert_eq!(
        warnings(&loaded),
        ["format::desc-count: `b` has another number of slots than descriptions (line 2, column 25)"]
    );
    // What the graph cannot hold comes back all the same.
    assert!(text(&loaded).contains("input: \"a:1:-1\"\n    input: \"a:1:-2\"\n  }\n"));
}

#[test]
fn positions_give_the_order_of_consumers() {
    let graph = |b: &str, c: &str| {
        let positions = |list: &str| {
            format!("attr {{ key: \"_src_out_peer_index_for_ge_txt_load\" value {{ list {{ {list} }} }} }}")
        };
        read(format!(
            r#"graph {{ op {{ name: "a" output_desc {{ }} }}
                        op {{ name: "b" input: "a:0" {} }} op {{ name: "c" input: "a:0" {} }} }}"#,
            positions(b),
            positions(c)
        ))
    };
    assert_eq!(readers(&graph("i: 0", "i: 1").snapshot, "a", 0), ["b:0", "c:0"]);
    assert_eq!(readers(&graph("i: 1", "i: 0").snapshot, "a", 0), ["c:0", "b:0"]);
    // A list of another length than `input` says nothing.
    assert_eq!(readers(&graph("i: 1 i: 1", "i: 0 i: 0").snapshot, "a", 0), ["b:0", "c:0"]);
}

#[test]
fn slots_are_named_in_either_spelling() {
    for suffix in ["", "_idx"] {
        let loaded = read(format!(
            r#"graph {{ op {{ name: "a" input_desc {{ }} input_desc {{ }}
                attr {{ key: "_input_name{suffix}_key" value {{ list {{ s: "y" s: "x" }} }} }}
                attr {{ key: "_input_name{suffix}_value" value {{ list {{ i: 1 i: 0 }} }} }} }} }}"#
        ));
        let names: Vec<Sym> = loaded.snapshot.node(NodeId(0)).inputs.iter().map(|port| port.name).collect();
        assert_eq!(names, [Sym::new("x"), Sym::new("y")]);
    }
}

#[test]
fn fields_of_very_old_descriptions_are_attributes() {
    let graph = r#"graph {
  op {
    name: "a"
    output_desc {
      attr {
        key: "reuse_input"
        value {
          b: true
        }
      }
      attr {
        key: "size"
        value {
          i: 512
        }
      }
    }
  }
}
"#;
    let loaded = read(graph);
    let desc = &loaded.snapshot.node(NodeId(0)).outputs.get(0).unwrap().desc;
    assert_eq!((desc.size, desc.reuse_input), (512, true));
    assert_eq!(text(&loaded), graph);
    let binary = save(&loaded, &loaded.snapshot, Format::GeBinary).unwrap();
    assert_eq!(text(&read(binary)), graph);
}

#[test]
fn a_real_training_graph_is_linked() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/graphs/ge_proto_00000001_Build.txt.gz");
    let loaded = read(std::fs::read(path).unwrap());
    let snapshot = &loaded.snapshot;
    assert_eq!(warnings(&loaded), [""; 0]);
    assert_eq!((snapshot.graph_count(), snapshot.node_count()), (5, 18));
    let calls: Vec<_> =
        snapshot.list(GraphId::ROOT).filter(|id| snapshot.node(*id).has_subgraphs()).collect();
    assert_eq!(calls.len(), 4);
    for call in calls {
        let [graph] = *snapshot.node(call).subgraphs else { panic!("a call has one body") };
        assert_eq!(snapshot.graph(graph).parent, Some(call));
        // The call is named after its graph.
        assert!(snapshot.node(call).name.starts_with(&*snapshot.graph(graph).name));
    }
}

#[test]
fn equal_descriptions_are_one() {
    let op = |name: &str| {
        format!("op {{ name: \"{name}\" output_desc {{ dtype: DT_FLOAT shape {{ dim: 4 }} }} }}\n")
    };
    let loaded = read(format!("graph {{ {}{}{} }}", op("a"), op("b"), op("c")));
    let desc = |id: u32| loaded.snapshot.node(NodeId(id)).outputs.get(0).unwrap().desc.clone();
    assert!(std::sync::Arc::ptr_eq(&desc(0), &desc(1)) && std::sync::Arc::ptr_eq(&desc(1), &desc(2)));
}

#[test]
fn unknown_fields_come_back_where_they_can() {
    let graph = r#"graph {
  op {
    name: "a"
    id: 7
    gadget: 1
    gadget {
      inner: "x\ny"
    }
  }
  novelty: MAYBE
}
"#;
    let loaded = read(graph);
    assert_eq!(text(&loaded), graph);
    let (binary, lost) = save_with_warnings(&loaded, &loaded.snapshot, Format::GeBinary).unwrap();
    assert_eq!(text(&read(binary)), "graph {\n  op {\n    name: \"a\"\n    id: 7\n  }\n}\n");
    let lost: Vec<_> = lost.iter().map(|warning| warning.message.as_str()).collect();
    assert_eq!(lost, ["3 unknown fields of a text dump have no number in a binary file and are left out"]);

    // Field 99 of the model, 98 of a graph.
    let mut w = Writer::new();
    w.message(7, |w| {
        w.str(1, "g");
        w.int64(98, 5);
    });
    w.bytes(99, b"new");
    let data = w.finish();
    let loaded = read(&data);
    assert_eq!(save(&loaded, &loaded.snapshot, Format::GeBinary).unwrap(), data);
    assert_eq!(
        warnings(&loaded),
        [
            "format::unknown-field: unknown field 98 in a graph (1x), kept as it is (byte 5)",
            "format::unknown-field: unknown field 99 in the model (1x), kept as it is (byte 8)",
        ]
    );
    let (_, lost) = save_with_warnings(&loaded, &loaded.snapshot, Format::GeText).unwrap();
    assert_eq!(lost.len(), 1);
}

#[test]
fn attribute_groups_survive_a_change_of_encoding() {
    let graph = r#"graph {
  op {
    name: "a"
    attr_groups {
      attr_group_def {
        tensor_attr_group {
          symbolic_value: "s0"
        }
      }
    }
    has_out_attr: true
  }
}
"#;
    let loaded = read(graph);
    assert_eq!(warnings(&loaded), [""; 0]);
    let binary = save(&loaded, &loaded.snapshot, Format::GeBinary).unwrap();
    assert_eq!(text(&read(binary)), graph);
}

#[test]
fn a_graph_inside_an_attribute_comes_back() {
    let graph = r#"graph {
  op {
    name: "a"
    attr {
      key: "body"
      value {
        g {
          name: "inner"
          op {
            name: "x"
            input: "nobody looks:0"
          }
        }
      }
    }
  }
}
"#;
    let loaded = read(graph);
    assert_eq!(text(&loaded), graph);
    // It takes no part in edges or nesting.
    assert_eq!((loaded.snapshot.graph_count(), loaded.snapshot.node_count()), (1, 1));
}

#[test]
fn entries_in_any_order_and_scalars_not_packed() {
    let mut w = Writer::new();
    w.message(7, |w| {
        w.message(6, |w| {
            // `value` before `key`; list elements one by one; keys not sorted.
            w.message(10, |w| {
                w.message(2, |w| w.message(1, |w| [1, 2].into_iter().for_each(|i| w.int64(3, i))));
                w.str(1, "z");
            });
            w.message(10, |w| {
                w.str(1, "a");
                w.message(2, |w| w.int64(3, 0));
            });
            w.str(1, "n");
        });
    });
    let attr = |key: &str, value: &str| {
        format!("    attr {{\n      key: \"{key}\"\n      value {{\n{value}      }}\n    }}\n")
    };
    let list = "        list {\n          i: 1\n          i: 2\n        }\n";
    let expected = format!(
        "graph {{\n  op {{\n    name: \"n\"\n{}{}  }}\n}}\n",
        attr("a", "        i: 0\n"),
        attr("z", list)
    );
    assert_eq!(text(&read(w.finish())), expected);
}

/// An offline model around `model`: header of `version` 1 or 2, a table that is wide or not, the graph last.
fn offline_model(version: u32, wide: bool, model: &[u8]) -> Vec<u8> {
    let mut om = vec![0u8; 256];
    om[..4].copy_from_slice(b"IMOD");
    om[8..12].copy_from_slice(&(version << 28).to_le_bytes());
    // `model_length` stands four bytes earlier in version 1.
    if wide {
        om[if version == 1 { 180 } else { 184 }] = 1;
    }
    let other = b"weights";
    let mut number = |value: usize, pad: bool| {
        om.extend_from_slice(&(value as u32).to_le_bytes());
        if pad {
            om.extend_from_slice(&[0; 4]);
        }
    };
    number(2, wide);
    for (kind, offset, size) in [(1, 0, other.len()), (0, other.len(), model.len())] {
        number(kind, wide);
        number(offset, wide);
        number(size, wide);
    }
    om.extend_from_slice(other);
    om.extend_from_slice(model);
    om
}

#[test]
fn offline_models_of_both_versions_and_widths() {
    let mut w = Writer::new();
    w.message(7, |w| w.message(6, |w| w.str(1, "only")));
    let model = w.finish();
    for (version, wide) in [(1, false), (1, true), (2, false), (2, true)] {
        let loaded = read(offline_model(version, wide, &model));
        assert_eq!(loaded.format, Format::Om);
        assert_eq!(text(&loaded), "graph {\n  op {\n    name: \"only\"\n  }\n}\n");
    }
}

#[test]
fn compressed_attributes_are_spelled_out() {
    let mut w = Writer::new();
    let attr = |w: &mut Writer, number: u32, key: &str, value: &dyn Fn(&mut Writer)| {
        w.message(number, |w| {
            w.str(1, key);
            w.message(2, value);
        });
    };
    let strings = |items: &'static [&'static str]| {
        move |w: &mut Writer| w.message(1, |w| items.iter().for_each(|item| w.str(2, item)))
    };
    w.message(7, |w| {
        w.message(6, |w| {
            w.str(1, "n");
            // Keys 1, 0 and 2 of the table; a string, a number that stays one, a list of strings.
            attr(w, 10, "\0\u{2}", &|w| w.int64(3, 0));
            attr(w, 10, "\0\u{1}", &|w| w.int64(3, 1));
            attr(w, 10, "\0\u{3}", &|w| w.message(1, |w| w.packed_int64s(3, &[1, 0])));
            attr(w, 10, "plain", &|w| w.int64(3, 1));
            w.message(34, |w| attr(w, 5, "\0\u{2}", &|w| w.int64(3, 1)));
        });
    });
    attr(&mut w, 11, "om_compress_version", &|w| w.int64(3, 1));
    attr(&mut w, 11, "attr_name_enum", &strings(&["count", "lib", "libs"]));
    attr(&mut w, 11, "attr_value_enum", &strings(&["core", "host"]));
    attr(&mut w, 11, "attrs_use_string_value", &|w| {
        w.message(1, |w| w.packed_bools(5, &[false, true, true]))
    });
    let loaded = read(offline_model(2, false, &w.finish()));
    let lines: Vec<String> = text(&loaded).lines().map(|line| line.trim().to_owned()).collect();
    let lines: Vec<_> = lines.iter().filter(|line| line.contains(':')).collect();
    assert_eq!(
        lines,
        [
            "name: \"n\"",
            "key: \"count\"",
            "i: 1",
            "key: \"lib\"",
            "s: \"core\"",
            "key: \"libs\"",
            "s: \"host\"",
            "s: \"core\"",
            "key: \"plain\"",
            "i: 1",
            "key: \"lib\"",
            "s: \"host\"",
        ]
    );
}

#[test]
fn gzip_goes_with_every_format() {
    let mut w = Writer::new();
    w.message(7, |w| w.str(1, "g"));
    let model = w.finish();
    for data in [offline_model(2, false, &model), model, b"graph { name: \"g\" }".to_vec()] {
        let mut packed = Vec::new();
        let level = flate2::Compression::default();
        flate2::bufread::GzEncoder::new(&data[..], level).read_to_end(&mut packed).unwrap();
        assert_eq!(read(&packed).format, read(&data).format);
        assert_eq!(text(&read(&packed)), "graph {\n  name: \"g\"\n}\n");
    }
}

#[test]
fn a_thousand_mistakes_are_a_few_warnings() {
    let mut loaded = read(format!("graph {{ {} }}", "op { name: \"a\" }\n".repeat(31)));
    assert_eq!(loaded.warnings.len(), 21);
    assert_eq!(
        loaded.warnings.pop().unwrap().to_string(),
        "format::duplicate-node: 10 more of this kind (the file)"
    );
}
