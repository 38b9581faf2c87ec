//! The built-in facts: everything a rule can ask of a graph that is not itself a rule.
//!
//! One table, read by the type checker, by evaluation and by the reference of the language.

use super::hir::Ty;

/// A type in the signature of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FactTy {
    Bool,
    Int,
    Str,
    Op,
    Node,
    Input,
    Output,
    Anchor,
    Graph,
    Group,
    Symbols,
    Mark,
    OptInt,
    OptStr,
    OptNode,
    OptInput,
    OptOutput,
    OptGroup,
    OptGraph,
    Ints,
    Strs,
    Nodes,
    Inputs,
    Outputs,
    Anchors,
    Graphs,
    Groups,
    Marks,
    /// The receiver's own type.
    Same,
    /// Any list, as a receiver.
    AnyList,
    /// Element of the receiving list, and its optional.
    Element,
    OptElement,
}

macro_rules! facts {
    ($($id:ident: $receiver:ident . $name:literal ($($param:ident),*) -> $result:ident, $doc:literal;)*) => {
        /// A built-in fact.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Fact { $(#[doc = $doc] $id,)* }

        /// All facts, in the order of the reference.
        pub const FACTS: &[FactInfo] = &[$(FactInfo {
            fact: Fact::$id, receiver: FactTy::$receiver, name: $name, params: &[$(FactTy::$param),*],
            result: FactTy::$result, doc: $doc,
        },)*];
    };
}

/// Signature and documentation of a fact.
#[derive(Clone, Copy, Debug)]
pub struct FactInfo {
    pub fact: Fact,
    pub receiver: FactTy,
    pub name: &'static str,
    pub params: &'static [FactTy],
    pub result: FactTy,
    pub doc: &'static str,
}

facts! {
    NodeName: Node."name"() -> Str, "the node's name, unique in its graph";
    NodeType: Node."type"() -> Op, "the operator type";
    NodeGraph: Node."graph"() -> Graph, "the graph that lists the node";
    NodeId: Node."id"() -> Int, "the number that the last sort gave the node; an inserted node has that of the node it stands behind";
    NodeInputs: Node."inputs"() -> Inputs, "the data inputs in index order, connected or not";
    NodeOutputs: Node."outputs"() -> Outputs, "the data outputs in index order";
    NodeInput: Node."input"(Int) -> OptInput, "the data input at an index";
    NodeOutput: Node."output"(Int) -> OptOutput, "the data output at an index";
    NodeSubgraphs: Node."subgraphs"() -> Graphs, "the subgraph instances in instance order";
    NodeHasSubgraph: Node."has_subgraph"() -> Bool, "the node owns at least one subgraph";
    NodeNamesSubgraph: Node."names_subgraph"() -> Bool, "the node owns a subgraph, or the file says so and does not hold it";
    NodeControlIn: Node."control_in"() -> Nodes, "control predecessors in edge order";
    NodeControlOut: Node."control_out"() -> Nodes, "control successors in edge order";
    NodeHasControl: Node."has_control_to"(Node) -> Bool, "a control edge leads to that node";
    NodeReaches: Node."reaches"(Node) -> Bool, "a path over data and control edges inside one graph; every node reaches itself";
    NodeInputIsConst: Node."input_is_const"() -> Ints, "the file's per-input constant flags, as 0 and 1; empty if there are none";

    InputNode: Input."node"() -> Node, "the node that owns the anchor";
    InputIndex: Input."index"() -> Int, "the position among the node's inputs";
    InputSource: Input."source"() -> OptOutput, "the output that feeds this input";

    OutputNode: Output."node"() -> Node, "the node that owns the anchor";
    OutputIndex: Output."index"() -> Int, "the position among the node's outputs";
    OutputReaders: Output."readers"() -> Inputs, "the inputs that read this output, in edge order";
    OutputReaderCount: Output."reader_count"() -> Int, "the number of data edges that leave the output";
    OutputSoleReader: Output."sole_reader"() -> OptInput, "the only reader, if there is exactly one";
    OutputReuseInput: Output."reuse_input"() -> OptInt, "the input index whose memory the tensor reuses, if its reuse flag is set";

    AnchorNode: Anchor."node"() -> Node, "the node that owns the anchor";
    AnchorIndex: Anchor."index"() -> Int, "the position among the node's anchors of this direction";
    AnchorIsIn: Anchor."is_in"() -> Bool, "the anchor is an input";
    AnchorIsOut: Anchor."is_out"() -> Bool, "the anchor is an output";
    AnchorAsInput: Anchor."as_input"() -> OptInput, "the anchor as an input";
    AnchorAsOutput: Anchor."as_output"() -> OptOutput, "the anchor as an output";
    AnchorLabel: Anchor."label"() -> Str, "`NODE_in_I` or `NODE_out_I`; names the symbol that the anchor founds";
    AnchorPort: Anchor."port"() -> Str, "the IR name of the port, empty if it has none";
    AnchorMarks: Anchor."marks"() -> Marks, "the marks in order, frozen when the symbols were built";
    AnchorDtype: Anchor."dtype"() -> Str, "data type of the tensor, e.g. `DT_FLOAT`";
    AnchorFormat: Anchor."format"() -> Str, "format name of the tensor, sub-format included";
    AnchorShape: Anchor."shape"() -> Ints, "extents; -1 unknown, a lone -2 unknown rank";
    AnchorUnknownShape: Anchor."unknown_shape"() -> Bool, "an extent of the tensor is -1 or -2";
    AnchorBytes: Anchor."bytes"() -> OptInt, "bytes of the elements; none if shape or type do not tell";
    AnchorSize: Anchor."size"() -> Int, "bytes reserved for the tensor, 0 before sizes are calculated";
    AnchorDataOffset: Anchor."data_offset"() -> Int, "offset of the tensor's data";
    AnchorTensor: Anchor."tensor"() -> Anchor, "the anchor, to copy its tensor description from";
    AnchorRegistered: Anchor."registered"() -> Bool, "in `symbols` and where a table is tracked: the anchor is in a group";
    AnchorGroupSize: Anchor."group_size"() -> Int, "in `symbols` and where a table is tracked: the size of the anchor's group, 0 if none";
    AnchorSameGroup: Anchor."same_group"(Anchor) -> Bool, "in `symbols` and where a table is tracked: both are in one group";

    GraphName: Graph."name"() -> Str, "the graph's name";
    GraphParent: Graph."parent"() -> OptNode, "the node that owns the graph; none for the root";
    GraphRoot: Graph."root"() -> Graph, "the outermost graph";
    GraphIsRoot: Graph."is_root"() -> Bool, "no node owns the graph";
    GraphNodes: Graph."nodes"() -> Nodes, "the nodes directly in the graph, in list order";
    GraphAllNodes: Graph."all_nodes"() -> Nodes, "list order, each node followed by the nodes of its subgraphs";
    GraphSubgraphs: Graph."subgraphs"() -> Graphs, "all graphs registered at the root, in registry order";
    GraphNode: Graph."node"(Str) -> OptNode, "the node of that name directly in the graph";
    GraphFind: Graph."find"(Str) -> OptNode, "the first node of that name in all-nodes order";

    SymbolsGroups: Symbols."groups"() -> Groups, "all groups, in byte order of their names";
    SymbolsGroupOf: Symbols."group_of"(Anchor) -> OptGroup, "the group of an anchor";
    SymbolsMerged: Symbols."merged"(Anchor, Anchor) -> Symbols, "a table with one group: that of the first anchor followed by that of the second; an unknown anchor contributes nothing";

    GroupName: Group."name"() -> Str, "the symbol: the label of the anchor that founded the group";
    GroupAnchors: Group."anchors"() -> Anchors, "the anchors in group order";
    GroupInputs: Group."inputs"() -> Inputs, "the inputs in group order";
    GroupOutputs: Group."outputs"() -> Outputs, "the outputs in group order";
    GroupNodes: Group."nodes"() -> Nodes, "the nodes in group order, each once";
    GroupCount: Group."count"() -> Int, "the number of anchors";
    GroupInputsOf: Group."inputs_of"(Node) -> Inputs, "the node's inputs in the group, in group order";
    GroupOutputsOf: Group."outputs_of"(Node) -> Outputs, "the node's outputs in the group, in group order";
    GroupFind: Group."find"(Str) -> OptOutput, "the output with that label in the group";

    ListCount: AnyList."count"() -> Int, "the number of elements";
    ListIsEmpty: AnyList."is_empty"() -> Bool, "there is no element";
    ListFirst: AnyList."first"() -> OptElement, "the first element";
    ListLast: AnyList."last"() -> OptElement, "the last element";
    ListSkip: AnyList."skip"(Int) -> Same, "all but the first so many";
    ListTake: AnyList."take"(Int) -> Same, "the first so many";
    ListReverse: AnyList."reverse"() -> Same, "the elements backwards";
    ListDistinct: AnyList."distinct"() -> Same, "each element once, at its first place";
    ListSame: AnyList."all_equal"() -> Bool, "no two elements differ";
    ListIndexOf: AnyList."index_of"(Element) -> OptInt, "the first position of an element";

    StrCount: Str."count"() -> Int, "the number of characters";
    StrIsEmpty: Str."is_empty"() -> Bool, "there is no character";
    StrStartsWith: Str."starts_with"(Str) -> Bool, "the text begins with another";
    StrEndsWith: Str."ends_with"(Str) -> Bool, "the text ends with another";
    StrContains: Str."contains"(Str) -> Bool, "the text contains another";
    StrSplit: Str."split"(Str) -> Strs, "the pieces between separators";
    StrBefore: Str."before"(Str) -> Str, "what stands before the first occurrence of another text; all of it if there is none";
    StrTrim: Str."trim"() -> Str, "without spaces at both ends";
    StrTrimStart: Str."trim_start"() -> Str, "without blanks at the beginning";
    StrDigits: Str."digits"() -> Str, "the decimal digits that the text begins with";
    StrIsUint: Str."is_uint"(Int) -> Bool, "the whole text is a decimal number without sign that fits into so many bits";
    StrAfter: Str."after"(Str) -> OptStr, "what follows another text that this one begins with";
    StrToInt: Str."to_int"() -> OptInt, "the decimal integer that the whole text spells";
    IntToStr: Int."to_str"() -> Str, "the decimal digits";
    IntAbs: Int."abs"() -> Int, "the absolute value";
    IntMin: Int."min"(Int) -> Int, "the smaller of two";
    IntMax: Int."max"(Int) -> Int, "the larger of two";
    IntBits: Int."bits"(Int, Int) -> Int, "the number that so many bits make, from a position on, the lowest bit being 0: `x.bits(8, 16)`";
}

impl FactTy {
    /// The language's type; `receiver` resolves `Same`, `Element` and `OptElement`.
    pub fn ty(self, receiver: &Ty) -> Ty {
        let element = || match receiver {
            Ty::List(element) => (**element).clone(),
            _ => Ty::Error,
        };
        match self {
            FactTy::Bool => Ty::Bool,
            FactTy::Int => Ty::Int,
            FactTy::Str => Ty::Str,
            FactTy::Op => Ty::Op,
            FactTy::Node => Ty::Node,
            FactTy::Input => Ty::Input,
            FactTy::Output => Ty::Output,
            FactTy::Anchor => Ty::Anchor,
            FactTy::Graph => Ty::Graph,
            FactTy::Group => Ty::Group,
            FactTy::Symbols => Ty::Symbols,
            FactTy::Mark => Ty::Mark,
            FactTy::OptInt => Ty::Int.optional(),
            FactTy::OptStr => Ty::Str.optional(),
            FactTy::OptNode => Ty::Node.optional(),
            FactTy::OptInput => Ty::Input.optional(),
            FactTy::OptOutput => Ty::Output.optional(),
            FactTy::OptGroup => Ty::Group.optional(),
            FactTy::OptGraph => Ty::Graph.optional(),
            FactTy::Ints => Ty::list(Ty::Int),
            FactTy::Strs => Ty::list(Ty::Str),
            FactTy::Nodes => Ty::list(Ty::Node),
            FactTy::Inputs => Ty::list(Ty::Input),
            FactTy::Outputs => Ty::list(Ty::Output),
            FactTy::Anchors => Ty::list(Ty::Anchor),
            FactTy::Graphs => Ty::list(Ty::Graph),
            FactTy::Groups => Ty::list(Ty::Group),
            FactTy::Marks => Ty::list(Ty::Mark),
            FactTy::Same => receiver.clone(),
            FactTy::AnyList => Ty::list(Ty::Error),
            FactTy::Element => element(),
            FactTy::OptElement => element().optional(),
        }
    }
}
