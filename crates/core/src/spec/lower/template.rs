//! Texts with templates, and expressions by themselves.

use super::super::code::Code;
use super::super::place::Place;
use super::super::report::Report;
use super::super::tree::Field;
use super::expect;
use super::mention::{Given, Mention, Spot};
use crate::expr::{Expr, Fault, Part, Problem, Reference, ShellLine, Text, Tree};
use crate::json::Json;
use std::ops::Range;
use std::sync::Arc;

// What has mistakes is told and refused, and yet something stands in for it here: what else it
// names may be wrong as well, and all of that is told at once.

/// A text, with templates or without.
pub fn text<'n>(field: Field<'n>, report: &mut Report) -> Option<Given<'n, Text>> {
    let Some(source) = field.value.templated().or_else(|| field.value.scalar()) else {
        expect::wrong(field, "text", None, report);
        return None;
    };
    if let Some(text) = told(Text::parse(source), field, report) {
        let mentions = mentions(field, text.references());
        return Some(Given { value: text, mentions: mentions.into() });
    }
    let value = Text::parse(STAND_IN).ok()?;
    Some(Given { value, mentions: readable(field, source) })
}

/// A script.
pub fn shell<'n>(
    field: Field<'n>,
    source: &str,
    report: &mut Report,
) -> Option<Given<'n, ShellLine>> {
    if let Some(line) = told(ShellLine::parse(source), field, report) {
        let mentions = mentions(field, line.references());
        return Some(Given { value: line, mentions: mentions.into() });
    }
    let value = ShellLine::parse(STAND_IN).ok()?;
    Some(Given { value, mentions: readable(field, source) })
}

/// Any value, with templates in its texts.
pub fn tree<'n>(field: Field<'n>, report: &mut Report) -> Option<Given<'n, Tree>> {
    let spot = |(reference, pointer, at): (Reference, String, Range<usize>)| {
        let text = field.value.follow(&pointer);
        Mention { reference, spot: Spot::Within(text.value, at, text.name_place) }
    };
    let value = field.value.to_json();
    match Tree::of(&value) {
        Ok(tree) => {
            let references = tree.references().into_iter();
            let mentions = references.map(|(it, to, at)| spot((it.clone(), to, at))).collect();
            Some(Given { value: tree, mentions })
        }
        Err(problems) => {
            for it in problems {
                let text = field.value.follow(&it.pointer);
                tell(&it.problem, text, report);
            }
            let mentions = Tree::readable(&value).into_iter().map(spot).collect();
            Some(Given { value: Json::empty_object().into(), mentions })
        }
    }
}

/// What stands in for a text that was refused.
const STAND_IN: &str = "true";

/// What is named in a text that was refused.
fn readable<'n>(field: Field<'n>, source: &str) -> Arc<[Mention<'n>]> {
    let found = Text::readable(source);
    mentions(field, found.iter().map(|(it, at)| (it, at.clone()))).into()
}

/// An expression by itself. That a template is made of it is forgiven.
pub fn expression<'n>(field: Field<'n>, report: &mut Report) -> Option<Given<'n, Expr>> {
    if field.value.bool().is_none() && field.value.templated().is_none() {
        let hint = "write an expression, such as `input.day == 'monday'`";
        expect::wrong(field, "an expression", Some(hint), report);
        return None;
    }
    let source = match field.value.is_template() {
        true => field.value.templated()?,
        false => field.value.scalar().unwrap_or_default(),
    };
    let found = match field.value.is_template() {
        true => whole(field, report),
        false => told(Expr::compile(source), field, report).map(|expr| (expr, 0)),
    };
    let Some((expr, start)) = found else {
        let value = Expr::compile(STAND_IN).ok()?;
        let mentions = match field.value.is_template() {
            true => readable(field, source),
            false => in_expression(field, &Expr::readable(source), 0),
        };
        return Some(Given { value, mentions });
    };
    if let Some(Err(why)) = expr.constant_truth() {
        let message = format!("`{}` is always wrong: {why}.", field.name);
        let hint = "write an expression that is true or false, such as `input.day == 'monday'`";
        report.add(Code::BadExpression, field.place(), message).hint(hint);
    }
    let mentions = in_expression(field, expr.references(), start);
    Some(Given { value: expr, mentions })
}

fn in_expression<'n>(
    field: Field<'n>,
    references: &[Reference],
    start: usize,
) -> Arc<[Mention<'n>]> {
    let at = |it: &Reference| it.name_at.start + start..it.name_at.end + start;
    mentions(field, references.iter().map(|it| (it, at(it)))).into()
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
