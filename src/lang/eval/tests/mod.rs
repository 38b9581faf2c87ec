//! Every kind of expression and statement, over graphs built by hand.

mod alike;
mod build;
mod cells;
mod exprs;
mod facts;
mod residual;
mod sieve;
mod simplify;
mod statements;
mod walks;
