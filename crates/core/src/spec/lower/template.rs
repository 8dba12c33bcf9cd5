//! Texts with templates, and expressions by themselves.

use super::super::code::Code;
use super::super::place::Place;
use super::super::report::Report;
use super::super::tree::Field;
use super::expect;
use super::mention::{Given, Mention, Spot};
use crate::expr::{Expr, Fault, Part, Problem, Reference, ShellLine, Text, Tree};
use std::ops::Range;

/// A text, with templates or without.
pub fn text<'n>(field: Field<'n>, report: &mut Report) -> Option<Given<'n, Text>> {
    let Some(source) = field.value.templated().or_else(|| field.value.scalar()) else {
        expect::wrong(field, "text", None, report);
        return None;
    };
    let text = told(Text::parse(source), field, report)?;
    let mentions = mentions(field, text.references());
    Some(Given { value: text, mentions: mentions.into() })
}

/// A script.
pub fn shell<'n>(
    field: Field<'n>,
    source: &str,
    report: &mut Report,
) -> Option<Given<'n, ShellLine>> {
    let line = told(ShellLine::parse(source), field, report)?;
    let mentions = mentions(field, line.references());
    Some(Given { value: line, mentions: mentions.into() })
}

/// Any value, with templates in its texts.
pub fn tree<'n>(field: Field<'n>, report: &mut Report) -> Option<Given<'n, Tree>> {
    match Tree::of(&field.value.to_json()) {
        Ok(tree) => {
            let spot = |(reference, pointer, at): (&Reference, String, Range<usize>)| {
                let text = field.value.follow(&pointer);
                let spot = Spot::Within(text.value, at, text.name_place);
                Mention { reference: reference.clone(), spot }
            };
            let mentions = tree.references().into_iter().map(spot).collect();
            Some(Given { value: tree, mentions })
        }
        Err(problems) => {
            for it in problems {
                let text = field.value.follow(&it.pointer);
                tell(&it.problem, text, report);
            }
            None
        }
    }
}

/// An expression by itself. That a template is made of it is forgiven.
pub fn expression<'n>(field: Field<'n>, report: &mut Report) -> Option<Given<'n, Expr>> {
    if field.value.bool().is_none() && field.value.templated().is_none() {
        let hint = "write an expression, such as `input.day == 'monday'`";
        expect::wrong(field, "an expression", Some(hint), report);
        return None;
    }
    let (expr, start) = match field.value.is_template() {
        true => whole(field, report)?,
        false => {
            let source = field.value.scalar().unwrap_or_default();
            (told(Expr::compile(source), field, report)?, 0)
        }
    };
    let at = |it: &Reference| it.name_at.start + start..it.name_at.end + start;
    let references = expr.references().iter().map(|it| (it, at(it)));
    let mentions = mentions(field, references);
    Some(Given { value: expr, mentions: mentions.into() })
}

/// The expression of a text that is one template.
fn whole(field: Field<'_>, report: &mut Report) -> Option<(Expr, usize)> {
    let text = told(Text::parse(field.value.templated()?), field, report)?;
    match text.parts().as_slice() {
        [Part::Template(expr, start)] => Some((expr.clone(), *start)),
        _ => {
            let message = format!("`{}` is an expression as a whole.", field.name);
            let hint = "write it without `${{` and `}}`";
            report.add(Code::BadExpression, field.place(), message).hint(hint);
            None
        }
    }
}

fn mentions<'n, 'r>(
    field: Field<'n>,
    references: impl Iterator<Item = (&'r Reference, Range<usize>)>,
) -> Vec<Mention<'n>> {
    let mention = |(reference, at): (&Reference, Range<usize>)| Mention {
        reference: reference.clone(),
        spot: Spot::Within(field.value, at, field.name_place),
    };
    references.map(mention).collect()
}

fn told<T>(read: Result<T, Vec<Problem>>, field: Field<'_>, report: &mut Report) -> Option<T> {
    let problems = match read {
        Ok(read) => return Some(read),
        Err(problems) => problems,
    };
    for problem in &problems {
        tell(problem, field, report);
    }
    None
}

fn tell(problem: &Problem, field: Field<'_>, report: &mut Report) {
    let code = match problem.fault {
        Fault::Expression => Code::BadExpression,
        Fault::Place => Code::ShellTemplate,
    };
    let place = match report.is_full() {
        true => Place::default(),
        false => field.value.place_within(problem.at.clone(), field.name_place),
    };
    report.add(code, place, problem.message.clone()).maybe_hint(problem.hint.clone());
}
