//! What is known of a value without its code having been run.

use std::rc::Rc;

use super::Value;
use super::alike::Kept;

/// Of a value that may be more than so many, nothing is known.
const MOST_VALUES: usize = 8;

/// What is known of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Known {
    /// It is one of these, which are the same seen from anywhere.
    Among(Rc<[Value]>),
    /// It is a place at the node, as seen from the example.
    There(Value),
    Open,
}

impl Known {
    pub fn one(value: Value) -> Known {
        if Kept::is_free(&value) { Known::Among([value].into()) } else { Known::Open }
    }

    pub fn truth(&self) -> Option<bool> {
        let Known::Among(values) = self else { return None };
        let holds = values.first()?.is_true();
        values.iter().all(|value| value.is_true() == holds).then_some(holds)
    }

    /// The one value that it is.
    pub fn value(&self) -> Option<&Value> {
        match self {
            Known::Among(values) => Some(&values[0]).filter(|_| values.len() == 1),
            Known::There(value) => Some(value),
            Known::Open => None,
        }
    }

    pub fn is_empty_list(&self) -> bool {
        self.value().is_some_and(|value| value.len() == Some(0))
    }

    pub fn or(self, other: Known) -> Known {
        match (&self, &other) {
            (Known::Among(these), Known::Among(those)) => {
                let mut all = these.to_vec();
                all.extend(those.iter().filter(|value| !these.contains(value)).cloned());
                if all.len() <= MOST_VALUES { Known::Among(all.into()) } else { Known::Open }
            }
            _ if self == other => self,
            _ => Known::Open,
        }
    }

    /// What comes of each value that it may be.
    pub fn each(&self, mut f: impl FnMut(&Value) -> Option<Value>) -> Known {
        let Known::Among(values) = self else { return Known::Open };
        let one = |value| f(value).map_or(Known::Open, Known::one);
        values.iter().map(one).reduce(Known::or).unwrap_or(Known::Open)
    }

    pub fn each_pair(&self, other: &Known, mut f: impl FnMut(&Value, &Value) -> Option<Value>) -> Known {
        let Known::Among(values) = self else { return Known::Open };
        let one = |value| other.each(|other| f(value, other));
        values.iter().map(one).reduce(Known::or).unwrap_or(Known::Open)
    }
}

/// What becomes of a call some of whose arguments must not be none.
#[derive(Clone, Copy)]
pub(super) struct Lifted {
    may_be_none: bool,
    is_none: bool,
}

impl Lifted {
    pub fn of(args: &[Known], lift: u32) -> Lifted {
        let mut lifted = Lifted { may_be_none: false, is_none: false };
        for (_, arg) in args.iter().enumerate().filter(|(at, _)| *at < 32 && lift >> at & 1 == 1) {
            match arg {
                Known::There(_) => {}
                Known::Open => lifted.may_be_none = true,
                Known::Among(values) => {
                    lifted.is_none |= values.iter().all(Value::is_none);
                    lifted.may_be_none |= values.iter().any(Value::is_none);
                }
            }
        }
        lifted
    }

    pub fn give(self, result: impl FnOnce() -> Known) -> Known {
        match self {
            Lifted { is_none: true, .. } => Known::one(Value::None),
            Lifted { may_be_none: true, .. } => result().or(Known::one(Value::None)),
            _ => result(),
        }
    }
}
