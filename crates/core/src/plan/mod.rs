//! The planners: which task comes next. Pure, one folder each; they write nothing.

pub mod dag;
