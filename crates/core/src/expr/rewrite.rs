//! The tree of an expression made ready: what it reads becomes a numbered variable, what it may
//! not do is refused, and what could cost too much is put under a count.

use super::functions::{EACH, GLOBAL, KEY, MACROS, MADE, MATCHES, MEMBER, SCAN, TYPES};
use super::operators::{ADD, OPERATORS};
use super::path::{self, Chain, Step};
use super::pattern::Pattern;
use super::problem::{Problem, nearest, quoted};
use super::reference::{Reference, Root, dashed_secret};
use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr as Ast, IdedExpr, LiteralValue, SourceInfo,
    operators,
};
use std::ops::Range;

/// What is read, in the order of the variables `@0`, `@1`, …
#[derive(Debug, Default)]
pub struct Reads {
    pub values: Vec<Reference>,
    /// What is asked about each of them.
    pub asked: Vec<Asked>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    Value,
    /// Whether it is there, as `has` does.
    There,
    /// How large it is, as `size` does: a long list need not be made to be counted.
    Size,
}

/// Changes the tree in place; what is read, and every mistake.
pub fn rewrite(tree: &mut IdedExpr, source: &str, info: &SourceInfo) -> (Reads, Vec<Problem>) {
    let mut walk = Walk { source, info, reads: Reads::default(), bound: vec![], problems: vec![] };
    walk.visit(tree);
    walk.problems.sort_by_key(|problem| problem.at.start);
    // What lies within a mistake that was told follows from it.
    let mut told: Vec<Problem> = Vec::new();
    for problem in walk.problems {
        let within = |outer: &Problem| problem.at.end <= outer.at.end;
        if !told.last().is_some_and(within) {
            told.push(problem);
        }
    }
    (walk.reads, told)
}

/// The variable that stands for the reference of this number.
pub fn variable(number: usize) -> String {
    format!("@{number}")
}

/// The number behind a variable.
pub fn number(variable: &str) -> Option<usize> {
    variable.strip_prefix('@')?.parse().ok()
}

struct Walk<'s> {
    source: &'s str,
    info: &'s SourceInfo,
    reads: Reads,
    /// Names that comprehensions around here have given to their elements.
    bound: Vec<String>,
    problems: Vec<Problem>,
}

impl Walk<'_> {
    fn visit(&mut self, node: &mut IdedExpr) {
        if self.read(node) {
            return;
        }
        match &mut node.expr {
            Ast::Call(call) => self.call(node.id, call),
            Ast::Comprehension(loop_) => self.comprehension(node.id, loop_),
            Ast::Select(select) => self.visit(&mut select.operand),
            Ast::List(list) => list.elements.iter_mut().for_each(|element| self.element(element)),
            Ast::Map(map) => {
                for entry in &mut map.entries {
                    if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                        self.element(&mut entry.key);
                        self.element(&mut entry.value);
                    }
                }
            }
            Ast::Struct(_) => {
                let message = "Types with fields are not known here.";
                let hint = "write a map: `{'name': value}`";
                self.problems.push(Problem::new(self.at(node.id), message).with_hint(hint));
            }
            Ast::Ident(_) | Ast::Literal(_) | Ast::Unspecified => {}
        }
    }

    /// What ends up in a list or a map.
    fn element(&mut self, node: &mut IdedExpr) {
        self.visit(node);
        wrap_value(node, MADE);
    }

    /// Puts a variable in the place of a chain of names. False when it is none, or when the
    /// names are the expression's own.
    fn read(&mut self, node: &mut IdedExpr) -> bool {
        let (asked, of) = match &node.expr {
            Ast::Select(select) if select.test => (Asked::There, &*select.operand),
            Ast::Call(call) => match sized(call) {
                Some(of) => (Asked::Size, of),
                None => (Asked::Value, &*node),
            },
            _ => (Asked::Value, &*node),
        };
        let Some((id, root, mut steps)) = chain(of) else { return false };
        let root = root.to_owned();
        if let (Asked::There, Ast::Select(select)) = (asked, &node.expr) {
            steps.push(Step::Field(select.field.as_str().into()));
        }
        if asked == Asked::Size && self.bound.contains(&root) {
            return false;
        }
        if self.bound.contains(&root) || (TYPES.contains(&&*root) && steps.is_empty()) {
            return true;
        }
        match Reference::of(&self.written(id, &root, steps), self.source) {
            Ok(reference) => {
                self.check(&reference, asked);
                node.expr = Ast::Ident(variable(self.reads.values.len()));
                self.reads.values.push(reference);
                self.reads.asked.push(asked);
            }
            Err(problem) => self.problems.push(problem),
        }
        true
    }

    fn check(&mut self, reference: &Reference, asked: Asked) {
        if let Root::Secret(name) = &reference.root {
            if let Some(problem) = dashed_secret(self.source, reference) {
                return self.problems.push(problem);
            }
            let message = "A secret stands alone in its template.";
            let hint = format!("write text around it outside: `Bearer ${{{{ secrets.{name} }}}}`");
            self.problems.push(Problem::new(reference.at.clone(), message).with_hint(hint));
        }
        if asked == Asked::There && reference.steps.is_empty() {
            let message = format!("{} is always there.", quoted(&reference.to_string()));
            let hint = "compare it with `null` instead";
            self.problems.push(Problem::new(reference.at.clone(), message).with_hint(hint));
        }
    }

    /// The chain with the bytes it is written in, as far as they can be made out.
    fn written(&self, id: u64, root: &str, steps: Vec<Step>) -> Chain {
        let start = self.at(id).start;
        let known = path::read(self.source, start);
        let (at, end) = known.as_ref().map_or((start..start, start), |chain| {
            let last = steps.len().min(chain.steps.len());
            let all = last == chain.steps.len();
            let end = if all { chain.end } else { chain.steps[last].1.start };
            (chain.root.1.clone(), end)
        });
        let place = |step: usize| {
            let step = known.as_ref().and_then(|chain| chain.steps.get(step));
            step.map_or(at.clone(), |(_, at)| at.clone())
        };
        let steps = steps.into_iter().enumerate().map(|(number, step)| (step, place(number)));
        Chain { root: (root.into(), at.clone()), steps: steps.collect(), end }
    }

    fn call(&mut self, id: u64, call: &mut CallExpr) {
        match call.func_name.as_str() {
            "matches" => self.pattern(id, call),
            name if is_operator(name) => self.index_of_tasks(call),
            _ => {}
        }
        if !is_operator(&call.func_name) {
            self.function(id, call);
        }
        // The target of an unknown function may be a namespace that nobody knows either.
        if let Some(target) = &mut call.target {
            self.visit(target);
        }
        call.args.iter_mut().for_each(|arg| self.visit(arg));
        count(call);
    }

    fn function(&mut self, id: u64, call: &CallExpr) {
        let name = call.func_name.as_str();
        let (own, other) = match call.target {
            Some(_) => (MEMBER, GLOBAL),
            None => (GLOBAL, MEMBER),
        };
        if own.contains(&name) {
            return;
        }
        let hint = if other.contains(&name) {
            match call.target {
                Some(_) => format!("write `{name}(…)`"),
                None => format!("write `value.{name}(…)`"),
            }
        } else if MACROS.contains(&name) {
            "check its arguments, such as `list.map(x, x.name)`".to_owned()
        } else {
            let known = || GLOBAL.iter().chain(MEMBER).chain(MACROS).copied();
            match nearest(name, known()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are `{}`", known().collect::<Vec<_>>().join("`, `")),
            }
        };
        let message = format!("There is no function {} to be called like this.", quoted(name));
        let open = self.at(id).start;
        let at = open.saturating_sub(name.len())..open;
        self.problems.push(Problem::new(at, message).with_hint(hint));
    }

    /// A pattern is compiled each time it is used: in a loop it must be one that is known here.
    fn pattern(&mut self, id: u64, call: &CallExpr) {
        let Some(pattern) = call.args.last() else { return };
        let at = self.at(pattern.id);
        let Ast::Literal(LiteralValue::String(text)) = &pattern.expr else {
            if !self.bound.is_empty() {
                let message = "The pattern must be written out here.";
                let hint = "inside `map`, `filter` and their like it is used many times";
                self.problems.push(Problem::new(self.at(id), message).with_hint(hint));
            }
            return;
        };
        let Err(problem) = Pattern::read(text.inner()) else { return };
        let hint = "check its brackets; look-around and back references are not supported";
        self.problems.push(Problem::new(at, problem).with_hint(hint));
    }

    fn index_of_tasks(&mut self, call: &CallExpr) {
        let [Some(of), Some(index)] = [call.args.first(), call.args.get(1)] else { return };
        let is_tasks = matches!(&of.expr, Ast::Ident(name) if name == "tasks" || name == "secrets");
        let bound = matches!(&of.expr, Ast::Ident(name) if self.bound.contains(name));
        let known = matches!(index.expr, Ast::Literal(_));
        if call.func_name == operators::INDEX && is_tasks && !bound && !known {
            let message = "Which one is read must be known beforehand.";
            let hint = "write its name: `tasks['name'].output`";
            let at = self.at(of.id).start..self.at(index.id).end;
            self.problems.push(Problem::new(at, message).with_hint(hint));
        }
    }

    fn comprehension(&mut self, id: u64, loop_: &mut ComprehensionExpr) {
        if !self.bound.is_empty() {
            let message = "`map`, `filter` and their like may not stand inside each other.";
            let hint = "let a task work out the inner one";
            self.problems.push(Problem::new(self.at(id), message).with_hint(hint));
        }
        self.visit(&mut loop_.iter_range);
        let outer = self.bound.len();
        self.bound.push(loop_.iter_var.clone());
        self.bound.extend(loop_.iter_var2.clone());
        self.bound.push(loop_.accu_var.clone());
        self.visit(&mut loop_.loop_cond);
        self.visit(&mut loop_.loop_step);
        self.visit(&mut loop_.result);
        self.bound.truncate(outer);
        let body = nodes(&loop_.loop_cond) + nodes(&loop_.loop_step);
        wrap(&mut loop_.iter_range, EACH);
        if let Ast::Call(each) = &mut loop_.iter_range.expr {
            each.args.push(whole_number(body));
        }
    }

    /// Where a node is written: the name, the sign, or the bracket that makes it.
    fn at(&self, id: u64) -> Range<usize> {
        let (start, last) = self.info.offset_for(id).unwrap_or((0, 0));
        let clip = |at: u32| self.source.floor_char_boundary(at as usize);
        let start = clip(start);
        start..self.source.ceil_char_boundary(last as usize + 1).max(start)
    }
}

/// What `size(x)` or `x.size()` is asked of.
fn sized(call: &CallExpr) -> Option<&IdedExpr> {
    match (call.func_name.as_str(), &call.target, call.args.as_slice()) {
        ("size", None, [of]) => Some(of),
        ("size", Some(of), []) => Some(of),
        _ => None,
    }
}

/// A name, fields of it, and elements by number or by text.
fn chain(node: &IdedExpr) -> Option<(u64, &str, Vec<Step>)> {
    match &node.expr {
        Ast::Ident(name) => Some((node.id, name, Vec::new())),
        Ast::Select(select) if !select.test => {
            let (id, root, mut steps) = chain(&select.operand)?;
            steps.push(Step::Field(select.field.as_str().into()));
            Some((id, root, steps))
        }
        Ast::Call(call) if call.func_name == operators::INDEX && call.target.is_none() => {
            let [of, index] = call.args.as_slice() else { return None };
            let step = match &index.expr {
                Ast::Literal(LiteralValue::String(name)) => Step::Field(name.inner().into()),
                Ast::Literal(LiteralValue::Int(at)) => Step::At(usize::try_from(*at.inner()).ok()?),
                _ => return None,
            };
            let (id, root, mut steps) = chain(of)?;
            steps.push(step);
            Some((id, root, steps))
        }
        _ => None,
    }
}

/// Operators have names that nobody can write.
fn is_operator(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        || name.starts_with("_") && name.contains(|c: char| !c.is_ascii_alphanumeric() && c != '_')
}

/// Puts what a call costs under the count. What a comprehension does to its running result is
/// left as it is: the evaluator knows its shape, and keeps it in place.
fn count(call: &mut CallExpr) {
    if call.args.first().is_some_and(|arg| matches!(&arg.expr, Ast::Ident(name) if name == RESULT))
    {
        return;
    }
    if call.func_name == operators::ADD {
        let summands = call.args.iter_mut().filter(|arg| is_summand(&arg.expr));
        summands.for_each(|summand| wrap(summand, MADE));
    }
    let given = call.args.len() + usize::from(call.target.is_some());
    let own = OPERATORS.iter().find(|(native, ..)| *native == call.func_name);
    if let Some((_, own, _)) = own {
        call.func_name = (*own).to_owned();
    } else if call.func_name == operators::INDEX {
        call.args.iter_mut().skip(1).for_each(|index| wrap_value(index, KEY));
    } else if call.func_name == "matches" && given == 2 {
        call.args.splice(0..0, call.target.take().map(|target| *target));
        call.func_name = MATCHES.to_owned();
    } else if !is_operator(&call.func_name) {
        let given = call.target.as_deref_mut().into_iter().chain(&mut call.args);
        given.for_each(|given| wrap_value(given, SCAN));
    }
}

/// The running result of a comprehension. No one can write this name.
const RESULT: &str = "@result";

/// What is added up: all of it ends up in the sum. That is counted where it comes in, not where
/// it comes out, so that a long sum nests no deeper.
fn is_summand(node: &Ast) -> bool {
    match node {
        Ast::Literal(_) | Ast::List(_) => false,
        Ast::Call(call) => call.func_name != ADD,
        _ => true,
    }
}

/// How much there is to look at each time.
fn nodes(node: &IdedExpr) -> usize {
    let inner = match &node.expr {
        Ast::Call(call) => call.target.as_deref().into_iter().chain(&call.args).map(nodes).sum(),
        Ast::Select(select) => nodes(&select.operand),
        Ast::List(list) => list.elements.iter().map(nodes).sum(),
        Ast::Map(map) => map.entries.iter().map(|entry| entry_nodes(&entry.expr)).sum(),
        Ast::Comprehension(loop_) => nodes(&loop_.iter_range) + nodes(&loop_.result),
        _ => 0,
    };
    1 + inner
}

fn entry_nodes(entry: &EntryExpr) -> usize {
    match entry {
        EntryExpr::MapEntry(entry) => nodes(&entry.key) + nodes(&entry.value),
        EntryExpr::StructField(field) => nodes(&field.value),
    }
}

fn whole_number(number: usize) -> IdedExpr {
    let number = i64::try_from(number).unwrap_or(i64::MAX);
    IdedExpr { id: 0, expr: Ast::Literal(LiteralValue::Int(number.into())) }
}

fn wrap_value(node: &mut IdedExpr, function: &str) {
    if !matches!(node.expr, Ast::Literal(_)) {
        wrap(node, function);
    }
}

fn wrap(node: &mut IdedExpr, function: &str) {
    let id = node.id;
    let inner = std::mem::take(node);
    let call = CallExpr { func_name: function.to_owned(), target: None, args: vec![inner] };
    *node = IdedExpr { id, expr: Ast::Call(call) };
}
