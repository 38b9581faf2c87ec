//! What a block would have done, had it been run.
//!
//! Promise: nothing is done and nothing is evaluated. Every branch counts, so this says what was at stake and no more.

use crate::graph::Sym;
use crate::lang::eval::Program;
use crate::lang::hir::{Block, Const, Entry, Expr, ExprId, Local, Statement};
use crate::lang::syntax::ast::Kind;

/// The rank of no stake at all.
pub const NOTHING: u8 = 5;

/// What was at stake for a node, the gravest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stake {
    /// The node itself would have been deleted.
    pub deletes: bool,
    /// Operator types of nodes that would have been inserted; an empty name if the type is not a constant.
    pub inserts: Vec<Sym>,
    pub reports: bool,
    pub chains: Vec<Sym>,
    pub edges: bool,
    /// Attributes that would have been set on the node or on its anchors.
    pub sets: Vec<Sym>,
}

impl Stake {
    /// Smaller is graver.
    pub fn rank(&self) -> u8 {
        match self {
            Stake { deletes: true, .. } => 0,
            Stake { inserts, .. } if !inserts.is_empty() => 1,
            Stake { reports: true, .. } => 1,
            Stake { chains, .. } if !chains.is_empty() => 2,
            Stake { edges: true, .. } => 3,
            Stake { sets, .. } if !sets.is_empty() => 4,
            _ => NOTHING,
        }
    }

    /// Nothing was at stake.
    pub fn is_nothing(&self) -> bool {
        self.rank() == NOTHING
    }

    /// What did not happen.
    pub fn refused(&self) -> String {
        let names = |syms: &[Sym]| {
            let mut names: Vec<&str> =
                syms.iter().map(|sym| sym.as_str()).filter(|n| !n.is_empty()).collect();
            names.dedup();
            names.join(" or ")
        };
        match self.rank() {
            0 => "not deleted".to_owned(),
            1 if !self.inserts.is_empty() => match names(&self.inserts).as_str() {
                "" => "no node inserted".to_owned(),
                ops => format!("no {ops} inserted"),
            },
            1 => "nothing reported".to_owned(),
            2 => format!("chain {} not tried", names(&self.chains)),
            3 => "edges left as they are".to_owned(),
            4 => format!("{} not set", names(&self.sets)),
            _ => "nothing done".to_owned(),
        }
    }

    fn add(&mut self, list: fn(&mut Stake) -> &mut Vec<Sym>, sym: Sym) {
        let list = list(self);
        if !list.contains(&sym) {
            list.push(sym);
        }
    }
}

/// Looks at statements of an entry. `own`: locals that hold the node or one of its anchors.
pub fn stake<'b>(
    program: &Program,
    entry: &Entry,
    statements: impl IntoIterator<Item = &'b Statement>,
    own: &[Local],
) -> Stake {
    let mut stake = Stake::default();
    for statement in statements {
        look(program, entry, statement, own, &mut stake);
    }
    stake
}

fn is_own(entry: &Entry, expr: u32, own: &[Local]) -> bool {
    match entry.body().and_then(|body| body.exprs.get(expr as usize)) {
        Some(Expr::Local(local)) => own.contains(local),
        // An anchor of the node.
        Some(Expr::Fact { base, .. } | Expr::Index { list: base, .. }) => is_own(entry, *base, own),
        _ => false,
    }
}

fn look(program: &Program, entry: &Entry, statement: &Statement, own: &[Local], stake: &mut Stake) {
    let block = |block: &Block, stake: &mut Stake| {
        block.iter().for_each(|inner| look(program, entry, inner, own, stake));
    };
    statement.blocks().into_iter().for_each(|inner| block(inner, stake));
    match statement {
        Statement::Do { action, args, .. } => {
            let callee = program.entry(Kind::Action, *action).and_then(|id| program.hir(id));
            if let Some(callee) = callee
                && let Entry::Action { block, .. } = &**callee
            {
                let own: Vec<Local> = (0..)
                    .zip(args)
                    .filter(|(_, arg)| is_own(entry, **arg, own))
                    .map(|(local, _)| local)
                    .collect();
                // Actions cannot call each other in a circle, so this ends.
                block.iter().for_each(|inner| look(program, callee, inner, &own, stake));
            }
        }
        Statement::Insert(insert) => {
            let op = entry.body().and_then(|body| body.exprs.get(insert.op as usize));
            let op = match op {
                Some(Expr::Const(Const::Str(op))) => *op,
                _ => Sym::default(),
            };
            stake.add(|stake| &mut stake.inserts, op);
        }
        Statement::Delete(node) => stake.deletes |= is_own(entry, *node, own),
        Statement::Report { .. } => stake.reports = true,
        Statement::Apply { chain, .. } => stake.add(|stake| &mut stake.chains, *chain),
        Statement::Connect { .. } | Statement::Cut(_) | Statement::Link { .. } | Statement::Unlink { .. } => {
            stake.edges = true;
        }
        Statement::SetAttr { subject, key, .. } if is_own(entry, *subject, own) => {
            stake.add(|stake| &mut stake.sets, *key);
        }
        _ => {}
    }
}

/// The block that an entry runs.
pub fn body(entry: &Entry) -> Option<&Block> {
    match entry {
        Entry::Pass { block, .. }
        | Entry::Lint { block, .. }
        | Entry::Action { block, .. }
        | Entry::Symbols { block, .. } => Some(block),
        Entry::Chain(chain) => Some(&chain.then),
        _ => None,
    }
}

/// The statements that come after one, in its block and in those around it: what a `stop` there leaves out.
pub fn after<'b>(block: &'b Block, statement: &Statement) -> Option<Vec<&'b Statement>> {
    for (at, one) in block.iter().enumerate() {
        let inside = match std::ptr::eq(one, statement) {
            true => Some(Vec::new()),
            false => one.blocks().into_iter().find_map(|block| after(block, statement)),
        };
        if let Some(mut found) = inside {
            found.extend(&block[at + 1..]);
            return Some(found);
        }
    }
    None
}

/// A block that does nothing but end the body.
pub fn only_stops(block: &Block) -> bool {
    matches!(block.as_slice(), [Statement::Stop | Statement::Give(_)])
}

/// The loops in a block over a list that a local holds, or over what filters let through of it: each with the local of
/// the element.
pub fn loops_over<'b>(entry: &Entry, block: &'b Block, list: Local) -> Vec<(Local, &'b Block)> {
    let mut found = Vec::new();
    for statement in block {
        if let Statement::For { local, list: over, body } = statement {
            let is_over = entry.body().is_some_and(|all| holds_list(&all.exprs, *over, list));
            found.extend(is_over.then_some((*local, body)));
        }
        found.extend(statement.blocks().into_iter().flat_map(|block| loops_over(entry, block, list)));
    }
    found
}

fn holds_list(exprs: &[Expr], mut over: ExprId, list: Local) -> bool {
    loop {
        match exprs.get(over as usize) {
            Some(Expr::Where { list: inner, .. }) => over = *inner,
            Some(Expr::Local(local)) => return *local == list,
            _ => return false,
        }
    }
}
