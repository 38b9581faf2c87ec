//! Marks that are taken over from those of an earlier graph.
//!
//! Promise: an anchor is asked again unless nothing can have changed that its condition goes by: its group with all its nodes
//! ([`Moved`]), the marks that it carries, and what else was looked at when it was asked last ([`Beyond`]).

use std::rc::Rc;
use std::sync::Arc;

use fixedbitset::FixedBitSet;
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Asked, GROUP, MarkList, MarkRequest, Place, in_group, reads};
use crate::graph::{Anchor, Apart, Moved, NodeId, Symbols};
use crate::lang::eval::{Beyond, Failure, Machine, Value};
use crate::lang::hir::Body;

/// What conditions looked at beside the nodes that they were asked of, where that is recorded.
#[derive(Default)]
pub struct Seen(Option<FxHashMap<NodeId, Beyond>>);

impl Seen {
    /// Records from now on.
    pub fn of(machine: &mut Machine<'_>) -> Seen {
        machine.record_round();
        Seen(Some(FxHashMap::default()))
    }

    /// Asks a condition of a node, or of one of its anchors.
    #[inline]
    pub(super) fn test(
        &mut self,
        machine: &mut Machine<'_>,
        Asked { entry, condition, .. }: Asked,
        frame: &[Value],
        (node, anchor): (NodeId, Option<Anchor>),
    ) -> Result<bool, Failure> {
        #[cfg(test)]
        crate::engine::layers_tests::count();
        let holds = machine.test(entry, condition, frame)?;
        if let Some(known) = &mut self.0
            && let Some(beyond) = machine.look_beyond(node, anchor)
        {
            match known.entry(node) {
                std::collections::hash_map::Entry::Vacant(free) => _ = free.insert(beyond),
                std::collections::hash_map::Entry::Occupied(mut taken) => taken.get_mut().extend(beyond),
            }
        }
        Ok(holds)
    }
}

/// The anchors that carry a mark, with what that rests on.
pub struct Marked {
    list: Arc<MarkList>,
    symbols: Arc<Symbols>,
    /// Marks that the condition may ask for.
    earlier: Vec<Arc<MarkList>>,
    beyond: FxHashMap<NodeId, Beyond>,
}

impl Marked {
    /// `None`: that was not recorded.
    pub fn new(list: Arc<MarkList>, request: &MarkRequest<'_>, seen: Seen) -> Option<Marked> {
        let (symbols, earlier) = (request.symbols.clone(), request.earlier.lists.clone());
        Some(Marked { list, symbols, earlier, beyond: seen.0? })
    }

    /// The table whose anchors were asked.
    pub fn symbols(&self) -> &Arc<Symbols> {
        &self.symbols
    }

    /// About how many bytes are kept, but for what others keep as well.
    pub fn size(&self) -> usize {
        size_of_val(&self.list.places[..]) + self.beyond.values().map(Beyond::size).sum::<usize>()
    }

    /// The nodes at which something else than themselves may have changed. `None`: anywhere.
    fn suspects(&self, request: &MarkRequest<'_>, apart: &Apart) -> Option<FxHashSet<NodeId>> {
        let changed = self.beyond.iter().filter(|(_, beyond)| !beyond.is_same(apart));
        let mut suspects: FxHashSet<NodeId> = changed.map(|(node, _)| *node).collect();
        for list in &request.earlier.lists {
            let before = self.earlier.iter().find(|before| before.mark == list.mark)?;
            if !Arc::ptr_eq(before, list) {
                let [old, new] = [before, list]
                    .map(|list| list.places.iter().map(|place| place.anchor).collect::<FxHashSet<Anchor>>());
                suspects.extend(old.symmetric_difference(&new).map(|anchor| anchor.node()));
            }
        }
        Some(suspects)
    }
}

/// What [`super::mark`] computes, from the marks of an earlier graph; `moved`: where the groups of that are now. `None`: nothing can be
/// told from it.
pub fn mark_again(
    machine: &mut Machine<'_>,
    request: &MarkRequest<'_>,
    (asked, body): (Asked, &Body),
    (before, moved, apart): (&Marked, &Moved, &Apart),
    seen: &mut Seen,
) -> Result<Option<MarkList>, Failure> {
    let Some(suspects) = before.suspects(request, apart) else { return Ok(None) };
    let groups = request.symbols.groups();
    let mut again = FixedBitSet::with_capacity(groups.len());
    again.extend(moved.new_groups().iter().map(|&group| group as usize));
    if !suspects.is_empty() {
        let is_suspect = |anchor: &Anchor| suspects.contains(&anchor.node());
        again.extend((0..).zip(groups).filter(|(_, g)| g.members.iter().any(is_suspect)).map(|(at, _)| at));
    }
    let stays = |place: &Place| {
        let group = moved.to(place.group).filter(|&group| !again.contains(group as usize))?;
        Some(Place { group, ..*place })
    };
    let mut places: Vec<Place> = before.list.places.iter().filter_map(stays).collect();
    let is_told = reads(body, GROUP);
    let outer = machine.set_marks(Some(Rc::new(request.earlier.clone())));
    let asked_again = again
        .ones()
        .try_for_each(|group| in_group(machine, request, asked, (group as u32, is_told), seen, &mut places));
    machine.set_marks(outer);
    asked_again?;
    // Two ascending runs.
    places.sort();
    if let Some(known) = &mut seen.0 {
        // Of a node some anchors may have been asked again and others not.
        for (&node, beyond) in before.beyond.iter().filter(|(node, _)| !suspects.contains(*node)) {
            match known.entry(node) {
                std::collections::hash_map::Entry::Vacant(free) => _ = free.insert(beyond.clone()),
                std::collections::hash_map::Entry::Occupied(mut taken) => {
                    taken.get_mut().extend(beyond.clone())
                }
            }
        }
    }
    Ok(Some(MarkList::new(request.snapshot, request.mark, asked.side, places)))
}
