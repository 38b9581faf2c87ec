//! Any graph, printed and read: text, binary, and each by way of the other, must agree.

use std::sync::Arc;

use anchorwatch::format::{Format, LoadContext, Loaded, load, save};
use anchorwatch::graph::{
    AttrValue, Attrs, Builder, Compression, Extra, GraphId, GraphInfo, ListItems, ListValue, ModelInfo,
    NamedAttrs, Node, NodeDetail, NodeId, Port, Snapshot, Sym, Tensor, TensorDesc,
};
use proptest::collection::vec;
use proptest::prelude::*;

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z_]{1,8}", "[a-z:/.\"'\\\\\n\u{1}-\u{8}\u{4e2d}\u{e9}]{1,6}"]
}

fn bytes() -> impl Strategy<Value = Arc<[u8]>> {
    vec(any::<u8>(), 0..12).prop_map(Arc::from)
}

fn number() -> impl Strategy<Value = f32> {
    prop_oneof![any::<f32>(), (-1000i16..1000).prop_map(|n| f32::from(n) / 8.0)]
}

fn desc() -> impl Strategy<Value = TensorDesc> {
    let ints = vec(prop_oneof![Just(0i64), any::<i64>()], 7);
    let flags = vec(any::<bool>(), 5);
    (-1i32..50, proptest::option::of(vec(-2i64..100, 0..4)), text(), ints, flags, bytes(), text()).prop_map(
        |(dtype, shape, layout, ints, flags, table, name)| TensorDesc {
            name: name.into(),
            dtype,
            shape: shape.map(Arc::from),
            layout: Sym::new(&layout),
            attrs: [(Sym::new("origin_format"), AttrValue::str(&layout))].into_iter().collect(),
            size: ints[0],
            weight_size: ints[1],
            reuse_input: flags[0],
            output_tensor: flags[1],
            input_tensor: flags[2],
            has_out_attr: flags[3],
            device_type: Sym::new("NPU"),
            real_dim_cnt: ints[2],
            reuse_input_index: ints[3],
            data_offset: ints[4],
            compression: flags[4]
                .then(|| Arc::new(Compression { size: ints[5], table, table_offset: ints[6] })),
            extra: Extra::default(),
        },
    )
}

fn items(inner: impl Strategy<Value = AttrValue> + Clone + 'static) -> impl Strategy<Value = ListItems> {
    prop_oneof![
        Just(ListItems::Empty),
        vec(bytes(), 1..4).prop_map(|v| ListItems::Str(v.into())),
        vec(any::<i64>(), 1..4).prop_map(|v| ListItems::Int(v.into())),
        vec(number(), 1..4).prop_map(|v| ListItems::Float(v.into())),
        vec(any::<bool>(), 1..4).prop_map(|v| ListItems::Bool(v.into())),
        vec(bytes(), 1..4).prop_map(|v| ListItems::Bytes(v.into())),
        vec(any::<i64>(), 1..4).prop_map(|v| ListItems::DataType(v.into())),
        vec(desc(), 1..3).prop_map(|v| ListItems::Desc(v.into())),
        vec(named(inner), 1..3).prop_map(|v| ListItems::Func(v.into())),
        (vec(bytes(), 1..3), vec(any::<i64>(), 1..3))
            .prop_map(|(s, i)| ListItems::Mixed([ListItems::Str(s.into()), ListItems::Int(i.into())].into())),
    ]
}

fn named(inner: impl Strategy<Value = AttrValue> + 'static) -> impl Strategy<Value = NamedAttrs> {
    (text(), vec((text(), inner), 0..3)).prop_map(|(name, attrs)| NamedAttrs {
        name: name.into(),
        attrs: attrs.into_iter().map(|(key, value)| (Sym::new(&key), value)).collect(),
        extra: Extra::default(),
    })
}

fn value() -> impl Strategy<Value = AttrValue> {
    let leaf = prop_oneof![
        Just(AttrValue::Unset),
        bytes().prop_map(AttrValue::Str),
        any::<i64>().prop_map(AttrValue::Int),
        number().prop_map(AttrValue::Float),
        any::<bool>().prop_map(AttrValue::Bool),
        bytes().prop_map(AttrValue::Bytes),
        bytes().prop_map(AttrValue::Expression),
        any::<i64>().prop_map(AttrValue::DataType),
        desc().prop_map(|d| AttrValue::Desc(Arc::new(d))),
        (proptest::option::of(desc()), bytes()).prop_map(|(desc, data)| AttrValue::Tensor(Arc::new(
            Tensor { desc: desc.map(Arc::new), data, extra: Extra::default() }
        ))),
        vec(vec(any::<i64>(), 0..3), 0..3)
            .prop_map(|rows| AttrValue::ListListInt(rows.into_iter().map(Into::into).collect())),
        vec(vec(number(), 0..3), 0..3)
            .prop_map(|rows| AttrValue::ListListFloat(rows.into_iter().map(Into::into).collect())),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            named(inner.clone()).prop_map(|func| AttrValue::Func(Arc::new(func))),
            (-1i32..13, items(inner)).prop_map(|(val_type, items)| AttrValue::List(Arc::new(ListValue {
                val_type,
                items,
                extra: Extra::default()
            }))),
        ]
    })
}

fn attrs() -> impl Strategy<Value = Attrs> {
    vec((text(), value()), 0..4)
        .prop_map(|entries| entries.into_iter().map(|(key, value)| (Sym::new(&key), value)).collect())
}

fn detail() -> impl Strategy<Value = Option<Arc<NodeDetail>>> {
    let detail =
        (any::<bool>(), any::<i64>(), vec(any::<i64>(), 0..3), vec(text(), 0..3), vec(any::<bool>(), 0..3));
    proptest::option::of(detail.prop_map(|(has_out_attr, stream_id, ints, names, flags)| {
        let names: Box<[Arc<str>]> = names.into_iter().map(Arc::from).collect();
        let ints: Box<[i64]> = ints.into();
        Arc::new(NodeDetail {
            has_out_attr,
            stream_id,
            src_name: names.clone(),
            dst_name: names,
            src_index: ints.clone(),
            dst_index: ints.clone(),
            workspace: ints.clone(),
            workspace_bytes: ints.clone(),
            input_i: ints.clone(),
            output_i: ints,
            const_inputs: flags.into(),
            ..NodeDetail::default()
        })
    }))
}

type Draft = (String, Attrs, Option<Arc<NodeDetail>>, Vec<TensorDesc>, Vec<TensorDesc>, i64);

/// Nodes with some ports, edges by wish: a wish that does not fit is no edge.
fn snapshot() -> impl Strategy<Value = Snapshot> {
    let node = (text(), attrs(), detail(), vec(desc(), 0..3), vec(desc(), 0..3), any::<i64>());
    let edges = vec((any::<u32>(), any::<u32>(), any::<u32>(), any::<u32>(), any::<i8>()), 0..12);
    let controls = vec((any::<u32>(), any::<u32>()), 0..5);
    (vec(node, 1..6), edges, controls, attrs(), attrs()).prop_map(
        |(nodes, edges, controls, graph_attrs, model)| {
            let model = ModelInfo { version: 3, attrs: model, ..ModelInfo::default() };
            build(nodes, &edges, &controls, graph_attrs, model)
        },
    )
}

fn build(
    nodes: Vec<Draft>,
    edges: &[(u32, u32, u32, u32, i8)],
    controls: &[(u32, u32)],
    attrs: Attrs,
    model: ModelInfo,
) -> Snapshot {
    let mut builder = Builder::new(model);
    let graph = GraphInfo {
        name: "g".into(),
        parent: None,
        attrs,
        inputs: Arc::from([]),
        outputs: Arc::from([Arc::from("0:1")]),
        extra: Extra::default(),
    };
    let graph = builder.graph(graph);
    let ports = |descs: Vec<TensorDesc>| {
        descs.into_iter().map(|desc| Port { name: Sym::default(), desc: Arc::new(desc) }).collect()
    };
    let mut counts = Vec::new();
    for (number, (name, attrs, detail, ins, outs, topo)) in nodes.into_iter().enumerate() {
        counts.push((ins.len() as u32, outs.len() as u32));
        let (name, ty) = (format!("{name}{number}").into(), Sym::new("Relu"));
        let (inputs, outputs) = (ports(ins), ports(outs));
        let node = Node { name, ty, graph, attrs, inputs, outputs, subgraphs: Arc::from([]), detail };
        builder.node(node, topo);
    }
    let pick = |wish: u32| wish as usize % counts.len();
    for &(from, out, to, slot, rank) in edges {
        let (from, to) = (pick(from), pick(to));
        if let (Some(out), Some(slot)) = (out.checked_rem(counts[from].1), slot.checked_rem(counts[to].0)) {
            let (from, to) = (NodeId(from as u32).output(out), NodeId(to as u32).input(slot));
            builder.edge(from, i64::from(rank), to);
        }
    }
    for &(from, to) in controls {
        builder.control(NodeId(pick(from) as u32), 0, NodeId(pick(to) as u32));
    }
    builder.finish()
}

fn read(data: &[u8]) -> Loaded {
    load(data, "", &LoadContext::default())
        .unwrap_or_else(|e| panic!("{e}\n{}", String::from_utf8_lossy(data)))
}

fn printed(loaded: &Loaded, format: Format) -> Vec<u8> {
    save(loaded, &loaded.snapshot, format).unwrap()
}

fn dump(loaded: &Loaded) -> String {
    String::from_utf8(printed(loaded, Format::GeText)).unwrap()
}

/// Names of the readers of each output, in order.
fn readers(snapshot: &Snapshot) -> Vec<Vec<(Arc<str>, u32)>> {
    let nodes = snapshot.list(GraphId::ROOT);
    let outputs = nodes.flat_map(|id| (0..snapshot.node(id).outputs.len() as u32).map(move |k| id.output(k)));
    let reader = |to: anchorwatch::graph::Input| (snapshot.node(to.node).name.clone(), to.index);
    outputs.map(|output| snapshot.consumers(output).map(reader).collect()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn print_and_read_agree(snapshot in snapshot()) {
        let made = Loaded { snapshot: snapshot.clone(), format: Format::GeText, warnings: Vec::new(), origin: None };
        let text = printed(&made, Format::GeText);
        let from_text = read(&text);
        prop_assert_eq!(dump(&from_text), dump(&made));
        prop_assert_eq!(readers(&from_text.snapshot), readers(&snapshot));

        let binary = printed(&made, Format::GeBinary);
        let from_binary = read(&binary);
        prop_assert_eq!(&printed(&from_binary, Format::GeBinary), &binary);
        prop_assert_eq!(dump(&from_binary), dump(&made));
        prop_assert_eq!(&printed(&from_text, Format::GeBinary), &binary);
    }

    /// Whatever is done to a file, it loads or says why not.
    #[test]
    fn a_damaged_file_never_panics(snapshot in snapshot(), cut in any::<u32>(), at in any::<u32>(), byte in any::<u8>()) {
        let made = Loaded { snapshot, format: Format::GeText, warnings: Vec::new(), origin: None };
        for format in [Format::GeText, Format::GeBinary] {
            let mut data = printed(&made, format);
            let len = data.len();
            data[at as usize % len] = byte;
            let _ = load(&data, "", &LoadContext::default());
            let _ = load(&data[..cut as usize % len], "", &LoadContext::default());
        }
    }
}
