//! Statements.

use std::sync::Arc;

use super::again::Turn;
use super::code::Code;
use super::edits::attr_value;
use super::machine::STORED;
use super::quiet::{Quiet, What};
use super::regroup::Step;
use super::sieve::{FEW, Question, Sieve};
use super::stretch::{Stretching, element};
use super::{EntryId, Failure, Machine, Subject, Value};
use crate::graph::{Anchor, GraphId, NodeId, Sym, SymbolError, Symbols, SymbolsBuilder, Tracked};
use crate::lang::Level;
use crate::lang::hir::{Block, Entry, ExprId, Insert, Local, Statement, TextId};
use crate::lang::syntax::ast::Kind;

/// An anchor that a checker puts into the conflict set.
#[derive(Clone, Debug)]
pub struct Isolated {
    pub entry: EntryId,
    pub anchor: Anchor,
    pub reason: Option<TextId>,
    /// The frame of the statement, to render the reason with.
    pub frame: Arc<[Value]>,
}

/// A finding of a `report` statement.
#[derive(Clone, Debug)]
pub struct Report {
    pub entry: EntryId,
    /// Nodes, anchors, graphs.
    pub places: Arc<[Value]>,
    pub message: TextId,
    /// That of the entry if none is given.
    pub level: Option<Level>,
    pub help: Option<TextId>,
    /// The node whose insertion answers it.
    pub answer: Option<NodeId>,
    /// The frame of the statement, to render the texts with.
    pub frame: Arc<[Value]>,
}

/// What follows a statement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Next,
    /// The body ends.
    Stop,
}

/// Of a loop: a question for each element, and where its rounds are; whether they make groups that are recorded.
type Prepared<'a, 'b> = (Option<(Question, &'b Block)>, Option<Turn<'a>>, bool);

impl<'a> Machine<'a> {
    /// Runs a block of an item in a frame that starts with `frame`, and gives what it gives. `stop` ends the block.
    pub fn run(&mut self, entry: EntryId, block: &Block, frame: &[Value]) -> Result<Value, Failure> {
        let program = self.program;
        let Some(linked) = program.linked(entry) else { return Ok(Value::None) };
        self.inside(self.code(linked), |m, code| {
            let base = m.enter(frame, code.locals);
            let result = m.block(code, block, base);
            m.leave(base);
            result.map(|_| std::mem::take(&mut m.given))
        })
    }

    /// Builds the table of `symbols NAME` for a target graph.
    pub fn build_symbols(&mut self, symbols: Sym, target: GraphId) -> Result<Symbols, Failure> {
        let (built, ended) = self.symbols_builder(symbols, target)?;
        let like = self.regroup.as_ref().and_then(|regroup| regroup.table);
        ended.map(|()| built.finish(self.near(), like))
    }

    /// The groups of `symbols NAME` as far as they could be built, and whether that was to the end.
    fn symbols_builder(
        &mut self,
        symbols: Sym,
        target: GraphId,
    ) -> Result<(SymbolsBuilder, Result<(), Failure>), Failure> {
        let program = self.program;
        let Some(linked) = program.entry(Kind::Symbols, symbols).and_then(|id| program.linked(id)) else {
            return Err(Failure::mechanism("unknown", format!("there are no symbols `{symbols}`")));
        };
        let Entry::Symbols { block, .. } = &*linked.entry else {
            return Ok((SymbolsBuilder::default(), Ok(())));
        };
        let nodes = if target == GraphId::ROOT { self.edit.node_slots() } else { 0 };
        let outer = self.builder.replace(SymbolsBuilder::with_nodes(nodes));
        let result = self.run(linked.code.entry, block, &[Value::Graph(target)]);
        let built = std::mem::replace(&mut self.builder, outer).unwrap_or_default();
        Ok((built, result.map(|_| ())))
    }

    /// Runs `action NAME`, and gives the node that it gives.
    pub fn run_action(&mut self, action: Sym, args: &[Value]) -> Result<Value, Failure> {
        let program = self.program;
        let linked = program.entry(Kind::Action, action).and_then(|id| program.linked(id));
        let Some((linked, Entry::Action { block, .. })) = linked.map(|linked| (linked, &*linked.entry))
        else {
            return Err(Failure::mechanism("unknown", format!("there is no action `{action}`")));
        };
        if !self.descend() {
            return self.settle(Value::None);
        }
        let result = self.run(linked.code.entry, block, args);
        self.calls -= 1;
        result
    }

    /// Does `body` with the item of `code` as the maker of edits; a failure gets the item's name.
    pub(super) fn inside<T>(
        &mut self,
        code: &Code,
        body: impl FnOnce(&mut Self, &Code) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.reach(code.entry);
        let outer = std::mem::replace(&mut self.current, code.entry);
        let result = body(self, code);
        self.current = outer;
        result.map_err(|failure| Failure { entry: failure.entry.or(Some(code.entry)), ..failure })
    }

    /// Adds a finding, for who asks a condition and wants the answer to be taken over with what it rests on.
    pub fn report(&mut self, report: Report) {
        self.reports.push(report);
    }

    pub(super) fn frame(&self, code: &Code, base: usize) -> Arc<[Value]> {
        let end = (base + code.declared as usize).min(self.stack.len());
        self.stack[base..end].into()
    }

    pub(super) fn value(&mut self, code: &Code, id: ExprId, base: usize) -> Result<Value, Failure> {
        let value = self.expr(code, id, base);
        self.settle(value)
    }

    pub(super) fn holds(&mut self, code: &Code, id: ExprId, base: usize) -> Result<bool, Failure> {
        let holds = self.traced_condition(code, id, base);
        self.settle(holds)
    }

    /// The value as what a statement needs. None here is a fault of the rule or of the graph, not a silent no-op.
    fn needed<T>(
        &mut self,
        code: &Code,
        id: ExprId,
        base: usize,
        (statement, what): (&str, &str),
        convert: impl FnOnce(&Value) -> Option<T>,
    ) -> Result<T, Failure> {
        let value = self.value(code, id, base)?;
        convert(&value).ok_or_else(|| {
            Failure::mechanism("none", format!("`{statement}` needs {what}, but there is none"))
        })
    }

    fn anchor(&mut self, code: &Code, id: ExprId, base: usize, statement: &str) -> Result<Anchor, Failure> {
        self.needed(code, id, base, (statement, "an anchor"), Value::as_anchor)
    }

    fn a_node(&mut self, code: &Code, id: ExprId, base: usize, statement: &str) -> Result<NodeId, Failure> {
        self.needed(code, id, base, (statement, "a node"), Value::as_node)
    }

    fn subject(&mut self, code: &Code, id: ExprId, base: usize) -> Result<Subject, Failure> {
        self.needed(code, id, base, ("set", "a node, an anchor or a graph"), Subject::of)
    }

    pub(super) fn block(&mut self, code: &Code, block: &Block, base: usize) -> Result<Flow, Failure> {
        for statement in block {
            if self.statement(code, statement, base)? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, code: &Code, statement: &Statement, base: usize) -> Result<Flow, Failure> {
        match self.watch {
            None => self.act(code, statement, base),
            Some(watch) => {
                watch.before(self, Self::spot(code, base), statement);
                self.watched(watch, |m| m.act(code, statement, base))
            }
        }
    }

    fn act(&mut self, code: &Code, statement: &Statement, base: usize) -> Result<Flow, Failure> {
        match statement {
            Statement::Let { local, value } => {
                let value = self.value(code, *value, base)?;
                self.stack[base + *local as usize] = value;
            }
            Statement::If { arms, otherwise } => {
                for (condition, block) in arms {
                    if self.holds(code, *condition, base)? {
                        return self.block(code, block, base);
                    }
                }
                return self.block(code, otherwise, base);
            }
            Statement::For { local, list, body } => {
                let mut round = |m: &mut Self| m.block(code, body, base);
                return self.for_loop(code, (*local, *list), Some(body), base, &mut round);
            }
            Statement::Stop => return Ok(Flow::Stop),
            Statement::Do { bind, action, args } => {
                let mut values = Vec::with_capacity(args.len());
                for &arg in args {
                    values.push(self.value(code, arg, base)?);
                }
                let given = self.run_action(*action, &values)?;
                if let Some(local) = bind {
                    self.stack[base + *local as usize] = given;
                }
            }
            Statement::Give(value) => {
                self.given = self.value(code, *value, base)?;
                return Ok(Flow::Stop);
            }
            Statement::Isolate { target, reason } => {
                let anchor = self.anchor(code, *target, base, "isolate")?;
                let frame = self.frame(code, base);
                self.isolated.push(Isolated { entry: code.entry, anchor, reason: *reason, frame });
            }
            Statement::Found(anchor) => {
                let anchor = self.anchor(code, *anchor, base, "found")?;
                self.group(Step::Found(anchor))?;
            }
            Statement::Join { anchor, to } => {
                let anchor = self.anchor(code, *anchor, base, "join")?;
                let to = self.anchor(code, *to, base, "join")?;
                self.group(Step::Join(anchor, to))?;
            }
            Statement::Unite { anchor, with } => {
                let anchor = self.anchor(code, *anchor, base, "unite")?;
                let with = self.anchor(code, *with, base, "unite")?;
                self.group(Step::Unite(anchor, with))?;
            }
            Statement::Fail(text) => {
                let frame = self.frame(code, base);
                let cause = super::Cause::Text { text: *text, frame };
                return Err(Failure { cause, entry: Some(code.entry), places: Vec::new(), stands: false });
            }
            Statement::Halt(text) => {
                let frame = self.frame(code, base);
                let cause = super::Cause::Text { text: *text, frame };
                return Err(Failure { cause, entry: Some(code.entry), places: Vec::new(), stands: true });
            }
            Statement::Report { places, message, level, help, answer } => {
                let mut values = [const { Value::None }; FEW_PLACES];
                let places: Arc<[Value]> = match values.get_mut(..places.len()) {
                    Some(values) => {
                        for (value, &place) in values.iter_mut().zip(places) {
                            *value = self.value(code, place, base)?;
                        }
                        (&*values).into()
                    }
                    None => {
                        places.iter().map(|&place| self.value(code, place, base)).collect::<Result<_, _>>()?
                    }
                };
                let answer = match answer {
                    Some(node) => Some(self.a_node(code, *node, base, "report")?),
                    None => None,
                };
                let (entry, frame) = (code.entry, self.frame(code, base));
                let (message, level, help) = (*message, *level, *help);
                self.reports.push(Report { entry, places, message, level, help, answer, frame });
            }
            Statement::Insert(insert) => self.insert_statement(code, insert, base)?,
            Statement::Clear { subject, except } => {
                let subject = self.subject(code, *subject, base)?;
                self.clear(subject, *except)?;
            }
            Statement::Delete(node) => {
                let node = self.a_node(code, *node, base, "delete")?;
                self.delete(node)?;
            }
            Statement::Connect { from, to } => {
                let from = self.anchor(code, *from, base, "connect")?;
                let to = self.anchor(code, *to, base, "connect")?;
                let (Anchor::Out(from), Anchor::In(to)) = (from, to) else {
                    let message = "`connect` goes from an output to an input";
                    return Err(Failure::mechanism("direction", message).at([from, to]));
                };
                self.connect(from, to)?;
            }
            Statement::Cut(input) => match self.anchor(code, *input, base, "cut")? {
                Anchor::In(input) => self.cut(input)?,
                output => return Err(Failure::mechanism("direction", "`cut` takes an input").at([output])),
            },
            Statement::Link { from, to } => {
                let from = self.a_node(code, *from, base, "link")?;
                let to = self.a_node(code, *to, base, "link")?;
                self.link(from, to)?;
            }
            Statement::Unlink { from, to } => {
                let from = self.a_node(code, *from, base, "unlink")?;
                let to = self.a_node(code, *to, base, "unlink")?;
                self.unlink(from, to);
            }
            Statement::SetAttr { subject, key, ty, value } => {
                let subject = self.subject(code, *subject, base)?;
                let value = self.value(code, *value, base)?;
                self.spend(STORED.saturating_mul(value.len().unwrap_or(0) as u64));
                self.settle(())?;
                self.set_attr(subject, *key, attr_value(&value, *ty))?;
            }
            Statement::SetNote { subject, note, value } => {
                self.see_everything();
                let subject = self.subject(code, *subject, base)?;
                let value = self.value(code, *value, base)?;
                self.set_note(*note, subject, value);
            }
            Statement::SetField { subject, field, value } => {
                let subject = self.subject(code, *subject, base)?;
                let value = self.value(code, *value, base)?;
                self.set_field(subject, *field, &value)?;
            }
            Statement::Sort { order } => {
                self.has_acted();
                self.spend(self.edit.node_count() as u64);
                self.settle(())?;
                let host = self.host;
                host.sort(self, *order)?;
            }
            Statement::Apply { chain, to } => {
                let node = self.a_node(code, *to, base, "apply")?;
                let host = self.host;
                host.apply(self, *chain, node)?;
            }
            Statement::Attempt { body, otherwise } => {
                return match self.attempt(code, body, base)? {
                    Some(flow) => Ok(flow),
                    None => self.block(code, otherwise, base),
                };
            }
            Statement::Sweep { graph, local, condition, body } => {
                let target = self.needed(code, *graph, base, ("sweep", "a graph"), Value::as_graph)?;
                return self.sweep(code, target, (*local, *condition), body, base);
            }
            Statement::Track { symbols, graph, otherwise } => {
                let target = self.needed(code, *graph, base, ("track", "a graph"), Value::as_graph)?;
                self.has_acted();
                return self.track(code, *symbols, target, otherwise.as_ref(), base);
            }
            Statement::Merge { anchor, into } => {
                self.has_acted();
                let anchor = self.anchor(code, *anchor, base, "merge")?;
                let into = self.anchor(code, *into, base, "merge")?;
                if let Some(tracked) = &mut self.tracked {
                    tracked.merge(anchor, into);
                }
            }
            Statement::Resolve { symbols, graph, local, body } => {
                self.has_acted();
                let target = self.needed(code, *graph, base, ("resolve", "a graph"), Value::as_graph)?;
                let host = self.host;
                let slot = base + *local as usize;
                host.resolve(self, *symbols, target, &mut |m, anchor| {
                    let Some(place) = m.stack.get_mut(slot) else {
                        let message = "`resolve` was answered with another machine";
                        return Err(Failure::mechanism("host", message));
                    };
                    *place = anchor.into();
                    m.begin_round(code, *local, base);
                    m.block(code, body, base).map(|_| ())
                })?;
            }
        }
        Ok(Flow::Next)
    }

    /// Builds the table that the pass tracks. What has been built when the rules fail is kept.
    fn track(
        &mut self,
        code: &Code,
        symbols: Sym,
        target: GraphId,
        otherwise: Option<&Block>,
        base: usize,
    ) -> Result<Flow, Failure> {
        let (built, ended) = self.symbols_builder(symbols, target)?;
        self.tracked = Some(Box::new(Tracked::new(built)));
        match (ended, otherwise) {
            (Ok(()), _) => Ok(Flow::Next),
            (Err(_), Some(otherwise)) => self.block(code, otherwise, base),
            (Err(failure), None) => Err(failure),
        }
    }

    /// Does `body` for each element of a list, until it stops; `block`: what it does, if that is a block. The list is taken before
    /// the loop starts: the body may change what it was made of.
    pub(super) fn for_loop(
        &mut self,
        code: &Code,
        (local, list): (u32, ExprId),
        block: Option<&Block>,
        base: usize,
        body: &mut dyn FnMut(&mut Self) -> Result<Flow, Failure>,
    ) -> Result<Flow, Failure> {
        if !Self::is_lazy(code, list) {
            let values = self.value(code, list, base)?;
            let prepared = self.prepared((code, list, block), values.len(), values.at(0), (local, base));
            return self.rounds(code, (local, base), prepared, values.elements(), body);
        }
        let mut elements = self.loops.pop().unwrap_or_default();
        if !self.joined(code, list, base, &mut elements) {
            self.each(code, list, base, &mut |m, value| {
                elements.push(value);
                m.spend(STORED)
            });
        }
        let mut result = self.settle(Flow::Next);
        if result.is_ok() && !elements.is_empty() {
            let (len, first) = (Some(elements.len()), elements.first().cloned());
            let prepared = self.prepared((code, list, block), len, first, (local, base));
            result = self.rounds(code, (local, base), prepared, elements.drain(..), body);
        }
        elements.clear();
        self.loops.push(elements);
        result
    }

    /// What is asked of the elements of a loop before a round, and where it stands among those that are taken over, if that is
    /// worth it.
    fn prepared<'b>(
        &mut self,
        (code, list, block): (&Code, ExprId, Option<&'b Block>),
        len: Option<usize>,
        first: Option<Value>,
        at: (Local, usize),
    ) -> Prepared<'a, 'b> {
        let is_of_nodes = matches!(first, Some(Value::Node(_)));
        let regroups = is_of_nodes && self.regroups(code, list, at);
        let is_long = len >= Some(FEW) && is_of_nodes;
        let Some(block) = block.filter(|_| is_long) else { return (None, None, regroups) };
        let sifted = self.can_sift(code).then(|| (Question::body(code.entry, list), block));
        (sifted, self.loop_turn(code, list, at), regroups)
    }

    fn rounds(
        &mut self,
        code: &Code,
        (local, base): (Local, usize),
        (sifted, turn, regroups): Prepared<'a, '_>,
        elements: impl Iterator<Item = Value>,
        body: &mut dyn FnMut(&mut Self) -> Result<Flow, Failure>,
    ) -> Result<Flow, Failure> {
        let mut sieve = sifted.map(|(question, _)| (self.take_sieve(question), self.take_quiet(question)));
        let mut stretching = turn.as_ref().filter(|_| sifted.is_some()).map(Stretching::of);
        let mut result = Ok(Flow::Next);
        for element in elements {
            if !self.spend(1) {
                result = self.settle(Flow::Stop);
                break;
            }
            self.stack[base + local as usize] = element;
            if let Some((_, block)) = sifted
                && let Some((sieve, quiet)) = &mut sieve
                && self.comes_to_nothing((sieve, quiet, stretching.as_mut()), code, block, (local, base))
            {
                continue;
            }
            self.begin_round(code, local, base);
            result = match (&turn, &self.stack[base + local as usize]) {
                (Some(turn), &Value::Node(node)) => self.round(turn, node, &mut *body),
                (None, &Value::Node(node)) if regroups => self.group_round(node, &mut *body),
                _ => body(self),
            };
            if !matches!(result, Ok(Flow::Next)) {
                break;
            }
        }
        if let Some(((question, _), (sieve, quiet))) = sifted.zip(sieve) {
            self.keep_sieve(question, sieve);
            self.keep_quiet(question, quiet);
        }
        if let Some(list) = stretching {
            self.end_stretching(list);
        }
        // The steps of what was taken over count as well.
        result.and_then(|flow| self.settle(flow))
    }

    /// Whether nothing is done at the element that `local` holds, as an earlier run tells, or what is foreseen.
    fn comes_to_nothing(
        &mut self,
        (sieve, quiet, mut list): (&mut Sieve, &mut Quiet, Option<&mut Stretching<'a>>),
        code: &Code,
        block: &Block,
        (local, base): (Local, usize),
    ) -> bool {
        let mut begun = None;
        if let Some(list) = &mut list {
            let element = element(&self.stack[base + local as usize]);
            if self.known(list, element) == Some(true) {
                return true;
            }
            begun = self.begin_element(list, element);
        }
        let is_nothing = self.is_idle(sieve, code, block, (local, base))
            || self.is_quiet(quiet, code, What::Block(block), (local, base));
        if let Some((list, begun)) = list.zip(begun) {
            self.end_element(list, &begun, is_nothing.then_some(true));
        }
        is_nothing
    }

    #[inline]
    fn begin_round(&mut self, code: &Code, local: u32, base: usize) {
        if let Some(watch) = self.watch {
            watch.round(self, Self::spot(code, base), local);
        }
    }

    pub(super) fn group(&mut self, step: Step) -> Result<(), Failure> {
        let Some(builder) = &mut self.builder else {
            return Err(Failure::mechanism("no-symbols", "groups are made inside `symbols` alone"));
        };
        let Err(error) = step.take(builder) else {
            self.see_group(step);
            return Ok(());
        };
        let (code, anchor, what) = match error {
            SymbolError::Unregistered(anchor) => ("unregistered", anchor, "is in no group yet"),
            SymbolError::TwoSymbols(anchor) => ("two-symbols", anchor, "is in another group already"),
        };
        let label = self.label(anchor).unwrap_or_default();
        Err(Failure::mechanism(code, format!("`{label}` {what}")).at([anchor]))
    }

    fn insert_statement(&mut self, code: &Code, insert: &Insert, base: usize) -> Result<(), Failure> {
        let op = self
            .needed(code, insert.op, base, ("insert", "an operator type"), |op| op.as_str().map(Sym::new))?;
        let behind = match insert.behind {
            Some(behind) => Some(self.a_node(code, behind, base, "insert")?),
            None => None,
        };
        let graph = match insert.graph {
            Some(graph) => self.needed(code, graph, base, ("insert", "a graph"), Value::as_graph)?,
            None => behind.and_then(|node| self.node(node)).map_or(self.root, |node| node.graph),
        };
        let inputs = self.port_count(code, insert.inputs, base)?;
        let outputs = self.port_count(code, insert.outputs, base)?;
        let name = match &insert.named {
            Some(parts) => self.parts(code, parts, base),
            None => op.as_str().to_owned(),
        };
        self.spend(NODE_STEPS + STORED * (inputs + outputs) as u64 + name.len() as u64);
        let name = self.settle(name)?;
        let node = self.insert(graph, op, &name, behind, (inputs, outputs))?;
        if let Some(local) = insert.bind {
            self.stack[base + local as usize] = Value::Node(node);
        }
        Ok(())
    }

    fn port_count(&mut self, code: &Code, count: Option<ExprId>, base: usize) -> Result<usize, Failure> {
        let Some(count) = count else { return Ok(1) };
        let count = self.needed(code, count, base, ("insert", "a number of ports"), Value::as_int)?;
        match usize::try_from(count) {
            Ok(count) if count <= MAX_PORTS => Ok(count),
            _ => Err(Failure::mechanism("ports", format!("a node cannot have {count} ports"))),
        }
    }
}

/// Most reports have no more places.
const FEW_PLACES: usize = 4;

/// More ports than any model has; keeps a wrong number from taking all memory.
const MAX_PORTS: usize = 1 << 20;

/// Steps that a new node costs, its ports apart.
const NODE_STEPS: u64 = 256;
